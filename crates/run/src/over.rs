//! One garment worn over another, each moved by itself: what would show through is pushed out.

use glam::Vec3;

/// Outer cloth farther than this from inner cloth, as both were made, has nothing to do with it, m.
const REACH_M: f32 = 0.08;
/// No vertex is pushed farther, m: deeper is not under but on another side.
const MOST_M: f32 = 0.05;
/// Triangles that a vertex may slide over in a step.
const SLIDES: usize = 12;
const NONE: u32 = u32::MAX;

/// Keeps an outer garment outside of an inner one. It remembers where on the inner one each vertex is and follows it from
/// there: no search, nothing allocated.
pub struct WornOver {
    triangles: Vec<[u32; 3]>,
    /// The triangle beyond the edge opposite each corner.
    beyond: Vec<[u32; 3]>,
    /// For each outer vertex the inner triangle under it.
    under: Vec<u32>,
    start: Vec<u32>,
    normals: Vec<Vec3>,
    gap_m: f32,
}

impl WornOver {
    /// From both garments as they hang on the wearer's rest pose; `gap_m` is kept between them.
    pub fn new(inner: &[Vec3], triangles: &[[u32; 3]], outer: &[Vec3], gap_m: f32) -> Self {
        let corners = |t: &[u32; 3]| t.map(|v| inner[v as usize]);
        let middles: Vec<(Vec3, f32)> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners(t);
                let middle = (a + b + c) / 3.0;
                (middle, a.distance(middle).max(b.distance(middle)).max(c.distance(middle)))
            })
            .collect();
        let nearest = |p: &Vec3| {
            let mut best = (NONE, REACH_M);
            for (t, (middle, radius)) in middles.iter().enumerate() {
                if p.distance(*middle) - radius > best.1 {
                    continue;
                }
                let at = weights(corners(&triangles[t]), *p).map(|w| w.clamp(0.0, 1.0));
                let sum = at.iter().sum::<f32>();
                let [a, b, c] = corners(&triangles[t]);
                let far = p.distance((a * at[0] + b * at[1] + c * at[2]) / sum);
                if far < best.1 {
                    best = (t as u32, far);
                }
            }
            best.0
        };
        let under: Vec<u32> = outer.iter().map(nearest).collect();
        Self {
            beyond: beyond(triangles),
            triangles: triangles.to_vec(),
            start: under.clone(),
            under,
            normals: vec![Vec3::ZERO; inner.len()],
            gap_m,
        }
    }

    /// Forgets where vertices have slid to.
    pub fn reset(&mut self) {
        self.under.copy_from_slice(&self.start);
    }

    /// Pushes outer vertices out of the inner garment; how many had to be. Lists of other lengths than it was made for are
    /// left alone.
    pub fn keep(&mut self, inner: &[Vec3], outer: &mut [Vec3]) -> usize {
        if inner.len() != self.normals.len() || outer.len() != self.under.len() {
            return 0;
        }
        crate::drive::vertex_normals(inner, &self.triangles, &mut self.normals);
        let mut pushed = 0;
        for (p, under) in outer.iter_mut().zip(&mut self.under) {
            if *under == NONE {
                continue;
            }
            let mut at = [0.0; 3];
            for _ in 0..SLIDES {
                at = weights(self.triangles[*under as usize].map(|v| inner[v as usize]), *p);
                let outside = (0..3).filter(|k| at[*k] < -1e-4).min_by(|a, b| at[*a].total_cmp(&at[*b]));
                let Some(k) = outside else { break };
                match self.beyond[*under as usize][k] {
                    NONE => break,
                    next => *under = next,
                }
            }
            // Beyond a rim there is nothing to be outside of.
            if at.iter().any(|w| *w < -0.5) {
                continue;
            }
            let corners = self.triangles[*under as usize];
            let mix = |values: &[Vec3]| (0..3).map(|k| values[corners[k] as usize] * at[k]).sum::<Vec3>();
            let normal = mix(&self.normals).normalize_or_zero();
            let lacks = self.gap_m - (*p - mix(inner)).dot(normal);
            if lacks > 0.0 && lacks < MOST_M {
                *p += normal * lacks;
                pushed += 1;
            }
        }
        pushed
    }
}

