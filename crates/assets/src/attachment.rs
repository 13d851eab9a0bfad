//! Kinematic cloth: a garment that follows the body's bones (Hahn §5.1, Cordier §5).
//!
//! Every garment vertex takes the skinning weights of the closest point of the body, blended within the
//! triangle and smoothed over the garment. Between the legs that fails: one side of a skirt's front takes
//! the left thigh's weights, the other side the right thigh's, and a stride tears the cloth between them.
//! So below the crotch, where cloth spans both legs, weights pass over to the pelvis and to a blend of both
//! thighs that changes evenly across the whole width. Trouser legs keep theirs, each from its own leg only.

use crate::{Attachment, Body, Mesh, Result, Role, Skin, TriangleTree};
use glam::Vec3;
use std::collections::HashMap;

/// How weights are carried from the body to the garment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttachmentSettings {
    /// Laplacian passes over the weights; a few remove the stair steps of closest points.
    pub smoothing_passes: usize,
    /// Whether legs are treated apart: below the crotch, cloth that spans both is handed over to the pelvis
    /// and a trouser leg follows its own leg only.
    pub legs: bool,
    /// How much a skirt follows the thighs: 0 hangs it from the pelvis alone, 1 from the thighs alone.
    /// The default keeps a narrow skirt under 1.6 times its length in a long stride.
    pub skirt_follow: f32,
}

impl AttachmentSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for AttachmentSettings {
    fn default() -> Self {
        Self { smoothing_passes: 8, legs: true, skirt_follow: 0.4 }
    }
}

/// Attaches a garment, given in the body's bind pose, to its body. A garment without vertices gives an
/// attachment without rows.
pub fn attach(body: &Body, garment: &Mesh, settings: &AttachmentSettings) -> Result<Attachment> {
    let legs = Legs::of(body).filter(|_| settings.legs);
    let parts = legs.as_ref().map(|legs| legs.parts(garment));
    let mut weights = closest_weights(body, garment, legs.as_ref().zip(parts.as_deref()));
    weights.smooth(garment, settings.smoothing_passes);
    if let Some((legs, parts)) = legs.as_ref().zip(parts.as_deref()) {
        weights.hand_to_pelvis(garment, legs, parts, settings.skirt_follow.clamp(0.0, 1.0));
    }
    Ok(Attachment { skin: Skin::from_rows(weights.rows())?, rest: garment.positions.clone() })
}

/// For each garment vertex, how far it belongs to a skirt (0 to 1): cloth below the crotch that spans both
/// legs. All zero for trousers, tops, and bodies whose legs are not known.
pub fn skirt_share(body: &Body, garment: &Mesh) -> Vec<f32> {
    Legs::of(body)
        .map_or_else(|| vec![0.0; garment.positions.len()], |legs| legs.share(garment, &legs.parts(garment)))
}

/// Weights with one column per joint that occurs, so that smoothing is plain arithmetic.
struct Weights {
    /// Joint of each column.
    joints: Vec<u16>,
    /// `vertices × columns`.
    values: Vec<f32>,
}

fn closest_weights(body: &Body, garment: &Mesh, legs: Option<(&Legs, &[Part])>) -> Weights {
    let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
    // The body without its right and without its left leg, for the left and the right trouser leg.
    let without = legs
        .filter(|(_, parts)| parts.iter().any(|p| matches!(p, Part::Leg(_))))
        .map(|(legs, _)| [1, 0].map(|other| legs.body_without(body, other)));
    let mut column = vec![usize::MAX; body.skeleton.len()];
    let mut joints = Vec::new();
    for v in 0..body.skin.len() {
        for (j, _) in body.skin.row(v) {
            if column[j as usize] == usize::MAX {
                column[j as usize] = joints.len();
                joints.push(j);
            }
        }
    }
    let n = joints.len();
    let mut values = vec![0.0; garment.positions.len() * n];
    for (v, &p) in garment.positions.iter().enumerate() {
        let own = match (legs.map(|(_, parts)| parts[v]), &without) {
            (Some(Part::Leg(side)), Some(without)) => {
                let (tree, triangles) = &without[side];
                tree.closest(p).map(|near| (triangles[near.triangle as usize], near.barycentric))
            }
            _ => None,
        };
        let near = own
            .or_else(|| tree.closest(p).map(|n| (body.mesh.triangles[n.triangle as usize], n.barycentric)));
        let Some((corners, barycentric)) = near else { continue };
        for (corner, share) in corners.iter().zip(barycentric) {
            for (j, w) in body.skin.row(*corner as usize) {
                values[v * n + column[j as usize]] += w * share;
            }
        }
    }
    Weights { joints, values }
}

