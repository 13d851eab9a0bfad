//! Garments on walking bodies as they are shipped: self-contact, strain limit, friction and air.

use super::row::{Findings, Plot, Row};
use glam::{DVec3, Vec3};
use toile_assets::{Body, Fabric, Garment, MOST_DEPTH_MM, MOST_STRAIN, Motion, Take, builtin};
use toile_simulate::{RecordSettings, Recorder, Result, World};

/// A garment at rest on the mannequin, ready for any number of clips.
pub(super) struct Worn {
    pub body: Body,
    garment: Garment,
    pub fabric: Fabric,
    pub settings: RecordSettings,
    pub world: World,
}

impl Worn {
    pub fn new(garment: &str, settings: RecordSettings) -> Result<Self> {
        let body = builtin::body("mannequin:female")?;
        let garment = builtin::garment(garment, &body)?;
        let fabric = builtin::fabric(&garment.fabric)?;
        let world = Recorder::new(&body, &garment).settings(settings.clone()).drape(&fabric)?;
        Ok(Self { body, garment, fabric, settings, world })
    }

    /// At most `secs` of a built-in motion.
    pub fn motion(&self, name: &str, secs: f64) -> Result<Motion> {
        let motion = builtin::motion(name, &self.body.skeleton)?;
        let frames = ((secs * motion.fps) as usize + 1).min(motion.len());
        Ok(motion.trimmed_frames(0, frames)?)
    }

    pub fn record(&self, motion: &Motion) -> Result<Take> {
        let Self { body, garment, settings, world, .. } = self;
        let mut recorder = Recorder::new(body, garment).settings(settings.clone());
        Ok(recorder.record_draped(world, motion)?.take)
    }

    /// Vertices of the lowest rim and of the highest.
    fn rims(&self) -> [Vec<usize>; 2] {
        let height = |rim: &[u32]| {
            rim.iter().map(|v| self.garment.sim.positions[*v as usize].y).sum::<f32>()
                / rim.len().max(1) as f32
        };
        let mut rims = self.garment.sim.topology().boundary_loops();
        rims.sort_by(|a, b| height(a).total_cmp(&height(b)));
        let vertices = |rim: Option<&Vec<u32>>| rim.into_iter().flatten().map(|v| *v as usize).collect();
        [vertices(rims.first()), vertices(rims.last())]
    }
}

/// How a take moves: root-mean-square speed of the vertices about their mean, m/s, and how much nearer the hem is to the waist
/// on average than at rest, m. (How far it is above where it hung was asked before: most of that is how far a walk lowers
/// the hips, which no solver decides.)
fn liveliness(take: &Take, hem: &[usize], waist: &[usize]) -> [f64; 2] {
    let (mut squares, mut count) = (0.0, 0.0);
    let mut risen = 0.0;
    let mean = |x: &[Vec3]| x.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / x.len() as f64;
    let height =
        |x: &[Vec3], rim: &[usize]| rim.iter().map(|&v| f64::from(x[v].y)).sum::<f64>() / rim.len() as f64;
    let from_waist = |x: &[Vec3]| height(x, hem) - height(x, waist);
    for f in 1..take.len() {
        let (now, before) = (take.frame(f), take.frame(f - 1));
        let drift = mean(now) - mean(before);
        for (p, q) in now.iter().zip(before) {
            squares += ((p.as_dvec3() - q.as_dvec3() - drift) * take.fps).length_squared();
            count += 1.0;
        }
        risen += from_waist(now) - from_waist(&take.draped);
    }
    [(squares / count).sqrt(), risen / (take.len() - 1) as f64]
}

/// Runs are nudged by these, m: what a kicked skirt does is chance, and the mean of three runs is still 5 % off by it.
const NUDGES_M: [f64; 8] = [1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4, 7e-4, 8e-4];

/// A skirt kicked by walking legs does not know how time was cut up. The reference is half the usual step, 1/480 s; a quarter shows
/// what that is worth.
pub fn kicked(garment: &str, motion: &str, secs: f64) -> Result<Findings> {
    let mut seen = [[0.0; 2]; 3];
    for (seen, halved) in seen.iter_mut().zip([1.0, 2.0, 4.0]) {
        let mut settings = RecordSettings::default();
        settings.solver.max_step_secs /= halved;
        let mut worn = Worn::new(garment, settings)?;
        let clip = worn.motion(motion, secs)?;
        let [hem, waist] = worn.rims();
        for nudge_m in NUDGES_M {
            worn.settings.nudge_m = nudge_m;
            let found = liveliness(&worn.record(&clip)?, &hem, &waist);
            seen.iter_mut().zip(found).for_each(|(sum, one)| *sum += one / NUDGES_M.len() as f64);
        }
    }
    let mut rows = Vec::new();
    for (ours, reference, steps) in
        [(0, 1, "h against h/2"), (0, 2, "h against h/4"), (1, 2, "h/2 against h/4")]
    {
        let [speed, risen] = seen[ours];
        let [right_speed, right_risen] = seen[reference];
        let name =
            |what: &str| format!("{garment} on {motion}, mean of eight nudged runs, {what} at {steps}");
        rows.push(Row::relative(name("speed about the mean, m/s,"), speed, right_speed, 0.1));
        rows.push(Row::relative(
            name("hem nearer to the waist, cm,"),
            100.0 * risen,
            100.0 * right_risen,
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
