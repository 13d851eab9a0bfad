//! The dress on a walking, running, turning and jumping mannequin, standing still, and after a sudden stop.

use super::check::Solid;
use super::monitor::{Monitor, Run, rows};
use super::row::{Findings, Piece, Plot, Row, Snapshot};
use glam::{DVec2, DVec3};
use toile_assets::{Body, Garment, Motion, builtin};
use toile_geometry::Random;
use toile_simulate::Settings;
use toile_simulate::{DrapeSettings, Result, StepReport, World, drape, ramp};

/// Figures on penetration leave out this much around places where the body intersects itself, m.
pub const AROUND_FAULTS: f64 = toile_assets::NEAR_CROSSING_M as f64;
const FPS: f64 = 30.0;

/// Scenes and the motions they play.
pub const MOTIONS: [(&str, &str); 4] = [
    ("dress on walk", "walk"),
    ("dress on run", "run"),
    ("dress on turn", "turn:90"),
    ("dress on jump", "jump"),
];

/// A mannequin in its dress, draped in the rest pose.
#[derive(Clone, Debug)]
pub struct Dressed {
    /// Who wears it.
    pub body: Body,
    /// What is worn.
    pub garment: Garment,
    /// The draped cloth.
    pub world: World,
    weld: Vec<u32>,
}

impl Dressed {
    /// Cuts and drapes a garment whose start is jittered by 1 mm (none for seed 0).
    pub fn new(garment: &str, seed: u64) -> Result<Self> {
        Self::draped(garment, seed, &DrapeSettings::default())
    }

    /// The same, draped as asked.
    pub fn draped(garment: &str, seed: u64, how: &DrapeSettings) -> Result<Self> {
        let body = builtin::body("mannequin:female")?;
        let mut garment = builtin::garment(garment, &body)?;
        let fabric = builtin::fabric(&garment.fabric)?;
        if seed > 0 {
            let mut random = Random::new(seed);
            for p in &mut garment.sim.positions {
                *p += (random.vector().clamp_length_max(1.0) * 1e-3).as_vec3();
            }
        }
        let world = drape(&body, &garment, &fabric, &Settings::worn(), how)?;
        let weld = Solid::weld(&body.mesh.positions);
        Ok(Self { body, garment, world, weld })
    }

    /// Flat corners.
    pub fn flat(&self) -> Vec<[DVec2; 3]> {
        self.garment.rest.iter().map(|r| r.map(|p| p.as_dvec2())).collect()
    }

    /// The body where the world has it now.
    pub fn solid(&self, world: &World) -> Solid {
        let skinned = self.body.skinned_positions(world.bones());
        Solid::new(&skinned, &self.body.mesh.triangles, &self.weld)
    }

    fn piece(&self, world: &World) -> Piece {
        let positions = self.body.skinned_positions(world.bones());
        Piece { triangles: self.body.mesh.triangles.clone(), positions, cloth: false }
    }

    /// Plays one recorded frame of a motion, poses interpolated at every substep.
    fn play(&self, world: &mut World, motion: &Motion, frame: usize) -> Result<StepReport> {
        let pieces = (1.0 / FPS / world.settings.pose_secs() - 1e-6).ceil().max(1.0) as usize;
        let mut report = StepReport::default();
        for k in 1..=pieces {
            let secs = (frame as f64 - 1.0 + k as f64 / pieces as f64) / FPS;
            let bones = self.body.bones(&motion.at(secs.min(motion.duration_secs())));
            report.add(&world.step(&bones, 1.0 / FPS / pieces as f64)?);
        }
        Ok(report)
    }

    /// Vertices of the lowest rim.
    pub fn hem(&self) -> Vec<u32> {
        let height = |l: &[u32]| {
            l.iter().map(|i| self.garment.sim.positions[*i as usize].y).sum::<f32>() / l.len().max(1) as f32
        };
        let loops = self.garment.sim.topology().boundary_loops();
        loops.into_iter().min_by(|a, b| height(a).total_cmp(&height(b))).unwrap_or_default()
    }
}

