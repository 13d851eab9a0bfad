//! The limb cache: where samples of cloth last found the limbs of a body, kept from step to step so that few of them search.

use super::body::{BodySurface, Nearest};
use super::surfaces::SEARCH_TOUCHING_M;
use crate::scene::{Sample, Scene};
use glam::{DVec3, Vec3};

/// The nearest point of a limb when it was last looked for: it tells how long the sample may be left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CachedNearest {
    weights: [f32; 3],
    /// From that point to the sample.
    offset: Vec3,
    /// When it was searched for, s.
    searched_at: f32,
    /// Whether the sample is inside the limb: it is never left alone.
    inside: bool,
}

/// Which limb each sample belongs to, and where it last found all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimbCache {
    /// How many limbs there are.
    pub limb_count: usize,
    /// The limb of each segment.
    limb_of: Vec<u8>,
    /// Per sample and segment the triangle last found nearest.
    seeds: Vec<u32>,
    /// The limb each sample was nearest to when the garment was put on.
    homes: Vec<u32>,
    /// Per vertex and segment how far the two may still move, together, before the segment can be near, m.
    slack: Vec<f64>,
    /// Per vertex the segments, as bits, that may be near.
    near: Vec<u16>,
    /// Where each vertex was when it was last looked at.
    looked_at: Vec<DVec3>,
    /// Per vertex how far the samples beside it are that it speaks for, m.
    spread: Vec<f64>,
    /// What was last found per sample and segment.
    nearest: Vec<CachedNearest>,
    /// Time of all looks so far, s.
    clock: f32,
}

/// Less cloth than this on a limb is no sleeve and no trouser leg, m².
const SLEEVE_M2: f64 = 0.03;
/// A sample that moved less on a limb than this, m, within this time, s, is taken to be over the same triangle.
const STAYS_M: f64 = 5e-4;
const STAYS_SHARE: f64 = 0.25;
const STAYS_SECS: f32 = 0.1;
/// A pressed sample that moved less on a limb than this, m, lies on the same point of it still: on a wrist that is a
/// fraction of a micrometre of depth. (What is not yet pressed is searched for: a plane 1 mm away from it is 50 µm off.) Pressed cloth that is found over another point each step trembles.
const RESTS_M: f64 = 1e-4;
/// Within this time, s, of a search, and moved by no more than this since the last look, m (or this square of a share of the
/// distance), the nearest triangle is one that can be walked to.
const WALKS_SECS: f32 = 0.1;
const WALKS_M: f64 = 5e-3;
const WALKS_SHARE: f32 = 0.1;
/// Samples that a vertex speaks for are this share of an edge away.
const SPEAKS_FOR: f64 = 0.55;

impl LimbCache {
    /// Notes which limb each sample lies on.
    pub fn new(scene: &Scene, x: &[DVec3], body: &BodySurface) -> Self {
        let limb_of: Vec<u8> = body.segments().map(|limb| limb as u8).collect();
        let segments = limb_of.len();
        let mut spread = vec![0.0f64; scene.len()];
        for (e, length) in scene.edges.iter().zip(&scene.edge_lengths) {
            e.iter().for_each(|&v| spread[v as usize] = spread[v as usize].max(SPEAKS_FOR * length));
        }
        let mut cache = Self {
            limb_count: body.limb_count(),
            limb_of,
            spread,
            seeds: vec![u32::MAX; scene.samples.len() * segments],
            homes: scene.samples.iter().map(|s| body.nearest_limb(s.point(x)) as u32).collect(),
            slack: vec![0.0; scene.len() * segments],
            near: vec![0; scene.len()],
            looked_at: x.to_vec(),
            nearest: vec![CachedNearest::default(); scene.samples.len() * segments],
            clock: 0.0,
        };
        cache.give_back_patches(scene);
        cache
    }

    /// The limb that a sample belongs to.
    pub fn home(&self, s: usize) -> usize {
        self.homes[s] as usize
    }

    /// A triangle of a segment that is likely to be near.
    fn seed(&self, s: usize, segment: usize) -> Option<u32> {
        let seed = self.seeds[s * self.limb_of.len() + segment];
        (seed != u32::MAX).then_some(seed)
    }

