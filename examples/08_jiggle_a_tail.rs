//! What is learned need not be a garment: a tail of ribbon hangs on the pelvis, is simulated, and becomes a model of its own.
//!
//! Any mesh that is held to joints will do: hair cards, a belly on its own patch, a scarf. With files it is
//! `toile simulate --garment tail.obj --pin root …`, where `tail.json` names the vertices that are held.

use std::sync::Arc;
use toile::assets::{Body, Fabric, Garment, Mesh, Motion, Paint, Pin, PinTarget, RestSource, builtin};
use toile::learn;
use toile::run::glam::{Vec2, Vec3};
use toile::simulate::Recorder;

/// Across and along.
const CELLS: (usize, usize) = (3, 14);
/// Width and length of the ribbon, m.
const SIZE: (f32, f32) = (0.06, 0.45);

/// A ribbon that stands out behind the pelvis; its first two rows are held to the joint.
fn tail(body: &Body) -> Garment {
    let hips = body.skeleton.joints[0].name.clone();
    let pelvis = Vec3::from(body.joint_from_bind[0].inverse().translation);
    let mut positions = Vec::new();
    let mut flat = Vec::new();
    for row in 0..=CELLS.1 {
        for column in 0..=CELLS.0 {
            let across = SIZE.0 * (column as f32 / CELLS.0 as f32 - 0.5);
            let along = SIZE.1 * row as f32 / CELLS.1 as f32;
            positions.push(pelvis + Vec3::new(across, 0.05 + 0.25 * along, -0.17 - 0.9 * along));
            flat.push(Vec2::new(across, along));
        }
    }
    let at = |row: usize, column: usize| (row * (CELLS.0 + 1) + column) as u32;
    let mut triangles = Vec::new();
    for row in 0..CELLS.1 {
        for column in 0..CELLS.0 {
            let [a, b, c, d] =
                [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let held = (0..2 * (CELLS.0 + 1) as u32).collect();
    let mesh = Mesh { positions, triangles, uvs: Vec::new() };
    Garment {
        name: "tail".into(),
        materials: Vec::new(),
        sim_from_render: (0..mesh.positions.len() as u32).collect(),
        rest: mesh.triangles.iter().map(|t| t.map(|i| flat[i as usize])).collect(),
        rest_source: RestSource::Mesh,
        panels: Vec::new(),
        seams: Vec::new(),
        openings: Vec::new(),
        pins: vec![Pin { name: "root".into(), vertices: held, target: PinTarget::Joint(hips) }],
        paint: Paint::default(),
        fabric: "felt".into(),
        render: mesh.clone(),
        sim: mesh,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let tail = tail(&body);
    tail.check()?;
    // Felt with more spring in it than a skirt should have.
    let fabric = Fabric { bend_warp: 2e-3, bend_weft: 2e-3, damping_secs: 0.01, ..builtin::fabric("felt")? };
    let clip = |name: &str| -> Result<Motion, Box<dyn std::error::Error>> {
        Ok(builtin::motion(name, &body.skeleton)?.trimmed(0.0, 2.0)?)
    };
    let record = |name: &str| -> Result<_, Box<dyn std::error::Error>> {
        Ok(Recorder::new(&body, &tail).record(&fabric, &clip(name)?)?)
    };
    let takes = [record("walk:1.2")?, record("walk:1.5")?, record("jump")?];
    let settings = learn::Settings::default().with(|s| {
        s.kind = toile::assets::ModelKind::D;
        s.cheap = true;
        s.cloth_dims = 12;
    });
    let model = Arc::new(learn::train(&body, &takes[..], &settings)?.model);
    let unseen = record("walk:1.35")?;
    let worn = model.attachment.clone().ok_or("a model d knows how it hangs")?;
    let scores = learn::evaluate(&model, &[unseen], &worn, None);
    println!(
        "a tail of {} vertices: {:.2} cm off on a walk it has not seen (stiff on its bone: {:.2} cm), {:.1} µs a frame",
        model.vertices, scores.mean_cm, scores.skin_cm, scores.us_per_frame
    );
    assert!(model.verify_certificate().is_ok(), "it cannot blow up either");
    assert!(scores.mean_cm < scores.skin_cm, "it moves as it should, not as its bone does");
    Ok(())
}
