//! One measure for all: every method is run on a scene with shorter and shorter steps until it is good enough, and what it
//! did on the way is the row.

use super::goldenthal::{Constraint, threads};
use super::scenes::{self, mode, mode_frequency};
use super::stage::{Obstacles, Stage, State};
use super::{Entry, Wanted};
use crate::clock::cpu_ms;
use crate::row::Piece;
use glam::DVec3;
use toile_simulate::Result;
use toile_simulate::contact::collider::Shape;

/// Steps that are tried, one after the other.
pub const STEPS: [f64; 10] = [30.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12800.0];

/// Stable runs of a method on a scene, at most: the longest step that is stable and four shorter ones.
pub const MOST_RUNS: usize = 5;
/// Processor time of a method on a scene after which no shorter step is begun, ms; rows that it cuts say so.
pub const ROW_MS: f64 = 10_000.0;
/// Processor time after which a run is broken off, ms: it is then neither stable nor judged.
pub const RUN_MS: f64 = 20_000.0;
/// Rounds of relaxation after which a method without time has not come to rest.
pub const MOST_ROUNDS: usize = 4000;
/// Cloth that moved less in a round is at rest, m.
pub const REST_M: f64 = 1e-6;
/// Stretch that good cloth does not exceed, as a share: what a garment's take may have.
pub const MOST_STRETCH: f64 = 0.15;
/// Particles farther from where they began have flown apart, m, and so has cloth with a triangle strained by more than this share.
pub const FAR_M: f64 = 5.0;
/// See [`FAR_M`].
pub const TORN: f64 = 1.0;

/// A scene with what is right on it.
pub struct Subject {
    /// The scene.
    pub stage: Stage,
    /// Places 30 times a second where there is no analytic answer.
    pub reference: Vec<Vec<DVec3>>,
    /// Error that counts as good enough, in the scene's unit.
    pub bar: f64,
    /// The unit.
    pub unit: &'static str,
    /// What the error is.
    pub what: &'static str,
}

impl Subject {
    /// What stands there besides the cloth at the end.
    pub fn obstacles(&self) -> Vec<Piece> {
        let stage = &self.stage;
        let mut pieces = Vec::new();
        for c in &stage.world.state.colliders {
            if let Shape::Sphere { radius } = c.shape {
                pieces.push(crate::scenes::ball(c.world_from_local.translation, radius));
            }
        }
        if let Some(body) = stage.world.body().filter(|_| stage.worn) {
            let positions = body.body().skinned_positions(&stage.bones_at(stage.secs));
            pieces.push(Piece { triangles: body.body().mesh.triangles.clone(), positions, cloth: false });
        }
        pieces
    }
}

/// The names of the scenes.
pub const SCENES: [&str; 4] = ["hanging square", "sphere", "cylinder twist", "skirt on a walk"];

/// Sets a scene up, with other friction or with cloth that touches itself where that is wanted, and finds what is right on it
/// then.
pub fn subject(name: &str, wanted: Wanted) -> Result<Subject> {
    let (mut stage, bar, unit, what) = match name {
        "hanging square" => (
            scenes::hanging(16)?,
            1.0,
            "%",
            "period of the first mode, and at most 10 % of the swing's energy lost",
        ),
        "sphere" => {
            (scenes::sphere(20)?, 1.0, "cm", "heights at the end, in order, against the default at 1/960 s")
        }
        "cylinder twist" => (
            scenes::twist(20)?,
            0.5,
            "cm",
            "mean radius of each ring at the end against the default at 1/960 s",
        ),
        _ => (scenes::skirt(1.0)?, 2.5, "cm", "mean distance over all frames to the default at 1/960 s"),
    };
    stage.friction = wanted.friction.unwrap_or(stage.friction);
    stage.world.settings.self_contact = wanted.self_contact;
    // The hanging square has an analytic answer.
    let reference = if name == SCENES[0] { vec![] } else { scenes::converge(&mut stage)? };
    Ok(Subject { stage, reference, bar, unit, what })
}

