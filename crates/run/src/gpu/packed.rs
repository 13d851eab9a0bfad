//! A model as the shaders read it.

use super::device::{Gpu, MatrixUnit};
use super::kernel::product::Layout;
use super::kernel::{Kernel, Units};
use super::shader::Constants;
use super::shard::correct::Lengths;
use toile_model::{Model, ROOT_TERMS};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// Instances of a tile of the passes before the vertices.
pub(super) const TILE: u32 = 128;

/// Lengths that shaders have as constants; those of rows count four numbers as one.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub joints: u32,
    pub order: u32,
    /// Rows of the ring of latent vectors.
    pub ring: u32,
    pub body: u32,
    pub depth: u32,
    pub meta: u32,
    /// Of the latent step, and of the order-0 one.
    pub inputs: u32,
    pub start_inputs: u32,
    /// Of one instance's root.
    pub root: u32,
    /// Of the garment, and with room so that every instance's begin at 16 bytes.
    pub garment: u32,
    pub vertices: u32,
    /// Of a model D's features.
    pub correcting: Option<Lengths>,
}

impl Sizes {
    pub fn new(model: &Model) -> Self {
        let quads = |n: usize| (n.div_ceil(16) * 4) as u32;
        let order = model.order as u32;
        let (body, depth) = (quads(model.body_dims), quads(model.cloth_dims));
        let correcting = model.correction.as_ref().map(|c| Lengths::new(c, body));
        let meta = match correcting {
            Some(_) => ROOT_TERMS.div_ceil(4) as u32,
            None => (5 * model.c.len()).div_ceil(4) as u32,
        };
        let garment = model.vertices as u32;
        Self {
            joints: model.joints as u32,
            order,
            ring: order.max(1) + 1,
            body,
            depth,
            meta,
            inputs: (body + order * depth + meta).next_multiple_of(4),
            start_inputs: body,
            root: 6 + 2 * if correcting.is_some() { 1 } else { order },
            correcting,
            garment,
            vertices: stride(garment),
        }
    }

    pub fn constants(&self) -> Constants {
        Constants(vec![
            ("TILE", TILE),
            ("JOINTS", self.joints),
            ("ORDER", self.order),
            ("MOVES", 2 * self.order.max(1)),
            ("RING", self.ring),
            ("BODY", self.body),
            ("DEPTH", self.depth),
            ("META", self.meta),
            ("ROOT", self.root),
            ("GARMENT", self.garment),
            ("VERTICES", self.vertices),
        ])
    }

    /// What matrix units go through: matrices along the coefficients, and tiles down the garment.
    pub fn unit_shape(&self, units: Units, unit: MatrixUnit) -> (u32, u32) {
        (4 * self.depth / unit.edge + 2 * units.leading, self.garment.div_ceil(units.vertices))
    }
}

/// Vertices from one instance to the next: instances that do not begin with a sector of memory are written a third slower.
fn stride(garment: u32) -> u32 {
    garment.next_multiple_of(16)
}

/// How the matrices of a model are multiplied with.
pub(super) struct Layouts {
    pub features: Layout,
    pub latent: Layout,
    pub start: Layout,
}

impl Layouts {
    pub fn new(sizes: &Sizes) -> Self {
        Self {
            features: Layout::new(3 * sizes.joints, sizes.body),
            latent: Layout::new(sizes.inputs, sizes.depth),
            start: Layout::new(sizes.start_inputs, sizes.depth),
        }
    }
}

/// A model's matrices on the device.
pub(super) struct Packed {
    pub body: wgpu::Buffer,
    pub bones_mean: wgpu::Buffer,
    pub latent: wgpu::Buffer,
    pub latent_limits: wgpu::Buffer,
    pub start: wgpu::Buffer,
    pub start_limits: wgpu::Buffer,
    pub basis: wgpu::Buffer,
    pub mean: wgpu::Buffer,
    /// The farthest that one unit of each coefficient moves any vertex, m.
    pub reach: wgpu::Buffer,
    /// Where each vertex's corners begin, and the other two vertices of each.
    pub begins: wgpu::Buffer,
    pub corners: wgpu::Buffer,
}

