//! A half-circle cape: two quarters sewn down the back, open in front, held around the neck.

use super::form::Form;
use super::panel::Outline;
use super::place::{length, walk};
use super::sew::{Pattern, PinnedEdges};
use crate::{Garment, PinTarget, Result};
use glam::{DVec2, DVec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// How far the neckline goes around the neck: what is missing is the opening in front.
const COVERED: f64 = 0.55;

/// A quarter of a ring between two radii, with the names of its straight edges towards +X and −X.
/// The grain runs down its middle.
fn quarter(name: &str, radii: [f64; 2], plus: &str, minus: &str) -> Outline {
    let at = |r: f64, a: f64| DVec2::new(a.sin(), -a.cos()) * r;
    let half = 0.5 * FRAC_PI_2;
    Outline::pen(name, at(radii[1], -half))
        .arc("hem", DVec2::ZERO, FRAC_PI_2)
        .line(plus, at(radii[0], half))
        .arc("neck", DVec2::ZERO, -FRAC_PI_2)
        .line(minus, at(radii[1], -half))
        .close()
}

/// Cuts, sews and places the cape.
pub fn cape(form: &Form, vertices: usize) -> Result<Garment> {
    // The neckline lies on the slope between neck and shoulder.
    let neck_y = form.shoulder.y + 0.085;
    let hoop = form.trunk.hoop(neck_y, 0.045);
    let mut ring: Vec<DVec2> = hoop.ring(neck_y).to_vec();
    ring.push(ring[0]);
    let neckline = COVERED * length(&ring);
    let radii = [neckline / PI, neckline / PI + 0.78];
    // Seen from behind, the left quarter lies on the left and has the seam on its right.
    let mut pattern = Pattern::default();
    let left = pattern.add(quarter("left", radii, "back", "front"));
    let right = pattern.add(quarter("right", radii, "front", "back"));
    pattern.sew("centre back", (left, "back"), (right, "back"))?;
    let cut = pattern.cut(vertices)?;
    // The half circle bends without stretching into a cone that goes around only in part.
    let sine = PI / (2.0 * PI * COVERED);
    let (out, down) = (sine.min(0.98), (1.0 - sine.min(0.98).powi(2)).sqrt());
    let hem = hoop.hoop(neck_y, (radii[1] - radii[0]) * out);
    let mut hem_ring: Vec<DVec2> = hem.ring(neck_y).to_vec();
    hem_ring.push(hem_ring[0]);
    let positions = cut.place(|panel, p| {
        // From the centre back towards the front, as a share of half of what is covered.
        let angle = p.x.atan2(-p.y) / FRAC_PI_2;
        let share = if panel == left { 0.5 - angle } else { 0.5 + angle };
        let side = if panel == left { 1.0 } else { -1.0 };
        let on = |ring: &[DVec2]| {
            let q = walk(ring, length(ring) * (0.5 - 0.5 * COVERED * share));
            DVec2::new(q.x * side, q.y)
        };
        let (a, b) = (on(&ring), on(&hem_ring));
        let slant = p.length() - radii[0];
        let flat = a.lerp(b, slant / (radii[1] - radii[0]));
        DVec3::new(flat.x, neck_y - slant * down, flat.y)
    });
    let edges = vec![("left", "neck"), ("right", "neck")];
    let pin = PinnedEdges { name: "neckline", edges, target: PinTarget::Body };
    cut.sew(&pattern, "cape", &positions, &[pin])
}