/// How one run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Length of its steps, s.
    pub step_secs: f64,
    /// It neither gave up nor flew apart.
    pub stable: bool,
    /// It was played to its end, or came to rest; else it was broken off.
    pub finished: bool,
    /// In the scene's unit; none where it could not be told.
    pub error: Option<f64>,
    /// Share of energy gained or lost where it should be kept.
    pub drift: Option<f64>,
    /// Largest stretch along the threads at the end of any frame, as a share.
    pub stretch: f64,
    /// Iterations a frame of 1/30 s.
    pub iterations: f64,
    /// Times a step was taken again, shorter, in all.
    pub halvings: u32,
    /// Parts that a method which cuts its steps itself took them in, a frame of 1/30 s.
    pub parts: f64,
    /// Processor time a frame of 1/30 s.
    pub ms: f64,
    /// Where it ended.
    pub x: Vec<DVec3>,
}

/// What a method did on a scene.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Largest step that did not fly apart, s.
    pub stable_secs: Option<f64>,
    /// The run with the largest step that is good enough.
    pub good: Option<Outcome>,
    /// The best run, good enough or not.
    pub best: Option<Outcome>,
    /// The shortest step that was tried, s.
    pub shortest_secs: f64,
    /// Time ran out before the bar was reached or all steps were tried.
    pub cut: bool,
}

/// Runs a method with steps of `h`.
pub fn run(entry: &Entry, subject: &Subject, h: f64) -> Outcome {
    let stage = &subject.stage;
    let mut method = (entry.make)(stage);
    let mut obstacles = Obstacles::new(stage);
    let mut state = stage.start();
    let began = cpu_ms();
    let steps = if entry.can.move_ { (stage.secs / h).round() as usize } else { MOST_ROUNDS };
    let mut watch = Watch::new(subject, &state);
    let (mut iterations, mut halvings, mut parts, mut stable) = (0u64, 0, 0u64, true);
    // What has no time is done when it rests.
    let mut finished = entry.can.move_;
    for _ in 0..steps {
        let before = state.x.clone();
        let work = method.step(stage, &mut obstacles, &mut state, h);
        iterations += u64::from(work.iterations);
        halvings += work.halvings;
        parts += u64::from(work.parts);
        if work.failed || flew(stage, &state) {
            stable = false;
            break;
        }
        if entry.can.move_ {
            watch.see(subject, &state);
        } else {
            let moved = state.x.iter().zip(&before).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
            if moved < REST_M {
                finished = true;
                break;
            }
        }
        if cpu_ms() - began > RUN_MS {
            finished = false;
            break;
        }
    }
    let frames = if entry.can.move_ { (state.secs * 30.0).max(1e-9) } else { 1.0 };
    // Half a motion cannot be judged; a shape that is not yet at rest can.
    let judged = stable && (finished || !entry.can.move_);
    let (error, drift) = if judged { watch.judge(subject, &state, entry.can.move_) } else { (None, None) };
    Outcome {
        step_secs: h,
        stable,
        finished,
        error,
        drift,
        stretch: watch.stretch.max(watch.stretched(&state.x)),
        iterations: iterations as f64 / frames,
        halvings,
        parts: parts as f64 / frames,
        ms: (cpu_ms() - began) / frames,
        x: state.x,
    }
}

/// Whether cloth is no longer cloth.
pub fn flew(stage: &Stage, state: &State) -> bool {
    let lost = |(p, q): (&DVec3, &DVec3)| !(p.distance_squared(*q) < FAR_M * FAR_M);
    state.x.iter().zip(&stage.world.state.x).any(lost) || !(stage.cloth().max_stretch(&state.x) < TORN)
}

/// Shorter and shorter steps until it is good enough.
pub fn measure(entry: &Entry, subject: &Subject) -> Measured {
    let mut runs: Vec<Outcome> = Vec::new();
    let began = cpu_ms();
    let mut cut = false;
    for rate in STEPS {
        let outcome = run(entry, subject, 1.0 / rate);
        let done = good(&outcome, subject, entry.can.move_) || !entry.can.move_;
        cut = !done && (!outcome.finished || cpu_ms() - began > ROW_MS);
        runs.push(outcome);
        if done || cut || runs.iter().filter(|r| r.stable).count() >= MOST_RUNS {
            break;
        }
    }
    // A swing that is damped away has no period, and so no error; it is still the best there is where no other run has one.
    let best = runs.iter().filter(|r| r.stable && (r.finished || r.error.is_some()));
    let best = best.min_by(|a, b| a.error.unwrap_or(f64::MAX).total_cmp(&b.error.unwrap_or(f64::MAX)));
    Measured {
        stable_secs: runs.iter().find(|r| r.stable && r.finished).map(|r| r.step_secs),
        good: runs.iter().find(|r| good(r, subject, entry.can.move_)).cloned(),
        best: best.cloned(),
        shortest_secs: runs.last().map_or(f64::NAN, |r| r.step_secs),
        cut,
    }
}

