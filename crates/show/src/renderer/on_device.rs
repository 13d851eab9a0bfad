//! Flocks whose vertices another program of the same device makes: nothing of them passes through the processor, not even
//! who is in view and how finely they are drawn.

use super::uniforms::{ItemUniform, block, group, uniform};
use super::upload::{Members, Uploaded, Vertices, buffer};
use super::{Renderer, lights::MapView};
use crate::{Camera, Error, Material, MeshHandle, Result};
use glam::{Mat4, Vec3, Vec4};

/// Most levels of detail of a flock.
const MOST_LEVELS: usize = 8;
/// Where in a buffer a binding may begin, on every device.
const ALIGNED: u32 = 256;

/// What a flock is drawn from: buffers of the renderer's own device.
pub struct FlockSource<'a> {
    /// Positions, three numbers each; whoever writes them does so before a scene with the flock is drawn.
    pub positions: &'a wgpu::Buffer,
    /// Unit normals, laid out likewise.
    pub normals: &'a wgpu::Buffer,
    /// Vertices from one member to the next.
    pub stride: u32,
    /// Triangles of each level of detail, and how far its surface is off, m: the finest first, which is off by nothing.
    pub levels: &'a [(MeshHandle, f32)],
    /// A colour for every member.
    pub colours: &'a [Vec3],
    /// How far each vertex leads in the depth test, m, as [`uncovered_m`](crate::uncovered_m) finds it; `None` for none.
    pub leads_m: Option<&'a [f32]>,
    /// The vertex that stands for a member where it is asked who is in view, and how far others are from it at most, m.
    pub anchor: (u32, f32),
    /// Least and greatest corner of all that is ever drawn.
    pub bounds: (Vec3, Vec3),
}

/// Many meshes of the same triangles in buffers of the renderer's own device, as [`Renderer::flock`] binds them.
#[derive(Debug)]
pub struct DeviceFlock {
    /// Level by level, for those in view.
    pub(super) seen: Vec<Uploaded>,
    /// The same for everyone: what casts shadows may be out of view.
    everyone: Vec<Uploaded>,
    off_m: Vec<f32>,
    pub(super) material: Material,
    /// The slack of the clothes that it wears, m.
    worn_slack_m: f32,
    stride: u32,
    anchor: (u32, f32),
    count: u32,
    room: u32,
    sort: wgpu::Buffer,
    sort_group: wgpu::BindGroup,
    /// Least and greatest corner of all that is drawn.
    pub(crate) bounds: (Vec3, Vec3),
}

/// `Sort` of `levels.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SortUniform {
    clip_from_world: Mat4,
    per_metre: f32,
    reach_m: f32,
    anchor: u32,
    stride: u32,
    count: u32,
    levels: u32,
    room: u32,
    unused: u32,
    off_m: [Vec4; 2],
}

impl DeviceFlock {
    pub(super) fn uniform(&self, slack_m: f32) -> ItemUniform {
        let mut block = block(&self.material, slack_m, Some(&[self.worn_slack_m]), true);
        block.cloth.w = self.stride as f32;
        block
    }

    /// What is drawn into a shadow map: the coarsest level that is off by no more than one of its texels.
    pub(super) fn casting(&self, map: &MapView) -> Option<&Uploaded> {
        let fits = self.off_m.iter().rposition(|off| *off <= map.texel_m);
        self.everyone.get(fits.unwrap_or(0))
    }

    /// Tells the device from where it is looked at; `off_px` is how far a level may be off in the picture.
    pub(super) fn look(
        &self,
        queue: &wgpu::Queue,
        camera: &Camera,
        (width, height): (u32, u32),
        off_px: f32,
    ) {
        let mut off_m = [Vec4::ZERO; 2];
        for (k, off) in self.off_m.iter().enumerate() {
            off_m[k / 4][k % 4] = *off;
        }
        let tangent = (0.5 * camera.fov_y_degrees.to_radians()).tan();
        let sort = SortUniform {
            clip_from_world: camera.clip_from_world(width as f32 / height as f32),
            per_metre: off_px * 2.0 * tangent / height as f32,
            reach_m: self.anchor.1,
            anchor: self.anchor.0,
            stride: self.stride,
            count: self.count,
            levels: self.off_m.len() as u32,
            room: self.room,
            unused: 0,
            off_m,
        };
        queue.write_buffer(&self.sort, 0, bytemuck::bytes_of(&sort));
    }

    /// Lists who is drawn at which level.
    pub(super) fn sort(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.sort_group, &[]);
        pass.dispatch_workgroups(self.off_m.len() as u32, 1, 1);
    }
}

