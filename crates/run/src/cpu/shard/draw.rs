//! From latent vectors to vertices in the world.

use super::{Shard, Slot};
use crate::angle::sin_cos;
use crate::cpu::kernel::{
    self, Buffer, Found, GROUP, Guard, Isa, PLACED, Placement, Rows, RowsMut, TOGETHER, Turns, Wearers,
};
use crate::cpu::packed::Packed;
use glam::{DVec3, Vec3};
use toile_model::RootFrame;

/// Instances whose vertices are made together: their inputs, a panel of the basis and the cache lines that
/// neighbouring panels share all stay in the first cache. Measured: 8, 16, 32, 64; 16 is fastest.
pub(crate) const BLOCK: usize = GROUP;
/// Panels of the basis that are used together: 600 kB at 64 dims.
const PANELS: usize = 48;

/// A panel of a block of instances, on cache lines.
#[repr(align(64))]
struct Panels([[f32; PLACED]; BLOCK]);

/// Rows of such a panel.
const LOCAL: [u32; BLOCK] = {
    let mut rows = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        rows[i] = i as u32;
        i += 1;
    }
    rows
};

/// Memory for a block of instances that are kept outside of their wearers.
#[derive(Default)]
pub(crate) struct Outside {
    /// Vertices of a part of the garment, carried and side by side.
    points: Buffer,
    /// Limbs and points of the skin, posed.
    posed: Buffer,
    found: Found,
}

impl Outside {
    /// Makes room for a garment.
    pub fn provide(&mut self, guard: &Guard) {
        let larger = |buffer: &mut Buffer, needed: usize| {
            if buffer.len() < needed {
                *buffer = Buffer::new(needed);
            }
        };
        larger(&mut self.points, PLACED * TOGETHER.min(guard.panels()) * BLOCK);
        larger(&mut self.posed, guard.room(BLOCK));
        guard.provide(&mut self.found);
    }
}

/// From where vertices are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    /// What vertices are relative to.
    pub origin: DVec3,
    /// Who looks, and how far off a vertex may be for each metre of distance, m.
    pub viewer: Option<(DVec3, f32)>,
}

/// The turn and shift that bring a canonical garment into the world, relative to `origin`.
pub(crate) fn placement(root: Option<&RootFrame>, origin: DVec3) -> Placement {
    let Some(root) = root else { return Placement::NONE };
    placed(sin_cos(root.heading), root, origin)
}

fn placed((sin, cos): (f64, f64), root: &RootFrame, origin: DVec3) -> Placement {
    let shift = (root.position - origin).as_vec3();
    Placement::new((sin as f32, cos as f32), shift.to_array())
}

