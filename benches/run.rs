//! What a crowd of learned garments costs, beside the floor measured in the same run.
//!
//! The floor is one bare faer `f32` matrix product of the shape of the reconstruction, on one thread, with nothing
//! of ours in it: no mean, no world transform, no normals. It stands for what the machine can do; the noise of a
//! shared machine hits both alike, because they take turns. `cargo bench --bench run`; add `-- --seconds 5` for
//! longer.
#![allow(clippy::disallowed_methods)] // time is what is measured

#[path = "../crates/run/tests/synthetic/mod.rs"]
mod synthetic;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use glam::{Affine3A, Vec3};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use synthetic::{DRESS, Size, actor, bones};
use toile_assets::{Model, RootFrame};
use toile_geometry::Random;
use toile_run::{Actor, Basis, Crowd, CrowdSettings, Instance, Isa, Stable, Tier};

const DT: f64 = 1.0 / 30.0;
const BATCH: usize = 1000;
/// NvCloth, the fastest game cloth measured, on a core: ms a frame for 784 vertices.
const NVCLOTH_MS: [f64; 2] = [0.34, 0.63];
/// The published cost of this method, µs a frame (de Aguiar et al. 2010).
const PUBLISHED_US: f64 = 490.0;

/// Seconds that this thread has computed: on a busy machine the time others take does not count. Where nothing else
/// runs it is the wall clock.
fn cpu_secs() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn wall_secs() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Microseconds per garment, sorted.
struct Times(Vec<f64>);

impl Times {
    fn at(&self, share: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [least, median, p95, p99] = [0.0, 0.5, 0.95, 0.99].map(|s| self.at(s));
        write!(f, "{least:9.3} {median:9.3} {p95:9.3} {p99:9.3}")
    }
}

/// Runs several things in turn until the time is up; microseconds per garment for each.
fn in_turn(
    budget: Duration,
    per_call: usize,
    clock: fn() -> f64,
    works: &mut [&mut dyn FnMut()],
) -> Vec<Times> {
    let mut times = vec![Vec::new(); works.len()];
    let begin = Instant::now();
    let mut round = 0;
    while begin.elapsed() < budget || round < 12 {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let start = clock();
            work();
            // The first rounds warm up.
            if round >= 2 {
                times.push((clock() - start) * 1e6 / per_call as f64);
            }
        }
        round += 1;
    }
    for t in &mut times {
        t.sort_by(f64::total_cmp);
    }
    times.into_iter().map(Times).collect()
}

struct Scene {
    crowd: Crowd,
    instances: Vec<Instance>,
    actors: Vec<Actor>,
    poses: Vec<Vec<Affine3A>>,
    coefficients: Vec<Vec<f32>>,
    root: RootFrame,
    frame: usize,
}

impl Scene {
    fn new(model: &Arc<Model>, size: Size, count: usize, settings: CrowdSettings) -> Self {
        let mut crowd = Crowd::new(settings);
        let id = crowd.add_model(model.clone(), count).expect("a valid model");
        let instances: Vec<Instance> = (0..count).map(|_| crowd.add(id).expect("reserved")).collect();
        let actors = (0..count).map(|who| actor(who, 0.0)).collect();
        let poses = (0..64).map(|f| bones(size, f, 0.03 * f as f32)).collect();
        let mut random = Random::new(7);
        let coefficients =
            (0..64).map(|_| (0..size.body_dims).map(|_| random.signed() as f32).collect()).collect();
        let root = RootFrame { position: glam::DVec3::ZERO, heading: 0.3 };
        let mut scene = Self { crowd, instances, actors, poses, coefficients, root, frame: 0 };
        for _ in 0..4 {
            scene.pose();
            scene.step();
        }
        scene.crowd.draw();
        scene
    }

    fn pose(&mut self) {
        for (who, i) in self.instances.iter().enumerate() {
            let bones = &self.poses[(who + self.frame) % self.poses.len()];
            self.crowd.set_pose(*i, &self.actors[who], bones).expect("a sound pose");
        }
        self.frame += 1;
    }

