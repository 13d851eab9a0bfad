//! The renderer: a small portrait studio on wgpu.
//!
//! **What it is for.** To judge cloth one must see folds, and folds show by light: a soft key light with
//! shadows, ambient light that is kept off where something hangs above, and a rim that lifts the outline off
//! the wall. All of it must run on a software driver in about a tenth of a second a frame, because that is
//! what a build machine has; so there are three passes over the meshes and nothing over the whole screen twice.
//!
//! **Passes.**
//! 1. *Key map*, 1024² (4096² for crowds): depth from the key light, orthographic around what is drawn.
//! 2. *Sky map*, 256² (2048²): depth from straight above. Looked into with a wide filter it tells how much of the sky a
//!    point sees, which stands in for ambient occlusion (under the chin, inside a skirt, around the feet).
//! 3. *Main*, multisampled 4×, reversed depth: opaque items, the last of the scene first, because clothes come after
//!    their body and what they hide then needs no shading; ground and wall where nothing else is; ghosts.
//!    Light is linear until the last line of each shader.
//!
//! **Depth consistency** (de Aguiar et al. 2010, §6.2) needs no pass of its own. An item with
//! `depth_slack_m` is drawn in two halves, its back faces as they are and its front faces with their depth
//! moved towards the eye by the slack, so the ordinary depth test discards a cloth fragment iff
//! `d_cloth − slack > d_body`, whichever was drawn first. The paper prints `d_cloth + ε > d_body`, which would discard
//! cloth that is rightly in front by less than ε; the text around it says what is done here. Body triangles that are
//! always covered are left out by [`MeshHandle::without`]. Hands and whatever else may be in front of the cloth lead by the
//! slack as well ([`Item::leading`](crate::Item::leading)), and are so compared with it as they are: the slack can then be
//! as deep as a bad penetration without cloth ever swallowing a finger. What is covered casts no shadow on what covers it.
//!
//! **Crowds** are [`Flock`](crate::Flock)s: one indexed, instanced draw in which the vertex shader fetches each member's
//! vertices from a storage buffer. A scene wider than 16 m gets larger maps and a ground whose pixels look up shadows
//! themselves.
//!
//! **What stays on the device.** Triangles are uploaded when a [`MeshHandle`] is first seen and dropped with its
//! last clone, pictures likewise with a [`Texture`](crate::Texture); vertices are written every frame into buffers that are
//! reused. Nothing in the passes knows where the picture goes: a window or a web page draws on a [`Canvas`], which stays
//! on the device; a GPU crowd brings its own buffers ([`DeviceFlock`]) in place of those that `Meshes::upload_flock` fills.
//!
//! [`MeshHandle`]: crate::MeshHandle
//! [`MeshHandle::without`]: crate::MeshHandle::without

mod canvas;
mod ground;
mod lights;
mod on_device;
mod pictures;
mod pipelines;
mod shape;
mod targets;
mod timing;
mod uniforms;
mod upload;

pub use canvas::Canvas;
pub use on_device::{DeviceFlock, FlockSource};

use crate::{Camera, Error, Image, Material, Result, Scene};
use glam::Vec3;
use lights::{MapView, Rig};
use pipelines::{Draw, Layer, Pipelines};
use targets::Targets;
use timing::{Timed, Timing};
use uniforms::{
    FrameUniform, ItemSlots, ItemUniform, flock_uniform, frame_uniform, group, item_uniform, uniform,
};
use upload::{Meshes, Uploaded, Vertices};

/// Sides of the key map and the sky map around one person: a hem's shadow is a line at 2–3 mm a texel, and the sky is
/// only ever looked at through a filter of several centimetres.
const MAPS: [u32; 2] = [1024, 256];
/// Around a crowd: 2 cm a texel over 80 m.
const WIDE_MAPS: [u32; 2] = [4096, 2048];
/// What is wider than this is a crowd.
const WIDE_M: f32 = 8.0;
/// Cells a side of the ground: 2–3 cm each around one person, finer than the softness of her shadow.
const GROUND_CELLS: u32 = 128;

