//! Vertex normals of many instances at once, lanes over instances, while their vertices are made.
//!
//! A garment's triangles name the same vertices in every instance, so with coordinates of `W` instances side by
//! side nothing has to be gathered. Vertices come a panel of sixteen at a time; a triangle is done when the last of
//! its corners is there, and a panel of normals is written when the last triangle about it is done. A [`Schedule`]
//! says so once for each mesh, and in which of a few slots a panel is kept meanwhile: with vertices numbered from
//! end to end of a garment all of it stays in the first cache. Each normal is the sum of its triangles' area
//! vectors in the schedule's order, made unit length. The arithmetic is plain Rust that is inlined into functions
//! compiled for an instruction set; only the exchange of rows and lanes is written for each.

use super::fuse::{Apart, Exact, Fuse};
use super::{Isa, PLACED, Rows, RowsMut};
use std::ops::Range;

/// Vertices of a panel.
const VERTICES: usize = PLACED / 3;
/// Instances whose normals are made together, whatever the instructions.
pub(crate) const GROUP: usize = 16;

/// In which order the normals of a mesh are made.
pub(crate) struct Schedule {
    steps: Vec<Step>,
    /// Two triangles that share an edge, (a, b, c) and (b, d, c); corners as slot · 16 + place in the panel.
    pairs: Vec<[u32; 4]>,
    /// Triangles that are left over.
    triangles: Vec<[u32; 3]>,
    /// Panels that are done, and their slots.
    done: Vec<(u32, u32)>,
    slots: usize,
}

/// What happens when a panel of vertices has come.
struct Step {
    slot: u32,
    pairs: Range<u32>,
    triangles: Range<u32>,
    done: Range<u32>,
}

impl Schedule {
    /// For triangles of that many vertices; every index must be below it.
    pub fn new(triangles: &[[u32; 3]], vertices: usize) -> Self {
        let panels = vertices.div_ceil(VERTICES);
        let panel = |v: u32| v as usize / VERTICES;
        let last = |t: &[u32; 3]| t.iter().map(|v| panel(*v)).max().unwrap_or(0);
        let mut order: Vec<[u32; 3]> = triangles.to_vec();
        // Stable: triangles of a step stay in the mesh's own order.
        order.sort_by_key(last);
        // When each panel is needed for the last time.
        let mut until: Vec<usize> = (0..panels).collect();
        for t in &order {
            t.iter().for_each(|v| until[panel(*v)] = until[panel(*v)].max(last(t)));
        }
        let mut ending = vec![Vec::new(); panels];
        until.iter().enumerate().for_each(|(q, p)| ending[*p].push(q as u32));
        let mut schedule =
            Self { steps: Vec::new(), pairs: Vec::new(), triangles: Vec::new(), done: Vec::new(), slots: 0 };
        let mut slot_of = vec![0u32; panels];
        let mut free: Vec<u32> = Vec::new();
        let mut steps = order.chunk_by(|a, b| last(a) == last(b)).peekable();
        for p in 0..panels {
            slot_of[p] = free.pop().unwrap_or_else(|| {
                schedule.slots += 1;
                schedule.slots as u32 - 1
            });
            let place = |v: u32| slot_of[panel(v)] * VERTICES as u32 + v % VERTICES as u32;
            let first = [schedule.pairs.len(), schedule.triangles.len(), schedule.done.len()];
            if let Some(triangles) = steps.next_if(|s| last(&s[0]) == p) {
                let (mut pairs, single) = pair_up(triangles);
                keep_apart(&mut pairs);
                schedule.pairs.extend(pairs.into_iter().map(|pair| pair.map(place)));
                schedule.triangles.extend(single.into_iter().map(|t| t.map(place)));
            }
            for &q in &ending[p] {
                schedule.done.push((q, slot_of[q as usize]));
                free.push(slot_of[q as usize]);
            }
            let since = |first: usize, now: usize| first as u32..now as u32;
            schedule.steps.push(Step {
                slot: slot_of[p],
                pairs: since(first[0], schedule.pairs.len()),
                triangles: since(first[1], schedule.triangles.len()),
                done: since(first[2], schedule.done.len()),
            });
        }
        schedule
    }

    /// Room that [`normals`] needs for a group of instances.
    pub fn scratch(&self) -> usize {
        2 * GROUP * PLACED * self.slots
    }
}

