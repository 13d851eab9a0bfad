//! The one product everything here is made of: `out = start + W·x` for many instances at once.
//!
//! Every output is one chain of fused multiply-adds over k = 0, 1, 2 …, begun at `start`. Lanes run over rows, so
//! how many there are, how many instances share a tile and which ones those are cannot change a bit of the
//! result. `W` is kept in panels of rows, column after column, so that a panel is read front to back and stays
//! in the first cache while the instances of a block pass by.
//!
//! `unsafe` is allowed in this folder and nowhere else in the crate: instructions that the compiler may not assume
//! are behind detection at run time, and the inner loops read through pointers that [`product`] and [`place`] have
//! checked against their slices.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bones;
mod bounded;
pub mod cast;
mod fuse;
mod guides;
mod large_pages;
mod limbs;
mod normals;
mod portable;
mod push;
mod register;
mod skin;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod wider;

pub(crate) use bones::{Turns, bones_to_lanes};
pub(crate) use bounded::{hold as hold_one, hold_inputs, nearness, squares};
pub(crate) use guides::{Found, TOGETHER};
#[cfg(feature = "gpu")]
pub(crate) use guides::{SKIN, TRUNK};
pub(crate) use large_pages::Buffer;
#[cfg(feature = "gpu")]
pub(crate) use limbs::FADE;
pub(crate) use normals::{GROUP, Schedule, normals};
#[cfg(feature = "gpu")]
pub(crate) use push::NEAR_SQ;
pub(crate) use push::{Guard, pose};
pub(crate) use skin::{Hanging, Wearers, carry, give, hang, hang_one, lanes_for, push_out};
#[cfg(test)]
pub(crate) use wider::Halves;
pub(crate) use wider::{Lanes, WIDE, Wide, Work, widely};

#[cfg(not(target_arch = "x86_64"))]
use fuse::Apart;
use fuse::Exact;
use std::sync::Arc;

/// Rows of a panel for products that are stored as they are.
pub(crate) const PLAIN: usize = 32;
/// Rows of a panel of vertices: sixteen of them, so that every panel begins with an x.
pub(crate) const PLACED: usize = 48;

/// The instructions a crowd runs on. All but [`Isa::Unfused`] give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isa {
    /// AVX-512F.
    Avx512,
    /// AVX2 and FMA.
    Avx2,
    /// What the compiler makes of plain Rust for the target: NEON on ARM, elsewhere sums that are rounded as on the others
    /// by way of double precision.
    Portable,
    /// The same with products and sums rounded apart, several times as fast where the processor has no fused
    /// multiply-add; the last bits are others. Every processor has it.
    Unfused,
}

impl Isa {
    /// The fastest that this processor has: [`Isa::Unfused`] only where nothing here fuses.
    pub fn best() -> Self {
        match Self::available()[0] {
            Self::Portable if !cfg!(any(target_arch = "aarch64", target_feature = "fma")) => Self::Unfused,
            best => best,
        }
    }

    /// All that this processor has and that give the same bits, fastest first.
    pub fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if fused && is_x86_feature_detected!("avx512f") {
                return &[Self::Avx512, Self::Avx2, Self::Portable];
            }
            if fused {
                return &[Self::Avx2, Self::Portable];
            }
        }
        &[Self::Portable]
    }

    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable if cfg!(target_arch = "aarch64") => "neon",
            Self::Portable => "portable",
            Self::Unfused => "unfused",
        }
    }

    /// Instances whose normals are made side by side.
    fn lanes(self) -> usize {
        match self {
            Self::Avx512 => 16,
            Self::Avx2 => 8,
            Self::Portable | Self::Unfused => 4,
        }
    }

    /// Instances that share a tile of a plain product: as many as the registers hold sums for.
    fn plain_tile(self) -> usize {
        match self {
            Self::Avx512 => 8,
            Self::Unfused => 2,
            _ => 4,
        }
    }

    /// Instances that share a tile of vertices.
    fn placed_tile(self) -> usize {
        match self {
            Self::Avx512 => 8,
            Self::Unfused => 2,
            _ => 4,
        }
    }
}