/// Draws scenes into pictures.
pub struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    adapter: wgpu::Adapter,
    pipelines: Pipelines,
    meshes: Meshes,
    targets: Option<Targets>,
    maps: Maps,
    compare: wgpu::Sampler,
    nearest: wgpu::Sampler,
    frame_buffer: wgpu::Buffer,
    key_buffer: wgpu::Buffer,
    sky_buffer: wgpu::Buffer,
    key_group: wgpu::BindGroup,
    sky_group: wgpu::BindGroup,
    ground_indices: wgpu::Buffer,
    wide_indices: wgpu::Buffer,
    items: ItemSlots,
    timing: Option<Timing>,
}

/// The two shadow maps and the group that brings them to the shaders.
struct Maps {
    sides: [u32; 2],
    key: wgpu::TextureView,
    sky: wgpu::TextureView,
    frame_group: wgpu::BindGroup,
}

/// What is drawn in a picture: meshes on the device, who casts shadows into the maps of key light and sky, and the draws of the
/// main pass.
struct Draws {
    uploads: Vec<Uploaded>,
    casting: [Vec<(usize, usize)>; 2],
    opaque: Vec<Planned>,
    ghosts: Vec<Planned>,
}

/// One draw of the main pass.
struct Planned {
    draw: Draw,
    slot: usize,
    mesh: usize,
    picture: u64,
}

impl Maps {
    fn new(
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        sides: [u32; 2],
        frame: &wgpu::Buffer,
        [compare, nearest]: [&wgpu::Sampler; 2],
    ) -> Self {
        let most = device.limits().max_texture_dimension_2d;
        let [key, sky] = [("key map", sides[0]), ("sky map", sides[1])]
            .map(|(label, side)| shadow_map(device, label, side.min(most)));
        let frame_group = group(
            device,
            layout,
            &[
                frame.as_entire_binding(),
                wgpu::BindingResource::TextureView(&key),
                wgpu::BindingResource::TextureView(&sky),
                wgpu::BindingResource::Sampler(compare),
                wgpu::BindingResource::Sampler(nearest),
            ],
        );
        Self { sides, key, sky, frame_group }
    }
}

