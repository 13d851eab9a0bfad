//! Figure 8: cloth about a tube that is learned bending in the horizontal plane and then bends upwards.

use super::play::{Run, Stage, Start, acceleration, compare};
use crate::reproduce::Wardrobe;
use anyhow::Result;
use glam::{Quat, Vec3};
use std::sync::Arc;
use toile_assets::{Body, Garment, Joint, Mesh, Motion, Skeleton, Skin, Take, Transform};
use toile_learn::{AdaptiveSettings, train_adaptive};
use toile_simulate::SubspaceSettings;

/// One way of bending.
pub struct Bent {
    pub name: &'static str,
    pub trained: bool,
    pub run: Run,
    pub skin: Run,
    /// Mean and largest distance to the skinned garment, mm: here and in the simulation.
    pub from_skin_mm: [f64; 2],
    pub full_from_skin_mm: [f64; 2],
    /// Largest acceleration of the simulation, m/s².
    pub acceleration: f64,
    pub take: Take,
    pub skinned: Vec<Vec<Vec3>>,
}

/// The tube, its cloth and what became of it.
pub struct Tube {
    pub body: Body,
    pub garment: Garment,
    pub bent: Vec<Bent>,
}

const LENGTH_M: f32 = 1.0;
const RADIUS_M: f32 = 0.06;
const HEIGHT_M: f32 = 1.0;
/// The middle of the tube bends at so many joints, so far apart, m.
const BENDS: usize = 5;
const BEND_APART_M: f32 = 0.05;
/// All joints together, degrees.
const ANGLE: f32 = 100.0;
const FPS: f64 = 30.0;

/// Simulates, learns and plays.
pub fn measure(dressed: &Wardrobe<'_>) -> Result<Tube> {
    let body = tube()?;
    let mut garment =
        Garment { name: "tube".into(), pins: Vec::new(), ..toile_lab::scenes::sleeve(0.6, 0.068, 60, 36) };
    let up = |p: &mut Vec3| p.y += HEIGHT_M;
    garment.sim.positions.iter_mut().for_each(up);
    garment.render.positions.iter_mut().for_each(up);
    let fabric = crate::resolve::fabric("cotton")?;
    let level = |name: &str, angle: f32| bending(&body, name, Quat::from_rotation_y(angle.to_radians()));
    let motions = [
        level("front", ANGLE)?,
        level("back", -ANGLE)?,
        bending(&body, "up", Quat::from_rotation_z((0.9 * ANGLE).to_radians()))?,
    ];
    let takes = dressed.recorded(&body, &garment, &fabric, &motions, "tube", 0.0)?;
    let (learned, others): (Vec<Take>, Vec<Take>) = takes.into_iter().partition(|t| t.clip != "up");
    let settings = AdaptiveSettings::default();
    let training = train_adaptive(&body, &learned, &settings, &|_| ()).map_err(crate::train::bad_takes)?;
    let database = Arc::new(training.database);
    let stage = Stage { body: &body, garment: &garment, fabric: &fabric };
    let mut bent = Vec::new();
    for take in learned.into_iter().take(1).chain(others) {
        let run = stage.play(&database, &take, SubspaceSettings::default(), Start::Own)?;
        let skinned: Vec<_> =
            (0..take.len()).map(|f| database.attachment.posed(take.frame_bones(f))).collect();
        let mut skin = Run::default();
        compare(&mut skin, &skinned, &take, &database.attachment.rest);
        let truth: Vec<&[Vec3]> = (0..take.len()).map(|f| take.frame(f)).collect();
        let ours: Vec<&[Vec3]> = run.frames.iter().map(Vec::as_slice).collect();
        let trained = take.clip != "up";
        bent.push(Bent {
            name: if trained { "to the front" } else { "upwards" },
            trained,
            from_skin_mm: apart(&ours, &skinned),
            full_from_skin_mm: apart(&truth, &skinned),
            acceleration: acceleration(&truth, take.fps),
            skin,
            run,
            skinned,
            take,
        });
    }
    Ok(Tube { body, garment, bent })
}

