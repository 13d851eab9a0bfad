//! A clip from its first frame to its last, as a take.

mod arrive;
mod frames;

use crate::Result;
use crate::clip::check_clip;
use crate::drape::{DrapeSettings, drape, drape_outfit};
use crate::outfit::Outfit;
use crate::settings::Settings;
use crate::state::State;
use crate::world::World;
use frames::places;
use glam::Affine3A;
use std::ops::ControlFlow;
use toile_assets::{Body, Fabric, Garment, Motion, RootTrack, Take};

/// What to record and how.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordSettings {
    /// Of the solver.
    pub solver: Settings,
    /// Of draping and of the way to the first frame.
    pub drape: DrapeSettings,
    /// Frames per second of the take.
    pub fps: f64,
    /// A joint that moves farther within 1/30 s is a fault of the clip, m. 1 m is 30 m/s; the fastest hands of
    /// mocap reach 20.
    pub teleport_m: f32,
    /// Seconds that the motion stands still at its end of a stop take.
    pub stop_secs: f64,
    /// How far every vertex is pushed aside at the motion's first frame, m: a twin of a take, to see how much of it no
    /// model could foretell.
    pub nudge_m: f64,
    /// Share by which gusts strengthen and weaken the wind, as [`toile_assets::gusts`] goes; 0 for a steady one.
    pub gust: f64,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            solver: Settings::worn(),
            drape: DrapeSettings::default(),
            fps: 30.0,
            teleport_m: 1.0,
            stop_secs: 2.0,
            nudge_m: 0.0,
            gust: 0.0,
        }
    }
}

impl RecordSettings {
    /// These with some of them changed: `RecordSettings::default().with(|s| s.fps = 60.0)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// Where a take may be branched: the cloth at a frame.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The frame.
    pub frame: usize,
    /// The cloth there.
    pub state: State,
    /// The bones there.
    pub bones: Vec<Affine3A>,
}

/// A take and where it may be branched.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The frames; fewer than the clip has where [`Recorder::on_frame`] broke off.
    pub take: Take,
    /// The cloth at the frames named with [`Recorder::branch_at`], for [`Recorder::stop`].
    pub branches: Vec<Branch>,
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Frames done.
    pub done: usize,
    /// Frames in all.
    pub of: usize,
}

type OnFrame<'a> = Box<dyn FnMut(Progress) -> ControlFlow<()> + 'a>;

/// Records takes of one garment on one body.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use toile_assets::builtin;
/// use toile_simulate::Recorder;
/// let body = builtin::body("mannequin:female")?;
/// let skirt = builtin::garment("skirt", &body)?;
/// let fabric = builtin::fabric(&skirt.fabric)?;
/// let walk = builtin::motion("walk:1.2", &body.skeleton)?;
/// let take = Recorder::new(&body, &skirt)
///     .on_frame(|at| {
///         println!("{}/{}", at.done, at.of);
///         ControlFlow::Continue(())
///     })
///     .record(&fabric, &walk)?;
/// take.write("walk.take")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is simulated before `record`"]
pub struct Recorder<'a> {
    body: &'a Body,
    garment: &'a Garment,
    settings: RecordSettings,
    branch_at: Vec<usize>,
    on_frame: Option<OnFrame<'a>>,
}

impl<'a> Recorder<'a> {
    /// With the usual settings.
    pub fn new(body: &'a Body, garment: &'a Garment) -> Self {
        Self { body, garment, settings: RecordSettings::default(), branch_at: vec![], on_frame: None }
    }

    /// Of garments worn together, recorded as one: [`Outfit::split`] makes a take of each.
    pub fn outfit(body: &'a Body, outfit: &'a Outfit) -> Self {
        Self::new(body, outfit.joined())
    }

    /// With these settings.
    pub fn settings(mut self, settings: RecordSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Keeps the cloth at these frames.
    pub fn branch_at(mut self, frames: impl IntoIterator<Item = usize>) -> Self {
        self.branch_at = frames.into_iter().collect();
        self
    }

    /// Calls `f` after every frame; a recording that it breaks off ends with that frame.
    pub fn on_frame(mut self, f: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.on_frame = Some(Box::new(f));
        self
    }

    /// Puts the garment on, in the body's rest pose; many clips may share the result.
    pub fn drape(&self, fabric: &Fabric) -> Result<World> {
        drape(self.body, self.garment, fabric, &self.settings.solver, &self.settings.drape)
    }

    /// Puts the garments of an outfit on.
    pub fn drape_outfit(&self, outfit: &Outfit) -> Result<World> {
        drape_outfit(self.body, outfit, &self.settings.solver, &self.settings.drape)
    }

    /// Checks the clip, drapes the garment, brings it to the first frame and records from there.
    pub fn record(&mut self, fabric: &Fabric, motion: &Motion) -> Result<Take> {
        check_clip(self.body, motion, &self.settings)?;
        let draped = self.drape(fabric)?;
        Ok(self.record_draped(&draped, motion)?.take)
    }

    /// The same from a garment that [`Recorder::drape`] has put on.
    pub fn record_draped(&mut self, draped: &World, motion: &Motion) -> Result<Recording> {
        let mut world = arrive::arrive(draped, self.body, motion, &self.settings.drape)?;
        world.nudge(self.settings.nudge_m);
        let mut recording = self.record_from(&mut world, motion)?;
        recording.take.draped = places(draped);
        Ok(recording)
    }

    /// Records with a world that is already at the motion's first frame.
    fn record_from(&mut self, world: &mut World, motion: &Motion) -> Result<Recording> {
        let fps = self.settings.fps;
        let count = (motion.duration_secs() * fps + 1e-6).floor() as usize + 1;
        let mut frames = frames::Frames::new(self.body, self.garment, motion, &self.settings, None, world);
        let mut branches = Vec::new();
        for f in 0..count {
            frames.record(world, f, |share| motion.at((f as f64 - 1.0 + share) / fps))?;
            if self.branch_at.contains(&f) {
                branches.push(Branch { frame: f, state: world.state.clone(), bones: world.bones().to_vec() });
            }
            let at = Progress { done: f + 1, of: count };
            if self.on_frame.as_mut().is_some_and(|on_frame| on_frame(at).is_break()) {
                break;
            }
        }
        let poses: Vec<_> = (0..frames.len()).map(|f| motion.at(f as f64 / fps)).collect();
        let take = frames.finish(RootTrack::new(&self.body.skeleton, &poses).frames);
        Ok(Recording { take, branches })
    }

    /// The settling after the motion freezes at a branch (de Aguiar 2010 §7, Training).
    pub fn stop(&self, draped: &World, motion: &Motion, branch: &Branch) -> Result<Take> {
        let settings = &self.settings;
        // A world of its own, so that nothing depends on which takes were made before.
        let mut world = draped.clone();
        world.restore(&branch.state, &branch.bones);
        let pose = motion.at(branch.frame as f64 / settings.fps);
        let count = (settings.stop_secs * settings.fps).ceil() as usize + 1;
        let stop = Some(branch.frame);
        let mut frames = frames::Frames::new(self.body, self.garment, motion, settings, stop, &world);
        for f in 0..count {
            frames.record(&mut world, f, |_| pose.clone())?;
        }
        let roots = RootTrack::new(&self.body.skeleton, std::iter::repeat_n(&pose, count)).frames;
        let mut take = frames.finish(roots);
        take.draped = places(draped);
        Ok(take)
    }
}