/// Weights of the corners at the foot of `p` in the plane of a triangle; outside of it some are negative.
fn weights([a, b, c]: [Vec3; 3], p: Vec3) -> [f32; 3] {
    let (e, f, d) = (b - a, c - a, p - a);
    let (ee, ef, ff, de, df) = (e.dot(e), e.dot(f), f.dot(f), d.dot(e), d.dot(f));
    let det = ee * ff - ef * ef;
    if det <= 1e-18 {
        return [1.0 / 3.0; 3];
    }
    let (v, w) = ((ff * de - ef * df) / det, (ee * df - ef * de) / det);
    [1.0 - v - w, v, w]
}

/// The triangle beyond the edge opposite each corner of each triangle.
fn beyond(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut sides = std::collections::HashMap::<[u32; 2], [u32; 2]>::new();
    let edge = |t: &[u32; 3], k: usize| {
        let (a, b) = (t[(k + 1) % 3], t[(k + 2) % 3]);
        [a.min(b), a.max(b)]
    };
    for (n, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let side = sides.entry(edge(t, k)).or_insert([NONE; 2]);
            let free = usize::from(side[0] != NONE);
            side[free] = n as u32;
        }
    }
    let other = |n: usize, t: &[u32; 3], k: usize| {
        let [a, b] = sides[&edge(t, k)];
        if a == n as u32 { b } else { a }
    };
    triangles.iter().enumerate().map(|(n, t)| [0, 1, 2].map(|k| other(n, t, k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tube about the vertical.
    fn tube(radius: f32, n: u32, rows: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (mut p, mut t) = (Vec::new(), Vec::new());
        for j in 0..=rows {
            for i in 0..n {
                let a = i as f32 / n as f32 * std::f32::consts::TAU;
                p.push(Vec3::new(radius * a.cos(), 0.6 * j as f32 / rows as f32, -radius * a.sin()));
            }
        }
        for j in 0..rows {
            for i in 0..n {
                let [a, b] = [j * n + i, j * n + (i + 1) % n];
                t.extend([[a, b, a + n], [b, b + n, a + n]]);
            }
        }
        (p, t)
    }

    #[test]
    fn what_sinks_in_is_pushed_out_and_the_rest_stays_while_it_slides() {
        let (inner, triangles) = tube(0.2, 24, 12);
        let (outer, _) = tube(0.22, 40, 9);
        let mut over = WornOver::new(&inner, &triangles, &outer, 0.003);
        let mut same = outer.clone();
        assert_eq!(over.keep(&inner, &mut same), 0);
        assert_eq!(same, outer);
        // The inner one swells in front and both turn; the outer one slides round by a third.
        for step in 0..40 {
            let angle = step as f32 * 0.05;
            let turn = glam::Quat::from_rotation_y(angle);
            let swell = |p: &Vec3| *p * Vec3::new(1.0, 1.0, 1.0 + 0.3 * f32::from(p.z > 0.0));
            let swollen: Vec<Vec3> = inner.iter().map(swell).collect();
            let mut moved: Vec<Vec3> = outer.iter().map(|p| turn * *p).collect();
            let pushed = over.keep(&swollen, &mut moved);
            assert!(pushed > 40 && pushed < outer.len(), "step {step}: {pushed}");
            for (p, was) in moved.iter().zip(&outer) {
                let was = turn * *was;
                // Facets of the coarser tube lie up to 2 mm within the round.
                let front = 0.2 * 1.3;
                let deep = (p.x / 0.2).powi(2) + (p.z / if p.z > 0.0 { front } else { 0.2 }).powi(2);
                assert!(deep > 0.97, "step {step}: {p} is inside");
                assert!(p.z > 0.0 || p.distance(was) < 0.02, "{p} was pushed from {was}");
            }
        }
        assert_eq!(over.keep(&inner[1..], &mut same), 0, "another garment");
    }
}
