//! Toile: simulate a garment once, learn a stand-in that runs in microseconds.
//!
//! The line is `assets → simulate → learn → run → show`; each stage is a crate and a module here.
//!
//! ```
//! use toile::assets::builtin;
//! let body = builtin::body("mannequin:female")?;
//! let walk = builtin::motion("walk", &body.skeleton)?;
//! let bones = body.bones(&walk.at(0.5));
//! assert_eq!(bones.len(), body.skeleton.len());
//! # Ok::<(), toile::assets::Error>(())
//! ```

pub use toile_assets as assets;
pub use toile_learn as learn;
pub use toile_run as run;
pub use toile_show as show;
pub use toile_simulate as simulate;
