//! One garment that goes from tier to tier while it is worn.

mod blend;
mod history;
mod soloist;
mod troupe;

pub use blend::HandOverSettings;
pub use history::Poses;
pub use troupe::{MakeTier, Troupe, Way};

use crate::{Error, Result, Tier, TierReport};
use blend::{Blend, Moving};
use glam::{Affine3A, Mat3A, Vec3};

/// What one tier hands to the next: where the wearer has been, where the cloth is and how it moves.
#[derive(Clone, Copy)]
pub struct Handed<'a> {
    /// Up to the present pose; there is one at least.
    pub poses: &'a Poses,
    /// World-space vertices as they were shown, m.
    pub positions: &'a [Vec3],
    /// Their velocities, m/s.
    pub velocities: &'a [Vec3],
    /// The joint of the wearer's hips.
    pub hips: usize,
}

/// A tier of one garment, by name.
struct Rung {
    name: String,
    tier: Box<dyn Tier + Send>,
}

/// A garment with several tiers, one of which moves it; a tier itself.
///
/// ```
/// use toile_run::{Attachment, HandOverSettings, Ladder, Skinned, Tier};
/// use toile_run::glam::{Affine3A, Vec3};
/// # let skin = toile_model::Skin::from_rows([[(0, 1.0)]]).unwrap();
/// # let attachment = Attachment { skin, rest: vec![Vec3::X] };
/// # let other = Attachment { rest: vec![Vec3::X * 1.1], ..attachment.clone() };
/// let mut ladder = Ladder::new(HandOverSettings::default());
/// let far = ladder.add("skin", Box::new(Skinned::new(attachment)))?;
/// let near = ladder.add("another", Box::new(Skinned::new(other)))?;
/// ladder.step(&[Affine3A::IDENTITY], 1.0 / 60.0)?;
/// ladder.hand_over(near)?;
/// let mut shown = [Vec3::ZERO];
/// ladder.positions(&mut shown);
/// assert_eq!(shown[0], Vec3::X); // nothing has jumped
/// for _ in 0..90 {
///     ladder.step(&[Affine3A::IDENTITY], 1.0 / 60.0)?;
/// }
/// ladder.positions(&mut shown);
/// assert_eq!(shown[0], Vec3::X * 1.1);
/// # Ok::<(), toile_run::Error>(())
/// ```
pub struct Ladder {
    rungs: Vec<Rung>,
    current: usize,
    settings: HandOverSettings,
    poses: Poses,
    blend: Blend,
    shown: Vec<Vec3>,
    before: Vec<Vec3>,
    /// Of the last step, s; 0 until there are two poses.
    step_secs: f32,
    /// Of the tier that takes over, while it does.
    next: [Vec<Vec3>; 2],
    velocities: Vec<Vec3>,
}

impl Ladder {
    /// A garment without tiers.
    pub fn new(settings: HandOverSettings) -> Self {
        Self {
            rungs: Vec::new(),
            current: 0,
            poses: Poses::new(settings.poses),
            settings,
            blend: Blend::default(),
            shown: Vec::new(),
            before: Vec::new(),
            step_secs: 0.0,
            next: [Vec::new(), Vec::new()],
            velocities: Vec::new(),
        }
    }

    /// Adds a way of moving the garment and says its number. The first one added moves it at first; one of another garment
    /// is refused.
    pub fn add(&mut self, name: impl Into<String>, tier: Box<dyn Tier + Send>) -> Result<usize> {
        let name = name.into();
        if let Some(first) = self.rungs.first() {
            alike(first, &name, &*tier)?;
        } else {
            let rest = vec![Vec3::ZERO; tier.vertices()];
            self.next = [rest.clone(), rest.clone()];
            (self.shown, self.before, self.velocities) = (rest.clone(), rest.clone(), rest);
            tier.positions(&mut self.shown);
        }
        self.rungs.push(Rung { name, tier });
        Ok(self.rungs.len() - 1)
    }

