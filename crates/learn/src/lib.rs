//! The shortcut: from many takes to one certified model and its report.
//!
//! [`train`] follows de Aguiar et al. 2010: PCA of the garment and of the body in the canonical frame, then
//! one least-squares fit of the latent motion; it always ends with a certificate that the loader can check.
//! [`evaluate()`] scores a model by free runs through the very code that ships.
//!
//! ```
//! use toile_assets::{Take, builtin};
//! let body = builtin::body("mannequin:female")?;
//! // Takes come from a `toile_simulate::Recorder`; without any there is nothing to learn from, and that is said.
//! let takes: Vec<Take> = Vec::new();
//! assert!(toile_learn::train(&body, &takes, &toile_learn::Settings::default()).is_err());
//! # Ok::<(), toile_assets::Error>(())
//! ```

mod assemble;
mod baseline;
mod body_space;
mod bound;
mod certify;
mod cloth_space;
mod correction;
pub mod coverage;
mod evaluate;
mod fit;
mod hidden;
mod histogram;
mod limbs;
mod liveliness;
mod mirror;
mod refine;
mod response;
mod rollout;
mod sequence;
mod sequences;
mod settings;
mod settling;
mod shield;
mod source;
mod spectrum;
mod train;
mod twins;
mod worst;

#[cfg(test)]
#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

pub use baseline::{Baselines, baselines};
pub use correction::{CorrectionReport, GateFit};
pub use evaluate::{ClipScore, Evaluation, SettlingSummary, evaluate};
pub use hidden::hidden_triangles;
pub use settings::{Error, Settings};
pub use settling::Settling;
pub use source::{LeftOut, TakeFiles, TakeSource};
pub use spectrum::{Spectrum, spectrum};
pub use train::{Lowered, Prepared, Training, Tried, train};
pub use twins::{Twins, twins};
pub use worst::{WorstCase, worst_case};
