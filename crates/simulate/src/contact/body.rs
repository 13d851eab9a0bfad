//! The skinned surface of a moving body: where it is in a step, and the nearest point to a piece of cloth.

use super::limbs::{border_corners, free_arms, triangle_limbs, triangle_segments};
use glam::{Affine3A, DVec3, Vec3, Vec3A};
use toile_assets::Body;
use toile_geometry::Incidence;
use toile_geometry::bvh4::Bvh4;
use toile_geometry::distance::point_triangle;

/// A point of the surface.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// Triangle.
    pub triangle: u32,
    /// Weights of its corners.
    pub weights: [f64; 3],
    /// The point at the end of the step.
    pub point: DVec3,
    /// Smooth outward normal there.
    pub normal: DVec3,
}

/// What a search finds.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// A point, and whether it lies inside its limb's own surface and not where it is joined to another.
    pub found: Option<(Nearest, bool)>,
    /// Nothing is nearer than this, m.
    pub clear: f64,
}

/// How many times as far as the nearest point a far one may be that is found for it.
const FARTHER: f64 = 1.5;

/// The triangles of a piece of a limb in a tree.
#[derive(Clone, Debug)]
struct Segment {
    /// The limb it belongs to.
    limb: u8,
    tree: Bvh4,
    triangles: Vec<u32>,
    /// Its vertices, each once.
    vertices: Vec<u32>,
    /// What all of it moves together; the tree holds only what is left, so that its boxes stay small.
    way: DVec3,
    /// How far any of it moves at most besides what the body moves on average, in the whole motion and since the substep
    /// before, m.
    most: f64,
    moved: f64,
}

/// Body surface moving linearly from one set of bones to the next.
#[derive(Clone, Debug)]
pub struct BodySurface {
    body: Body,
    /// Vertices that coincide at rest share a normal.
    weld: Vec<u32>,
    /// At the start and the end of the motion, as skinned.
    from: Vec<Vec3A>,
    to: Vec<Vec3A>,
    /// At the end of the substep, and the same rounded for the trees.
    pub end: Vec<DVec3>,
    end_single: Vec<Vec3A>,
    /// Smooth normals of welded vertices at the start and the end of the motion; between them they go straight.
    normals: [Vec<DVec3>; 2],
    /// Share of the motion at the end of the substep, and how much of it comes within the substep.
    share: f64,
    part: f64,
    /// The mean of the whole motion, and of what there was since the substep before.
    mean: DVec3,
    common: DVec3,
    /// It was put somewhere else: where it was says nothing any more.
    jumped: bool,
    segments: Vec<Segment>,
    /// How many limbs there are.
    limb_count: usize,
    /// Triangles of arms where no bodice rests.
    free_arms: Vec<bool>,
    /// Segment of each triangle, the one of the same segment across the side opposite each corner, and those about each vertex.
    segment_of: Vec<u8>,
    beside: Vec<[u32; 3]>,
    fans: Incidence,
    /// Corners that lie between limbs, and between segments.
    border: Vec<[bool; 3]>,
    rim: Vec<[bool; 3]>,
    skinned: Vec<Vec3>,
}

/// No triangle.
const NONE: u32 = u32::MAX;

/// Per triangle the one of the same segment across the side opposite each corner.
fn across_sides(triangles: &[[u32; 3]], weld: &[u32], segment_of: &[u8]) -> Vec<[u32; 3]> {
    let mut first = std::collections::HashMap::new();
    let mut beside = vec![[NONE; 3]; triangles.len()];
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let side = [(k + 1) % 3, (k + 2) % 3].map(|k| weld[corners[k] as usize]);
            let key = (side[0].min(side[1]), side[0].max(side[1]), segment_of[t]);
            if let Some((other, opposite)) = first.insert(key, (t, k)) {
                beside[t][k] = other as u32;
                beside[other][opposite] = t as u32;
            }
        }
    }
    beside
}