    fn pose_by_coefficients(&mut self) {
        for (who, i) in self.instances.iter().enumerate() {
            let x = &self.coefficients[(who + self.frame) % self.coefficients.len()];
            self.crowd.set_body(*i, x, &self.root).expect("sound coefficients");
        }
        self.frame += 1;
    }

    fn step(&mut self) {
        self.crowd.step(DT).expect("a sound step");
    }
}

fn main() {
    let mut seconds = 2.0;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            seconds = args.next().and_then(|s| s.parse().ok()).unwrap_or(seconds);
        }
    }
    let budget = Duration::from_secs_f64(seconds);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{}, {cores} cores, {}", processor(), Isa::best().name());
    println!(
        "µs a garment                                              least    median       p95       p99   of the floor"
    );
    for vertices in [766, 3410] {
        dress(Size { vertices, ..DRESS }, budget);
    }
}

fn dress(size: Size, budget: Duration) {
    let model = Arc::new(synthetic::model(size, 3));
    let (rows, d) = (3 * size.vertices, size.cloth_dims);
    let print = |name: &str, times: &Times, floor: Option<&Times>| {
        let share = floor.map_or(String::new(), |f| {
            format!(
                "{:5.1} % ({:.1} % of the least)",
                100.0 * f.at(0.5) / times.at(0.5),
                100.0 * f.at(0.0) / times.at(0.0)
            )
        });
        println!("{:5} {name:49} {times}   {share}", size.vertices);
    };

    // Nothing of ours: faer's own matrices and its own product.
    let basis = Mat::<f32>::from_fn(rows, d, |r, k| model.cloth_basis[r * d + k]);
    let mut random = Random::new(5);
    let y = Mat::<f32>::from_fn(d, BATCH, |_, _| random.signed() as f32);
    let mut product = Mat::<f32>::zeros(rows, BATCH);
    let mut floor = || {
        matmul(product.as_mut(), Accum::Replace, basis.as_ref(), y.as_ref(), 1.0f32, Par::Seq);
        black_box(&product);
    };

    let one = CrowdSettings::default().with(|s| s.threads = 1);
    let mut plain = Scene::new(&model, size, BATCH, one);
    let mut normals = Scene::new(&model, size, BATCH, one.with(|s| s.normals = true));
    let t = in_turn(
        budget,
        BATCH,
        cpu_secs,
        &mut [&mut floor, &mut || plain.crowd.draw(), &mut || normals.crowd.draw()],
    );
    print("bare faer product (the floor)", &t[0], None);
    print("reconstruction and world transform", &t[1], Some(&t[0]));
    print("the same with normals", &t[2], Some(&t[0]));
    let (reconstruct_us, normals_us) = (t[1].at(0.5), t[2].at(0.5));
    println!(
        "{:5} {:49} {:9.0} a second, floor {:.0} a second; {:.0}–{:.0} times NvCloth's 784 vertices; published {:.0} times slower",
        size.vertices,
        "  per core",
        1e6 / reconstruct_us,
        1e6 / t[0].at(0.5),
        NVCLOTH_MS[0] * 1e3 / reconstruct_us,
        NVCLOTH_MS[1] * 1e3 / reconstruct_us,
        PUBLISHED_US / reconstruct_us,
    );

    if size.vertices == 766 {
        corrected(size, budget, one);
        latent(&model, size, budget, one, &print, reconstruct_us, normals_us);
    }

    let mut half_as_wide = Mat::<f32>::zeros(rows, BATCH);
    let mut narrow_floor = || {
        product_on_avx2(&mut half_as_wide, &basis, &y);
        black_box(&half_as_wide);
    };
    let others = Isa::available().iter().copied().filter(|isa| *isa != Isa::best());
    for isa in others.chain((Isa::best() != Isa::Unfused).then_some(Isa::Unfused)) {
        let with = one.with(|s| s.isa = isa);
        let mut narrow = Scene::new(&model, size, BATCH, with);
        let mut narrow_normals = Scene::new(&model, size, BATCH, with.with(|s| s.normals = true));
        let (mut plain, mut full) = (|| narrow.crowd.draw(), || narrow_normals.crowd.draw());
        let mut works: Vec<&mut dyn FnMut()> = vec![&mut floor, &mut plain, &mut full];
        // AVX2 has a floor of its own where the processor's own is twice as wide.
        if isa == Isa::Avx2 {
            works.push(&mut narrow_floor);
        }
        let t = in_turn(budget / 4, BATCH, cpu_secs, &mut works);
        print(&format!("reconstruction on {}", isa.name()), &t[1], Some(&t[0]));
        print("  with normals", &t[2], Some(&t[0]));
        if let Some(own) = t.get(3) {
            print("  bare faer product on avx2", own, None);
            print("  reconstruction, of that", &t[1], Some(own));
            print("  with normals, of that", &t[2], Some(own));
        }
    }

    // Fewer operations: dims that move no vertex by more than the tolerance are left out.
    for tolerance_mm in [1.0, 5.0, 20.0] {
        for i in &plain.instances {
            plain.crowd.set_tolerance_mm(*i, tolerance_mm).expect("in range");
        }
        let t = in_turn(budget / 4, BATCH, cpu_secs, &mut [&mut floor, &mut || plain.crowd.draw()]);
        let bound =
            plain.instances.iter().map(|i| plain.crowd.error_bound_mm(*i).unwrap_or(0.0)).fold(0.0, f32::max);
        let dims = plain.instances.iter().map(|i| plain.crowd.drawn_dims(*i).unwrap_or(0)).sum::<usize>();
        let name = format!("off by {bound:.1} mm at most: {:.1} dims", dims as f64 / BATCH as f64);
        print(&name, &t[1], Some(&t[0]));
    }
    drop(normals);
    for i in &plain.instances {
        plain.crowd.set_tolerance_mm(*i, 0.0).expect("in range");
    }
    half(&model, size, budget / 4, one, &mut plain, &print);
    two_threads(&model, size, budget, one, plain, &print);
    // The floor by faer's own threads: what the second core of this machine is worth.
    let mut other = Mat::<f32>::zeros(rows, BATCH);
    let mut on_two = || {
        matmul(other.as_mut(), Accum::Replace, basis.as_ref(), y.as_ref(), 1.0f32, Par::rayon(2));
        black_box(&other);
    };
    let t = in_turn(budget / 2, BATCH, wall_secs, &mut [&mut floor, &mut on_two]);
    println!(
        "{:5}   two threads: bare faer {:.2} times as fast (least: {:.2} times)",
        size.vertices,
        t[0].at(0.5) / t[1].at(0.5),
        t[0].at(0.0) / t[1].at(0.0)
    );
    alone(&model, size, budget, Basis::Full, &print);
    alone(&model, size, budget / 2, Basis::Half, &print);
}

