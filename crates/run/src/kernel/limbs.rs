//! Vertices that are within an arm or a leg are moved out of it, lanes over instances as in [`super::skin`].
//!
//! Most vertices are beside a limb, not in it: what that takes is one product for the place along its line and two for the
//! distance from it. The radius is looked up only where one of the lanes is near enough, and a lane that is not moved
//! keeps its bits, so which instances share lanes changes nothing.

use super::fuse::Fuse;
use super::normals::inverse_sqrt;
use glam::Vec3;
use toile_model::{ALONG, AROUND, LimbTube, Shield};

/// Numbers of a posed limb: its middle, its line, across and to the side.
const NUMBERS: usize = 12;
/// The sign of a number.
const SIGN: u32 = 1 << 31;
/// Over this share of half a limb from its ends it fades, so that nothing jumps where a vertex slides over them.
const FADE: f32 = 0.12;
/// How far outside of limbs vertices are kept, m: between them edges cut the round of a thigh.
const BESIDE_M: f32 = 0.002;

/// Arms and legs, ready to be posed.
pub(crate) struct Limbs {
    shapes: Vec<Shape>,
    /// For every vertex which shapes it can meet, bit by bit.
    meets: Vec<u32>,
    /// For every vertex the bone that carries it most, as the place of its matrix, and which way is out.
    outward: Vec<(u32, Vec3)>,
}

struct Shape {
    /// Where the bone's matrix begins.
    bone: usize,
    middle: Vec3,
    /// Half the line over the square of its length: a product with it is the place along the line, −1 to 1.
    along: Vec3,
    across: Vec3,
    side: Vec3,
    /// Polynomials along the line, one for each term around it.
    radius: [[f32; ALONG]; AROUND],
    /// Nothing farther from the line is within the limb.
    reach_sq: f32,
    margin_m: f32,
}

impl Limbs {
    /// `carried_by` names the bone that carries a vertex most.
    pub fn new(shield: &Shield, carried_by: impl Fn(usize) -> u32) -> Self {
        let margin_m = shield.margin_m + BESIDE_M;
        let shape = |limb: &LimbTube| {
            let reach = reach_m(limb) + margin_m;
            Shape {
                bone: 12 * limb.joint as usize,
                middle: limb.middle,
                along: limb.half / limb.half.length_squared(),
                across: limb.across,
                side: limb.side(),
                radius: std::array::from_fn(|k| std::array::from_fn(|i| limb.radius[i][k])),
                reach_sq: reach * reach,
                margin_m,
            }
        };
        Self {
            shapes: shield.limbs.iter().map(shape).collect(),
            meets: shield.meets.clone(),
            outward: shield.outward.iter().enumerate().map(|(v, n)| (12 * carried_by(v), *n)).collect(),
        }
    }

    /// Numbers that posed limbs take in one lane.
    pub fn room(&self) -> usize {
        NUMBERS * self.shapes.len()
    }

    /// Poses the limbs for all lanes.
    #[inline(always)]
    pub fn pose<F: Fuse, const L: usize>(&self, bones: &[[f32; L]], out: &mut [[f32; L]]) {
        for (shape, out) in self.shapes.iter().zip(out.as_chunks_mut::<NUMBERS>().0) {
            let bone: &[[f32; L]; 12] = bones[shape.bone..].first_chunk().expect("bones are whole");
            for axis in 0..3 {
                for n in 0..L {
                    let turned = |v: Vec3, from: f32| {
                        let z = F::fma(bone[6 + axis][n], v.z, from);
                        F::fma(bone[axis][n], v.x, F::fma(bone[3 + axis][n], v.y, z))
                    };
                    out[axis][n] = turned(shape.middle, bone[9 + axis][n]);
                    out[3 + axis][n] = turned(shape.along, 0.0);
                    out[6 + axis][n] = turned(shape.across, 0.0);
                    out[9 + axis][n] = turned(shape.side, 0.0);
                }
            }
        }
    }

