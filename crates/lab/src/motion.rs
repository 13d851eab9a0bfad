//! Motion: falls, swings, waves and what the integrator does to them.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::row::{Findings, Plot, Row};
use super::{quiet, rest};
use glam::{DVec2, DVec3};
use toile_assets::Fabric;
use toile_geometry::Random;
use toile_simulate::{Integrator, Settings};
use toile_simulate::{Result, Scene, World};

/// Settings under which only the integrator errs.
fn exact(settings: Settings) -> Settings {
    settings.with(|s| {
        s.linear_tolerance = 1e-10;
        s.max_linear = 3000;
        s.tolerance_m = 1e-11;
        s.max_newton = 30;
    })
}

fn centre(w: &World) -> DVec3 {
    w.state.x.iter().zip(&w.scene.mass).map(|(p, m)| *p * *m).sum::<DVec3>()
        / w.scene.mass.iter().sum::<f64>()
}

/// Free fall with all internal forces and damping on: the centre of mass does what the integrator does with a
/// point, no drift, no spin.
pub fn free_fall() -> Result<Vec<Row>> {
    let fabric = Fabric { damping_secs: 0.02, poisson: 0.2, ..plain() };
    let settings = quiet().with(|s| {
        s.max_step_secs = 1.0 / 60.0;
        s.linear_tolerance = 1e-12;
        s.max_linear = 2000;
        s.tolerance_m = 1e-12;
        s.max_newton = 30;
    });
    let (mesh, flat) = rectangle(0.4, 0.3, 8, 6, Pattern::Jittered);
    let scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let mut random = Random::new(6);
    let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| *p + random.vector() * 0.003).collect();
    let mut world = World::new(scene, x, settings)?;
    // A stretched sheet that is its own mirror image pulls together without turning; the integrators keep angular
    // momentum only to their order where it swings without symmetry.
    let spin = |w: &World| {
        let c = centre(w);
        (0..w.scene.len()).map(|i| (w.state.x[i] - c).cross(w.state.v[i]) * w.scene.mass[i]).sum::<DVec3>()
    };
    let start = centre(&world);
    let h = 1.0 / 60.0;
    let (mut p, mut q, mut v, mut u) = (0.0, 0.0, 0.0, 0.0);
    for n in 0..30 {
        world.step(&[], h)?;
        let w = if n == 0 { 0.0 } else { 1.0 };
        let d = 1.0 / (1.0 + 2.0 * w);
        let beta = h * (1.0 + w) * d;
        let (a, b) = ((1.0 + w) * (1.0 + w) * d, w * w * d);
        let next_v = a * v - b * u - 9.81 * beta;
        let next_p = a * p - b * q + beta * next_v;
        (q, u, p, v) = (p, v, next_p, next_v);
    }
    let moved = centre(&world) - start;
    let (mesh, flat) = rectangle(0.4, 0.3, 8, 6, Pattern::Alternating);
    let scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| *p * 1.02).collect();
    let mut symmetric = World::new(scene, x, settings)?;
    for _ in 0..30 {
        symmetric.step(&[], h)?;
    }
    Ok(vec![
        Row::absolute("free fall, drop of the centre of mass", moved.y, p, 1e-9),
        Row::absolute("free fall, sideways drift", DVec2::new(moved.x, moved.z).length(), 0.0, 1e-9),
        Row::absolute("free fall, angular momentum", spin(&symmetric).length(), 0.0, 1e-9),
    ])
}