impl Weights {
    fn row(&self, v: usize) -> &[f32] {
        &self.values[v * self.joints.len()..(v + 1) * self.joints.len()]
    }

    fn column(&mut self, joint: usize) -> usize {
        if let Some(c) = self.joints.iter().position(|&j| j as usize == joint) {
            return c;
        }
        let old = self.joints.len();
        let rows = self.values.len().checked_div(old).unwrap_or(0);
        let mut values = Vec::with_capacity(rows * (old + 1));
        for v in 0..rows {
            values.extend_from_slice(self.row(v));
            values.push(0.0);
        }
        self.joints.push(joint as u16);
        self.values = values;
        old
    }

    /// Halfway to the mean of the neighbours, `passes` times. Vertices at one place (the two sides of a
    /// texture seam) count as one, or the garment would open there.
    fn smooth(&mut self, garment: &Mesh, passes: usize) {
        let n = self.joints.len();
        if passes == 0 || n == 0 {
            return;
        }
        let (place, places) = places(&garment.positions);
        let welded = Mesh {
            positions: vec![Vec3::ZERO; places],
            triangles: garment.triangles.iter().map(|t| t.map(|i| place[i as usize])).collect(),
            uvs: Vec::new(),
        };
        let neighbours = welded.topology().neighbours;
        let mut now = vec![0.0; places * n];
        for (v, &p) in place.iter().enumerate() {
            now[p as usize * n..][..n].copy_from_slice(self.row(v));
        }
        let mut next = now.clone();
        for _ in 0..passes {
            for (p, around) in neighbours.iter().enumerate() {
                let around = around.iter().filter(|&&q| q as usize != p);
                let count = around.clone().count();
                if count == 0 {
                    continue;
                }
                let out = &mut next[p * n..][..n];
                out.fill(0.0);
                for &q in around {
                    for (o, w) in out.iter_mut().zip(&now[q as usize * n..][..n]) {
                        *o += w;
                    }
                }
                for (o, w) in out.iter_mut().zip(&now[p * n..][..n]) {
                    *o = 0.5 * w + 0.5 * *o / count as f32;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        for (v, &p) in place.iter().enumerate() {
            self.values[v * n..][..n].copy_from_slice(&now[p as usize * n..][..n]);
        }
    }

    /// Blends skirt vertices over to pelvis and thighs.
    fn hand_to_pelvis(&mut self, garment: &Mesh, legs: &Legs, parts: &[Part], follow: f32) {
        let share = legs.share(garment, parts);
        if share.iter().all(|&s| s == 0.0) {
            return;
        }
        let columns = [legs.pelvis, legs.joints[0], legs.joints[1]].map(|j| self.column(j));
        // Adding a column moves none of the earlier ones.
        let n = self.joints.len();
        let widths = legs.half_widths(garment, &share);
        for (v, &p) in garment.positions.iter().enumerate().filter(|&(v, _)| share[v] > 0.0) {
            let left = 0.5 + 0.5 * (legs.across(p) / widths(p)).clamp(-1.0, 1.0);
            let to = [1.0 - follow, follow * left, follow * (1.0 - left)];
            let row = &mut self.values[v * n..][..n];
            row.iter_mut().for_each(|w| *w *= 1.0 - share[v]);
            for (c, w) in columns.into_iter().zip(to) {
                row[c] += share[v] * w;
            }
        }
    }

    /// As [`Skin`] wants them, without crumbs.
    fn rows(&self) -> Vec<Vec<(u16, f32)>> {
        let n = self.joints.len();
        if n == 0 {
            return Vec::new();
        }
        let keep = |(&j, &w): (&u16, &f32)| (w > 1e-5).then_some((j, w));
        let row = |row: &[f32]| {
            let mut row: Vec<(u16, f32)> = self.joints.iter().zip(row).filter_map(keep).collect();
            row.sort_unstable_by_key(|&(j, _)| j);
            row
        };
        self.values.chunks_exact(n).map(row).collect()
    }
}

/// Number of the place of each vertex; vertices at the very same position share one.
fn places(positions: &[Vec3]) -> (Vec<u32>, usize) {
    let mut seen: HashMap<[u32; 3], u32> = HashMap::new();
    let place = positions
        .iter()
        .map(|p| {
            let next = seen.len() as u32;
            // Adding zero makes −0 and 0 one place.
            *seen.entry((*p + 0.0).to_array().map(f32::to_bits)).or_insert(next)
        })
        .collect();
    (place, seen.len())
}

/// What a garment vertex belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// Cloth that spans both legs.
    Skirt,
    /// A trouser leg below the crotch: 0 left, 1 right.
    Leg(usize),
    Other,
}

/// Where the legs are in the bind pose.
struct Legs {
    pelvis: usize,
    /// Left and right thigh.
    joints: [usize; 2],
    /// Midway between the hip joints.
    middle: Vec3,
    /// Unit vector from the right hip joint to the left one, horizontal.
    left: Vec3,
    /// Hip joint to floor.
    length: f32,
    /// Height of the crotch.
    crotch: f32,
    /// Half the distance between the hip joints.
    half_spread: f32,
}

impl Legs {
    /// Finds them by the roles of the joints; `None` when the body is not a biped or says too little.
    fn of(body: &Body) -> Option<Self> {
        let humanoid = body.humanoid();
        let joints = [humanoid.joint(Role::LeftUpperLeg)?, humanoid.joint(Role::RightUpperLeg)?];
        let pelvis = humanoid.joint(Role::Hips).or_else(|| body.skeleton.joints[joints[0]].parent)?;
        let at = joints.map(|j| Vec3::from(body.joint_from_bind[j].inverse().translation));
        let middle = (at[0] + at[1]) * 0.5;
        let spread = at[0] - at[1];
        let left = Vec3::new(spread.x, 0.0, spread.z).try_normalize()?;
        let floor = body.mesh.bounds().0.y;
        let length = middle.y - floor;
        if !(length > 0.0 && spread.is_finite()) {
            return None;
        }
        let half_spread = spread.length() * 0.5;
        let crotch = crotch_height(body, middle, left, floor).unwrap_or(middle.y - 0.1 * length);
        Some(Self { pelvis, joints, middle, left, length, crotch, half_spread })
    }

    /// Signed distance from the plane between the legs, positive to the left.
    fn across(&self, p: Vec3) -> f32 {
        (p - self.middle).dot(self.left)
    }

    /// What each vertex is a part of, decided for connected pieces as a whole.
    fn parts(&self, garment: &Mesh) -> Vec<Part> {
        let (place, places) = places(&garment.positions);
        let welded = |triangles: &[[u32; 3]]| Mesh {
            positions: vec![Vec3::ZERO; places],
            triangles: triangles.iter().map(|t| t.map(|i| place[i as usize])).collect(),
            uvs: Vec::new(),
        };
        let pieces = |triangles: &[[u32; 3]]| {
            let (label, count) = welded(triangles).components();
            let mut pieces = vec![Vec::new(); count];
            for tri in triangles {
                pieces[label[place[tri[0] as usize] as usize] as usize].push(*tri);
            }
            pieces.retain(|p| !p.is_empty());
            pieces
        };
        let mut parts = vec![Part::Other; garment.positions.len()];
        let mut set = |triangles: &[[u32; 3]], part| {
            triangles.iter().flatten().for_each(|&i| parts[i as usize] = part);
        };
        let below = self.crotch - 0.02 * self.length;
        for piece in pieces(&garment.triangles) {
            if self.spans_both(&garment.positions, &piece) {
                set(&piece, Part::Skirt);
                continue;
            }
            let mut lower = piece;
            lower.retain(|t| t.iter().all(|&i| garment.positions[i as usize].y < below));
            for leg in pieces(&lower) {
                let at = |t: &[u32; 3]| self.across(garment.positions[t[0] as usize]);
                let left = leg.iter().filter(|t| at(t) > 0.0).count();
                if left * 5 >= leg.len() * 4 {
                    set(&leg, Part::Leg(0));
                } else if left * 5 <= leg.len() {
                    set(&leg, Part::Leg(1));
                }
            }
        }
        parts
    }

    /// How far each vertex belongs to a skirt.
    fn share(&self, garment: &Mesh, parts: &[Part]) -> Vec<f32> {
        // Starts above the crotch, where the body's own weights still are the pelvis's for the most part.
        let (top, full) = (self.crotch + 0.08 * self.length, self.crotch - 0.08 * self.length);
        let share = |p: &Vec3| smoothstep((top - p.y) / (top - full));
        let both = garment.positions.iter().zip(parts);
        both.map(|(p, part)| if *part == Part::Skirt { share(p) } else { 0.0 }).collect()
    }

    /// The body's triangles without those that mostly follow one leg (0 left, 1 right).
    fn body_without(&self, body: &Body, leg: usize) -> (TriangleTree, Vec<[u32; 3]>) {
        let mut of_leg = vec![false; body.skeleton.len()];
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            of_leg[j] = j == self.joints[leg] || joint.parent.is_some_and(|p| of_leg[p]);
        }
        let share = |v: u32| -> f32 {
            body.skin.row(v as usize).filter(|(j, _)| of_leg[*j as usize]).map(|(_, w)| w).sum()
        };
        let mut triangles = body.mesh.triangles.clone();
        triangles.retain(|t| t.iter().map(|&v| share(v)).sum::<f32>() < 1.5);
        (TriangleTree::new(&body.mesh.positions, &triangles), triangles)
    }

    /// Whether most horizontal cuts below the crotch have pieces with cloth before both legs. A trouser leg
    /// lies on one side of the plane between the legs, but for a little; a skirt or a cape on both.
    fn spans_both(&self, positions: &[Vec3], triangles: &[[u32; 3]]) -> bool {
        let lowest =
            triangles.iter().flatten().map(|&i| positions[i as usize].y).fold(f32::INFINITY, f32::min);
        if lowest >= self.crotch {
            return false;
        }
        const CUTS: usize = 12;
        let (mut spanning, mut cuts) = (0, 0);
        for k in 0..CUTS {
            let y = lowest + (self.crotch - lowest) * (k as f32 + 0.5) / CUTS as f32;
            let pieces = cut(positions, triangles, y);
            let total: f32 = pieces.iter().map(|p| p.total()).sum();
            if total > 0.0 {
                cuts += 1;
                let both = |p: &&Piece| p.balance(self) >= 0.2;
                let spanned: f32 = pieces.iter().filter(both).map(|p| p.total()).sum();
                spanning += usize::from(spanned > 0.5 * total);
            }
        }
        cuts > 0 && spanning * 2 > cuts
    }

    /// The skirt's half width at any height: the thighs' weights pass over evenly across all of it.
    fn half_widths<'a>(&'a self, garment: &'a Mesh, share: &[f32]) -> impl Fn(Vec3) -> f32 + 'a {
        const BANDS: usize = 32;
        let skirt = || garment.positions.iter().zip(share).filter(|&(_, &s)| s > 0.0).map(|(p, _)| *p);
        let low = skirt().map(|p| p.y).fold(f32::INFINITY, f32::min);
        let high = skirt().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
        let scale = BANDS as f32 / (high - low).max(1e-6);
        let mut widest = [0.0f32; BANDS + 1];
        for p in skirt() {
            let band = (((p.y - low) * scale) as usize).min(BANDS);
            widest[band] = widest[band].max(self.across(p).abs());
        }
        // A band with few vertices must not narrow the passage: take the widest of the neighbours.
        let smooth: Vec<f32> = (0..=BANDS)
            .map(|b| widest[b.saturating_sub(2)..=(b + 2).min(BANDS)].iter().fold(0.0, |m: f32, w| m.max(*w)))
            .collect();
        move |p| {
            let x = ((p.y - low) * scale).clamp(0.0, BANDS as f32);
            let b = (x as usize).min(BANDS - 1);
            let w = smooth[b] + (smooth[b + 1] - smooth[b]) * (x - b as f32);
            w.max(self.half_spread).max(1e-4)
        }
    }
}

/// A ray from the floor between the feet meets the trunk at the crotch. Several, since the seat and the
/// front are higher; the lowest that is no foot, knee or touching thigh counts.
fn crotch_height(body: &Body, middle: Vec3, left: Vec3, floor: f32) -> Option<f32> {
    let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
    let length = middle.y - floor;
    let forward = left.cross(Vec3::Y);
    (-3..=3)
        .filter_map(|k| {
            let from =
                Vec3::new(middle.x, floor - 0.01 * length, middle.z) + forward * (0.02 * k as f32 * length);
            let height = tree.first_hit(from, Vec3::Y)?.point.y;
            (height > floor + 0.6 * length && height < middle.y + 0.1 * length).then_some(height)
        })
        .min_by(f32::total_cmp)
}

/// A connected piece of a horizontal cut: segment lengths and midpoints.
#[derive(Default)]
struct Piece {
    segments: Vec<(Vec3, f32)>,
}

impl Piece {
    fn total(&self) -> f32 {
        self.segments.iter().map(|s| s.1).sum()
    }