/// Pairs of triangles with an edge in common, (a, b, c) and (b, d, c) as [a, b, c, d], and what is left over. A pair reads and
/// adds to four corners where two triangles would to six.
fn pair_up(triangles: &[[u32; 3]]) -> (Vec<[u32; 4]>, Vec<[u32; 3]>) {
    let (mut pairs, mut single) = (Vec::new(), Vec::new());
    let mut free: Vec<[u32; 3]> = triangles.iter().rev().copied().collect();
    while let Some([a, b, c]) = free.pop() {
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        let across = |t: &[u32; 3]| {
            let opposite = |[_, b, c]: [u32; 3]| {
                (0..3).find(|k| t[*k] == b && t[(k + 2) % 3] == c).map(|k| t[(k + 1) % 3])
            };
            turned.into_iter().find_map(|own| opposite(own).map(|d| [own[0], own[1], own[2], d]))
        };
        match (0..free.len()).rev().find_map(|n| across(&free[n]).map(|pair| (n, pair))) {
            Some((n, pair)) => {
                free.remove(n);
                pairs.push(pair);
            }
            None => single.push([a, b, c]),
        }
    }
    (pairs, single)
}

/// How many pairs should pass before one that shares a corner.
const APART: usize = 3;

/// Orders pairs so that those which share a corner do not follow upon each other: each waits for what the one before
/// has added to that corner.
fn keep_apart(pairs: &mut [[u32; 4]]) {
    for at in 1..pairs.len() {
        let (placed, waiting) = pairs.split_at(at);
        // How long ago one of a pair's corners was last added to.
        let ago = |pair: &[u32; 4]| {
            let shares = |other: &[u32; 4]| other.iter().any(|v| pair.contains(v));
            placed.iter().rev().take(APART).position(shares).unwrap_or(APART)
        };
        let Some(next) = (0..waiting.len()).rev().max_by_key(|n| ago(&waiting[*n])) else { continue };
        pairs[at..=at + next].rotate_right(1);
    }
}

/// Takes in panel `p` of the vertices of up to [`GROUP`] instances, rows `from`, and writes the normals that are done with it.
/// To be called for all panels in order, with the same scratch for the same group.
pub(crate) fn normals(
    isa: Isa,
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    from: &[u32],
    group: &[u32],
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    assert!(group.len() <= GROUP);
    let lanes = isa.lanes();
    let room = 2 * PLACED * schedule.slots;
    let scratch = &mut scratch[..GROUP * room];
    let parts = group.chunks(lanes).zip(from.chunks(lanes));
    for ((part, from), scratch) in parts.zip(scratch.chunks_mut(lanes * room)) {
        // A wide part costs the same however full it is; a few instances are cheaper one by one.
        if 4 * part.len() < lanes || lanes == 1 {
            for ((i, from), scratch) in part.iter().zip(from).zip(scratch.chunks_mut(room)) {
                let i = Part { from: std::slice::from_ref(from), to: std::slice::from_ref(i) };
                match isa {
                    // SAFETY: `isa` was detected.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { super::avx512::normals1(schedule, p, vertices, i, scratch, out) },
                    // SAFETY: `isa` was detected.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe { super::avx2::normals1(schedule, p, vertices, i, scratch, out) },
                    Isa::Unfused => one::<Apart>(schedule, p, vertices, i, scratch, out),
                    _ => one::<Exact>(schedule, p, vertices, i, scratch, out),
                }
            }
            continue;
        }
        let part = Part { from, to: part };
        match isa {
            // SAFETY: `isa` was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { super::avx512::normals(schedule, p, vertices, part, scratch, out) },
            // SAFETY: `isa` was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { super::avx2::normals(schedule, p, vertices, part, scratch, out) },
            Isa::Unfused => four::<Apart>(schedule, p, vertices, part, scratch, out),
            _ => four::<Exact>(schedule, p, vertices, part, scratch, out),
        }
    }
}

/// Instances that are worked on side by side: rows to read and rows to write.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    from: &'a [u32],
    to: &'a [u32],
}

/// The step of one instance.
#[inline(always)]
pub(super) fn one<F: Fuse>(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    let take = |[row]: [&[f32; PLACED]; 1], lanes: &mut [[f32; 1]; PLACED]| {
        lanes.as_flattened_mut().copy_from_slice(row);
    };
    step::<F, 1>(schedule, p, vertices, part, scratch, out, take, |lanes, q, i, out| {
        make_unit::<F, 1>(lanes);
        *out.row(i[0], q * PLACED) = lanes.map(|[n]| n);
    });
}

/// The step of up to four instances, side by side in whatever registers the target has.
fn four<F: Fuse>(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    step::<F, 4>(schedule, p, vertices, part, scratch, out, super::to_lanes, |lanes, q, part, out| {
        make_unit::<F, 4>(lanes);
        super::to_rows(lanes, q, part, out);
    });
}

