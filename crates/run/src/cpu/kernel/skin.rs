//! Linear blend skinning of many instances at once, lanes over instances.
//!
//! A garment's vertices hang on the same bones in every instance, so with the bone matrices of several instances side
//! by side a vertex needs no gathering: its blended matrix is one chain of fused multiply-adds over its bones in fixed
//! order, whatever the number of lanes. Then it is moved out of the skin where it is behind it ([`super::push`]). The
//! arithmetic is plain Rust that is inlined into functions compiled for an instruction set; only the exchange of
//! rows and lanes is written for each.

use super::fuse::{Apart, Exact, Fuse};
use super::push::Guard;
use super::register::{Plain, Register};
use super::{Isa, PLACED, RowsMut};
use toile_model::Skin;

/// Bones and weights of every vertex, row after row.
pub(crate) struct Hanging {
    pub starts: Vec<u32>,
    /// Where a bone's matrix begins, counted in numbers of one instance, and its weight.
    pub bones: Vec<(u32, f32)>,
}

impl Hanging {
    pub fn new(skin: &Skin) -> Self {
        let mut hanging = Self { starts: vec![0], bones: Vec::new() };
        for v in 0..skin.len() {
            hanging.bones.extend(skin.row(v).map(|(j, w)| (12 * u32::from(j), w)));
            hanging.starts.push(hanging.bones.len() as u32);
        }
        hanging
    }

    /// The blended matrix of a vertex in every lane: one chain of fused multiply-adds over its bones.
    #[inline(always)]
    pub fn blend<F: Fuse, const L: usize>(&self, v: usize, bones: &[[f32; L]]) -> [[f32; L]; 12] {
        let mut blend = [[0.0f32; L]; 12];
        for &(bone, weight) in &self.bones[self.starts[v] as usize..self.starts[v + 1] as usize] {
            let matrix: &[[f32; L]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
            for e in 0..12 {
                for n in 0..L {
                    blend[e][n] = F::fma(matrix[e][n], weight, blend[e][n]);
                }
            }
        }
        blend
    }

    /// Vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Carries a vertex from the bind pose to where its bones are.
    #[inline(always)]
    fn carry<F: Fuse, const W: usize>(&self, v: usize, bones: &[[f32; W]], point: &mut [[f32; W]; 3]) {
        let blend = self.blend::<F, W>(v, bones);
        let at = *point;
        for axis in 0..3 {
            for n in 0..W {
                let z = F::fma(blend[6 + axis][n], at[2][n], blend[9 + axis][n]);
                let yz = F::fma(blend[3 + axis][n], at[1][n], z);
                point[axis][n] = F::fma(blend[axis][n], at[0][n], yz);
            }
        }
    }
}

/// A wearer, or several side by side: 12 numbers a bone, three columns and the translation, and the points of the skin,
/// each for all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Wearers<'a> {
    pub bones: &'a [f32],
    pub skin: &'a [f32],
}

/// How many lanes a part of so many instances is best worked on with.
pub(crate) fn lanes_for(isa: Isa, instances: usize) -> usize {
    // Wide code costs the same however full it is.
    if 4 * instances < isa.lanes() { 1 } else { isa.lanes() }
}