impl Shard {
    /// Vertices of all that are drawn, and normals where wanted.
    pub fn draw(&mut self, view: &View, scratch: &mut [f32], outside: &mut Outside) {
        kernel::prepare(self.isa);
        self.which.clear();
        for i in 0..self.slots.len() {
            let slot = &self.slots[i];
            if slot.alive && slot.drawn && !slot.fresh {
                self.which.push(i as u32);
                self.cut(i, view);
            }
        }
        // Instances of like depth share tiles; which share one changes no bit.
        let depths = &self.depths;
        self.which.sort_unstable_by_key(|i| std::cmp::Reverse(depths[*i as usize]));
        let packed = &*self.packed;
        let stride = packed.vertices.padded();
        let inputs = Rows::new(&self.cut, packed.latent.padded());
        // A part of the basis that fits the second cache serves all instances before the next part is fetched.
        let guard = packed.correcting.as_ref().and_then(|c| c.guard.as_ref());
        let together = if guard.is_some() { TOGETHER } else { PANELS };
        let with_normals = !self.normals.is_empty();
        let mut rows = Panels([[0.0; PLACED]; BLOCK]);
        let rows = &mut rows.0;
        for first in (0..packed.vertices.panels()).step_by(together) {
            let panels = first..(first + together).min(packed.vertices.panels());
            for (b, block) in self.which.chunks(BLOCK).enumerate() {
                let (depths, places) = (&self.depths, &self.places);
                if !with_normals && packed.correcting.is_none() {
                    let mut out = RowsMut::streamed(&mut self.vertices, stride, self.streams);
                    let basis = &packed.vertices;
                    kernel::place(
                        self.isa,
                        basis,
                        panels.clone(),
                        inputs,
                        depths,
                        places,
                        block,
                        block,
                        &mut out,
                    );
                    continue;
                }
                let lanes = kernel::lanes_for(self.isa, block.len());
                if packed.correcting.is_some() {
                    let poses = Poses {
                        isa: self.isa,
                        bones: &self.bones,
                        stride: self.stride,
                        slots: &self.slots,
                        view,
                    };
                    poses.to_lanes(packed, block, lanes, &mut self.bone_lanes);
                }
                let local = &LOCAL[..block.len()];
                let bones = |n: usize| {
                    let room = lanes * packed.body.depth();
                    &self.bone_lanes[n * room..(n + 1) * room]
                };
                let side_by_side = lanes * PLACED * panels.len();
                if let (Some(guard), Some(correcting)) = (guard, &packed.correcting) {
                    for p in panels.clone() {
                        let mut out = RowsMut::panel(rows, p);
                        let basis = &packed.vertices;
                        kernel::place(
                            self.isa,
                            basis,
                            p..p + 1,
                            inputs,
                            depths,
                            places,
                            block,
                            local,
                            &mut out,
                        );
                        for (n, part) in local.chunks(lanes).enumerate() {
                            let points = &mut outside.points[n * side_by_side..(n + 1) * side_by_side];
                            let at = [p, p - first];
                            kernel::carry(
                                self.isa,
                                &correcting.hanging,
                                at,
                                bones(n),
                                lanes,
                                part,
                                &out,
                                points,
                            );
                        }
                    }
                    let room = guard.room(lanes);
                    for n in 0..block.len().div_ceil(lanes) {
                        let points = &mut outside.points[n * side_by_side..(n + 1) * side_by_side];
                        let skin = &mut outside.posed[n * room..(n + 1) * room];
                        kernel::pose(self.isa, guard, bones(n), lanes, skin);
                        let wearers = Wearers { bones: bones(n), skin };
                        let which = first / TOGETHER;
                        kernel::push_out(self.isa, guard, which, wearers, lanes, points, &mut outside.found);
                    }
                }
                // Each panel goes through what is left to be done to it while it is near, and leaves once.
                for p in panels.clone() {
                    let mut out = RowsMut::panel(rows, p);
                    let parts = local.chunks(lanes).enumerate();
                    if guard.is_some() {
                        for (n, part) in parts {
                            let points = &outside.points[n * side_by_side..(n + 1) * side_by_side];
                            kernel::give(self.isa, [p, p - first], lanes, part, points, &mut out);
                        }
                    } else {
                        let basis = &packed.vertices;
                        kernel::place(
                            self.isa,
                            basis,
                            p..p + 1,
                            inputs,
                            depths,
                            places,
                            block,
                            local,
                            &mut out,
                        );
                        if let Some(correcting) = &packed.correcting {
                            for (n, part) in parts {
                                kernel::hang(
                                    self.isa,
                                    &correcting.hanging,
                                    p,
                                    bones(n),
                                    lanes,
                                    part,
                                    &mut out,
                                );
                            }
                        }
                    }
                    if with_normals {
                        let vertices = Rows::panel(rows, p);
                        let mut out = RowsMut::streamed(&mut self.normals, stride, self.streams);
                        let room = packed.normals.scratch();
                        let scratch = &mut scratch[b * room..(b + 1) * room];
                        let schedule = &packed.normals;
                        kernel::normals(self.isa, schedule, p, vertices, local, block, scratch, &mut out);
                    }
                    let mut out = RowsMut::streamed(&mut self.vertices, stride, self.streams);
                    kernel::deliver(self.isa, rows, p, block, &mut out);
                }
            }
        }
        if self.streams {
            kernel::settle();
        }
        self.keep(view);
    }

    /// Brings what was drawn back to what is painted.
    fn keep(&mut self, view: &View) {
        let Some(limits) = self.limits.clone() else { return };
        let (packed, count) = (&*self.packed, self.packed.model.vertices);
        let stride = packed.vertices.padded();
        for &i in &self.which {
            let i = i as usize;
            let pose = &self.slots[i].poses[self.slots[i].current];
            // Coefficients of a body do not say where its bones are.
            if pose.is_coefficients {
                continue;
            }
            let depth = packed.body.depth();
            let row = &self.bones[(3 * i + self.slots[i].current) * self.stride..][..depth];
            let limited = &mut self.limited;
            world_bones(packed, row, &pose.root, view.origin, |at, value| {
                let bone = &mut limited[at / 12];
                let column = match at % 12 / 3 {
                    0 => &mut bone.matrix3.x_axis,
                    1 => &mut bone.matrix3.y_axis,
                    2 => &mut bone.matrix3.z_axis,
                    _ => &mut bone.translation,
                };
                column[at % 3] = value;
            });
            let drawn = &mut self.vertices[i * stride..][..3 * count];
            limits.0.keep(&limits.1, limited, kernel::cast::points_mut(drawn));
        }
    }

