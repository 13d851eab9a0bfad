//! One learned garment (de Aguiar et al. 2010, eq. 1, 5 and 6): a crowd of one, bit for bit.
//!
//! The body is never skinned: its coefficients are linear in the bone matrices. Inputs are clamped to the set
//! that the model's certificate covers, so the travel bound in the file holds whatever is fed in.

use crate::clock::Clock;
use crate::cpu::kernel::{
    Found, Placement, Wearers, cast, hang_one, place_one, pose as pose_limbs, take_off_one,
};
use crate::cpu::packed::Packed;
use crate::cpu::shard::{Room, Shard, placement};
use crate::{Actor, Basis, Isa, Result, Tier, TierReport, clock, pose};
use glam::{Affine3A, DVec3, Vec3};
use std::sync::{Arc, Mutex, PoisonError};
use toile_model::{Model, RootFrame, Surroundings};

/// Memory for what a model D is kept outside of: its wearer as posed, and what was found.
#[derive(Default)]
struct Outside {
    skin: Vec<f32>,
    found: Found,
}

/// A learned garment on one character.
pub struct Stable {
    shard: Shard,
    clock: Clock,
    /// The frame of the step before and how long ago it was, for velocities.
    before: Option<(RootFrame, f64)>,
    /// Coefficients shown in the step before.
    shown_before: Vec<f32>,
    /// The wearer's bones in the world in the latest step and the one before: only of a model D.
    worn: [Vec<f32>; 2],
    outside: Mutex<Outside>,
}

impl Stable {
    /// A garment at rest until its first step.
    pub fn new(model: Arc<Model>) -> Self {
        Self::with_basis(model, Basis::Full)
    }

    /// As [`Stable::new`], with the basis stored in another way.
    pub fn with_basis(model: Arc<Model>, basis: Basis) -> Self {
        let clock = Clock::new(model.fps);
        let mut shard = Shard::new(Arc::new(Packed::new(model, basis, false)), Isa::best(), 1, Room::Nothing);
        shard.enter(0);
        let shown_before = shard.coefficients(0).to_vec();
        let mut outside = Outside::default();
        let mut joints = 0;
        if let Some(correcting) = &shard.packed.correcting {
            joints = shard.packed.body.depth();
            if let Some(guard) = &correcting.guard {
                guard.provide(&mut outside.found);
                outside.skin = vec![0.0; guard.room(1)];
            }
        }
        let worn = [vec![0.0; joints], vec![0.0; joints]];
        Self { worn, outside: Mutex::new(outside), shard, clock, before: None, shown_before }
    }

    /// How far a model D trusts what it learned for the present pose, 0 to 1.
    pub fn gate(&self) -> f32 {
        self.shard.gate(0)
    }

    /// As [`Tier::positions`], from the first so many cloth coefficients only: what a coarser level of detail would show.
    pub fn positions_of(&self, dims: usize, out: &mut [Vec3]) {
        let mut y = self.coefficients().to_vec();
        y.iter_mut().skip(dims).for_each(|y| *y = 0.0);
        self.positions_at(&y, out);
    }

    fn positions_at(&self, y: &[f32], out: &mut [Vec3]) {
        if self.shard.packed.correcting.is_some() {
            return self.skinned(y, &self.worn[0], out);
        }
        let at = placement(self.shard.root(0).as_ref(), DVec3::ZERO);
        place_one(self.shard.isa, &self.shard.packed.vertices, y, &at, cast::floats_mut(out));
    }

    /// Wind, gravity and cloth from the next step on, in the world; numbers that are not finite leave them as they were.
    pub fn set_surroundings(&mut self, surroundings: &Surroundings) {
        if surroundings.is_finite() {
            self.shard.slots[0].surroundings = *surroundings;
        }
    }

    /// The corrected garment, carried by bones.
    fn skinned(&self, y: &[f32], bones: &[f32], out: &mut [Vec3]) {
        let Some(correcting) = &self.shard.packed.correcting else { return };
        let (out, isa) = (cast::floats_mut(out), self.shard.isa);
        place_one(isa, &self.shard.packed.vertices, y, &Placement::NONE, out);
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let Outside { skin, found } = &mut *outside;
        if let Some(guard) = &correcting.guard {
            pose_limbs(isa, guard, bones, 1, skin);
        }
        hang_one(isa, &correcting.hanging, correcting.guard.as_ref(), Wearers { bones, skin }, found, out);
    }

    /// The cloth coefficients `y` of the current frame.
    pub fn coefficients(&self) -> &[f32] {
        self.shard.coefficients(0)
    }

    /// The body coefficients `x` of the current frame, after clamping.
    pub fn body_coefficients(&self) -> &[f32] {
        self.shard.body_coefficients(0)
    }

    /// As [`Tier::step`], with a root frame in the world that the caller follows, for instance with
    /// [`toile_model::RootTracker`].
    pub fn step_with_root(
        &mut self,
        bones: &[Affine3A],
        root: &RootFrame,
        dt_secs: f64,
    ) -> Result<TierReport> {
        let joints = self.shard.packed.model.joints;
        pose::check(bones, joints, &Actor::IDENTITY)?;
        pose::check_root(root)?;
        let plan = self.clock.advance(dt_secs)?;
        self.before = self.shard.root(0).map(|before| (before, dt_secs));
        self.shown_before.copy_from_slice(self.shard.coefficients(0));
        self.shard.plan = plan;
        self.shard.set_pose(0, &Actor::IDENTITY, bones, *root);
        self.shard.step();
        if self.shard.packed.correcting.is_some() {
            self.worn.swap(0, 1);
            self.shard.write_bones(0, &mut self.worn[0]);
        }
        Ok(TierReport { clamped: self.shard.clamped })
    }
}

impl Tier for Stable {
    fn reset(&mut self) {
        self.shard.reset(0);
        self.clock = Clock::new(self.shard.packed.model.fps);
        self.before = None;
    }

    /// Root and heading come from the model's hips.
    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        pose::check(bones, self.shard.packed.model.joints, &Actor::IDENTITY)?;
        let root = self.shard.root_from_hips(0, &Actor::IDENTITY, bones)?;
        self.step_with_root(bones, &root, dt_secs)
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.positions_at(self.coefficients(), out);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        let Some((before, dt_secs)) = self.before else {
            out.fill(Vec3::ZERO);
            return true;
        };
        self.positions(out);
        if self.shard.packed.correcting.is_some() {
            let mut was = vec![Vec3::ZERO; out.len()];
            self.skinned(&self.shown_before, &self.worn[1], &mut was);
            let per_second = (1.0 / dt_secs) as f32;
            out.iter_mut().zip(&was).for_each(|(now, was)| *now = (*now - *was) * per_second);
            return true;
        }
        let at = placement(Some(&before), DVec3::ZERO);
        let basis = &self.shard.packed.vertices;
        take_off_one(self.shard.isa, basis, &self.shown_before, &at, cast::floats_mut(out));
        let per_second = (1.0 / dt_secs) as f32;
        out.iter_mut().for_each(|moved| *moved *= per_second);
        true
    }

    fn vertices(&self) -> usize {
        self.shard.packed.model.vertices
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        Some(&self.shard.packed.model.triangles)
    }
}
