//! Even triangles on a field's zero set: rounds of edge splits, collapses, flips and tangential
//! smoothing with projection (after Botsch and Kobbelt, *A remeshing approach to multiresolution
//! modeling*, 2004), with a target edge length that varies over the body.
//!
//! The mesh is the half `x ≥ 0`; its boundary lies in the plane `x = 0` and stays there, so that the
//! mirrored halves fit exactly.

use glam::Vec3;

/// A half body under work. Dead triangles are marked by three equal corners.
pub struct HalfMesh {
    /// Places; those of collapsed vertices are stale.
    pub points: Vec<Vec3>,
    /// Corners; dead ones have three equal corners.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles around each vertex.
    around: Vec<Vec<u32>>,
    /// Whether the vertex lies in the plane of symmetry.
    seam: Vec<bool>,
}

impl HalfMesh {
    /// Takes what the surface extraction made. A vertex with `x` exactly zero is on the seam.
    pub fn new(points: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let mut around = vec![Vec::new(); points.len()];
        for (t, tri) in triangles.iter().enumerate() {
            for &v in tri {
                around[v as usize].push(t as u32);
            }
        }
        let seam = points.iter().map(|p| p.x == 0.0).collect();
        Self { points, triangles, around, seam }
    }

    /// Makes edges as long as `size` says, `rounds` times, keeping vertices on the zero set of `field`.
    pub fn even_out(&mut self, field: &impl Fn(Vec3) -> f32, size: &impl Fn(Vec3) -> f32, rounds: usize) {
        for round in 0..rounds {
            // The last rounds only relax: no operation may spoil what smoothing has settled.
            if round + 3 < rounds {
                self.split_long(field, size);
                self.collapse_short(size);
            }
            self.flip();
            self.relax(field);
        }
        self.flip();
    }

