//! A cape in the wind: what streams behind one who runs hangs alike about one who runs on the spot in as much wind.

use super::cloths::{Pattern, rectangle};
use super::row::{Findings, Plot, Row};
use super::worn::Worn;
use glam::{DAffine3, DVec3, Vec3};
use toile_assets::{Fabric, Motion, Pose};
use toile_simulate::{RecordSettings, Result, Scene, Settings, World, ramp};

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

/// m/s, of wind and wearer.
const SPEED: f64 = 2.5;
/// How long a cape is watched, s, and from when on it is averaged. In one second's mean two runs that differ by a nudge of 0.1 mm
/// are up to 17° apart: what it does is as much chance as a flag's.
const WATCHED_SECS: f64 = 10.0;
const SETTLED_SECS: f64 = 2.0;
/// Runs are nudged by these, m.
const NUDGES_M: [f64; 3] = [1e-4, 2e-4, 3e-4];
/// So long, s, two runs from one state do the same before chance parts them.
const ALIKE_SECS: f64 = 0.5;
/// A runner is brought back when so far from the origin, m: the skin is posed in f32, and 20 m away it trembles by micrometres.
const LAP_M: f64 = 2.0;

/// A clip that goes on without end, by its stride.
struct Endless<'a> {
    motion: &'a Motion,
    /// From when on, and how long a stride is, s.
    from: f64,
    period: f64,
    /// How far it leads, m.
    stride: f64,
}

impl<'a> Endless<'a> {
    /// The stride is the time after which, half a second into the clip, the pose is most like itself.
    fn new(motion: &'a Motion) -> Self {
        let from = (0.5 * motion.fps) as usize;
        let apart = |f: usize| -> f32 {
            let joints = motion.poses[f].locals.iter().zip(&motion.poses[from].locals);
            joints.map(|(a, b)| 1.0 - a.rotation.dot(b.rotation).abs()).sum()
        };
        let later = from + (0.4 * motion.fps) as usize..motion.len();
        let next = later.min_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or(from + 1);
        let z = |f: usize| f64::from(motion.poses[f].locals[0].translation.z);
        let secs = |frames: usize| frames as f64 / motion.fps;
        Self { motion, from: secs(from), period: secs(next - from), stride: z(next) - z(from) }
    }

    /// The pose at a time, with the root `ahead` of where it leads, m.
    fn at(&self, secs: f64, ahead: f64) -> Pose {
        let laps = ((secs - self.from) / self.period).floor().max(0.0);
        let mut pose = self.motion.at(secs - laps * self.period);
        pose.locals[0].translation.z += (laps * self.stride + ahead) as f32;
        pose
    }
}

/// The angle of a cape, degrees, thirty times a second, on one who runs forward or, `on_the_spot`, is carried back as fast.
fn watch(worn: &Worn, mut world: World, run: &Endless<'_>, on_the_spot: bool, secs: f64) -> Result<Vec<f64>> {
    let (mut angles, mut brought) = (Vec::new(), 0.0);
    for step in 1..=(secs * 60.0) as usize {
        let time = |step: usize| step as f64 / 60.0;
        let drift = |step: usize| if on_the_spot { -SPEED * time(step) } else { 0.0 };
        let z = f64::from(run.at(time(step), drift(step) - brought).locals[0].translation.z);
        if z > LAP_M {
            brought += LAP_M;
            world.transform(&DAffine3::from_translation(DVec3::NEG_Z * LAP_M));
            world.place_body(&worn.body.bones(&run.at(time(step - 1), drift(step - 1) - brought)));
        }
        world.step(&worn.body.bones(&run.at(time(step), drift(step) - brought)), 1.0 / 60.0)?;
        if step % 2 == 0 {
            let x: Vec<Vec3> = world.state.x.iter().map(|p| p.as_vec3()).collect();
            angles.push(streaming_angle(worn, &x, Vec3::NEG_Z));
        }
    }
    Ok(angles)
}