/// faer's product as it is where there is no AVX-512. faer itself asks the processor and takes the widest.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn product_on_avx2(out: &mut Mat<f32>, a: &Mat<f32>, b: &Mat<f32>) {
    use private_gemm_x86::{Accum, DType, DstKind, IType, InstrSet, gemm};
    use std::ptr::null;
    assert!(a.ncols() == b.nrows() && out.nrows() == a.nrows() && out.ncols() == b.ncols());
    assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"));
    let (rows, columns, depth) = (out.nrows(), out.ncols(), a.ncols());
    let (out_step, a_step, b_step) = (out.col_stride(), a.col_stride(), b.col_stride());
    // SAFETY: shapes fit each other, columns lie as their strides say, and the processor has the instructions.
    unsafe {
        gemm(
            DType::F32,
            IType::U64,
            InstrSet::Avx256,
            rows,
            columns,
            depth,
            out.as_ptr_mut().cast(),
            1,
            out_step,
            null(),
            null(),
            DstKind::Full,
            Accum::Replace,
            a.as_ptr().cast(),
            1,
            a_step,
            false,
            null(),
            0,
            b.as_ptr().cast(),
            1,
            b_step,
            false,
            (&raw const ONE).cast(),
            1,
        );
    }
}

/// What the product is multiplied with.
#[cfg(target_arch = "x86_64")]
static ONE: f32 = 1.0;

/// Elsewhere nothing asks for it.
#[cfg(not(target_arch = "x86_64"))]
fn product_on_avx2(_: &mut Mat<f32>, _: &Mat<f32>, _: &Mat<f32>) {}

