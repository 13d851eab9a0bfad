//! Vertex normals of many instances at once, lanes over instances, while their vertices are made.
//!
//! A garment's triangles name the same vertices in every instance, so with coordinates of `W` instances side by
//! side nothing has to be gathered. Vertices come a panel of sixteen at a time; normals of a panel are made when the
//! last of their neighbours is there. A [`Schedule`] says so once for each mesh, and in which of a few slots a panel is
//! kept meanwhile: with vertices numbered from end to end of a garment all of it stays in the first cache.
//!
//! Each normal is the sum of the area vectors of the triangles about its vertex, made unit length. With q the neighbours
//! relative to the vertex, in the order of its triangles, that sum is `q₀×q₁ + q₁×q₂ + q₂×q₃ + …`, and two triangles
//! side by side take one product: `q₁×(q₂ − q₀) + q₃×(q₄ − q₂) + …`. Sums stay in registers from the first triangle to
//! the last, and nothing waits for another vertex. The arithmetic is plain Rust that is inlined into functions
//! compiled for an instruction set; only the exchange of rows and lanes is written for each.

use super::fuse::{Apart, Exact, Fuse};
use super::register::{Plain, Register};
use super::{Isa, PLACED, Rows, RowsMut};
use std::ops::Range;

/// Vertices of a panel.
const VERTICES: usize = PLACED / 3;
/// Instances whose normals are made together, whatever the instructions.
pub(crate) const GROUP: usize = 16;

/// Places are counted in numbers of this many instances, so that what is left to multiply with is a power of two, which
/// addresses can do.
const LANES: usize = 8;
/// From a vertex to the next.
const STRIDE: u32 = 3 * LANES as u32;

/// In which order the normals of a mesh are made.
pub(crate) struct Schedule {
    steps: Vec<Step>,
    /// Panels whose normals are made, one after the other.
    ready: Vec<Ready>,
    /// Vertices of those panels, and the neighbours of each: see [`Fan`]. Vertices are places in slots, times [`STRIDE`].
    fans: Vec<Fan>,
    around: Vec<[u32; 2]>,
    slots: usize,
}

/// What happens when a panel of vertices has come.
struct Step {
    slot: u32,
    ready: Range<u32>,
}

/// A panel whose normals can be made.
struct Ready {
    panel: u32,
    fans: Range<u32>,
}

/// The triangles about a vertex, two at a time: from `first` by way of `around[n][0]` to `around[n][1]`, from there on
/// by way of the next. Where there is no second triangle, or the way is broken off, the vertex itself stands in.
struct Fan {
    /// Which vertex, and its place.
    of: u32,
    own: u32,
    first: u32,
    around: Range<u32>,
}

impl Schedule {
    /// For triangles of that many vertices; every index must be below it.
    pub fn new(triangles: &[[u32; 3]], vertices: usize) -> Self {
        let panels = vertices.div_ceil(VERTICES);
        let panel = |v: u32| v as usize / VERTICES;
        // The edges across from each vertex, in its triangles' sense and order.
        let mut across = vec![Vec::new(); vertices];
        for &[a, b, c] in triangles {
            for (own, from, to) in [(a, b, c), (b, c, a), (c, a, b)] {
                across[own as usize].push([from, to]);
            }
        }
        // When the last vertex comes that a panel's normals need, and until when a panel is needed.
        let mut complete: Vec<usize> = (0..panels).collect();
        for t in triangles {
            let last = t.iter().map(|v| panel(*v)).max().unwrap_or(0);
            t.iter().for_each(|v| complete[panel(*v)] = complete[panel(*v)].max(last));
        }
        let mut until = complete.clone();
        for t in triangles {
            let last = t.iter().map(|v| complete[panel(*v)]).max().unwrap_or(0);
            t.iter().for_each(|v| until[panel(*v)] = until[panel(*v)].max(last));
        }
        let by = |when: &[usize]| {
            let mut panels_of = vec![Vec::new(); panels];
            when.iter().enumerate().for_each(|(q, p)| panels_of[*p].push(q));
            panels_of
        };
        let (completed, ending) = (by(&complete), by(&until));
        let mut schedule =
            Self { steps: Vec::new(), ready: Vec::new(), fans: Vec::new(), around: Vec::new(), slots: 0 };
        let mut slot_of = vec![0u32; panels];
        let mut free: Vec<u32> = Vec::new();
        for p in 0..panels {
            slot_of[p] = free.pop().unwrap_or_else(|| {
                schedule.slots += 1;
                schedule.slots as u32 - 1
            });
            let place = |v: u32| STRIDE * (slot_of[panel(v)] * VERTICES as u32 + v % VERTICES as u32);
            let first = schedule.ready.len() as u32;
            for &q in &completed[p] {
                let own = q * VERTICES..((q + 1) * VERTICES).min(vertices);
                let mut ways: Vec<(u32, Vec<u32>)> =
                    own.map(|v| (v as u32, way_round(v as u32, &across[v]))).collect();
                // Vertices of as many neighbours follow upon each other: loops of one length are foreseen.
                ways.sort_by_key(|(_, way)| way.len());
                let begin = schedule.fans.len() as u32;
                for (own, way) in ways {
                    let begin = schedule.around.len() as u32;
                    let (pairs, _) = way.get(1..).unwrap_or_default().as_chunks::<2>();
                    schedule.around.extend(pairs.iter().map(|pair| pair.map(place)));
                    let around = begin..schedule.around.len() as u32;
                    schedule.fans.push(Fan {
                        of: own,
                        own: place(own),
                        first: place(way.first().copied().unwrap_or(own)),
                        around,
                    });
                }
                schedule.ready.push(Ready { panel: q as u32, fans: begin..schedule.fans.len() as u32 });
            }
            schedule.steps.push(Step { slot: slot_of[p], ready: first..schedule.ready.len() as u32 });
            free.extend(ending[p].iter().map(|q| slot_of[*q]));
        }
        schedule
    }

