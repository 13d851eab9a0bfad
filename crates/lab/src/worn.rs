//! Garments on walking bodies as they are shipped: self-contact, strain limit, friction and air.

use super::cloths::{Pattern, rectangle};
use super::row::{Findings, Plot, Row};
use glam::{DVec3, Vec3};
use toile_assets::{Body, Fabric, Garment, MOST_DEPTH_MM, MOST_STRAIN, Motion, Take, builtin};
use toile_simulate::{RecordSettings, Recorder, Result, Scene, Settings, World};

/// A garment at rest on the mannequin, ready for any number of clips.
struct Worn {
    body: Body,
    garment: Garment,
    fabric: Fabric,
    settings: RecordSettings,
    world: World,
}

impl Worn {
    fn new(garment: &str, settings: RecordSettings) -> Result<Self> {
        let body = builtin::body("mannequin:female")?;
        let garment = builtin::garment(garment, &body)?;
        let fabric = builtin::fabric(&garment.fabric)?;
        let world = Recorder::new(&body, &garment).settings(settings.clone()).drape(&fabric)?;
        Ok(Self { body, garment, fabric, settings, world })
    }

    /// At most `secs` of a built-in motion.
    fn motion(&self, name: &str, secs: f64) -> Result<Motion> {
        let motion = builtin::motion(name, &self.body.skeleton)?;
        let frames = ((secs * motion.fps) as usize + 1).min(motion.len());
        Ok(motion.trimmed_frames(0, frames)?)
    }

    fn record(&self, motion: &Motion) -> Result<Take> {
        let Self { body, garment, settings, world, .. } = self;
        let mut recorder = Recorder::new(body, garment).settings(settings.clone());
        Ok(recorder.record_draped(world, motion)?.take)
    }

    /// Vertices of the lowest rim.
    fn hem(&self) -> Vec<usize> {
        let height = |rim: &[u32]| {
            rim.iter().map(|v| self.garment.sim.positions[*v as usize].y).sum::<f32>()
                / rim.len().max(1) as f32
        };
        let rims = self.garment.sim.topology().boundary_loops();
        let lowest = rims.into_iter().min_by(|a, b| height(a).total_cmp(&height(b))).unwrap_or_default();
        lowest.into_iter().map(|v| v as usize).collect()
    }
}

/// How a take moves: root-mean-square speed of the vertices about their mean, m/s, and how far the hem is on average above
/// where it hangs at rest, m.
fn liveliness(take: &Take, hem: &[usize]) -> (f64, f64) {
    let (mut squares, mut count) = (0.0, 0.0);
    let mut risen = 0.0;
    let mean = |x: &[Vec3]| x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / x.len() as f64;
    for f in 1..take.len() {
        let (now, before) = (take.frame(f), take.frame(f - 1));
        let drift = mean(now) - mean(before);
        for (p, q) in now.iter().zip(before) {
            squares += ((p.as_dvec3() - q.as_dvec3() - drift) * take.fps).length_squared();
            count += 1.0;
        }
        risen += hem.iter().map(|&v| f64::from(now[v].y - take.draped[v].y)).sum::<f64>() / hem.len() as f64;
    }
    ((squares / count).sqrt(), risen / (take.len() - 1) as f64)
}

/// A skirt kicked by walking legs does not know how time was cut up.
pub fn kicked(garment: &str, motion: &str, secs: f64) -> Result<Findings> {
    let usual = RecordSettings::default();
    let mut seen = Vec::new();
    for halved in [1.0, 2.0, 4.0] {
        let mut settings = usual.clone();
        settings.solver.max_step_secs /= halved;
        let worn = Worn::new(garment, settings)?;
        seen.push(liveliness(&worn.record(&worn.motion(motion, secs)?)?, &worn.hem()));
    }
    let finest = seen[2];
    let mut rows = Vec::new();
    for (step, (speed, risen)) in ["h", "h/2"].iter().zip(&seen) {
        rows.push(Row::relative(
            format!("{garment} on {motion}, speed about the mean at {step} against h/4, m/s"),
            *speed,
            finest.0,
            0.1,
        ));
        rows.push(Row::relative(
            format!("{garment} on {motion}, hem risen at {step} against h/4, cm"),
            100.0 * risen,
            100.0 * finest.1,
            0.1,
        ));
    }
    Ok(rows.into())
}

