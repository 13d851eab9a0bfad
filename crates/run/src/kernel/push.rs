//! Vertices that are behind the skin are moved out, lanes over instances as in [`super::skin`].

use super::Isa;
use super::skin::Hanging;
use glam::Vec3;
use toile_model::{NEIGHBOURS, Shield};

/// Numbers of a posed point: its place and its normal.
const NUMBERS: usize = 6;

/// The skin near a garment, ready to be posed.
pub(crate) struct Guard {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    hanging: Hanging,
    near: Vec<[u32; NEIGHBOURS]>,
    margin_m: f32,
    limit_m: f32,
}

impl Guard {
    pub fn new(shield: &Shield) -> Self {
        Self {
            points: shield.points.clone(),
            normals: shield.normals.clone(),
            hanging: Hanging::new(&shield.skin),
            near: shield.near.clone(),
            margin_m: shield.margin_m,
            limit_m: shield.limit_m,
        }
    }

    /// Moves a vertex out of the skin, whose points were posed, where it is behind the plane of the nearest.
    #[inline(always)]
    pub fn push_out<const W: usize>(&self, v: usize, posed: &[[f32; W]], point: &mut [[f32; W]; 3]) {
        let posed = posed.as_chunks::<NUMBERS>().0;
        // Of the nearest point: squared distance, height above its plane, normal.
        let (mut nearest, mut height) = ([f32::INFINITY; W], [0.0f32; W]);
        let mut normal = [[0.0f32; W]; 3];
        for &k in &self.near[v] {
            let near = &posed[k as usize];
            let (mut apart_sq, mut above) = ([0.0f32; W], [0.0f32; W]);
            for axis in 0..3 {
                for n in 0..W {
                    let apart = point[axis][n] - near[axis][n];
                    apart_sq[n] = apart.mul_add(apart, apart_sq[n]);
                    above[n] = apart.mul_add(near[3 + axis][n], above[n]);
                }
            }
            // As masks: a choice between two places in memory would be made lane by lane.
            let mut mask = [0u32; W];
            for n in 0..W {
                mask[n] = 0u32.wrapping_sub(u32::from(apart_sq[n] < nearest[n]));
                nearest[n] = choose(mask[n], apart_sq[n], nearest[n]);
                height[n] = choose(mask[n], above[n], height[n]);
            }
            for axis in 0..3 {
                for n in 0..W {
                    normal[axis][n] = choose(mask[n], near[3 + axis][n], normal[axis][n]);
                }
            }
        }
        let mut moved = [0.0f32; W];
        for n in 0..W {
            let missing = self.margin_m - height[n];
            let missing = if missing > 0.0 { missing } else { 0.0 };
            moved[n] = if missing < self.limit_m { missing } else { self.limit_m };
        }
        for axis in 0..3 {
            for n in 0..W {
                point[axis][n] = normal[axis][n].mul_add(moved[n], point[axis][n]);
            }
        }
    }

    /// Numbers that the posed points of so many lanes take.
    pub fn room(&self, lanes: usize) -> usize {
        NUMBERS * self.points.len() * lanes
    }
}

/// The first where all bits of the mask are set, the second where none is.
#[inline(always)]
fn choose(mask: u32, a: f32, b: f32) -> f32 {
    f32::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// Poses the points for all lanes of `bones`.
pub(crate) fn pose(isa: Isa, guard: &Guard, bones: &[f32], lanes: usize, out: &mut [f32]) {
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { pose512(guard, bones, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { pose2(guard, bones, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe { pose1(guard, bones, out) },
        _ => pose_each::<1>(guard, bones, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn pose512(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<16>(guard, bones, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pose2(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<8>(guard, bones, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pose1(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<1>(guard, bones, out);
}

#[inline(always)]
fn pose_each<const L: usize>(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    let bones = bones.as_chunks::<L>().0;
    let out = out.as_chunks_mut::<L>().0.as_chunks_mut::<NUMBERS>().0;
    for (i, posed) in out.iter_mut().enumerate().take(guard.points.len()) {
        let blend = guard.hanging.blend(i, bones);
        let (p, n) = (guard.points[i], guard.normals[i]);
        for axis in 0..3 {
            for lane in 0..L {
                let turned = |v: Vec3, from: f32| {
                    let z = blend[6 + axis][lane].mul_add(v.z, from);
                    let yz = blend[3 + axis][lane].mul_add(v.y, z);
                    blend[axis][lane].mul_add(v.x, yz)
                };
                posed[axis][lane] = turned(p, blend[9 + axis][lane]);
                posed[3 + axis][lane] = turned(n, 0.0);
            }
        }
        // Blended rotations shorten what they turn.
        for lane in 0..L {
            let [x, y, z] = [posed[3][lane], posed[4][lane], posed[5][lane]];
            let length_sq = z.mul_add(z, y.mul_add(y, x * x));
            let per = 1.0 / length_sq.max(1e-12).sqrt();
            (posed[3][lane], posed[4][lane], posed[5][lane]) = (x * per, y * per, z * per);
        }
    }
}
