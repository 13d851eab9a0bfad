//! Whether a garment can be draped on a body from where it is: said before any time is spent on it.

use crate::{Error, Result};
use glam::Vec3;
use std::fmt::Write;
use toile_assets::{Body, Garment, TriangleTree};
use toile_geometry::untangle::untangle_itself;

/// Deeper than this is deep, m. Clothes of other programs dip up to 12 mm into the very body they were drawn on
/// (seven MakeHuman suits), and recovery pushes that out on the right side.
const DEEP_M: f32 = 0.02;
/// The share of vertices that may be deep. Garments on their own body measure 0.0 %, wardrobe garments cut for a
/// man of other proportions 0.3 %, suits on the wrong person 0.9 % and more.
const MOST_DEEP: f64 = 0.005;
/// No vertex may be deeper, m: beyond the middle of an arm the nearest way out is the wrong one.
const DEEPEST_M: f32 = 0.045;
/// A garment none of whose vertices is nearer is not worn, m.
const FAR_M: f32 = 0.3;
/// Boxes of garments over the body's: from a glove to a bridal train.
const SIZES: std::ops::Range<f32> = 0.03..4.0;
/// Scales that files are wrong by: the usual units over each other.
const SCALES: [f32; 10] = [0.01, 100.0, 0.0254, 39.37, 2.54, 0.3937, 0.1, 10.0, 0.001, 1000.0];

/// How a garment lies about a body in its rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GarmentFit {
    /// From the body's surface to the nearest vertex, m; 0 where one is inside.
    pub gap_m: f32,
    /// Share of the vertices inside the body.
    pub inside: f64,
    /// Share deeper than 2 cm.
    pub deep: f64,
    /// The deepest vertex.
    pub deepest: usize,
    /// Its depth, m.
    pub deepest_m: f32,
    /// Diagonal of the garment's box, m.
    pub size_m: f32,
    /// The same of the body's.
    pub body_size_m: f32,
    /// From the middle of the garment to the middle of the body, m.
    pub offset_m: Vec3,
}

impl GarmentFit {
    /// Measures a garment where its file puts it against the body in its rest pose.
    pub fn measure(body: &Body, garment: &Garment) -> Self {
        let surface = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
        let tree = TriangleTree::new(&surface, &body.mesh.triangles);
        Self::of(&surface, &tree, &garment.sim.positions)
    }

    fn of(surface: &[Vec3], tree: &TriangleTree, garment: &[Vec3]) -> Self {
        let (mut gap_m, mut inside, mut deep) = (f32::INFINITY, 0, 0);
        let (mut deepest, mut deepest_m) = (0, 0.0f32);
        for (v, p) in garment.iter().enumerate() {
            let far = tree.closest(*p).map_or(f32::INFINITY, |c| c.distance_m);
            if !tree.is_inside(*p) {
                gap_m = gap_m.min(far);
                continue;
            }
            gap_m = 0.0;
            inside += 1;
            deep += usize::from(far > DEEP_M);
            if far > deepest_m {
                (deepest, deepest_m) = (v, far);
            }
        }
        let count = garment.len().max(1) as f64;
        let bounds = |points: &[Vec3]| {
            points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)))
        };
        let ((lo, hi), (l, h)) = (bounds(garment), bounds(surface));
        Self {
            gap_m,
            inside: inside as f64 / count,
            deep: deep as f64 / count,
            deepest,
            deepest_m,
            size_m: (hi - lo).length(),
            body_size_m: (h - l).length(),
            offset_m: 0.5 * (l + h) - 0.5 * (lo + hi),
        }
    }

    /// Whether draping from here can work.
    pub fn is_usable(&self) -> bool {
        self.gap_m <= FAR_M
            && SIZES.contains(&(self.size_m / self.body_size_m))
            && self.deep <= MOST_DEEP
            && self.deepest_m <= DEEPEST_M
    }
}

