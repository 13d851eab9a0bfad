//! Sleeveless dresses: bodice with waist darts, flared skirt to the knee.

use super::bodice::{Block, Style};
use super::form::Form;
use super::relax;
use super::sector::Sector;
use super::sew::Pattern;
use crate::{Garment, Result};
use std::f64::consts::TAU;

/// What differs between the dresses.
struct Cutting {
    name: &'static str,
    /// Share of a full circle that the skirt makes.
    circle: f64,
    /// Length of the skirt's upper edge over that of the bodice's lower edge.
    gather: f64,
    /// How far the skirt ends above the knee if it hangs straight.
    above_knee: f64,
    /// Distance from the body at which it is laid out. Triangles of the coarsest dress cut corners and come 9 mm
    /// nearer.
    clearance: f64,
    /// Ease around bust and waist.
    ease: [f64; 2],
    /// How far the underarm point lies below the armpit.
    underarm_drop: f64,
    /// Depth of the neckline, front and back.
    neck_depth: [f64; 2],
}

const DRESS: Cutting = Cutting {
    name: "dress",
    circle: 0.3,
    gather: 1.0,
    above_knee: 0.06,
    clearance: 0.014,
    ease: [0.08, 0.06],
    underarm_drop: 0.03,
    neck_depth: [0.09, 0.045],
};

/// A dress with an A-line skirt, less than a third of a circle. Of a half circle the folds fall as they please: two walks that
/// differ by a hair left such dresses 3.8 cm apart, and this one 2.
pub fn dress(form: &Form, vertices: usize) -> Result<Garment> {
    sew(form, vertices, &DRESS)
}

/// A puffier dress: the skirt is gathered into the waist and wider.
pub fn oscar(form: &Form, vertices: usize) -> Result<Garment> {
    sew(form, vertices, &Cutting { name: "oscar", circle: 0.6, gather: 1.35, above_knee: -0.06, ..DRESS })
}

/// A jumper dress, to be worn over a shirt: wider all around, deep at the neck and under the arms.
pub fn jumper(form: &Form, vertices: usize) -> Result<Garment> {
    let cutting = Cutting {
        name: "jumper",
        circle: 0.22,
        above_knee: 0.10,
        clearance: 0.026,
        ease: [0.16, 0.16],
        underarm_drop: 0.06,
        neck_depth: [0.13, 0.07],
        ..DRESS
    };
    sew(form, vertices, &cutting)
}

/// Cuts, sews and places a dress.
fn sew(form: &Form, vertices: usize, cutting: &Cutting) -> Result<Garment> {
    let style = Style {
        low_y: form.waist_y,
        bust_ease: cutting.ease[0],
        low_ease: cutting.ease[1],
        underarm_drop: cutting.underarm_drop,
        neck_gap: 0.035,
        // A head that rests on its shoulders nods onto straps that are nearer.
        shoulder_share: if form.head_rests { 1.0 } else { 0.95 },
        neck_depth: cutting.neck_depth,
        darts: true,
    };
    let shell = form
        .trunk
        .grown(cutting.clearance)
        .filled_under_arms(form.armpit_y - style.underarm_drop, form.shoulder.y);
    let blocks = Block::pair(form, &shell, &style)?;
    let around: f64 = blocks.iter().map(|b| 2.0 * b.waist_parts()[0] + b.waist_parts()[1]).sum();
    let radius = cutting.gather * around / (TAU * cutting.circle);
    let length = form.waist_y - form.knee_y - cutting.above_knee;
    let skirts = [0, 1].map(|k| {
        let parts = blocks[k].waist_parts().map(|l| l * cutting.gather);
        Sector::new(blocks[k].face, parts, radius, length)
    });
    // The cone on which the hem lies without strain; gathers make it wider than the circle alone.
    let sine = (cutting.circle + (cutting.gather - 1.0) * around / (TAU * length)).min(0.95);

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
        let gather = cutting.gather;
        pattern.gather(format!("waist {name}"), (flares[k], "waist"), (bodices[k], "waist"), gather)?;
        if blocks[k].dart.is_none() {
            continue;
        }
        for s in ["+", "-"] {
            let [outer, inner] = ["outer", "inner"].map(|leg| format!("dart {s} {leg}"));
            pattern.sew(format!("dart {name} {s}"), (bodices[k], &outer), (bodices[k], &inner))?;
            let part = format!("waist {s}");
            pattern.gather(format!("waist {name} {s}"), (flares[k], &part), (bodices[k], &part), gather)?;
        }
    }
    let cut = pattern.cut(vertices)?;
    let cones = [0, 1].map(|k| skirts[k].cone(&shell, form.waist_y, sine));
    let mut positions = cut.place(|panel, p| match panel {
        0 | 1 => blocks[panel].place(&shell, p),
        _ => shell.outside(cones[panel - 2](p)),
    });
    let free = cut.only_in(&bodices);
    // Fine cloth slides past itself beside the darts when it slides for long.
    let rounds = if vertices > 2000 { 8 } else { 60 };
    relax::slide(&cut, &mut positions, &shell, &free, rounds);
    cut.sew(&pattern, cutting.name, &positions, &[])
}
