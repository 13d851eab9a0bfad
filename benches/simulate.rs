//! What a frame of the full simulation costs: scenario S (a square metre of cloth falls on a ball), the dress on a
//! walking mannequin, how cost grows with vertices, and memory.
//!
//! `cargo bench --bench simulate [-- 28 58 143]`; `benches/simulate_blender.py` runs Blender's cloth on the same scenario.

// A counting allocator is the only way to learn what is allocated; it hands every call on to the system's.
#![allow(unsafe_code)]

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Par, Side};
use glam::DVec3;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use toile_assets::builtin;
use toile_lab::dress;
use toile_simulate::solve::pcg;
use toile_simulate::{Settings, WorkingSet, World, ramp};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(by: usize) {
    let now = LIVE.fetch_add(by, Ordering::Relaxed) + by;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every method passes its arguments unchanged to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    // `cargo bench` adds `--bench`, `cargo test --benches` does not: then only a smoke test is wanted.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let full = args.iter().any(|a| a == "--bench");
    let mut sides: Vec<usize> = args.iter().filter_map(|a| a.parse().ok()).collect();
    if sides.is_empty() {
        sides = if full { vec![28, 58, 143] } else { vec![12] };
    }
    println!("machine: {}, {}", processor(), std::env::consts::ARCH);
    println!("scenario S, self-collision on, 1 thread; medians of frames 10 to 69");
    for n in sides {
        scenario(n, full)?;
    }
    println!("(the clock of processor time ticks every 4 ms here: means say more than medians)");
    memory("scenario S, n = 58", if full { 58 } else { 12 })?;
    if full {
        garments()?;
    }
    solvers(full)
}

fn scenario(n: usize, full: bool) -> Outcome {
    // Eight times the steps: only where that does not take minutes.
    let fine = if full && n <= 58 { Some(toile_lab::scenario_s_finer(n, 8.0)?.centre_m) } else { None };
    for steps in [2.0, 1.0] {
        let settings = Settings::default().with(|s| s.max_step_secs = 1.0 / 30.0 / steps);
        print(n, steps, &toile_lab::scenario_s_with(n, settings)?, fine);
    }
    Ok(())
}

fn print(n: usize, steps: f64, m: &toile_lab::Measures, fine: Option<f64>) {
    let faults = m.faults(fine);
    println!(
        "n {n:4}, {steps} steps a frame: total/90 {:.2} ms, median {:.2} (processor {:.2}), p95 {:.2}; p99 strain {:.2} %, deepest {:.2} mm, \
         crossings {}, lowest {:.3} m, centre {:.4} m (fine {}), retries {}: {}",
        m.total_ms_per_frame,
        m.median_ms,
        m.median_cpu_ms,
        m.p95_ms,
        m.p99_strain_percent,
        m.deepest_mm,
        m.crossings,
        m.lowest_m,
        m.centre_m,
        fine.map_or("not run".to_string(), |c| format!("{c:.4}")),
        m.retries,
        if faults.is_empty() { "valid".to_string() } else { format!("NOT VALID: {}", faults.join(", ")) }
    );
}

/// Bytes a vertex that a world holds once it has been stepped.
fn memory(name: &str, n: usize) -> Outcome {
    let before = LIVE.load(Ordering::Relaxed);
    let mut world = toile_lab::scenario_s_world(n, Settings::default())?;
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    for _ in 0..20 {
        world.step(&[], 1.0 / 30.0)?;
    }
    let (live, peak) = (LIVE.load(Ordering::Relaxed) - before, PEAK.load(Ordering::Relaxed) - before);
    let each = |bytes: usize| bytes as f64 / (n * n) as f64;
    println!("memory, {name}: {:.0} bytes a vertex held, {:.0} at the peak", each(live), each(peak));
    Ok(())
}

fn garments() -> Outcome {
    println!("dress on a walking mannequin, self-collision on, 1 thread, processor time of a recorded frame");
    let mut points = Vec::new();
    for (name, frames) in [("dress", 60), ("dress:3410", 20), ("dress:5178", 20)] {
        let cost = dress::walking_cost(name, frames)?;
        let median = toile_lab::percentile(&cost.frame_ms, 0.5);
        println!(
            "{:6} vertices: mean {:.1} ms, median {median:.1}, p95 {:.1}, p99 {:.1}, retries {}",
            cost.vertices,
            cost.frame_ms.iter().sum::<f64>() / cost.frame_ms.len() as f64,
            toile_lab::percentile(&cost.frame_ms, 0.95),
            toile_lab::percentile(&cost.frame_ms, 0.99),
            cost.retries
        );
        points.push(((cost.vertices as f64).ln(), median.ln()));
    }
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    println!("cost grows as vertices to the power {slope:.2}");
    Ok(())
}

