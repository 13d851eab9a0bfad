//! A square of cotton hung by two corners comes to rest below them, without stretching much.

use glam::Vec3;
use toile::assets::{Mesh, builtin};
use toile::simulate::{Scene, Settings, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A 40 cm square of 10 × 10 vertices, lying flat in the air.
    let n = 10u32;
    let place = |i: u32| Vec3::new((i % n) as f32, 0.0, (i / n) as f32) * (0.4 / (n - 1) as f32);
    let mut triangles = Vec::new();
    for r in 0..n - 1 {
        for c in 0..n - 1 {
            let i = r * n + c;
            triangles.extend([[i, i + n, i + 1], [i + 1, i + n, i + n + 1]]);
        }
    }
    let mesh = Mesh { positions: (0..n * n).map(place).collect(), triangles, uvs: vec![] };

    let settings = Settings::default();
    let mut scene = Scene::from_mesh(&mesh, &builtin::fabric("cotton")?, &settings)?;
    scene.pinned[0] = true;
    scene.pinned[n as usize - 1] = true;
    let x = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let mut world = World::new(scene, x, settings)?;
    for _ in 0..90 {
        world.step(&[], 1.0 / 30.0)?;
    }

    let lowest = world.state.x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let stretch = world.scene.max_stretch(&world.state.x);
    println!(
        "after 3 s: lowest point {:.1} cm below the pins, stretched {:.2} %",
        -100.0 * lowest,
        100.0 * stretch
    );
    assert!((-0.45..-0.35).contains(&lowest), "it should hang about its own length down");
    assert!(stretch < 0.05);
    Ok(())
}
