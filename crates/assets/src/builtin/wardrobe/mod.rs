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
mod panel;
mod place;
mod poncho;
mod relax;
mod sector;
mod sew;
mod shirt;
mod skirt;
mod sleeve;
mod triangulate;

use super::{Entry, unknown};
use crate::{Body, Error, Garment, Result};
use form::Form;

/// How a garment is made: for a form, with a number of vertices.
type Make = fn(&Form, usize) -> Result<Garment>;

/// Name, number of vertices unless told otherwise, description, maker.
const WARDROBE: [(&str, usize, &str, Make); 8] = [
    ("dress", 766, "sleeveless dress to the knee, A-line skirt", dress::dress),
    ("skirt", 820, "flared skirt above the knee on a waistband", skirt::skirt),
    ("long-skirt", 766, "long skirt on a waistband", skirt::long_skirt),
    ("shirt", 3329, "loose shirt to the hip with set-in sleeves", shirt::shirt),
    ("sweater", 29_510, "wide sweater with set-in sleeves", shirt::sweater),
    ("oscar", 820, "puffy dress, skirt gathered into the waist", dress::oscar),
    ("poncho", 2450, "poncho to the hips", poncho::poncho),
    ("cape", 2242, "half-circle cape, held around the neck", cape::cape),
];

/// The fewest and most vertices that a garment may be asked for.
const VERTICES: std::ops::RangeInclusive<usize> = 300..=200_000;

/// The garments there are.
pub fn list() -> Vec<Entry> {
    WARDROBE.iter().map(|&(name, _, about, _)| Entry { kind: "garment", name, about }).collect()
}

/// A garment by name, cut for and placed around `body`; a number after a colon asks for that many
/// vertices: `dress:3410`.
pub fn garment(name: &str, body: &Body) -> Result<Garment> {
    let (kind, count) = match name.split_once(':') {
        Some((kind, count)) => (kind, Some(count)),
        None => (name, None),
    };
    let Some(&(_, usual, _, make)) = WARDROBE.iter().find(|g| g.0 == kind) else {
        return Err(unknown("garment", name));
    };
    let vertices = match count {
        None => usual,
        Some(count) => count.parse().ok().filter(|n| VERTICES.contains(n)).ok_or_else(|| {
            Error::Invalid(format!(
                "garment `{name}`: `{count}` is not a number of vertices from {} to {}",
                VERTICES.start(),
                VERTICES.end()
            ))
        })?,
    };
    make(&Form::of(body)?, vertices)
}
