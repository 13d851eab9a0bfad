//! Conditions that cloth wants to be zero, Baraff and Witkin 1998 §4: stretch along both threads, shear, bend. Each gives an
//! energy `½ k C²`, its force, and a damping force along the same direction. See docs/math/conditions.md.
//!
//! The paper writes `C = a (|w_u| − 1)` with the area `a`, so that the energy grows with `a²` and cloth gets softer as its
//! mesh gets finer. With `√a` the stiffness is the fabric's own, in N/m; [`Scaling::Printed`] keeps the other for show.

use super::blocks::{Blocks, outer};
use super::implicit::{Linear, Model};
use super::stage::Stage;
use glam::{DMat3, DVec3};
use toile_simulate::energy::bending::{Hinge, angle_and_gradient};
use toile_simulate::energy::membrane::Element;

/// How conditions grow with the area of their triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    /// `√a`.
    Root,
    /// `a`, as printed; stiffnesses are those that agree with `√a` on triangles of this area, m².
    Printed(f64),
}

/// Which conditions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// Along the threads.
    pub stretch: bool,
    /// Between them.
    pub shear: bool,
    /// Over the edges.
    pub bend: bool,
}

impl Which {
    /// All three.
    pub const ALL: Self = Self { stretch: true, shear: true, bend: true };
}

/// The conditions of a cloth.
#[derive(Clone, Debug)]
pub struct Conditions {
    elements: Vec<(Element, f64)>,
    hinges: Vec<(Hinge, f64)>,
    stiffness: [f64; 3],
    damping_secs: f64,
}

/// A condition of a triangle and its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Value.
    pub value: f64,
    /// By the three corners.
    pub gradient: [DVec3; 3],
    /// By two corners.
    pub second: [[DMat3; 3]; 3],
}

/// Stretch along the weft, along the warp, and shear; `scale` is √a or a.
pub fn conditions(el: &Element, scale: f64, x: &[DVec3]) -> [Condition; 3] {
    let (wu, wv) = el.deformation(x);
    let stretch = |w: DVec3, g: [f64; 3]| {
        let l = w.length().max(1e-12);
        let n = w / l;
        let across = (DMat3::IDENTITY - outer(n, n)) * (scale / l);
        Condition {
            value: scale * (l - 1.0),
            gradient: g.map(|g| n * (scale * g)),
            second: g.map(|a| g.map(|b| across * (a * b))),
        }
    };
    let shear = Condition {
        value: scale * wu.dot(wv),
        gradient: el.g.map(|g| (wv * g.x + wu * g.y) * scale),
        second: el.g.map(|a| el.g.map(|b| DMat3::IDENTITY * (scale * (a.x * b.y + a.y * b.x)))),
    };
    [stretch(wu, el.g.map(|g| g.x)), stretch(wv, el.g.map(|g| g.y)), shear]
}

impl Conditions {
    /// Of a stage.
    pub fn new(stage: &Stage, which: Which, scaling: Scaling) -> Self {
        let cloth = stage.cloth();
        let f = &cloth.fabric;
        let (scale, unit): (fn(f64) -> f64, f64) = match scaling {
            Scaling::Root => (f64::sqrt, 1.0),
            Scaling::Printed(area) => (|a| a, 1.0 / area),
        };
        let on = |yes: bool, k: f64| if yes { k * unit } else { 0.0 };
        let stiffness =
            [on(which.stretch, f.stretch_weft), on(which.stretch, f.stretch_warp), on(which.shear, f.shear)];
        let elements: Vec<(Element, f64)> = cloth.membrane.iter().map(|e| (*e, scale(e.area))).collect();
        let mut hinges = Vec::new();
        if which.bend {
            let rigidity = 0.5 * (f.bend_warp + f.bend_weft);
            let area = |h: &Hinge, k: usize| {
                let has = |e: &&Element| [h.v[0], h.v[1], h.v[k]].iter().all(|v| e.v.contains(v));
                cloth.membrane.iter().find(has).map_or(0.0, |e| e.area)
            };
            for h in &cloth.hinges {
                let edge = [h.v[0].min(h.v[1]), h.v[0].max(h.v[1])];
                let length =
                    cloth.edges.iter().position(|e| *e == edge).map_or(0.0, |e| cloth.edge_lengths[e]);
                let k = 3.0 * rigidity * length * length / (area(h, 2) + area(h, 3));
                hinges.push((*h, k));
            }
        }
        Self { elements, hinges, stiffness, damping_secs: f.damping_secs }
    }

