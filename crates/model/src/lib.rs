//! A learned garment and its file: all that a game needs to load one.
//!
//! A [`Model`] is a handful of matrices with a certificate that the reader checks from the numbers themselves. Here
//! are also the few types its arithmetic names: where a wearer stands ([`RootFrame`]) and how a garment hangs on
//! bones ([`Skin`], [`Attachment`]).
//!
//! ```
//! use toile_model::Model;
//! // Whatever the bytes are, they are read or refused with their faults; nothing panics.
//! let refused = Model::from_bytes(b"something else").unwrap_err();
//! assert!(!refused.to_string().is_empty());
//! ```

pub mod adaptive;
mod attachment;
mod attained;
mod correction;
pub mod disk;
pub mod embedding;
mod error;
mod half;
mod inverse;
pub mod layers;
mod limb;
mod limits;
mod model;
mod reach;
mod read;
mod root;
mod section;
mod shield;
mod skin;
mod surroundings;
mod symmetric;
pub mod tensors;
mod uncertified;
mod write;

pub use attachment::Attachment;
pub use correction::{Correction, GATE_RATE, LARGEST, MAX_FABRIC_AXES, MAX_POLE, ROOT_TERMS};
pub use error::{Error, Result};
pub use inverse::clamped_inverse;
pub use limb::{ALONG, AROUND, LimbTube, around};
pub use limits::{Home, Limits};
pub use model::{Certificate, InputSet, Model, ModelKind};
pub use root::{HipLine, RootFrame, RootTracker};
pub use section::Section;
pub use shield::{CARRIED, MAX_LIMBS, NEIGHBOURS, Shield};
pub use skin::Skin;
pub use surroundings::{FABRIC_VALUES, GRAVITY, Hearing, SURROUNDING_TERMS, Surroundings};
pub use symmetric::symmetric_eigen;
pub use uncertified::CertificateError;
pub use write::write_atomically;
