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

mod adaptive;
mod certificate;
mod inputs;
mod models;
mod score;
mod settings;
mod spaces;
mod takes;

#[cfg(test)]
#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

pub use adaptive::{AdaptiveSettings, AdaptiveTraining, train_adaptive};
pub use certificate::worst::{WorstCase, worst_case};
pub use models::correction::{CorrectionReport, GateFit};
pub use models::hidden_skin::{hidden_triangles, hidden_under};
pub use models::train::{Lowered, Prepared, Training, Tried, train, train_watched};
pub use score::baseline::{Baselines, baselines};
pub use score::evaluate::{ClipScore, DeepestAt, Evaluation, SettlingSummary, evaluate, evaluate_beyond};
pub use score::liveliness::liveliness_beyond;
pub use score::settling::Settling;
pub use score::spectrum::{Spectrum, spectrum};
pub use score::twins::{Twins, twins};
pub use score::wrinkles::{BANDS as WRINKLE_BANDS, Wrinkles};
pub use settings::{Error, Settings};
pub use takes::coverage;
pub use takes::source::{LeftOut, TakeFiles, TakeSource};
