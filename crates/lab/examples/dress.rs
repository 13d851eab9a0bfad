//! A garment on a moving body, recorded; writes frames as raw f32 for a look if a folder is given.
//!
//! `cargo run --release -p toile-simulate --example dress -- dress walk cotton [folder] [frames]`

use toile_assets::builtin;
use toile_lab::check;
use toile_simulate::{RecordSettings, StepReport, drape, ramp};

/// Processor time of this thread in ms, so that a busy machine does not spoil the figure.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) * 1e-6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize, default: &str| args.get(k).cloned().unwrap_or_else(|| default.into());
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment(&word(0, "dress"), &body)?;
    let motion = builtin::motion(&word(1, "walk"), &body.skeleton)?;
    let fabric = builtin::fabric(&word(2, "cotton"))?;
    let most: usize = word(4, "60").parse()?;
    println!(
        "{} vertices, {} triangles, body {} triangles, {} motion frames at {} fps",
        garment.sim.positions.len(),
        garment.sim.triangles.len(),
        body.mesh.triangles.len(),
        motion.len(),
        motion.fps
    );
    let mut settings = RecordSettings::default();
    // For trying things: TOL=0.03 NEWTON=6 STEPS=60 LIMIT=0.05.
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<f64>().ok());
    let solver = &mut settings.solver;
    solver.linear_tolerance = number("TOL").unwrap_or(solver.linear_tolerance);
    solver.max_newton = number("NEWTON").map_or(solver.max_newton, |n| n as usize);
    solver.max_step_secs = number("STEPS").map_or(solver.max_step_secs, |n| 1.0 / n);
    solver.strain_limit = number("LIMIT").or(solver.strain_limit);
    let begun = cpu_ms();
    let mut world = drape(&body, &garment, &fabric, &settings.solver, &settings.drape)?;
    ramp(&mut world, &body, &motion, &settings.drape)?;
    println!("drape and ramp {:.0} ms of processor time", cpu_ms() - begun);
    let edges: Vec<[u32; 2]> = garment.sim.topology().edges.iter().map(|e| e.ends).collect();
    let (mut cloth, mut skin) = (Vec::new(), Vec::new());
    let mut times = Vec::new();
    let mut sum = StepReport::default();
    let pieces = (1.0 / (30.0 * world.settings.pose_secs()) - 1e-6).ceil() as usize;
    for frame in 0..most.min((motion.duration_secs() * 30.0) as usize) {
        let begun = cpu_ms();
        let mut report = StepReport::default();
        for k in 1..=pieces {
            let at = (frame as f64 + k as f64 / pieces as f64) / 30.0;
            report.add(&world.step(&body.bones(&motion.at(at)), 1.0 / 30.0 / pieces as f64)?);
        }
        times.push(cpu_ms() - begun);
        sum.add(&report);
        cloth.extend(world.state.x.iter().map(|p| p.as_vec3()));
        skin.extend(body.skinned_positions(world.bones()));
        if frame % 10 == 9 {
            println!(
                "frame {frame}: newton {} linear {} body {} self {} held {} retries {} stretch {:.1} % deepest {:.2} mm crossings {}",
                report.newton,
                report.linear,
                report.body_contacts,
                report.self_contacts,
                report.held_back,
                report.retries,
                100.0 * world.scene.max_stretch(&world.state.x),
                1e3 * report.deepest_m,
                check::crossings(&world.scene.triangles, &edges, &world.state.x)
            );
        }
    }
    let frames = times.len() as f64;
    times.sort_by(f64::total_cmp);
    println!(
        "frame mean {:.2} ms, median {:.1}, p95 {:.1}; per substep newton {:.2} linear {:.2}",
        times.iter().sum::<f64>() / frames,
        times[times.len() / 2],
        times[times.len() * 95 / 100],
        f64::from(sum.newton) / frames / pieces as f64,
        f64::from(sum.linear) / frames / pieces as f64
    );
    if let Some(folder) = args.get(3) {
        let bytes = |points: &[glam::Vec3]| -> Vec<u8> {
            points.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes).collect()
        };
        let triangles =
            |t: &[[u32; 3]]| t.iter().flatten().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>();
        std::fs::write(format!("{folder}/cloth.f32"), bytes(&cloth))?;
        std::fs::write(format!("{folder}/body.f32"), bytes(&skin))?;
        std::fs::write(format!("{folder}/cloth.u32"), triangles(&world.scene.triangles))?;
        std::fs::write(format!("{folder}/body.u32"), triangles(&body.mesh.triangles))?;
    }
    Ok(())
}
