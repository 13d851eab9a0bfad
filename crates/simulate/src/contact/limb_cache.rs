//! The limb cache: where samples of cloth last found the limbs of a body, kept from step to step so that few of them search.

use super::body::{BodySurface, Nearest, Search};
use super::surfaces::SEARCH_TOUCHING_M;
use crate::lists::append;
use crate::scene::Scene;
use glam::{DVec3, Vec3};

#[cfg(test)]
mod tests;

/// The nearest point of a limb when it was last looked for: it tells how long the sample may be left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CachedNearest {
    triangle: u32,
    weights: [f32; 3],
    /// From that point to the sample.
    offset: Vec3,
    /// When it was searched for, s.
    searched_at: f32,
    /// Nothing of the limb was nearer than this then, less what the sample has moved on it since, m; with its sign turned for a
    /// sample inside the limb.
    clear: f32,
}

impl CachedNearest {
    fn clear(&self) -> f32 {
        self.clear.abs()
    }

    /// Whether the sample is inside the limb: it is never left alone.
    fn inside(&self) -> bool {
        self.clear.is_sign_negative()
    }
}

/// No place in a list.
const NOWHERE: u32 = u32::MAX;

/// Which limb each sample belongs to, and where it last found all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimbCache {
    /// How many limbs there are.
    pub limb_count: usize,
    /// The limb of each segment.
    limb_of: Vec<u8>,
    /// Per sample and segment which of `nearest` was last found there. Most segments are too far from a sample for any.
    places: Vec<u32>,
    /// The limb each sample was nearest to when the garment was put on.
    homes: Vec<u8>,
    /// Per segment and sample how far the two may still move, together, before the segment can be near, m.
    slack: Vec<f32>,
    /// Per sample the segments, as bits, that may be near.
    near: Vec<u16>,
    /// Where each sample was when it was last looked at, and how far it came since the look before, m.
    looked_at: Vec<DVec3>,
    came: Vec<f32>,
    nearest: Vec<CachedNearest>,
    /// Which of them nobody needs any more.
    free: Vec<u32>,
    /// Per sample and segment the triangle on whose side the sample belongs: where it is worn, on its own limb; elsewhere where
    /// it was last outside, or was first seen inside.
    entered: Vec<u32>,
    /// Whether a sample is worn on its limb, as a sleeve is.
    worn: Vec<bool>,
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
/// What is followed from triangle to triangle may not be the nearest any more, but nothing is nearer than this share of it.
const FOLLOWED: f64 = 0.5;
/// How many times what a sample moves over one point of a limb it may move over another near it.
const ELSEWHERE: f32 = 1.25;
/// Farther away than this, m, the nearest point need not be known: nothing is pushed from there. For samples that were
/// pressed in the last step it is more.
const FAR_M: f64 = 0.05;
const FAR_TOUCHING_M: f64 = 0.08;
/// What rounding may take from slack in all its updates, m.
const ROUNDING_M: f64 = 1e-4;
/// Less deep than this, m, a sample is where it seems to be; deeper the nearest side need not be the one it came from.
const SHALLOW_M: f64 = 2e-3;

/// Where a sample meets a limb.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The point of the surface that it is held against.
    pub near: Nearest,
    /// Whether that lies inside the limb's own surface, and not where it is joined to another.
    pub inside: bool,
    /// Whether it is not the nearest point but the nearest on the side the sample came in.
    pub kept: bool,
}

impl LimbCache {
    /// Notes which limb each sample lies on.
    pub fn new(scene: &Scene, x: &[DVec3], body: &BodySurface) -> Self {
        let limb_of: Vec<u8> = body.segments().map(|limb| limb as u8).collect();
        let segments = limb_of.len();
        let samples = scene.samples.len();
        let mut cache = Self {
            limb_count: body.limb_count(),
            limb_of,
            places: vec![NOWHERE; samples * segments],
            homes: scene.samples.iter().map(|s| body.nearest_limb(s.point(x)) as u8).collect(),
            slack: vec![0.0; samples * segments],
            near: vec![0; samples],
            looked_at: scene.samples.iter().map(|s| s.point(x)).collect(),
            came: vec![0.0; samples],
            nearest: Vec::new(),
            free: Vec::new(),
            entered: vec![u32::MAX; samples * segments],
            worn: vec![false; samples],
            clock: 0.0,
        };
        cache.give_back_patches(scene);
        cache.note_worn(scene, x, body);
        cache
    }

