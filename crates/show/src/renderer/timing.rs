//! What each pass of a picture took, by the device's own clock.

use super::Renderer;
use crate::{Error, Result};
use std::cell::Cell;

/// The passes that are timed, in the order of a picture.
const NAMES: [&str; 5] = ["levels", "key map", "sky map", "ground", "main"];

/// Time stamps at the beginning and end of passes.
pub(super) struct Timing {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    /// Whether a pass was in the last picture: what was never written cannot be read.
    used: [Cell<bool>; NAMES.len()],
}

/// From one pass's stamps to the next, as devices want them.
const APART: u64 = wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;

/// A pass, by its place among the names.
#[derive(Clone, Copy)]
pub(super) enum Timed {
    Levels,
    Key,
    Sky,
    Ground,
    Main,
}

impl Timing {
    fn new(device: &wgpu::Device) -> Self {
        use wgpu::BufferUsages as U;
        let count = 2 * NAMES.len() as u32;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("times"),
                size: APART * NAMES.len() as u64,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("times"),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            resolved: buffer(U::QUERY_RESOLVE | U::COPY_SRC),
            read: buffer(U::MAP_READ | U::COPY_DST),
            used: Default::default(),
        }
    }

    /// A picture begins.
    pub fn begin(&self) {
        self.used.iter().for_each(|used| used.set(false));
    }

    pub fn render(&self, pass: Timed) -> wgpu::RenderPassTimestampWrites<'_> {
        self.used[pass as usize].set(true);
        wgpu::RenderPassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * pass as u32),
            end_of_pass_write_index: Some(2 * pass as u32 + 1),
        }
    }

    pub fn compute(&self, pass: Timed) -> wgpu::ComputePassTimestampWrites<'_> {
        self.used[pass as usize].set(true);
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * pass as u32),
            end_of_pass_write_index: Some(2 * pass as u32 + 1),
        }
    }
}

impl Renderer {
    /// From now on passes are timed, where the device has time stamps.
    pub fn time_passes(&mut self) {
        let has = self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        self.timing = has.then(|| Timing::new(&self.device));
    }

    /// Milliseconds of the passes of the last picture; nothing where they are not timed. It blocks.
    pub fn pass_times(&self) -> Result<Vec<(&'static str, f64)>> {
        let Some(timing) = &self.timing else { return Ok(Vec::new()) };
        let used: Vec<usize> = (0..NAMES.len()).filter(|k| timing.used[*k].get()).collect();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for &k in &used {
            let stamps = 2 * k as u32..2 * k as u32 + 2;
            encoder.resolve_query_set(&timing.queries, stamps, &timing.resolved, APART * k as u64);
        }
        encoder.copy_buffer_to_buffer(&timing.resolved, 0, &timing.read, 0, timing.read.size());
        self.queue.submit([encoder.finish()]);
        timing.read.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| Error::Device(e.to_string()))?;
        let period_ms = f64::from(self.queue.get_timestamp_period()) * 1e-6;
        let times = {
            let view = timing.read.get_mapped_range(..).map_err(|e| Error::Device(e.to_string()))?;
            let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&view);
            let each = APART as usize / 8;
            let span = |k: usize| ticks[each * k + 1].saturating_sub(ticks[each * k]) as f64 * period_ms;
            used.into_iter().map(|k| (NAMES[k], span(k))).collect()
        };
        timing.read.unmap();
        Ok(times)
    }
}
