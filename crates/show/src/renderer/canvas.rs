//! Pictures that stay on the device: what a window or a web page shows.

use super::targets::Targets;
use super::{Renderer, check};
use crate::{Camera, Image, Result, Scene};

/// A picture of one size on the device.
pub struct Canvas {
    targets: Targets,
}

impl Canvas {
    /// In pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.targets.width, self.targets.height)
    }

    /// The finished picture, encoded as sRGB: to be sampled.
    pub fn view(&self) -> &wgpu::TextureView {
        &self.targets.resolved_view
    }
}

impl Renderer {
    /// A canvas; an error where the device cannot have one so large.
    pub fn canvas(&self, width: u32, height: u32) -> Result<Canvas> {
        Ok(Canvas { targets: Targets::new(&self.device, width, height)? })
    }

    /// Draws without waiting for the device. Labels are left to whoever shows the canvas; faults of the device go to the
    /// handler that [`wgpu::Device::on_uncaptured_error`] was given.
    pub fn draw_on(&mut self, canvas: &Canvas, scene: &Scene<'_>, camera: &Camera) -> Result<()> {
        check(scene, camera)?;
        self.submit(scene, camera, &canvas.targets, false);
        Ok(())
    }

    /// The picture, read back.
    pub fn read(&self, canvas: &Canvas) -> Result<Image> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        canvas.targets.copy_out(&mut encoder);
        self.queue.submit([encoder.finish()]);
        canvas.targets.read(&self.device)
    }

    /// What draws, for whoever draws beside it.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Where its work is queued.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The adapter, for what its surfaces can do.
    pub fn wgpu_adapter(&self) -> &wgpu::Adapter {
        &self.adapter
    }
}