/// A patch held in a plane and stretched along one thread swings about its length: amplitude kept per step.
pub fn numerical_damping() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // The integrator alone, on ẍ = −ω²x, through the very coefficients of the step.
    for (euler, table) in [
        (true, [(0.1, 0.99504), (0.5, 0.89443), (1.0, std::f64::consts::FRAC_1_SQRT_2), (2.0, 0.44721)]),
        (false, [(0.1, 0.99998), (0.5, 0.99040), (1.0, 0.93332), (2.0, 0.76224)]),
    ] {
        for (wh, reference) in table {
            let (mut x, mut x0, mut v, mut v0) = (1.0f64, 1.0f64, 0.0f64, 0.0f64);
            let mut energies = Vec::new();
            for n in 0..400 {
                let w = if euler || n == 0 { 0.0 } else { 1.0 };
                let [a, b, beta] = toile_simulate::bdf2_coefficients(1.0, w);
                let (bx, bv) = (a * x - b * x0, a * v - b * v0);
                let next = (bx + beta * bv) / (1.0 + beta * beta * wh * wh);
                (x0, v0) = (x, v);
                x = next;
                v = (next - bx) / beta;
                energies.push((x * x + v * v / (wh * wh)).sqrt());
                // Kept from vanishing so that the ratio stays meaningful.
                if energies[n] < 1e-100 {
                    break;
                }
            }
            let (from, to) = (energies.len() / 2, energies.len() - 1);
            let ours = (energies[to] / energies[from]).powf(1.0 / (to - from) as f64);
            let name = if euler { "implicit Euler" } else { "BDF2" };
            rows.push(Row::absolute(
                format!("amplitude kept per step, {name}, ωh = {wh}"),
                ours,
                reference,
                1e-4,
            ));
        }
    }
    Ok(rows)
}

/// A sheet falling flat reaches √(2w/(ρ c)).
pub fn terminal_speed() -> Result<Row> {
    let settings = quiet().with(|s| s.air_density = 1.2);
    let fabric = Fabric { drag: 1.2, density: 0.1, ..plain() };
    let (mesh, flat) = rectangle(0.3, 0.3, 4, 4, Pattern::Right);
    let scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let mut world = World::new(scene, lay(&mesh, 0.0), settings)?;
    for _ in 0..240 {
        world.step(&[], 1.0 / 60.0)?;
    }
    let speed = -world.state.v.iter().map(|v| v.y).sum::<f64>() / world.scene.len() as f64;
    let reference = (2.0 * 0.1 * 9.81 / (1.2 * 1.2f64)).sqrt();
    Ok(Row::relative("terminal speed of a falling sheet", speed, reference, 0.02))
}

/// A sheet of cotton hung by its top edge, lifted by 40° and let go: height of the second swing to each side, m.
fn second_swing(settings: Settings) -> Result<f64> {
    let fabric = Fabric { damping_secs: 0.003, drag: 0.3, density: 0.15, ..plain() };
    let (mesh, flat) = rectangle(0.3, 0.4, 6, 8, Pattern::Jittered);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let (sin, cos) = 40f64.to_radians().sin_cos();
    let x: Vec<DVec3> =
        lay(&mesh, 0.0).iter().map(|p| DVec3::new(p.x, -(p.z + 0.2) * cos, (p.z + 0.2) * sin)).collect();
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.y > -1e-9;
    }
    let mut world = World::new(scene, x, settings)?;
    let mut highest = 0.0f64;
    for step in 0..132 {
        world.step(&[], 1.0 / 60.0)?;
        let bottom = world.state.x.iter().rev().take(7).map(|p| p.z).sum::<f64>() / 7.0;
        // The period is about 1.1 s: the second swing back is over after two of them.
        if step >= 50 {
            highest = highest.max(bottom.abs());
        }
    }
    Ok(highest)
}

/// The second swing must be the fabric's: neither the step nor the solver's tolerances may damp it.
pub fn swing() -> Result<Vec<Row>> {
    let usual = Settings::default();
    let ours = second_swing(usual)?;
    let tight = usual.with(|s| {
        s.linear_tolerance = 1e-5;
        s.max_linear = 5000;
        s.tolerance_m = 1e-7;
        s.max_newton = 30;
    });
    let half = usual.with(|s| s.max_step_secs = 0.5 * usual.max_step_secs);
    Ok(vec![
        Row::relative("second swing of a sheet, step halved", ours, second_swing(half)?, 0.05),
        Row::relative("second swing of a sheet, solver tight", ours, second_swing(tight)?, 0.05),
    ])
}

