//! One garment on one motion by any tier: what `animate` and `compare` play.

use crate::pacing::Pacing;
use crate::progress;
use crate::resolve::{self, BadRequest};
use crate::surroundings::Blown;
use anyhow::{Context, Result};
use glam::{Affine3A, Vec3};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{
    Attachment, AttachmentSettings, Body, Fabric, Garment, Lineage, Model, Motion, RootFrame, RootTrack,
    Surroundings, Take, attach,
};
use toile_run::{Layered, LayeredSettings, Layers, Limits, Skinned, Stable, Tier, TierReport};
use toile_simulate::{RecordSettings, Recorder, check_clip};

/// A way of moving a garment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TierName {
    /// Follows the bones
    Skin,
    /// In three layers: dressed at once, nothing to train
    Layered,
    /// Learned; needs --model
    Stable,
    /// Simulated in a subspace; needs --model
    Adaptive,
    /// Simulated
    Full,
}

impl TierName {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skin => "skin",
            Self::Layered => "layered",
            Self::Stable => "stable",
            Self::Adaptive => "adaptive",
            Self::Full => "full",
        }
    }
}

/// A motion at a constant rate, as bones and roots.
pub struct PosedMotion {
    pub motion: Motion,
    pub bones: Vec<Vec<Affine3A>>,
    pub roots: Vec<RootFrame>,
    pub fps: f64,
}

impl PosedMotion {
    /// The one motion that was named, carried over to the body, at a rate and no longer than asked.
    pub fn new(
        name: &str,
        clip: Option<&str>,
        body: &Body,
        pacing: &Pacing,
        fps: f64,
        seconds: Option<f64>,
    ) -> Result<Self> {
        let mut motion = one_motion(name, clip, body, pacing)?;
        if let Some(seconds) = seconds {
            motion = motion.trimmed(0.0, seconds)?;
        }
        Ok(Self::of(body, motion.resampled(fps)))
    }

    /// The same motion at another rate.
    pub fn at_rate(&self, body: &Body, fps: f64) -> Self {
        Self::of(body, self.motion.resampled(fps))
    }

    fn of(body: &Body, motion: Motion) -> Self {
        Self {
            bones: motion.poses.iter().map(|p| body.bones(p)).collect(),
            roots: RootTrack::new(&body.skeleton, &motion.poses).frames,
            fps: motion.fps,
            motion,
        }
    }

    pub fn len(&self) -> usize {
        self.bones.len()
    }
}

/// The only motion of that name; of a file with several, the chosen clip.
pub fn one_motion(name: &str, clip: Option<&str>, body: &Body, pacing: &Pacing) -> Result<Motion> {
    let mut motions = resolve::raw_motions(name)?;
    let names: Vec<String> = motions.iter().map(|m| m.name.clone()).collect();
    if let Some(clip) = clip {
        motions.retain(|m| m.name == clip);
    }
    match motions.len() {
        1 => {
            let carry = if resolve::is_file(name) { resolve::file_onto } else { resolve::onto };
            let motion = pacing.apply(motions.remove(0), resolve::is_file(name))?;
            carry(motion, body).with_context(|| format!("motion {name}"))
        }
        0 if names.is_empty() => Err(BadRequest(format!("{name} holds no animation")).into()),
        _ => Err(BadRequest(format!(
            "{name} holds {} animations; choose one with --clip: {}",
            names.len(),
            names.join(", ")
        ))
        .into()),
    }
}

/// What playing a tier noticed.
#[derive(Default)]
pub struct Played {
    /// Median time of a frame, bones to vertices, µs.
    pub us_per_frame: f64,
    /// Frames that were stepped, at the tier's own rate.
    pub frames: usize,
    /// Those whose inputs had to be clamped to what the model is certified for.
    pub clamped_frames: usize,
    /// Deepest vertex inside the body as the solver saw it, mm.
    pub deepest_mm: f32,
}

/// The garment at rest on the body's rest pose, in simulation vertices.
pub fn draped(body: &Body, garment: &Garment, fabric: &Fabric) -> Result<Vec<Vec3>> {
    let bar = progress::bar(1, "draping");
    let world =
        Recorder::new(body, garment).drape(fabric).with_context(|| format!("draping `{}`", garment.name))?;
    bar.finish_and_clear();
    Ok(world.state.x.iter().map(|p| p.as_vec3()).collect())
}

/// Kinematic cloth from the garment as it hangs.
pub fn attached(body: &Body, garment: &Garment, draped: &[Vec3]) -> Result<Attachment> {
    let mut mesh = garment.sim.clone();
    mesh.positions.clone_from_slice(draped);
    Ok(attach(body, &mesh, &AttachmentSettings::default())?)
}

/// What a file says of itself under a key.
pub fn noted<'a>(notes: &'a [(String, String)], key: &str) -> Option<&'a str> {
    notes.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
}