fn good(outcome: &Outcome, subject: &Subject, moves: bool) -> bool {
    let swings = subject.reference.is_empty() && moves;
    let kept = !swings || outcome.drift.is_some_and(|d| d.abs() <= 0.1);
    let whole = outcome.stable && outcome.finished && outcome.stretch <= MOST_STRETCH;
    whole && kept && outcome.error.is_some_and(|e| e <= subject.bar)
}

/// What is noted during a run.
struct Watch {
    threads: Vec<Constraint>,
    stretch: f64,
    frame: usize,
    distance: f64,
    /// Moments at which the first mode passes zero.
    crossings: Vec<f64>,
    mode_before: (f64, f64),
    energy: [f64; 2],
    /// Weight and motion: the lowest so far, the largest rise above it, and at the start.
    lowest: f64,
    risen: f64,
    first: f64,
}

impl Watch {
    fn new(subject: &Subject, state: &State) -> Self {
        let before = if subject.reference.is_empty() { modal(&subject.stage, &state.x) } else { 0.0 };
        Self {
            threads: threads(&subject.stage),
            stretch: 0.0,
            frame: 0,
            distance: 0.0,
            crossings: vec![],
            mode_before: (0.0, before),
            energy: [0.0; 2],
            lowest: f64::INFINITY,
            risen: 0.0,
            first: mechanical(&subject.stage, state),
        }
    }

    /// Largest stretch along the threads: cloth may shear.
    fn stretched(&self, x: &[DVec3]) -> f64 {
        let stretch = |c: &Constraint| x[c.ends[0]].distance(x[c.ends[1]]) / c.length - 1.0;
        self.threads.iter().map(stretch).fold(0.0, f64::max)
    }

    fn see(&mut self, subject: &Subject, state: &State) {
        let stage = &subject.stage;
        if subject.reference.is_empty() {
            let (now, then) = (modal(stage, &state.x), self.mode_before.1);
            if now * then < 0.0 {
                let share = then / (then - now);
                self.crossings.push(self.mode_before.0 + share * (state.secs - self.mode_before.0));
            }
            self.mode_before = (state.secs, now);
            // Potential and kinetic energy of the mode over the first and the last quarter.
            let w = mode_frequency(9.81);
            let energy = now * now + (modal_speed(stage, &state.v) / w).powi(2);
            let quarter = state.secs / stage.secs;
            if quarter < 0.25 {
                self.energy[0] = self.energy[0].max(energy);
            } else if quarter > 0.75 {
                self.energy[1] = self.energy[1].max(energy);
            }
        }
        let frame = (state.secs * 30.0 + 1e-6) as usize;
        if frame > self.frame {
            self.frame = frame;
            self.stretch = self.stretch.max(self.stretched(&state.x));
            let now = mechanical(stage, state);
            self.lowest = self.lowest.min(now);
            self.risen = self.risen.max(now - self.lowest);
            if let Some(right) = subject.reference.get(frame) {
                self.distance += mean_distance(&state.x, right);
            }
        }
    }

    fn judge(&self, subject: &Subject, state: &State, moves: bool) -> (Option<f64>, Option<f64>) {
        let stage = &subject.stage;
        if let Some(right) = subject.reference.last() {
            let m = if stage.worn {
                self.distance / self.frame.max(1) as f64
            } else if stage.pins.vertices.is_empty() {
                // Which of its folds goes where is chance; how high cloth hangs is not.
                height_distance(&state.x, right)
            } else {
                radius_distance(stage, &state.x, right)
            };
            // Where nothing is driven, what rises again was made.
            let made = (moves && stage.pins.vertices.is_empty())
                .then(|| self.risen / (self.first - self.lowest).abs().max(1e-12));
            return (Some(100.0 * m), made);
        }
        if !moves {
            // At rest: how far the hem hangs, against wL²/2Y.
            let fabric = &stage.cloth().fabric;
            let right = 1.0 + 0.5 * 9.81 * fabric.density / fabric.stretch_warp;
            let lowest = state.x.iter().map(|p| -p.y).fold(0.0, f64::max);
            return (Some(100.0 * (lowest / right - 1.0).abs()), None);
        }
        let right = std::f64::consts::TAU / mode_frequency(9.81);
        let error = (self.crossings.len() > 1).then(|| {
            let count = (self.crossings.len() - 1) as f64;
            let half = (self.crossings[self.crossings.len() - 1] - self.crossings[0]) / count;
            100.0 * (2.0 * half / right - 1.0).abs()
        });
        (error, Some(self.energy[1] / self.energy[0] - 1.0))
    }
}