/// A flared skirt held at the waist: places, corners and flat corners.
fn skirt(rings: usize, sides: usize) -> (toile_assets::Mesh, Vec<[DVec2; 3]>) {
    let mut mesh = toile_assets::Mesh::default();
    for r in 0..=rings {
        let t = r as f64 / rings as f64;
        let radius = 0.15 + 0.10 * t;
        for s in 0..sides {
            let a = std::f64::consts::TAU * s as f64 / sides as f64;
            mesh.positions.push(DVec3::new(radius * a.sin(), -0.9 * t, radius * a.cos()).as_vec3());
        }
    }
    let at = |r: usize, s: usize| (r * sides + s % sides) as u32;
    for r in 0..rings {
        for s in 0..sides {
            let (a, b, c, d) = (at(r, s), at(r, s + 1), at(r + 1, s + 1), at(r + 1, s));
            mesh.triangles.extend(if (r + s) % 2 == 0 {
                [[a, c, b], [a, d, c]]
            } else {
                [[a, d, b], [b, d, c]]
            });
        }
    }
    let flat = mesh
        .triangles
        .iter()
        .map(|t| {
            // Down the skirt is the warp.
            let [a, b, c] = t.map(|i| mesh.positions[i as usize].as_dvec3());
            let n = (b - a).cross(c - a).normalize();
            let down = (DVec3::NEG_Y - n * n.dot(DVec3::NEG_Y)).normalize();
            let across = down.cross(n);
            [a, b, c].map(|p| DVec2::new((p - a).dot(across), (p - a).dot(down)))
        })
        .collect();
    (mesh, flat)
}

/// A skirt that moved at 0.4 m/s and whose waist stops at once: how far the hem is ahead of the waist, m, every 1/60 s.
fn stopped_skirt(settings: Settings, secs: f64) -> Result<Vec<(f64, f64)>> {
    let fabric =
        Fabric { stretch_warp: 800.0, shear: 25.0, damping_secs: 0.003, drag: 0.2, density: 0.2, ..plain() };
    let (rings, sides) = (12, 24);
    let (mesh, flat) = skirt(rings, sides);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    scene.pinned[..sides].fill(true);
    let mut world = World::new(scene, lay(&mesh, 0.0), settings)?;
    // At rest first, as a skirt is before it is worn; then all of it moves and the waist does not.
    rest_from_motion(&mut world)?;
    for i in sides..world.scene.len() {
        world.state.v[i] = DVec3::Z * 0.4;
        world.state.v_before[i] = DVec3::Z * 0.4;
    }
    let ahead = |w: &World| w.state.x[rings * sides..].iter().map(|p| p.z).sum::<f64>() / sides as f64;
    // The first sample is the middle itself and would count as a way through it.
    let mut trace = Vec::new();
    for n in 1..=(secs * 60.0) as usize {
        world.step(&[], 1.0 / 60.0)?;
        trace.push((n as f64 / 60.0, ahead(&world)));
    }
    Ok(trace)
}

/// Lets a world hang itself out by damped steps and gives it its settings back.
fn rest_from_motion(world: &mut World) -> Result<()> {
    let wanted = world.settings;
    world.settings.integrator = Integrator::ImplicitEuler;
    for _ in 0..60 {
        world.step(&[], 1.0 / 60.0)?;
        world.state.v.iter_mut().for_each(|v| *v *= 0.9);
    }
    world.settings = wanted;
    world.state.halt();
    Ok(())
}

/// The second swing of a trace, the one back: how far it goes, and its period as twice the time between its two ways
/// through the middle. Extremes are refined by the parabola through three samples.
fn second_of(trace: &[(f64, f64)]) -> (f64, f64) {
    let zeros = crossings_of_zero(trace);
    if zeros.len() < 2 {
        return (f64::NAN, f64::NAN);
    }
    let within: Vec<&[(f64, f64)]> =
        trace.windows(3).filter(|w| w[1].0 > zeros[0] && w[1].0 < zeros[1]).collect();
    let farthest = within.iter().max_by(|a, b| a[1].1.abs().total_cmp(&b[1].1.abs()));
    let far = farthest.map_or(f64::NAN, |w| {
        let (a, b, c) = (w[0].1, w[1].1, w[2].1);
        let bend = a - 2.0 * b + c;
        let off = if bend == 0.0 { 0.0 } else { 0.5 * (a - c) / bend };
        (b - 0.25 * (a - c) * off).abs()
    });
    (far, 2.0 * (zeros[1] - zeros[0]))
}