impl Renderer {
    /// Finds an adapter, a graphics card if there is one and a software driver if not.
    pub fn new() -> Result<Self> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        pollster::block_on(Self::open(&wgpu::Instance::new(descriptor), None))
    }

    /// The same on an instance that has a window or a page, for a surface of it.
    pub async fn open(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self> {
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                compatible_surface: surface,
                ..Default::default()
            })
            .await
            .map_err(|e| Error::NoAdapter(e.to_string()))?;
        let offered = adapter.limits();
        let required_limits = wgpu::Limits {
            max_texture_dimension_2d: offered.max_texture_dimension_2d,
            max_buffer_size: offered.max_buffer_size,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
        };
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("toile"),
                required_limits,
                ..Default::default()
            })
            .await
            .map_err(|e| Error::Device(e.to_string()))?;
        Self::on(device, queue, adapter).await
    }

    fn build(device: wgpu::Device, queue: wgpu::Queue, adapter: wgpu::Adapter) -> Self {
        let pipelines = Pipelines::new(&device);
        let frame_buffer = uniform(&device, "frame", size_of::<FrameUniform>() as u64);
        let key_buffer = uniform(&device, "key", 64);
        let sky_buffer = uniform(&device, "sky", 64);
        let compare = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("compare"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let nearest = device.create_sampler(&wgpu::SamplerDescriptor::default());
        let maps = Maps::new(&device, &pipelines.frame_layout, MAPS, &frame_buffer, [&compare, &nearest]);
        let key_group = group(&device, &pipelines.light_layout, &[key_buffer.as_entire_binding()]);
        let sky_group = group(&device, &pipelines.light_layout, &[sky_buffer.as_entire_binding()]);
        let wide_indices = ground_indices(&device, &queue, 1);
        let ground_indices = ground_indices(&device, &queue, GROUND_CELLS);
        let items = ItemSlots::new(&device, &queue, &pipelines.item_layout);
        Self {
            device,
            queue,
            adapter,
            pipelines,
            meshes: Meshes::default(),
            targets: None,
            maps,
            compare,
            nearest,
            frame_buffer,
            key_buffer,
            sky_buffer,
            key_group,
            sky_group,
            ground_indices,
            wide_indices,
            items,
            timing: None,
        }
    }

    /// What draws: for reports that state times.
    pub fn adapter(&self) -> String {
        let info = self.adapter.get_info();
        format!("{} ({:?}, {})", info.name, info.backend, info.driver_info)
    }

    /// Draws one picture.
    pub fn draw(&mut self, scene: &Scene<'_>, camera: &Camera, width: u32, height: u32) -> Result<Image> {
        check(scene, camera)?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validity = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let kept = self.targets.take().filter(|t| (t.width, t.height) == (width, height));
        let targets = kept.map_or_else(|| Targets::new(&self.device, width, height), Ok);
        if let Ok(targets) = &targets {
            self.submit(scene, camera, targets, true);
        }
        let (invalid, no_room) = (pollster::block_on(validity.pop()), pollster::block_on(memory.pop()));
        let targets = targets?;
        // What could not be had is not valid either: the want of room is the cause.
        if let Some(fault) = no_room.or(invalid) {
            return Err(Error::Device(fault.to_string()));
        }
        let mut image = targets.read(&self.device)?;
        self.targets = Some(targets);
        for label in &scene.labels {
            label.write(&mut image, Some(camera));
        }
        Ok(image)
    }

    fn submit(&mut self, scene: &Scene<'_>, camera: &Camera, targets: &Targets, copy_out: bool) {
        let size = (targets.width, targets.height);
        let maps = self.light(scene, camera, size);
        let Draws { uploads, casting, opaque, ghosts } = self.plan(scene, camera, size, &maps);

        let mut encoder = self.device.create_command_encoder(&Default::default());
        let slots = self.items.group(&self.device, pictures::NONE).clone();
        if let Some(timing) = &self.timing {
            timing.begin();
        }
        if !scene.on_device.is_empty() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("levels"),
                timestamp_writes: self.timing.as_ref().map(|t| t.compute(Timed::Levels)),
            });
            pass.set_pipeline(&self.pipelines.levels);
            scene.on_device.iter().for_each(|flock| flock.sort(&mut pass));
        }
        self.map_pass(&mut encoder, Timed::Key, [&self.key_group, &slots], &casting[0], &uploads);
        self.map_pass(&mut encoder, Timed::Sky, [&self.sky_group, &slots], &casting[1], &uploads);
        if scene.ground.is_some() && self.maps.sides == WIDE_MAPS {
            let stamps = self.timing.as_ref().map(|t| t.compute(Timed::Ground));
            let light = &mut self.pipelines.ground_light;
            light.find(&self.device, &mut encoder, &self.maps.frame_group, size, stamps);
        }
        let planned: Vec<Planned> = opaque.into_iter().rev().chain(ghosts).collect();
        self.main_pass(&mut encoder, scene, &planned, &uploads, targets);
        if copy_out {
            targets.copy_out(&mut encoder);
        }
        self.queue.submit([encoder.finish()]);
    }

    /// Sets up light and camera; the views of the maps of the key light and of the sky.
    fn light(&mut self, scene: &Scene<'_>, camera: &Camera, (width, height): (u32, u32)) -> [MapView; 2] {
        let (lo, hi) = scene.bounds();
        let centre = 0.5 * (lo + hi);
        let radius_m = (0.5 * (hi - lo).length()).max(0.05);
        let sides = if radius_m > WIDE_M { WIDE_MAPS } else { MAPS };
        if sides != self.maps.sides {
            let samplers = [&self.compare, &self.nearest];
            self.maps =
                Maps::new(&self.device, &self.pipelines.frame_layout, sides, &self.frame_buffer, samplers);
        }
        let rig = Rig::at(scene.light_azimuth_degrees.unwrap_or_else(|| camera.azimuth_degrees()));
        let key = lights::map_view(rig.key, centre, radius_m, sides[0]);
        // From above only the plan of things counts, and the filter's reach around it.
        let plan_m = 0.5 * Vec3::new(hi.x - lo.x, 0.0, hi.z - lo.z).length() + 0.3;
        let sky = lights::map_view(Vec3::Y, centre, plan_m.max(0.5 * (hi.y - lo.y)), sides[1]);
        let frame = frame_uniform(scene, camera, (width, height), &rig, (&key, &sky), (lo, hi));
        self.queue.write_buffer(&self.frame_buffer, 0, bytemuck::bytes_of(&frame));
        self.queue.write_buffer(&self.key_buffer, 0, bytemuck::bytes_of(&key.clip_from_world));
        self.queue.write_buffer(&self.sky_buffer, 0, bytemuck::bytes_of(&sky.clip_from_world));
        [key, sky]
    }

    /// Brings to the device what is drawn, and says in which order.
    fn plan(&mut self, scene: &Scene<'_>, camera: &Camera, size: (u32, u32), maps: &[MapView; 2]) -> Draws {
        self.meshes.begin_frame();
        let mut uploads: Vec<Uploaded> = Vec::new();
        let mut casting: Vec<(usize, usize)> = Vec::new();
        let mut uniforms: Vec<ItemUniform> = Vec::new();
        let (mut opaque, mut ghosts): (Vec<Planned>, Vec<Planned>) = (Vec::new(), Vec::new());
        for item in &scene.items {
            let Some(uploaded) = self.meshes.upload(&self.device, &self.queue, item) else { continue };
            let mesh = uploads.len();
            uploads.push(uploaded);
            let slot = uniforms.len();
            uniforms.push(item_uniform(item, 0.0));
            let picture = item.texture.as_ref().map_or(pictures::NONE, |t| t.id());
            let plan = Plan { material: &item.material, slot, mesh, flock: false, picture };
            if plan.add(&mut opaque, &mut ghosts, &mut casting) {
                uniforms.push(item_uniform(item, item.material.depth_slack_m));
            }
        }
        for flock in &scene.flocks {
            let layout = &self.pipelines.flock_layout;
            let parts = self.meshes.upload_flock(&self.device, &self.queue, layout, flock);
            for uploaded in parts {
                let plan = Plan {
                    material: &flock.material,
                    slot: uniforms.len(),
                    mesh: uploads.len(),
                    flock: true,
                    picture: pictures::NONE,
                };
                uploads.push(uploaded);
                uniforms.push(flock_uniform(flock, 0.0));
                if plan.add(&mut opaque, &mut ghosts, &mut casting) {
                    uniforms.push(flock_uniform(flock, flock.material.depth_slack_m));
                }
            }
        }
        let mut sky_casting = casting.clone();
        for flock in &scene.on_device {
            flock.look(&self.queue, camera, size, scene.off_px);
            // What is drawn last is drawn first: the nearest.
            let slot = uniforms.len();
            let mut slacks = false;
            for uploaded in flock.seen.iter().rev() {
                let mesh = uploads.len();
                uploads.push(uploaded.clone());
                let material = &flock.material;
                let plan = Plan { material, slot, mesh, flock: true, picture: pictures::NONE };
                slacks = plan.add(&mut opaque, &mut ghosts, &mut Vec::new());
            }
            uniforms.push(flock.uniform(0.0));
            if slacks {
                uniforms.push(flock.uniform(flock.material.depth_slack_m));
            }
            for (map, list) in maps.iter().zip([&mut casting, &mut sky_casting]) {
                if let Some(uploaded) = flock.casting(map).filter(|_| flock.material.opacity >= 1.0) {
                    list.push((slot, uploads.len()));
                    uploads.push(uploaded.clone());
                }
            }
        }
        self.items.bring(&self.device, &self.queue, &scene.items);
        self.items.write(&self.device, &self.queue, &uniforms);
        Draws { uploads, casting: [casting, sky_casting], opaque, ghosts }
    }

    fn map_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        map: Timed,
        [light, slots]: [&wgpu::BindGroup; 2],
        casting: &[(usize, usize)],
        uploads: &[Uploaded],
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("map"),
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: if matches!(map, Timed::Key) { &self.maps.key } else { &self.maps.sky },
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: self.timing.as_ref().map(|t| t.render(map)),
            ..Default::default()
        });
        pass.set_bind_group(0, light, &[]);
        for &(slot, mesh) in casting {
            let mesh = &uploads[mesh];
            pass.set_bind_group(1, slots, &[self.items.offset(slot)]);
            pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            match &mesh.vertices {
                Vertices::One(vertices) => {
                    pass.set_pipeline(&self.pipelines.shadow);
                    pass.set_vertex_buffer(0, vertices.slice(..));
                    pass.draw_indexed(0..mesh.index_count, 0, 0..1);
                }
                Vertices::Many(group, members) => {
                    pass.set_pipeline(&self.pipelines.shadow_flock);
                    pass.set_bind_group(2, group, &[]);
                    mesh.draw(&mut pass, members);
                }
            }
        }
    }

    fn main_pass(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        planned: &[Planned],
        uploads: &[Uploaded],
        targets: &Targets,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("main"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.colour,
                depth_slice: None,
                resolve_target: Some(&targets.resolved_view),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: self.timing.as_ref().map(|t| t.render(Timed::Main)),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.maps.frame_group, &[]);
        let ghosts_from = planned.iter().position(|p| p.draw.layer != Layer::Opaque).unwrap_or(planned.len());
        for planned in &planned[..ghosts_from] {
            self.pipelines.draw(&self.device, &mut pass, &mut self.items, planned, &uploads[planned.mesh]);
        }
        let light = self.pipelines.ground_light.group().filter(|_| self.maps.sides == WIDE_MAPS);
        if let Some(light) = light.filter(|_| scene.ground.is_some()) {
            pass.set_pipeline(&self.pipelines.ground_wide);
            pass.set_bind_group(1, light, &[]);
            pass.set_index_buffer(self.wide_indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..6, 0, 0..1);
        } else if scene.ground.is_some() {
            pass.set_pipeline(&self.pipelines.ground);
            pass.set_index_buffer(self.ground_indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..6 * GROUND_CELLS * GROUND_CELLS, 0, 0..1);
        }
        pass.set_pipeline(&self.pipelines.backdrop);
        pass.draw(0..3, 0..1);
        for planned in &planned[ghosts_from..] {
            self.pipelines.draw(&self.device, &mut pass, &mut self.items, planned, &uploads[planned.mesh]);
        }
    }
}

