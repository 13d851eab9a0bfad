//! A small figure to write, and a hand-built document to read.
#![allow(dead_code)]

use glam::{Affine3A, EulerRot, Quat, Vec2, Vec3};
use serde_json::{Value, json};
use std::path::PathBuf;
use toile_assets::{Body, Joint, Mesh, Motion, Pose, Skeleton, Skin, Transform};
use toile_geometry::Random;

/// A file of this test run that vanishes with it.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toile-gltf-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A tube of seven joints in a zigzag; every vertex follows `influences` joints.
pub fn tube(influences: usize) -> Body {
    let mut joints = vec![Joint {
        name: "hips".into(),
        parent: None,
        rest: Transform { rotation: Quat::from_rotation_y(0.4), translation: Vec3::new(0.1, 0.9, -0.2) },
    }];
    for j in 1..7 {
        let rotation = Quat::from_euler(EulerRot::XYZ, 0.1 * j as f32, -0.05, 0.07);
        let rest = Transform { rotation, translation: Vec3::new(0.0, 0.15, 0.01 * j as f32) };
        joints.push(Joint { name: format!("bone {j}"), parent: Some(if j == 4 { 1 } else { j - 1 }), rest });
    }
    let skeleton = Skeleton::new(joints).unwrap();
    let (rings, sides) = (12, 9);
    let mut mesh = Mesh::default();
    for r in 0..rings {
        for s in 0..sides {
            let angle = std::f32::consts::TAU * s as f32 / sides as f32;
            let height = 0.9 + 0.08 * r as f32;
            mesh.positions.push(Vec3::new(0.1 + 0.12 * angle.cos(), height, -0.2 + 0.12 * angle.sin()));
            mesh.uvs.push(Vec2::new(s as f32 / sides as f32, r as f32 / rings as f32));
        }
    }
    for r in 0..rings - 1 {
        for s in 0..sides {
            let (a, b) = (r * sides + s, r * sides + (s + 1) % sides);
            let (c, d) = (a + sides, b + sides);
            mesh.triangles.push([a as u32, c as u32, b as u32]);
            mesh.triangles.push([b as u32, c as u32, d as u32]);
        }
    }
    let mut random = Random::new(7);
    let rows: Vec<Vec<(u16, f32)>> = (0..mesh.positions.len())
        .map(|v| (0..influences).map(|k| (((v + 2 * k) % 7) as u16, 0.05 + random.unit() as f32)).collect())
        .collect();
    Body::bound_at_rest("tube", skeleton, mesh, Skin::from_rows(rows).unwrap()).unwrap()
}

/// A motion of a body in which everything turns, the root and one bone also move, and one bone is still.
pub fn wave(body: &Body, frames: usize, fps: f64) -> Motion {
    let poses = (0..frames)
        .map(|f| {
            let t = f as f32 / fps as f32;
            let mut pose = body.skeleton.rest_pose();
            for (j, local) in pose.locals.iter_mut().enumerate().filter(|(j, _)| *j != 5) {
                let turn =
                    Quat::from_euler(EulerRot::XYZ, (3.0 * t + j as f32).sin(), 0.3 * t, (2.0 * t).cos());
                local.rotation = (local.rotation * turn).normalize();
            }
            pose.locals[0].translation += Vec3::new(1.2 * t, 0.1 * (5.0 * t).sin(), 0.0);
            pose.locals[3].translation += Vec3::new(0.0, 0.02 * t, 0.0);
            pose.locals[2].translation += Vec3::X * 0.03;
            pose
        })
        .collect();
    Motion::new("wave", fps, body.skeleton.clone(), poses).unwrap()
}

/// The greatest distance between two bodies' surfaces in given poses.
pub fn distance(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose) -> f32 {
    let (p, q) = (a.skinned_positions(&a.bones(pose_a)), b.skinned_positions(&b.bones(pose_b)));
    assert_eq!(p.len(), q.len());
    p.iter().zip(&q).map(|(p, q)| p.distance(*q)).fold(0.0, f32::max)
}

/// A document in the making, by hand.
pub struct Hand {
    pub json: Value,
    pub binary: Vec<u8>,
}

impl Hand {
    pub fn new() -> Self {
        let json = json!({"asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], "nodes": [],
            "meshes": [], "skins": [], "animations": []});
        Self { json, binary: Vec::new() }
    }

    pub fn push(&mut self, list: &str, value: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// Adds bytes as a buffer view.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let at = self.binary.len();
        self.binary.extend_from_slice(bytes);
        self.push("bufferViews", json!({"buffer": 0, "byteOffset": at, "byteLength": bytes.len()}))
    }

    /// Adds an accessor over bytes of its own.
    pub fn accessor(&mut self, bytes: &[u8], code: u32, shape: &str, count: usize) -> usize {
        let view = self.view(bytes);
        let accessor = json!({"bufferView": view, "componentType": code, "type": shape, "count": count});
        self.push("accessors", accessor)
    }

    pub fn floats(&mut self, data: &[f32], shape: &str) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, 5126, shape, data.len() / width)
    }

    pub fn points(&mut self, data: &[Vec3]) -> usize {
        self.floats(&data.iter().flat_map(|p| p.to_array()).collect::<Vec<_>>(), "VEC3")
    }

    pub fn shorts(&mut self, data: &[u16], shape: &str) -> usize {
        let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        let width = if shape == "VEC4" { 4 } else { 1 };
        self.accessor(&bytes, 5123, shape, data.len() / width)
    }

    pub fn matrices(&mut self, data: &[Affine3A]) -> usize {
        let flat: Vec<f32> = data.iter().flat_map(|m| glam::Mat4::from(*m).to_cols_array()).collect();
        self.floats(&flat, "MAT4")
    }

    /// The file in binary form.
    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.binary.len()}]);
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut binary = self.binary.clone();
        binary.resize(binary.len().next_multiple_of(4), 0);
        let mut out = b"glTF".to_vec();
        out.extend(2u32.to_le_bytes());
        out.extend(((28 + text.len() + binary.len()) as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &binary)] {
            out.extend((chunk.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(chunk);
        }
        out
    }
}
