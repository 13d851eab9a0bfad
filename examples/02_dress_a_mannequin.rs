//! The built-in mannequin walks in the built-in dress, carried by its bones, and is written as GLB and read back.

use toile::assets::{AttachmentSettings, attach, builtin, read, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let dress = builtin::garment("dress", &body)?;
    let walk = builtin::motion("walk", &body.skeleton)?.resampled(30.0);
    let attachment = attach(&body, &dress.sim, &AttachmentSettings::default())?;
    let posed = attachment.posed(&body.bones(&walk.at(1.0)));
    assert!(posed.iter().all(|p| p.is_finite()));

    let folder = std::env::temp_dir().join(format!("toile-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("walk.glb");
    write::glb::write_body(&path, &body, std::slice::from_ref(&walk))?;
    let again = read::gltf::read_body(&path, None)?.value;
    let motion = &read::gltf::read_motions(&path, None, 30.0)?.value[0];
    println!(
        "{} vertices of dress on {} joints; {} frames came back from {}",
        posed.len(),
        again.skeleton.len(),
        motion.len(),
        path.display()
    );
    let here = body.skinned_positions(&body.bones(&walk.poses[40]));
    let there = again.skinned_positions(&again.bones(&motion.poses[40]));
    let apart = here.iter().zip(&there).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    std::fs::remove_dir_all(&folder)?;
    assert!(apart < 1e-4, "the walk changed by {apart} m on its way through the file");
    Ok(())
}