    /// Notes on which side of its own limb each sample is worn. Vertices beside each other are worn beside each other, so what
    /// an elbow squeezes comes out on one side; where each of them came in last is not as sure.
    fn note_worn(&mut self, scene: &Scene, x: &[DVec3], body: &BodySurface) {
        let segments = self.limb_of.len();
        for (s, sample) in scene.samples.iter().enumerate() {
            let (home, y) = (self.home(s), sample.point(x));
            self.worn[s] = home != 0 && body.nearest_on(home, y, FAR_M).is_some();
            for segment in (0..segments).filter(|&k| self.worn[s] && self.limb_of[k] as usize == home) {
                let found = body.nearest_on_segment(segment, y, f64::INFINITY, None).found;
                self.entered[s * segments + segment] = found.map_or(u32::MAX, |f| f.0.triangle);
            }
        }
    }

    /// The limb that a sample belongs to.
    pub fn home(&self, s: usize) -> usize {
        self.homes[s] as usize
    }

    /// What was last found of a segment.
    fn last(&self, at: usize) -> Option<&CachedNearest> {
        self.nearest.get(self.places[at] as usize)
    }

    /// Notes what was found of a segment, or that nothing was.
    fn note(&mut self, at: usize, found: Option<CachedNearest>) {
        let place = self.places[at];
        match found {
            Some(found) if place != NOWHERE => self.nearest[place as usize] = found,
            Some(found) => match self.free.pop() {
                Some(free) => {
                    self.nearest[free as usize] = found;
                    self.places[at] = free;
                }
                None => {
                    self.places[at] = self.nearest.len() as u32;
                    append(&mut self.nearest, found);
                }
            },
            None if place != NOWHERE => {
                append(&mut self.free, place);
                self.places[at] = NOWHERE;
            }
            None => {}
        }
    }

    /// Where sample `s`, which is at `y`, meets a limb: at its nearest point, or, inside, at the nearest on the side it came in;
    /// nothing where it cannot have come as near as `within`. `touching` tells whether it was pressed in the last step.
    /// The second is of another piece of the limb that the sample is inside of as well, as in the crook of an elbow.
    pub fn look(
        &mut self,
        scene: &Scene,
        body: &BodySurface,
        s: usize,
        limb: usize,
        y: DVec3,
        touching: bool,
        within: f64,
    ) -> [Option<Meeting>; 2] {
        let near = self.near[s];
        let mut found: [Option<(Nearest, bool)>; 2] = [None; 2];
        let gap = |f: &Nearest| (y - f.point).dot(f.normal);
        let mut see = |cache: &mut Self, segments: u16| {
            for segment in (0..cache.limb_of.len()).filter(|segment| segments & 1 << segment != 0) {
                if cache.limb_of[segment] as usize != limb || cache.corners_are_clear(scene, s, segment, y) {
                    continue;
                }
                let Some(new) = cache.look_at(body, s, segment, y, touching, within) else { continue };
                let d = |f: &(Nearest, bool)| f.0.point.distance_squared(y);
                found = match found {
                    [Some(best), _] if d(&best) <= d(&new) => [Some(best), Some(new)],
                    [best, _] => [Some(new), best],
                };
            }
            found
        };
        let mut met = see(self, near);
        // Pieces are open where they are joined: behind the rim of a shin it may be outside of the thigh.
        if met[0].is_some_and(|(f, _)| gap(&f) <= 0.0) {
            met = see(self, !near);
        }
        let deep = |(f, _): &(Nearest, bool)| {
            gap(f) < 0.0 && !body.is_on_rim(f) && f.point.distance(y) < SEARCH_TOUCHING_M
        };
        let meet = |(near, inside): (Nearest, bool)| {
            let kept = self.side_of_entry(body, s, &near, y);
            let (near, inside) = kept.unwrap_or((near, inside));
            Meeting { near, inside, kept: kept.is_some() }
        };
        let [first, second] = [met[0].map(meet), met[1].filter(deep).map(meet)];
        let opposed = |m: &Meeting| first.is_some_and(|first| first.near.normal.dot(m.near.normal) < 0.0);
        [first, second.filter(opposed)]
    }

    /// The nearest point on the side where a sample came in, where that is not the side it is nearest to now. Cloth that a
    /// bent elbow or an arm at rest on the body squeezes goes deeper into a limb than its axis; out on the nearest side it
    /// would go through the limb, vertex by vertex to all sides, and a sleeve would stay hung up inside its arm.
    fn side_of_entry(
        &self,
        body: &BodySurface,
        s: usize,
        near: &Nearest,
        y: DVec3,
    ) -> Option<(Nearest, bool)> {
        if (y - near.point).dot(near.normal) > -SHALLOW_M {
            return None;
        }
        let segment = body.segment_of(near.triangle);
        let entered = self.entered[s * self.limb_of.len() + segment];
        let facing = (entered != u32::MAX).then(|| body.facing(entered))?;
        if facing.dot(near.normal) > 0.0 {
            return None;
        }
        let kept = body.nearest_facing(segment, y, facing, 2.0 * SEARCH_TOUCHING_M);
        // Outside of it, between two folds of one limb, it did not come in there: then it is nearest to where it did.
        kept.filter(|(kept, _)| (y - kept.point).dot(kept.normal) <= 0.0)
    }

