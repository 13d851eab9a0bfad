//! Linear blend skinning of many instances at once, lanes over instances.
//!
//! A garment's vertices hang on the same bones in every instance, so with the bone matrices of several instances side
//! by side a vertex needs no gathering: its blended matrix is one chain of fused multiply-adds over its bones in fixed
//! order, whatever the number of lanes. The arithmetic is plain Rust that is inlined into functions compiled for an
//! instruction set.

use super::{Isa, RowsMut};
use std::ops::Range;
use toile_model::Skin;

/// Instances whose vertices are skinned side by side where there are several.
pub(crate) const LANES: usize = 16;

/// Bones and weights of every vertex, row after row.
pub(crate) struct Hanging {
    starts: Vec<u32>,
    /// Where a bone's matrix begins, counted in numbers of one instance, and its weight.
    bones: Vec<(u32, f32)>,
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

    /// Vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// How many lanes a part of so many instances is best worked on with.
pub(crate) fn lanes_for(isa: Isa, instances: usize) -> usize {
    // Wide code costs the same however full it is.
    if isa == Isa::Portable || 4 * instances < LANES { 1 } else { LANES }
}

/// Skins some vertices of the instances of `part` in place. `bones` holds 12 numbers a bone, three columns and the
/// translation, each for all `lanes`; `part` has at most so many instances.
pub(crate) fn skin(
    isa: Isa,
    hanging: &Hanging,
    vertices: Range<usize>,
    bones: &[f32],
    lanes: usize,
    part: &[u32],
    out: &mut RowsMut,
) {
    assert!(part.len() <= lanes);
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, LANES) => unsafe { wide512(hanging, vertices, bones, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, LANES) => unsafe { wide2(hanging, vertices, bones, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, 1) => unsafe { single(hanging, vertices, bones, part, out) },
        (_, 1) => each::<1>(hanging, vertices, bones, part, out),
        _ => each::<LANES>(hanging, vertices, bones, part, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn wide512(hanging: &Hanging, vertices: Range<usize>, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    each::<LANES>(hanging, vertices, bones, part, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide2(hanging: &Hanging, vertices: Range<usize>, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    each::<LANES>(hanging, vertices, bones, part, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn single(hanging: &Hanging, vertices: Range<usize>, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    each::<1>(hanging, vertices, bones, part, out);
}

#[inline(always)]
fn each<const L: usize>(
    hanging: &Hanging,
    vertices: Range<usize>,
    bones: &[f32],
    part: &[u32],
    out: &mut RowsMut,
) {
    let bones = bones.as_chunks::<L>().0;
    for v in vertices {
        let mut point = [[0.0f32; L]; 3];
        for (n, i) in part.iter().enumerate() {
            let at: &[f32; 3] = out.seen(*i, 3 * v);
            (0..3).for_each(|axis| point[axis][n] = at[axis]);
        }
        let mut blend = [[0.0f32; L]; 12];
        for &(bone, weight) in &hanging.bones[hanging.starts[v] as usize..hanging.starts[v + 1] as usize] {
            let matrix: &[[f32; L]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
            for e in 0..12 {
                for n in 0..L {
                    blend[e][n] = matrix[e][n].mul_add(weight, blend[e][n]);
                }
            }
        }
        let mut placed = [[0.0f32; L]; 3];
        for axis in 0..3 {
            for n in 0..L {
                let z = blend[6 + axis][n].mul_add(point[2][n], blend[9 + axis][n]);
                let yz = blend[3 + axis][n].mul_add(point[1][n], z);
                placed[axis][n] = blend[axis][n].mul_add(point[0][n], yz);
            }
        }
        for (n, i) in part.iter().enumerate() {
            let to: &mut [f32; 3] = out.row(*i, 3 * v);
            (0..3).for_each(|axis| to[axis] = placed[axis][n]);
        }
    }
}
