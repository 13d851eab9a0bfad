//! An adapter to run on, and what it offers.

use crate::{Error, Result};
use std::sync::{Arc, OnceLock};

/// What to ask of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ask {
    /// All that is of use: large buffers, time stamps, matrix units.
    #[default]
    Best,
    /// What every browser with WebGPU has, and no more.
    Portable,
}

/// Units that multiply small matrices of 16-bit numbers, with 32-bit sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixUnit {
    /// Rows and columns of all three matrices.
    pub edge: u32,
    /// Threads that share one.
    pub subgroup: u32,
}

/// A device and its queue.
pub struct Gpu {
    /// Buffers and pipelines are made of it.
    pub device: wgpu::Device,
    /// Work goes to it.
    pub queue: wgpu::Queue,
    /// Name and driver.
    pub info: wgpu::AdapterInfo,
    /// Matrix units, where the device was opened with them.
    pub units: Option<MatrixUnit>,
    /// Why the device is gone, once it is. Who brings a device of their own hears of it themselves.
    lost: Arc<OnceLock<String>>,
}

impl Gpu {
    /// The fastest adapter there is; a software driver is one.
    pub async fn open(ask: Ask) -> Result<Self> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                ..Default::default()
            })
            .await
            .map_err(|e| Error::NoAdapter(e.to_string()))?;
        Self::of_adapter(&adapter, ask).await
    }

    /// A device of an adapter that the caller chose.
    pub async fn of_adapter(adapter: &wgpu::Adapter, ask: Ask) -> Result<Self> {
        let mut wanted = wgpu::DeviceDescriptor { label: Some("toile"), ..Default::default() };
        let mut units = None;
        if ask == Ask::Best {
            let offered = adapter.limits();
            wanted.required_limits = wgpu::Limits {
                max_buffer_size: offered.max_buffer_size,
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_compute_workgroup_storage_size: offered.max_compute_workgroup_storage_size,
                max_compute_invocations_per_workgroup: offered.max_compute_invocations_per_workgroup,
                max_compute_workgroup_size_x: offered.max_compute_workgroup_size_x,
                ..wgpu::Limits::default()
            };
            units = matrix_unit(adapter);
            wanted.required_features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
            if units.is_some() {
                wanted.required_features |=
                    wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SHADER_F16;
                wanted.experimental_features = experimental();
            }
        }
        let (device, queue) =
            adapter.request_device(&wanted).await.map_err(|e| Error::Device(e.to_string()))?;
        let lost = Arc::new(OnceLock::new());
        let heard = lost.clone();
        device.set_device_lost_callback(move |_, why| {
            let _ = heard.set(why);
        });
        Ok(Self { device, queue, info: adapter.get_info(), units, lost })
    }

    /// A device that the caller opened, for instance to draw with. Matrix units are left alone.
    pub fn of_device(device: wgpu::Device, queue: wgpu::Queue, info: wgpu::AdapterInfo) -> Self {
        Self { device, queue, info, units: None, lost: Arc::default() }
    }

    /// An error where the device is gone: a driver was reset or updated, a card unplugged.
    pub fn check(&self) -> Result<()> {
        let gone = |why| Error::Device(format!("it was lost ({why}); open it again and add models anew"));
        self.lost.get().map_or(Ok(()), |why| Err(gone(why)))
    }

    /// A shader of ours. It is not given the checks that foreign ones get, of every index and of how often a loop turns:
    /// they take a fifth of a frame (15.3 instead of 12.7 ms, a million dresses on an H200).
    #[allow(unsafe_code)]
    pub(super) fn module(&self, label: &str, source: &str) -> wgpu::ShaderModule {
        let source = wgpu::ShaderSource::Wgsl(source.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source };
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: indices stay within tables whose lengths are constants of the same text, or are below the room that
        // rows have, which is made up to whole tiles; loops count up to constants or to numbers of the model, whose
        // indices were checked when it was read. Callers' poses are numbers, never indices.
        unsafe { self.device.create_shader_module_trusted(descriptor, unchecked) }
    }

    /// Blocks until the device has done all that was given to it.
    pub fn wait(&self) -> Result<()> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        waited.map(|_| ()).map_err(|e| Error::Device(e.to_string()))
    }

    /// Reads bytes of a buffer that may be copied from. It blocks, and is for looking and checking.
    pub fn read(&self, buffer: &wgpu::Buffer, from: u64, bytes: u64) -> Result<Vec<u8>> {
        self.check()?;
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read"),
            size: bytes,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, from, &copy, 0, bytes);
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |_| {});
        self.wait()?;
        let view = copy.get_mapped_range(..).map_err(|e| Error::Device(e.to_string()))?;
        Ok(view.to_vec())
    }
}

/// Matrices with as many rows as columns, of a size that shaders can name.
fn matrix_unit(adapter: &wgpu::Adapter) -> Option<MatrixUnit> {
    use wgpu::CooperativeScalarType::{F16, F32};
    let needed = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SHADER_F16;
    if !adapter.features().contains(needed) {
        return None;
    }
    let info = adapter.get_info();
    let square = adapter
        .cooperative_matrix_properties()
        .into_iter()
        .filter(|p| p.m_size == p.n_size && p.n_size == p.k_size && p.ab_type == F16 && p.cr_type == F32);
    let edge = square.map(|p| p.m_size).max()?;
    let subgroup = info.subgroup_min_size;
    (subgroup == info.subgroup_max_size).then_some(MatrixUnit { edge, subgroup })
}

#[allow(unsafe_code)]
fn experimental() -> wgpu::ExperimentalFeatures {
    // SAFETY: of all experimental features only cooperative matrices are asked for, and the one shader that uses
    // them is ours: whole matrices of buffers that are large enough, in uniform control flow.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}