/// A model D beside model C, step and vertices: all of it, without what keeps it outside the body, the cheap form, and the
/// weights alone.
fn corrected(size: Size, budget: Duration, settings: CrowdSettings) {
    let told = Size { body_dims: 72, ..size };
    let bare = |mut model: Model| {
        model.shield = None;
        Arc::new(model)
    };
    let models = [
        ("model C", Arc::new(synthetic::model(size, 3))),
        ("model D", Arc::new(synthetic::corrected(told, 3))),
        ("  not kept outside the body", bare(synthetic::corrected(told, 3))),
        ("  the cheap form", Arc::new(synthetic::cheap(told, 3))),
        ("  the cheap form, not kept outside", bare(synthetic::cheap(told, 3))),
    ];
    let mut scenes: Vec<Scene> = models.iter().map(|(_, m)| Scene::new(m, size, BATCH, settings)).collect();
    let mut all = vec![[Vec::new(), Vec::new(), Vec::new()]; scenes.len()];
    let begin = Instant::now();
    let mut round = 0;
    while begin.elapsed() < budget || round < 12 {
        for (scene, times) in scenes.iter_mut().zip(&mut all) {
            scene.pose();
            let start = cpu_secs();
            scene.step();
            let stepped = cpu_secs();
            scene.crowd.draw();
            let drawn = cpu_secs();
            if round >= 2 {
                for (times, secs) in times.iter_mut().zip([stepped - start, drawn - stepped, drawn - start]) {
                    times.push(secs * 1e6 / BATCH as f64);
                }
            }
        }
        round += 1;
    }
    let medians: Vec<[f64; 3]> = all
        .into_iter()
        .map(|times| {
            times.map(|mut t| {
                t.sort_by(f64::total_cmp);
                Times(t).at(0.5)
            })
        })
        .collect();
    for ((name, _), [step, draw, whole]) in models.iter().zip(&medians) {
        println!(
            "{:5} {name:49} {step:5.2} step {draw:6.2} draw {whole:6.2} both, medians; {:.2} times model C",
            size.vertices,
            whole / medians[0][2]
        );
    }
    println!(
        "{:5}   kept outside the body: {:.0} % more ({:.0} % of the cheap form)",
        size.vertices,
        100.0 * (medians[1][2] / medians[2][2] - 1.0),
        100.0 * (medians[3][2] / medians[4][2] - 1.0)
    );
}

fn latent(
    model: &Arc<Model>,
    size: Size,
    budget: Duration,
    settings: CrowdSettings,
    print: &dyn Fn(&str, &Times, Option<&Times>),
    reconstruct_us: f64,
    normals_us: f64,
) {
    let mut by_bones = Scene::new(model, size, BATCH, settings);
    let mut by_coefficients = Scene::new(model, size, BATCH, settings);
    by_coefficients.pose_by_coefficients();
    // Giving poses is the game's time as well, but not part of the step: timed apart.
    let mut all = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let begin = Instant::now();
    let mut round = 0;
    while begin.elapsed() < budget || round < 12 {
        let mut time = |k: usize, work: &mut dyn FnMut()| {
            let start = cpu_secs();
            work();
            if round >= 2 {
                all[k].push((cpu_secs() - start) * 1e6 / BATCH as f64);
            }
        };
        time(0, &mut || by_coefficients.pose_by_coefficients());
        time(1, &mut || by_coefficients.step());
        time(2, &mut || by_bones.pose());
        time(3, &mut || by_bones.step());
        round += 1;
    }
    let t = all.map(|mut t| {
        t.sort_by(f64::total_cmp);
        Times(t)
    });
    print("latent step from body coefficients", &t[1], None);
    print("latent step from bones", &t[3], None);
    print("giving the bones", &t[2], None);
    let whole = t[2].at(0.5) + t[3].at(0.5) + reconstruct_us;
    for hz in [30.0, 60.0] {
        println!(
            "{:5} 1,000 from bones to vertices: {:.2} ms, {:.1} % of a frame at {hz} Hz ({:.1} % with normals), one core",
            size.vertices,
            whole,
            whole * hz / 10.0,
            (whole - reconstruct_us + normals_us) * hz / 10.0
        );
    }
}