    /// Where the instance goes and how many coefficients it needs: the last ones are left out as long as no vertex
    /// can be off by more than the tolerance, `Σ |yₖ|·reachₖ` over those left out.
    fn cut(&mut self, i: usize, view: &View) {
        let slot = &mut self.slots[i];
        let root = slot.poses[slot.current].root;
        let turned = match slot.root {
            Some(tick) if tick.heading == root.heading => slot.turned,
            _ => sin_cos(root.heading),
        };
        // A model D is carried into the world by its bones.
        self.places[i] = match self.packed.correcting {
            Some(_) => Placement::NONE,
            None => placed(turned, &root, view.origin),
        };
        let by_distance =
            view.viewer.map_or(0.0, |(at, per_metre)| (root.position - at).length() as f32 * per_metre);
        let tolerance = slot.tolerance_m.max(by_distance);
        let (d, padded) = (self.packed.latent.rows(), self.packed.latent.padded());
        let shown = if self.plan.show >= 1.0 { &self.now } else { &self.between };
        let shown = &shown[i * padded..i * padded + d];
        let (whole, drawn, share) = self.slots[i].fade.now();
        let (whole, mut depth) = (whole.min(d), drawn.min(d));
        let slot = &mut self.slots[i];
        let off = |k: usize, share: f32| share * shown[k].abs() * self.packed.reach_m[k];
        let mut bound = (depth..d).map(|k| off(k, 1.0)).sum::<f32>()
            + (whole..depth).map(|k| off(k, 1.0 - share)).sum::<f32>();
        let left_out = bound;
        while depth > 0 {
            let more = bound + shown[depth - 1].abs() * self.packed.reach_m[depth - 1];
            if !(more - left_out <= tolerance) {
                break;
            }
            bound = more;
            depth -= 1;
        }
        let rounded = self.packed.rounding_m.iter().zip(&shown[..depth]);
        slot.bound_m = bound + rounded.map(|(reach, y)| reach * y.abs()).sum::<f32>();
        self.depths[i] = depth as u16;
        let cut = &mut self.cut[i * padded..i * padded + d];
        cut[..depth].copy_from_slice(&shown[..depth]);
        cut[depth..].fill(0.0);
        if share < 1.0 && whole < depth {
            cut[whole..depth].iter_mut().for_each(|y| *y *= share);
        }
    }
}

/// The poses that instances are drawn in.
struct Poses<'a> {
    isa: Isa,
    bones: &'a [f32],
    stride: usize,
    slots: &'a [Slot],
    view: &'a View,
}

impl Poses<'_> {
    /// World-space bones of a block of instances, side by side in groups of `lanes`.
    fn to_lanes(&self, packed: &Packed, block: &[u32], lanes: usize, out: &mut [f32]) {
        let groups = out.chunks_mut(lanes * packed.body.depth());
        for (part, out) in block.chunks(lanes).zip(groups) {
            match lanes {
                16 => self.group::<16>(packed, part, out),
                8 => self.group::<8>(packed, part, out),
                4 => self.group::<4>(packed, part, out),
                _ => self.group::<1>(packed, part, out),
            }
        }
    }

    /// One such group: as [`world_bones`], for all of its lanes at once. Lanes without an instance repeat the last one.
    fn group<const W: usize>(&self, packed: &Packed, part: &[u32], out: &mut [f32]) {
        let depth = packed.body.depth();
        let (mut sin, mut cos, mut shift) = ([0.0f32; W], [0.0f32; W], [[0.0f32; W]; 3]);
        let rows: [&[f32]; W] = std::array::from_fn(|n| {
            let i = part[n.min(part.len() - 1)] as usize;
            let slot = &self.slots[i];
            let root = &slot.poses[slot.current].root;
            let (s, c) = sin_cos(root.heading);
            (sin[n], cos[n]) = (s as f32, c as f32);
            let by = (root.position - self.view.origin).as_vec3();
            (0..3).for_each(|k| shift[k][n] = by[k]);
            &self.bones[(3 * i + slot.current) * self.stride..][..depth]
        });
        let turns = Turns { sin, cos, shift };
        kernel::bones_to_lanes(self.isa, rows, &packed.model.bones_mean, &turns, out);
    }
}

/// Bones from the canonical frame back into the world, relative to `origin`: 12 numbers each.
pub(crate) fn world_bones(
    packed: &Packed,
    row: &[f32],
    root: &RootFrame,
    origin: DVec3,
    mut put: impl FnMut(usize, f32),
) {
    let (sin, cos) = sin_cos(root.heading);
    let (s, c) = (sin as f32, cos as f32);
    let shift = (root.position - origin).as_vec3();
    let mean = &packed.model.bones_mean;
    for at in (0..row.len()).step_by(3) {
        let [x, y, z] = [0, 1, 2].map(|k| row[at + k] + mean[at + k]);
        let turned = Vec3::new(c * x + s * z, y, c * z - s * x);
        let moved = if at % 12 == 9 { turned + shift } else { turned };
        (0..3).for_each(|k| put(at + k, moved[k]));
    }
}
