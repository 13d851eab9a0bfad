//! Panes and controls on one device, on one surface.

use super::{Viewer, panels};
use crate::{Canvas, Error, Image, Renderer, Result};
use egui::{FullOutput, Rect, TextureId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use web_time::Instant;

/// Faults of the device since they were last asked for; the same one comes every frame.
type Faults = Arc<Mutex<Vec<String>>>;

/// As many panes as there may be at once.
const MOST_PANES: usize = 4;

/// A surface and everything that draws on it.
pub struct Screen {
    renderer: Renderer,
    paint: egui_wgpu::Renderer,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// One for each pane that there may be: a pane that is new has its picture in its first frame.
    canvases: Vec<(Canvas, TextureId)>,
    /// Panes of the last frame.
    panes: usize,
    faults: Faults,
    lost: Arc<AtomicBool>,
}

impl Screen {
    /// Finds a device for a surface of some pixels.
    pub async fn new(
        instance: &wgpu::Instance,
        surface: wgpu::Surface<'static>,
        (width, height): (u32, u32),
    ) -> Result<Self> {
        let renderer = Renderer::open(instance, Some(&surface)).await?;
        let offers = surface.get_capabilities(renderer.wgpu_adapter());
        // Colours are encoded by the shaders: a surface that encodes them again would wash them out.
        let plain = |f: &&wgpu::TextureFormat| !f.is_srgb();
        let format = offers.formats.iter().find(plain).or(offers.formats.first()).copied();
        let format = format.ok_or_else(|| Error::Device("the window cannot be drawn on".into()))?;
        let config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            width: width.max(1),
            height: height.max(1),
            present_mode: wgpu::PresentMode::AutoVsync,
            desired_maximum_frame_latency: 2,
            alpha_mode: offers.alpha_modes.first().copied().unwrap_or(wgpu::CompositeAlphaMode::Auto),
            view_formats: vec![],
            color_space: Default::default(),
        };
        let (faults, lost) = (Faults::default(), Arc::new(AtomicBool::new(false)));
        let (heard, gone) = (faults.clone(), lost.clone());
        renderer.device().on_uncaptured_error(Arc::new(move |e: wgpu::Error| {
            if let Ok(mut faults) = heard.lock() {
                faults.push(first_line(&e.to_string()));
            }
        }));
        renderer.device().set_device_lost_callback(move |_, _| gone.store(true, Ordering::Relaxed));
        surface.configure(renderer.device(), &config);
        let mut paint =
            egui_wgpu::Renderer::new(renderer.device(), format, egui_wgpu::RendererOptions::default());
        let mut canvases = Vec::new();
        for _ in 0..MOST_PANES {
            // As large as the pane once it is drawn on.
            let canvas = renderer.canvas(1, 1)?;
            let linear = wgpu::FilterMode::Linear;
            let id = paint.register_native_texture(renderer.device(), canvas.view(), linear);
            canvases.push((canvas, id));
        }
        Ok(Self { renderer, paint, surface, config, canvases, panes: 1, faults, lost })
    }

    /// What draws.
    pub fn adapter(&self) -> String {
        self.renderer.adapter()
    }

    /// Whether the device is gone: everything on it has to be made again.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Loses the device as a driver that is reset does, for tests.
    #[cfg(debug_assertions)]
    pub(super) fn give_up(&self) {
        self.renderer.device().destroy();
        let _ = self.renderer.device().poll(wgpu::PollType::wait_indefinitely());
    }

    /// Follows the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let most = self.renderer.device().limits().max_texture_dimension_2d;
        (self.config.width, self.config.height) = (width.clamp(1, most), height.clamp(1, most));
        self.surface.configure(self.renderer.device(), &self.config);
    }

    /// One frame: lays out, draws the panes, paints both on the surface. `input` is what egui is told.
    #[allow(clippy::disallowed_methods)] // µs a stage are what is shown
    pub fn frame(
        &mut self,
        viewer: &mut Viewer,
        egui: &egui::Context,
        input: egui::RawInput,
    ) -> egui::PlatformOutput {
        let begun = Instant::now();
        let pictures: Vec<TextureId> = self.canvases.iter().map(|(_, id)| *id).collect();
        let mut panes = Vec::new();
        let output = egui.run_ui(input, |ui| panes = panels::show(ui, viewer, &pictures));
        let laid_out = Instant::now();
        let scale = output.pixels_per_point;
        for (pane, rect) in panes.iter().enumerate() {
            if let Err(why) = self.draw_pane(viewer, pane, *rect, scale) {
                viewer.messages.fault(why.to_string());
            }
        }
        // What is not seen need not be kept.
        for pane in panes.len()..MOST_PANES {
            let _ = self.fit(pane, (1, 1));
        }
        self.panes = panes.len().max(1);
        let drawn = Instant::now();
        let platform = self.present(egui, output);
        let us = |from: Instant, to: Instant| (to - from).as_secs_f32() * 1e6;
        viewer.stages = vec![
            ("controls", us(begun, laid_out)),
            ("panes", us(laid_out, drawn)),
            ("present", us(drawn, Instant::now())),
        ];
        if let Ok(mut faults) = self.faults.lock() {
            faults.drain(..).for_each(|fault| viewer.messages.fault(fault));
        }
        platform
    }

    fn draw_pane(&mut self, viewer: &mut Viewer, pane: usize, rect: Rect, scale: f32) -> Result<()> {
        let pixels = |points: f32| (points * scale).round().clamp(1.0, 8192.0) as u32;
        let size = (pixels(rect.width()), pixels(rect.height()));
        self.fit(pane, size)?;
        let Some((canvas, _)) = self.canvases.get(pane) else { return Ok(()) };
        let frame = viewer.pane(pane);
        viewer.set_red_cm(pane, frame.red_cm);
        let (scene, camera) = viewer.scene(pane, &frame, size.0 as f32 / size.1 as f32);
        self.renderer.draw_on(canvas, &scene, &camera)
    }

    /// Gives a pane's canvas so many pixels.
    fn fit(&mut self, pane: usize, size: (u32, u32)) -> Result<()> {
        if let Some((canvas, id)) = self.canvases.get_mut(pane).filter(|(c, _)| c.size() != size) {
            *canvas = self.renderer.canvas(size.0, size.1)?;
            let (device, linear) = (self.renderer.device(), wgpu::FilterMode::Linear);
            self.paint.update_egui_texture_from_wgpu_texture(device, canvas.view(), linear, *id);
        }
        Ok(())
    }

    fn present(&mut self, egui: &egui::Context, mut output: FullOutput) -> egui::PlatformOutput {
        let (device, queue) = (self.renderer.device().clone(), self.renderer.queue().clone());
        for (id, deltas) in &output.textures_delta.set {
            deltas.iter().for_each(|delta| self.paint.update_texture(&device, &queue, *id, delta));
        }
        let shapes = egui.tessellate(output.shapes, output.pixels_per_point);
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [self.config.width, self.config.height],
            pixels_per_point: output.pixels_per_point,
        };
        let mut encoder = device.create_command_encoder(&Default::default());
        let more = self.paint.update_buffers(&device, &queue, &mut encoder, &shapes, &screen);
        use wgpu::CurrentSurfaceTexture as Current;
        match self.surface.get_current_texture() {
            Current::Success(texture) | Current::Suboptimal(texture) => {
                let view = texture.texture.create_view(&Default::default());
                let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some("window"),
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view: &view,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations {
                            load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
                            store: wgpu::StoreOp::Store,
                        },
                    })],
                    ..Default::default()
                });
                self.paint.render(&mut pass.forget_lifetime(), &shapes, &screen);
                queue.submit(more.into_iter().chain([encoder.finish()]));
                queue.present(texture);
            }
            Current::Outdated | Current::Lost => {
                self.surface.configure(&device, &self.config);
                queue.submit(more);
            }
            // Nothing is to be seen now; the next frame asks again.
            Current::Timeout | Current::Occluded | Current::Validation => drop(queue.submit(more)),
        }
        for id in &output.textures_delta.free {
            self.paint.free_texture(id);
        }
        // They are applied; what is dropped with something in it counts as forgotten.
        output.textures_delta.clear();
        output.platform_output
    }

    /// The panes as one picture, without the controls.
    pub fn picture(&self) -> Result<Image> {
        let shown = self.canvases.iter().take(self.panes);
        let panes: Vec<Image> = shown.map(|(canvas, _)| self.renderer.read(canvas)).collect::<Result<_>>()?;
        let [first, rest @ ..] = &panes[..] else { return Err(Error::Invalid("there are no panes".into())) };
        if rest.is_empty() {
            return Ok(panes.into_iter().next().unwrap_or_else(|| Image::new(1, 1, [255; 4])));
        }
        let columns = if panes.len() == 4 || first.width() < first.height() { 2 } else { panes.len() as u32 };
        let (w, h, gap) = (first.width(), first.height(), 2);
        let rows = (panes.len() as u32).div_ceil(columns);
        let mut sheet = Image::new(columns * (w + gap) - gap, rows * (h + gap) - gap, [255; 4]);
        for (k, pane) in panes.iter().enumerate() {
            let k = k as u32;
            sheet.paste(pane, (k % columns) * (w + gap), (k / columns) * (h + gap));
        }
        Ok(sheet)
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("the graphics driver failed").to_string()
}
