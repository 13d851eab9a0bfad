//! Garments on walking bodies as they are shipped: self-contact, strain limit, friction and air.

use super::row::{Findings, Plot, Row};
use glam::{DVec3, Vec3};
use toile_assets::{Body, Fabric, Garment, MOST_DEPTH_MM, MOST_STRAIN, Motion, Take, builtin};
use toile_simulate::{RecordSettings, Recorder, Result, World};

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

/// Angle to the vertical, degrees, at which a panel hangs in a stream of `speed`. The air's push on it and its weight have the
/// same moment about its upper edge: `½ρcV² S cos²α = w sin α`, where `S` is 1 for a flat sheet across the stream.
fn hanging_angle(fabric: &Fabric, density: f64, speed: f64, shape: f64) -> f64 {
    let push = 0.5 * density * fabric.drag * speed * speed * shape;
    let weight = 9.81 * fabric.density;
    // w s = p (1 − s²).
    let sine = (-weight + (weight * weight + 4.0 * push * push).sqrt()) / (2.0 * push);
    sine.asin().to_degrees()
}

/// `S` of the lower half of a cape as it hangs: a cape goes around its wearer. Where its normal stands by φ to the side of the
/// stream the push is less by cos²φ and turns it backwards by cos φ only, and air that is carried by the share `c` blows
/// with `1 − c` of the speed: `S = Σ a l (1 − c)² |cos φ|³ / Σ a l`, with `a` the areas and `l` how far below the middle they are.
fn shape_in_stream(worn: &Worn, x: &[Vec3], behind: Vec3) -> f64 {
    let rest: Vec<f32> = worn.world.state.x.iter().map(|p| p.y as f32).collect();
    let (low, high) = rest.iter().fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
    let (mut pushed, mut whole) = (0.0, 0.0);
    for t in &worn.garment.sim.triangles {
        let below = 0.5 - t.iter().map(|&v| (rest[v as usize] - low) / (high - low)).sum::<f32>() / 3.0;
        if below <= 0.0 {
            continue;
        }
        let [a, b, c] = t.map(|v| x[v as usize]);
        let normal = (b - a).cross(c - a);
        let level = Vec3::new(normal.x, 0.0, normal.z);
        let aside = f64::from((level.dot(behind) / level.length().max(1e-12)).abs());
        let carried = worn.world.carried_air();
        let still = t.iter().map(|&v| 1.0 - carried.get(v as usize).unwrap_or(&0.0)).sum::<f64>() / 3.0;
        let moment = f64::from(normal.length() * below);
        pushed += moment * still * still * aside.powi(3);
        whole += moment;
    }
    pushed / whole
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

/// A cape in a headwind of 2.5 m/s stands out as its shape says, and behind a runner of that speed as on one who runs on the
/// spot in that wind.
pub fn cape() -> Result<Findings> {
    let speed = 2.5;
    let behind = Vec3::NEG_Z;
    let mut settings = RecordSettings::default();
    settings.solver.wind = DVec3::new(0.0, 0.0, -speed);
    let windy = Worn::new("cape", settings)?;
    let mean = |take: &Take, of: &dyn Fn(&[Vec3]) -> f64| {
        // The last second: by then it has found its place.
        let frames = take.len().saturating_sub(30)..take.len();
        let count = frames.len() as f64;
        frames.map(|f| of(take.frame(f))).sum::<f64>() / count
    };
    let standing = windy.record(&windy.motion("stand", 3.0)?)?;
    let shape = mean(&standing, &|x| shape_in_stream(&windy, x, behind));
    let right = hanging_angle(&windy.fabric, windy.settings.solver.air_density, speed, shape);
    let angle = |worn: &Worn, take: &Take| mean(take, &|x| streaming_angle(worn, x, behind));
    let name = |what: &str| format!("cape {what}, angle to the vertical, degrees");
    let mut rows =
        vec![Row::relative(name("in a headwind of 2.5 m/s"), angle(&windy, &standing), right, 0.15)];
    let calm = Worn::new("cape", RecordSettings::default())?;
    let run = calm.motion("run:2.5", 4.0)?;
    let mut on_the_spot = run.clone();
    for (f, pose) in on_the_spot.poses.iter_mut().enumerate() {
        pose.locals[0].translation.z -= (speed * f as f64 / run.fps) as f32;
    }
    let running = angle(&calm, &calm.record(&run)?);
    let treading = angle(&windy, &windy.record(&on_the_spot)?);
    rows.push(Row::relative(
        name("on a runner of 2.5 m/s, against one on the spot"),
        running,
        treading,
        0.15,
    ));
    Ok(rows.into())
}
