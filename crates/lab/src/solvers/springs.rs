//! Springs between particles, cut from a fabric: the model of Haumann 1987 and Provot 1995, and what many later methods
//! constrain.
//!
//! A spring along flat direction φ stands for the cloth about its edge. Its stiffness is `E(φ)·A/L²` with `A` the area of
//! the triangles beside it, `L` its length and `1/E = cos⁴φ/Y_weft + sin⁴φ/Y_warp + cos²φ sin²φ/G`, the modulus of a woven
//! strip cut at that angle: threads have the threads' stiffness, diagonals carry shear.

use super::blocks::{Blocks, outer};
use super::implicit::{Linear, Model};
use super::stage::Stage;
use glam::{DMat3, DVec2, DVec3};

/// What a spring is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Along the threads.
    Structure,
    /// Across them.
    Shear,
    /// Between particles beyond each other's neighbours.
    Bend,
}

/// Two particles that want to be a distance apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its ends.
    pub ends: [u32; 2],
    /// m.
    pub length: f64,
    /// N/m.
    pub stiffness: f64,
    /// Which one.
    pub kind: Kind,
}

impl Spring {
    /// Vector from the first end to the second.
    pub fn span(&self, x: &[DVec3]) -> DVec3 {
        x[self.ends[1] as usize] - x[self.ends[0] as usize]
    }

    /// `½ k (l − L)²`, J.
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        0.5 * self.stiffness * (self.span(x).length() - self.length).powi(2)
    }

    /// Force on the first end, N; the second has the opposite.
    pub fn force(&self, x: &[DVec3]) -> DVec3 {
        let d = self.span(x);
        let l = d.length().max(1e-12);
        d * (self.stiffness * (1.0 - self.length / l))
    }

    /// `∂f₁/∂x₂`; `definite` leaves out what is negative where the spring is pushed together.
    pub fn jacobian(&self, x: &[DVec3], definite: bool) -> DMat3 {
        let d = self.span(x);
        let l = d.length().max(1e-12);
        let n = d / l;
        let across = 1.0 - self.length / l;
        let across = if definite { across.max(0.0) } else { across };
        let along = outer(n, n);
        (along + (DMat3::IDENTITY - along) * across) * self.stiffness
    }
}

/// How far bend springs are from flat when they cost what a plate costs, rad.
const BEND_ANGLE: f64 = 1.0;

/// The springs of a cloth; `soft` scales those that resist stretch.
pub fn cut(stage: &Stage, soft: f64) -> Vec<Spring> {
    let cloth = stage.cloth();
    let fabric = &cloth.fabric;
    let mut beside = vec![(0.0, DVec2::ZERO); cloth.edges.len()];
    for (t, el) in cloth.membrane.iter().enumerate() {
        let flat = flat_corners(&el.g);
        for k in 0..3 {
            let (e, _) = cloth.triangle_edges[t][k];
            let along = (flat[(k + 1) % 3] - flat[k]).normalize_or_zero();
            beside[e as usize].0 += el.area;
            beside[e as usize].1 = along;
        }
    }
    let mut springs: Vec<Spring> = (cloth.edges.iter().zip(&cloth.edge_lengths).zip(&beside))
        .map(|((ends, &length), &(area, along))| {
            let (c, s) = (along.x * along.x, along.y * along.y);
            let shear = fabric.shear.max(1.0);
            let modulus = 1.0 / (c * c / fabric.stretch_weft + s * s / fabric.stretch_warp + c * s / shear);
            let kind = if c.max(s) > 0.9 { Kind::Structure } else { Kind::Shear };
            Spring { ends: *ends, length, stiffness: soft * modulus * area / (length * length), kind }
        })
        .collect();
    springs.extend(second_neighbours(stage).into_iter().map(|(ends, length)| {
        let bend = 0.5 * (fabric.bend_warp + fabric.bend_weft);
        // Half of the span is the distance of neighbours: ½ k (lθ²/4)² = ½ B θ² at that angle.
        let l = 0.5 * length;
        Spring { ends, length, stiffness: 16.0 * bend / (l * l * BEND_ANGLE * BEND_ANGLE), kind: Kind::Bend }
    }));
    springs
}

/// Corners of a flat triangle from the gradients of its shape functions, up to a shift.
pub fn flat_corners(g: &[DVec2; 3]) -> [DVec2; 3] {
    let det = g[1].perp_dot(g[2]);
    [DVec2::ZERO, DVec2::new(g[2].y, -g[2].x) / det, DVec2::new(-g[1].y, g[1].x) / det]
}