    /// The number of a tier by name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.rungs.iter().position(|r| r.name == name)
    }

    /// Which tier moves the garment, or takes it over at present.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.rungs.get(self.current).map_or("", |r| &r.name)
    }

    /// Seconds that the latest hand-over still takes.
    pub fn handing_over_secs(&self) -> f32 {
        self.blend.left_secs()
    }

    /// How the next hand-over goes.
    pub fn settings(&mut self) -> &mut HandOverSettings {
        &mut self.settings
    }

    /// Lets another tier move the garment from the present place and speed on, also in the middle of a hand-over. A tier that
    /// cannot start there is refused and the present one goes on.
    pub fn hand_over(&mut self, to: usize) -> Result<()> {
        if to >= self.rungs.len() {
            return Err(Error::NoTier { tier: to, tiers: self.rungs.len() });
        }
        if to == self.current {
            return Ok(());
        }
        let Some(bones) = self.poses.latest() else {
            self.current = to;
            return Ok(());
        };
        let per_second = if self.step_secs > 0.0 { 1.0 / self.step_secs } else { 0.0 };
        for ((v, now), before) in self.velocities.iter_mut().zip(&self.shown).zip(&self.before) {
            *v = (*now - *before) * per_second;
        }
        let handed = Handed {
            poses: &self.poses,
            positions: &self.shown,
            velocities: &self.velocities,
            hips: self.settings.hips,
        };
        let tier = &mut self.rungs[to].tier;
        tier.start(&handed)?;
        let turn = turn(bones, self.settings.hips);
        let dt = if self.step_secs > 0.0 { self.step_secs } else { 1.0 / 60.0 };
        let turned = match self.poses.len() {
            0 | 1 => turn,
            n => {
                self.poses.iter().nth(n - 2).map_or(turn, |(bones, _)| self::turn(bones, self.settings.hips))
            }
        };
        let [now, before] = &mut self.next;
        tier.positions(now);
        // A tier without velocities is taken to move as what was shown.
        if !tier.velocities(before) {
            before.copy_from_slice(&self.velocities);
        }
        before.iter_mut().zip(now.iter()).for_each(|(v, p)| *v = *p - *v * dt);
        if self.step_secs == 0.0 {
            self.before.copy_from_slice(&self.shown);
            before.copy_from_slice(now);
        }
        let (from, to_) = (Moving { now: &self.shown, before: &self.before }, Moving { now, before });
        self.blend.begin(&from, &to_, [&turn, &turned], dt, &self.settings);
        self.current = to;
        Ok(())
    }
}

/// Rotation of the wearer.
fn turn(bones: &[Affine3A], hips: usize) -> Mat3A {
    bones.get(hips).map_or(Mat3A::IDENTITY, |b| b.matrix3)
}

/// Refuses a tier of another garment.
fn alike(first: &Rung, name: &str, tier: &dyn Tier) -> Result<()> {
    let differs = |why: String| Err(Error::Topology { what: format!("`{name}` {why} `{}`", first.name) });
    let (own, other) = (tier.vertices(), first.tier.vertices());
    if own != other {
        return differs(format!("has {own} vertices, not {other} as"));
    }
    match (tier.triangles(), first.tier.triangles()) {
        (Some(a), Some(b)) if a != b => differs("has other triangles than".into()),
        _ => Ok(()),
    }
}

impl Tier for Ladder {
    fn reset(&mut self) {
        if let Some(rung) = self.rungs.get_mut(self.current) {
            rung.tier.reset();
        }
        self.poses.forget();
        self.blend.end();
        self.step_secs = 0.0;
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        let tiers = self.rungs.len();
        let rung = self.rungs.get_mut(self.current).ok_or(Error::NoTier { tier: 0, tiers })?;
        let report = rung.tier.step(bones, dt_secs)?;
        self.step_secs = if self.poses.is_empty() { 0.0 } else { dt_secs as f32 };
        self.poses.push(bones, dt_secs);
        std::mem::swap(&mut self.before, &mut self.shown);
        rung.tier.positions(&mut self.shown);
        if !self.blend.is_over() {
            self.blend.advance(dt_secs as f32);
            self.blend.add(&turn(bones, self.settings.hips), &mut self.shown);
        }
        Ok(report)
    }

    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        let Some(rung) = self.rungs.get_mut(self.current) else { return Ok(()) };
        rung.tier.start(from)?;
        self.poses.clone_from(from.poses);
        self.blend.end();
        let dt = from.poses.iter().last().map_or(0.0, |(_, dt)| dt as f32);
        self.step_secs = if from.poses.len() > 1 { dt } else { 0.0 };
        rung.tier.positions(&mut self.shown);
        if !rung.tier.velocities(&mut self.before) {
            self.before.copy_from_slice(from.velocities);
        }
        self.before.iter_mut().zip(&self.shown).for_each(|(v, p)| *v = *p - *v * dt);
        Ok(())
    }

    fn positions(&self, out: &mut [Vec3]) {
        out.copy_from_slice(&self.shown);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        let per_second = if self.step_secs > 0.0 { 1.0 / self.step_secs } else { 0.0 };
        crate::tier::differences(&self.shown, &self.before, per_second, out);
        true
    }

    fn vertices(&self) -> usize {
        self.rungs.first().map_or(0, |r| r.tier.vertices())
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.rungs.iter().find_map(|r| r.tier.triangles())
    }
}
