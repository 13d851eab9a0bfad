//! The truth: full-space cloth simulation against a moving body.
//!
//! [`World`] owns a [`Scene`] (what does not change), a [`State`] (what does), [`Settings`] and scratch memory;
//! [`World::step`] moves the body to new bones and the cloth with it. [`drape()`] dresses a body, a [`Recorder`]
//! simulates clips into [`toile_assets::Take`]s.
//!
//! ```
//! use toile_assets::{Mesh, builtin};
//! use toile_simulate::{Scene, Settings, World};
//! // Two triangles of cotton fall for a tenth of a second.
//! let corners = [[0.0, 1.0, 0.0], [0.1, 1.0, 0.0], [0.0, 1.0, 0.1], [0.1, 1.0, 0.1]].map(glam::Vec3::from);
//! let mesh = Mesh { positions: corners.to_vec(), triangles: vec![[0, 2, 1], [1, 2, 3]], uvs: vec![] };
//! let scene = Scene::from_mesh(&mesh, &builtin::fabric("cotton")?, &Settings::default())?;
//! let mut world = World::new(scene, corners.map(|p| p.as_dvec3()).to_vec(), Settings::default())?;
//! for _ in 0..6 {
//!     world.step(&[], 1.0 / 60.0)?;
//! }
//! assert!((0.93..0.97).contains(&world.state.x[0].y));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod band;
mod clip;
pub mod contact;
mod drape;
mod enclosure;
pub mod energy;
mod error;
mod garment_fit;
mod leash;
mod lists;
mod mend;
mod opening;
mod outfit;
mod put_on;
mod record;
mod report;
mod scene;
mod settings;
pub mod solve;
mod state;
mod step;
mod subspace;
mod verdict;
mod world;

pub use clip::{Jump, check_clip, cut_at_jumps, find_jumps, without_lone_frame};
pub use drape::{DrapeSettings, drape, drape_outfit, ramp};
pub use error::{Error, Result};
pub use garment_fit::{GarmentFit, check_fit};
pub use mend::{Mend, describe as describe_mends, mend as mend_glitches};
pub use outfit::Outfit;
pub use record::{Branch, Progress, RecordSettings, Recorder, Recording};
pub use report::StepReport;
pub use scene::{Part, Sample, Scene};
pub use settings::{Bending, Integrator, Settings};
pub use state::{Grip, State};
pub use step::{Cause, WorkingSet, coefficients as bdf2_coefficients};
pub use subspace::{
    Assembly, CubatureFit, CubatureSettings, GradientVector, PhaseTimes, Subspace, SubspaceReport,
    SubspaceSettings,
};
pub use world::World;
