//! What a recorded frame of a garment in motion costs, and how much work it is.
//!
//! `cargo run --release -p toile-lab --example cost -- GARMENT MOTION FRAMES [FILE]`; the cloth at the first frame is kept in
//! FILE, so that a large garment is put on once.

use glam::DVec3;
use std::path::Path;
use toile_assets::builtin;
use toile_simulate::{DrapeSettings, Settings, StepReport, World, drape, ramp};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize, default: &str| args.get(k).cloned().unwrap_or_else(|| default.into());
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment(&word(0, "dress"), &body)?;
    let motion = builtin::motion(&word(1, "walk:1.2"), &body.skeleton)?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let frames: usize = word(2, "15").parse()?;
    let (settings, how) = (Settings::worn(), DrapeSettings::default());
    let before = memory("VmRSS");
    let kept = args.get(3).map(Path::new);
    let mut world = match kept.filter(|f| f.exists()) {
        Some(file) => {
            let mut world = World::with_body(&body, &garment, &fabric, settings)?;
            let (x, v) = places(&std::fs::read(file)?, world.scene.len())?;
            world.start_from(&body.bones(&motion.at(0.0)), x, v)?;
            world
        }
        None => {
            let mut world = drape(&body, &garment, &fabric, &settings, &how)?;
            ramp(&mut world, &body, &motion, &how)?;
            if let Some(file) = kept {
                let all = world.state.x.iter().chain(&world.state.v).flat_map(|p| p.to_array());
                std::fs::write(file, all.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?;
            }
            world
        }
    };
    println!("{} vertices on {}", world.scene.len(), word(1, "walk:1.2"));
    // From here on the peak is that of stepping, not of cutting and draping.
    std::fs::write("/proc/self/clear_refs", "5").ok();
    let (mut times, mut sum) = (Vec::new(), StepReport::default());
    for frame in 1..=frames {
        let begun = toile_lab::cpu_ms();
        let mut report = StepReport::default();
        for half in [0.5, 0.0] {
            report.add(&world.step(&body.bones(&motion.at((frame as f64 - half) / 30.0)), 1.0 / 60.0)?);
        }
        times.push(toile_lab::cpu_ms() - begun);
        println!(
            "frame {frame}: {:.1} ms, substeps {} newton {} linear {} body {} self {} hardened {} retries {} stretch {:.1} %",
            times[frame - 1],
            report.substeps,
            report.newton,
            report.linear,
            report.body_contacts,
            report.self_contacts,
            report.hardened,
            report.retries,
            100.0 * world.scene.max_stretch(&world.state.x),
        );
        sum.add(&report);
    }
    let bits = world
        .state
        .x
        .iter()
        .flat_map(|p| p.to_array())
        .fold(0u64, |h, x| h.rotate_left(5) ^ x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15));
    println!(
        "median {:.1} ms, mean {:.1}; a substep: newton {:.2}, linear {:.1}; digest {bits:016x}",
        toile_lab::percentile(&times, 0.5),
        times.iter().sum::<f64>() / frames as f64,
        f64::from(sum.newton) / f64::from(sum.substeps),
        f64::from(sum.linear) / f64::from(sum.substeps),
    );
    let grown = memory("VmHWM").saturating_sub(before) as f64;
    println!(
        "{:.2} kB a vertex at the peak (nothing where the system does not tell)",
        grown / world.scene.len() as f64
    );
    Ok(())
}

/// What the system says of this process's memory, kB.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Places and velocities from a file.
fn places(bytes: &[u8], vertices: usize) -> Outcome<(Vec<DVec3>, Vec<DVec3>)> {
    let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let all: Vec<DVec3> = numbers.as_chunks::<3>().0.iter().map(|p| DVec3::from(*p)).collect();
    if all.len() != 2 * vertices {
        return Err(format!(
            "the file is of another garment: {} places for {vertices} vertices",
            all.len() / 2
        )
        .into());
    }
    Ok((all[..vertices].to_vec(), all[vertices..].to_vec()))
}