/// Every built-in garment on a walk, a run and a jump gives true takes.
pub fn bounds() -> Result<Findings> {
    let mut rows = Vec::new();
    for garment in builtin::list().iter().filter(|e| e.kind == "garment").map(|e| e.name) {
        let worn = Worn::new(garment, RecordSettings::default())?;
        // Tens of thousands of vertices take a second a frame.
        let secs = if worn.garment.sim.positions.len() < 10_000 { 2.0 } else { 0.4 };
        for motion in ["walk:1.2", "run:2.5", "jump"] {
            let seen = worn.record(&worn.motion(motion, secs)?)?.verdict.unwrap_or_default();
            let name = |what: &str| format!("{garment} on {motion}, {what}");
            let percent = 100.0 * f64::from(seen.strain.value);
            rows.push(Row::at_most(name("largest edge strain, %"), percent, 100.0 * f64::from(MOST_STRAIN)));
            let depth = f64::from(seen.depth_mm.value);
            rows.push(Row::at_most(name("deepest in the body, mm"), depth, f64::from(MOST_DEPTH_MM)));
            rows.push(Row::at_most(name("crossings"), f64::from(seen.crossings.value), 0.0));
        }
    }
    Ok(rows.into())
}

/// Mean distance that twins may have over a clip, cm: the bar of the day.
const TWINS_CM: f64 = 1.3;

/// Two runs that differ by 0.1 mm at the first frame, and how fast they part.
pub fn twins(garment: &str, motion: &str, secs: f64) -> Result<Findings> {
    let mut worn = Worn::new(garment, RecordSettings::default())?;
    let clip = worn.motion(motion, secs)?;
    let one = worn.record(&clip)?;
    worn.settings.nudge_m = 1e-4;
    let other = worn.record(&clip)?;
    let apart = |f: usize| {
        let pairs = one.frame(f).iter().zip(other.frame(f));
        100.0 * pairs.map(|(p, q)| f64::from(p.distance(*q))).sum::<f64>() / one.vertices as f64
    };
    let curve: Vec<(f64, f64)> = (0..one.len()).map(|f| (f as f64 / one.fps, apart(f))).collect();
    let mean = curve.iter().map(|p| p.1).sum::<f64>() / curve.len() as f64;
    let name = format!("{garment} on {motion}");
    Ok(Findings {
        rows: vec![
            Row::absolute(format!("twins of {name} at the first frame, mm"), 10.0 * curve[0].1, 0.1, 0.001),
            Row::at_most(format!("twins of {name}, mean distance, cm"), mean, TWINS_CM),
        ],
        plots: vec![
            Plot::new(format!("Twins of {name}, nudged by 0.1 mm"), "s", "mean distance, cm")
                .ours("twins", curve),
        ],
        shots: vec![],
    })
}

/// Angle to the vertical, degrees, at which a sheet hangs in a stream of `speed`. Where it is straight nothing of its tension
/// acts across it, so at every place the air's push and its weight balance across it: `½ρcV² cos²α = w sin α`.
fn hanging_angle(fabric: &Fabric, density: f64, speed: f64) -> f64 {
    let (push, weight) = (0.5 * density * fabric.drag * speed * speed, 9.81 * fabric.density);
    // w s = p (1 − s²).
    let sine = (-weight + (weight * weight + 4.0 * push * push).sqrt()) / (2.0 * push);
    sine.asin().to_degrees()
}

