//! What we have: bodies, motions, garments, fabrics, takes and models, and their files.
//!
//! Every type that crosses from one stage of Toile to the next lives here, together with its
//! arithmetic and (with the feature `io`, on by default) its files and the built-in assets.
//! Metres, seconds, kilograms, newtons; +Y up, right-handed, characters face +Z.
//!
//! ```
//! # #[cfg(feature = "io")] {
//! use toile_assets::builtin;
//! let body = builtin::body("mannequin:female").unwrap();
//! let walk = builtin::motion("stand", &body.skeleton).unwrap();
//! let bones = body.bones(&walk.poses[10]);
//! let skinned = body.skinned_positions(&bones);
//! assert_eq!(skinned.len(), body.mesh.positions.len());
//! # }
//! ```

mod attachment;
mod body;
mod embed;
mod error;
mod fabric;
mod fingerprint;
mod garment;
mod humanoid;
pub mod layers;
mod motion;
mod pace;
mod paint;
mod penetration;
mod provenance;
mod root;
mod skeleton;
mod take;
mod verdict;

#[cfg(feature = "io")]
pub mod axes;
#[cfg(feature = "io")]
pub mod builtin;
#[cfg(feature = "io")]
pub mod read;
#[cfg(feature = "io")]
pub mod repair;
#[cfg(feature = "io")]
pub mod retarget;
#[cfg(feature = "io")]
pub mod sliders;
#[cfg(feature = "io")]
pub mod write;

pub use attachment::{AttachmentSettings, attach, skirt_share};
pub use body::Body;
pub use embed::embed;
pub use error::{Error, FileError, Problem, Result};
pub use fabric::{Fabric, Hysteresis};
pub use fingerprint::{Fingerprint, Ink};
pub use garment::{Garment, MaterialPart, Panel, Pin, PinTarget, RestSource, Seam};
pub use humanoid::{Facing, Humanoid, Role};
pub use motion::{Motion, other_side};
pub use pace::Pace;
pub use paint::Paint;
pub use penetration::{DEEP_M, INSIDE_M, NEAR_CROSSING_M, Penetration, PosedBody};
pub use provenance::{Conditions, Lineage, Provenance, gusts};
#[cfg(feature = "io")]
pub use read::take::TakeHead;
pub use root::RootTrack;
pub use skeleton::{Joint, Pose, Skeleton, Transform};
#[cfg(feature = "io")]
pub use sliders::{Quality, Sliders};
pub use take::{FrameReport, Take};
pub use toile_geometry::{
    ClosestPoint, Crossing, Edge, Mesh, RayHit, Topology, TriangleTree, crossings, edges_through,
    self_crossings, vertex_normals,
};
pub use toile_model::adaptive;
pub use toile_model::disk;
pub use toile_model::layers::{Layer, Layers};
pub use toile_model::{
    ALONG, AROUND, Attachment, CARRIED, Certificate, Correction, FABRIC_VALUES, Hearing, HipLine, InputSet,
    LimbTube, Limits, MAX_LIMBS, Model, ModelKind, NEIGHBOURS, RootFrame, RootTracker, SURROUNDING_TERMS,
    Shield, Skin, Surroundings, around, clamped_inverse,
};
pub use verdict::{MOST_DEPTH_MM, MOST_STRAIN, Verdict, Worst};