impl BodySurface {
    /// A body that stands as `bones` put it.
    pub fn new(body: &Body, bones: &[Affine3A]) -> Self {
        let mut ids = std::collections::HashMap::new();
        let weld: Vec<u32> = body
            .mesh
            .positions
            .iter()
            .enumerate()
            .map(|(i, p)| *ids.entry(p.to_array().map(|c| (c + 0.0).to_bits())).or_insert(i as u32))
            .collect();
        let skinned = body.skinned_positions(bones);
        let now: Vec<Vec3A> = skinned.iter().map(|p| Vec3A::from(*p)).collect();
        let end: Vec<DVec3> = skinned.iter().map(|p| p.as_dvec3()).collect();
        let rest = &body.mesh.positions;
        let (limbs, count) = triangle_limbs(body);
        let border = border_corners(&body.mesh.triangles, &weld, &limbs);
        let (segment_of, limb_of) = triangle_segments(body, &limbs, count);
        let segments = limb_of
            .iter()
            .enumerate()
            .map(|(segment, &limb)| {
                let own: Vec<u32> = (0..segment_of.len() as u32)
                    .filter(|&t| segment_of[t as usize] as usize == segment)
                    .collect();
                let centre = |&t: &u32| {
                    let t = body.mesh.triangles[t as usize];
                    t.iter().map(|&i| rest[i as usize].as_dvec3()).sum::<DVec3>() / 3.0
                };
                let corners: Vec<[u32; 3]> = own.iter().map(|&t| body.mesh.triangles[t as usize]).collect();
                let tree = Bvh4::new(&own.iter().map(centre).collect::<Vec<_>>(), &corners);
                let mut vertices = corners.into_flattened();
                vertices.sort_unstable();
                vertices.dedup();
                Segment { limb, tree, triangles: own, vertices, way: DVec3::ZERO, most: 0.0, moved: 0.0 }
            })
            .collect();
        let rim = border_corners(&body.mesh.triangles, &weld, &segment_of);
        let beside = across_sides(&body.mesh.triangles, &weld, &segment_of);
        let mut surface = Self {
            body: body.clone(),
            mean: DVec3::ZERO,
            common: DVec3::ZERO,
            jumped: false,
            free_arms: free_arms(body),
            fans: Incidence::new(weld.len(), body.mesh.triangles.iter().map(|t| t.map(|i| weld[i as usize]))),
            weld,
            beside,
            segment_of,
            normals: [vec![DVec3::ZERO; now.len()], vec![DVec3::ZERO; now.len()]],
            from: now.clone(),
            to: now.clone(),
            end_single: now,
            share: 1.0,
            part: 0.0,
            end,
            segments,
            limb_count: count,
            border,
            rim,
            skinned,
        };
        surface.stand();
        surface
    }

    /// The body it is made of.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Begins a motion from where it is to `bones`.
    pub fn begin(&mut self, bones: &[Affine3A]) {
        std::mem::swap(&mut self.from, &mut self.to);
        self.normals.swap(0, 1);
        self.body.skin.skin_positions(&self.body.mesh.positions, bones, &mut self.skinned);
        for (to, s) in self.to.iter_mut().zip(&self.skinned) {
            *to = Vec3A::from(*s);
        }
        self.share = 0.0;
        self.face();
        self.refit();
    }

    /// Puts it at `bones` at once, without motion.
    pub fn place(&mut self, bones: &[Affine3A]) {
        self.begin(bones);
        self.stand();
        self.jumped = true;
    }

    /// Puts it at `bones`, where cloth knows it.
    pub fn put_back(&mut self, bones: &[Affine3A]) {
        self.place(bones);
        self.jumped = false;
    }

    /// Ends all motion where it would lead.
    fn stand(&mut self) {
        self.from.copy_from_slice(&self.to);
        self.face();
        let [before, after] = &mut self.normals;
        before.copy_from_slice(after);
        self.refit();
        self.advance(0.0, 1.0);
    }

    /// A substep from share `a` of the motion to share `b`.
    pub fn advance(&mut self, a: f64, b: f64) {
        // Both ways: a step that failed is taken again, and ends earlier.
        let share = (b - self.share).abs();
        self.common = self.mean * (b - self.share);
        for segment in &mut self.segments {
            segment.moved = if self.jumped { f64::INFINITY } else { segment.most * share };
        }
        self.jumped = false;
        self.share = b;
        self.part = b - a;
        let ends = self.end.iter_mut().zip(&mut self.end_single);
        for ((end, single), (from, to)) in ends.zip(self.from.iter().zip(&self.to)) {
            let from = from.as_dvec3();
            *end = from + (to.as_dvec3() - from) * b;
            *single = end.as_vec3a();
        }
    }

