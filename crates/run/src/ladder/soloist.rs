//! One garment of a crowd that for a while is moved by a tier of its own.

use super::blend::{Blend, HandOverSettings, Moving};
use super::{Handed, Poses, turn};
use crate::Tier;
use glam::{Affine3A, Vec3};

/// Steps that a tier goes before it is seen.
const UNSEEN_STEPS: u32 = 20;

/// What a soloist is to do next.
pub(super) enum Cue {
    /// Go on.
    None,
    /// This tier takes over.
    Up(Box<dyn Tier + Send>),
    /// The crowd takes over.
    Down,
}

/// Vertices of one garment, beside the crowd's.
pub(super) struct Soloist {
    pub member: usize,
    pub cue: Cue,
    /// A tier of its own, and the steps that it still goes unseen.
    tier: Option<Box<dyn Tier + Send>>,
    unseen: u32,
    settings: HandOverSettings,
    poses: Poses,
    blend: Blend,
    shown: Vec<Vec3>,
    before: Vec<Vec3>,
    /// What the crowd has, now and in the step before.
    pub fed: [Vec<Vec3>; 2],
    /// Bones in the world, to step to.
    pub bones: Vec<Affine3A>,
    next: [Vec<Vec3>; 2],
    velocities: Vec<Vec3>,
    step_secs: f32,
    /// A tier that could not start or failed, and why.
    pub failed: Option<String>,
}

impl Soloist {
    pub fn new(member: usize, vertices: usize, settings: HandOverSettings) -> Self {
        let room = || vec![Vec3::ZERO; vertices];
        Self {
            member,
            cue: Cue::None,
            tier: None,
            unseen: 0,
            poses: Poses::new(2),
            settings,
            blend: Blend::default(),
            shown: room(),
            before: room(),
            fed: [room(), room()],
            bones: Vec::new(),
            next: [room(), room()],
            velocities: room(),
            step_secs: 0.0,
            failed: None,
        }
    }

    pub fn shown(&self) -> &[Vec3] {
        &self.shown
    }

    /// Whether it has poses enough to hand over from.
    pub fn is_ready(&self) -> bool {
        self.poses.len() >= 2
    }

    /// Whether the crowd's vertices are as good.
    pub fn is_done(&self) -> bool {
        self.tier.is_none() && self.blend.is_over() && matches!(self.cue, Cue::None)
    }

    /// Whether it has a tier of its own, seen or not yet.
    pub fn has_tier(&self) -> bool {
        self.tier.is_some()
    }

    /// Whether that moves it.
    pub fn is_solo(&self) -> bool {
        self.tier.is_some() && self.unseen == 0
    }

    /// Takes the crowd's vertices of this step.
    pub fn feed(&mut self, vertices: &[Vec3]) {
        self.fed.swap(0, 1);
        self.fed[0].copy_from_slice(vertices);
        if self.poses.is_empty() {
            self.fed[1].copy_from_slice(vertices);
        }
    }

    /// Goes to its bones; the crowd's vertices of there have been fed.
    pub fn step(&mut self, dt_secs: f64) {
        match std::mem::replace(&mut self.cue, Cue::None) {
            Cue::None => {}
            Cue::Up(tier) => self.up(tier),
            Cue::Down => self.down(),
        }
        self.step_secs = if self.poses.is_empty() { 0.0 } else { dt_secs as f32 };
        self.poses.push(&self.bones, dt_secs);
        std::mem::swap(&mut self.before, &mut self.shown);
        let stepped = self.tier.as_mut().map(|tier| tier.step(&self.bones, dt_secs));
        if let Some(Err(why)) = &stepped {
            self.failed = Some(why.to_string());
            // From where it was shown last back to the crowd.
            std::mem::swap(&mut self.before, &mut self.shown);
            self.down();
            std::mem::swap(&mut self.before, &mut self.shown);
        }
        match &self.tier {
            Some(tier) if self.unseen == 0 => tier.positions(&mut self.shown),
            _ => self.shown.copy_from_slice(&self.fed[0]),
        }
        if !self.blend.is_over() {
            self.blend.advance(dt_secs as f32);
            self.blend.add(&turn(&self.bones, self.settings.hips), &mut self.shown);
        }
        // Last: what is shown in this step is still the crowd's.
        if self.unseen > 0 && self.tier.is_some() {
            self.unseen -= 1;
            if self.unseen == 0 {
                self.appear();
            }
        }
    }

    /// A tier begins where the garment is. It is not seen before it has come to hang: a start over many poses at once would
    /// take as long as many frames.
    fn up(&mut self, mut tier: Box<dyn Tier + Send>) {
        if self.poses.is_empty() || self.step_secs <= 0.0 {
            self.failed = Some("there is no motion yet to take over from".into());
            return;
        }
        crate::tier::differences(&self.shown, &self.before, 1.0 / self.step_secs, &mut self.velocities);
        let handed = Handed {
            poses: &self.poses,
            positions: &self.shown,
            velocities: &self.velocities,
            hips: self.settings.hips,
        };
        match tier.start(&handed) {
            Ok(()) => (self.tier, self.unseen) = (Some(tier), UNSEEN_STEPS),
            Err(why) => self.failed = Some(why.to_string()),
        }
    }

    /// What went unseen takes over from what was shown, in the present step.
    fn appear(&mut self) {
        let Some(tier) = &self.tier else { return };
        let [now, before] = &mut self.next;
        tier.positions(now);
        let dt = self.step_secs;
        if tier.velocities(before) {
            before.iter_mut().zip(now.iter()).for_each(|(v, p)| *v = *p - *v * dt);
        } else {
            let moved = self.shown.iter().zip(&self.before);
            before.iter_mut().zip(now.iter()).zip(moved).for_each(|((b, n), (p, q))| *b = *n - (*p - *q));
        }
        self.begin();
    }

    /// The crowd takes over from the step before, whose vertices of then are the second that were fed.
    fn down(&mut self) {
        let was_seen = self.is_solo();
        self.tier = None;
        self.unseen = 0;
        if !was_seen {
            return;
        }
        let [now, before] = &mut self.next;
        now.copy_from_slice(&self.fed[1]);
        // The speed that the crowd has on from there.
        for ((b, n), later) in before.iter_mut().zip(now.iter()).zip(&self.fed[0]) {
            *b = *n - (*later - *n);
        }
        self.begin();
    }

    fn begin(&mut self) {
        let last = self.poses.len();
        let at = |back: usize| {
            let bones = self.poses.iter().nth(last.saturating_sub(back)).map(|(bones, _)| bones);
            turn(bones.unwrap_or_default(), self.settings.hips)
        };
        let (now, before) = (at(1), at(2));
        let from = Moving { now: &self.shown, before: &self.before };
        let to = Moving { now: &self.next[0], before: &self.next[1] };
        let dt = if self.step_secs > 0.0 { self.step_secs } else { 1.0 / 60.0 };
        self.blend.begin(&from, &to, [&now, &before], dt, &self.settings);
    }
}
