//! Models made of noise: valid and certified, of any size, without training anything.
#![allow(dead_code)]

use glam::{Affine3A, DVec3, Quat, Vec3};
use toile_geometry::Random;
use toile_model::{
    ALONG, AROUND, Attachment, Certificate, Correction, Hearing, HipLine, InputSet, LimbTube, Model,
    ModelKind, ROOT_TERMS, SURROUNDING_TERMS, Shield, Skin,
};

/// Size of a made-up model.
#[derive(Clone, Copy)]
pub struct Size {
    pub vertices: usize,
    pub joints: usize,
    pub cloth_dims: usize,
    pub body_dims: usize,
    pub order: usize,
}

pub const SMALL: Size = Size { vertices: 53, joints: 5, cloth_dims: 21, body_dims: 11, order: 2 };
pub const DRESS: Size = Size { vertices: 766, joints: 24, cloth_dims: 64, body_dims: 64, order: 2 };

/// A tube of noise that swings: history matrices with norms 0.5 and 0.2, whose contraction a diagonal `P` proves.
pub fn model(size: Size, seed: u64) -> Model {
    let Size { vertices, joints, cloth_dims: d, body_dims: m, order } = size;
    let mut random = Random::new(seed);
    let mut many =
        |n: usize, scale: f32| (0..n).map(|_| scale * random.signed() as f32).collect::<Vec<f32>>();
    let width = 24.min(vertices / 2).max(2);
    let triangles = (0..vertices.saturating_sub(width + 1))
        .filter(|v| v % width != width - 1)
        .flat_map(|v| {
            let [a, b, c, e] = [v, v + 1, v + width, v + width + 1].map(|i| i as u32);
            [[a, c, b], [b, c, e]]
        })
        .collect();
    let cloth_mean = (0..vertices)
        .map(|v| {
            let (angle, height) = ((v % width) as f32 * 0.26, (v / width) as f32 * -0.03);
            Vec3::new(0.3 * angle.cos(), height, 0.3 * angle.sin())
        })
        .collect();
    // Columns of about unit length whose coefficients shrink, as PCA's do.
    let cloth_basis = many(3 * vertices * d, (vertices as f32).recip().sqrt());
    let shrink = |mut w: Vec<f32>| {
        for (i, w) in w.iter_mut().enumerate() {
            *w *= 0.9f32.powi((i / m) as i32);
        }
        w
    };
    let b = (0..order)
        .map(|i| {
            let mut w = many(d * d, 1.0);
            let norm = w.iter().map(|w| w * w).sum::<f32>().sqrt();
            let wanted = [0.5, 0.2, 0.1, 0.05, 0.02][i];
            w.iter_mut().for_each(|w| *w *= wanted / norm);
            w
        })
        .collect();
    let n = order * d;
    let mut p = vec![0.0; n * n];
    for i in 0..n {
        // |Σ Bᵢyᵢ|² ≤ (Σ bᵢ)(Σ bᵢ|yᵢ|²); these weights leave room at γ = 0.98.
        p[i * n + i] = [1.0, 0.45, 0.24, 0.12, 0.05][i / d];
    }
    Model {
        name: "noise".into(),
        kind: ModelKind::C,
        order,
        fps: 30.0,
        vertices,
        triangles,
        cloth_dims: d,
        body_dims: m,
        joints,
        cloth_mean,
        cloth_basis,
        bones_mean: many(12 * joints, 0.1),
        body_from_bones: many(m * 12 * joints, 0.2),
        a: shrink(many(d * m, 0.05)),
        b,
        c: (0..order).map(|_| many(d * 5, 0.3)).collect(),
        bias: many(d, 0.02),
        a0: shrink(many(d * m, 0.05)),
        bias0: many(d, 0.02),
        hips: Some(HipLine {
            joints: [0, 1, 2],
            bind: [Vec3::Y, Vec3::new(0.1, 0.9, 0.0), Vec3::new(-0.1, 0.9, 0.0)],
        }),
        inputs: InputSet {
            body_min: vec![-3.0; m],
            body_max: vec![3.0; m],
            body_rate: vec![6.0; m],
            body_std: vec![1.0; m],
            body_reach: 3.0,
            max_horizontal_m: 0.3,
            max_vertical_m: 0.2,
            max_turn: 0.4,
        },
        certificate: Certificate {
            rho: 0.9,
            gamma: 0.98,
            p,
            transient_gain: 1.0,
            travel_bound_m: vec![10.0; vertices],
            travel_bound_rate_m: vec![10.0; vertices],
            training_travel_m: vec![1.0; vertices],
        },
        correction: None,
        shield: None,
        attachment: None,
        hidden_triangles: Vec::new(),
        notes: Vec::new(),
    }
}

