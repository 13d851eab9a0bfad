//! Looks at a scene at the end of every frame, independently of the solver, and keeps the worst of what it saw.

use super::check;
use super::clock::cpu_ms;
use super::row::{Piece, Row, Snapshot};
use glam::{DVec2, DVec3};
use toile_simulate::{Error, Result, Scene, StepReport, World};

/// One run of a scene.
#[derive(Clone, Debug)]
pub struct Run {
    /// The scene.
    pub scene: &'static str,
    /// Of the jitter.
    pub seed: u64,
    /// Frames done.
    pub frames: usize,
    /// Pairs of an edge and a triangle that cross at the end of some frame, the most seen at once.
    pub crossings: usize,
    /// Largest principal strain, a share.
    pub strain: f64,
    /// 99th percentile of the triangles' principal strain, the largest of any frame.
    pub strain_p99: f64,
    /// Deepest vertex in something solid, m.
    pub deepest_m: f64,
    /// Vertices deeper than 1 mm, the most seen at once.
    pub inside: usize,
    /// Steps that were retried smaller.
    pub retries: u32,
    /// Milliseconds of processor time in the solver, all frames.
    pub ms: f64,
    /// Why it ended early: retries exhausted or not finite.
    pub stuck: Option<String>,
    /// Frames to look at.
    pub shots: Vec<Snapshot>,
}

/// Principal strain beyond which a run has failed.
pub const MOST_STRAIN: f64 = 0.10;
/// Depth beyond which a vertex counts as inside, m.
pub const MOST_DEPTH: f64 = toile_assets::INSIDE_M as f64;

impl Run {
    /// What is wrong with it, apart from its time.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.stuck.iter().cloned().collect();
        if self.crossings > 0 {
            faults.push(format!("{} crossings", self.crossings));
        }
        if !(self.strain <= MOST_STRAIN) {
            faults.push(format!("principal strain {:.1} %", 100.0 * self.strain));
        }
        if !(self.deepest_m <= MOST_DEPTH) {
            faults.push(format!("a vertex {:.2} mm inside", 1e3 * self.deepest_m));
        }
        faults
    }
}

/// One line with all that was seen.
impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} seed {}: {} frames, crossings {}, strain {:.1} % (p99 {:.1}), deepest {:.2} mm ({} inside), retries {}, {:.0} ms {}",
            self.scene,
            self.seed,
            self.frames,
            self.crossings,
            100.0 * self.strain,
            100.0 * self.strain_p99,
            1e3 * self.deepest_m,
            self.inside,
            self.retries,
            self.ms,
            self.stuck.as_deref().unwrap_or("")
        )
    }
}

/// What a vertex must stay out of: how deep a place is, m.
pub type Depth<'a> = &'a dyn Fn(DVec3) -> f64;

/// Keeps the worst of a run.
pub struct Monitor {
    run: Run,
    /// Gradients of the second and third shape function on the flat cloth.
    gradients: Vec<[DVec2; 2]>,
    shots_at: Vec<usize>,
    view: (f32, f32),
}

impl Monitor {
    /// For cloth with these flat corners; keeps the frames `shots_at` for a look from `view`.
    pub fn new(
        scene: &'static str,
        seed: u64,
        flat: &[[DVec2; 3]],
        shots_at: &[usize],
        view: (f32, f32),
    ) -> Self {
        let gradients = flat
            .iter()
            .map(|r| {
                let (a, b) = (r[1] - r[0], r[2] - r[0]);
                let det = a.perp_dot(b);
                [DVec2::new(b.y, -b.x) / det, DVec2::new(-a.y, a.x) / det]
            })
            .collect();
        let run = Run {
            scene,
            seed,
            frames: 0,
            crossings: 0,
            strain: 0.0,
            strain_p99: 0.0,
            deepest_m: 0.0,
            inside: 0,
            retries: 0,
            ms: 0.0,
            stuck: None,
            shots: vec![],
        };
        Self { run, gradients, shots_at: shots_at.to_vec(), view }
    }

