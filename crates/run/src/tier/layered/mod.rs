//! Dressed at once: garments in three layers, with no training and no full simulation (Cordier and Magnenat-Thalmann
//! 2002). What is fixed is in [`Layers`], made beforehand; here is the step.

mod balance;
mod discs;
mod floating;
mod hung;
mod limbs;
mod rigid;
mod shaking;
mod springs;
mod trunk;
mod tubes;
mod wide;

pub use balance::balance;

use crate::cpu::kernel::{Lanes, WIDE, Work, widely};
use crate::{Error, Handed, Result, Tier, TierReport, clock, pose};
use discs::Discs;
use floating::Cloth;
use glam::{Affine3A, Vec3, Vec3A};
use hung::Hung;
use rigid::Rigid;
use shaking::Shaking;
use std::sync::Arc;
use toile_model::layers::Layers;
use trunk::Lattice;
use tubes::{Riders, Tubes};
use wide::Stored;

/// What the step may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredSettings {
    /// Longest part of a step that springs are solved for, s. The paper's is 0.04 with a full solve; ours are short with
    /// one sweep each, which costs as much and takes less from a swing.
    pub step_secs: f32,
    /// Velocity of the air around the wearer, m/s: floating cloth is blown along with it.
    pub wind: Vec3,
    /// Leave parts that go with one joint alone ([`Layers::rigid`]) where the bind pose has them: the engine draws them
    /// under the joint's own transform.
    pub leave_rigid: bool,
}

impl Default for LayeredSettings {
    fn default() -> Self {
        Self { step_secs: 1.0 / 240.0, wind: Vec3::ZERO, leave_rigid: false }
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
    rigid: Rigid,
    kinematic: Kinematic,
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
            ..settings
        };
        let tubes = Tubes::new(&layers.tubes, &layers.attachment);
        let discs = Discs::new(&layers, &tubes);
        let mut cloth = layers.floating.as_ref().map(Cloth::new);
        if let Some(cloth) = &mut cloth {
            cloth.wind = settings.wind.into();
        }
        Self {
            joints: layers.joints,
            before: posed.clone(),
            posed,
            shaking: Shaking::new(discs.joints()),
            kinematic: Kinematic::new(&layers, &tubes),
            tubes,
            discs,
            rigid: Rigid::new(&layers),
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
        if !self.settings.leave_rigid {
            self.rigid.pose(&self.layers, bones, &mut self.posed);
        }
        widely(Moving {
            layers: &self.layers,
            tubes: &mut self.tubes,
            kinematic: &self.kinematic,
            shaking: &mut self.shaking,
            discs: &mut self.discs,
            lattice: self.lattice.as_mut(),
            bones,
            dt,
            posed: &mut self.posed,
        });
    }

    /// The positions of this step become those of the step before.
    fn turn_over(&mut self) {
        std::mem::swap(&mut self.before, &mut self.posed);
        self.rigid.swap();
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

/// Vertices of layer 1 that go with several joints, and those of the trunk.
struct Kinematic {
    vertices: Vec<u32>,
    rest: Vec<Stored>,
    hanging: Hung,
    riders: Riders,
}

impl Kinematic {
    fn new(layers: &Layers, tubes: &Tubes) -> Self {
        let skin = &layers.attachment.skin;
        let vertices = hung::by_bones(skin, layers.kinematic.iter().copied());
        let rest = |eight: &[u32]| {
            Stored::of(eight.iter().map(|v| Vec3A::from(layers.attachment.rest[*v as usize])))
        };
        Self {
            rest: vertices.chunks(WIDE).map(rest).collect(),
            hanging: Hung::new(skin, &vertices),
            riders: tubes.riders(&layers.rides, &vertices),
            vertices,
        }
    }

    #[inline(always)]
    fn step<L: Lanes>(&self, bones: &[Affine3A], tubes: &Tubes, positions: &mut [Vec3]) {
        for (i, vertices) in self.vertices.chunks(WIDE).enumerate() {
            let at =
                self.hanging.carry::<L>(i, bones, self.rest[i].load() + tubes.slid(&self.riders, i)).store();
            for (k, v) in vertices.iter().enumerate() {
                positions[*v as usize] = at.lane(k).into();
            }
        }
    }
}

/// One step of what is near the skin.
struct Moving<'a> {
    layers: &'a Layers,
    tubes: &'a mut Tubes,
    kinematic: &'a Kinematic,
    shaking: &'a mut Shaking,
    discs: &'a mut Discs,
    lattice: Option<&'a mut Lattice>,
    bones: &'a [Affine3A],
    dt: f32,
    posed: &'a mut [Vec3],
}

impl Work for Moving<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { layers, bones, dt, posed, .. } = self;
        if !layers.tubes.is_empty() {
            self.tubes.step::<L>(bones, dt);
        }
        self.kinematic.step::<L>(bones, self.tubes, posed);
        self.shaking.step(bones, dt, layers.height_m);
        self.discs.step::<L>(bones, &self.shaking.felt, dt, self.tubes, posed);
        if let (Some(trunk), Some(lattice)) = (&layers.trunk, self.lattice) {
            lattice.step::<L>(trunk, bones, dt);
            lattice.deform::<L>(&trunk.followers, posed);
        }
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
        self.turn_over();
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
                self.rigid.forget();
                self.reset();
                return Err(Error::NotFinite { what: "floating cloth".into() });
            }
        }
        Ok(TierReport::default())
    }

    /// Floating cloth begins as it was shown and calms down over the poses.
    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        self.reset();
        let hips = usize::from(self.layers.hips.0);
        let (back, wearer) = from.poses.way_back(hips);
        for (k, (bones, dt_secs)) in from.poses.iter().enumerate() {
            clock::check(dt_secs)?;
            pose::check_finite(bones, bones.len().max(self.joints))?;
            let dt = dt_secs as f32;
            self.per_second = if k > 0 { 1.0 / dt } else { 0.0 };
            self.hips = Some(bones[hips]);
            self.turn_over();
            self.kinematic(bones, dt);
            let (Some(floating), Some(cloth)) = (&self.layers.floating, &mut self.cloth) else { continue };
            if k == 0 {
                for &v in &floating.free {
                    self.posed[v as usize] = back.transform_point3(from.positions[v as usize]);
                }
                cloth.start(floating, &self.posed);
            }
            cloth.calm(wearer, super::CALMS);
            cloth.step(floating, bones, hips, dt, self.settings.step_secs, &mut self.posed);
            if !cloth.is_finite() {
                self.reset();
                return Err(Error::NotFinite { what: "floating cloth".into() });
            }
        }
        Ok(())
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