/// Skins panel `p` of the instances of `part` in place and keeps it outside the skin; `part` has at most `lanes`.
pub(crate) fn hang(
    isa: Isa,
    hanging: &Hanging,
    guard: Option<&Guard>,
    p: usize,
    wearers: Wearers,
    lanes: usize,
    part: &[u32],
    out: &mut RowsMut,
) {
    assert!(part.len() <= lanes && !part.is_empty());
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { super::avx512::hang(hanging, guard, p, wearers, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { super::avx2::hang(hanging, guard, p, wearers, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe { super::avx2::hang1(hanging, guard, p, wearers, part, out) },
        (Isa::Unfused, 4) => panel4::<Apart>(hanging, guard, p, wearers, part, out),
        (Isa::Unfused, _) => panel1::<Apart>(hanging, guard, p, wearers, part, out),
        (_, 4) => panel4::<Exact>(hanging, guard, p, wearers, part, out),
        _ => panel1::<Exact>(hanging, guard, p, wearers, part, out),
    }
}

/// Skins all vertices of one instance in place.
pub(crate) fn hang_one(isa: Isa, hanging: &Hanging, guard: Option<&Guard>, wearer: Wearers, out: &mut [f32]) {
    match isa {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => unsafe { super::avx2::hang_all(hanging, guard, wearer, out) },
        Isa::Unfused => all::<Apart>(hanging, guard, wearer, out),
        _ => all::<Exact>(hanging, guard, wearer, out),
    }
}

/// All vertices of one instance.
#[inline(always)]
pub(super) fn all<F: Fuse>(hanging: &Hanging, guard: Option<&Guard>, wearer: Wearers, out: &mut [f32]) {
    let bones = wearer.bones.as_chunks::<1>().0;
    let skin = wearer.skin.as_chunks::<1>().0;
    for (p, row) in out[..3 * hanging.len()].chunks_mut(PLACED).enumerate() {
        let mut panel = [[0.0f32; 1]; PLACED];
        panel.iter_mut().zip(row.iter()).for_each(|(to, from)| *to = [*from]);
        carry_panel::<Plain<F, 1>, 1>(hanging, guard, p, bones, skin, &mut panel);
        row.iter_mut().zip(panel).for_each(|(to, [x])| *to = x);
    }
}

/// Carries panel `p` to where its bones are and keeps it outside the skin.
#[inline(always)]
fn carry_panel<R: Register<W>, const W: usize>(
    hanging: &Hanging,
    guard: Option<&Guard>,
    p: usize,
    bones: &[[f32; W]],
    skin: &[[f32; W]],
    panel: &mut [[f32; W]; PLACED],
) {
    let first = p * (PLACED / 3);
    let count = (PLACED / 3).min(hanging.len() - first);
    let points = &mut panel.as_chunks_mut::<3>().0[..count];
    for (k, point) in points.iter_mut().enumerate() {
        hanging.carry::<R::Fuse, W>(first + k, bones, point);
    }
    if let Some(guard) = guard {
        guard.push_out::<R, W>(first, skin, bones, points);
    }
}

/// A panel of one instance.
#[inline(always)]
pub(super) fn panel1<F: Fuse>(
    hanging: &Hanging,
    guard: Option<&Guard>,
    p: usize,
    wearers: Wearers,
    part: &[u32],
    out: &mut RowsMut,
) {
    let take = |[row]: [&[f32; PLACED]; 1], lanes: &mut [[f32; 1]; PLACED]| {
        lanes.as_flattened_mut().copy_from_slice(row);
    };
    panel::<Plain<F, 1>, 1>(hanging, guard, p, wearers, part, out, take, |lanes, q, i, out| {
        *out.row(i[0], q * PLACED) = lanes.map(|[n]| n);
    });
}

/// A panel of up to four instances, side by side in whatever registers the target has.
fn panel4<F: Fuse>(
    hanging: &Hanging,
    guard: Option<&Guard>,
    p: usize,
    wearers: Wearers,
    part: &[u32],
    out: &mut RowsMut,
) {
    panel::<Plain<F, 4>, 4>(hanging, guard, p, wearers, part, out, super::to_lanes, super::to_rows);
}

/// A panel of up to `W` instances: `take` brings rows into lanes, `give` writes lanes as panel p of the instances' rows.
#[inline(always)]
pub(super) fn panel<R: Register<W>, const W: usize>(
    hanging: &Hanging,
    guard: Option<&Guard>,
    p: usize,
    wearers: Wearers,
    part: &[u32],
    out: &mut RowsMut,
    take: impl Fn([&[f32; PLACED]; W], &mut [[f32; W]; PLACED]),
    give: impl Fn(&[[f32; W]; PLACED], usize, &[u32], &mut RowsMut),
) {
    let bones = wearers.bones.as_chunks::<W>().0;
    let skin = wearers.skin.as_chunks::<W>().0;
    let mut lanes = Lanes([[0.0f32; W]; PLACED]);
    // Lanes without an instance repeat the last one.
    take(std::array::from_fn(|n| out.seen(part[n.min(part.len() - 1)], p * PLACED)), &mut lanes.0);
    carry_panel::<R, W>(hanging, guard, p, bones, skin, &mut lanes.0);
    give(&lanes.0, p, part, out);
}

/// A panel of several instances, on cache lines.
#[repr(align(64))]
struct Lanes<const W: usize>([[f32; W]; PLACED]);