    /// The nearest point of a limb to sample `s`, which is at `y` and so far from its corners, and whether it lies inside
    /// the limb's own surface; nothing where it cannot have come as near as `within`. `touching` tells whether it
    /// was pressed in the last step.
    pub fn look(
        &mut self,
        scene: &Scene,
        body: &BodySurface,
        s: usize,
        limb: usize,
        y: DVec3,
        from_corners: &[f64; 3],
        touching: bool,
        within: f64,
    ) -> Option<(Nearest, bool)> {
        let near = self.near_segments(&scene.samples[s]);
        let mut best: Option<(Nearest, bool)> = None;
        for segment in 0..self.limb_of.len() {
            if self.limb_of[segment] as usize != limb || near & 1 << segment == 0 {
                continue;
            }
            let found = self.look_at(scene, body, s, segment, y, from_corners, touching, within);
            let Some(found) = found else { continue };
            let d = |f: &(Nearest, bool)| f.0.point.distance_squared(y);
            if best.is_none_or(|best| d(&found) < d(&best)) {
                best = Some(found);
            }
        }
        best
    }

    #[inline]
    fn look_at(
        &mut self,
        scene: &Scene,
        body: &BodySurface,
        s: usize,
        segment: usize,
        y: DVec3,
        from_corners: &[f64; 3],
        touching: bool,
        within: f64,
    ) -> Option<(Nearest, bool)> {
        let vertices = scene.len();
        let is_vertex = s < vertices;
        if !is_vertex && self.between(&scene.samples[s], from_corners, segment) > 0.0 {
            return None;
        }
        let at = s * self.limb_of.len() + segment;
        let seed = self.seed(s, segment);
        let stays = seed.and_then(|seed| match touching {
            true => self.rests(body, at, seed, y),
            false => self.stays(body, at, seed, y),
        });
        let walked = seed.filter(|_| stays.is_none()).and_then(|seed| self.walks(body, at, seed, y));
        let found = stays.or(walked).or_else(|| body.nearest_on_segment(segment, y, f64::INFINITY, seed));
        // Limbs are open where they are joined: far behind the rim of one is not inside it.
        let outside = found.is_none_or(|(f, _)| {
            let off = y - f.point;
            off.dot(f.normal) > 0.0 || off.length() > 2.0 * SEARCH_TOUCHING_M
        });
        if is_vertex {
            let away = found.map_or(f64::INFINITY, |f| f.0.point.distance(y));
            self.note_clear(s, segment, if outside { away } else { 0.0 }, within);
        }
        if let (Some((f, _)), None) = (&found, stays) {
            let searched_at = if walked.is_some() { self.nearest[at].searched_at } else { self.clock };
            let weights = f.weights.map(|w| w as f32);
            let offset = (y - f.point).as_vec3();
            self.nearest[at] = CachedNearest { weights, offset, searched_at, inside: !outside };
        }
        self.seeds[at] = found.map_or(u32::MAX, |f| f.0.triangle);
        found
    }

    /// An armhole lies on the arm for a few vertices, but it is no sleeve: patches too small to go around a limb belong
    /// to the trunk, or the arm would take the dress along.
    fn give_back_patches(&mut self, scene: &Scene) {
        let mut beside = vec![Vec::new(); scene.len()];
        for &[a, b] in &scene.edges {
            beside[a as usize].push(b);
            beside[b as usize].push(a);
        }
        let mut seen = vec![false; scene.len()];
        for start in 0..scene.len() {
            if seen[start] || self.homes[start] == 0 {
                continue;
            }
            let mut patch = vec![start as u32];
            seen[start] = true;
            let mut next = 0;
            while next < patch.len() {
                for &v in &beside[patch[next] as usize] {
                    if !seen[v as usize] && self.homes[v as usize] == self.homes[start] {
                        seen[v as usize] = true;
                        patch.push(v);
                    }
                }
                next += 1;
            }
            if patch.iter().map(|&v| scene.area[v as usize]).sum::<f64>() < SLEEVE_M2 {
                patch.iter().for_each(|&v| self.homes[v as usize] = 0);
            }
        }
        // What lies between vertices goes with them.
        for s in scene.len()..scene.samples.len() {
            let v = scene.samples[s].v;
            if v.iter().any(|&v| self.homes[v as usize] == 0) {
                self.homes[s] = 0;
            }
        }
    }

