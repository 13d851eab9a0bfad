//! Textures on the device, with the smaller ones that far surfaces are drawn from.

use crate::Texture;
use crate::texture::Picture;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Stands for no picture: one white pixel.
pub(super) const NONE: u64 = u64::MAX;

pub(super) struct Pictures {
    kept: HashMap<u64, (Weak<Picture>, wgpu::TextureView)>,
    white: wgpu::TextureView,
    pub sampler: wgpu::Sampler,
}

impl Pictures {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("picture"),
            // glTF repeats pictures unless told otherwise.
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        Self { kept: HashMap::new(), white: upload(device, queue, &[(1, 1, vec![255; 4])]), sampler }
    }

    /// Uploads what is new and drops what nobody has any more; whether that changed anything.
    pub fn bring<'a>(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        textures: impl Iterator<Item = &'a Texture>,
    ) -> bool {
        let before = self.kept.len();
        self.kept.retain(|_, (of, _)| of.strong_count() > 0);
        let mut changed = self.kept.len() != before;
        for texture in textures {
            let picture = &texture.picture;
            self.kept.entry(picture.id).or_insert_with(|| {
                changed = true;
                let most = device.limits().max_texture_dimension_2d;
                (Arc::downgrade(picture), upload(device, queue, &picture.levels(most)))
            });
        }
        changed
    }

    pub fn view(&self, id: u64) -> &wgpu::TextureView {
        self.kept.get(&id).map_or(&self.white, |(_, view)| view)
    }
}

/// A texture of these levels, each half the size of the one before.
fn upload(device: &wgpu::Device, queue: &wgpu::Queue, levels: &[(u32, u32, Vec<u8>)]) -> wgpu::TextureView {
    let (width, height) = levels.first().map_or((1, 1), |(w, h, _)| (*w, *h));
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: levels.len().max(1) as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, (width, height, rgba)) in levels.iter().enumerate() {
        queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level: level as u32,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            },
            rgba,
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None },
            wgpu::Extent3d { width: *width, height: *height, depth_or_array_layers: 1 },
        );
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
