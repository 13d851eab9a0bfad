//! Why a crowd or a tier did not take what it was given.

use toile_model::CertificateError;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong with one call. Nothing has changed, for no instance, when a call gives one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model whose certificate does not hold.
    #[error("the model is not certified: {0}; train it again or load it from a file that was not changed")]
    Uncertified(#[from] CertificateError),
    /// Every reserved place is taken.
    #[error("all {reserved} places reserved for this model are taken; reserve more when adding the model")]
    Full {
        /// How many there are.
        reserved: usize,
    },
    /// The instance or model is not, or no longer, in this crowd.
    #[error("there is no such instance or model in this crowd; it was removed or belongs to another")]
    Gone,
    /// A pose for another skeleton.
    #[error("{given} bone matrices for a model of {expected} joints")]
    Joints {
        /// Matrices given.
        given: usize,
        /// Joints of the model.
        expected: usize,
    },
    /// Body coefficients for another model.
    #[error("{given} body coefficients for a model of {expected}")]
    Coefficients {
        /// Coefficients given.
        given: usize,
        /// Body dims of the model.
        expected: usize,
    },
    /// Body coefficients for a model that skins.
    #[error("a model of kind d is skinned: give it bones, not body coefficients")]
    NeedsBones,
    /// A number of the pose is infinite or not a number.
    #[error("{what} is not finite")]
    NotFinite {
        /// `bone 3`, `the actor`, `the root`.
        what: String,
    },
    /// A place beyond 1,000 km.
    #[error("{what} is more than a million metres away; move the world's origin nearer")]
    TooFar {
        /// `bone 3`, `the actor`, `the root`.
        what: String,
    },
    /// A bone matrix that is not a rotation.
    #[error(
        "bone {joint} is mirrored, scaled by more than 5 % or sheared by more than 10°; give rotation and translation only"
    )]
    NotRigid {
        /// Which.
        joint: usize,
    },
    /// A step in time that is not positive or too long.
    #[error(
        "a time step of {0} s; it must be above 0 and at most 1 s (reset or teleport after a longer pause)"
    )]
    TimeStep(f64),
    /// The model does not say where its hips are.
    #[error("the model does not name its hip joints; give the root frame with every pose, or train it again")]
    NoHips,
    /// A tolerance or weight outside its range.
    #[error("{what} is {value}; it must be finite and not negative")]
    Range {
        /// Which setting.
        what: &'static str,
        /// What it was set to.
        value: f64,
    },
    /// Limits that are not for this garment.
    #[error("limits of another garment: {what}; paint the garment that the model was trained on")]
    Limits {
        /// How they differ.
        what: String,
    },
    /// Tiers of different garments.
    #[error("tiers of one garment must have the same mesh: {what}; make all of them from one garment")]
    Topology {
        /// Which, and how they differ.
        what: String,
    },
    /// A tier that was not added.
    #[error("there is no tier {tier}: {tiers} were added")]
    NoTier {
        /// Its number.
        tier: usize,
        /// How many there are.
        tiers: usize,
    },
    /// The simulation of a step failed; the garment is as it was before.
    #[cfg(feature = "simulate")]
    #[error("{0}")]
    Simulation(String),
    /// There is no graphics adapter. What the library says of it names ways that were not asked for and is for programmers.
    #[cfg(feature = "gpu")]
    #[error(
        "no graphics adapter was found; a software one comes with `sudo apt-get install -y mesa-vulkan-drivers`"
    )]
    NoAdapter(String),
    /// The graphics device has no room for a model's instances.
    #[cfg(feature = "gpu")]
    #[error(
        "the graphics device has no room for {garments} garments of this model, {megabytes} MB; reserve fewer, or make room on it"
    )]
    Room {
        /// How many were reserved.
        garments: usize,
        /// What they take.
        megabytes: u64,
    },
    /// The graphics device failed or was lost.
    #[cfg(feature = "gpu")]
    #[error("the graphics device: {0}")]
    Device(String),
}