    /// Takes in how far vertices, which are at `x` now, and limbs have moved since the last look, `h` seconds ago.
    pub fn drift(&mut self, body: Option<&BodySurface>, x: &[DVec3], h: f64) {
        self.clock += h as f32;
        let Some(body) = body else {
            self.looked_at.clear();
            self.looked_at.extend_from_slice(x);
            return;
        };
        let (common, moved) = body.moved();
        let mut limbs = [0.0; 16];
        moved.zip(&mut limbs).for_each(|(m, limb)| *limb = m);
        for (v, (x, at)) in x.iter().zip(&mut self.looked_at).enumerate() {
            let own = (*x - *at - common).length();
            *at = *x;
            let slack = &mut self.slack[v * self.limb_of.len()..(v + 1) * self.limb_of.len()];
            let mut near = 0;
            for (segment, (slack, limb)) in slack.iter_mut().zip(&limbs).enumerate() {
                *slack -= own + limb;
                near |= u16::from(*slack <= 0.0) << segment;
            }
            self.near[v] = near;
        }
    }

    /// Takes in that a vertex moved to `x` within a step. Returns whether it moved more than `far`.
    pub fn stray(&mut self, v: usize, x: DVec3, far: f64) -> bool {
        let own = x.distance_squared(self.looked_at[v]);
        if own <= far * far {
            return false;
        }
        self.looked_at[v] = x;
        for segment in 0..self.limb_of.len() {
            let slack = &mut self.slack[v * self.limb_of.len() + segment];
            *slack -= own.sqrt();
            self.near[v] |= u16::from(*slack <= 0.0) << segment;
        }
        true
    }

    /// The limbs, as bits, that may be near a sample.
    #[inline]
    pub fn near(&self, sample: &Sample) -> u16 {
        let segments = self.near_segments(sample);
        if segments == 0 {
            return 0;
        }
        let near = (0..self.limb_of.len()).filter(|segment| segments & 1 << segment != 0);
        near.fold(0, |limbs, segment| limbs | 1 << self.limb_of[segment])
    }

    /// The segments, as bits, that may be near a sample: those that may be near all its corners.
    #[inline]
    fn near_segments(&self, sample: &Sample) -> u16 {
        sample.v.iter().fold(u16::MAX, |near, &v| near & self.near[v as usize])
    }

    /// Notes that a limb is at least `clear` away from a vertex.
    fn note_clear(&mut self, v: usize, segment: usize, clear: f64, within: f64) {
        let slack = clear - within - self.spread[v];
        self.slack[v * self.limb_of.len() + segment] = slack;
        let bit = 1 << segment;
        self.near[v] = if slack > 0.0 { self.near[v] & !bit } else { self.near[v] | bit };
    }

    /// The nearest point of a limb to a sample that moved little since a search found it: from triangle to triangle.
    fn walks(&self, body: &BodySurface, at: usize, seed: u32, y: DVec3) -> Option<(Nearest, bool)> {
        let cached = &self.nearest[at];
        if self.clock - cached.searched_at > WALKS_SECS {
            return None;
        }
        let moved =
            (y - body.point(seed, cached.weights.map(f64::from))).distance_squared(cached.offset.as_dvec3());
        if moved > (WALKS_M * WALKS_M).max(f64::from(WALKS_SHARE * cached.offset.length_squared())) {
            return None;
        }
        body.descend(seed, y)
    }

    /// The surface where a sample lies that has not slid on it since it was last looked for.
    fn rests(&self, body: &BodySurface, at: usize, seed: u32, y: DVec3) -> Option<(Nearest, bool)> {
        let cached = &self.nearest[at];
        let weights = cached.weights.map(f64::from);
        let moved = (y - body.point(seed, weights)).distance_squared(cached.offset.as_dvec3());
        (moved < RESTS_M * RESTS_M).then(|| body.material(seed, weights))
    }

    /// The nearest point of a limb to a sample that hardly moved on it since it was last looked for: over the inside of the
    /// same triangle.
    fn stays(&self, body: &BodySurface, at: usize, seed: u32, y: DVec3) -> Option<(Nearest, bool)> {
        let cached = &self.nearest[at];
        if cached.inside || self.clock - cached.searched_at > STAYS_SECS {
            return None;
        }
        let moved = (y - body.point(seed, cached.weights.map(f64::from))).distance(cached.offset.as_dvec3());
        if moved > STAYS_M.max(STAYS_SHARE * f64::from(cached.offset.length())) {
            return None;
        }
        body.over(seed, y)
    }

    /// How far a sample between vertices may still move before a limb can be near: distances change no faster than one moves.
    #[inline]
    fn between(&self, sample: &Sample, from_corners: &[f64; 3], segment: usize) -> f64 {
        let corner = |k: usize| {
            let v = sample.v[k] as usize;
            self.slack[v * self.limb_of.len() + segment] + self.spread[v] - from_corners[k]
        };
        corner(0).max(corner(1)).max(corner(2))
    }
}