/// A matrix in panels of `P` rows, and what its product is added to.
pub(crate) struct Matrix<const P: usize> {
    rows: usize,
    depth: usize,
    /// Entries are stored as `bf16`: only of panels of vertices.
    half: bool,
    /// Panel after panel, each column by column; the first column is what the product is added to, always `f32`.
    pages: Arc<Buffer>,
    /// Where in the pages the first panel begins.
    begin: usize,
}

/// Memory that is being filled with matrices, one after the other.
pub(crate) struct Packer {
    pages: Buffer,
    used: usize,
}

/// Where a matrix was put.
pub(crate) struct Put<const P: usize> {
    rows: usize,
    depth: usize,
    half: bool,
    begin: usize,
}

impl Packer {
    /// Room for that many numbers: see [`Matrix::room`].
    pub fn new(room: usize) -> Self {
        Self { pages: Buffer::for_model(room), used: 0 }
    }

    /// Puts a matrix down, from entries `w(row, column)` and the value each row starts at.
    pub fn put<const P: usize>(
        &mut self,
        rows: usize,
        depth: usize,
        half: bool,
        w: impl Fn(usize, usize) -> f32,
        start: impl Fn(usize) -> f32,
    ) -> Put<P> {
        let begin = self.used;
        self.used += Matrix::<P>::room(rows, depth, half);
        let to = &mut self.pages[begin..self.used];
        for row in 0..rows {
            let (panel, lane) = (row / P, row % P);
            let length = Matrix::<P>::panel_room(depth, half);
            let (starts, entries) = to[panel * length..(panel + 1) * length].split_at_mut(P);
            // A chain that starts at −0 could end at either zero, depending on trailing zeros: start at +0.
            starts[lane] = start(row) + 0.0;
            if half {
                let entries: &mut [u16] = cast::halves_mut(entries);
                (0..depth).for_each(|k| entries[k * P + lane] = bf16(w(row, k)));
            } else {
                (0..depth).for_each(|k| entries[k * P + lane] = w(row, k));
            }
        }
        Put { rows, depth, half, begin }
    }

    /// The memory, once everything is in it.
    pub fn finish(self) -> Arc<Buffer> {
        Arc::new(self.pages)
    }
}

impl<const P: usize> Put<P> {
    /// The matrix in its finished memory.
    pub fn of(self, pages: &Arc<Buffer>) -> Matrix<P> {
        let Self { rows, depth, half, begin } = self;
        Matrix { rows, depth, half, pages: pages.clone(), begin }
    }
}

/// The nearest `bf16`, ties to even: the upper half of an `f32`.
pub(crate) fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

impl<const P: usize> Matrix<P> {
    /// Numbers that a matrix takes.
    pub fn room(rows: usize, depth: usize, half: bool) -> usize {
        rows.div_ceil(P) * Self::panel_room(depth, half)
    }

    /// Numbers that a panel takes: a column of starts and `depth` columns of entries.
    fn panel_room(depth: usize, half: bool) -> usize {
        P + if half { depth * P / 2 } else { depth * P }
    }

    /// Outputs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Inputs.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Outputs including the padding of the last panel: the room that each instance's output needs.
    pub fn padded(&self) -> usize {
        self.rows.div_ceil(P) * P
    }

    /// Number of panels.
    pub fn panels(&self) -> usize {
        self.rows.div_ceil(P)
    }

    /// What a panel's outputs start at, and its columns.
    fn panel(&self, p: usize) -> (&[f32], &[f32]) {
        let length = Self::panel_room(self.depth, self.half);
        self.pages[self.begin + p * length..][..length].split_at(P)
    }
}

/// Rows of numbers: row `i` is `data[i·stride..]`.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    data: &'a [f32],
    stride: usize,
    /// Numbers of every row that come before those in `data`.
    skipped: usize,
}