/// The same noise as each of the published kinds.
pub fn published(size: Size, seed: u64, kind: ModelKind) -> Model {
    let mut made = model(if kind == ModelKind::A { Size { order: 0, ..size } } else { size }, seed);
    if kind != ModelKind::C {
        made.c.clear();
    }
    Model { kind, ..made }
}

/// The bones of wearer `who` at a time, relative to its actor: every joint sways about its own axis.
pub fn bones(size: Size, who: usize, secs: f32) -> Vec<Affine3A> {
    (0..size.joints)
        .map(|j| {
            let phase = who as f32 * 0.7 + j as f32 * 0.4;
            // Hips first: they must not lie on their side.
            let swing = if j < 3 { 0.1 } else { 0.5 };
            let axis = Vec3::new((j as f32).cos(), 1.0, (j as f32).sin()).normalize();
            let turn = Quat::from_axis_angle(axis, swing * (3.0 * secs + phase).sin());
            Affine3A::from_rotation_translation(turn, Vec3::new(0.0, 0.02 * (2.0 * secs + phase).sin(), 0.0))
        })
        .collect()
}

/// Where wearer `who` is at a time: each walks its own circle.
pub fn actor(who: usize, secs: f64) -> toile_run::Actor {
    let angle = 0.3 * secs + who as f64;
    toile_run::Actor {
        position: DVec3::new(3.0 * angle.cos() + who as f64, 0.0, 3.0 * angle.sin()),
        rotation: Quat::from_rotation_y(-angle as f32),
    }
}

/// A number that changes when any bit of any value does (FNV-1a).
pub fn digest(values: &[Vec3]) -> u64 {
    values
        .iter()
        .flat_map(|v| v.to_array())
        .fold(0xcbf2_9ce4_8422_2325, |h, v| (h ^ u64::from(v.to_bits())).wrapping_mul(0x0000_0100_0000_01b3))
}

/// As [`corrected`], with the fewest features: what `train --cheap` makes.
pub fn cheap(size: Size, seed: u64) -> Model {
    correcting(size, seed, [48, 0])
}

/// The same noise as a correction on top of skinning: kind D, with skin that it is kept outside of.
pub fn corrected(size: Size, seed: u64) -> Model {
    // As many as a dress learns, or few.
    correcting(size, seed, if size.vertices > 500 { [512, 32] } else { [40, 7] })
}

/// As [`corrected`], one that hears wind, gravity and cloth.
pub fn hearing(size: Size, seed: u64) -> Model {
    let mut model = corrected(size, seed);
    let mut random = Random::new(seed + 1);
    let mut many =
        |n: usize, scale: f32| (0..n).map(|_| scale * random.signed() as f32).collect::<Vec<f32>>();
    if let Some(c) = &mut model.correction {
        let (drives, directions) = (c.drives(), c.direction_count());
        c.hearing = Some(Hearing {
            mean: many(SURROUNDING_TERMS, 0.1),
            scale: vec![0.3; SURROUNDING_TERMS],
            fabric_mean: vec![-4.0, -1.5, 7.0, 4.0, -4.2],
            fabric_axes: vec![0.6, 0.8, 0.4, 0.3, 0.2],
            reach: [4.0, 0.5, 0.1],
        });
        c.drive = many(drives * c.held(), 0.3);
        c.directions = many(directions * (c.held() + c.filtered()), 0.2);
        c.readout = many(size.cloth_dims * c.features(), 0.1);
        // Only surroundings close it.
        c.gate_sq = [100.0, 200.0];
    }
    model
}

