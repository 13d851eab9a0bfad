//! The textures a picture is drawn into, and the way back to the processor.

use crate::{Error, Image, Result};

/// Light is linear in the shaders, which encode it as sRGB at their very end; samples are then averaged as the eye
/// sees them. Averaged in linear light, a dark edge before a light wall keeps its steps, and a software
/// driver takes a sixth longer.
pub(super) const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// WebGPU promises four and nothing else.
pub(super) const SAMPLES: u32 = 4;
/// A picture costs about 44 bytes a pixel while it is made; this bounds it at 1.5 GB.
const MOST_PIXELS: u64 = 7680 * 4320;

/// Everything that depends on the size of the picture; kept as long as the size stays.
pub(super) struct Targets {
    pub width: u32,
    pub height: u32,
    /// Multisampled.
    pub colour: wgpu::TextureView,
    /// Multisampled.
    pub depth: wgpu::TextureView,
    /// What the samples are resolved into, and what is read back.
    pub resolved: wgpu::Texture,
    pub resolved_view: wgpu::TextureView,
    readback: wgpu::Buffer,
    bytes_per_row: u32,
}

impl Targets {
    pub fn new(device: &wgpu::Device, width: u32, height: u32) -> Result<Self> {
        check_size(&device.limits(), width, height)?;
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let texture = |label, format, sample_count, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size,
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let attach = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let view = |t: &wgpu::Texture| t.create_view(&wgpu::TextureViewDescriptor::default());
        let colour = view(&texture("samples", COLOUR, SAMPLES, attach));
        let depth = view(&texture("depth", DEPTH, SAMPLES, attach));
        let shown = wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING;
        let resolved = texture("picture", COLOUR, 1, attach | shown);
        let resolved_view = view(&resolved);
        let bytes_per_row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readback = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes_per_row as u64 * height as u64,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Ok(Self { width, height, colour, depth, resolved, resolved_view, readback, bytes_per_row })
    }

    pub fn copy_out(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_texture_to_buffer(
            self.resolved.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.bytes_per_row),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d { width: self.width, height: self.height, depth_or_array_layers: 1 },
        );
    }

    /// Waits for the device and takes the picture.
    pub fn read(&self, device: &wgpu::Device) -> Result<Image> {
        let (send, receive) = std::sync::mpsc::channel();
        self.readback.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = send.send(mapped);
        });
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| Error::Device(e.to_string()))?;
        match receive.recv() {
            Ok(Ok(())) => {}
            Ok(Err(e)) => return Err(Error::Device(e.to_string())),
            Err(_) => return Err(Error::Device("the picture never came back".into())),
        }
        let mut pixels = Vec::with_capacity(4 * self.width as usize * self.height as usize);
        {
            let view = self.readback.get_mapped_range(..).map_err(|e| Error::Device(e.to_string()))?;
            for row in view.chunks_exact(self.bytes_per_row as usize) {
                pixels.extend_from_slice(&row[..4 * self.width as usize]);
            }
        }
        self.readback.unmap();
        Image::from_rgba(self.width, self.height, pixels)
    }
}

fn check_size(limits: &wgpu::Limits, width: u32, height: u32) -> Result<()> {
    let fail = |limit: String| Err(Error::Size { width, height, limit });
    let most = limits.max_texture_dimension_2d;
    if width == 0 || height == 0 {
        return fail("both sides must be at least 1".into());
    }
    if width > most || height > most {
        return fail(format!("this device allows {most} a side"));
    }
    if width as u64 * height as u64 > MOST_PIXELS {
        return fail(format!("{MOST_PIXELS} pixels (7680×4320) are the most"));
    }
    let bytes = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT) as u64 * height as u64;
    if bytes > limits.max_buffer_size {
        return fail(format!("this device allows {} bytes to be read back", limits.max_buffer_size));
    }
    Ok(())
}