/// The second swing of a skirt after a stop: the step halved, both solved tightly, and the usual solver against the tight.
pub fn skirt_swing() -> Result<Findings> {
    // Threads keep their stiffness in compression here: without it so small a skirt crumples, each time another way.
    let usual = Settings::default().with(|s| {
        s.self_contact = false;
        s.compression = 1.0;
    });
    let tight = usual.with(|s| {
        s.linear_tolerance = 1e-4;
        s.max_linear = 3000;
        s.tolerance_m = 1e-6;
        s.max_newton = 20;
    });
    let half = tight.with(|s| s.max_step_secs = 0.5 * usual.max_step_secs);
    let euler = tight.with(|s| s.integrator = Integrator::ImplicitEuler);
    let [loose, ours, finer, damped] = [usual, tight, half, euler].map(|s| stopped_skirt(s, 2.5));
    let (loose, ours, finer) = (loose?, ours?, finer?);
    let [(far, period), (tight_far, tight_period), (half_far, half_period)] =
        [&loose, &ours, &finer].map(|t| second_of(t));
    let name = |what: &str| format!("second swing of a skirt after a stop, {what}");
    Ok(Findings {
        rows: vec![
            Row::relative(name("amplitude, step halved"), tight_far, half_far, 0.05),
            Row::relative(name("period, step halved"), tight_period, half_period, 0.05),
            Row::relative(name("amplitude, solver tight"), far, tight_far, 0.05),
            Row::relative(name("period, solver tight"), period, tight_period, 0.05),
        ],
        plots: vec![
            Plot::new("A skirt whose waist stops: hem ahead of the waist", "s", "m")
                .ours("usual solver", loose)
                .ours("tight solver", ours)
                .ours("implicit Euler", damped?)
                .reference("half the step", finer),
        ],
        shots: vec![],
    })
}

/// A soft sheet held at two edges and thrown: the whole shape after 0.1 s with steps h, h/2, h/4.
pub fn orders() -> Result<Findings> {
    let mut found = Findings::default();
    let mut plot = Plot::new("Error after 0.1 s of a thrown sheet", "log₂ of steps", "log₁₀ of m");
    for (integrator, name, order) in
        [(Integrator::ImplicitEuler, "implicit Euler", 1.0), (Integrator::Bdf2, "BDF2", 2.0)]
    {
        let run = |steps: usize| -> Result<Vec<DVec3>> {
            let fabric = Fabric { stretch_warp: 30.0, stretch_weft: 30.0, shear: 10.0, ..plain() };
            let h = 0.1 / steps as f64;
            let settings = exact(quiet().with(|s| {
                s.integrator = integrator;
                s.max_step_secs = h;
                s.retry_m = 1.0;
            }));
            let (mesh, flat) = rectangle(0.3, 0.3, 6, 6, Pattern::Jittered);
            let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
            // Stretched between the held edges only, so that no edge snaps back.
            let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| DVec3::new(1.05 * p.x, 0.0, p.z)).collect();
            for (i, p) in x.iter().enumerate() {
                scene.pinned[i] = p.x.abs() > 0.1574;
            }
            let mut world = World::new(scene, x, settings)?;
            for i in 0..world.scene.len() {
                if !world.scene.pinned[i] {
                    // A smooth bulge that vanishes at the held edges.
                    let v = DVec3::Y * (std::f64::consts::PI * world.state.x[i].x / 0.315).cos();
                    world.state.v[i] = v;
                    world.state.v_before[i] = v;
                }
            }
            for _ in 0..steps {
                world.step(&[], h)?;
            }
            Ok(world.state.x)
        };
        let shapes = [128, 256, 512].map(run);
        let [a, b, c] = shapes;
        let far = |a: &[DVec3], b: &[DVec3]| {
            (a.iter().zip(b).map(|(p, q)| p.distance_squared(*q)).sum::<f64>() / a.len() as f64).sqrt()
        };
        let (b, c) = (b?, c?);
        let (coarse, fine) = (far(&a?, &b), far(&b, &c));
        found.rows.push(Row::absolute(format!("observed order, {name}"), (coarse / fine).log2(), order, 0.2));
        plot = plot.ours(name, vec![(7.0, coarse.log10()), (8.0, fine.log10())]);
    }
    found.plots.push(plot);
    Ok(found)
}