/// One panel of up to `W` instances: `take` brings rows into lanes, `give` makes sums unit length and writes them
/// as panel q of the instances' rows.
#[inline(always)]
pub(super) fn step<F: Fuse, const W: usize>(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
    take: impl Fn([&[f32; PLACED]; W], &mut [[f32; W]; PLACED]),
    give: impl Fn(&mut [[f32; W]; PLACED], usize, &[u32], &mut RowsMut),
) {
    let step = &schedule.steps[p];
    let (points, sums) = scratch.split_at_mut(W * PLACED * schedule.slots);
    let (points, sums) = (points.as_chunks_mut::<W>().0, sums.as_chunks_mut::<W>().0);
    let slot = step.slot as usize;
    // Lanes without an instance repeat the last one.
    let rows = std::array::from_fn(|n| vertices.row(part.from[n.min(part.from.len() - 1)], p * PLACED));
    take(rows, &mut points.as_chunks_mut::<PLACED>().0[slot]);
    sums.as_chunks_mut::<PLACED>().0[slot] = [[0.0; W]; PLACED];
    add_pairs::<F, W>(&schedule.pairs[as_range(&step.pairs)], points, sums);
    add_areas::<F, W>(&schedule.triangles[as_range(&step.triangles)], points, sums);
    for &(q, slot) in &schedule.done[as_range(&step.done)] {
        give(&mut sums.as_chunks_mut::<PLACED>().0[slot as usize], q as usize, part.to, out);
    }
}

fn as_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Adds every triangle's area vector to its corners: `2·area·n = (b − a) × (c − a)`.
#[inline(always)]
pub(super) fn add_areas<F: Fuse, const W: usize>(
    triangles: &[[u32; 3]],
    vertices: &[[f32; W]],
    out: &mut [[f32; W]],
) {
    let p = vertices.as_chunks::<3>().0;
    let n = out.as_chunks_mut::<3>().0;
    for corners in triangles {
        let [a, b, c] = corners.map(|i| i as usize);
        let area = cross::<F, W>(&minus(&p[b], &p[a]), &minus(&p[c], &p[a]));
        [a, b, c].into_iter().for_each(|corner| add(&mut n[corner], &area));
    }
}

/// As [`add_areas`] for pairs of triangles with the edge from b to c in common: `(c − b) × (a − b)` and `(d − b) × (c − b)`.
#[inline(always)]
fn add_pairs<F: Fuse, const W: usize>(pairs: &[[u32; 4]], vertices: &[[f32; W]], out: &mut [[f32; W]]) {
    let p = vertices.as_chunks::<3>().0;
    let n = out.as_chunks_mut::<3>().0;
    for corners in pairs {
        let [a, b, c, d] = corners.map(|i| i as usize);
        let edge = minus(&p[c], &p[b]);
        let first = cross::<F, W>(&edge, &minus(&p[a], &p[b]));
        let second = cross::<F, W>(&minus(&p[d], &p[b]), &edge);
        let mut both = first;
        add(&mut both, &second);
        add(&mut n[a], &first);
        add(&mut n[b], &both);
        add(&mut n[c], &both);
        add(&mut n[d], &second);
    }
}

#[inline(always)]
fn cross<F: Fuse, const W: usize>(u: &[[f32; W]; 3], v: &[[f32; W]; 3]) -> [[f32; W]; 3] {
    let mut out = [[0.0; W]; 3];
    for axis in 0..3 {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        for l in 0..W {
            out[axis][l] = F::fma(u[i][l], v[j][l], -(u[j][l] * v[i][l]));
        }
    }
    out
}

#[inline(always)]
fn add<const W: usize>(to: &mut [[f32; W]; 3], what: &[[f32; W]; 3]) {
    for (to, what) in to.iter_mut().zip(what) {
        for l in 0..W {
            to[l] += what[l];
        }
    }
}

/// Makes sums of area vectors unit length.
#[inline(always)]
pub(super) fn make_unit<F: Fuse, const W: usize>(normals: &mut [[f32; W]]) {
    for n in normals.as_chunks_mut::<3>().0 {
        let mut scale = [0.0; W];
        for l in 0..W {
            scale[l] = F::fma(n[2][l], n[2][l], F::fma(n[1][l], n[1][l], n[0][l] * n[0][l]));
            scale[l] = inverse_sqrt::<F>(scale[l]);
        }
        for axis in 0..3 {
            for l in 0..W {
                n[axis][l] *= scale[l];
            }
        }
    }
}