/// Refuses a garment that is nowhere near its body, inside it, of another scale or made for another body, with
/// the distances and what to do about it.
pub fn check_fit(body: &Body, garment: &Garment) -> Result<GarmentFit> {
    let surface = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    let tree = TriangleTree::new(&surface, &body.mesh.triangles);
    let fit = GarmentFit::of(&surface, &tree, &garment.sim.positions);
    if fit.is_usable() {
        return Ok(fit);
    }
    let mut said = format!("garment `{}` cannot be put on body `{}`: ", garment.name, body.name);
    let sizes = format!("{:.2} m across, the body {:.2} m", fit.size_m, fit.body_size_m);
    let middle = fit.offset_m;
    let mut fix = String::from(
        "place it around the body in the body's rest pose, in metres, nowhere deeper in it than 2 cm",
    );
    if !SIZES.contains(&(fit.size_m / fit.body_size_m)) {
        let _ = write!(said, "it is {sizes}, so their units differ");
    } else if fit.gap_m > FAR_M {
        let _ = write!(said, "its nearest vertex is {:.2} m away from the body (it is {sizes})", fit.gap_m);
        fix = format!(
            "move it by ({:.2}, {:.2}, {:.2}) m to bring middle to middle",
            middle.x, middle.y, middle.z
        );
    } else {
        let p = garment.sim.positions[fit.deepest];
        let _ = write!(
            said,
            "{:.1} % of its vertices are inside the body, {:.1} % deeper than {:.0} mm, the deepest {:.0} mm \
             (vertex {} at {:.2}, {:.2}, {:.2}), as if made for another body, pose or scale",
            100.0 * fit.inside,
            100.0 * fit.deep,
            1e3 * DEEP_M,
            1e3 * fit.deepest_m,
            fit.deepest,
            p.x,
            p.y,
            p.z
        );
    }
    if let Some(scale) = better_scale(&surface, &tree, &garment.sim.positions) {
        fix = format!("scaled by {scale} it would fit");
    }
    let _ = write!(said, "; {fix}");
    Err(Error::Scene(said))
}

/// A usual scale about the origin that would put a refused garment around the body, for garments whose size is
/// odd to begin with. Of several (a doll's dress between the feet touches nothing) the one that makes it most like
/// a garment in size.
fn better_scale(surface: &[Vec3], tree: &TriangleTree, garment: &[Vec3]) -> Option<f32> {
    // Garments are about 0.6 of a body across; 0 there, 0.7 at twice or half of it.
    let odd = |fit: &GarmentFit| (fit.size_m / (0.6 * fit.body_size_m)).ln().abs();
    if odd(&GarmentFit::of(surface, tree, garment)) < 0.7 {
        return None;
    }
    let usable = SCALES.into_iter().filter_map(|scale| {
        let scaled: Vec<Vec3> = garment.iter().map(|p| *p * scale).collect();
        let fit = GarmentFit::of(surface, tree, &scaled);
        (fit.is_usable() && odd(&fit) < 0.7).then(|| (scale, odd(&fit)))
    });
    usable.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(scale, _)| scale)
}

/// Where the vertices of a garment begin: where its file puts them, drawn smooth where it passes through itself, since contact
/// keeps cloth on the side it begins on. Clothes of other programs cross in a few places of an armpit; where smoothing does
/// not part all of it, as with pockets and linings, everything stays as it is. Pinned vertices always do.
pub(crate) fn untangled(garment: &Garment) -> Vec<Vec3> {
    let mut mesh = garment.sim.clone();
    let mut held = vec![false; mesh.positions.len()];
    garment.pins.iter().flat_map(|pin| &pin.vertices).for_each(|v| held[*v as usize] = true);
    match untangle_itself(&mut mesh, &held) {
        [_, 0] => mesh.positions,
        _ => garment.sim.positions.clone(),
    }
}