/// Times at which a trace goes through zero.
fn crossings_of_zero(trace: &[(f64, f64)]) -> Vec<f64> {
    let crossing = |w: &[(f64, f64)]| {
        let (a, b) = (w[0], w[1]);
        (a.1 * b.1 < 0.0).then(|| a.0 + (b.0 - a.0) * a.1 / (a.1 - b.1))
    };
    trace.windows(2).filter_map(crossing).collect()
}

/// A stiff sheet with its weight at the lower edge, let go at an angle: period over that of small swings.
pub fn pendulum() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (degrees, reference) in [(30.0f64, 1.01741), (60.0, 1.07318), (90.0, 1.18034)] {
        let length: f64 = 0.25;
        let h = 1.0 / 720.0;
        let fabric = Fabric { stretch_warp: 2e4, stretch_weft: 2e4, shear: 1e4, ..plain() };
        let settings = exact(quiet().with(|s| s.max_step_secs = h));
        let (mesh, flat) = rectangle(length, length, 1, 1, Pattern::Right);
        let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
        let (sin, cos) = degrees.to_radians().sin_cos();
        let x: Vec<DVec3> = lay(&mesh, 0.0)
            .iter()
            .map(|p| DVec3::new(p.x, -(p.z + 0.5 * length) * cos, (p.z + 0.5 * length) * sin))
            .collect();
        // Both lower corners weigh the same, so that it swings without turning.
        scene.mass.fill(0.25 * 0.2 * length * length);
        scene.pinned[..2].fill(true);
        let mut world = World::new(scene, x, settings)?;
        let mut trace = Vec::new();
        for n in 1..=(1.7 / h) as usize {
            world.step(&[], h)?;
            trace.push((n as f64 * h, 0.5 * (world.state.x[2].z + world.state.x[3].z)));
        }
        let zeros = crossings_of_zero(&trace);
        let period = if zeros.len() >= 3 { zeros[2] - zeros[0] } else { f64::NAN };
        let small = std::f64::consts::TAU * (length / 9.81).sqrt();
        rows.push(Row::relative(format!("pendulum from {degrees}°, T/T₀"), period / small, reference, 0.001));
    }
    Ok(rows)
}

/// J₀ by its series, good to 1e-9 up to 12.
fn bessel_j0(x: f64) -> f64 {
    let q = -0.25 * x * x;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        term *= q / f64::from(k * k);
        sum += term;
    }
    sum
}

