//! Dressed at once: garments in three layers, with no training and no full simulation (Cordier and Magnenat-Thalmann
//! 2002). What is fixed is in [`Layers`], made beforehand; here is the step.

mod balance;
mod discs;
mod floating;
mod hung;
mod limbs;
mod shaking;
mod springs;
mod trunk;
mod tubes;

pub use balance::balance;

use crate::{Error, Result, Tier, TierReport, clock, pose};
use discs::Discs;
use floating::Cloth;
use glam::{Affine3A, Vec3, Vec3A};
use hung::Hung;
use shaking::Shaking;
use std::sync::Arc;
use toile_model::layers::Layers;
use trunk::Lattice;
use tubes::Tubes;

/// What the step may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredSettings {
    /// Longest part of a step that springs are solved for, s. The paper's is 0.04 with a full solve; ours are short with
    /// one sweep each, which costs as much and takes less from a swing.
    pub step_secs: f32,
    /// Velocity of the air around the wearer, m/s: floating cloth is blown along with it.
    pub wind: Vec3,
}

impl Default for LayeredSettings {
    fn default() -> Self {
        Self { step_secs: 1.0 / 240.0, wind: Vec3::ZERO }
    }
}

/// The paper's step: springs are not solved over longer ones.
const PAPERS_STEP_SECS: f32 = 0.04;
/// Springs are not asked to stand more wind than this, m/s.
const STORM_M_PER_S: f32 = 20.0;
/// A wearer that goes farther than this in a step, m plus m/s, was put somewhere else.
const TELEPORT_M: f32 = 0.5;
const TELEPORT_M_PER_S: f32 = 20.0;
/// Steps of 1/30 s in which floating cloth comes to hang before it is first shown, and those of them in which its wearer
/// goes from the bind pose into the first one.
const SETTLING_STEPS: usize = 36;
const INTO_POSE_STEPS: usize = 24;

/// A garment in layers on one character.
pub struct Layered {
    layers: Arc<Layers>,
    settings: LayeredSettings,
    /// Bones that a pose must have.
    joints: usize,
    posed: Vec<Vec3>,
    before: Vec<Vec3>,
    shaking: Shaking,
    tubes: Tubes,
    discs: Discs,
    /// Bones of the vertices of layer 1, and of those of the trunk.
    kinematic: Hung,
    lattice: Option<Lattice>,
    cloth: Option<Cloth>,
    /// Bone of the hips in the step before.
    hips: Option<Affine3A>,
    /// Of the last step; 0 until there are two poses.
    per_second: f32,
}

impl Layered {
    /// A garment at rest until its first step.
    pub fn new(layers: Arc<Layers>, settings: LayeredSettings) -> Self {
        let posed = layers.attachment.rest.clone();
        let settings = LayeredSettings {
            step_secs: settings.step_secs.clamp(1e-4, PAPERS_STEP_SECS),
            wind: if settings.wind.is_finite() {
                settings.wind.clamp_length_max(STORM_M_PER_S)
            } else {
                Vec3::ZERO
            },
        };
        let mut cloth = layers.floating.as_ref().map(Cloth::new);
        if let Some(cloth) = &mut cloth {
            cloth.wind = settings.wind.into();
        }
        Self {
            joints: layers.joints,
            before: posed.clone(),
            posed,
            shaking: Shaking::default(),
            tubes: Tubes::new(&layers.tubes, &layers.rides, &layers.attachment),
            discs: Discs::new(&layers.discs, &layers.attachment),
            kinematic: Hung::new(&layers.attachment.skin, layers.kinematic.iter().copied()),
            lattice: layers.trunk.as_ref().map(Lattice::new),
            cloth,
            hips: None,
            per_second: 0.0,
            layers,
            settings,
        }
    }

    /// What is fixed.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Bytes of what changes from step to step, about.
    pub fn state_bytes(&self) -> usize {
        let discs = 48 * self.layers.discs.len();
        let lattice = self.lattice.as_ref().map_or(0, |_| 32 * 42);
        discs + lattice + self.layers.floating.as_ref().map_or(0, |f| 32 * f.free.len())
    }

    /// Layers 1 and 2, floating cloth left out.
    fn kinematic(&mut self, bones: &[Affine3A], dt: f32) {
        let layers = &*self.layers;
        let (tubes, posed) = (&mut self.tubes, &mut self.posed);
        if !layers.tubes.is_empty() {
            tubes.step(bones, dt);
        }
        for (i, &v) in layers.kinematic.iter().enumerate() {
            let rest = Vec3A::from(layers.attachment.rest[v as usize]) + tubes.riding(v);
            posed[v as usize] = self.kinematic.carry(i, bones, rest).into();
        }
        self.shaking.step(bones, dt, layers.height_m);
        let felt = &self.shaking.felt;
        self.discs.step(bones, felt, dt, |v| tubes.riding(v), |v, p| posed[v as usize] = p.into());
        if let (Some(trunk), Some(lattice)) = (&layers.trunk, &mut self.lattice) {
            lattice.step(trunk, bones, dt);
            for (v, weights) in trunk.followers.iter().zip(&trunk.weights) {
                self.posed[*v as usize] += lattice.deform(weights);
            }
        }
    }

