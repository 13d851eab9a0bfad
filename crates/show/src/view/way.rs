//! The ways in which a garment can be seen to move.

/// A way of moving a garment, by the name of its tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Follows the bones.
    Skin,
    /// In three layers: dressed at once.
    Layered,
    /// Learned.
    Stable,
    /// Simulated in a subspace.
    Adaptive,
    /// Simulated: recorded, or now.
    Full,
}

impl Way {
    /// All of them, the cheapest first.
    pub const ALL: [Self; 5] = [Self::Skin, Self::Layered, Self::Stable, Self::Adaptive, Self::Full];

    /// As the program's `--tier` names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skin => "skin",
            Self::Layered => "layered",
            Self::Stable => "stable",
            Self::Adaptive => "adaptive",
            Self::Full => "full",
        }
    }

    /// What it is, for a label.
    pub fn about(self) -> &'static str {
        match self {
            Self::Skin => "follows the bones",
            Self::Layered => "in layers",
            Self::Stable => "learned",
            Self::Adaptive => "simulated in a subspace",
            Self::Full => "simulated",
        }
    }
}