#[inline(always)]
fn minus<const W: usize>(a: &[[f32; W]; 3], b: &[[f32; W]; 3]) -> [[f32; W]; 3] {
    let mut out = [[0.0; W]; 3];
    for axis in 0..3 {
        for l in 0..W {
            out[axis][l] = a[axis][l] - b[axis][l];
        }
    }
    out
}

/// `1/√x` by the exponent trick and three Newton steps: within 2e-7, the same bits everywhere and several times
/// cheaper than root and division. Zero gives a large finite number, so vertices without triangles get a zero
/// normal.
#[inline(always)]
pub(super) fn inverse_sqrt<F: Fuse>(x: f32) -> f32 {
    let half = 0.5 * x;
    let mut y = f32::from_bits(0x5f37_5a86 - (x.to_bits() >> 1));
    for _ in 0..3 {
        let error = F::fma(half * y, -y, 0.5);
        y = F::fma(y, error, y);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn inverse_square_roots_are_within_rounding() {
        for i in 1..2000 {
            let x = 1e-12 * 1.03f32.powi(i);
            if x < 1e12 {
                let error = (f64::from(inverse_sqrt::<Exact>(x)) * f64::from(x).sqrt() - 1.0).abs();
                assert!(error < 2.5e-7, "{x}: {error}");
            }
        }
        assert!(inverse_sqrt::<Exact>(0.0).is_finite());
    }

    #[test]
    fn a_square_has_its_normal_and_a_lone_vertex_none() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [5.0, 5.0, 5.0]];
        let flat: Vec<[f32; 1]> = corners.iter().flatten().map(|v| [*v]).collect();
        let mut out = vec![[0.0]; 15];
        add_areas::<Exact, 1>(&[[0, 1, 2], [1, 3, 2]], &flat, &mut out);
        make_unit::<Exact, 1>(&mut out);
        for v in 0..4 {
            assert!(out[3 * v][0].abs() < 1e-6 && (out[3 * v + 2][0] - 1.0).abs() < 1e-6);
        }
        assert_eq!(out[12..], [[0.0]; 3]);
    }

    #[test]
    fn any_mesh_in_any_order_gets_the_normals_of_its_surface() {
        // Triangles between vertices near and far, vertices without triangles, and a last panel that is not full.
        for (vertices, near) in [(1, 1), (16, 16), (70, 9), (203, 203)] {
            let mut random = Random::new(1);
            let mut next = |below: usize| random.below(below);
            let triangles: Vec<[u32; 3]> = (0..2 * vertices)
                .map(|_| {
                    let first = next(vertices);
                    [first, (first + next(near)) % vertices, (first + next(near)) % vertices]
                        .map(|v| v as u32)
                })
                .collect();
            let stride = vertices.div_ceil(VERTICES) * PLACED;
            let count = 21;
            let points: Vec<f32> = (0..count * stride).map(|_| next(1000) as f32 * 1e-3).collect();
            let schedule = Schedule::new(&triangles, vertices);
            if vertices > 100 && near < 10 {
                assert!(schedule.slots < 5, "{} slots", schedule.slots);
            }
            for &isa in Isa::available() {
                let mut out = vec![9.0; count * stride];
                // Some of the instances, in groups, one of them with few.
                let which: Vec<u32> = (0..count as u32).rev().collect();
                for group in which.chunks(GROUP) {
                    let mut scratch = vec![7.0; schedule.scratch()];
                    for p in 0..stride / PLACED {
                        let from = Rows::new(&points, stride);
                        let mut to = RowsMut::new(&mut out, stride);
                        normals(isa, &schedule, p, from, group, group, &mut scratch, &mut to);
                    }
                }
                for i in 0..count {
                    let at =
                        |v: u32| [0, 1, 2].map(|axis| f64::from(points[i * stride + 3 * v as usize + axis]));
                    let mut sums = vec![[0.0; 3]; vertices];
                    for t in &triangles {
                        let [a, b, c] = t.map(at);
                        let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
                        for corner in t {
                            for k in 0..3 {
                                let (m, n) = ((k + 1) % 3, (k + 2) % 3);
                                sums[*corner as usize][k] += u[m] * v[n] - u[n] * v[m];
                            }
                        }
                    }
                    for (v, sum) in sums.iter().enumerate() {
                        let size = sum.iter().map(|s| s * s).sum::<f64>().sqrt();
                        for k in 0..3 {
                            let got = f64::from(out[i * stride + 3 * v + k]);
                            let expected = if size > 0.0 { sum[k] / size } else { 0.0 };
                            // Sums that cancel leave rounding only.
                            assert!(
                                (got - expected).abs() < 1e-4 || size < 1e-4,
                                "{isa:?}, {vertices} vertices, instance {i}, vertex {v}: {got}, not {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}