impl Packed {
    pub fn new(gpu: &Gpu, model: &Model, sizes: &Sizes, layouts: &Layouts, kernel: Kernel) -> Self {
        let (m, d) = (model.body_dims, model.cloth_dims);
        let entries = 12 * model.joints;
        let from_bones = |r: usize, k: usize| {
            if r < m && k < entries { model.body_from_bones[r * entries + k] } else { 0.0 }
        };
        let body = layouts.features.weights(gpu, "body", from_bones);
        let (body_floats, depth_floats) = (4 * sizes.body as usize, 4 * sizes.depth as usize);
        let metas = body_floats + model.order * depth_floats;
        let latent = layouts.latent.weights(gpu, "latent", |r, k| {
            if r >= d {
                0.0
            } else if k < body_floats {
                model.a.get(r * m + k).copied().filter(|_| k < m).unwrap_or(0.0)
            } else if k < metas {
                let (i, k) = ((k - body_floats) / depth_floats, (k - body_floats) % depth_floats);
                if k < d { model.b[i][r * d + k] } else { 0.0 }
            } else {
                let (i, k) = ((k - metas) / 5, (k - metas) % 5);
                model.c.get(i).map_or(0.0, |c| c[r * 5 + k])
            }
        });
        let (a0, bias0) = if model.order == 0 { (&model.a, &model.bias) } else { (&model.a0, &model.bias0) };
        let start = layouts.start.weights(gpu, "start", |r, k| {
            a0.get(r * m + k).copied().filter(|_| r < d && k < m).unwrap_or(0.0)
        });
        let limits = |bias: &[f32]| {
            let mut limits = padded(bias, depth_floats);
            limits.extend(padded(&model.inputs.body_min, body_floats));
            limits.extend(padded(&model.inputs.body_max, body_floats));
            upload(gpu, "limits", &limits)
        };
        let mean: Vec<f32> = model.cloth_mean.iter().flat_map(|v| v.to_array()).collect();
        // As long as the last tile of any kernel.
        let rows = mean.len().next_multiple_of(3 * 64) + 3 * 64;
        let (begins, corners) = corners(model);
        Self {
            body,
            bones_mean: upload(gpu, "mean bones", &model.bones_mean),
            latent,
            latent_limits: limits(&model.bias),
            start,
            start_limits: limits(bias0),
            basis: basis(gpu, model, sizes, kernel),
            mean: upload(gpu, "mean", &padded(&mean, rows)),
            reach: upload(gpu, "reach", &padded(&reach_m(model), depth_floats)),
            begins: upload(gpu, "begins", &begins),
            corners: upload(gpu, "corners", &corners),
        }
    }
}

pub(super) fn padded(values: &[f32], length: usize) -> Vec<f32> {
    let mut out = values.to_vec();
    out.resize(length, 0.0);
    out
}

fn basis(gpu: &Gpu, model: &Model, sizes: &Sizes, kernel: Kernel) -> wgpu::Buffer {
    let (d, rows, depth) = (model.cloth_dims, 3 * model.vertices, 4 * sizes.depth as usize);
    let entry = |r: usize, k: usize| if r < rows && k < d { model.cloth_basis[r * d + k] } else { 0.0 };
    match kernel {
        Kernel::Tiled(tile) | Kernel::Half(tile) => {
            let width = 12 * tile.columns(sizes.vertices) as usize;
            let mut out = Vec::new();
            for first in (0..rows).step_by(width) {
                for k in 0..depth {
                    out.extend((first..first + width).map(|r| entry(r, k)));
                }
            }
            if matches!(kernel, Kernel::Tiled(_)) {
                return upload(gpu, "basis", &out);
            }
            let halves: Vec<u16> = out.into_iter().map(|v| f16(v).0).collect();
            upload(gpu, "basis", &halves)
        }
        Kernel::Cooperative(units) => {
            // A crowd only takes the kernel where the device has units.
            let edge = gpu.units.map_or(16, |u| u.edge) as usize;
            let (leading, own) = (units.leading as usize, depth / edge);
            let tiles = model.vertices.div_ceil(units.vertices as usize);
            let mut out: Vec<u16> = Vec::new();
            for block in 0..tiles * 3 * units.vertices as usize / edge {
                for k in 0..own + 2 * leading {
                    for (r, c) in (0..edge * edge).map(|e| (block * edge + e / edge, e % edge)) {
                        // [basis, basis, Δbasis] meets [y, Δy, y].
                        out.push(if k < own {
                            f16(entry(r, k * edge + c)).0
                        } else if k < own + leading {
                            f16(entry(r, (k - own) * edge + c)).0
                        } else {
                            let whole = entry(r, (k - own - leading) * edge + c);
                            f16(whole - f16(whole).1).0
                        });
                    }
                }
            }
            upload(gpu, "basis", &out)
        }
    }
}