    /// Lets a frame happen and looks at its end; `false` when the run is over because it got stuck.
    pub fn frame(
        &mut self,
        world: &mut World,
        step: impl FnOnce(&mut World) -> Result<StepReport>,
        depth: Option<Depth<'_>>,
        solids: impl FnOnce() -> Vec<Piece>,
    ) -> Result<bool> {
        let begun = cpu_ms();
        let outcome = step(world);
        self.run.ms += cpu_ms() - begun;
        match outcome {
            Ok(report) => self.run.retries += report.retries,
            Err(Error::Stuck { vertex, cause, retries, .. }) => {
                let frame = self.run.frames;
                self.run.stuck =
                    Some(format!("frame {frame}: {cause} at vertex {vertex} after {retries} retries"));
                return Ok(false);
            }
            Err(other) => return Err(other),
        }
        let x = &world.state.x;
        if let Some(v) = x.iter().position(|p| !p.is_finite()) {
            self.run.stuck = Some(format!("frame {}: vertex {v} is not finite", self.run.frames));
            return Ok(false);
        }
        self.run.crossings = self.run.crossings.max(crossings(&world.scene, x));
        let (most, p99) = self.principal_strain(&world.scene.triangles, x);
        self.run.strain = self.run.strain.max(most);
        self.run.strain_p99 = self.run.strain_p99.max(p99);
        if let Some(depth) = depth {
            let depths: Vec<f64> = x.iter().map(|p| depth(*p)).collect();
            self.run.deepest_m = depths.iter().copied().fold(self.run.deepest_m, f64::max);
            self.run.inside = self.run.inside.max(depths.iter().filter(|d| **d > MOST_DEPTH).count());
        }
        if self.shots_at.contains(&self.run.frames) {
            let mut pieces = vec![Piece::cloth(&world.scene.triangles, x)];
            pieces.extend(solids());
            self.run.shots.push(Snapshot {
                name: format!("frame {}", self.run.frames),
                scene: self.run.scene.into(),
                view: self.view,
                pieces,
            });
        }
        self.run.frames += 1;
        Ok(true)
    }

    /// Adds processor time that was spent before the step was handed over.
    pub fn spent(&mut self, ms: f64) {
        self.run.ms += ms;
    }

    /// Stretch in the direction of the largest, triangle by triangle: the larger singular value of its deformation, less
    /// one. The largest of all, and the 99th percentile.
    fn principal_strain(&self, triangles: &[[u32; 3]], x: &[DVec3]) -> (f64, f64) {
        let strain = |(t, g): (&[u32; 3], &[DVec2; 2])| {
            let [a, b, c] = t.map(|i| x[i as usize]);
            let u = (b - a) * g[0].x + (c - a) * g[1].x;
            let v = (b - a) * g[0].y + (c - a) * g[1].y;
            let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
            let most = 0.5 * (uu + vv) + (0.25 * (uu - vv) * (uu - vv) + uv * uv).sqrt();
            most.sqrt() - 1.0
        };
        let strains: Vec<f64> = triangles.iter().zip(&self.gradients).map(strain).collect();
        (strains.iter().copied().fold(0.0, f64::max), super::percentile(&strains, 0.99))
    }

    /// What was seen.
    pub fn finish(self) -> Run {
        self.run
    }
}

/// Crossings of the cloth with itself, every pair tried.
fn crossings(scene: &Scene, x: &[DVec3]) -> usize {
    check::crossings(&scene.triangles, &scene.edges, x)
}

/// Rows of a scene's runs: how many jitters failed, and the worst values over all of them.
pub fn rows(runs: &[Run]) -> Vec<Row> {
    let Some(first) = runs.first() else { return vec![] };
    let failed = failures(runs).len();
    let worst = |f: &dyn Fn(&Run) -> f64| runs.iter().map(f).fold(0.0, f64::max);
    let name = first.scene;
    vec![
        Row::absolute(format!("{name}, jitters that failed"), failed as f64, 0.0, 0.0),
        Row::absolute(
            format!("{name}, crossings at a frame's end"),
            worst(&|r| r.crossings as f64),
            0.0,
            0.0,
        ),
        Row::at_most(
            format!("{name}, largest principal strain, %"),
            100.0 * worst(&|r| r.strain),
            100.0 * MOST_STRAIN,
        ),
        Row::at_most(format!("{name}, deepest vertex, mm"), 1e3 * worst(&|r| r.deepest_m), 1e3 * MOST_DEPTH),
    ]
}

/// Runs that failed, each with its seed and why; five times the median time is a failure, too.
pub fn failures(runs: &[Run]) -> Vec<String> {
    let mut times: Vec<f64> = runs.iter().map(|r| r.ms).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let mut failed = Vec::new();
    for run in runs {
        let mut faults = run.faults();
        if run.ms > 5.0 * median {
            faults.push(format!("{:.1} times the median time", run.ms / median));
        }
        if !faults.is_empty() {
            failed.push(format!("{}, seed {}: {}", run.scene, run.seed, faults.join(", ")));
        }
    }
    failed
}