/// Refuses a garment that draping has dropped: nothing held it.
pub(crate) fn check_still_worn(body: &Body, garment: &Garment, draped: &[Vec3]) -> Result<()> {
    let surface = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    let fit = GarmentFit::of(&surface, &TriangleTree::new(&surface, &body.mesh.triangles), draped);
    if fit.gap_m <= FAR_M {
        return Ok(());
    }
    let height = |list: &[Vec3]| list.iter().map(|p| p.y).sum::<f32>() / list.len().max(1) as f32;
    Err(Error::Scene(format!(
        "garment `{}` fell off body `{}`: it is {:.2} m away and sank {:.2} m while it was draped; \
         put it around the body, or pin what should hold it (a waistband, a collar)",
        garment.name,
        body.name,
        fit.gap_m,
        height(&garment.sim.positions) - height(draped)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    fn place(garment: &Garment, corners: &[u32; 3]) -> Vec3 {
        corners.iter().map(|v| garment.sim.positions[*v as usize]).sum::<Vec3>() / 3.0
    }

    #[test]
    fn cloth_that_begins_through_itself_is_parted_unless_it_is_pinned() {
        let body = builtin::body("mannequin:female").unwrap();
        let mut dress = builtin::garment("dress", &body).unwrap();
        assert_eq!(untangled(&dress), dress.sim.positions);
        // An edge of the skirt put through a triangle beside it.
        let [low, next, _] = dress.sim.triangles.iter().copied().find(|t| place(&dress, t).y < 0.75).unwrap();
        let from = dress.sim.positions[low as usize];
        let beside = |t: &&[u32; 3]| {
            let own = t.contains(&low) || t.contains(&next);
            !own && (0.06..0.12).contains(&place(&dress, t).distance(from))
        };
        let through = *dress.sim.triangles.iter().find(beside).unwrap();
        let [a, b, c] = through.map(|v| dress.sim.positions[v as usize]);
        let (middle, up) = (place(&dress, &through), 0.01 * (b - a).cross(c - a).normalize());
        dress.sim.positions[low as usize] = middle + up;
        dress.sim.positions[next as usize] = middle - up;
        let crossing = |positions: Vec<Vec3>| {
            let mesh = toile_assets::Mesh { positions, ..dress.sim.clone() };
            toile_geometry::self_crossings(&mesh).len()
        };
        assert!(crossing(dress.sim.positions.clone()) > 0);
        assert_eq!(crossing(untangled(&dress)), 0);
        let mut held = dress.clone();
        held.pins.iter_mut().for_each(|p| p.vertices = (0..dress.sim.positions.len() as u32).collect());
        if !held.pins.is_empty() {
            assert_eq!(untangled(&held), dress.sim.positions);
        }
    }

    fn refused(body: &Body, garment: &Garment, change: impl Fn(Vec3) -> Vec3) -> String {
        let mut changed = garment.clone();
        changed.sim.positions.iter_mut().for_each(|p| *p = change(*p));
        check_fit(body, &changed).expect_err("should not fit").to_string()
    }

    #[test]
    fn a_garment_that_does_not_fit_is_refused_with_distance_and_fix() {
        let body = builtin::body("mannequin:female").unwrap();
        let dress = builtin::garment("dress", &body).unwrap();
        let fit = check_fit(&body, &dress).unwrap();
        assert_eq!((fit.inside, fit.deepest_m), (0.0, 0.0));

        let far = refused(&body, &dress, |p| p + 2.0 * Vec3::X);
        assert!(far.contains("m away") && far.contains("move it by (-2.00,"), "{far}");
        for (factor, back) in [(100.0, "0.01"), (0.01, "100"), (39.37, "0.0254"), (2.54, "0.3937")] {
            let scaled = refused(&body, &dress, |p| p * factor);
            assert!(scaled.contains(&format!("scaled by {back} it would fit")), "{factor}: {scaled}");
        }
        // A tenth smaller, somewhat to the side, and with every vertex inside the trunk.
        for change in [|p: Vec3| p * 0.9, |p: Vec3| p + 0.1 * Vec3::Z, |p: Vec3| p * 0.02 + Vec3::Y] {
            let inside = refused(&body, &dress, change);
            assert!(
                inside.contains("% of its vertices are inside") || inside.contains("units differ"),
                "{inside}"
            );
        }
        // The same dress on someone else.
        let man = builtin::body("mannequin:male").unwrap();
        let other = refused(&man, &dress, |p| p);
        assert!(other.contains("another body"), "{other}");
    }
}
