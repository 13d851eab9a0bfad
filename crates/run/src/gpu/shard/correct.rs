//! The state of a model D on the device: bounded inputs, stable filters, nearness to training poses and to anchors in the
//! directions that shapes follow, a readout held within an ellipsoid, and the gate.

use crate::Result;
use crate::gpu::device::Gpu;
use crate::gpu::kernel::passes::Bind::{Read, Write};
use crate::gpu::kernel::passes::{Bind, HALVED_ROWS, Pass, STEP};
use crate::gpu::kernel::product::Layout;
use crate::gpu::kernel::skin::Hang;
use crate::gpu::packed::{Sizes, padded, upload};
use crate::gpu::shader::Constants;
use crate::gpu::shard::Tables;
use toile_model::{Correction, GATE_RATE, Model, ROOT_TERMS};

const TAKES_PART: &str = include_str!("takes_part.wgsl");

/// Lengths of the parts of a row of features, four numbers as one.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Lengths {
    body: u32,
    held: u32,
    drive: u32,
    filtered: u32,
    near: u32,
    directions: u32,
    anchors: u32,
}

impl Lengths {
    pub fn new(correction: &Correction, body: u32) -> Self {
        let quads = |n: usize| n.div_ceil(4) as u32;
        let drive = quads(correction.drives());
        let numbers: u32 = correction.poles.iter().map(|p| if p[1] == 0.0 { 1 } else { 2 }).sum();
        Self {
            body,
            held: 2 * body + quads(ROOT_TERMS),
            drive,
            filtered: numbers * drive,
            near: quads(correction.centre_count()),
            directions: quads(correction.direction_count()),
            anchors: quads(correction.anchor_count()),
        }
    }

    /// All features.
    pub fn width(&self) -> u32 {
        self.held + self.filtered + self.near + self.anchors
    }

    /// Which of the model's features a number of the row is; `None` in the gaps between the parts.
    fn feature(&self, c: &Correction, k: usize) -> Option<usize> {
        let (m, drives) = (c.rate_scale.len(), c.drives());
        let [body, held, drive, filtered, near] =
            [self.body, self.held, self.drive, self.filtered, self.near].map(|n| 4 * n as usize);
        let within = |k: usize, count: usize, first: usize| (k < count).then_some(first + k);
        if k < body {
            within(k, m, 0)
        } else if k < 2 * body {
            within(k - body, m, m)
        } else if k < held {
            within(k - 2 * body, ROOT_TERMS, 2 * m)
        } else if k < held + filtered {
            let (part, k) = ((k - held) / drive, (k - held) % drive);
            within(k, drives, c.held() + part * drives)
        } else if k < held + filtered + near {
            within(k - held - filtered, c.centre_count(), c.held() + c.filtered())
        } else {
            let first = c.held() + c.filtered() + c.centre_count();
            within(k - held - filtered - near, c.anchor_count(), first)
        }
    }

    fn constants(&self, sizes: &Sizes) -> Constants {
        let mut constants = sizes.constants();
        constants.0.extend([
            ("HELD", self.held),
            ("DRIVE", self.drive),
            ("FILTERED", self.filtered),
            ("NEAR", self.near),
            ("DIRECTIONS", self.directions),
            ("ANCHORS", self.anchors),
            ("WIDTH", self.width()),
            ("ROWS_EACH", HALVED_ROWS),
        ]);
        constants
    }
}

/// A product of features, with its matrix.
struct Product {
    layout: Layout,
    pass: Pass,
    weights: wgpu::Buffer,
    bias: wgpu::Buffer,
}

/// Nearness to anchors: where an instance is along the directions, its products with them, and what they say.
struct Anchored {
    directions: Product,
    products: Product,
    nearness: Pass,
}

/// A model D's own passes and numbers.
pub(in crate::gpu) struct Correct {
    lengths: Lengths,
    scales: wgpu::Buffer,
    per_axis: wgpu::Buffer,
    held: Pass,
    drive: Option<Product>,
    near: Product,
    settle: Pass,
    anchored: Option<Anchored>,
    readout: Product,
    ellipsoid: Pass,
    pub hang: Hang,
}