    /// Room that [`normals`] needs for a group of instances: panels of vertices, and one of sums.
    pub fn scratch(&self) -> usize {
        GROUP * PLACED * (self.slots + 1)
    }
}

/// Neighbours of a vertex so that every edge across from it leads from one to the next: an odd number of them, since two
/// edges are walked at a time, with the vertex itself where none is left or the next edge begins elsewhere.
fn way_round(own: u32, across: &[[u32; 2]]) -> Vec<u32> {
    let led_to = |v: u32| across.iter().any(|[_, to]| *to == v);
    let mut left = across.to_vec();
    // Edges that nothing leads to come first, so that open ways are walked from their beginning.
    left.sort_by_cached_key(|[from, _]| led_to(*from));
    let mut way = Vec::new();
    while !left.is_empty() {
        let [from, to] = left.remove(0);
        if !way.is_empty() {
            way.push(own);
        }
        way.extend([from, to]);
        while let Some(next) = way.last().and_then(|end| left.iter().position(|[from, _]| from == end)) {
            way.push(left.remove(next)[1]);
        }
        if way.len() % 2 == 0 {
            way.push(own);
        }
    }
    way
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
    let room = PLACED * (schedule.slots + 1);
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
            #[cfg(target_arch = "x86_64")]
            Isa::Unfused => four::<super::register::Four>(schedule, p, vertices, part, scratch, out),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Unfused => four::<Plain<Apart, 4>>(schedule, p, vertices, part, scratch, out),
            _ => four::<Plain<Exact, 4>>(schedule, p, vertices, part, scratch, out),
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
    step::<Plain<F, 1>, 1>(schedule, p, vertices, part, scratch, out, take, |lanes, q, i, out| {
        *out.row(i[0], q * PLACED) = lanes.map(|[n]| n);
    });
}

/// The step of up to four instances, side by side.
fn four<R: Register<4>>(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    step::<R, 4>(schedule, p, vertices, part, scratch, out, super::to_lanes, |lanes, q, part, out| {
        super::to_rows(lanes, q, part, out);
    });
}

/// One panel of up to `W` instances: `take` brings rows into lanes, `give` writes normals as panel q of the instances'
/// rows.
#[inline(always)]
pub(super) fn step<R: Register<W>, const W: usize>(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
    take: impl Fn([&[f32; PLACED]; W], &mut [[f32; W]; PLACED]),
    give: impl Fn(&[[f32; W]; PLACED], usize, &[u32], &mut RowsMut),
) {
    let step = &schedule.steps[p];
    let (panels, _) = scratch.as_chunks_mut::<W>().0.as_chunks_mut::<PLACED>();
    let Some((normals, points)) = panels[..=schedule.slots].split_last_mut() else { return };
    // Lanes without an instance repeat the last one.
    let rows = std::array::from_fn(|n| vertices.row(part.from[n.min(part.from.len() - 1)], p * PLACED));
    take(rows, &mut points[step.slot as usize]);
    let points = Points(points.as_flattened());
    for ready in &schedule.ready[as_range(&step.ready)] {
        let fans = &schedule.fans[as_range(&ready.fans)];
        if fans.len() < VERTICES {
            *normals = [[0.0; W]; PLACED];
        }
        let Some(sums) = normals.as_chunks_mut::<3>().0.first_chunk_mut::<VERTICES>() else { return };
        for fan in fans {
            let sum = sum_of::<R, W>(fan, &schedule.around[as_range(&fan.around)], points);
            for (to, sum) in sums[fan.of as usize % VERTICES].iter_mut().zip(sum) {
                sum.store(to);
            }
        }
        make_unit::<R, W>(sums);
        give(normals, ready.panel as usize, part.to, out);
    }
}

fn as_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Vertices whose sums are made unit length together: each step of a root waits for the one before it.
const TOGETHER: usize = 4;

/// Coordinates of the vertices that are kept, each of `W` instances.
#[derive(Clone, Copy)]
struct Points<'a, const W: usize>(&'a [[f32; W]]);