impl<'a> Rows<'a> {
    /// Row `i` is `data[i·stride..]`.
    pub fn new(data: &'a [f32], stride: usize) -> Self {
        Self { data, stride, skipped: 0 }
    }

    /// Rows of one panel only.
    pub fn panel(data: &'a [[f32; PLACED]], p: usize) -> Self {
        Self { data: data.as_flattened(), stride: PLACED, skipped: p * PLACED }
    }

    /// Where an instance's row begins; panics unless it holds `length` numbers.
    fn begin(&self, i: u32, length: usize) -> *const f32 {
        let at = i as usize * self.stride;
        self.data[at..at + length].as_ptr()
    }

    /// `N` numbers of an instance's row.
    #[inline(always)]
    fn row<const N: usize>(&self, i: u32, offset: usize) -> &[f32; N] {
        let at = i as usize * self.stride + offset - self.skipped;
        self.data[at..].first_chunk().expect("rows are whole panels")
    }
}

/// Rows of numbers to be written.
pub(crate) struct RowsMut<'a> {
    data: &'a mut [f32],
    stride: usize,
    /// Numbers of every row that come before those in `data`.
    skipped: usize,
    /// Past the caches: for what is written once and not read again soon.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    stream: bool,
}

impl<'a> RowsMut<'a> {
    /// Row `i` is `data[i·stride..]`.
    pub fn new(data: &'a mut [f32], stride: usize) -> Self {
        Self { data, stride, skipped: 0, stream: false }
    }

    /// The same, written past the caches where rows lie on cache lines. What reads them elsewhere has to wait for
    /// [`settle`].
    pub fn streamed(data: &'a mut [f32], stride: usize, stream: bool) -> Self {
        let on_lines = (data.as_ptr() as usize).is_multiple_of(64) && stride.is_multiple_of(16);
        Self { data, stride, skipped: 0, stream: stream && on_lines }
    }

    /// Rows of one panel only.
    pub fn panel(data: &'a mut [[f32; PLACED]], p: usize) -> Self {
        Self { data: data.as_flattened_mut(), stride: PLACED, skipped: p * PLACED, stream: false }
    }

    #[cfg(target_arch = "x86_64")]
    fn streams(&self) -> bool {
        self.stream
    }

    fn begin(&mut self, i: u32, offset: usize, length: usize) -> *mut f32 {
        let at = i as usize * self.stride + offset - self.skipped;
        self.data[at..at + length].as_mut_ptr()
    }

    /// `N` numbers of an instance's row, to look at.
    #[inline(always)]
    fn seen<const N: usize>(&self, i: u32, offset: usize) -> &[f32; N] {
        let at = i as usize * self.stride + offset - self.skipped;
        self.data[at..].first_chunk().expect("rows are whole panels")
    }

    /// `N` numbers of an instance's row.
    #[inline(always)]
    fn row<const N: usize>(&mut self, i: u32, offset: usize) -> &mut [f32; N] {
        let at = i as usize * self.stride + offset - self.skipped;
        self.data[at..].first_chunk_mut().expect("rows are whole panels")
    }
}

/// A turn about the vertical and a shift, spread over the lanes of a panel of vertices.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Placement {
    /// What a coordinate is multiplied with: cos, 1, cos.
    own: [f32; PLACED],
    /// What the other horizontal coordinate is multiplied with: sin, 0, −sin.
    other: [f32; PLACED],
    /// What is added.
    shift: [f32; PLACED],
}

impl Placement {
    /// Leaves vertices where they are.
    pub const NONE: Self = Self::new((0.0, 1.0), [0.0; 3]);

    /// From sine and cosine of the heading, and where the origin of the canonical frame is.
    pub const fn new((sin, cos): (f32, f32), shift: [f32; 3]) -> Self {
        Self { own: spread([cos, 1.0, cos]), other: spread([sin, 0.0, -sin]), shift: spread(shift) }
    }
}