impl Renderer {
    /// A renderer on a device that others use as well.
    pub async fn on(device: wgpu::Device, queue: wgpu::Queue, adapter: wgpu::Adapter) -> Result<Self> {
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let renderer = Self::build(device, queue, adapter);
        match scope.pop().await {
            Some(e) => Err(Error::Device(e.to_string())),
            None => Ok(renderer),
        }
    }

    /// Binds a flock to its buffers.
    pub fn flock(&self, material: Material, source: &FlockSource<'_>) -> Result<DeviceFlock> {
        check(source)?;
        let FlockSource { positions, normals, stride, levels, colours, leads_m, anchor, bounds } = *source;
        let count = colours.len() as u32;
        let room = count.next_multiple_of(ALIGNED / 4);
        let stored = |label, bytes: &[u8], usage| {
            let made = buffer(&self.device, label, bytes.len(), usage);
            self.queue.write_buffer(&made, 0, bytes);
            made
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let padded: Vec<Vec4> = colours.iter().map(|c| c.extend(1.0)).collect();
        let colour = stored("colours", bytemuck::cast_slice(&padded), storage);
        let mut leads = leads_m.unwrap_or_default().to_vec();
        let worn_slack_m = leads.iter().copied().fold(0.0, f32::max);
        leads.resize(stride as usize, 0.0);
        let leads = stored("leads", bytemuck::cast_slice(&leads), storage);
        let all: Vec<u32> = (0..count).collect();
        let all = stored("everyone", bytemuck::cast_slice(&all), storage);
        let lists = buffer(&self.device, "who is seen", 4 * room as usize * levels.len(), storage);
        let draw = |mesh: &MeshHandle| [3 * mesh.triangles().len() as u32, 0, 0, 0, 0];
        let draws: Vec<[u32; 5]> = levels.iter().map(|(mesh, _)| draw(mesh)).collect();
        let usage = storage | wgpu::BufferUsages::INDIRECT;
        let draws = stored("draws", bytemuck::cast_slice(&draws), usage);
        let bound = |list: wgpu::BindingResource<'_>| {
            let [p, n, c, l] = [positions, normals, &colour, &leads].map(|b| b.as_entire_binding());
            group(&self.device, &self.pipelines.flock_layout, &[p, n, c, l, list])
        };
        let everyone = bound(all.as_entire_binding());
        let (mut seen, mut casting) = (Vec::new(), Vec::new());
        for (k, (mesh, _)) in levels.iter().enumerate() {
            let triangles = bytemuck::cast_slice(mesh.triangles());
            let indices = stored("flock's triangles", triangles, wgpu::BufferUsages::INDEX);
            let index_count = 3 * mesh.triangles().len() as u32;
            let list = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &lists,
                offset: 4 * u64::from(room) * k as u64,
                size: wgpu::BufferSize::new(4 * u64::from(room)),
            });
            let counted = Members::Counted(draws.clone(), 20 * k as u64);
            let vertices = Vertices::Many(bound(list), counted);
            seen.push(Uploaded { indices: indices.clone(), index_count, vertices });
            let vertices = Vertices::Many(everyone.clone(), Members::Of(count));
            casting.push(Uploaded { indices, index_count, vertices });
        }
        let sort = uniform(&self.device, "sort", size_of::<SortUniform>() as u64);
        let sorted = [&sort, positions, &lists, &draws].map(|b| b.as_entire_binding());
        let sort_group = group(&self.device, &self.pipelines.levels.get_bind_group_layout(0), &sorted);
        Ok(DeviceFlock {
            seen,
            everyone: casting,
            off_m: levels.iter().map(|l| l.1).collect(),
            material,
            worn_slack_m,
            stride,
            anchor,
            count,
            room,
            sort,
            sort_group,
            bounds,
        })
    }
}

fn check(source: &FlockSource<'_>) -> Result<()> {
    let FlockSource { positions, normals, stride, levels, colours, anchor, .. } = *source;
    let least = positions.size().min(normals.size());
    let needed = 12 * u64::from(stride) * colours.len() as u64;
    let most = levels.iter().map(|(mesh, _)| mesh.inner.vertices).max().unwrap_or(0);
    if most > stride as usize || anchor.0 >= stride || least < needed || colours.is_empty() {
        let members = colours.len();
        let what = format!(
            "a flock of {members} with {stride} vertices each does not lie in buffers of {least} bytes"
        );
        return Err(Error::Invalid(what));
    }
    if !(1..=MOST_LEVELS).contains(&levels.len()) {
        return Err(Error::Invalid(format!("a flock has 1 to {MOST_LEVELS} levels, not {}", levels.len())));
    }
    Ok(())
}