impl<const W: usize> Points<'_, W> {
    /// The vertex in a place.
    #[inline(always)]
    fn at<R: Register<W>>(self, place: u32) -> [R; 3] {
        let first = place as usize * W / LANES;
        debug_assert!(first + 3 * W <= self.0.len() * W);
        // SAFETY: places are in the schedule's slots, and `step` has measured that there are so many.
        let three = unsafe { &*self.0.as_flattened().as_ptr().add(first).cast::<[[f32; W]; 3]>() };
        [R::load(&three[0]), R::load(&three[1]), R::load(&three[2])]
    }
}

/// The sum of the area vectors about a vertex: `2·area·n = q × r` of each triangle, q and r relative to the vertex.
#[inline(always)]
fn sum_of<R: Register<W>, const W: usize>(fan: &Fan, around: &[[u32; 2]], points: Points<W>) -> [R; 3] {
    let (own, mut last, mut sum) = (points.at(fan.own), points.at(fan.first), [R::splat(0.0); 3]);
    // Most vertices have six triangles.
    if let Ok(three) = <&[_; 3]>::try_from(around) {
        for k in 0..3 {
            (last, sum) = two(three[k], own, last, sum, points);
        }
        return sum;
    }
    for pair in around {
        (last, sum) = two(*pair, own, last, sum, points);
    }
    sum
}

/// Adds two triangles: from `last` by way of a neighbour to the next.
#[inline(always)]
fn two<R: Register<W>, const W: usize>(
    [by, to]: [u32; 2],
    own: [R; 3],
    last: [R; 3],
    mut sum: [R; 3],
    points: Points<W>,
) -> ([R; 3], [R; 3]) {
    let next = points.at(to);
    let (q, along) = (minus(points.at(by), own), minus(next, last));
    for axis in 0..3 {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        sum[axis] = q[j].less(along[i], q[i].fma(along[j], sum[axis]));
    }
    (next, sum)
}

#[inline(always)]
fn minus<R: Register<W>, const W: usize>([a, b, c]: [R; 3], [d, e, f]: [R; 3]) -> [R; 3] {
    [a.minus(d), b.minus(e), c.minus(f)]
}

/// Makes sums of area vectors unit length.
#[inline(always)]
fn make_unit<R: Register<W>, const W: usize>(sums: &mut [[[f32; W]; 3]; VERTICES]) {
    for sums in sums.as_chunks_mut::<TOGETHER>().0 {
        let mut square = [R::splat(0.0); TOGETHER];
        for (square, sum) in square.iter_mut().zip(&*sums) {
            let (x, y, z) = (R::load(&sum[0]), R::load(&sum[1]), R::load(&sum[2]));
            *square = z.fma(z, y.fma(y, x.times(x)));
        }
        for (sum, scale) in sums.iter_mut().zip(inverse_roots::<R, W, TOGETHER>(square)) {
            for axis in sum {
                R::load(axis).times(scale).store(axis);
            }
        }
    }
}

/// `1/√x` by the exponent trick and three Newton steps: within 2e-7, the same bits everywhere and several times
/// cheaper than root and division. Zero gives a large finite number, so vertices without triangles get a zero
/// normal.
#[inline(always)]
fn inverse_roots<R: Register<W>, const W: usize, const N: usize>(x: [R; N]) -> [R; N] {
    let one_half = R::splat(0.5);
    let (mut half, mut y) = (x, x);
    for n in 0..N {
        half[n] = one_half.times(x[n]);
        y[n] = x[n].root_guess();
    }
    for _ in 0..3 {
        let mut error = half;
        for n in 0..N {
            error[n] = half[n].times(y[n]).less(y[n], one_half);
        }
        for n in 0..N {
            y[n] = y[n].fma(error[n], y[n]);
        }
    }
    y
}

/// The same of one number.
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
        let mut row: Vec<f32> = corners.into_iter().flatten().collect();
        row.resize(PLACED, 0.0);
        let schedule = Schedule::new(&[[0, 1, 2], [1, 3, 2]], 5);
        let (mut scratch, mut out) = (vec![7.0; schedule.scratch()], vec![9.0; PLACED]);
        let mut to = RowsMut::new(&mut out, PLACED);
        normals(Isa::Portable, &schedule, 0, Rows::new(&row, PLACED), &[0], &[0], &mut scratch, &mut to);
        for v in 0..4 {
            assert!(out[3 * v].abs() < 1e-6 && (out[3 * v + 2] - 1.0).abs() < 1e-6);
        }
        assert_eq!(out[12..], [0.0; PLACED - 12]);
    }

    #[test]
    fn ways_round_a_vertex_lead_over_every_edge_once() {
        // Closed, open from its beginning, of an odd number, and broken off; the vertex itself, 9, stands in.
        assert_eq!(way_round(9, &[[1, 2], [3, 4], [2, 3], [4, 1]]), [1, 2, 3, 4, 1]);
        assert_eq!(way_round(9, &[[2, 3], [1, 2]]), [1, 2, 3]);
        assert_eq!(way_round(9, &[[2, 3], [3, 1], [1, 2]]), [2, 3, 1, 2, 9]);
        assert_eq!(way_round(9, &[[1, 2], [3, 4], [4, 5]]), [1, 2, 9, 9, 3, 4, 5]);
        assert!(way_round(9, &[]).is_empty());
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
