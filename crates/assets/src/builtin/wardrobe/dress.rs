//! A sleeveless dress to the knee: fitted bodice with waist darts, half-circle skirt.

use super::bodice::{Block, Style};
use super::form::{Form, Shell};
use super::panel::Outline;
use super::place::Face;
use super::relax;
use super::sew::Pattern;
use crate::{Garment, Result};
use glam::{DVec2, DVec3};
use std::f64::consts::PI;

/// A ring of cloth whose upper edge is sewn to a waist: one face of a part of a circle.
pub struct Sector {
    /// Front or back.
    pub face: Face,
    /// Radii of waist and hem.
    radii: [f64; 2],
    /// Half the angle.
    half: f64,
    /// Angles at which the waist edge is divided, from the middle.
    divide: Option<f64>,
}

impl Sector {
    /// A sector with the waist parts `[outer, middle]` in metres, `circle` of a full turn all around.
    pub fn new(face: Face, parts: [f64; 2], radius: f64, length: f64) -> Self {
        let half = (parts[0] + 0.5 * parts[1]) / radius;
        let divide = (parts[0] > 0.0).then(|| 0.5 * parts[1] / radius);
        Self { face, radii: [radius, radius + length], half, divide }
    }

    fn at(radius: f64, angle: f64) -> DVec2 {
        DVec2::new(angle.sin(), -angle.cos()) * radius
    }

    /// The outline. Edges: `hem`, `side +`, `waist +`, `waist`, `waist -`, `side -`.
    pub fn outline(&self, name: &str) -> Outline {
        let [r0, r1] = self.radii;
        let pen = Outline::pen(name, Self::at(r1, -self.half))
            .arc("hem", DVec2::ZERO, 2.0 * self.half)
            .line("side +", Self::at(r0, self.half));
        let pen = match self.divide {
            Some(d) => pen
                .arc("waist +", DVec2::ZERO, d - self.half)
                .arc("waist", DVec2::ZERO, -2.0 * d)
                .arc("waist -", DVec2::ZERO, d - self.half),
            None => pen.arc("waist", DVec2::ZERO, -2.0 * self.half),
        };
        pen.line("side -", Self::at(r1, -self.half)).close()
    }

    /// Lays the sector on the cone into which it bends without stretching: `circle` is the sine of its
    /// half angle. Its top lies around `shell` at `waist_y`, its hem on the same ring widened.
    pub fn cone(&self, shell: &Shell, waist_y: f64, circle: f64) -> impl Fn(DVec2) -> DVec3 + use<'_> {
        let slant = self.radii[1] - self.radii[0];
        let drop = slant * (1.0 - circle * circle).sqrt();
        let (top, hem) = (shell.hoop(waist_y, 0.0), shell.hoop(waist_y, slant * circle));
        move |p| {
            let share = p.x.atan2(-p.y) / self.half;
            let a = top.at_share(waist_y, share, self.face);
            let b = hem.at_share(waist_y - drop, share, self.face);
            a.lerp(b, (p.length() - self.radii[0]) / slant)
        }
    }
}

/// Cuts, sews and places the dress.
pub fn dress(form: &Form, vertices: usize) -> Result<Garment> {
    let clearance = 0.014;
    let style = Style {
        low_y: form.waist_y,
        bust_ease: 0.08,
        low_ease: 0.06,
        underarm_drop: 0.03,
        neck_gap: 0.02,
        shoulder_share: 0.95,
        neck_depth: [0.10, 0.04],
        darts: true,
    };
    let shell =
        form.trunk.grown(clearance).filled_under_arms(form.armpit_y - style.underarm_drop, form.shoulder.y);
    let circle = 0.5;
    let blocks = Block::pair(form, &shell, &style);
    let around: f64 = blocks.iter().map(|b| 2.0 * b.waist_parts()[0] + b.waist_parts()[1]).sum();
    let radius = around / (2.0 * PI * circle);
    let length = form.waist_y - form.knee_y - 0.01;
    let skirts = [0, 1].map(|k| Sector::new(blocks[k].face, blocks[k].waist_parts(), radius, length));

    let mut pattern = Pattern::default();
    let bodices =
        [pattern.add(blocks[0].outline("front bodice")), pattern.add(blocks[1].outline("back bodice"))];
    let flares =
        [pattern.add(skirts[0].outline("front skirt")), pattern.add(skirts[1].outline("back skirt"))];
    for (side, front, back) in [("left", "+", "-"), ("right", "-", "+")] {
        for part in ["shoulder", "side"] {
            let [a, b] = [front, back].map(|s| format!("{part} {s}"));
            pattern.sew(format!("{part} {side}"), (bodices[0], &a), (bodices[1], &b))?;
        }
        let [a, b] = [front, back].map(|s| format!("side {s}"));
        pattern.sew(format!("skirt side {side}"), (flares[0], &a), (flares[1], &b))?;
    }
    for (k, name) in ["front", "back"].into_iter().enumerate() {
        pattern.sew(format!("waist {name}"), (bodices[k], "waist"), (flares[k], "waist"))?;
        if blocks[k].dart.is_none() {
            continue;
        }
        for s in ["+", "-"] {
            let [outer, inner] = ["outer", "inner"].map(|leg| format!("dart {s} {leg}"));
            pattern.sew(format!("dart {name} {s}"), (bodices[k], &outer), (bodices[k], &inner))?;
            let part = format!("waist {s}");
            pattern.sew(format!("waist {name} {s}"), (bodices[k], &part), (flares[k], &part))?;
        }
    }
    let cut = pattern.cut(vertices)?;
    let cones = [0, 1].map(|k| skirts[k].cone(&shell, form.waist_y, circle));
    let mut positions = cut.place(|panel, p| match panel {
        0 | 1 => blocks[panel].place(&shell, p),
        _ => cones[panel - 2](p),
    });
    let free = cut.only_in(&bodices);
    relax::slide(&cut, &mut positions, &shell, &free, 60);
    cut.sew(&pattern, "dress", &positions, &[])
}