    /// The smaller of the shares left and right of the plane between the legs.
    fn balance(&self, legs: &Legs) -> f32 {
        let left: f32 = self.segments.iter().filter(|s| legs.across(s.0) > 0.0).map(|s| s.1).sum();
        left.min(self.total() - left) / self.total()
    }
}

/// Cuts triangles at a height. Pieces are joined through the mesh's edges.
fn cut(positions: &[Vec3], triangles: &[[u32; 3]], y: f32) -> Vec<Piece> {
    let bits = |i: u32| (positions[i as usize] + 0.0).to_array().map(f32::to_bits);
    let mut ends: HashMap<[[u32; 3]; 2], usize> = HashMap::new();
    let mut segments = Vec::new();
    for tri in triangles {
        let above = tri.map(|i| positions[i as usize].y >= y);
        let mut found = Vec::with_capacity(2);
        for k in 0..3 {
            let (i, j) = (tri[k], tri[(k + 1) % 3]);
            if above[k] != above[(k + 1) % 3] {
                let (a, b) = (positions[i as usize], positions[j as usize]);
                let mut key = [bits(i), bits(j)];
                key.sort_unstable();
                let next = ends.len();
                found.push((*ends.entry(key).or_insert(next), a.lerp(b, (y - a.y) / (b.y - a.y))));
            }
        }
        if let [(i, a), (j, b)] = found[..] {
            segments.push((i, j, (a + b) * 0.5, a.distance(b)));
        }
    }
    let graph = Mesh {
        positions: vec![Vec3::ZERO; ends.len()],
        triangles: segments.iter().map(|s| [s.0 as u32, s.1 as u32, s.1 as u32]).collect(),
        uvs: Vec::new(),
    };
    let (label, count) = graph.components();
    let mut pieces: Vec<Piece> = (0..count).map(|_| Piece::default()).collect();
    for (i, _, at, length) in segments {
        pieces[label[i] as usize].segments.push((at, length));
    }
    pieces.retain(|p| p.total() > 0.0);
    pieces
}

fn smoothstep(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