    /// Notes on which side of a segment a sample is, while it is outside or as good as.
    fn note_side(&mut self, body: &BodySurface, at: usize, found: &Option<(Nearest, bool)>, y: DVec3) {
        let (s, segment) = (at / self.limb_of.len(), at % self.limb_of.len());
        if self.worn[s] && self.limb_of[segment] as usize == self.home(s) {
            return;
        }
        let entered = &mut self.entered[at];
        let Some((f, _)) = found.as_ref().filter(|(f, _)| f.point.distance_squared(y) < FAR_M * FAR_M) else {
            *entered = u32::MAX;
            return;
        };
        let deep = (y - f.point).dot(f.normal) <= -SHALLOW_M;
        if (!deep && !body.is_on_rim(f)) || *entered == u32::MAX {
            *entered = f.triangle;
        }
    }

    /// Whether a sample between vertices is as clear of a segment as they say: distances change no faster than one moves.
    #[inline]
    fn corners_are_clear(&mut self, scene: &Scene, s: usize, segment: usize, y: DVec3) -> bool {
        if s < scene.len() {
            return false;
        }
        let samples = self.came.len();
        let clear = |v: u32| {
            let v = v as usize;
            self.slack[segment * samples + v] - y.distance(self.looked_at[v]) as f32
        };
        let [a, b, c] = scene.samples[s].v.map(clear);
        let slack = a.max(b).max(c);
        if slack > 0.0 {
            self.slack[segment * samples + s] = slack;
            self.near[s] &= !(1 << segment);
        }
        slack > 0.0
    }

