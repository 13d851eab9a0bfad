//! Skirts that hang from a waistband: a flared one above the knee, and a long one.

use super::form::Form;
use super::panel::Outline;
use super::place::Face;
use super::sector::Sector;
use super::sew::{Pattern, PinnedEdges};
use crate::{Garment, PinTarget, Result};
use glam::DVec2;
use std::f64::consts::TAU;

/// Choices of the designer.
struct Style {
    name: &'static str,
    /// Height of the hem above the floor, before the flare lifts it.
    hem_y: f64,
    /// Share of a full circle that the cloth makes.
    circle: f64,
}

/// A flared skirt that ends above the knee.
pub fn skirt(form: &Form, vertices: usize) -> Result<Garment> {
    sew(form, vertices, &Style { name: "skirt", hem_y: form.knee_y + 0.06, circle: 0.6 })
}

/// A long skirt that ends above the ankle.
pub fn long_skirt(form: &Form, vertices: usize) -> Result<Garment> {
    sew(form, vertices, &Style { name: "long-skirt", hem_y: 0.30 * form.knee_y, circle: 0.4 })
}

/// Height of the waistband.
const BAND: f64 = 0.036;

fn band(name: &str, half: f64) -> Outline {
    let (w, h) = (half, BAND);
    Outline::pen(name, DVec2::new(-w, 0.0))
        .line("waist", DVec2::new(w, 0.0))
        .line("side +", DVec2::new(w, h))
        .line("top", DVec2::new(-w, h))
        .line("side -", DVec2::new(-w, 0.0))
        .close()
}

fn sew(form: &Form, vertices: usize, style: &Style) -> Result<Garment> {
    // A waistband is close to the body and does not stretch: it is cut to the ring it is laid on.
    let shell = form.trunk.grown(0.010);
    let low_y = form.waist_y - 0.4 * BAND;
    let hoop = shell.hoop(low_y, 0.0);
    let faces = [Face::Front, Face::Back];
    let halves = faces.map(|f| hoop.half_width(low_y, f));
    let radius = 2.0 * (halves[0] + halves[1]) / (TAU * style.circle);
    let length = low_y - style.hem_y;
    let skirts = [0, 1].map(|k| Sector::new(faces[k], [0.0, 2.0 * halves[k]], radius, length));

    let mut pattern = Pattern::default();
    let bands = [pattern.add(band("front band", halves[0])), pattern.add(band("back band", halves[1]))];
    let flares =
        [pattern.add(skirts[0].outline("front skirt")), pattern.add(skirts[1].outline("back skirt"))];
    for (side, front, back) in [("left", "side +", "side -"), ("right", "side -", "side +")] {
        pattern.sew(format!("band side {side}"), (bands[0], front), (bands[1], back))?;
        pattern.sew(format!("skirt side {side}"), (flares[0], front), (flares[1], back))?;
    }
    for (k, name) in ["front", "back"].into_iter().enumerate() {
        pattern.sew(format!("waist {name}"), (bands[k], "waist"), (flares[k], "waist"))?;
    }
    let cut = pattern.cut(vertices)?;
    let cones = [0, 1].map(|k| skirts[k].cone(&hoop, low_y, style.circle));
    let positions = cut.place(|panel, p| match panel {
        // The band keeps the ring of its lower edge: it stands up like a band, it is not shaped.
        0 | 1 => hoop.at_share(low_y + p.y, p.x / halves[panel], faces[panel]),
        _ => shell.outside(cones[panel - 2](p)),
    });
    let edges = |edge| vec![("front band", edge), ("back band", edge)];
    let band = [edges("waist"), edges("top")].concat();
    let pin = PinnedEdges { name: "waist", edges: band, target: PinTarget::Body };
    cut.sew(&pattern, style.name, &positions, &[pin])
}
