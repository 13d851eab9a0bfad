//! A sleeveless dress to the knee: fitted bodice with waist darts, half-circle skirt.

use super::bodice::{Block, Style};
use super::form::Form;
use super::relax;
use super::sector::Sector;
use super::sew::Pattern;
use crate::{Garment, Result};
use std::f64::consts::PI;

/// Cuts, sews and places the dress.
pub fn dress(form: &Form, vertices: usize) -> Result<Garment> {
    let clearance = 0.014;
    let style = Style {
        low_y: form.waist_y,
        bust_ease: 0.08,
        low_ease: 0.06,
        underarm_drop: 0.03,
        neck_gap: 0.035,
        shoulder_share: 0.95,
        neck_depth: [0.09, 0.045],
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