/// A motion from its first frame on, watched; the body's depth is looked at every `every` frames.
pub fn wear(
    dressed: &Dressed,
    scene: &'static str,
    motion: &Motion,
    seed: u64,
    frames: usize,
    every: usize,
) -> Result<Run> {
    let mut world = dressed.world.clone();
    let most = (motion.duration_secs() * FPS) as usize;
    let frames = frames.min(most);
    let shots = [frames / 4, frames / 2, 3 * frames / 4, frames - 1];
    let mut monitor = Monitor::new(scene, seed, &dressed.flat(), &shots, (35.0, 8.0));
    ramp(&mut world, &dressed.body, motion, &DrapeSettings::default())?;
    for f in 1..=frames {
        // The solid is made by the step's own end, so the step comes first and is watched as done.
        let begun = super::clock::cpu_ms();
        let outcome = dressed.play(&mut world, motion, f);
        let spent = super::clock::cpu_ms() - begun;
        let solid = (outcome.is_ok() && f % every == 0).then(|| dressed.solid(&world));
        let depth = |p: DVec3| match &solid {
            Some(s) if !s.near_fault(p, AROUND_FAULTS) => s.depth(p),
            _ => 0.0,
        };
        let piece = dressed.piece(&world);
        let go = monitor.frame(&mut world, |_| outcome, Some(&depth), || vec![piece])?;
        monitor.spent(spent);
        if !go {
            break;
        }
    }
    Ok(monitor.finish())
}

/// How deep the body stands out through the cloth anywhere in a motion, m, and in how many triangles at once.
pub fn pokes_through(
    dressed: &Dressed,
    motion: &Motion,
    frames: usize,
    every: usize,
) -> Result<(f64, usize)> {
    let mut world = dressed.world.clone();
    ramp(&mut world, &dressed.body, motion, &DrapeSettings::default())?;
    let (mut deepest, mut most) = (0.0f64, 0);
    for f in 1..=frames.min((motion.duration_secs() * FPS) as usize) {
        dressed.play(&mut world, motion, f)?;
        if f % every == 0 {
            let solid = dressed.solid(&world);
            let (depth, count) = solid.pokes_through(&world.scene.triangles, &world.state.x, AROUND_FAULTS);
            deepest = deepest.max(depth);
            most = most.max(count);
        }
    }
    Ok((deepest, most))
}

/// All motions with some seeds; a garment is draped once a seed.
pub fn worn(garment: &str, seeds: &[u64], frames: usize, every: usize) -> Result<Findings> {
    let runs = wear_all(garment, seeds, frames, every)?;
    let mut found = Findings::default();
    for (name, _) in MOTIONS {
        let some: Vec<Run> = runs.iter().filter(|r| r.scene == name).cloned().collect();
        found.rows.extend(rows(&some));
        found.shots.extend(some.into_iter().next().map(|r| r.shots).unwrap_or_default());
    }
    Ok(found)
}

/// The runs behind [`worn`].
pub fn wear_all(garment: &str, seeds: &[u64], frames: usize, every: usize) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for &seed in seeds {
        let dressed = Dressed::new(garment, seed)?;
        for (name, motion) in MOTIONS {
            let motion = builtin::motion(motion, &dressed.body.skeleton)?;
            runs.push(wear(&dressed, name, &motion, seed, frames, every)?);
        }
    }
    Ok(runs)
}

/// A dress on a body that stands: how far any vertex moves within `secs` once it has settled, m.
pub fn standing(secs: f64) -> Result<Row> {
    let dressed = Dressed::new("dress", 0)?;
    let motion = builtin::motion("stand", &dressed.body.skeleton)?;
    let mut world = dressed.world.clone();
    ramp(&mut world, &dressed.body, &motion, &DrapeSettings::default())?;
    let bones = dressed.body.bones(&motion.poses[0]);
    // Ten seconds in which nothing is slowed by hand: the last folds slide into place.
    for _ in 0..(10.0 * FPS) as usize {
        world.step(&bones, 1.0 / FPS)?;
    }
    let settled = world.state.x.clone();
    let mut farthest = 0.0f64;
    for _ in 0..(secs * FPS) as usize {
        world.step(&bones, 1.0 / FPS)?;
        let far = world.state.x.iter().zip(&settled).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        farthest = farthest.max(far);
    }
    Ok(Row::at_most(format!("dress on a standing body, farthest move in {secs} s, mm"), 1e3 * farthest, 1.0))
}

/// A stop: how far the hem is ahead of the hips along the way they went, m, from the moment the hips stand.
#[derive(Clone, Debug)]
pub struct Swing {
    /// Seconds after the stop and metres.
    pub trace: Vec<(f64, f64)>,
    /// From the farthest ahead to the farthest behind, m: the median over the hem's vertices. (Its front and back are held by
    /// the legs at different times, so their mean moves less than any of them.)
    pub peak_to_peak: f64,
    /// The same within the last second, m.
    pub left_over: f64,
    /// Shapes to look at.
    pub shots: Vec<Snapshot>,
}

