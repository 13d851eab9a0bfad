//! Prints the most stretched edges of a garment and what touches them.
use toile_assets::builtin;
use toile_simulate::{DrapeSettings, Settings, drape, ramp};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment("dress", &body)?;
    let fabric = builtin::fabric("cotton")?;
    let motion = builtin::motion("walk", &body.skeleton)?;
    let mut w = drape(&body, &garment, &fabric, &Settings::default(), &DrapeSettings::default())?;
    ramp(&mut w, &body, &motion, &DrapeSettings::default())?;
    for f in 0..24 {
        let r = w.step(&body.bones(&motion.at(f as f64 / 60.0)), 1.0 / 60.0)?;
        if f % 4 != 0 {
            continue;
        }
        println!("step {f}: {r:?}");
        let s = &w.scene;
        let mut list: Vec<(f64, usize)> = s
            .edges
            .iter()
            .enumerate()
            .map(|(k, e)| {
                (w.state.x[e[0] as usize].distance(w.state.x[e[1] as usize]) / s.edge_lengths[k] - 1.0, k)
            })
            .collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (v, k) in list.iter().take(4) {
            println!(
                "{:.3} len {:.4} {:?} at {:.3}",
                v, s.edge_lengths[*k], s.edges[*k], w.state.x[s.edges[*k][0] as usize]
            );
            for e in s.edges[*k] {
                let p = w.state.x[e as usize];
                let b = w.body().unwrap();
                print!(
                    "   vertex {e} grip {:?}:",
                    w.state.grips[e as usize].touching.then_some(w.state.grips[e as usize].normal_force)
                );
                for part in 0..b.parts() {
                    if let Some((n, _)) = b.nearest_on(part, p, 0.1, None) {
                        print!(
                            " part {part}: gap {:.1} mm dist {:.1} n {:.2};",
                            1e3 * n.normal.dot(p - n.point),
                            1e3 * n.point.distance(p),
                            n.normal
                        );
                    }
                }
                println!();
            }
        }
    }
    Ok(())
}