    /// Compact arrays without dead vertices and triangles, and the seam flags.
    pub fn finish(self) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<bool>) {
        let mut number = vec![u32::MAX; self.points.len()];
        let (mut points, mut seam) = (Vec::new(), Vec::new());
        let mut triangles = Vec::new();
        for tri in self.triangles.iter().filter(|t| t[0] != t[1]) {
            triangles.push(tri.map(|v| {
                let n = &mut number[v as usize];
                if *n == u32::MAX {
                    *n = points.len() as u32;
                    points.push(self.points[v as usize]);
                    seam.push(self.seam[v as usize]);
                }
                *n
            }));
        }
        (points, triangles, seam)
    }

    fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .triangles
            .iter()
            .filter(|t| t[0] != t[1])
            .flat_map(|t| (0..3).map(|k| [t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3])]))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Triangles that have both `a` and `b`.
    fn beside(&self, a: u32, b: u32) -> Vec<u32> {
        self.around[a as usize].iter().copied().filter(|&t| self.triangles[t as usize].contains(&b)).collect()
    }

    fn neighbours(&self, v: u32) -> Vec<u32> {
        let mut list: Vec<u32> = self.around[v as usize]
            .iter()
            .flat_map(|&t| self.triangles[t as usize])
            .filter(|&w| w != v)
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    fn normal(&self, tri: [u32; 3]) -> Vec3 {
        let [a, b, c] = tri.map(|v| self.points[v as usize]);
        (b - a).cross(c - a)
    }

    fn length(&self, a: u32, b: u32) -> f32 {
        self.points[a as usize].distance(self.points[b as usize])
    }

    fn split_long(&mut self, field: &impl Fn(Vec3) -> f32, size: &impl Fn(Vec3) -> f32) {
        for [a, b] in self.edges() {
            let middle = 0.5 * (self.points[a as usize] + self.points[b as usize]);
            if self.length(a, b) <= 4.0 / 3.0 * size(middle) {
                continue;
            }
            let beside = self.beside(a, b);
            let seam = beside.len() == 1;
            let m = self.points.len() as u32;
            self.points.push(project(middle, field, seam));
            self.seam.push(seam);
            self.around.push(Vec::new());
            for t in beside {
                let old = self.triangles[t as usize];
                let new = self.triangles.len() as u32;
                self.triangles[t as usize] = old.map(|v| if v == b { m } else { v });
                self.triangles.push(old.map(|v| if v == a { m } else { v }));
                self.around[b as usize].retain(|&x| x != t);
                self.around[b as usize].push(new);
                let c = old.into_iter().find(|&v| v != a && v != b).unwrap_or(a);
                self.around[c as usize].push(new);
                self.around[m as usize].extend([t, new]);
            }
        }
    }

    fn collapse_short(&mut self, size: &impl Fn(Vec3) -> f32) {
        for [a, b] in self.edges() {
            if self.around[a as usize].is_empty() || self.around[b as usize].is_empty() {
                continue;
            }
            let beside = self.beside(a, b);
            if beside.is_empty() {
                continue;
            }
            let target = size(0.5 * (self.points[a as usize] + self.points[b as usize]));
            if self.length(a, b) >= 0.8 * target {
                continue;
            }
            // The seam's vertices stay: an inner one moves onto them, never the reverse.
            let (keep, gone) = if self.seam[b as usize] { (b, a) } else { (a, b) };
            let both_seam = self.seam[a as usize] && self.seam[b as usize];
            if both_seam && beside.len() != 1 {
                continue;
            }
            let (of_keep, of_gone) = (self.neighbours(keep), self.neighbours(gone));
            let shared = of_keep.iter().filter(|v| of_gone.contains(v)).count();
            if shared != beside.len() {
                continue;
            }
            let place = if self.seam[keep as usize] && !both_seam {
                self.points[keep as usize]
            } else {
                0.5 * (self.points[keep as usize] + self.points[gone as usize])
            };
            let too_long = of_keep
                .iter()
                .chain(&of_gone)
                .any(|&v| self.points[v as usize].distance(place) > 1.4 * target);
            let turns_over = [keep, gone].iter().any(|&end| {
                self.around[end as usize].iter().any(|t| {
                    if beside.contains(t) {
                        return false;
                    }
                    let tri = self.triangles[*t as usize];
                    let [p, q, r] = tri.map(|v| if v == end { place } else { self.points[v as usize] });
                    let (old, new) = (self.normal(tri), (q - p).cross(r - p));
                    old.dot(new) < 0.7 * old.length() * new.length()
                })
            });
            if too_long || turns_over {
                continue;
            }
            self.points[keep as usize] = place;
            for t in beside {
                for v in self.triangles[t as usize] {
                    self.around[v as usize].retain(|&x| x != t);
                }
                self.triangles[t as usize] = [0; 3];
            }
            for t in std::mem::take(&mut self.around[gone as usize]) {
                for v in &mut self.triangles[t as usize] {
                    if *v == gone {
                        *v = keep;
                    }
                }
                self.around[keep as usize].push(t);
            }
        }
    }

    /// Flips every inner edge whose two triangles get a larger least angle by it.
    fn flip(&mut self) {
        for [a, b] in self.edges() {
            let beside = self.beside(a, b);
            let &[s, t] = beside.as_slice() else { continue };
            // Orient so that the first triangle runs a → b.
            let runs = |tri: [u32; 3]| (0..3).any(|k| tri[k] == a && tri[(k + 1) % 3] == b);
            let (s, t) = if runs(self.triangles[s as usize]) { (s, t) } else { (t, s) };
            let across = |t: u32| self.triangles[t as usize].into_iter().find(|&v| v != a && v != b);
            let (Some(c), Some(d)) = (across(s), across(t)) else { continue };
            if c == d || !self.beside(c, d).is_empty() {
                continue;
            }
            if self.around[a as usize].len() <= 3 || self.around[b as usize].len() <= 3 {
                continue;
            }
            let (old, new) = ([[a, b, c], [b, a, d]], [[c, d, b], [d, c, a]]);
            let [n0, n1] = new.map(|t| self.normal(t));
            let mean = self.normal(old[0]) + self.normal(old[1]);
            if n0.dot(mean) <= 0.5 * n0.length() * mean.length()
                || n1.dot(mean) <= 0.5 * n1.length() * mean.length()
            {
                continue;
            }
            let least = |pair: [[u32; 3]; 2]| pair.iter().map(|&t| self.least_angle(t)).fold(4.0, f32::min);
            if least(new) <= least(old) + 1e-3 {
                continue;
            }
            self.triangles[s as usize] = new[0];
            self.triangles[t as usize] = new[1];
            // `s` loses a and gains d; `t` loses b and gains c.
            self.around[a as usize].retain(|&x| x != s);
            self.around[b as usize].retain(|&x| x != t);
            self.around[d as usize].push(s);
            self.around[c as usize].push(t);
        }
    }

    fn least_angle(&self, tri: [u32; 3]) -> f32 {
        let p = tri.map(|v| self.points[v as usize]);
        (0..3)
            .map(|k| (p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]))
            .fold(f32::INFINITY, f32::min)
    }

    /// Moves vertices to the area-weighted mean of the surrounding triangles' centres, then back onto
    /// the field. The weights divide by the local size squared through the areas themselves, which would
    /// pull towards large triangles; the square root keeps the grading.
    fn relax(&mut self, field: &impl Fn(Vec3) -> f32) {
        let mut moved = self.points.clone();
        for v in 0..self.points.len() as u32 {
            if self.around[v as usize].is_empty() {
                continue;
            }
            let p = self.points[v as usize];
            if self.seam[v as usize] {
                let ends: Vec<u32> = self
                    .neighbours(v)
                    .into_iter()
                    .filter(|&w| self.seam[w as usize] && self.beside(v, w).len() == 1)
                    .collect();
                if let &[a, b] = ends.as_slice() {
                    let mean = 0.5 * (self.points[a as usize] + self.points[b as usize]);
                    moved[v as usize] = project(0.5 * (p + mean), field, true);
                }
                continue;
            }
            let (mut sum, mut weight, mut normal) = (Vec3::ZERO, 0.0, Vec3::ZERO);
            for &t in &self.around[v as usize] {
                let tri = self.triangles[t as usize];
                let n = self.normal(tri);
                let area = n.length().sqrt();
                sum += tri.iter().map(|&w| self.points[w as usize]).sum::<Vec3>() / 3.0 * area;
                weight += area;
                normal += n;
            }
            let normal = normal.normalize_or_zero();
            let step = sum / weight.max(1e-12) - p;
            moved[v as usize] = project(p + 0.8 * (step - normal * normal.dot(step)), field, false);
        }
        self.points = moved;
    }
}

/// Newton steps along the field's gradient; within the plane `x = 0` for the seam.
pub fn project(p: Vec3, field: &impl Fn(Vec3) -> f32, seam: bool) -> Vec3 {
    const STEP: f32 = 1e-3;
    let mut p = if seam { p.with_x(0.0) } else { p };
    for _ in 0..2 {
        let f = field(p);
        let mut g = Vec3::new(
            field(p + Vec3::X * STEP) - f,
            field(p + Vec3::Y * STEP) - f,
            field(p + Vec3::Z * STEP) - f,
        ) / STEP;
        if seam {
            g.x = 0.0;
        }
        // A long step means a poor field there; limit it and let later rounds finish.
        let step = (g * (f / g.length_squared().max(0.1))).clamp_length_max(0.01);
        p -= step;
        if f.abs() < 2e-5 {
            break;
        }
    }
    if !seam {
        p.x = p.x.max(1e-4);
    }
    p
}