fn reach_m(model: &Model) -> Vec<f32> {
    let d = model.cloth_dims;
    let moved = |v: usize, k: usize| {
        (0..3).map(|axis| model.cloth_basis[(3 * v + axis) * d + k].powi(2)).sum::<f32>()
    };
    (0..d).map(|k| (0..model.vertices).map(|v| moved(v, k)).fold(0.0, f32::max).sqrt()).collect()
}

/// For each vertex the other corners of its triangles, in their order.
fn corners(model: &Model) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut about = vec![Vec::new(); model.vertices];
    for &[a, b, c] in &model.triangles {
        about[a as usize].push([b, c]);
        about[b as usize].push([c, a]);
        about[c as usize].push([a, b]);
    }
    let mut begins = vec![0];
    begins.extend(about.iter().scan(0, |sum, list| {
        *sum += list.len() as u32;
        Some(*sum)
    }));
    let mut corners = about.concat();
    // A buffer cannot be empty.
    corners.push([0, 0]);
    (begins, corners)
}

pub(super) fn upload<T: bytemuck::NoUninit>(gpu: &Gpu, label: &str, values: &[T]) -> wgpu::Buffer {
    let contents = bytemuck::cast_slice(values);
    let usage = wgpu::BufferUsages::STORAGE;
    gpu.device.create_buffer_init(&BufferInitDescriptor { label: Some(label), contents, usage })
}

/// The nearest 16-bit number (ties to even) as bits, and what it is. Beyond the greatest it is infinite.
fn f16(v: f32) -> (u16, f32) {
    let sign = (v.to_bits() >> 16 & 0x8000) as u16;
    let size = v.abs();
    // In units of the last place: 11 bits, and below 2⁻¹⁴ all the same.
    let exponent = ((size.to_bits() >> 23) as i32 - 127).max(-14);
    let unit = f32::from_bits(((exponent - 10 + 127) as u32) << 23);
    let places = (size / unit).round_ties_even();
    let kept = places * unit;
    if kept > 65504.0 || !kept.is_finite() {
        return (sign | 0x7c00, f32::INFINITY.copysign(v));
    }
    // 1024 places are the hidden bit; rounding up to 2048 carries into the exponent by itself.
    let bits = (((exponent + 14) as u32) << 10) + places as u32;
    (sign | bits as u16, kept.copysign(v))
}

#[cfg(test)]
mod tests {
    use super::f16;

    #[test]
    fn sixteen_bits_are_the_nearest() {
        for (v, bits) in [
            (0.0, 0u16),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (1e9, 0x7c00),
            (5.960_464_5e-8, 1),
            (6.103_515_6e-5, 0x400),
            (0.1, 0x2e66),
            (1.999_9, 0x4000),
        ] {
            assert_eq!(f16(v).0, bits, "{v}");
        }
        for i in 1..1000 {
            let v = 0.001_3 * i as f32;
            assert!((f16(v).1 - v).abs() <= v * 0.000_49, "{v}");
        }
    }
}
