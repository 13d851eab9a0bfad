//! A take played again in a subspace, and what that costs and gives.

use crate::adaptive;
use anyhow::Result;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Body, Fabric, Garment, Take};
use toile_learn::{WRINKLE_BANDS, Wrinkles};
use toile_model::adaptive::Database;
use toile_run::Tier;
use toile_simulate::{PhaseTimes, Settings, SubspaceSettings, World};

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Distances of vertices to the simulation, mm.
    pub mean_mm: f64,
    pub p95_mm: f64,
    /// Mean distance of each frame, mm.
    pub by_frame_mm: Vec<f64>,
    /// Largest acceleration of any vertex, m/s².
    pub acceleration: f64,
    /// Energy of folds over the simulation's, fine to coarse.
    pub wrinkles: [f64; WRINKLE_BANDS],
    /// Processor time of a frame, ms: all of it in the mean and at most, contacts alone.
    pub ms: f64,
    pub worst_ms: f64,
    pub contact_ms: f64,
    /// Mean of the phases, ms: gradient, choosing, reduced system.
    pub phases_ms: [f64; 3],
    /// A frame.
    pub newton: f64,
    pub refreshes: f64,
    pub shortened: f64,
    pub directions: f64,
    /// What the energy still falls by along the directions before the last Newton step, over what it fell by at first.
    pub residual: f64,
    pub frames: Vec<Vec<Vec3>>,
}

impl Run {
    /// A run that ended before its time.
    pub fn broken() -> Self {
        let nan = f64::NAN;
        Self {
            mean_mm: nan,
            p95_mm: nan,
            acceleration: nan,
            wrinkles: [nan; WRINKLE_BANDS],
            ms: nan,
            ..Self::default()
        }
    }
}

/// Seconds of processor time of this process.
fn clock() -> f64 {
    1e-3 * toile_lab::cpu_ms()
}

/// Frames of standing that are not counted, and all of them.
const STANDING: (usize, usize) = (4, 8);

/// Where a run begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Skinned, then settled in the first pose.
    Own,
    /// Where the simulation has the cloth in the first frame.
    Simulated,
}

/// A garment on a body and what is needed to play it.
pub struct Stage<'a> {
    pub body: &'a Body,
    pub garment: &'a Garment,
    pub fabric: &'a Fabric,
}