    /// Which way is out of the body for a vertex: across a posed limb and to its side.
    #[inline(always)]
    fn outward_at<F: Fuse, const W: usize>(
        &self,
        v: usize,
        bones: &[[f32; W]],
        limb: &[[f32; W]; NUMBERS],
    ) -> [[f32; W]; 2] {
        let (bone, outward) = self.outward[v];
        let bone: &[[f32; W]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
        let mut out = [[0.0f32; W]; 3];
        for axis in 0..3 {
            for n in 0..W {
                let z = bone[6 + axis][n] * outward.z;
                let yz = F::fma(bone[3 + axis][n], outward.y, z);
                out[axis][n] = F::fma(bone[axis][n], outward.x, yz);
            }
        }
        [dot::<F, W>(&out, limb, 6), dot::<F, W>(&out, limb, 9)]
    }

    /// Moves a vertex out of all limbs that it can meet; whether any lane was near enough to be moved.
    #[inline(always)]
    pub fn clear<F: Fuse, const W: usize>(
        &self,
        v: usize,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        point: &mut [[f32; W]; 3],
    ) -> bool {
        let Some(&meets) = self.meets.get(v) else { return false };
        let posed = posed.as_chunks::<NUMBERS>().0;
        let (mut bits, mut touched) = (meets, false);
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (shape, limb) = (&self.shapes[k], &posed[k]);
            let mut apart = [[0.0f32; W]; 3];
            for axis in 0..3 {
                for n in 0..W {
                    apart[axis][n] = point[axis][n] - limb[axis][n];
                }
            }
            let place = dot::<F, W>(&apart, limb, 3);
            let (across, side) = (dot::<F, W>(&apart, limb, 6), dot::<F, W>(&apart, limb, 9));
            let mut near = [0u32; W];
            for n in 0..W {
                let rho_sq = F::fma(across[n], across[n], side[n] * side[n]);
                // By the signs: comparisons would be gathered lane by lane.
                near[n] = (place[n].abs() - 1.0).to_bits() & (rho_sq - shape.reach_sq).to_bits() & SIGN;
            }
            if near.iter().fold(0, |any, n| any | n) == 0 {
                continue;
            }
            let Some(inside) = shape.inside::<F, W>(&place, [&across, &side], &near) else { continue };
            let out = self.outward_at::<F, W>(v, bones, limb);
            let [by_across, by_side] = shape.out_of::<F, W>(&inside, &place, [&across, &side], &out);
            for axis in 0..3 {
                for n in 0..W {
                    let moved = F::fma(limb[6 + axis][n], by_across[n], limb[9 + axis][n] * by_side[n]);
                    // What is not moved keeps its bits, the sign of a zero too.
                    let to = point[axis][n] + moved;
                    point[axis][n] = if moved == 0.0 { point[axis][n] } else { to };
                }
            }
            touched = true;
        }
        touched
    }
}

/// Vertices that are within a limb, in every lane.
struct Inside<const W: usize> {
    /// Terms around the limb at their place along it.
    terms: [[f32; W]; AROUND],
    /// Distances from its line, and what they are short of the radius.
    rho: [f32; W],
    missing: [f32; W],
}

impl Shape {
    /// How far within the limb vertices are; `None` where no lane is.
    #[inline(always)]
    fn inside<F: Fuse, const W: usize>(
        &self,
        place: &[f32; W],
        [x, y]: [&[f32; W]; 2],
        near: &[u32; W],
    ) -> Option<Inside<W>> {
        // The terms around the limb at this place.
        let mut terms = [[0.0f32; W]; AROUND];
        for k in 0..AROUND {
            terms[k] = polynomial::<F, W>(&self.radius[k], place);
        }
        let (mut rho, mut cos, mut sin) = ([0.0f32; W], [0.0f32; W], [0.0f32; W]);
        for n in 0..W {
            let rho_sq = F::fma(x[n], x[n], F::fma(y[n], y[n], 1e-12));
            let per = inverse_sqrt::<F>(rho_sq);
            (rho[n], cos[n], sin[n]) = (rho_sq * per, x[n] * per, y[n] * per);
        }
        let radius = self.radius_at::<F, W>(&terms, &cos, &sin);
        let (mut missing, mut inside, mut any) = ([0.0f32; W], [0u32; W], 0u32);
        for n in 0..W {
            // Its sign and that of being near.
            inside[n] = (rho[n] - radius[n]).to_bits() & near[n];
            any |= inside[n];
        }
        for n in 0..W {
            missing[n] = if inside[n] != 0 { radius[n] - rho[n] } else { 0.0 };
        }
        (any != 0).then_some(Inside { terms, rho, missing })
    }

