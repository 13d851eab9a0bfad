//! Prints the most stretched edges of a garment as placed and as draped.
use toile_assets::builtin;
use toile_simulate::{DrapeSettings, Settings, World, drape};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment("dress", &body)?;
    let fabric = builtin::fabric("cotton")?;
    let placed = World::with_body(&body, &garment, &fabric, Settings::default())?;
    let draped = drape(&body, &garment, &fabric, &Settings::default(), &DrapeSettings::default())?;
    println!("draped after {} s", draped.state.secs);
    for w in [&placed, &draped] {
        let s = &w.scene;
        let mut list: Vec<(f64, usize)> = s.edges.iter().enumerate().map(|(k, e)| (w.state.x[e[0] as usize].distance(w.state.x[e[1] as usize]) / s.edge_lengths[k] - 1.0, k)).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (v, k) in list.iter().take(8) { println!("{:.3} len {:.4} {:?} at {:.3}", v, s.edge_lengths[*k], s.edges[*k], w.state.x[s.edges[*k][0] as usize]); }
        println!("p90 {:.3} median {:.3} least {:.3}", list[list.len() / 10].0, list[list.len() / 2].0, list[list.len() - 1].0);
        let mut e = 0.0;
        for el in &s.membrane { e += toile_simulate::energy::membrane::energy(el, &w.state.x, [0.0; 3], 0.0); }
        println!("membrane energy {e:.3}");
        let b = toile_simulate::energy::bending::energy(&s.bending, &w.state.angles, &s.rest_angles, &s.rest_angles, 0.0);
        println!("bending energy {b:.4}; y of centre {:.3}", w.state.x.iter().map(|p| p.y).sum::<f64>() / w.state.x.len() as f64);
    }
    Ok(())
}
