//! Levels of detail of bodies and clothes, made and measured in poses that the crowd goes through.

use super::Clip;
use anyhow::Result;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Body, Model};
use toile_run::{Actor, Crowd, CrowdSettings};
use toile_show::{MeshHandle, coarser};

/// Poses that levels are made and measured in.
const POSES: usize = 8;
/// Frames that a garment moves before it is looked at: a second at 30 Hz.
const BEFORE: usize = 30;
/// Triangles of the finest level at most: bodies of files have ten times as many.
const FINEST: usize = 2560;
/// Triangles of the levels after it, as shares of it.
const SHARES: [f64; 6] = [0.5, 0.25, 0.12, 0.06, 0.035, 0.02];

/// Levels of one mesh.
pub struct Levels {
    /// The finest first; beside it how far vertices lie from the surface, m: 95 of a hundred at most, and the farthest.
    pub meshes: Vec<(MeshHandle, [f32; 2])>,
    /// The vertex that stands for all, and how far others are from it at most, m.
    pub anchor: (u32, f32),
}

impl Levels {
    /// In terms of the vertices of the poses.
    pub fn new(poses: &[Vec<Vec3>], triangles: &[[u32; 3]]) -> Self {
        let finest = triangles.len().min(FINEST);
        let mut counts: Vec<usize> = SHARES.iter().map(|share| (finest as f64 * share) as usize).collect();
        let mut meshes = Vec::new();
        if finest < triangles.len() {
            counts.insert(0, finest);
        } else {
            meshes.push((MeshHandle::new(triangles), [0.0; 2]));
        }
        let coarse = coarser(poses, triangles, &counts);
        meshes.extend(coarse.into_iter().map(|level| (MeshHandle::new(&level.triangles), level.off_m)));
        if meshes.is_empty() {
            meshes.push((MeshHandle::new(triangles), [0.0; 2]));
        }
        let first = &poses[0];
        let middle = first.iter().sum::<Vec3>() / first.len().max(1) as f32;
        let from_middle = |v: &usize| first[*v].distance(middle);
        let anchor = (0..first.len()).min_by(|a, b| from_middle(a).total_cmp(&from_middle(b))).unwrap_or(0);
        let reach = |pose: &Vec<Vec3>| pose.iter().map(|p| p.distance(pose[anchor])).fold(0.0, f32::max);
        let reach_m = poses.iter().map(reach).fold(0.0, f32::max);
        // Other poses reach a little farther.
        Self { meshes, anchor: (anchor as u32, 1.25 * reach_m) }
    }

    /// The vertices that any level uses; levels are in terms of these from now on.
    pub fn compact(&mut self) -> Vec<u32> {
        let mut kept: Vec<u32> =
            self.meshes.iter().flat_map(|m| m.0.triangles()).flatten().copied().collect();
        kept.push(self.anchor.0);
        kept.sort_unstable();
        kept.dedup();
        let number = |v: u32| kept.binary_search(&v).unwrap_or(0) as u32;
        for (mesh, _) in &mut self.meshes {
            let triangles: Vec<_> = mesh.triangles().iter().map(|t| t.map(number)).collect();
            *mesh = MeshHandle::new(&triangles);
        }
        self.anchor.0 = number(self.anchor.0);
        kept
    }

    /// Each with the distance that it is chosen by.
    pub fn by_distance(&self) -> Vec<(MeshHandle, f32)> {
        self.meshes.iter().map(|(mesh, off)| (mesh.clone(), off[0])).collect()
    }

    pub fn json(&self) -> serde_json::Value {
        let level = |(mesh, off): &(MeshHandle, [f32; 2])| {
            let [usual, most] = off.map(|m| 1000.0 * m);
            serde_json::json!({"triangles": mesh.triangles().len(), "off_95_mm": usual, "off_most_mm": most})
        };
        self.meshes.iter().map(level).collect()
    }
}

/// Which clip, and which frame of it, to look at.
fn moments(clips: &[Clip]) -> impl Iterator<Item = (&Clip, usize)> {
    (0..POSES).map(|k| {
        let clip = &clips[k % clips.len()];
        (clip, (k + 1) * clip.bones.len() / (POSES + 1))
    })
}

/// A body in those moments.
pub fn body_poses(body: &Body, clips: &[Clip]) -> Vec<Vec<Vec3>> {
    let pose = |(clip, frame): (&Clip, usize)| {
        let bones = &clip.bones[frame];
        let place = |(v, p): (usize, &Vec3)| body.skin.blend(v, bones).transform_point3(*p);
        body.mesh.positions.iter().enumerate().map(place).collect()
    };
    moments(clips).map(pose).collect()
}

/// A garment in those moments, as the processor moves it.
pub fn garment_poses(model: &Arc<Model>, clips: &[Clip], rate: f64) -> Result<Vec<Vec<Vec3>>> {
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(model.clone(), POSES)?;
    let instances = (0..POSES).map(|_| crowd.add(id)).collect::<Result<Vec<_>, _>>()?;
    for before in (0..=BEFORE).rev() {
        for (&instance, (clip, frame)) in instances.iter().zip(moments(clips)) {
            let f = frame.saturating_sub(before);
            crowd.set_pose_with_root(instance, &Actor::IDENTITY, &clip.bones[f], &clip.roots[f])?;
        }
        crowd.step(1.0 / rate)?;
    }
    crowd.draw();
    Ok(instances.into_iter().map(|i| crowd.vertices(i).map(<[Vec3]>::to_vec)).collect::<Result<_, _>>()?)
}
