//! The truth: full-space cloth simulation against a moving body.
//!
//! [`World`] owns a [`Scene`] (what does not change), a [`State`] (what does), [`Settings`] and scratch memory;
//! [`World::step`] moves the body to new bones and the cloth with it. [`drape`] dresses a body, [`record`]
//! simulates a clip into a [`toile_assets::Take`].

mod clip;
pub mod contact;
mod drape;
pub mod energy;
mod error;
mod fit;
mod record;
mod report;
mod scene;
mod settings;
pub mod solve;
mod state;
mod step;
mod world;

pub use clip::{Jump, check_clip, cut_at_jumps, find_jumps};
pub use drape::{DrapeSettings, drape, ramp};
pub use error::{Error, Result};
pub use fit::{Fit, check_fit};
pub use record::{Branch, RecordSettings, record, record_from, record_stop, record_with_branches};
pub use report::StepReport;
pub use scene::{Sample, Scene};
pub use settings::{Bending, Integrator, Settings};
pub use state::{Grip, State};
pub use step::coefficients as bdf2_coefficients;
pub use world::World;