impl Correct {
    /// `None` for the published models.
    pub fn new(gpu: &Gpu, model: &Model, sizes: &Sizes) -> Result<Option<Self>> {
        let (Some(c), Some(lengths)) = (&model.correction, sizes.correcting) else { return Ok(None) };
        let (m, u, width) = (model.body_dims, c.held(), c.features());
        let constants = || lengths.constants(sizes);
        let pass = |name: &str, parts: &[&str], binds: &[Bind]| {
            let parts: Vec<&str> = [STEP, TAKES_PART].iter().chain(parts).copied().collect();
            Pass::new(gpu, name, &constants().source(&parts), binds)
        };
        let product = |used: u32,
                       [from, to]: [u32; 2],
                       first: u32,
                       bias: Vec<f32>,
                       weight: &dyn Fn(usize, usize) -> f32| {
            let layout = Layout::new(used, bias.len() as u32 / 4);
            let mut constants = constants();
            constants.0.extend([("USED", used), ("FROM", from), ("TO", to), ("FIRST", first)]);
            let parts = [STEP, include_str!("near.wgsl")];
            Product {
                pass: layout.pass(gpu, constants, &parts, &[Read, Read, Write]),
                weights: layout.weights(gpu, "products", weight),
                bias: upload(gpu, "bias", &bias),
                layout,
            }
        };
        let drives = c.drives();
        let of_drive = |r: usize, k: usize| match lengths.feature(c, k) {
            Some(k) if r < drives && k < u => c.drive[r * u + k],
            _ => 0.0,
        };
        let of_direction = |r: usize, k: usize| match lengths.feature(c, k) {
            Some(k) if r < c.direction_count() && k < u + c.filtered() => {
                c.directions[r * (u + c.filtered()) + k]
            }
            _ => 0.0,
        };
        let [of_centre, of_anchor] =
            [(&c.centres, m), (&c.anchors, c.direction_count())].map(|(places, width)| {
                move |r: usize, k: usize| {
                    if k < width { places.get(r * width + k).map_or(0.0, |v| -2.0 * v) } else { 0.0 }
                }
            });
        let lengths_sq = |places: &[f32], width: usize, quads: u32| {
            // What is no place is near to nobody.
            let mut out = vec![1e30; 4 * quads as usize];
            for (length_sq, place) in out.iter_mut().zip(places.chunks_exact(width.max(1))) {
                *length_sq = place.iter().map(|v| v * v).sum();
            }
            out
        };
        let both = lengths.drive + lengths.near;
        let readout = Layout::new(lengths.width(), sizes.depth);
        let weight = |r: usize, k: usize| match lengths.feature(c, k) {
            Some(k) if r < model.cloth_dims => c.readout[r * width + k],
            _ => 0.0,
        };
        let depth = 4 * sizes.depth as usize;
        let mut scales = padded(&c.rate_scale, 4 * lengths.body as usize);
        for terms in [&c.root_mean, &c.root_scale] {
            scales.extend(padded(terms, ROOT_TERMS.next_multiple_of(4)));
        }
        let per_axis: Vec<f32> = c.half_axes.iter().map(|a| 1.0 / a).collect();
        Ok(Some(Self {
            scales: upload(gpu, "scales", &scales),
            per_axis: upload(gpu, "per axis", &padded(&per_axis, depth)),
            held: pass("held", &[include_str!("held.wgsl")], &[Read, Read, Read, Read, Read, Write, Write]),
            drive: (drives > 0).then(|| {
                let none = vec![0.0; 4 * lengths.drive as usize];
                product(lengths.held, [lengths.width(), both], 0, none, &of_drive)
            }),
            near: product(
                lengths.body,
                [lengths.width(), both],
                lengths.drive,
                lengths_sq(&c.centres, m, lengths.near),
                &of_centre,
            ),
            anchored: (lengths.anchors > 0).then(|| Anchored {
                directions: product(
                    lengths.held + lengths.filtered,
                    [lengths.width(), lengths.directions],
                    0,
                    vec![0.0; 4 * lengths.directions as usize],
                    &of_direction,
                ),
                products: product(
                    lengths.directions,
                    [lengths.directions, lengths.anchors],
                    0,
                    lengths_sq(&c.anchors, c.direction_count(), lengths.anchors),
                    &of_anchor,
                ),
                nearness: pass(
                    "anchors",
                    &[
                        &format!("const ANCHOR_WIDTH_SQ = {:?}f;\n", c.anchor_width_sq),
                        include_str!("anchors.wgsl"),
                    ],
                    &[Read, Read, Read, Read, Write],
                ),
            }),
            settle: pass(
                "settle",
                &[&filters(c), &gate(c), include_str!("settle.wgsl")],
                &[Read, Read, Read, Write, Write, Write],
            ),
            readout: Product {
                pass: readout.pass(
                    gpu,
                    constants(),
                    &[STEP, TAKES_PART, include_str!("readout.wgsl")],
                    &[Read, Read, Read, Read, Write],
                ),
                weights: readout.weights(gpu, "readout", weight),
                bias: upload(gpu, "bias", &padded(&c.bias, depth)),
                layout: readout,
            },
            ellipsoid: pass("ellipsoid", &[include_str!("ellipsoid.wgsl")], &[Read, Read, Read, Read, Write]),
            hang: Hang::new(gpu, model, sizes)?,
            lengths,
        }))
    }
}