impl Pipelines {
    fn draw(
        &mut self,
        device: &wgpu::Device,
        pass: &mut wgpu::RenderPass<'_>,
        items: &mut ItemSlots,
        planned: &Planned,
        mesh: &Uploaded,
    ) {
        pass.set_pipeline(&self.surface(device, planned.draw));
        let offset = items.offset(planned.slot);
        pass.set_bind_group(1, items.group(device, planned.picture), &[offset]);
        let vertices = match &mesh.vertices {
            Vertices::One(vertices) => vertices,
            Vertices::Many(group, members) => {
                pass.set_bind_group(2, group, &[]);
                pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
                mesh.draw(pass, members);
                return;
            }
        };
        if planned.draw.wire {
            let corners = group(
                device,
                &self.corners_layout,
                &[mesh.indices.as_entire_binding(), vertices.as_entire_binding()],
            );
            pass.set_bind_group(2, &corners, &[]);
            pass.draw(0..mesh.index_count, 0..1);
        } else {
            pass.set_vertex_buffer(0, vertices.slice(..));
            pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..mesh.index_count, 0, 0..1);
        }
    }
}

/// How an item or a flock is to be drawn; its first block is at `slot`.
struct Plan<'a> {
    material: &'a Material,
    slot: usize,
    mesh: usize,
    flock: bool,
    picture: u64,
}

