//! A poncho: most of a circle around the neck, sewn over the shoulders, that covers the arms.

use super::form::Form;
use super::place::Face;
use super::sector::Sector;
use super::sew::Pattern;
use crate::{Garment, Result};
use std::f64::consts::TAU;

/// Cuts, sews and places the poncho.
pub fn poncho(form: &Form, vertices: usize) -> Result<Garment> {
    // Not much more than two thirds of a circle and no longer than to the hips: what is fuller or longer opens like a
    // parachute when arms throw it up, and goes over the head.
    let circle = 0.7;
    // Laid flatter than the arms of an A-pose, so that its cone passes above them, and below the chin.
    let laid = 0.85;
    let neck_y = form.shoulder.y + 0.083;
    // So narrow that a neckline that is thrown up does not pass the head.
    let shell = form.trunk.hoop(neck_y, 0.025);
    let faces = [Face::Front, Face::Back];
    let halves = faces.map(|f| shell.half_width(neck_y, f));
    let radius = 2.0 * (halves[0] + halves[1]) / (TAU * circle);
    let sheets = [0, 1].map(|k| Sector::new(faces[k], [0.0, 2.0 * halves[k]], radius, 0.58));
    let mut pattern = Pattern::default();
    let panels = [pattern.add(sheets[0].outline("front")), pattern.add(sheets[1].outline("back"))];
    for (side, front, back) in [("left", "side +", "side -"), ("right", "side -", "side +")] {
        pattern.sew(format!("shoulder {side}"), (panels[0], front), (panels[1], back))?;
    }
    let cut = pattern.cut(vertices)?;
    let cones = [0, 1].map(|k| sheets[k].cone(&shell, neck_y, laid));
    let positions = cut.place(|panel, p| cones[panel](p));
    // It lies on the shoulders by itself and is not held.
    cut.sew(&pattern, "poncho", &positions, &[])
}