    #[inline]
    fn look_at(
        &mut self,
        body: &BodySurface,
        s: usize,
        segment: usize,
        y: DVec3,
        touching: bool,
        within: f64,
    ) -> Option<(Nearest, bool)> {
        let at = s * self.limb_of.len() + segment;
        let last = self.last(at);
        let stays = last.and_then(|last| match touching {
            true => rests(body, last, y),
            false => self.stays(body, last, y),
        });
        let walked = last.filter(|_| stays.is_none()).and_then(|last| self.walks(body, segment, last, y));
        let known = stays.or(walked);
        if known.is_none() && !touching {
            let clear = body.at_least(segment, y);
            if clear > FAR_M {
                self.note_clear(s, segment, clear, within);
                self.note(at, None);
                self.note_side(body, at, &None, y);
                return None;
            }
        }
        let Search { found, clear } = match known {
            Some(((near, _), moved)) => {
                let clear = last.map_or(0.0, CachedNearest::clear) - ELSEWHERE * moved as f32;
                let clear = f64::from(clear).max(FOLLOWED * near.point.distance(y));
                Search { found: known.map(|k| k.0), clear }
            }
            None => {
                let far = if touching { FAR_TOUCHING_M } else { FAR_M };
                body.nearest_on_segment(segment, y, far, last.map(|last| last.triangle))
            }
        };
        let searched_at = last.filter(|_| walked.is_some()).map_or(self.clock, |last| last.searched_at);
        // Limbs are open where they are joined: far behind the rim of one is not inside it.
        let outside = found.is_none_or(|(f, _)| {
            let off = y - f.point;
            off.dot(f.normal) > 0.0 || off.length() > 2.0 * SEARCH_TOUCHING_M
        });
        self.note_clear(s, segment, if outside { clear } else { 0.0 }, within);
        self.note_side(body, at, &found, y);
        // What it stays over is on the same triangle as before.
        if stays.is_none() {
            let note = found.as_ref().map(|(f, _)| CachedNearest {
                triangle: f.triangle,
                weights: f.weights.map(|w| w as f32),
                offset: (y - f.point).as_vec3(),
                searched_at,
                clear: (clear as f32).copysign(if outside { 1.0 } else { -1.0 }),
            });
            self.note(at, note);
        }
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

    /// Takes in how far samples, with the vertices at `x` now, and limbs have moved since the last look, `h` seconds ago.
    pub fn drift(&mut self, scene: &Scene, body: Option<&BodySurface>, x: &[DVec3], h: f64) {
        self.clock += h as f32;
        let Some(body) = body else {
            self.looked_at.clear();
            self.looked_at.extend(scene.samples.iter().map(|s| s.point(x)));
            return;
        };
        let (common, moved) = body.moved();
        for ((sample, at), came) in scene.samples.iter().zip(&mut self.looked_at).zip(&mut self.came) {
            let y = sample.point(x);
            *came = (y - *at - common).length() as f32;
            *at = y;
        }
        self.near.fill(0);
        for (segment, (slack, limb)) in self.slack.chunks_mut(self.came.len().max(1)).zip(moved).enumerate() {
            let limb = limb as f32;
            for ((slack, came), near) in slack.iter_mut().zip(&self.came).zip(&mut self.near) {
                *slack -= came + limb;
                *near |= u16::from(*slack <= 0.0) << segment;
            }
        }
    }

    /// Takes in that a sample moved to `y` within a step, if that is more than `far`, and says so.
    pub fn stray(&mut self, s: usize, y: DVec3, far: f64) -> bool {
        let own = y.distance_squared(self.looked_at[s]);
        if own <= far * far {
            return false;
        }
        self.looked_at[s] = y;
        let own = own.sqrt() as f32;
        for segment in 0..self.limb_of.len() {
            let slack = &mut self.slack[segment * self.came.len() + s];
            *slack -= own;
            self.near[s] |= u16::from(*slack <= 0.0) << segment;
        }
        true
    }

    /// The limbs, as bits, that may be near a sample.
    #[inline]
    pub fn near(&self, s: usize) -> u16 {
        let mut segments = self.near[s];
        let mut limbs = 0;
        while segments != 0 {
            limbs |= 1 << self.limb_of[segments.trailing_zeros() as usize];
            segments &= segments - 1;
        }
        limbs
    }

    /// Notes that a limb is at least `clear` away from a sample.
    fn note_clear(&mut self, s: usize, segment: usize, clear: f64, within: f64) {
        let slack = (clear - within - ROUNDING_M) as f32;
        self.slack[segment * self.came.len() + s] = slack;
        let bit = 1 << segment;
        self.near[s] = if slack > 0.0 { self.near[s] & !bit } else { self.near[s] | bit };
    }

    /// The nearest point of a limb to a sample that moved little since a search found it, from triangle to triangle, and how
    /// far the sample moved on the limb since it was last looked for.
    fn walks(
        &self,
        body: &BodySurface,
        segment: usize,
        cached: &CachedNearest,
        y: DVec3,
    ) -> Option<((Nearest, bool), f64)> {
        if self.clock - cached.searched_at > WALKS_SECS {
            return None;
        }
        let seed = cached.triangle;
        let moved =
            (y - body.point(seed, cached.weights.map(f64::from))).distance_squared(cached.offset.as_dvec3());
        if moved > (WALKS_M * WALKS_M).max(f64::from(WALKS_SHARE * cached.offset.length_squared())) {
            return None;
        }
        let moved = moved.sqrt();
        let found = body.descend(seed, y)?;
        // A walk ends at what is nearest about it, as on the open rim of an upper arm, while another part of the piece turns
        // towards the sample. What is far is not left alone for a guess: where more has moved than what was searched for
        // allows, that is looked after.
        let far = found.0.point.distance(y);
        let clear = f64::from(cached.clear()) - f64::from(ELSEWHERE) * moved;
        let sure = far < FAR_M || clear >= FOLLOWED * far || !body.is_within(segment, y, FOLLOWED * far);
        sure.then_some((found, moved))
    }

    /// The nearest point of a limb to a sample that hardly moved on it since it was last looked for: over the inside of the
    /// same triangle.
    fn stays(&self, body: &BodySurface, cached: &CachedNearest, y: DVec3) -> Option<((Nearest, bool), f64)> {
        if cached.inside() || self.clock - cached.searched_at > STAYS_SECS {
            return None;
        }
        let seed = cached.triangle;
        let moved = (y - body.point(seed, cached.weights.map(f64::from))).distance(cached.offset.as_dvec3());
        if moved > STAYS_M.max(STAYS_SHARE * f64::from(cached.offset.length())) {
            return None;
        }
        Some((body.over(seed, y)?, moved))
    }
}

/// The surface where a sample lies that has not slid on it since it was last looked for.
fn rests(body: &BodySurface, cached: &CachedNearest, y: DVec3) -> Option<((Nearest, bool), f64)> {
    let (seed, weights) = (cached.triangle, cached.weights.map(f64::from));
    let point = body.point(seed, weights);
    let moved = (y - point).distance_squared(cached.offset.as_dvec3());
    (moved < RESTS_M * RESTS_M).then(|| (body.material_at(seed, weights, point), moved.sqrt()))
}