/// A world as one sees it who goes along with the wearer: nothing but the wind tells them apart.
fn seen_from_the_wearer(world: &World) -> World {
    let mut world = world.clone();
    let (way, state) = (DVec3::Z * SPEED, &mut world.state);
    state.v.iter_mut().chain(&mut state.v_before).for_each(|v| *v -= way);
    let before = way * state.step_before_secs;
    state.x_before.iter_mut().for_each(|x| *x += before);
    world.settings.wind = -way;
    world
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The motion of one who is carried at a speed besides.
fn carried(motion: &Motion, speed: f64) -> Motion {
    let mut carried = motion.clone();
    for (f, pose) in carried.poses.iter_mut().enumerate() {
        pose.locals[0].translation.z += (speed * f as f64 / motion.fps) as f32;
    }
    carried
}

/// Wind and motion are one. A sheet of the cape's cloth hangs in the wind as drag and weight say; the cape itself, which goes
/// around its wearer and shuts air in, hangs in a headwind as on one who is carried through still air as fast, and on a
/// runner as on one who runs on the spot in that wind: for as long as chance lets it from one state, and on the mean of
/// three nudged runs whichever way they began.
pub fn cape() -> Result<Findings> {
    let calm = Worn::new("cape", RecordSettings::default())?;
    let mut settings = RecordSettings::default();
    settings.solver.wind = DVec3::new(0.0, 0.0, -SPEED);
    let solver = settings.solver;
    let windy = Worn::new("cape", settings)?;
    let right = hanging_angle(&calm.fabric, solver.air_density, SPEED);
    let name = |what: &str| format!("{what}, angle to the vertical, degrees");
    let sheet = sheet_in_stream(&calm.fabric, solver)?;
    let mut rows =
        vec![Row::relative(name("sheet of a cape's cloth in a wind of 2.5 m/s"), sheet, right, 0.05)];
    let angle = |worn: &Worn, motion: &Motion| -> Result<f64> {
        let take = worn.record(motion)?;
        // The last second: by then it has found its place.
        let frames = take.len().saturating_sub(30)..take.len();
        Ok(mean(&frames.map(|f| streaming_angle(worn, take.frame(f), Vec3::NEG_Z)).collect::<Vec<_>>()))
    };
    let stand = calm.motion("stand", 3.0)?;
    let (wind, way) = (angle(&windy, &stand)?, angle(&calm, &carried(&stand, SPEED))?);
    rows.push(Row::relative(
        name("cape in a headwind of 2.5 m/s, against one carried along"),
        wind,
        way,
        0.15,
    ));

    let motion = calm.motion("run:2.5", 4.0)?;
    let (run, how) = (Endless::new(&motion), &calm.settings.drape);
    let (mut runner, mut treader) = (calm.world.clone(), windy.world.clone());
    ramp(&mut runner, &calm.body, &motion, how)?;
    ramp(&mut treader, &windy.body, &carried(&motion, -SPEED), how)?;
    let begun = [(runner.clone(), false), (seen_from_the_wearer(&runner), true)];
    let [from, seen] = begun.map(|(world, on_the_spot)| watch(&calm, world, &run, on_the_spot, ALIKE_SECS));
    rows.push(Row::relative(
        name("cape on a runner of 2.5 m/s, against the same seen from the runner, first half second"),
        mean(&from?),
        mean(&seen?),
        0.02,
    ));
    let mut plot = Plot::new("A cape on a runner, and on one on the spot in the wind", "s", "degrees");
    let mut means = [0.0; 2];
    for (k, (world, who)) in [(runner, "runner"), (treader, "on the spot")].into_iter().enumerate() {
        for nudge_m in NUDGES_M {
            let mut world = world.clone();
            world.nudge(nudge_m);
            let angles = watch(&calm, world, &run, k == 1, WATCHED_SECS)?;
            means[k] += mean(&angles[(SETTLED_SECS * 30.0) as usize..]) / NUDGES_M.len() as f64;
            let line = angles.chunks(30).enumerate().map(|(s, a)| (s as f64 + 0.5, mean(a))).collect();
            let name = format!("{who}, nudged by {:.1} mm", 1e3 * nudge_m);
            plot = if k == 0 { plot.ours(name, line) } else { plot.reference(name, line) };
        }
    }
    rows.push(Row::relative(
        name("cape on a runner of 2.5 m/s, against one on the spot, means of three nudged runs, 2 to 10 s"),
        means[0],
        means[1],
        0.15,
    ));
    Ok(Findings { rows, plots: vec![plot], shots: vec![] })
}
