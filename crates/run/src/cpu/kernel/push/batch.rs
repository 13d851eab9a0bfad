//! Vertices that are held against limbs and skin at once, and what those that lead tell the others.

use super::super::guides::{Found, Group, KINDS, Part, WORD};
use super::super::limbs::{Near, VERTICES};
use super::{GROUPS, NUMBERS};

/// What is worked on at once.
pub(super) struct Batch<const W: usize> {
    /// Limbs that are near groups that lead.
    pub near: [Near; GROUPS],
    /// Where vertices were.
    pub before: [[[f32; W]; 3]; WORD],
    pub one: [Vertex; WORD],
}

/// A vertex that is worked on: all bit by bit.
#[derive(Clone, Copy, Default)]
pub(super) struct Vertex {
    /// Where it is in the part.
    pub v: usize,
    /// Limbs that it meets often, and those that it may meet.
    pub meets: [u32; 2],
    /// Limbs that it looked at first.
    pub told: u32,
    /// Lanes to look in: at one limb, and at several.
    pub lanes: u32,
    pub looks: u32,
    /// Lanes that were within any limb, and those that were within several.
    pub met: [u32; 2],
    /// Lanes that were within a part of the trunk.
    pub trunk: u32,
}

/// Points of the skin, which are posed when they are first looked at.
pub(super) struct PosedSkin<'a, const W: usize> {
    pub bones: &'a [[f32; W]],
    pub rows: &'a mut [[[f32; W]; NUMBERS]],
}

/// Vertices that are worked on at once: groups that lead, or 64 of which some follow.
pub(super) enum Which<'a> {
    Lead(&'a [Group]),
    Follow(usize),
}

impl Which<'_> {
    /// Where a vertex is in the part.
    #[inline(always)]
    pub fn vertex(&self, i: usize) -> usize {
        match self {
            Self::Lead(groups) => usize::from(groups[i / VERTICES].vertices[i % VERTICES]),
            Self::Follow(word) => WORD * word + i,
        }
    }

    /// Those that have to be looked at, bit by bit.
    #[inline(always)]
    pub fn any(&self, part: &Part, found: &Found) -> u64 {
        match self {
            Self::Lead(groups) => of_groups(groups, |_, group| (1 << group.count) - 1),
            Self::Follow(word) => {
                (0..KINDS).fold(0, |bits, k| bits | found.any[k][*word] | part.own[k][*word])
            }
        }
    }

    /// Those that look at a limb in all lanes, and in some.
    #[inline(always)]
    pub fn looks(&self, part: &Part, k: usize, near: &[Near; GROUPS], found: &Found) -> (u64, u64) {
        match self {
            Self::Lead(groups) => (
                of_groups(groups, |_, group| group.met_by[k][0].into()),
                of_groups(
                    groups,
                    |g, group| if near[g].lanes[k] != 0 { group.met_by[k][1].into() } else { 0 },
                ),
            ),
            Self::Follow(word) => (part.own[k][*word], found.any[k][*word]),
        }
    }

    /// The lanes of a vertex that looks at a limb in some.
    #[inline(always)]
    pub fn lanes(&self, i: usize, k: usize, near: &[Near; GROUPS], found: &Found) -> u32 {
        match self {
            Self::Lead(_) => near[i / VERTICES].lanes[k],
            Self::Follow(word) => found.lanes[WORD * word + i][k].into(),
        }
    }

    /// The lanes in which a follower was told of something, or looks for it anyway.
    #[inline(always)]
    pub fn told(&self, part: &Part, v: usize, kind: usize, all: u32, found: &Found) -> u32 {
        let own = part.own[kind][v / WORD] >> (v % WORD) & 1 == 1;
        if own { all } else { found.lanes[v][kind].into() }
    }

    /// Tells the followers of a leader.
    #[inline(always)]
    pub fn tell(&self, part: &Part, i: usize, kind: usize, lanes: u32, found: &mut Found) {
        if let Self::Lead(groups) = self {
            let (begins, ends) = groups[i / VERTICES].followers[i % VERTICES];
            found.tell(&part.followers[begins as usize..ends as usize], kind, lanes);
        }
    }

    /// What followers were told is done.
    #[inline(always)]
    pub fn forget(&self, any: u64, found: &mut Found) {
        if let Self::Follow(word) = self {
            bits(any).for_each(|k| found.lanes[WORD * word + k] = [0; KINDS]);
            found.any.iter_mut().for_each(|words| words[*word] = 0);
        }
    }
}

/// Bits of several groups one behind the other.
#[inline(always)]
fn of_groups(groups: &[Group], bits: impl Fn(usize, &Group) -> u64) -> u64 {
    groups.iter().enumerate().fold(0, |all, (g, group)| all | bits(g, group) << (VERTICES * g))
}

/// Numbers of the bits that are set.
#[inline(always)]
pub(super) fn bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let k = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            k
        })
    })
}