/// Energy of weight and motion, J.
fn mechanical(stage: &Stage, state: &State) -> f64 {
    let mass = &stage.cloth().mass;
    let one = |i: usize| mass[i] * (0.5 * state.v[i].length_squared() - stage.gravity().dot(state.x[i]));
    (0..mass.len()).map(one).sum()
}

fn mean_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p.distance(*q)).sum::<f64>() / a.len() as f64
}

/// Mean difference of heights, each cloth's in order.
fn height_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let sorted = |x: &[DVec3]| {
        let mut heights: Vec<f64> = x.iter().map(|p| p.y).collect();
        heights.sort_by(f64::total_cmp);
        heights
    };
    sorted(a).iter().zip(sorted(b)).map(|(p, q)| (p - q).abs()).sum::<f64>() / a.len() as f64
}

/// Mean difference of the rings' mean radii about the x axis: where a sleeve buckles is chance, how it narrows is not.
fn radius_distance(stage: &Stage, a: &[DVec3], b: &[DVec3]) -> f64 {
    let Some(grid) = &stage.lattice else { return f64::NAN };
    let radii = |x: &[DVec3]| -> Vec<f64> {
        let radius = |p: &DVec3| p.y.hypot(p.z);
        x.chunks(grid.across).map(|r| r.iter().map(radius).sum::<f64>() / r.len() as f64).collect()
    };
    let (p, q) = (radii(a), radii(b));
    p.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() / p.len() as f64
}

/// The part of the first mode in places aside, m.
fn modal(stage: &Stage, x: &[DVec3]) -> f64 {
    project(stage, |i| x[i].z)
}

fn modal_speed(stage: &Stage, v: &[DVec3]) -> f64 {
    project(stage, |i| v[i].z)
}

fn project(stage: &Stage, value: impl Fn(usize) -> f64) -> f64 {
    let Some(grid) = &stage.lattice else { return 0.0 };
    let (mut sum, mut norm) = (0.0, 0.0);
    for (_, j, i) in grid.each() {
        let shape = mode(1.0 - j as f64 * grid.spacing[1]);
        let m = stage.cloth().mass[i];
        sum += m * shape * value(i);
        norm += m * shape * shape;
    }
    sum / norm
}

#[cfg(test)]
mod tests {
    use super::super::{METHODS, Method, Work};
    use super::*;

    /// Moves a vertex to and fro for ever.
    struct Restless;

    impl Method for Restless {
        fn step(&mut self, _: &Stage, _: &mut Obstacles, state: &mut State, h: f64) -> Work {
            let side = if ((state.secs / h).round() as u64).is_multiple_of(2) { 1e-5 } else { -1e-5 };
            state.x.last_mut().unwrap().x += side;
            state.secs += h;
            Work::iterations(1)
        }
    }

    #[test]
    fn what_does_not_come_to_rest_is_not_good_however_small_its_error() {
        let subject = subject(SCENES[0], Wanted::default()).unwrap();
        let entry = Entry { make: |_| Box::new(Restless), ..METHODS[0] };
        let found = measure(&entry, &subject);
        let best = found.best.unwrap();
        assert!(best.error.unwrap() < subject.bar && !best.finished && best.stable);
        assert!(found.good.is_none() && found.stable_secs.is_none());
        assert!(measure(&METHODS[0], &subject).good.is_some());
    }

    #[test]
    fn stretch_alone_keeps_a_run_from_being_good() {
        let subject = subject(SCENES[0], Wanted::default()).unwrap();
        let run = run(&METHODS[0], &subject, 1.0 / 30.0);
        assert!(good(&run, &subject, false));
        assert!(!good(&Outcome { stretch: 1.01 * MOST_STRETCH, ..run.clone() }, &subject, false));
        assert!(!good(&Outcome { error: Some(1.01 * subject.bar), ..run }, &subject, false));
    }
}