/// `z ← λ z + (1 − λ) drive` of every filter; a start is as if the drive had always been so.
fn filters(c: &Correction) -> String {
    let mut text = "fn filters(at: u32, drive: vec4<f32>, is_starting: bool) {\n".to_owned();
    let mut part = 0;
    for &[re, im] in &c.poles {
        let less = 1.0 - re;
        let real = format!("inputs[at + {part}u * DRIVE]");
        let imaginary = format!("inputs[at + {}u * DRIVE]", part + 1);
        if im == 0.0 {
            text +=
                &format!("    {real} = select({re:?}f * {real} + {less:?}f * drive, drive, is_starting);\n");
            part += 1;
        } else {
            text += &format!(
                "    {{\n        let a = select({real}, drive, is_starting);\n        \
                 let b = select({imaginary}, vec4<f32>(), is_starting);\n        \
                 {real} = {re:?}f * a - {im:?}f * b + {less:?}f * drive;\n        \
                 {imaginary} = {re:?}f * b + {im:?}f * a - {im:?}f * drive;\n    }}\n"
            );
            part += 2;
        }
    }
    text + "}\n"
}

fn gate(c: &Correction) -> String {
    let [near, far] = c.gate_sq;
    let numbers =
        [("GATE_NEAR", near), ("GATE_FAR", far), ("GATE_RATE", GATE_RATE), ("WIDTH_SQ", c.width_sq)];
    numbers.map(|(name, v)| format!("const {name} = {v:?}f;\n")).concat()
}

/// The state of a chunk's instances.
pub(in crate::gpu) struct Corrected {
    held: wgpu::BindGroup,
    drive: Option<wgpu::BindGroup>,
    near: wgpu::BindGroup,
    settle: wgpu::BindGroup,
    anchored: Option<[wgpu::BindGroup; 3]>,
    readout: wgpu::BindGroup,
    ellipsoid: wgpu::BindGroup,
    pub hang: wgpu::BindGroup,
}

impl Corrected {
    /// `rows` makes a table of so many bytes for each instance.
    pub fn new(gpu: &Gpu, correct: &Correct, t: &Tables, rows: impl Fn(&str, u64) -> wgpu::Buffer) -> Self {
        let lengths = &correct.lengths;
        let quads = |label: &str, n: u32| rows(label, 16 * u64::from(n));
        let inputs = quads("features", lengths.width());
        let products = quads("products", lengths.drive + lengths.near);
        let before = quads("body before", lengths.body);
        let gates = rows("gates", 4);
        let group = |p: &Product, from: &wgpu::Buffer, to: &wgpu::Buffer| {
            p.pass.group(gpu, t.steps, &[&p.weights, from, &p.bias, to])
        };
        let near = |p: &Product| group(p, &inputs, &products);
        let anchored = correct.anchored.as_ref().map(|a| {
            let places = quads("directions", lengths.directions);
            let apart = quads("anchors", lengths.anchors);
            [
                group(&a.directions, &inputs, &places),
                group(&a.products, &places, &apart),
                a.nearness.group(gpu, t.steps, &[t.flags, t.modes, &places, &apart, &inputs]),
            ]
        });
        let readout = &correct.readout;
        Self {
            held: correct.held.group(
                gpu,
                t.steps,
                &[t.flags, t.modes, t.body, t.metas, &correct.scales, &before, &inputs],
            ),
            drive: correct.drive.as_ref().map(near),
            near: near(&correct.near),
            settle: correct.settle.group(
                gpu,
                t.steps,
                &[t.flags, t.modes, &products, &inputs, &gates, t.counts],
            ),
            anchored,
            readout: readout.pass.group(
                gpu,
                t.steps,
                &[&readout.weights, t.flags, t.modes, &inputs, &readout.bias, t.latents],
            ),
            ellipsoid: correct.ellipsoid.group(
                gpu,
                t.steps,
                &[t.flags, t.modes, &correct.per_axis, &gates, t.latents],
            ),
            hang: correct.hang.group(gpu, t),
        }
    }

    /// One tick, or for newcomers what they show before their first.
    pub fn tick(&self, pass: &mut wgpu::ComputePass, correct: &Correct, slot: u32, room: u32) {
        let lengths = &correct.lengths;
        let each = lengths.held - lengths.body;
        let size = [(HALVED_ROWS * each).div_ceil(64), room.div_ceil(HALVED_ROWS)];
        correct.held.dispatch(pass, &self.held, slot, size);
        let mut product = |p: &Product, group| p.pass.dispatch(pass, group, slot, p.layout.groups(room));
        if let (Some(p), Some(group)) = (&correct.drive, &self.drive) {
            product(p, group);
        }
        product(&correct.near, &self.near);
        correct.settle.dispatch(pass, &self.settle, slot, [room / 4, 1]);
        if let (Some(a), Some([directions, products, nearness])) = (&correct.anchored, &self.anchored) {
            a.directions.pass.dispatch(pass, directions, slot, a.directions.layout.groups(room));
            a.products.pass.dispatch(pass, products, slot, a.products.layout.groups(room));
            a.nearness.dispatch(pass, nearness, slot, [room / 4, 1]);
        }
        let readout = &correct.readout;
        readout.pass.dispatch(pass, &self.readout, slot, readout.layout.groups(room));
        correct.ellipsoid.dispatch(pass, &self.ellipsoid, slot, [room / 4, 1]);
    }
}