const fn spread(three: [f32; 3]) -> [f32; PLACED] {
    let mut out = [[0.0; 3]; PLACED / 3];
    let mut r = 0;
    while r < PLACED / 3 {
        out[r] = three;
        r += 1;
    }
    // SAFETY: the same numbers, counted otherwise.
    unsafe { std::mem::transmute(out) }
}

/// Rows to lanes: `lanes[r][n] = rows[n][r]`.
fn to_lanes<const W: usize>(rows: [&[f32; PLACED]; W], lanes: &mut [[f32; W]; PLACED]) {
    for (r, to) in lanes.iter_mut().enumerate() {
        *to = rows.map(|row| row[r]);
    }
}

/// Lanes to rows, as panel `q` of the instances' own.
fn to_rows<const W: usize>(lanes: &[[f32; W]; PLACED], q: usize, part: &[u32], out: &mut RowsMut) {
    for (n, i) in part.iter().enumerate() {
        *out.row(*i, q * PLACED) = lanes.map(|lane| lane[n]);
    }
}

/// Numbers held between limits, and how many had to be. All slices are of one length.
pub(crate) fn hold(isa: Isa, x: &[f32], least: &[f32], most: &[f32], out: &mut [f32]) -> u32 {
    match isa {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::hold(x, least, most, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::hold(x, least, most, out) },
        _ => hold_each(x, least, most, out),
    }
}

#[inline(always)]
fn hold_each(x: &[f32], least: &[f32], most: &[f32], out: &mut [f32]) -> u32 {
    let count = out.len();
    let (x, least, most) = (&x[..count], &least[..count], &most[..count]);
    let mut held = 0;
    for k in 0..count {
        let above = if x[k] < least[k] { least[k] } else { x[k] };
        out[k] = if above > most[k] { most[k] } else { above };
        held += u32::from(out[k] != x[k]);
    }
    held
}

/// `out[to] = start + W·x[from]` for every pair of row numbers; rows of `out` must hold [`Matrix::padded`] numbers.
pub(crate) fn product(isa: Isa, w: &Matrix<PLAIN>, x: Rows, pairs: &[(u32, u32)], out: &mut RowsMut) {
    for p in 0..w.panels() {
        for tile in pairs.chunks(isa.plain_tile()) {
            let mut rest = tile;
            while !rest.is_empty() {
                rest = match rest.len() {
                    8.. => product_tile::<8>(isa, w, p, x, rest, out),
                    4.. => product_tile::<4>(isa, w, p, x, rest, out),
                    2.. => product_tile::<2>(isa, w, p, x, rest, out),
                    _ => product_tile::<1>(isa, w, p, x, rest, out),
                };
            }
        }
    }
}

fn product_tile<'a, const N: usize>(
    isa: Isa,
    w: &Matrix<PLAIN>,
    p: usize,
    x: Rows,
    pairs: &'a [(u32, u32)],
    out: &mut RowsMut,
) -> &'a [(u32, u32)] {
    let (start, panel) = w.panel(p);
    let (panel, start, depth) = (panel.as_ptr(), start.as_ptr(), w.depth);
    let inputs: [*const f32; N] = std::array::from_fn(|n| x.begin(pairs[n].0, depth));
    let outs: [*mut f32; N] = std::array::from_fn(|n| out.begin(pairs[n].1, p * PLAIN, PLAIN));
    // SAFETY: `isa` is only ever one that was detected; slices of the needed lengths were taken just above, and
    // no two instances of a tile share an output unless they are the same.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::plain(panel, depth, inputs, start, outs),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::plain(panel, depth, inputs, start, outs),
            #[cfg(target_arch = "x86_64")]
            Isa::Unfused => sse2::plain(panel, depth, inputs, start, outs),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Unfused => portable::plain::<Apart, N>(panel, depth, inputs, start, outs),
            _ => portable::plain::<Exact, N>(panel, depth, inputs, start, outs),
        }
    }
    &pairs[N..]
}