impl Plan<'_> {
    /// Puts its draws into the lists; whether it needs a second block, the one with slack.
    fn add(
        &self,
        opaque: &mut Vec<Planned>,
        ghosts: &mut Vec<Planned>,
        casting: &mut Vec<(usize, usize)>,
    ) -> bool {
        let m = self.material;
        let plan = |cull, layer, slot| {
            let cutout = m.cutout > 0.0 && self.picture != pictures::NONE;
            let draw = Draw { cull, wire: m.wireframe, flock: self.flock, cutout, layer };
            Planned { draw, slot, mesh: self.mesh, picture: self.picture }
        };
        let cull = (!m.two_sided).then_some(wgpu::Face::Back);
        if m.opacity < 1.0 {
            ghosts.push(plan(cull, Layer::GhostDepth, self.slot));
            ghosts.push(plan(cull, Layer::GhostColour, self.slot));
            return false;
        }
        casting.push((self.slot, self.mesh));
        if m.depth_slack_m <= 0.0 {
            opaque.push(plan(cull, Layer::Opaque, self.slot));
            return false;
        }
        if self.flock {
            // Seen from afar the inside may go along: drawing a thousand garments once is what counts.
            opaque.push(plan(cull, Layer::Opaque, self.slot + 1));
            return true;
        }
        if m.two_sided {
            opaque.push(plan(Some(wgpu::Face::Front), Layer::Opaque, self.slot));
        }
        opaque.push(plan(Some(wgpu::Face::Back), Layer::Opaque, self.slot + 1));
        true
    }
}

