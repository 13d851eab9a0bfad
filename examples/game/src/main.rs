//! `cargo run --manifest-path examples/game/Cargo.toml -- dress.toile`: ten wearers of one garment walk in a row.
//!
//! Everything comes from `toile-run`: the reader of models, the crowd, and the vector types of its arguments.

use std::sync::Arc;
use toile_run::glam::{Affine3A, DVec3, Quat};
use toile_run::{Actor, Crowd, CrowdSettings, Instance, Model};

const WEARERS: usize = 10;
const DT_SECS: f64 = 1.0 / 60.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a garment: game dress.toile")?;
    let model = Arc::new(Model::read(&path)?);

    let mut crowd = Crowd::new(CrowdSettings::default().with(|s| s.normals = true));
    let garment = crowd.add_model(model.clone(), WEARERS)?;
    let wearers = (0..WEARERS).map(|_| crowd.add(garment)).collect::<Result<Vec<Instance>, _>>()?;

    // The bind pose, carried along by the actor; an animated character's `actor_from_bind` matrices go here.
    let bones = vec![Affine3A::IDENTITY; model.joints];
    for frame in 0..60 {
        for (k, wearer) in wearers.iter().enumerate() {
            let position = DVec3::new(k as f64, 0.0, 1.2 * DT_SECS * f64::from(frame));
            crowd.set_pose(*wearer, &Actor { position, rotation: Quat::IDENTITY }, &bones)?;
        }
        crowd.step(DT_SECS)?;
        crowd.draw();
    }

    for (k, wearer) in wearers.iter().enumerate() {
        let vertices = crowd.vertices(*wearer)?;
        assert_eq!(vertices.len(), model.vertices);
        assert!(vertices.iter().chain(crowd.normals(*wearer)?).all(|v| v.is_finite()));
        let middle = vertices.iter().map(|v| f64::from(v.z)).sum::<f64>() / vertices.len() as f64;
        assert!(middle.abs() < 10.0, "wearer {k} lost its garment");
    }
    println!("{WEARERS} garments of {} vertices walked for a second", model.vertices);
    Ok(())
}
