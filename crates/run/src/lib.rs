//! The product: learned garments stepped in microseconds, one or thousands.
//!
//! This crate is what a game links: no clock, no window, few dependencies. [`Model::read`] loads a garment. A [`Crowd`] takes the bone matrices of many
//! wearers and gives world-space vertices, the same bits on any number of threads and any instruction set. A
//! [`Stable`] is a crowd of one behind [`Tier`], the trait that every way of moving a garment has.
//!
//! ```
//! use toile_run::{Crowd, CrowdSettings};
//! // `Model::read("dress.toile")?` and `crowd.add_model(model, 100)?` come in between.
//! let mut crowd = Crowd::new(CrowdSettings::default());
//! assert_eq!(crowd.step(1.0 / 60.0)?.stepped, 0);
//! crowd.draw();
//! # Ok::<(), toile_run::Error>(())
//! ```

mod angle;
mod beneath;
mod clock;
mod cpu;
mod drive;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod ladder;
mod over;
mod pose;
mod scheduler;
mod tier;

pub use beneath::Beneath;
pub use cpu::crowd::{Basis, Crowd, CrowdReport, CrowdSettings, Instance, ModelId};
pub use cpu::kernel::Isa;
pub use drive::Driven;
pub use error::{Error, Result};
pub use ladder::{HandOverSettings, Handed, Ladder, MakeTier, Poses, Troupe, Way};
pub use over::WornOver;
pub use pose::Actor;
pub use scheduler::{Planned, Rung, Scheduler, SchedulerSettings, Wish, priority};
#[cfg(feature = "simulate")]
pub use tier::{Adaptive, FirstGuess, Full};
pub use tier::{Layered, LayeredSettings, Leashed, Skinned, Stable, Tier, TierReport, balance};

/// The small vectors and matrices that poses and vertices are given in.
pub use glam;
pub use toile_model::embedding::{Embedding, Link};
pub use toile_model::layers::{Layer, Layers};
pub use toile_model::{
    Attachment, CertificateError, Correction, GATE_RATE, Limits, Model, ROOT_TERMS, RootFrame, RootTracker,
    Surroundings,
};