    /// Finds the normals at the end of the motion.
    fn face(&mut self) {
        let normals = &mut self.normals[1];
        normals.fill(DVec3::ZERO);
        for t in &self.body.mesh.triangles {
            let [p, q, r] = t.map(|i| self.to[i as usize]);
            let n = (q - p).cross(r - p).as_dvec3();
            for &i in t {
                normals[self.weld[i as usize] as usize] += n;
            }
        }
        for n in normals {
            *n = n.normalize_or_zero();
        }
    }

    /// Lets the trees hold the whole motion.
    fn refit(&mut self) {
        let (from, to) = (&self.from, &self.to);
        let way_of = |i: usize| (to[i] - from[i]).as_dvec3();
        self.mean = (0..to.len()).map(way_of).sum::<DVec3>() / to.len().max(1) as f64;
        for Segment { tree, vertices, way, most, .. } in &mut self.segments {
            let ways = || vertices.iter().map(|&i| way_of(i as usize));
            *way = ways().sum::<DVec3>() / vertices.len().max(1) as f64;
            *most = ways().map(|d| (d - self.mean).length_squared()).fold(0.0, f64::max).sqrt();
            tree.refit(from, to, way.as_vec3a());
        }
    }

    /// Whether a triangle belongs to an arm where no bodice rests on it.
    pub fn is_free_arm(&self, triangle: u32) -> bool {
        self.free_arms[triangle as usize]
    }

    /// How many limbs are asked separately.
    pub fn limb_count(&self) -> usize {
        self.limb_count
    }

