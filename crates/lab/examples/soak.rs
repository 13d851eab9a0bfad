//! Scenes with jittered starts, one line a run: `cargo run --release -p toile-simulate --example soak -- twist 1-10`.
//! Names are those of the laboratory's scenes or a part of them; for a dress a third word is the number of frames.

use toile_assets::builtin;
use toile_lab::{dress, monitor, scenes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("", String::as_str);
    let seeds = args.get(1).map_or("1-10", String::as_str);
    let (first, last) = seeds.split_once('-').unwrap_or((seeds, seeds));
    let seeds: Vec<u64> = (first.parse()?..=last.parse()?).collect();
    let frames: usize = args.get(2).map_or(Ok(90), |n| n.parse())?;
    if name == "poke" {
        for cells in [18, 27, 40] {
            println!("box through a cloth of {cells} cells: {:.2} mm", 1e3 * scenes::over_box(cells, 45)?);
        }
        let dressed = dress::Dressed::new("dress", 1)?;
        for (scene, motion) in dress::MOTIONS {
            let motion = builtin::motion(motion, &dressed.body.skeleton)?;
            let (depth, count) = dress::pokes_through(&dressed, &motion, frames, 3)?;
            println!("{scene}: body through cloth {:.2} mm, in {count} triangles at once", 1e3 * depth);
        }
        return Ok(());
    }
    let mut groups: Vec<Vec<monitor::Run>> = Vec::new();
    for (scene, run) in scenes::SCENES.iter().filter(|(scene, _)| scene.contains(name)) {
        println!("{scene}");
        groups.push(
            seeds.iter().map(|&s| run(scenes::Size::Full, s).inspect(print)).collect::<Result<_, _>>()?,
        );
    }
    let motions: Vec<_> = dress::MOTIONS.iter().filter(|(scene, _)| scene.contains(name)).collect();
    if !motions.is_empty() {
        let mut runs = Vec::new();
        for &seed in &seeds {
            let dressed = dress::Dressed::new("dress", seed)?;
            for (scene, motion) in &motions {
                let motion = builtin::motion(motion, &dressed.body.skeleton)?;
                runs.push(dress::wear(&dressed, scene, &motion, seed, frames, 3).inspect(print)?);
            }
        }
        for (scene, _) in &motions {
            groups.push(runs.iter().filter(|r| r.scene == *scene).cloned().collect());
        }
    }
    for runs in &groups {
        let worst = |f: &dyn Fn(&monitor::Run) -> f64| runs.iter().map(f).fold(0.0, f64::max);
        let mut times: Vec<f64> = runs.iter().map(|r| r.ms).collect();
        times.sort_by(f64::total_cmp);
        println!(
            "| {} | {} | {:.1} | {:.2} | {:.2} | {} |",
            runs[0].scene,
            worst(&|r| r.crossings as f64),
            100.0 * worst(&|r| r.strain),
            1e3 * worst(&|r| r.deepest_m),
            worst(&|r| r.ms) / times[times.len() / 2],
            monitor::failures(runs).len()
        );
        monitor::failures(runs).iter().for_each(|f| println!("FAILED {f}"));
    }
    Ok(())
}

fn print(r: &monitor::Run) {
    println!("{r}");
}
