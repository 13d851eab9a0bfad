//! Frames of a take, one after the other, each judged as it is made.

use super::RecordSettings;
use crate::drape::name_frame;
use crate::settings::Settings;
use crate::verdict::Judge;
use crate::world::World;
use crate::{Result, StepReport};
use glam::Vec3;
use std::time::Instant;
use toile_assets::{
    Body, Conditions, FrameReport, Garment, Ink, Motion, Pose, Provenance, RootFrame, Take, gusts,
};

/// A take in the making.
pub(super) struct Frames<'a> {
    body: &'a Body,
    settings: &'a RecordSettings,
    take: Take,
    judge: Judge<'a>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(
        body: &'a Body,
        garment: &Garment,
        motion: &Motion,
        settings: &'a RecordSettings,
        stop_frame: Option<usize>,
        world: &World,
    ) -> Self {
        let take = empty_take(world, body, garment, motion, settings, stop_frame);
        Self { body, settings, take, judge: Judge::new(body, &world.scene, &places(world)) }
    }

    /// Frame `f`, which the motion reaches at a share of 1; the first one is where the world is.
    pub(super) fn record(
        &mut self,
        world: &mut World,
        f: usize,
        pose_at: impl Fn(f64) -> Pose,
    ) -> Result<()> {
        let begun = clock();
        let mut report = StepReport::default();
        if f > 0 {
            let from = self.take.stop_frame.unwrap_or(0) + f - 1;
            report = step(world, self.body, &pose_at, self.settings, from as f64 / self.settings.fps)
                .map_err(|e| name_frame(e, f))?;
        }
        let take = &mut self.take;
        take.positions.extend(places(world));
        take.bones.extend(self.body.bones(&pose_at(1.0)));
        take.reports.push(FrameReport {
            ms: begun.elapsed().as_secs_f32() * 1e3,
            substeps: report.substeps,
            retries: report.retries,
            max_stretch_percent: (world.scene.max_stretch(&world.state.x) * 100.0) as f32,
            deepest_mm: (report.deepest_m * 1e3) as f32,
        });
        self.judge.look(take.frame(f), take.frame_bones(f), &report);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.take.reports.len()
    }

    pub(super) fn finish(self, roots: Vec<RootFrame>) -> Take {
        Take { roots, verdict: Some(self.judge.verdict()), ..self.take }
    }
}

/// What a frame cost is part of its report.
#[allow(clippy::disallowed_methods)]
fn clock() -> Instant {
    Instant::now()
}

/// One recorded frame that begins `from_secs` into the clip: poses are interpolated within it, not only bones.
fn step(
    world: &mut World,
    body: &Body,
    pose_at: impl Fn(f64) -> Pose,
    settings: &RecordSettings,
    from_secs: f64,
) -> Result<StepReport> {
    let dt = 1.0 / settings.fps;
    let pieces = (dt / settings.solver.pose_secs() - 1e-6).ceil().max(1.0) as usize;
    let mut report = StepReport::default();
    for k in 1..=pieces {
        let share = k as f64 / pieces as f64;
        if settings.gust != 0.0 {
            world.settings.wind =
                settings.solver.wind * (1.0 + settings.gust * gusts(from_secs + share * dt));
        }
        report.add(&world.step(&body.bones(&pose_at(share)), dt / pieces as f64)?);
    }
    Ok(report)
}

/// Gusts are part of a take's settings where there are any; older takes had none.
fn gusty(gust: f64) -> String {
    if gust == 0.0 { String::new() } else { format!(" gust {gust:?}") }
}

/// Where the cloth is, as takes store it.
pub(super) fn places(world: &World) -> Vec<Vec3> {
    world.state.x.iter().map(|p| p.as_vec3()).collect()
}

fn provenance(
    world: &World,
    body: &Body,
    garment: &Garment,
    motion: &Motion,
    settings: &RecordSettings,
) -> Provenance {
    let RecordSettings { solver, drape, fps, teleport_m: _, stop_secs: _, nudge_m, gust } = settings;
    Provenance {
        body: body.fingerprint(),
        garment: garment.fingerprint(),
        fabric: world.scene.fabric.fingerprint(),
        // Numbers print so that no two look alike.
        solver: Ink::default().text(&format!("{solver:?} {drape:?} {fps:?}{}", gusty(*gust))).print(),
        clip: motion.fingerprint(),
        conditions: Conditions {
            wind: solver.wind.to_array(),
            air_density: solver.air_density,
            carried_air: solver.carried_air,
            rate: 1.0 / solver.max_step_secs,
            softness: 1e6 / solver.contact_stiffness,
            nudge_mm: 1e3 * nudge_m,
            gust: *gust,
            gravity: (solver.gravity != Settings::default().gravity).then(|| solver.gravity.to_array()),
            cloth: Some(world.scene.fabric.heard()),
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
