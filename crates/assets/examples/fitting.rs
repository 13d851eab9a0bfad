//! Clothes tried on: cuts garments for a body, or for a variant of it, and says how they sit before anything is
//! simulated. With a folder, writes body and garments into it.
//!
//! `cargo run --release -p toile-assets --example fitting -- hero.glb t+turned dress,shirt [folder]`

#[path = "../tests/variants/mod.rs"]
mod variants;

use std::collections::BTreeMap;
use std::path::Path;
use toile_assets::{Garment, TriangleTree, builtin, crossings, read, self_crossings, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize, usual: &str| args.get(k).cloned().unwrap_or_else(|| usual.into());
    let name = word(0, "mannequin:female");
    let body = match Path::new(&name).exists() {
        true => read::gltf::read_body(Path::new(&name), None)?.value,
        false => builtin::body(&name)?,
    };
    let body = variants::variant(&body, &word(1, "as it is"));
    println!("{name} {}", word(1, "as it is"));
    match builtin::wardrobe::measures(&body) {
        Ok(measures) => println!("  {measures}"),
        Err(e) => println!("  {e}"),
    }
    if let Some(folder) = args.get(3) {
        write::glb::write_body(Path::new(folder).join("body.glb"), &body, &[])?;
    }
    let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
    for kind in word(2, "dress,shirt,skirt").split(',') {
        let garment = match builtin::garment(kind, &body) {
            Ok(garment) => garment,
            Err(e) => {
                println!("  {kind}: {e}");
                continue;
            }
        };
        let near = garment.sim.positions.iter().filter_map(|p| tree.closest(*p)).map(|c| c.distance_m);
        let inside = garment.sim.positions.iter().filter(|p| tree.is_inside(**p)).count();
        let (least, most, odd) = strains(&garment);
        println!(
            "  {kind}: {} vertices, {inside} inside, nearest {:.1} mm, {} crossings with itself, {} with the body, \
             strain {least:.2} to {most:.2}, {odd} edges beyond 0.6",
            garment.sim.positions.len(),
            1e3 * near.fold(f32::INFINITY, f32::min),
            self_crossings(&garment.sim).len(),
            crossings(&garment.sim, &body.mesh).iter().map(Vec::len).sum::<usize>(),
        );
        if let Some(folder) = args.get(3) {
            let path = Path::new(folder).join(format!("{kind}.obj"));
            write::obj::write_garment(&path, &garment)?;
            std::fs::write(path.with_extension("json"), pins(&garment))?;
        }
    }
    Ok(())
}

/// The least and the largest strain of an edge, and how many are stretched or pressed beyond 0.6.
fn strains(g: &Garment) -> (f32, f32, usize) {
    let (mut least, mut most, mut odd) = (0.0f32, 0.0f32, 0);
    for (tri, flat) in g.sim.triangles.iter().zip(&g.rest) {
        for k in 0..3 {
            let [a, b] = [tri[k], tri[(k + 1) % 3]].map(|i| g.sim.positions[i as usize]);
            let strain = a.distance(b) / flat[k].distance(flat[(k + 1) % 3]) - 1.0;
            (least, most) = (least.min(strain), most.max(strain));
            odd += usize::from(strain.abs() > 0.6);
        }
    }
    (least, most, odd)
}

/// The vertex sets that a garment file names beside it.
fn pins(g: &Garment) -> String {
    let drawn = |set: &[u32]| -> Vec<usize> {
        (0..g.sim_from_render.len()).filter(|&r| set.contains(&g.sim_from_render[r])).collect()
    };
    let sets: BTreeMap<&str, Vec<usize>> =
        g.pins.iter().map(|p| (p.name.as_str(), drawn(&p.vertices))).collect();
    let sets: Vec<String> = sets.iter().map(|(name, set)| format!("\"{name}\": {set:?}")).collect();
    format!("{{\"labels\": {{{}}}}}", sets.join(", "))
}
