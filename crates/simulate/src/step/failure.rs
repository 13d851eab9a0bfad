//! Why a step is not taken.

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A place or a force is not a number.
    NotFinite,
    /// Newton's iteration or the linear solver got nowhere.
    NoConvergence,
    /// Cloth could not be held back from cloth.
    PassesThrough,
    /// Cloth was pushed into a body.
    PressedIn,
    /// Cloth was stretched more than it can bear.
    Overstretched,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "not finite",
            Self::NoConvergence => "no convergence",
            Self::PassesThrough => "cloth passes through cloth",
            Self::PressedIn => "cloth is pressed into a body",
            Self::Overstretched => "overstretched",
        })
    }
}

/// Why a substep has to be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// The worst vertex.
    pub vertex: usize,
}