/// Plays a motion that stops, holds its last pose for `hold_secs` and follows the hem.
pub fn swing(dressed: &Dressed, motion: &Motion, hold_secs: f64) -> Result<Swing> {
    let hips = |secs: f64| {
        let pose = motion.at(secs.min(motion.duration_secs()));
        let root = toile_assets::RootTrack::new(&dressed.body.skeleton, std::iter::once(&pose));
        root.frames[0].position
    };
    let frames = ((motion.duration_secs() + hold_secs) * FPS) as usize;
    let along = {
        let d = hips(motion.duration_secs()) - hips(0.0);
        DVec3::new(d.x, 0.0, d.z).normalize_or(DVec3::Z)
    };
    // The stop: after it the hips never go faster than 0.2 m/s along their way.
    let speed = |f: usize| (hips((f + 1) as f64 / FPS) - hips(f as f64 / FPS)).dot(along) * FPS;
    let stop = (0..frames).rev().find(|&f| speed(f) > 0.2).map_or(0, |f| f + 1);
    let hem = dressed.hem();
    let mut world = dressed.world.clone();
    ramp(&mut world, &dressed.body, motion, &DrapeSettings::default())?;
    let mut trace = Vec::new();
    let mut places: Vec<Vec<f64>> = vec![Vec::new(); hem.len()];
    let mut shots = Vec::new();
    for f in 1..=frames {
        dressed.play(&mut world, motion, f)?;
        if f >= stop {
            let middle = hips(f as f64 / FPS);
            for (v, seen) in hem.iter().zip(&mut places) {
                seen.push((world.state.x[*v as usize] - middle).dot(along));
            }
            let ahead = places.iter().filter_map(|p| p.last()).sum::<f64>() / hem.len().max(1) as f64;
            trace.push(((f - stop) as f64 / FPS, ahead));
            if (f - stop) % 8 == 0 && shots.len() < 4 {
                shots.push(Snapshot {
                    name: format!("{:.2} s after the stop", (f - stop) as f64 / FPS),
                    scene: format!("sudden stop ({})", motion.name),
                    view: (60.0, 6.0),
                    pieces: vec![Piece::cloth(&world.scene.triangles, &world.state.x), dressed.piece(&world)],
                });
            }
        }
    }
    let range = |some: &[f64]| {
        let (lo, hi) = some.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
        hi - lo
    };
    let last = trace.len().saturating_sub(FPS as usize);
    let over =
        |from: usize| super::percentile(&places.iter().map(|p| range(&p[from..])).collect::<Vec<f64>>(), 0.5);
    Ok(Swing { peak_to_peak: over(0), left_over: over(last), trace, shots })
}

/// The hem after the sudden stop of a run: it swings by at least 5 cm, and settles.
pub fn sudden_stop() -> Result<Findings> {
    let dressed = Dressed::new("dress", 0)?;
    let motion = builtin::motion("run-stop", &dressed.body.skeleton)?;
    swing_rows("run-stop", &swing(&dressed, &motion, 3.0)?)
}

/// Rows and a plot of a stop.
pub fn swing_rows(name: &str, s: &Swing) -> Result<Findings> {
    Ok(Findings {
        rows: vec![
            Row::band(
                format!("hem after the stop of {name}, peak to peak, cm"),
                100.0 * s.peak_to_peak,
                5.0,
                60.0,
            ),
            Row::at_most(
                format!("hem after the stop of {name}, left over in the last second, cm"),
                100.0 * s.left_over,
                1.0,
            ),
        ],
        plots: vec![
            Plot::new(format!("Hem ahead of the hips after the stop of {name}"), "s after the stop", "cm")
                .ours("hem", s.trace.iter().map(|p| (p.0, 100.0 * p.1)).collect()),
        ],
        shots: s.shots.clone(),
    })
}

/// What a garment costs on a walking body.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Of the simulated mesh.
    pub vertices: usize,
    /// Processor time of each recorded frame, ms.
    pub frame_ms: Vec<f64>,
    /// Steps that were retried smaller.
    pub retries: u32,
}

/// Walks for `frames` recorded frames and times them; draping is cut short, as only the walk counts.
pub fn walking_cost(garment: &str, frames: usize) -> Result<Cost> {
    let how = DrapeSettings::default().with(|s| s.most_secs = 1.0);
    let dressed = Dressed::draped(garment, 0, &how)?;
    let motion = builtin::motion("walk", &dressed.body.skeleton)?;
    let mut world = dressed.world.clone();
    ramp(&mut world, &dressed.body, &motion, &how)?;
    let mut cost = Cost { vertices: world.scene.len(), frame_ms: vec![], retries: 0 };
    for f in 1..=frames.min((motion.duration_secs() * FPS) as usize) {
        let begun = super::clock::cpu_ms();
        cost.retries += dressed.play(&mut world, &motion, f)?.retries;
        cost.frame_ms.push(super::clock::cpu_ms() - begun);
    }
    Ok(cost)
}