/// ` of dress`, for messages about a model or database that says what it was learned from.
pub fn made_for(notes: &[(String, String)]) -> String {
    noted(notes, "garment").map_or(String::new(), |garment| format!(" of `{garment}`"))
}

/// How to name the garment that a file was learned from: `--garment skirt:300` where it is built in and comes out with these very
/// triangles, else what to look for.
pub fn own_garment(
    notes: &[(String, String)],
    (vertices, triangles): (usize, &[[u32; 3]]),
    body: &Body,
) -> String {
    // People name round numbers, and a cut comes out near them.
    let rounded = |to: usize| format!(":{}", (vertices + to / 2) / to * to);
    let sizes = [String::new(), rounded(100), rounded(50), rounded(10), rounded(1)];
    let same = |name: &String| {
        let garment = resolve::garment(name, body, toile_assets::read::garment::RestChoice::Auto, None);
        garment.is_ok_and(|g| g.sim.positions.len() == vertices && g.sim.triangles == triangles)
    };
    let named = noted(notes, "garment").unwrap_or_default();
    match sizes.iter().map(|size| format!("{named}{size}")).find(same) {
        Some(name) => format!("name its own with --garment {name}"),
        None => "name the garment that it was learned from with --garment".into(),
    }
}

/// A model that this body can wear.
pub fn model_for(path: &std::path::Path, body: &Body, garment: Option<&Garment>) -> Result<Arc<Model>> {
    let model = Model::read(path)?;
    let mut faults = Vec::new();
    if model.joints != body.skeleton.len() {
        faults.push(format!(
            "{}: the model's body has {} joints, `{}` has {}; name its body with --body",
            path.display(),
            model.joints,
            body.name,
            body.skeleton.len()
        ));
    }
    let learned_on = Lineage::from_notes(&model.notes).map(|l| l.body);
    if model.joints == body.skeleton.len() && learned_on.is_some_and(|print| print != body.fingerprint()) {
        faults.push(format!(
            "{}: the model was learned on another body than `{}`; name its own with --body",
            path.display(),
            body.name
        ));
    }
    if let Some(garment) = garment.filter(|g| g.sim.positions.len() != model.vertices) {
        faults.push(format!(
            "{}: the model{} has {} vertices, garment `{}` has {}; {}",
            path.display(),
            made_for(&model.notes),
            model.vertices,
            garment.name,
            garment.sim.positions.len(),
            own_garment(&model.notes, (model.vertices, &model.triangles), body)
        ));
    } else if let Some(garment) = garment.filter(|g| g.sim.triangles != model.triangles) {
        faults.push(format!(
            "{}: garment `{}` has other triangles than the model{}; {}",
            path.display(),
            garment.name,
            made_for(&model.notes),
            own_garment(&model.notes, (model.vertices, &model.triangles), body)
        ));
    }
    if faults.is_empty() { Ok(Arc::new(model)) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// Plays a tier that steps from pose to pose, frame by frame into `out`.
pub fn play(
    tier: &mut dyn Tier,
    shot: &PosedMotion,
    out: &mut dyn FnMut(&[Vec3]) -> Result<()>,
) -> Result<Played> {
    let mut positions = vec![Vec3::ZERO; tier.vertices()];
    let mut micros = Vec::with_capacity(shot.len());
    let mut played = Played::default();
    tier.reset();
    for (f, bones) in shot.bones.iter().enumerate() {
        let mut stepped = Ok(TierReport::default());
        micros.push(timed(|| {
            stepped = tier.step(bones, 1.0 / shot.fps);
            tier.positions(&mut positions);
        }));
        let report = stepped.with_context(|| format!("{}, frame {f}", shot.motion.name))?;
        played.frames += 1;
        played.clamped_frames += usize::from(report.clamped > 0);
        out(&positions)?;
    }
    micros.sort_by(f64::total_cmp);
    played.us_per_frame = micros.get(micros.len() / 2).copied().unwrap_or(0.0);
    Ok(played)
}

/// Plays the garment as it follows the bones.
pub fn play_skin(
    attachment: &Attachment,
    shot: &PosedMotion,
    out: &mut dyn FnMut(&[Vec3]) -> Result<()>,
) -> Result<Played> {
    play(&mut Skinned::new(attachment.clone()), shot, out)
}

/// A garment in layers, from how it hangs.
pub fn layers(body: &Body, garment: &Garment, rest: &[Vec3], fabric: &Fabric) -> Result<Arc<Layers>> {
    let settings = toile_assets::layers::LayerSettings::default();
    let mut layers = toile_assets::layers::layers(body, garment, rest, fabric, &settings)?;
    toile_run::balance(&mut layers, &LayeredSettings::default());
    Ok(Arc::new(layers))
}

/// What is painted on a garment.
pub fn limits(garment: &Garment, rest: &[Vec3]) -> Limits {
    garment.limits(rest)
}

/// Limits painted on a garment, around where skinning has it.
#[derive(Default)]
pub struct Leash(Option<(Limits, Attachment)>);

impl Leash {
    /// From the garment as it hangs.
    pub fn new(body: &Body, garment: &Garment, rest: &[Vec3]) -> Result<Self> {
        let limits = limits(garment, rest);
        if limits.is_empty() {
            return Ok(Self(None));
        }
        Ok(Self(Some((limits, attached(body, garment, rest)?))))
    }

    /// Every frame of a take brought back to what is allowed.
    pub fn keep_take(&self, take: &mut Take) {
        let Self(Some((limits, attachment))) = self else { return };
        for f in 0..take.len() {
            let bones = take.frame_bones(f).to_vec();
            let at = f * take.vertices;
            limits.keep(attachment, &bones, &mut take.positions[at..at + take.vertices]);
        }
    }

    /// Positions brought back to what is allowed.
    pub fn kept(&self, bones: &[Affine3A], positions: &[Vec3]) -> Vec<Vec3> {
        let mut kept = positions.to_vec();
        if let Self(Some((limits, attachment))) = self {
            limits.keep(attachment, bones, &mut kept);
        }
        kept
    }
}

/// How a garment hangs, or where it was put if it cannot be draped: cloth in layers needs no simulation.
pub fn draped_or_placed(body: &Body, garment: &Garment, fabric: &Fabric) -> Vec<Vec3> {
    draped(body, garment, fabric).unwrap_or_else(|why| {
        eprintln!("{}: taken as it was put on, not as it hangs: {why:#}", garment.name);
        garment.sim.positions.clone()
    })
}

/// Plays a garment in layers.
pub fn play_layered(
    layers: &Arc<Layers>,
    shot: &PosedMotion,
    out: &mut dyn FnMut(&[Vec3]) -> Result<()>,
) -> Result<Played> {
    play(&mut Layered::new(layers.clone(), LayeredSettings::default()), shot, out)
}

/// Plays a learned garment. Its clock runs at the trained rate; frames of another rate lie between two of its own.
pub fn play_stable(
    model: &Arc<Model>,
    body: &Body,
    shot: &PosedMotion,
    (told, gust): (Surroundings, f64),
    out: &mut dyn FnMut(&[Vec3]) -> Result<()>,
) -> Result<Played> {
    let mut tier = Blown { garment: Stable::new(model.clone()), told, gust, secs: 0.0 };
    if shot.fps == model.fps {
        return play(&mut tier, shot, out);
    }
    let own = shot.at_rate(body, model.fps);
    let mut frames: Vec<Vec<Vec3>> = Vec::new();
    let played = play(&mut tier, &own, &mut |p| {
        frames.push(p.to_vec());
        Ok(())
    })?;
    for f in 0..shot.len() {
        let at = (f as f64 / shot.fps * model.fps).min((frames.len() - 1) as f64);
        let (i, t) = (at.floor() as usize, at.fract() as f32);
        let next = &frames[(i + 1).min(frames.len() - 1)];
        let mixed: Vec<Vec3> = frames[i].iter().zip(next).map(|(a, b)| a.lerp(*b, t)).collect();
        out(&mixed)?;
    }
    Ok(played)
}

/// Simulates the garment from drape to last frame.
pub fn simulate(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    shot: &PosedMotion,
    settings: RecordSettings,
) -> Result<Take> {
    let settings = settings.with(|s| s.fps = shot.fps);
    check_clip(body, &shot.motion, &settings)?;
    let bar = progress::bar(shot.len() as u64, "draping");
    let mut recorder = Recorder::new(body, garment).settings(settings).on_frame(|_| {
        bar.inc(1);
        ControlFlow::Continue(())
    });
    let draped = recorder.drape(fabric).with_context(|| format!("draping `{}`", garment.name))?;
    bar.set_message("simulating");
    bar.reset_eta();
    let recording = recorder
        .record_draped(&draped, &shot.motion)
        .with_context(|| format!("clip {}", shot.motion.name))?;
    bar.finish_and_clear();
    let mut take = recording.take;
    Leash::new(body, garment, &take.draped)?.keep_take(&mut take);
    Ok(take)
}

/// What a simulated take noticed.
pub fn played_take(take: &Take) -> Played {
    let mut ms: Vec<f32> = take.reports.iter().skip(1).map(|r| r.ms).collect();
    ms.sort_by(f32::total_cmp);
    Played {
        us_per_frame: ms.get(ms.len() / 2).map_or(0.0, |ms| 1e3 * f64::from(*ms)),
        deepest_mm: take.reports.iter().map(|r| r.deepest_mm).fold(0.0, f32::max),
        frames: take.len(),
        clamped_frames: 0,
    }
}

#[allow(clippy::disallowed_methods)] // what a frame costs is what is reported
pub fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e6
}