/// Vertices of every instance of `which` in some panels: `turn(start + W·x[i]) + shift`, from the first `depth(i)`
/// columns of `W`.
/// Instance `which[n]` is written to row `to[n]`, which must hold [`Matrix::padded`] numbers. A tile goes as deep as its deepest instance needs; inputs
/// beyond an instance's own depth must be zero, which leaves its sums as they are.
pub(crate) fn place(
    isa: Isa,
    w: &Matrix<PLACED>,
    panels: std::ops::Range<usize>,
    x: Rows,
    depths: &[u16],
    places: &[Placement],
    which: &[u32],
    to: &[u32],
    out: &mut RowsMut,
) {
    for p in panels {
        for (tile, to) in which.chunks(isa.placed_tile()).zip(to.chunks(isa.placed_tile())) {
            let depth = tile.iter().map(|i| depths[*i as usize]).max().unwrap_or(0).into();
            let mut done = 0;
            while done < tile.len() {
                let (which, to) = (&tile[done..], &to[done..]);
                done += match which.len() {
                    8.. => place_tile::<8>(isa, w, p, depth, x, places, which, to, out),
                    4.. => place_tile::<4>(isa, w, p, depth, x, places, which, to, out),
                    3 => place_tile::<3>(isa, w, p, depth, x, places, which, to, out),
                    2.. => place_tile::<2>(isa, w, p, depth, x, places, which, to, out),
                    _ => place_tile::<1>(isa, w, p, depth, x, places, which, to, out),
                };
            }
        }
    }
}

/// How many instances it did: `N`.
fn place_tile<const N: usize>(
    isa: Isa,
    w: &Matrix<PLACED>,
    p: usize,
    depth: usize,
    x: Rows,
    places: &[Placement],
    which: &[u32],
    to: &[u32],
    out: &mut RowsMut,
) -> usize {
    assert!(depth <= w.depth);
    let (start, panel) = w.panel(p);
    let (panel, start) = (panel.as_ptr(), start.as_ptr());
    let inputs: [*const f32; N] = std::array::from_fn(|n| x.begin(which[n], depth));
    let placed: [&Placement; N] = std::array::from_fn(|n| &places[which[n] as usize]);
    let outs: [*mut f32; N] = std::array::from_fn(|n| out.begin(to[n], p * PLACED, PLACED));
    // SAFETY: as in `product_tile`.
    unsafe {
        match (isa, w.half) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, false) if out.stream => {
                avx512::placed::<N, false, true>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, false) => {
                avx512::placed::<N, false, false>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, true) => {
                avx512::placed::<N, true, false>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, false) if out.stream => {
                avx2::placed::<N, false, true>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, false) => avx2::placed::<N, false, false>(panel, depth, inputs, start, placed, outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, true) => avx2::placed::<N, true, false>(panel, depth, inputs, start, placed, outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Unfused, false) if out.stream => {
                sse2::placed::<N, false, true>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Unfused, false) => {
                sse2::placed::<N, false, false>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Unfused, true) => sse2::placed::<N, true, false>(panel, depth, inputs, start, placed, outs),
            #[cfg(not(target_arch = "x86_64"))]
            (Isa::Unfused, false) => {
                portable::placed::<Apart, N, false>(panel, depth, inputs, start, placed, outs)
            }
            #[cfg(not(target_arch = "x86_64"))]
            (Isa::Unfused, true) => {
                portable::placed::<Apart, N, true>(panel, depth, inputs, start, placed, outs)
            }
            (_, false) => portable::placed::<Exact, N, false>(panel, depth, inputs, start, placed, outs),
            (_, true) => portable::placed::<Exact, N, true>(panel, depth, inputs, start, placed, outs),
        }
    }
    N
}

