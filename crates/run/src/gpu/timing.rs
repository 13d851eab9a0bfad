//! What each pass took, by the device's own clock.

use super::device::Gpu;
use crate::Result;

/// The passes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Body coefficients from bones, and beside them what the root did in the first tick.
    Features,
    /// What the root did in further ticks, and who begins.
    Roots,
    /// The next latent vectors.
    Latent,
    /// Where instances go, and what their coefficients are between ticks.
    Place,
    /// Vertices in the world.
    Reconstruct,
    /// Vertices of a model D by their bones, and out of the body.
    Hang,
    /// Vertex normals.
    Normals,
    /// Measurements beside the crowd's own work.
    Floor,
}

impl Stage {
    /// In the order of a frame.
    pub const ALL: [Self; 7] = [
        Self::Features,
        Self::Roots,
        Self::Latent,
        Self::Place,
        Self::Reconstruct,
        Self::Hang,
        Self::Normals,
    ];

    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::Roots => "roots",
            Self::Latent => "latent",
            Self::Place => "place",
            Self::Reconstruct => "reconstruct",
            Self::Hang => "hang",
            Self::Normals => "normals",
            Self::Floor => "floor",
        }
    }
}

/// Most passes between two readings.
const PASSES: u32 = 128;

/// Time stamps at the beginning and end of passes.
pub(super) struct Timing {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    stages: Vec<Stage>,
}

impl Timing {
    /// `None` where the device has no time stamps.
    pub fn new(gpu: &Gpu) -> Option<Self> {
        if !gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("passes"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * PASSES,
        });
        let resolved = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("passes"),
            size: u64::from(2 * PASSES) * 8,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Some(Self { queries, resolved, stages: Vec::new() })
    }

    /// For the next pass; passes beyond the most are not timed.
    pub fn next(&mut self, stage: Stage) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let at = self.stages.len() as u32;
        if at == PASSES {
            return None;
        }
        self.stages.push(stage);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * at),
            end_of_pass_write_index: Some(2 * at + 1),
        })
    }

    /// Milliseconds of every pass since the last reading.
    pub fn read(&mut self, gpu: &Gpu) -> Result<Vec<(Stage, f64)>> {
        let count = 2 * self.stages.len() as u32;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.read(&self.resolved, 0, u64::from(count) * 8)?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        let period_ms = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
        let pairs = ticks.as_chunks::<2>().0.iter();
        let times = pairs.map(|[begin, end]| end.saturating_sub(*begin) as f64 * period_ms);
        Ok(std::mem::take(&mut self.stages).into_iter().zip(times).collect())
    }
}