/// Refuses what cannot be drawn.
fn check(scene: &Scene<'_>, camera: &Camera) -> Result<()> {
    for (number, item) in scene.items.iter().enumerate() {
        item.check(number)?;
    }
    for (number, flock) in scene.flocks.iter().enumerate() {
        flock.check(number)?;
    }
    camera.check()
}

fn ground_indices(device: &wgpu::Device, queue: &wgpu::Queue, cells: u32) -> wgpu::Buffer {
    let side = cells + 1;
    let mut indices = Vec::with_capacity(6 * (cells * cells) as usize);
    for row in 0..cells {
        for column in 0..cells {
            let a = row * side + column;
            // Counter-clockwise from above; rows run along +Z, columns along +X.
            indices.extend([a, a + side, a + 1, a + 1, a + side, a + side + 1]);
        }
    }
    let bytes: &[u8] = bytemuck::cast_slice(&indices);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("ground"),
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}

fn shadow_map(device: &wgpu::Device, label: &str, size: u32) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: targets::DEPTH,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga;

    #[test]
    fn shaders_are_valid_wgsl() {
        use pipelines::{FRAME, LEVELS, SHADOW, STUDIO, SURFACE};
        for (name, source) in [
            ("shadow.wgsl", SHADOW.to_string()),
            ("levels.wgsl", LEVELS.to_string()),
            ("surface.wgsl", format!("{FRAME}{SURFACE}")),
            ("studio.wgsl", format!("{FRAME}{STUDIO}")),
            ("ground.wgsl", format!("{FRAME}{}", ground::GROUND)),
        ] {
            let module = naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&source)));
            let flags = naga::valid::ValidationFlags::all();
            naga::valid::Validator::new(flags, naga::valid::Capabilities::empty())
                .validate(&module)
                .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&source)));
        }
    }

    #[test]
    fn without_an_adapter_the_error_says_what_to_install() {
        let mut nothing = wgpu::InstanceDescriptor::new_without_display_handle();
        nothing.backends = wgpu::Backends::empty();
        let error = pollster::block_on(Renderer::open(&wgpu::Instance::new(nothing), None)).err().unwrap();
        assert!(matches!(error, Error::NoAdapter(_)));
        assert!(error.to_string().contains("apt-get install -y mesa-vulkan-drivers"));
    }
}