/// The angle at which a sheet of `fabric` comes to hang, held by its upper edge, degrees.
fn sheet_in_stream(fabric: &Fabric, settings: Settings) -> Result<f64> {
    let (mesh, rest) = rectangle(0.3, 0.3, 8, 8, Pattern::Alternating);
    let mut scene = Scene::new(&mesh, &rest, fabric, &settings)?;
    let x: Vec<DVec3> =
        mesh.positions.iter().map(|p| DVec3::new(f64::from(p.x), -f64::from(p.z), 0.0)).collect();
    let top = x.iter().map(|p| p.y).fold(f64::MIN, f64::max);
    let edge = |level: f64| (0..x.len()).filter(|&i| (x[i].y - level).abs() < 1e-6).collect::<Vec<_>>();
    let (upper, lower) = (edge(top), edge(x.iter().map(|p| p.y).fold(f64::MAX, f64::min)));
    upper.iter().for_each(|&i| scene.pinned[i] = true);
    let mut world = World::new(scene, x.clone(), settings)?;
    let mean =
        |world: &World, of: &[usize]| of.iter().map(|&i| world.state.x[i]).sum::<DVec3>() / of.len() as f64;
    let (mut sum, frames) = (0.0, 180);
    for frame in 0..frames {
        world.step(&[], 1.0 / 60.0)?;
        let line = mean(&world, &lower) - mean(&world, &upper);
        if frame >= frames - 60 {
            sum += (line.dot(settings.wind.normalize())).atan2(-line.y).to_degrees() / 60.0;
        }
    }
    Ok(sum)
}

/// How far the lower half of a cape stands out behind its wearer, degrees: from the middle of its length to its hem.
fn streaming_angle(worn: &Worn, x: &[Vec3], behind: Vec3) -> f64 {
    // By where it hung at rest.
    let rest: Vec<f32> = worn.world.state.x.iter().map(|p| p.y as f32).collect();
    let (low, high) = rest.iter().fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
    let mean = |from: f32, to: f32| {
        let within = |y: f32| (from..=to).contains(&((y - low) / (high - low)));
        let some: Vec<Vec3> = x.iter().zip(&rest).filter(|(_, y)| within(**y)).map(|(p, _)| *p).collect();
        some.iter().sum::<Vec3>() / some.len().max(1) as f32
    };
    let line = mean(0.0, 0.1) - mean(0.4, 0.5);
    f64::from(line.dot(behind).atan2(-line.y).to_degrees())
}

/// Wind and motion are one. A sheet of the cape's cloth hangs in the wind as drag and weight say; the cape itself, which goes
/// around its wearer and shuts air in, hangs in a headwind as on one who is carried through still air as fast, and on a
/// runner as on one who runs on the spot in that wind.
pub fn cape() -> Result<Findings> {
    let speed = 2.5;
    let calm = Worn::new("cape", RecordSettings::default())?;
    let mut settings = RecordSettings::default();
    settings.solver.wind = DVec3::new(0.0, 0.0, -speed);
    let solver = settings.solver;
    let windy = Worn::new("cape", settings)?;
    let right = hanging_angle(&calm.fabric, solver.air_density, speed);
    let name = |what: &str| format!("{what}, angle to the vertical, degrees");
    let sheet = sheet_in_stream(&calm.fabric, solver)?;
    let mut rows =
        vec![Row::relative(name("sheet of a cape's cloth in a wind of 2.5 m/s"), sheet, right, 0.05)];
    let angle = |worn: &Worn, motion: &Motion| -> Result<f64> {
        let take = worn.record(motion)?;
        // The last second: by then it has found its place.
        let frames = take.len().saturating_sub(30)..take.len();
        let count = frames.len() as f64;
        Ok(frames.map(|f| streaming_angle(worn, take.frame(f), Vec3::NEG_Z)).sum::<f64>() / count)
    };
    let carried = |motion: &Motion, speed: f64| {
        let mut carried = motion.clone();
        for (f, pose) in carried.poses.iter_mut().enumerate() {
            pose.locals[0].translation.z += (speed * f as f64 / motion.fps) as f32;
        }
        carried
    };
    let (stand, run) = (calm.motion("stand", 3.0)?, calm.motion("run:2.5", 4.0)?);
    let (wind, way) = (angle(&windy, &stand)?, angle(&calm, &carried(&stand, speed))?);
    rows.push(Row::relative(
        name("cape in a headwind of 2.5 m/s, against one carried along"),
        wind,
        way,
        0.15,
    ));
    let (running, treading) = (angle(&calm, &run)?, angle(&windy, &carried(&run, -speed))?);
    rows.push(Row::relative(
        name("cape on a runner of 2.5 m/s, against one on the spot"),
        running,
        treading,
        0.15,
    ));
    Ok(rows.into())
}
