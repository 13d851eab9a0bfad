//! What a learned garment holds: how fast it forgets, how far it can ever go, and a picture of it.

#[path = "tailor/mod.rs"]
mod tailor;

use glam::Vec3;
use toile::run::{Stable, Tier};
use toile::show::{Camera, Error, Item, Material, MeshHandle, Renderer, Scene, View};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tailor::Tailored { body, takes, model, .. } = tailor::skirt()?;
    let certificate = &model.certificate;
    let bound = certificate.travel_bound_m.iter().copied().fold(0.0, f32::max);
    println!(
        "{} vertices in {} dimensions, {} kB; ρ {:.4}, and no vertex ever goes farther than {bound:.2} m from its mean",
        model.vertices,
        model.cloth_dims,
        model.bytes() / 1024,
        certificate.rho
    );

    // Whatever it is fed: bones that jump from one end of the take to the other at every step.
    let (take, mut garment) = (&takes[0], Stable::new(model.clone()));
    let mut out = vec![Vec3::ZERO; model.vertices];
    let mut farthest = 0.0f32;
    for k in 0..300 {
        let f = if k % 2 == 0 { 0 } else { take.len() - 1 };
        garment.step(take.frame_bones(f), 1.0 / take.fps)?;
        garment.positions(&mut out);
        for (p, mean) in out.iter().zip(&model.cloth_mean) {
            let canonical = take.roots[f].canonical_from_world(p.as_dvec3()).as_vec3();
            farthest = farthest.max(canonical.distance(*mean));
        }
    }
    println!("thrown about for 300 steps it went {farthest:.2} m");
    assert!(farthest <= bound, "the bound holds");

    let skin = body.skinned_positions(take.frame_bones(0));
    let (wearer, cloth) = (MeshHandle::new(&body.mesh.triangles), MeshHandle::new(&model.triangles));
    let scene = Scene::new().with(Item::new(&wearer, &skin, Material::body())).with(Item::new(
        &cloth,
        take.frame(0),
        Material::fabric("cotton"),
    ));
    match Renderer::new() {
        Ok(mut renderer) => {
            let camera = Camera::framing_scene(&scene, View::ThreeQuarter, 1.0);
            let picture = renderer.draw(&scene, &camera, 128, 128)?;
            let (centre, corner) = (picture.at(64, 64), picture.at(2, 2));
            assert!(centre != corner, "there is somebody in the picture");
        }
        Err(Error::NoAdapter(why)) => println!("no picture: {why}"),
        Err(e) => return Err(e.into()),
    }
    Ok(())
}