/// A narrow strip hung by one end, moved a little in one of its first modes: ω over √(g/L).
pub fn hanging_chain() -> Result<Vec<Row>> {
    let (length, cells) = (0.5, 80);
    let mut rows = Vec::new();
    for (mode, reference) in [1.20241, 2.76004, 4.32686].into_iter().enumerate() {
        let h = 1.0 / 600.0;
        let width = length / cells as f64;
        let fabric = Fabric {
            stretch_warp: 2e4,
            stretch_weft: 2e4,
            shear: 1e3,
            bend_warp: 1e-10,
            bend_weft: 1e-10,
            ..plain()
        };
        let settings = quiet().with(|s| {
            s.max_step_secs = h;
            s.linear_tolerance = 1e-6;
            s.max_linear = 2000;
            s.tolerance_m = 1e-9;
            s.max_newton = 10;
        });
        let (mesh, flat) = rectangle(width, length, 1, cells, Pattern::Right);
        let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
        // Modes are J₀(2ω√(s/g)), s from the free end.
        let shape: Vec<f64> = (0..scene.len())
            .map(|i| bessel_j0(2.0 * reference * (1.0 - (i / 2) as f64 / cells as f64).max(0.0).sqrt()))
            .collect();
        let x: Vec<DVec3> = lay(&mesh, 0.0)
            .iter()
            .zip(&shape)
            .map(|(p, s)| DVec3::new(p.x, -(p.z + 0.5 * length), 2e-4 * s))
            .collect();
        scene.pinned[..2].fill(true);
        let mut world = World::new(scene, x, settings)?;
        let mut trace = Vec::new();
        let expected = std::f64::consts::TAU / (reference * (9.81f64 / length).sqrt());
        for n in 1..=(1.9 * expected / h) as usize {
            world.step(&[], h)?;
            let dot: f64 =
                (0..world.scene.len()).map(|i| world.scene.mass[i] * shape[i] * world.state.x[i].z).sum();
            trace.push((n as f64 * h, dot));
        }
        let zeros = crossings_of_zero(&trace);
        let period = if zeros.len() >= 3 { zeros[2] - zeros[0] } else { f64::NAN };
        let ours = std::f64::consts::TAU / period / (9.81f64 / length).sqrt();
        rows.push(Row::relative(
            format!("hanging chain, mode {}, ω/√(g/L)", mode + 1),
            ours,
            reference,
            0.005,
        ));
    }
    Ok(rows)
}

/// A narrow strip of length 1 between two points at one height: its sag.
pub fn catenary() -> Result<Findings> {
    let mut found = Findings::default();
    let mut plot = Plot::new("A strip of length 1 between two points", "m", "m");
    for (span, sag) in [(0.5, 0.39819), (0.8, 0.26544), (0.9, 0.19071), (0.95, 0.13590)] {
        let cells = 80;
        let fabric = Fabric {
            stretch_warp: 2e4,
            stretch_weft: 2e4,
            shear: 1e3,
            bend_warp: 1e-9,
            bend_weft: 1e-9,
            ..plain()
        };
        let (mesh, flat) = rectangle(1.0, 1.0 / cells as f64, cells, 1, Pattern::Right);
        let mut scene = Scene::new(&mesh, &flat, &fabric, &quiet())?;
        let columns = cells + 1;
        // Begins as a V of the right length.
        let depth = 0.5 * (1.0f64 - span * span).sqrt();
        let x: Vec<DVec3> = lay(&mesh, 0.0)
            .iter()
            .map(|p| DVec3::new(p.x * span, -depth * (1.0 - 2.0 * p.x.abs()), p.z))
            .collect();
        for i in 0..scene.len() {
            scene.pinned[i] = [0, cells].contains(&(i % columns));
        }
        let mut world = World::new(scene, x, quiet())?;
        rest(&mut world, 1e3)?;
        let shape: Vec<(f64, f64)> = world.state.x[..columns].iter().map(|p| (p.x, p.y)).collect();
        let ours = -shape.iter().map(|p| p.1).fold(f64::MAX, f64::min);
        found.rows.push(Row::relative(format!("catenary of length 1, sag at span {span}"), ours, sag, 0.002));
        let a = catenary_parameter(span);
        let exact = (0..=60)
            .map(|k| span * (f64::from(k) / 60.0 - 0.5))
            .map(|x| (x, a * ((x / a).cosh() - (0.5 * span / a).cosh())))
            .collect();
        plot = plot.ours(format!("span {span}"), shape).reference("", exact);
    }
    found.plots.push(plot);
    Ok(found)
}

/// `a` of y = a cosh(x/a) for length 1: 2a sinh(span/2a) = 1.
fn catenary_parameter(span: f64) -> f64 {
    let (mut low, mut high) = (1e-3, 1e3);
    for _ in 0..200 {
        let a = f64::sqrt(low * high);
        if 2.0 * a * (0.5 * span / a).min(300.0).sinh() > 1.0 {
            low = a;
        } else {
            high = a;
        }
    }
    low
}
