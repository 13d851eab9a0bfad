//! Clothes cut from flat panels.
//!
//! A garment is drafted as a tailor drafts it: measures are taken on the body (`form`), outlines are
//! drawn from them (`panel`, `bodice` and a file per garment), cut into even triangles
//! (`triangulate`), sewn (`sew`) and laid around the body (`place`).

mod bodice;
mod cape;
mod dress;
mod form;
mod limb;
mod measures;
mod panel;
mod place;
mod poncho;
mod relax;
mod sector;
mod sew;
mod shell;
mod shirt;
mod skirt;
mod sleeve;
mod stand;
mod triangulate;
mod trousers;
mod untangle;

use super::{Entry, unknown};
use crate::{Body, Error, Garment, Result};
use form::{Build, Form};
pub use measures::Measures;
use stand::Stand;

/// How a garment is made: for a form, with a number of vertices.
type Make = fn(&Form, usize) -> Result<Garment>;

/// Name, number of vertices unless told otherwise, description, maker.
const WARDROBE: [(&str, usize, &str, Make); 11] = [
    ("dress", 766, "sleeveless dress to the knee, A-line skirt", dress::dress),
    ("skirt", 820, "flared skirt above the knee on a waistband", skirt::skirt),
    ("long-skirt", 766, "long skirt on a waistband", skirt::long_skirt),
    ("shirt", 3329, "loose shirt to the hip with set-in sleeves", shirt::shirt),
    ("pants", 560, "long trousers, held at the waist", trousers::pants),
    ("sweater", 29_510, "wide sweater with set-in sleeves", shirt::sweater),
    ("jacket", 3600, "open jacket with set-in sleeves, to wear over a shirt", shirt::jacket),
    ("jumper", 900, "jumper dress, to wear over a shirt", dress::jumper),
    ("oscar", 820, "puffy dress, skirt gathered into the waist", dress::oscar),
    ("poncho", 2450, "poncho to the hips", poncho::poncho),
    ("cape", 2242, "half-circle cape, held around the neck", cape::cape),
];

/// The fewest and most vertices that a garment may be asked for.
const VERTICES: std::ops::RangeInclusive<usize> = 300..=200_000;

/// By how much a body is taken for stouter where a garment would pass through it, one after the other, m.
const STOUTER: [f64; 2] = [0.006, 0.014];

/// The garments there are.
pub fn list() -> Vec<Entry> {
    WARDROBE.iter().map(|&(name, _, about, _)| Entry { kind: "garment", name, about }).collect()
}

/// A garment by name, cut for and placed around `body`. After a colon, a number asks for that many vertices and
/// `female` or `male` for that cut instead of the one the body's proportions suggest: `dress:3410`, `shirt:male`,
/// `pants:female:900`.
pub fn garment(name: &str, body: &Body) -> Result<Garment> {
    let mut parts = name.split(':');
    let kind = parts.next().unwrap_or_default();
    let Some(&(_, usual, _, make)) = WARDROBE.iter().find(|g| g.0 == kind) else {
        return Err(unknown("garment", name));
    };
    let (mut vertices, mut build) = (usual, None);
    for part in parts {
        match part {
            "female" => build = Some(Build::Female),
            "male" => build = Some(Build::Male),
            count => {
                vertices = count.parse().ok().filter(|n| VERTICES.contains(n)).ok_or_else(|| {
                    Error::Invalid(format!(
                        "garment `{name}`: `{count}` is not a number of vertices from {} to {}, nor `female` or `male`",
                        VERTICES.start(),
                        VERTICES.end()
                    ))
                })?;
            }
        }
    }
    let stand = Stand::of(body)?;
    let mut form = Form::of(&stand)?;
    form.build = build.unwrap_or(form.build);
    let mut garment = make(&form, vertices).map_err(|e| match e {
        Error::Invalid(what) => stand.refused(&format!(
            "{kind}: {what} (measured: {}; a part that is measured wrong has other joints or weights than its name \
             says, see `toile inspect`)",
            Measures::of(&stand, &form).on_stand()
        )),
        other => other,
    })?;
    let mut left = untangle::untangle(&stand, &mut garment);
    // Coarse triangles cut the corners of an angular body: there it is cut for one that is a little stouter.
    for more in STOUTER {
        if left == 0 {
            break;
        }
        let Ok(mut wider) = make(&form.stouter(more), vertices) else { continue };
        let left_wider = untangle::untangle(&stand, &mut wider);
        if left_wider < left {
            (garment, left) = (wider, left_wider);
        }
    }
    stand.take_down(&mut garment);
    Ok(garment)
}

/// What a tailor measures on a body; the error says what cannot be.
pub fn measures(body: &Body) -> Result<Measures> {
    let stand = Stand::of(body)?;
    Ok(Measures::of(&stand, &Form::of(&stand)?))
}