    /// The limb of each segment.
    pub fn segments(&self) -> impl Iterator<Item = usize> + '_ {
        self.segments.iter().map(|s| s.limb as usize)
    }

    /// The nearest point of the whole surface within `radius`.
    pub fn nearest(&self, p: DVec3, mut radius: f64) -> Option<Nearest> {
        let mut best = None;
        for segment in 0..self.segments.len() {
            if let Some(found) = self.nearest_of(segment, p, radius, f64::INFINITY, None).found {
                radius = found.0.point.distance(p);
                best = Some(found.0);
            }
        }
        best
    }

    /// The limb whose surface is nearest to `p`.
    pub fn nearest_limb(&self, p: DVec3) -> usize {
        let near = self.nearest(p, f64::MAX.sqrt());
        near.map_or(0, |n| self.segments[self.segment_of[n.triangle as usize] as usize].limb as usize)
    }

    /// The nearest point of a limb within `radius` at the end of the substep, and whether it lies inside the
    /// limb's own surface and not where it is joined to another.
    pub fn nearest_on(&self, limb: usize, p: DVec3, mut radius: f64) -> Option<(Nearest, bool)> {
        let mut best = None;
        for segment in (0..self.segments.len()).filter(|&s| self.segments[s].limb as usize == limb) {
            let Segment { tree, way, .. } = &self.segments[segment];
            if tree.beyond(p - *way * self.share, radius * radius) {
                continue;
            }
            if let Some(near) = self.nearest_of(segment, p, radius, f64::INFINITY, None).found {
                radius = near.0.point.distance(p);
                best = Some(near);
            }
        }
        best
    }

    /// The nearest point of a segment, or, where it is farther than `far`, one that may be farther by `FARTHER`. `seed` is a
    /// triangle likely to be near.
    pub fn nearest_on_segment(&self, segment: usize, p: DVec3, far: f64, seed: Option<u32>) -> Search {
        self.nearest_of(segment, p, f64::INFINITY, far, seed)
    }

    /// Whether any of a segment is nearer to `p` than `radius`.
    pub fn is_within(&self, segment: usize, p: DVec3, radius: f64) -> bool {
        let Segment { tree, way, .. } = &self.segments[segment];
        !tree.beyond(p - *way * self.share, radius * radius)
            && self.nearest_of(segment, p, radius, f64::INFINITY, None).found.is_some()
    }

    /// Nothing of a segment is nearer than this to `p`, m: cheap, and of use far away.
    pub fn at_least(&self, segment: usize, p: DVec3) -> f64 {
        let Segment { tree, way, .. } = &self.segments[segment];
        tree.at_least(p - *way * self.share).sqrt()
    }

    fn nearest_of(&self, segment: usize, p: DVec3, radius: f64, far: f64, seed: Option<u32>) -> Search {
        let mut best: Option<(u32, [f64; 3], DVec3)> = None;
        let mut nearest = radius * radius;
        // Farther away than `far` what is not much nearer is not looked for.
        let limit = |d: f64| if d > far * far { (d / (FARTHER * FARTHER)).max(far * far) } else { d };
        let mut test = |t: u32| {
            let [a, b, c] = self.body.mesh.triangles[t as usize].map(|i| self.end[i as usize]);
            let w = point_triangle(p, a, b, c);
            let q = a * w[0] + b * w[1] + c * w[2];
            let d = q.distance_squared(p);
            if d < nearest {
                best = Some((t, w, q));
                nearest = d;
            }
            limit(nearest)
        };
        let mut clear = seed.map_or(limit(radius * radius), &mut test);
        let Segment { tree, triangles, way, .. } = &self.segments[segment];
        let gone = *way * self.share;
        tree.nearest(p, gone, &self.end_single, clear, |k, _| {
            clear = test(triangles[k as usize]);
            clear
        });
        let found = best.map(|(triangle, weights, point)| {
            (self.surface_point(triangle, weights, point), self.inside(triangle, weights))
        });
        Search { found, clear: clear.sqrt() }
    }

    /// The nearest point of a segment, no farther than `radius`, whose triangle looks the way `facing` does.
    pub fn nearest_facing(
        &self,
        segment: usize,
        p: DVec3,
        facing: DVec3,
        radius: f64,
    ) -> Option<(Nearest, bool)> {
        let mut best: Option<(u32, [f64; 3], DVec3)> = None;
        let mut nearest = radius * radius;
        let Segment { tree, triangles, way, .. } = &self.segments[segment];
        tree.nearest(p, *way * self.share, &self.end_single, nearest, |k, _| {
            let t = triangles[k as usize];
            let [a, b, c] = self.body.mesh.triangles[t as usize].map(|i| self.end[i as usize]);
            if (b - a).cross(c - a).dot(facing) > 0.0 {
                let w = point_triangle(p, a, b, c);
                let q = a * w[0] + b * w[1] + c * w[2];
                let d = q.distance_squared(p);
                if d < nearest {
                    best = Some((t, w, q));
                    nearest = d;
                }
            }
            nearest
        });
        let (t, w, q) = best?;
        Some((self.surface_point(t, w, q), self.inside(t, w)))
    }

    /// The segment of a triangle.
    pub fn segment_of(&self, triangle: u32) -> usize {
        self.segment_of[triangle as usize] as usize
    }

    /// Which way a triangle looks at the end of the substep.
    pub fn facing(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.body.mesh.triangles[triangle as usize].map(|i| self.end[i as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// Whether a point lies where its segment ends.
    pub fn is_on_rim(&self, at: &Nearest) -> bool {
        let rim = self.rim[at.triangle as usize];
        (0..3).all(|k| rim[k] || at.weights[k] < 1e-9)
    }

    /// How far the body moved on average since the substep before, and how far at most any of each segment besides that.
    pub fn moved(&self) -> (DVec3, impl Iterator<Item = f64> + '_) {
        (self.common, self.segments.iter().map(|s| s.moved))
    }

    /// The nearest point of a segment that is found from triangle to triangle, each nearer than the one before; nothing where
    /// that takes long.
    pub fn descend(&self, from: u32, p: DVec3) -> Option<(Nearest, bool)> {
        let measure = |t: u32| {
            let [a, b, c] = self.body.mesh.triangles[t as usize].map(|i| self.end[i as usize]);
            let w = point_triangle(p, a, b, c);
            let q = a * w[0] + b * w[1] + c * w[2];
            (t, w, q, q.distance_squared(p))
        };
        let mut best = measure(from);
        for _ in 0..8 {
            let (t, w, q, d) = best;
            let mut see = |other: u32| {
                let found = measure(other);
                best = if found.3 < best.3 { found } else { best };
            };
            let on_sides = w.iter().filter(|w| **w <= 0.0).count();
            if on_sides == 2 {
                // At a corner: whatever lies about it.
                let k = w.iter().position(|w| *w > 0.0)?;
                let v = self.weld[self.body.mesh.triangles[t as usize][k] as usize];
                let about = self.fans.of(v).iter().filter(|&&o| o != t);
                about
                    .filter(|&&o| self.segment_of[o as usize] == self.segment_of[t as usize])
                    .for_each(|&o| see(o));
            } else if on_sides == 1 {
                let k = w.iter().position(|w| *w <= 0.0)?;
                Some(self.beside[t as usize][k]).filter(|&o| o != NONE).into_iter().for_each(see);
            }
            if best.3 >= d {
                return Some((self.surface_point(t, w, q), self.inside(t, w)));
            }
        }
        None
    }

    /// The point of a triangle nearest to `p`, as [`BodySurface::nearest_on`] gives it, if it lies inside the triangle.
    pub fn over(&self, triangle: u32, p: DVec3) -> Option<(Nearest, bool)> {
        let [a, b, c] = self.body.mesh.triangles[triangle as usize].map(|i| self.end[i as usize]);
        let w = point_triangle(p, a, b, c);
        if w.iter().any(|w| *w <= 0.0) {
            return None;
        }
        Some((self.surface_point(triangle, w, a * w[0] + b * w[1] + c * w[2]), self.inside(triangle, w)))
    }

    /// A material point, as [`BodySurface::nearest_on`] gives it.
    pub fn material(&self, triangle: u32, weights: [f64; 3]) -> (Nearest, bool) {
        self.material_at(triangle, weights, self.point(triangle, weights))
    }

    /// The same, of one that is known to be at `point`.
    pub fn material_at(&self, triangle: u32, weights: [f64; 3], point: DVec3) -> (Nearest, bool) {
        (self.surface_point(triangle, weights, point), self.inside(triangle, weights))
    }

    /// Whether a point lies inside its limb's own surface and not where it is joined to another.
    fn inside(&self, triangle: u32, weights: [f64; 3]) -> bool {
        let border = self.border[triangle as usize];
        (0..3).any(|k| !border[k] && weights[k] >= 1e-9)
    }

    fn surface_point(&self, triangle: u32, weights: [f64; 3], point: DVec3) -> Nearest {
        let t = self.body.mesh.triangles[triangle as usize];
        let [before, after] = &self.normals;
        let corner = |k: usize| {
            let v = self.weld[t[k] as usize] as usize;
            before[v].lerp(after[v], self.share) * weights[k]
        };
        let smooth: DVec3 = (0..3).map(corner).sum();
        let normal = smooth.try_normalize().unwrap_or_else(|| {
            let [a, b, c] = t.map(|i| self.end[i as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        });
        Nearest { triangle, weights, point, normal }
    }

    /// How far the surface moves in the substep, on average.
    pub fn mean_motion(&self) -> DVec3 {
        self.mean * self.part
    }

    /// How far a material point moves in the substep.
    pub fn motion(&self, at: &Nearest) -> DVec3 {
        let t = self.body.mesh.triangles[at.triangle as usize];
        let way = |k: usize| {
            let i = t[k] as usize;
            (self.to[i].as_dvec3() - self.from[i].as_dvec3()) * at.weights[k]
        };
        (way(0) + way(1) + way(2)) * self.part
    }

    /// A material point at the end of the substep.
    #[inline]
    pub fn point(&self, triangle: u32, weights: [f64; 3]) -> DVec3 {
        let t = self.body.mesh.triangles[triangle as usize];
        self.end[t[0] as usize] * weights[0]
            + self.end[t[1] as usize] * weights[1]
            + self.end[t[2] as usize] * weights[2]
    }
}