impl Stage<'_> {
    /// Plays a take from the garment's own start, or from where the simulation has it in the first frame.
    pub fn play(
        &self,
        database: &Arc<Database>,
        take: &Take,
        settings: SubspaceSettings,
        start: Start,
    ) -> Result<Run> {
        let mut tier = adaptive::tier(self.body, self.garment, self.fabric, database, settings)?;
        tier.watch(clock);
        if start == Start::Simulated {
            let moved = take.frame(1).iter().zip(take.frame(0)).map(|(b, a)| (*b - *a) * take.fps as f32);
            tier.start_from(take.frame_bones(0), take.frame(0), &moved.collect::<Vec<_>>())?;
        }
        let (mut frames, mut times, mut run) = (Vec::new(), Vec::new(), Run::default());
        let mut out = vec![Vec3::ZERO; tier.vertices()];
        for f in 0..take.len() {
            if f > 0 || start == Start::Own {
                tier.step(take.frame_bones(f), 1.0 / take.fps)?;
            }
            tier.positions(&mut out);
            frames.push(out.clone());
            if f > 0 {
                let report = tier.report();
                times.push(report.times);
                run.newton += f64::from(report.newton);
                run.refreshes += f64::from(report.refreshes);
                run.shortened += f64::from(report.shortened);
                run.directions += f64::from(report.directions);
                run.residual += report.residual;
            }
        }
        let count = times.len().max(1) as f64;
        let Run { newton, refreshes, shortened, directions, residual, .. } = &mut run;
        [newton, refreshes, shortened, directions, residual].into_iter().for_each(|v| *v /= count);
        // The system counts processor time in ticks of a few milliseconds: only sums of many frames are exact.
        let phase = |of: fn(&PhaseTimes) -> f64| 1e3 * times.iter().map(of).sum::<f64>() / count;
        run.ms = phase(|t| t.total);
        run.worst_ms = 1e3 * times.iter().fold(0.0, |most, t| t.total.max(most));
        run.contact_ms = phase(|t| t.contact);
        run.phases_ms = [phase(|t| t.gradient), phase(|t| t.choose), phase(|t| t.assemble)];
        compare(&mut run, &frames, take, &database.attachment.rest);
        run.frames = frames;
        Ok(run)
    }

    /// The same, where what breaks is part of what is measured.
    pub fn play_or_break(
        &self,
        database: &Arc<Database>,
        take: &Take,
        settings: SubspaceSettings,
        start: Start,
    ) -> Run {
        self.play(database, take, settings, start).unwrap_or_else(|e| {
            eprintln!("{}: {e:#}", take.clip);
            Run::broken()
        })
    }

    /// Processor time of the full simulation, ms a frame, of the garment as it is put on, on a body that stands still: cloth that
    /// was carried over from a coarser cut crosses itself here and there, which the full simulation refuses.
    pub fn full_standing_ms(&self, step_secs: f64) -> Result<f64> {
        let settings = Settings::worn().with(|s| s.max_step_secs = step_secs);
        let mut world = World::with_body(self.body, self.garment, self.fabric, settings)?;
        let bones = self.body.bones(&self.body.skeleton.rest_pose());
        let mut spent = 0.0;
        for f in 0..STANDING.1 {
            let begun = clock();
            world.step(&bones, 1.0 / 30.0)?;
            spent += if f < STANDING.0 { 0.0 } else { clock() - begun };
        }
        Ok(1e3 * spent / (STANDING.1 - STANDING.0) as f64)
    }

    /// Processor time of the full simulation, ms a frame, at steps of at most `step_secs`: some frames from places of the
    /// take, each after one that brings friction and velocities up.
    pub fn full_ms(&self, take: &Take, step_secs: f64, places: usize) -> Result<f64> {
        let mut spent = Vec::new();
        for k in 0..places {
            let from = 1 + k * take.len().saturating_sub(5) / places.max(1);
            let settings = Settings::worn().with(|s| s.max_step_secs = step_secs);
            let mut world = World::with_body(self.body, self.garment, self.fabric, settings)?;
            let dt = 1.0 / take.fps;
            world.place_body(take.frame_bones(from));
            let state = &mut world.state;
            for (v, x) in state.x.iter_mut().enumerate() {
                *x = take.frame(from)[v].as_dvec3();
                state.v[v] = (*x - take.frame(from - 1)[v].as_dvec3()) / dt;
            }
            (state.x_before, state.v_before) = (state.x.clone(), state.v.clone());
            for f in 1..=4 {
                let begun = clock();
                // A step that fails is part of what it costs.
                let done = world.step(take.frame_bones(from + f), dt);
                if f > 1 {
                    spent.push(1e3 * (clock() - begun));
                }
                if done.is_err() {
                    break;
                }
            }
        }
        Ok(spent.iter().sum::<f64>() / spent.len() as f64)
    }
}

/// Distances, folds and accelerations against the simulation.
pub fn compare(run: &mut Run, frames: &[Vec<Vec3>], take: &Take, rest: &[Vec3]) {
    let mut all: Vec<f64> = Vec::new();
    for (f, frame) in frames.iter().enumerate() {
        let apart = frame.iter().zip(take.frame(f)).map(|(a, b)| 1e3 * f64::from(a.distance(*b)));
        let begun = all.len();
        all.extend(apart);
        run.by_frame_mm.push(all[begun..].iter().sum::<f64>() / (all.len() - begun).max(1) as f64);
    }
    run.mean_mm = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let at = ((0.95 * all.len() as f64) as usize).min(all.len().saturating_sub(1));
    run.p95_mm = *all.select_nth_unstable_by(at, f64::total_cmp).1;
    let truth: Vec<&[Vec3]> = (0..take.len()).map(|f| take.frame(f)).collect();
    let ours: Vec<&[Vec3]> = frames.iter().map(Vec::as_slice).collect();
    run.acceleration = acceleration(&ours, take.fps);
    let wrinkles = Wrinkles::new(&take.triangles, rest);
    let sum = |frames: &[&[Vec3]]| {
        let mut sum = [0.0; WRINKLE_BANDS];
        for frame in frames.iter().step_by(5) {
            sum.iter_mut().zip(wrinkles.energy(frame)).for_each(|(sum, e)| *sum += e);
        }
        sum
    };
    let (truth, ours) = (sum(&truth), sum(&ours));
    run.wrinkles = std::array::from_fn(|k| ours[k] / truth[k].max(1e-30));
}

/// Largest acceleration of any vertex between three frames, m/s².
pub fn acceleration(frames: &[&[Vec3]], fps: f64) -> f64 {
    let mut most = 0.0f32;
    for w in frames.windows(3) {
        for v in 0..w[0].len() {
            most = most.max((w[2][v] - 2.0 * w[1][v] + w[0][v]).length());
        }
    }
    f64::from(most) * fps * fps
}