    /// Vertices that go with one joint and nothing else.
    fn rigid(&mut self, bones: &[Affine3A]) {
        for (joint, vertices) in &self.layers.rigid {
            let bone = &bones[*joint as usize];
            for &v in vertices {
                self.posed[v as usize] = bone.transform_point3(self.layers.attachment.rest[v as usize]);
            }
        }
    }

    /// Floating cloth for the first time: as it was draped, on a wearer that goes from the bind pose into this one. Put
    /// down where skinning has it, a hem may lie on the wrong side of a leg.
    fn settle(&mut self, bones: &[Affine3A]) {
        let (Some(floating), Some(cloth)) = (&self.layers.floating, &mut self.cloth) else { return };
        let hips = usize::from(self.layers.hips.0);
        let (draped, standing) = (&self.layers.attachment.rest, bones[hips]);
        let posed = self.posed.clone();
        for &v in floating.free.iter().chain(&floating.held) {
            self.posed[v as usize] = standing.transform_point3(draped[v as usize]);
        }
        cloth.start(floating, &self.posed);
        for k in 1..=SETTLING_STEPS {
            let t = (k as f32 / INTO_POSE_STEPS as f32).min(1.0);
            let on_the_way: Vec<Affine3A> =
                bones.iter().map(|b| floating::between(&standing, b, t)).collect();
            for &v in &floating.held {
                let start = standing.transform_point3(draped[v as usize]);
                self.posed[v as usize] = start.lerp(posed[v as usize], t);
            }
            let step_secs = self.settings.step_secs;
            cloth.step(floating, &on_the_way, hips, 1.0 / 30.0, step_secs, &mut self.posed);
        }
    }

    /// Whether the wearer was put somewhere else, and where the cloth goes with it.
    fn teleported(&self, bones: &[Affine3A], dt_secs: f32) -> Option<Affine3A> {
        let (joint, place) = self.layers.hips;
        let (before, now) = (self.hips.as_ref()?, &bones[joint as usize]);
        let moved = now.transform_point3(place).distance(before.transform_point3(place));
        (moved > TELEPORT_M + TELEPORT_M_PER_S * dt_secs).then(|| *now * before.inverse())
    }
}

impl Tier for Layered {
    fn reset(&mut self) {
        self.discs.forget();
        self.shaking.forget();
        self.tubes.forget();
        if let Some(lattice) = &mut self.lattice {
            lattice.moved.fill(Vec3A::ZERO);
            lattice.forget();
        }
        if let Some(cloth) = &mut self.cloth {
            cloth.forget();
        }
        (self.hips, self.per_second) = (None, 0.0);
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        pose::check_finite(bones, bones.len().max(self.joints))?;
        let dt = dt_secs as f32;
        let carried = self.teleported(bones, dt);
        if let Some(carried) = &carried {
            self.discs.forget();
            self.shaking.forget();
            if let Some(lattice) = &mut self.lattice {
                lattice.forget();
            }
            if let Some(cloth) = &mut self.cloth {
                cloth.carry(carried);
            }
        }
        self.per_second = if self.hips.is_some() && carried.is_none() { 1.0 / dt } else { 0.0 };
        self.hips = Some(bones[self.layers.hips.0 as usize]);
        std::mem::swap(&mut self.before, &mut self.posed);
        self.rigid(bones);
        self.kinematic(bones, dt);
        if self.cloth.as_ref().is_some_and(|cloth| !cloth.has_started()) {
            self.settle(bones);
        }
        if let (Some(floating), Some(cloth)) = (&self.layers.floating, &mut self.cloth) {
            cloth.step(
                floating,
                bones,
                usize::from(self.layers.hips.0),
                dt,
                self.settings.step_secs,
                &mut self.posed,
            );
            if !cloth.is_finite() {
                self.posed.copy_from_slice(&self.before);
                self.reset();
                return Err(Error::NotFinite { what: "floating cloth".into() });
            }
        }
        Ok(TierReport::default())
    }

    fn positions(&self, out: &mut [Vec3]) {
        out.copy_from_slice(&self.posed);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        super::differences(&self.posed, &self.before, self.per_second, out);
        true
    }

    fn vertices(&self) -> usize {
        self.posed.len()
    }
}