/// Copies a panel of several instances: row `n` to panel `p` of row `to[n]`.
pub(crate) fn deliver(isa: Isa, rows: &[[f32; PLACED]], p: usize, to: &[u32], out: &mut RowsMut) {
    for (row, i) in rows.iter().zip(to) {
        #[cfg(target_arch = "x86_64")]
        let stream = out.stream;
        let to: &mut [f32; PLACED] = out.row(*i, p * PLACED);
        match isa {
            // SAFETY: `isa` was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if stream => unsafe { avx512::stream(row, to) },
            // SAFETY: `isa` was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if stream => unsafe { avx2::stream(row, to) },
            _ => *to = *row,
        }
    }
}

/// To be called before a shard is worked on: see [`sse2::forget_upper_halves`]. Hand-written products of other libraries leave
/// registers so, and what is compiled for every x86-64 takes four times as long after them.
pub(crate) fn prepare(isa: Isa) {
    #[cfg(target_arch = "x86_64")]
    if matches!(isa, Isa::Portable | Isa::Unfused) && is_x86_feature_detected!("avx") {
        // SAFETY: it was detected.
        unsafe { sse2::forget_upper_halves() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = isa;
}

/// Makes what was written past the caches seen by all that comes after.
pub(crate) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// The vertices of one instance into a slice of exactly `3·vertices` numbers.
pub(crate) fn place_one(isa: Isa, w: &Matrix<PLACED>, x: &[f32], at: &Placement, out: &mut [f32]) {
    assert!(x.len() >= w.depth && out.len() == w.rows);
    let (whole, rest) = out.as_chunks_mut::<PLACED>();
    for (p, panel) in whole.iter_mut().enumerate() {
        place_panel(isa, w, p, x, at, panel);
    }
    if !rest.is_empty() {
        let mut last = [0.0; PLACED];
        place_panel(isa, w, whole.len(), x, at, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Takes the vertices of one instance off those in `out`.
pub(crate) fn take_off_one(isa: Isa, w: &Matrix<PLACED>, x: &[f32], at: &Placement, out: &mut [f32]) {
    assert!(x.len() >= w.depth && out.len() == w.rows);
    let mut panel = [0.0; PLACED];
    for (p, out) in out.chunks_mut(PLACED).enumerate() {
        place_panel(isa, w, p, x, at, &mut panel);
        out.iter_mut().zip(&panel).for_each(|(out, v)| *out -= v);
    }
}

fn place_panel(isa: Isa, w: &Matrix<PLACED>, p: usize, x: &[f32], at: &Placement, out: &mut [f32; PLACED]) {
    let depth = w.depth;
    let (start, panel) = w.panel(p);
    let (panel, start) = (panel.as_ptr(), start.as_ptr());
    let (inputs, outs) = ([x[..depth].as_ptr()], [out.as_mut_ptr()]);
    // SAFETY: as in `product_tile`.
    unsafe {
        match (isa, w.half) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, false) => {
                avx512::placed::<1, false, false>(panel, depth, inputs, start, [at], outs)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, true) => avx512::placed::<1, true, false>(panel, depth, inputs, start, [at], outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, false) => avx2::placed::<1, false, false>(panel, depth, inputs, start, [at], outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, true) => avx2::placed::<1, true, false>(panel, depth, inputs, start, [at], outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Unfused, false) => sse2::placed::<1, false, false>(panel, depth, inputs, start, [at], outs),
            #[cfg(target_arch = "x86_64")]
            (Isa::Unfused, true) => sse2::placed::<1, true, false>(panel, depth, inputs, start, [at], outs),
            #[cfg(not(target_arch = "x86_64"))]
            (Isa::Unfused, false) => {
                portable::placed::<Apart, 1, false>(panel, depth, inputs, start, [at], outs)
            }
            #[cfg(not(target_arch = "x86_64"))]
            (Isa::Unfused, true) => {
                portable::placed::<Apart, 1, true>(panel, depth, inputs, start, [at], outs)
            }
            (_, false) => portable::placed::<Exact, 1, false>(panel, depth, inputs, start, [at], outs),
            (_, true) => portable::placed::<Exact, 1, true>(panel, depth, inputs, start, [at], outs),
        }
    }
}