/// Mean and largest distance between vertices, mm.
fn apart(frames: &[&[Vec3]], others: &[Vec<Vec3>]) -> [f64; 2] {
    let (mut sum, mut most, mut count) = (0.0f64, 0.0f32, 0usize);
    for (a, b) in frames.iter().zip(others).flat_map(|(a, b)| a.iter().zip(b)) {
        let d = a.distance(*b);
        (sum, most, count) = (sum + f64::from(d), most.max(d), count + 1);
    }
    [1e3 * sum / count.max(1) as f64, 1e3 * f64::from(most)]
}

/// A closed tube along x whose middle bends.
fn tube() -> Result<Body> {
    let first = -0.5 * BEND_APART_M * (BENDS - 1) as f32;
    let mut joints = vec![Joint {
        name: "Hips".into(),
        parent: None,
        rest: Transform::from_translation(Vec3::new(-0.5 * LENGTH_M, HEIGHT_M, 0.0)),
    }];
    for k in 0..BENDS {
        let x = if k == 0 { first + 0.5 * LENGTH_M } else { BEND_APART_M };
        let rest = Transform::from_translation(Vec3::X * x);
        joints.push(Joint { name: format!("bend{k}"), parent: Some(k), rest });
    }
    let (rings, sides) = (100usize, 32usize);
    let mut mesh = Mesh::default();
    let mut rows = Vec::new();
    let mut point = |p: Vec3| {
        mesh.positions.push(p + HEIGHT_M * Vec3::Y);
        // Half-way between two joints cloth goes with both.
        let along = ((p.x - first) / BEND_APART_M + 0.5).clamp(0.0, BENDS as f32);
        let (joint, share) = (along.floor().min(BENDS as f32 - 1.0), along.fract());
        let share = if along >= BENDS as f32 { 1.0 } else { share };
        rows.push(vec![(joint as u16, 1.0 - share), (joint as u16 + 1, share)]);
    };
    for r in 0..=rings {
        let x = LENGTH_M * (r as f32 / rings as f32 - 0.5);
        for s in 0..sides {
            let a = std::f32::consts::TAU * s as f32 / sides as f32;
            point(Vec3::new(x, RADIUS_M * a.cos(), RADIUS_M * a.sin()));
        }
    }
    point(Vec3::X * (-0.5 * LENGTH_M - 0.3 * RADIUS_M));
    point(Vec3::X * (0.5 * LENGTH_M + 0.3 * RADIUS_M));
    let at = |r: usize, s: usize| (r * sides + s % sides) as u32;
    let ends = [(rings + 1) * sides, (rings + 1) * sides + 1].map(|v| v as u32);
    for s in 0..sides {
        for r in 0..rings {
            mesh.triangles.push([at(r, s), at(r, s + 1), at(r + 1, s + 1)]);
            mesh.triangles.push([at(r, s), at(r + 1, s + 1), at(r + 1, s)]);
        }
        mesh.triangles.push([ends[0], at(0, s + 1), at(0, s)]);
        mesh.triangles.push([ends[1], at(rings, s), at(rings, s + 1)]);
    }
    let skin = Skin::from_rows(rows).map_err(toile_assets::Error::from)?;
    Ok(Body::bound_at_rest("tube", Skeleton::new(joints)?, mesh, skin)?)
}

/// Straight, bent by `turn` in all, and straight again, in three seconds.
fn bending(body: &Body, name: &str, turn: Quat) -> Result<Motion> {
    let frames = (3.0 * FPS) as usize;
    let pose = |f: usize| {
        let t = f as f32 / frames as f32;
        let bent = 0.5 - 0.5 * (std::f32::consts::TAU * t).cos();
        let each = Quat::IDENTITY.slerp(turn, bent / BENDS as f32);
        let mut pose = body.skeleton.rest_pose();
        pose.locals[1..].iter_mut().for_each(|local| local.rotation = each);
        pose
    };
    Ok(Motion::new(name, FPS, body.skeleton.clone(), (0..=frames).map(pose).collect())?)
}
