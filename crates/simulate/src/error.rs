//! Why a simulation could not be set up or went no further.

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An asset is at fault.
    #[error(transparent)]
    Asset(#[from] toile_assets::Error),
    /// Garment, body and fabric do not fit together.
    #[error("{0}")]
    Scene(String),
    /// The cloth could not be brought to the first frame of a motion.
    #[error(
        "on the way from the rest pose to the first frame: {cause} at vertex {vertex} after {retries} retries"
    )]
    Ramp {
        /// The vertex that is worst.
        vertex: usize,
        /// Why.
        cause: crate::Cause,
        /// Steps retried.
        retries: u32,
    },
    /// All retries of a step failed.
    #[error(
        "frame {frame}: {cause} at vertex {vertex} after {retries} retries, smallest step {step_secs:.1e} s"
    )]
    Stuck {
        /// Recorded frame.
        frame: usize,
        /// The vertex that is worst.
        vertex: usize,
        /// Why.
        cause: crate::Cause,
        /// Steps retried.
        retries: u32,
        /// The last step tried.
        step_secs: f64,
    },
    /// An outfit could not be simulated.
    #[error(
        "{cause}, which is vertex {vertex} of `{garment}`, worn with {others}; where it cannot get past {others}, take a wider or a \
         looser garment, or wear fewer"
    )]
    InOutfit {
        /// The garment that is stuck.
        garment: String,
        /// Which of its vertices.
        vertex: usize,
        /// What it is worn with.
        others: String,
        /// Why.
        cause: Box<Error>,
    },
}