/// The last linear system of a frame in the middle of things, solved by our conjugate gradients and by faer's sparse
/// Cholesky factor, both in f32 on one thread.
fn solvers(full: bool) -> Outcome {
    faer::set_global_parallelism(Par::Seq);
    println!("one linear system, processor time");
    for n in if full { vec![12, 16, 20, 28, 58] } else { vec![12] } {
        let mut world = toile_lab::scenario_s_world(n, Settings::default())?;
        (0..30).try_for_each(|k| {
            world.settings.max_newton = newton_at(k + 1);
            world.step(&[], 1.0 / 30.0).map(|_| ())
        })?;
        compare(&format!("scenario S, n = {n}"), &world)?;
    }
    for name in if full { vec!["dress", "dress:3410", "dress:5178"] } else { vec![] } {
        let how = toile_simulate::DrapeSettings::default().with(|s| s.most_secs = 1.0);
        let dress::Dressed { body, mut world, .. } = dress::Dressed::draped(name, 0, &how)?;
        let motion = builtin::motion("walk", &body.skeleton)?;
        ramp(&mut world, &body, &motion, &how)?;
        for k in 1..=30 {
            world.settings.max_newton = newton_at(k);
            let secs = f64::from(k) / 60.0;
            world.step(&body.bones(&motion.at(secs)), 1.0 / 60.0)?;
        }
        compare(name, &world)?;
    }
    Ok(())
}

/// Iterations of the steps up to the thirtieth. The first of a step works on all of the cloth: the last step has no other.
fn newton_at(step: u32) -> usize {
    if step == 30 { 1 } else { Settings::default().max_newton }
}

fn compare(name: &str, world: &World) -> Outcome {
    let (system, gradient) = world.last_system();
    let Some(entries) = system.entries() else { return Err("bending is not in the matrix".into()) };
    let n = gradient.len();
    let (scene, settings) = (&world.scene, &world.settings);
    let mut vectors = pcg::Vectors::new(n);
    let mut x = vec![DVec3::ZERO; n];
    let mut solve = |system: &mut toile_simulate::solve::system::System, tolerance: f64, x: &mut [DVec3]| {
        let (hinges, bending) = (&scene.hinges, &scene.bending);
        pcg::solve(system, hinges, bending, gradient, x, tolerance, settings.max_linear, &mut vectors)
    };
    let mut ours = system.clone();
    let all = WorkingSet::new(scene, system.order());
    let scaled_ms = timed(|| system.clone().prepare(&scene.hinges, &scene.pinned, &all));
    let pcg_ms = timed(|| solve(&mut ours, settings.linear_tolerance, &mut x));
    let steps = solve(&mut ours, settings.linear_tolerance, &mut x).unwrap_or(0);
    solve(&mut ours, 1e-5, &mut x);
    let gained: f64 = gradient.iter().zip(&x).map(|(g, x)| -g.dot(*x)).sum();

    let triplets: Vec<Triplet<u32, u32, f32>> =
        entries.iter().map(|e| Triplet::new(e.0 as u32, e.1 as u32, e.2)).collect();
    let matrix = SparseColMat::<u32, f32>::try_new_from_triplets(3 * n, 3 * n, &triplets)?;
    let symbolic_ms = timed(|| SymbolicLlt::try_new(matrix.symbolic(), Side::Lower));
    let before = LIVE.load(Ordering::Relaxed);
    let symbolic = SymbolicLlt::try_new(matrix.symbolic(), Side::Lower)?;
    let factored = || Llt::try_new_with_symbolic(symbolic.clone(), matrix.as_ref(), Side::Lower);
    let factor = factored()?;
    let bytes = (LIVE.load(Ordering::Relaxed) - before) / n;
    let numeric_ms = timed(factored);
    let right = system.right_side(gradient);
    let right = Mat::from_fn(3 * n, 1, |i, _| right[i]);
    let solved_ms = timed(|| factor.solve(&right));
    let exact = factor.solve(&right);
    let theirs: f64 = (0..3 * n).map(|i| f64::from(exact[(i, 0)]) * f64::from(right[(i, 0)])).sum();
    println!(
        "{name}, {n} vertices: conjugate gradients {pcg_ms:.2} ms ({steps} steps) and {scaled_ms:.2} to scale; faer {symbolic_ms:.2} \
         symbolic, {numeric_ms:.2} numeric, {solved_ms:.2} to solve, {bytes} bytes a vertex; energies agree to {:.0e}",
        (gained / theirs - 1.0).abs()
    );
    Ok(())
}

/// Milliseconds of processor time a call takes, over a fifth of a second of calls.
fn timed<T>(mut call: impl FnMut() -> T) -> f64 {
    let begun = toile_lab::cpu_ms();
    for calls in 1.. {
        std::hint::black_box(call());
        let spent = toile_lab::cpu_ms() - begun;
        if spent > 200.0 {
            return spent / f64::from(calls);
        }
    }
    0.0
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown processor".into(), |n| n.1.trim().to_string())
}