    /// Elastic energy, J.
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        let flat = self.elements.iter().map(|(el, scale)| {
            let c = conditions(el, *scale, x);
            (0..3).map(|k| 0.5 * self.stiffness[k] * c[k].value * c[k].value).sum::<f64>()
        });
        let bent = self.hinges.iter().map(|(h, k)| 0.5 * k * angle_and_gradient(h, x, 0.0).0.powi(2));
        flat.sum::<f64>() + bent.sum::<f64>()
    }

    /// Largest strain along a thread.
    pub fn strain(&self, x: &[DVec3]) -> f64 {
        let of = |(el, _): &(Element, f64)| {
            let (u, v) = el.deformation(x);
            (u.length() - 1.0).abs().max((v.length() - 1.0).abs())
        };
        self.elements.iter().map(of).fold(0.0, f64::max)
    }

    /// Adds elastic forces to `elastic` and damping forces to `damped`.
    pub fn add_forces(&self, x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damped: &mut [DVec3]) {
        for (el, scale) in &self.elements {
            for (c, k) in conditions(el, *scale, x).iter().zip(self.stiffness) {
                let rate: f64 = (0..3).map(|i| c.gradient[i].dot(v[el.v[i] as usize])).sum();
                for i in 0..3 {
                    elastic[el.v[i] as usize] -= c.gradient[i] * (k * c.value);
                    damped[el.v[i] as usize] -= c.gradient[i] * (k * self.damping_secs * rate);
                }
            }
        }
        for (h, k) in &self.hinges {
            let (angle, gradient, _) = angle_and_gradient(h, x, 0.0);
            let rate: f64 = (0..4).map(|i| gradient[i].dot(v[h.v[i] as usize])).sum();
            for i in 0..4 {
                elastic[h.v[i] as usize] -= gradient[i] * (k * angle);
                damped[h.v[i] as usize] -= gradient[i] * (k * self.damping_secs * rate);
            }
        }
    }
}

impl Model for Conditions {
    fn pattern(&self, n: usize) -> Blocks {
        let flat = self.elements.iter().map(|(e, _)| &e.v[..]);
        Blocks::new(n, flat.chain(self.hinges.iter().map(|(h, _)| &h.v[..])))
    }

    /// Second derivatives are kept where they stiffen, that is for stretched threads; where threads are pushed together and
    /// for shear they can make the matrix indefinite, and so can the angle's.
    fn linearise(&self, x: &[DVec3], v: &[DVec3], out: &mut Linear) {
        for (el, scale) in &self.elements {
            let at = el.v.map(|i| i as usize);
            for (m, (c, k)) in conditions(el, *scale, x).iter().zip(self.stiffness).enumerate() {
                if k == 0.0 {
                    continue;
                }
                let rate: f64 = (0..3).map(|i| c.gradient[i].dot(v[at[i]])).sum();
                let pull = k * (c.value + self.damping_secs * rate);
                let tension = if m < 2 { k * c.value.max(0.0) } else { 0.0 };
                for i in 0..3 {
                    out.force[at[i]] -= c.gradient[i] * pull;
                    for j in 0..3 {
                        let product = outer(c.gradient[i], c.gradient[j]) * k;
                        out.stiffness.add(at[i], at[j], -product - c.second[i][j] * tension);
                        out.damping.add(at[i], at[j], product * -self.damping_secs);
                    }
                }
            }
        }
        for (h, k) in &self.hinges {
            let (angle, gradient, _) = angle_and_gradient(h, x, 0.0);
            let at = h.v.map(|i| i as usize);
            let rate: f64 = (0..4).map(|i| gradient[i].dot(v[at[i]])).sum();
            let pull = k * (angle + self.damping_secs * rate);
            for i in 0..4 {
                out.force[at[i]] -= gradient[i] * pull;
                for j in 0..4 {
                    let product = outer(gradient[i], gradient[j]) * *k;
                    out.stiffness.add(at[i], at[j], -product);
                    out.damping.add(at[i], at[j], product * -self.damping_secs);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;
    use toile_geometry::Random;

    #[test]
    fn conditions_and_their_derivatives_agree_with_differences() {
        let mut r = Random::new(8);
        let flat = [DVec2::ZERO, DVec2::new(0.9, 0.1), DVec2::new(0.2, 0.8)];
        let el = Element::new([0, 1, 2], flat, 1.0, 1.0, 1.0, 0.0).unwrap();
        let e = 1e-5;
        for _ in 0..60 {
            let x = [r.vector(), r.vector(), r.vector()];
            let here = conditions(&el, 0.6, &x);
            for corner in 0..3 {
                for axis in 0..3 {
                    let moved = |by: f64| {
                        let mut y = x;
                        y[corner][axis] += by;
                        conditions(&el, 0.6, &y)
                    };
                    let (up, down) = (moved(e), moved(-e));
                    for k in 0..3 {
                        let slope = (up[k].value - down[k].value) / (2.0 * e);
                        let scale = 1.0 + here[k].gradient[corner].length();
                        assert!((slope - here[k].gradient[corner][axis]).abs() < 1e-6 * scale);
                        for i in 0..3 {
                            let change = (up[k].gradient[i] - down[k].gradient[i]) / (2.0 * e);
                            let exact = here[k].second[i][corner].col(axis);
                            assert!((change - exact).length() < 1e-4 * (1.0 + exact.length()), "{k}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn forces_of_a_crumpled_cloth_are_the_slope_of_its_energy() {
        let stage = crate::solvers::scenes::hanging(4).unwrap();
        let model = Conditions::new(&stage, Which::ALL, Scaling::Root);
        let mut r = Random::new(2);
        let x: Vec<DVec3> = stage.world.state.x.iter().map(|p| *p + 0.02 * r.vector()).collect();
        let n = x.len();
        let (mut f, mut d) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        model.add_forces(&x, &vec![DVec3::ZERO; n], &mut f, &mut d);
        let largest = f.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..n {
            for axis in 0..3 {
                let at = |by: f64| {
                    let mut y = x.clone();
                    y[i][axis] += by;
                    model.energy(&y)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope + f[i][axis]).abs() < 1e-6 * largest, "{slope} {}", f[i][axis]);
            }
        }
    }
}
