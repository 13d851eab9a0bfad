//! A garment on a moving body, recorded; writes frames as raw f32 for a look if a folder is given.
//!
//! `cargo run --release -p toile-simulate --example dress -- dress walk cotton [folder] [frames]`

use toile_assets::builtin;
use toile_simulate::lab::check;
use toile_simulate::{RecordSettings, record};

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
    let settings = RecordSettings::default();
    let mut clock = cpu_ms();
    let mut times = Vec::new();
    let take = record(&body, &garment, &motion, &fabric, &settings, &mut |f, _| {
        let now = cpu_ms();
        times.push(now - clock);
        clock = now;
        f < most
    })?;
    println!("drape and ramp {:.0} ms of processor time", times[0]);
    times.remove(0);
    times.sort_by(f64::total_cmp);
    println!("frame median {:.1} ms, p95 {:.1}", times[times.len() / 2], times[times.len() * 95 / 100]);
    let edges: Vec<[u32; 2]> = garment.sim.topology().edges.iter().map(|e| e.ends).collect();
    for (f, r) in take.reports.iter().enumerate().step_by(10) {
        let x: Vec<glam::DVec3> = take.frame(f).iter().map(|p| p.as_dvec3()).collect();
        println!(
            "frame {f}: substeps {} retries {} stretch {:.1} % deepest {:.2} mm crossings {}",
            r.substeps,
            r.retries,
            r.max_stretch_percent,
            r.deepest_mm,
            check::crossings(&take.triangles, &edges, &x)
        );
    }
    if let Some(folder) = args.get(3) {
        let f32s =
            |p: &mut Vec<u8>, v: glam::Vec3| v.to_array().iter().for_each(|c| p.extend(c.to_le_bytes()));
        let (mut cloth, mut skin) = (Vec::new(), Vec::new());
        for f in 0..take.len() {
            take.frame(f).iter().for_each(|p| f32s(&mut cloth, *p));
            body.skinned_positions(take.frame_bones(f)).iter().for_each(|p| f32s(&mut skin, *p));
        }
        let triangles =
            |t: &[[u32; 3]]| t.iter().flatten().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>();
        std::fs::write(format!("{folder}/cloth.f32"), cloth)?;
        std::fs::write(format!("{folder}/body.f32"), skin)?;
        std::fs::write(format!("{folder}/cloth.u32"), triangles(&take.triangles))?;
        std::fs::write(format!("{folder}/body.u32"), triangles(&body.mesh.triangles))?;
    }
    Ok(())
}
