//! What changes from step to step.

use crate::contact::cloth::{Broad, Hard, Tangles};
use crate::contact::collider::Collider;
use crate::contact::limb_cache::LimbCache;
use crate::step::Budget;
use glam::DVec3;

/// What a contact point remembers: the elastic part of its friction and how it was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Grip {
    /// Whether it touched at the end of the last step.
    pub touching: bool,
    /// Whether what it touched has friction.
    pub rubs: bool,
    /// Tangential displacement held by friction, m.
    pub stretch: DVec3,
    /// Normal force, N.
    pub normal_force: f64,
}

/// Everything that outlives a step: positions, velocities, and what the integrator, friction and the search for contacts
/// remember. Put back, it goes on bit for bit as it did.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// World positions, m.
    pub x: Vec<DVec3>,
    /// Velocities, m/s.
    pub v: Vec<DVec3>,
    /// Positions one step earlier.
    pub x_before: Vec<DVec3>,
    /// Velocities one step earlier.
    pub v_before: Vec<DVec3>,
    /// Length of the last step, s; 0 before the first.
    pub step_before_secs: f64,
    /// How often a step may still be halved for how it looks.
    pub retry_budget: Budget,
    /// Time since the start, s.
    pub secs: f64,
    /// Vertices that touched something in the last step.
    pub touching: Vec<bool>,
    /// Friction memory per contact sample.
    pub grips: Vec<Grip>,
    /// Dihedral angle per hinge, continued through folds.
    pub angles: Vec<f64>,
    /// Rigid things in the way, where they were and where they go.
    pub colliders: Vec<Collider>,
    /// Where samples last saw the limbs of a body.
    pub(crate) limb_cache: LimbCache,
    /// Where cloth crosses itself.
    pub(crate) tangles: Tangles,
    /// Which triangles of the cloth may meet.
    pub(crate) broad: Broad,
    /// Which pairs of the cloth need harder contacts.
    pub(crate) hard: Hard,
}

impl State {
    /// At rest at `x`.
    pub fn at_rest(x: Vec<DVec3>, samples: usize, hinges: usize) -> Self {
        let n = x.len();
        Self {
            v: vec![DVec3::ZERO; n],
            x_before: x.clone(),
            v_before: vec![DVec3::ZERO; n],
            step_before_secs: 0.0,
            retry_budget: Budget::default(),
            secs: 0.0,
            touching: vec![false; n],
            grips: vec![Grip::default(); samples],
            angles: vec![0.0; hinges],
            colliders: Vec::new(),
            limb_cache: LimbCache::default(),
            tangles: Tangles::new(n),
            broad: Broad::default(),
            hard: Hard::default(),
            x,
        }
    }

    /// Stops all motion and forgets the steps before.
    pub fn halt(&mut self) {
        self.v.fill(DVec3::ZERO);
        self.v_before.fill(DVec3::ZERO);
        self.x_before.copy_from_slice(&self.x);
        self.step_before_secs = 0.0;
    }
}