fn correcting(size: Size, seed: u64, [centres, drives]: [usize; 2]) -> Model {
    let mut model = model(Size { order: 0, ..size }, seed);
    let (n, d, m, joints) = (size.vertices, size.cloth_dims, size.body_dims, size.joints);
    // Other numbers than the model's own.
    let mut random = Random::new(!seed);
    let mut many =
        |n: usize, scale: f32| (0..n).map(|_| scale * random.signed() as f32).collect::<Vec<f32>>();
    let weights = |v: usize| {
        [0.5, 0.2, 0.15, 0.1, 0.05]
            .iter()
            .enumerate()
            .map(|(k, w)| (((v / 3 + k) % joints) as u16, *w))
            .collect::<Vec<_>>()
    };
    let skin = Skin::from_rows((0..n).map(weights)).unwrap();
    let large = n > 500;
    let points = if large { 320 } else { 30 };
    let u = 2 * m + ROOT_TERMS;
    let poles = vec![[0.8, 0.0], [0.7, 0.5]];
    let (directions, anchors) = (5, 2 * centres + 3);
    let features = u + 3 * drives + centres + anchors;
    let correction = Correction {
        rate_scale: vec![2.0; m],
        root_mean: many(ROOT_TERMS, 0.1),
        root_scale: vec![0.5; ROOT_TERMS],
        drive: many(drives * u, 0.3),
        poles,
        centres: many(centres * m, 0.5),
        width_sq: 2.0,
        directions: many(directions * (u + 3 * drives), 0.2),
        anchors: many(anchors * directions, 0.5),
        anchor_width_sq: 0.7,
        readout: many(d * features, 0.1),
        bias: many(d, 0.02),
        half_axes: (0..d).map(|k| 0.3 * 0.9f32.powi(k as i32)).collect(),
        gate_sq: [3.0, 6.0],
        hearing: None,
    };
    let shield = Shield {
        points: (0..points).map(|i| 0.9 * model.cloth_mean[i * n / points]).collect(),
        normals: (0..points)
            .map(|i| (model.cloth_mean[i * n / points] * Vec3::new(1.0, 0.0, 1.0)).normalize())
            .collect(),
        skin: Skin::from_rows((0..points).map(weights)).unwrap(),
        // As on a dress: the upper two thirds lie on skin, three points each.
        near: (0..n)
            .map(|v| {
                let own =
                    |k: usize| if 3 * v < 2 * n && k < 3 { (v * points / n + k) % points } else { points };
                [0, 1, 2, 3, 4, 5].map(|k| own(k) as u32)
            })
            .collect(),
        margin_m: 0.003,
        limit_m: 0.05,
        limbs: (0..4.min(joints))
            .map(|j| {
                let mut radius = [[0.0; AROUND]; ALONG];
                radius.as_flattened_mut().copy_from_slice(&many(ALONG * AROUND, 0.004));
                radius[0][0] = 0.1;
                LimbTube {
                    joint: j as u32,
                    other: (j == 2).then_some(1),
                    middle: Vec3::new(0.15 - 0.1 * j as f32, -0.3, 0.1),
                    half: Vec3::new(0.0, -0.4, 0.0),
                    across: Vec3::X,
                    radius,
                }
            })
            .collect(),
        trunk: 1,
        // The lower two thirds: a bodice meets no leg.
        meets: (0..n).map(|v| if 3 * v < n { 0 } else { (1 << 4.min(joints)) - 1 }).collect(),
        outward: model.cloth_mean.iter().map(|p| (*p * Vec3::new(1.0, 0.0, 1.0)).normalize()).collect(),
    };
    (model.a, model.bias) = (Vec::new(), Vec::new());
    (model.inputs.body_min, model.inputs.body_max, model.inputs.body_rate) = (vec![], vec![], vec![]);
    if large {
        // As trained ones do: every input is one number of one bone.
        model.body_from_bones.fill(0.0);
        for k in 0..m {
            model.body_from_bones[k * 12 * joints + 12 * (k / 9) + k % 9] = 1.0 + k as f32 / m as f32;
        }
    }
    model.kind = ModelKind::D;
    model.certificate.p.clear();
    model.certificate.travel_bound_rate_m.clear();
    model.attachment = Some(Attachment { skin, rest: model.cloth_mean.clone() });
    model.correction = Some(correction);
    model.shield = Some(shield);
    model.certificate.travel_bound_m = model.correction_bound().unwrap();
    model
}