/// Particles two apart and their flat distance: along the threads of a grid, else across the inner edges.
pub fn second_neighbours(stage: &Stage) -> Vec<([u32; 2], f64)> {
    let cloth = stage.cloth();
    let Some(grid) = &stage.lattice else {
        // Flat, the two triangles lie beside their edge.
        return cloth
            .hinges
            .iter()
            .map(|h| {
                let [a, b, c, d] = h.v;
                let side = |p: u32, q: u32| {
                    let e = cloth.edges.iter().position(|e| *e == [p.min(q), p.max(q)]);
                    e.map_or(0.0, |e| cloth.edge_lengths[e])
                };
                let l = side(a, b);
                let place = |p: u32| {
                    let (r, s) = (side(a, p), side(b, p));
                    let along = (r * r - s * s + l * l) / (2.0 * l);
                    DVec2::new(along, (r * r - along * along).max(0.0).sqrt())
                };
                let (p, q) = (place(c), place(d));
                ([c, d], (p - DVec2::new(q.x, -q.y)).length())
            })
            .collect();
    };
    let mut pairs = Vec::new();
    for (i, j, v) in grid.each() {
        for ((di, dj), step) in [((2, 0), grid.spacing[0]), ((0, 2), grid.spacing[1])] {
            if let Some(w) = grid.at(i + di, j + dj) {
                pairs.push(([v as u32, w as u32], 2.0 * step));
            }
        }
    }
    pairs
}

/// Springs with damping along them, `k τ` of the fabric.
#[derive(Clone, Debug)]
pub struct Springs {
    /// All of them.
    pub springs: Vec<Spring>,
    /// N·s/m.
    dampers: Vec<f64>,
    /// Whether what springs that are pushed together do across is left out of the Jacobian.
    definite: bool,
}

/// Damping that explicit steps can bear, as a share of what is critical: beyond it they have to resolve the damping too.
const BEARABLE: f64 = 0.2;

impl Springs {
    /// Of a stage, with the damping of its fabric.
    pub fn new(stage: &Stage, soft: f64) -> Self {
        let springs = cut(stage, soft);
        let dampers = springs.iter().map(|s| s.stiffness * stage.cloth().fabric.damping_secs).collect();
        Self { springs, dampers, definite: true }
    }

    /// The same with no more damping than an explicit step can bear.
    pub fn explicit(stage: &Stage, soft: f64) -> Self {
        let mut made = Self::new(stage, soft);
        for (s, d) in made.springs.iter().zip(&mut made.dampers) {
            let mass = stage.cloth().mass[s.ends[0] as usize];
            *d = d.min(BEARABLE * (s.stiffness * mass).sqrt());
        }
        made
    }

    /// With the whole Jacobian, as the plain model has it: springs that are pushed together make it indefinite.
    pub fn indefinite(mut self) -> Self {
        self.definite = false;
        self
    }

    /// Adds the springs' forces to `f`.
    pub fn add_forces(&self, x: &[DVec3], v: &[DVec3], f: &mut [DVec3]) {
        for (s, damper) in self.springs.iter().zip(&self.dampers) {
            let [i, j] = s.ends.map(|e| e as usize);
            let d = x[j] - x[i];
            let l = d.length().max(1e-12);
            let n = d / l;
            let rate = n.dot(v[j] - v[i]);
            let pull = n * (s.stiffness * (l - s.length) + damper * rate);
            f[i] += pull;
            f[j] -= pull;
        }
    }
}

impl Model for Springs {
    fn pattern(&self, n: usize) -> Blocks {
        Blocks::new(n, self.springs.iter().map(|s| &s.ends[..]))
    }

    fn linearise(&self, x: &[DVec3], v: &[DVec3], out: &mut Linear) {
        self.add_forces(x, v, &mut out.force);
        for (s, damper) in self.springs.iter().zip(&self.dampers) {
            let [i, j] = s.ends.map(|e| e as usize);
            let k = s.jacobian(x, self.definite);
            let n = s.span(x).normalize_or_zero();
            let d = outer(n, n) * *damper;
            out.add_pair(i, j, k, d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn forces_and_jacobians_are_derivatives() {
        let mut r = Random::new(3);
        for kind in [Kind::Structure, Kind::Bend] {
            let s = Spring { ends: [0, 1], length: 0.3, stiffness: 70.0, kind };
            for _ in 0..50 {
                let x = [r.vector(), r.vector()];
                let e = 1e-5;
                for (k, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                    let by = |end: usize, by: f64| {
                        let mut y = x;
                        y[end] += axis * by;
                        y
                    };
                    let slope = (s.energy(&by(0, e)) - s.energy(&by(0, -e))) / (2.0 * e);
                    assert!((s.force(&x)[k] + slope).abs() < 1e-6 * s.stiffness);
                    let change = (s.force(&by(1, e)) - s.force(&by(1, -e))) / (2.0 * e);
                    let error = (change - s.jacobian(&x, false).col(k)).length();
                    assert!(error < 1e-4 * s.stiffness, "{error}");
                }
            }
        }
    }
}
