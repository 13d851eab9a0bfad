//! A clip from its first frame to its last, as a take.

use crate::clip::check_clip;
use crate::drape::{DrapeSettings, drape, name_frame, ramp};
use crate::settings::Settings;
use crate::state::State;
use crate::verdict::Judge;
use crate::world::World;
use crate::{Error, Result};
use glam::{Affine3A, Vec3};
use std::time::Instant;
use toile_assets::{
    Body, Conditions, Fabric, FrameReport, Garment, Ink, Motion, Pose, Provenance, RootTrack, Take,
};

/// What to record and how.
#[derive(Clone, Debug, PartialEq)]
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
        }
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

/// Simulates one clip. `progress` gets frames done and frames in all; returning `false` stops the take there.
pub fn record(
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    fabric: &Fabric,
    settings: &RecordSettings,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Take> {
    Ok(record_with_branches(body, garment, motion, fabric, settings, &[], progress)?.0)
}

/// Simulates one clip and keeps the cloth at some frames, for [`record_stop`].
pub fn record_with_branches(
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    fabric: &Fabric,
    settings: &RecordSettings,
    keep: &[usize],
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Take, Vec<Branch>)> {
    check_clip(body, motion, settings)?;
    let draped = drape(body, garment, fabric, &settings.solver, &settings.drape)?;
    record_draped(&draped, body, garment, motion, settings, keep, progress)
}

/// Simulates one clip from a garment that [`drape`] has put on; many clips share it.
pub fn record_draped(
    draped: &World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    settings: &RecordSettings,
    keep: &[usize],
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Take, Vec<Branch>)> {
    let mut world = draped.clone();
    ramp(&mut world, body, motion, &settings.drape).map_err(|e| match e {
        // Frames of the ramp are nobody's frames.
        Error::Stuck { vertex, cause, retries, .. } => Error::Ramp { vertex, cause, retries },
        other => other,
    })?;
    world.nudge(settings.nudge_m);
    let (mut take, branches) = record_from(&mut world, body, garment, motion, settings, keep, progress)?;
    take.draped = places(draped);
    Ok((take, branches))
}

/// Records with a world that is already at the motion's first frame.
pub fn record_from(
    world: &mut World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    settings: &RecordSettings,
    keep: &[usize],
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Take, Vec<Branch>)> {
    let frames = (motion.duration_secs() * settings.fps + 1e-6).floor() as usize + 1;
    let poses: Vec<Pose> = (0..frames).map(|f| motion.at(f as f64 / settings.fps)).collect();
    let mut take = empty_take(world, body, garment, motion, settings, None);
    let mut judge = Judge::new(body, &world.scene, &places(world));
    let mut branches = Vec::new();
    for f in 0..frames {
        let begun = clock();
        let mut report = crate::StepReport::default();
        if f > 0 {
            report = frame(world, body, |share| motion.at((f as f64 - 1.0 + share) / settings.fps), settings)
                .map_err(|e| name_frame(e, f))?;
        }
        push_frame(&mut take, world, body.bones(&poses[f]), &report, begun);
        judge.look(take.frame(f), take.frame_bones(f), &report);
        if keep.contains(&f) {
            branches.push(Branch { frame: f, state: world.state.clone(), bones: world.bones().to_vec() });
        }
        if !progress(f + 1, frames) {
            break;
        }
    }
    take.roots = RootTrack::new(&body.skeleton, &poses[..take.reports.len()]).frames;
    take.verdict = Some(judge.verdict());
    Ok((take, branches))
}

/// The settling after the motion freezes at a branch (de Aguiar 2010 §7, Training).
pub fn record_stop(
    draped: &World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    branch: &Branch,
    settings: &RecordSettings,
) -> Result<Take> {
    // A world of its own, so that nothing depends on which takes were made before.
    let mut world = draped.clone();
    world.restore(&branch.state, &branch.bones);
    let pose = motion.at(branch.frame as f64 / settings.fps);
    let frames = (settings.stop_secs * settings.fps).ceil() as usize + 1;
    let mut take = empty_take(&world, body, garment, motion, settings, Some(branch.frame));
    take.draped = places(draped);
    let mut judge = Judge::new(body, &world.scene, &places(&world));
    for f in 0..frames {
        let begun = clock();
        let mut report = crate::StepReport::default();
        if f > 0 {
            report = frame(&mut world, body, |_| pose.clone(), settings).map_err(|e| name_frame(e, f))?;
        }
        push_frame(&mut take, &world, body.bones(&pose), &report, begun);
        judge.look(take.frame(f), take.frame_bones(f), &report);
    }
    take.roots = RootTrack::new(&body.skeleton, std::iter::repeat_n(&pose, frames)).frames;
    take.verdict = Some(judge.verdict());
    Ok(take)
}

/// What a frame cost is part of its report.
#[allow(clippy::disallowed_methods)]
fn clock() -> Instant {
    Instant::now()
}

/// One recorded frame: poses are interpolated within it, not only bones.
fn frame(
    world: &mut World,
    body: &Body,
    pose_at: impl Fn(f64) -> Pose,
    settings: &RecordSettings,
) -> Result<crate::StepReport> {
    let dt = 1.0 / settings.fps;
    let pieces = (dt / settings.solver.pose_secs() - 1e-6).ceil().max(1.0) as usize;
    let mut report = crate::StepReport::default();
    for k in 1..=pieces {
        let share = k as f64 / pieces as f64;
        report.add(&world.step(&body.bones(&pose_at(share)), dt / pieces as f64)?);
    }
    Ok(report)
}

/// Where the cloth is, as takes store it.
fn places(world: &World) -> Vec<Vec3> {
    world.state.x.iter().map(|p| p.as_vec3()).collect()
}

fn provenance(
    world: &World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    settings: &RecordSettings,
) -> Provenance {
    let RecordSettings { solver, drape, fps, teleport_m: _, stop_secs: _, nudge_m } = settings;
    Provenance {
        body: body.fingerprint(),
        garment: garment.fingerprint(),
        fabric: world.scene.fabric.fingerprint(),
        // Numbers print so that no two look alike.
        solver: Ink::default().text(&format!("{solver:?} {drape:?} {fps:?}")).print(),
        clip: motion.fingerprint(),
        conditions: Conditions {
            wind: solver.wind.to_array(),
            air_density: solver.air_density,
            carried_air: solver.carried_air,
            rate: 1.0 / solver.max_step_secs,
            softness: 1e6 / solver.contact_stiffness,
            nudge_mm: 1e3 * nudge_m,
        },
    }
}

fn empty_take(
    world: &World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    settings: &RecordSettings,
    stop_frame: Option<usize>,
) -> Take {
    let notes = vec![
        ("body".to_string(), body.name.clone()),
        ("garment".to_string(), garment.name.clone()),
        ("fabric".to_string(), world.scene.fabric.name.clone()),
        ("solver".to_string(), format!("{:?}", settings.solver)),
        ("version".to_string(), env!("CARGO_PKG_VERSION").to_string()),
    ];
    Take {
        clip: motion.name.clone(),
        fps: settings.fps,
        triangles: world.scene.triangles.clone(),
        positions: Vec::new(),
        vertices: world.scene.len(),
        bones: Vec::new(),
        joints: world.bones().len(),
        roots: Vec::new(),
        reports: Vec::new(),
        draped: Vec::new(),
        stop_frame,
        verdict: None,
        provenance: Some(provenance(world, body, garment, motion, settings)),
        notes,
    }
}

fn push_frame(
    take: &mut Take,
    world: &World,
    bones: Vec<Affine3A>,
    report: &crate::StepReport,
    begun: Instant,
) {
    take.positions.extend(places(world));
    take.bones.extend(bones);
    take.reports.push(FrameReport {
        ms: begun.elapsed().as_secs_f32() * 1e3,
        substeps: report.substeps,
        retries: report.retries,
        max_stretch_percent: (world.scene.max_stretch(&world.state.x) * 100.0) as f32,
        deepest_mm: (report.deepest_m * 1e3) as f32,
    });
}