/// A basis of half the bytes: what it gains in time and costs in millimetres.
fn half(
    model: &Arc<Model>,
    size: Size,
    budget: Duration,
    settings: CrowdSettings,
    full: &mut Scene,
    print: &dyn Fn(&str, &Times, Option<&Times>),
) {
    let mut half = Scene::new(model, size, BATCH, settings.with(|s| s.basis = Basis::Half));
    let t = in_turn(budget, BATCH, cpu_secs, &mut [&mut || full.crowd.draw(), &mut || half.crowd.draw()]);
    let mut off_mm = 0.0f32;
    for (a, b) in full.instances.iter().zip(&half.instances) {
        let (Ok(exact), Ok(near)) = (full.crowd.vertices(*a), half.crowd.vertices(*b)) else { continue };
        off_mm = exact.iter().zip(near).map(|(a, b)| 1000.0 * a.distance(*b)).fold(off_mm, f32::max);
    }
    let bound = half.instances.iter().filter_map(|i| half.crowd.error_bound_mm(*i).ok()).fold(0.0, f32::max);
    print(&format!("bf16 basis: off by {off_mm:.2} mm, at most {bound:.1}"), &t[1], None);
    println!(
        "{:5}   bf16 basis: {:.2} times the time of f32 (least: {:.2} times)",
        size.vertices,
        t[1].at(0.5) / t[0].at(0.5),
        t[1].at(0.0) / t[0].at(0.0)
    );
}

fn two_threads(
    model: &Arc<Model>,
    size: Size,
    budget: Duration,
    settings: CrowdSettings,
    mut single: Scene,
    print: &dyn Fn(&str, &Times, Option<&Times>),
) {
    let mut double = Scene::new(model, size, BATCH, settings.with(|s| s.threads = 2));
    let frame = |s: &mut Scene| {
        s.step();
        s.crowd.draw();
    };
    let t = in_turn(budget, BATCH, wall_secs, &mut [&mut || frame(&mut single), &mut || frame(&mut double)]);
    print("step and reconstruction, 1 thread", &t[0], None);
    print("step and reconstruction, 2 threads", &t[1], None);
    println!(
        "{:5}   two threads: {:.2} times as fast (least: {:.2} times)",
        size.vertices,
        t[0].at(0.5) / t[1].at(0.5),
        t[0].at(0.0) / t[1].at(0.0)
    );
}

/// One garment, bones to vertices: with everything in cache, and after other work has used all of it.
fn alone(
    model: &Arc<Model>,
    size: Size,
    budget: Duration,
    basis: Basis,
    print: &dyn Fn(&str, &Times, Option<&Times>),
) {
    let name = if basis == Basis::Half { ", bf16 basis" } else { "" };
    let mut garment = Stable::with_basis(model.clone(), basis);
    let root = RootFrame { position: glam::DVec3::ZERO, heading: 0.3 };
    let poses: Vec<Vec<Affine3A>> = (0..64).map(|f| bones(size, 0, 0.03 * f as f32)).collect();
    let mut out = vec![Vec3::ZERO; size.vertices];
    let mut frame = 0;
    let mut once = || {
        garment.step_with_root(&poses[frame % poses.len()], &root, DT).unwrap();
        garment.positions(&mut out);
        black_box(&out);
        frame += 1;
    };
    let warm = in_turn(budget / 4, 1, cpu_secs, &mut [&mut once]);
    print(&format!("one garment, bones to vertices, warm{name}"), &warm[0], None);
    // Larger than the second-level cache by far; a third-level cache shared by a whole server cannot be emptied.
    let mut other = vec![1u64; 8 << 20];
    let mut cold = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < budget || cold.len() < 12 {
        other.iter_mut().for_each(|v| *v = v.wrapping_mul(3));
        black_box(&other);
        let start = cpu_secs();
        once();
        cold.push((cpu_secs() - start) * 1e6);
    }
    cold.sort_by(f64::total_cmp);
    print(&format!("one garment, bones to vertices, cold{name}"), &Times(cold), None);
}

/// What the system calls its processor.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1));
    name.unwrap_or("unknown processor").to_string()
}