    /// By how much a vertex is to be moved across and to the side. It goes straight away from the line where it is hardly
    /// inside; the deeper it is, the more towards the side that is out of the body for it: the front of a skirt comes
    /// out in front of a thigh that has passed through it.
    #[inline(always)]
    fn out_of<F: Fuse, const W: usize>(
        &self,
        inside: &Inside<W>,
        place: &[f32; W],
        [x, y]: [&[f32; W]; 2],
        [out_x, out_y]: &[[f32; W]; 2],
    ) -> [[f32; W]; 2] {
        let Inside { terms, rho, missing } = inside;
        let mut toward = [[0.0f32; W]; 2];
        for n in 0..W {
            let (to_x, to_y) = (F::fma(out_x[n], missing[n], x[n]), F::fma(out_y[n], missing[n], y[n]));
            let per = inverse_sqrt::<F>(F::fma(to_x, to_x, F::fma(to_y, to_y, 1e-12)));
            (toward[0][n], toward[1][n]) = (to_x * per, to_y * per);
        }
        let radius = self.radius_at::<F, W>(terms, &toward[0], &toward[1]);
        let mut by = [[0.0f32; W]; 2];
        for n in 0..W {
            let at = if radius[n] > rho[n] { radius[n] } else { rho[n] };
            let fade = (1.0 - place[n].abs()) * (1.0 / FADE);
            let fade = if fade < 1.0 { fade } else { 1.0 };
            let fade = if missing[n] > 0.0 { fade } else { 0.0 };
            by[0][n] = F::fma(toward[0][n], at, -x[n]) * fade;
            by[1][n] = F::fma(toward[1][n], at, -y[n]) * fade;
        }
        by
    }

    /// The radius, with the margin, in a unit direction.
    #[inline(always)]
    fn radius_at<F: Fuse, const W: usize>(
        &self,
        terms: &[[f32; W]; AROUND],
        cos: &[f32; W],
        sin: &[f32; W],
    ) -> [f32; W] {
        let mut out = [0.0f32; W];
        for n in 0..W {
            let (c, s) = (cos[n], sin[n]);
            let (cos2, sin2) = (F::fma(c, c, -(s * s)), 2.0 * c * s);
            let (cos3, sin3) = (F::fma(c, cos2, -(s * sin2)), F::fma(s, cos2, c * sin2));
            let first = F::fma(terms[1][n], c, F::fma(terms[2][n], s, terms[0][n] + self.margin_m));
            let second = F::fma(terms[3][n], cos2, F::fma(terms[4][n], sin2, first));
            out[n] = F::fma(terms[5][n], cos3, F::fma(terms[6][n], sin3, second));
        }
        out
    }
}

/// No radius of a limb is larger, m: the terms around it are at most 1, and it is looked at from end to end.
fn reach_m(limb: &LimbTube) -> f32 {
    let mut most = 0.0f32;
    for i in 0..=64 {
        for k in 0..64 {
            let (sin, cos) = (k as f32 * std::f32::consts::TAU / 64.0).sin_cos();
            most = most.max(limb.radius(i as f32 / 32.0 - 1.0, [cos, sin]));
        }
    }
    // Between the places looked at it is hardly larger.
    1.05 * most
}

/// A polynomial at the place of every lane.
#[inline(always)]
fn polynomial<F: Fuse, const W: usize>(coefficients: &[f32; ALONG], at: &[f32; W]) -> [f32; W] {
    let mut sum = [coefficients[ALONG - 1]; W];
    for i in (0..ALONG - 1).rev() {
        for n in 0..W {
            sum[n] = F::fma(sum[n], at[n], coefficients[i]);
        }
    }
    sum
}

#[inline(always)]
fn dot<F: Fuse, const W: usize>(v: &[[f32; W]; 3], limb: &[[f32; W]; NUMBERS], at: usize) -> [f32; W] {
    let mut out = [0.0f32; W];
    for n in 0..W {
        let z = v[2][n] * limb[at + 2][n];
        out[n] = F::fma(v[0][n], limb[at][n], F::fma(v[1][n], limb[at + 1][n], z));
    }
    out
}
