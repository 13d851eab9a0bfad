//! Putting one garment on over others: brought out of them where it starts within them, or refused with what would do.
//!
//! Cloth never passes through cloth, so garments have to be apart before the first step. As laid out they rarely are: a skirt is
//! a wide cone before it hangs, a shirt and trousers lie about the same hip. Vertices of the outer one go to the outside of
//! what they are within or behind. Where that does not part them, what lies over the outer garment is tucked in under it. Then edges
//! are tested against triangles, all of them; nothing is simulated that starts crossed.

use crate::{Error, Result};
use glam::Vec3;
use toile_assets::{Body, Fabric, Garment, Mesh, Role, TriangleTree, vertex_normals};
use toile_geometry::untangle::neighbours;
use toile_geometry::{ClosestPoint, Crossing, crossings};

/// Cloth of an outer garment that starts this far behind an inner one is brought out, m; what is deeper is on another side
/// of the body.
const BEHIND_M: f32 = 0.05;
/// Room that is left between garments at the start besides the thickness of their cloth, m.
const ROOM_M: f32 = 1e-3;
/// Cloth that lies so far over a garment that is put on over it is tucked in, m: the flare of a skirt over the hem of a shirt.
const OVER_M: f32 = 0.15;
/// Only where both face one way: the cosine between their normals.
const FACING: f32 = 0.3;
/// And where the one is above the other: what this share of their distance goes along the normal, but for a few millimetres.
const ABOVE: f32 = 0.9;
const NEAR_M: f32 = 5e-3;
/// Gauss-Seidel sweeps of what goes along: enough for a few dozen rings of vertices.
const HARMONIC_SWEEPS: usize = 300;
/// How often outer cloth is brought out before it is given up.
const ROUNDS: usize = 12;
/// By how much an edge between pinned vertices may be lengthened: what is pinned stays so, and a take is untrue beyond.
/// Trousers under a long skirt lengthen its waistband by 12 %, a shirt under trousers theirs by 55 %.
const PINNED_BEARS: f32 = 1.15;
/// The same for other edges, which draping can shorten again. Garments that can be worn over each other need 1.13.
const BEARS: f32 = 1.5;
/// The order is wrong where more of the outer garment than this, of what is near the inner one, starts farther behind it than
/// [`BEHIND_AT_ALL_M`].
const MOSTLY: f64 = 0.6;
const BEHIND_AT_ALL_M: f32 = 1e-3;

/// Puts on the last of `garments` over the others, which are apart already.
pub(crate) fn over(body: &Body, garments: &mut [Garment], fabrics: &[Fabric]) -> Result<()> {
    let Some((outer, inner)) = garments.split_last_mut() else { return Ok(()) };
    let as_laid_out = (inner.to_vec(), outer.clone());
    let Some(fault) = part(inner, outer, fabrics) else { return Ok(()) };
    let (inner, outer) = as_laid_out;
    let mut raised = inner[fault.beneath].clone();
    let slanted = [fabrics[inner.len()].clone(), fabrics[fault.beneath].clone()];
    let other_way = part(&mut [outer.clone()], &mut raised, &slanted).is_none();
    Err(fault.refusal(body, &inner, &outer, other_way))
}

/// Brings `outer` out of what is beneath it; where that does not part them, what is beneath is first tucked in under it.
fn part(inner: &mut [Garment], outer: &mut Garment, fabrics: &[Fabric]) -> Option<Fault> {
    let as_laid_out = outer.sim.positions.clone();
    let fault = bring_out(inner, outer, fabrics)?;
    // Tucked in is what flares; what is loose beneath something close is in the wrong order.
    if fault.pinned || fault.behind > MOSTLY {
        return Some(fault);
    }
    outer.sim.positions = as_laid_out;
    let crossing: Vec<usize> = (0..inner.len()).filter(|k| crossed(&inner[*k], outer).is_some()).collect();
    for k in crossing {
        let beneath = inner[k].sim.positions.clone();
        let gap_m = gap_m(&fabrics[k], &fabrics[inner.len()]);
        tuck_in(&mut inner[k], outer, gap_m);
        let others = (0..inner.len()).filter(|other| *other != k);
        let spoiled = pulled(&inner[k], &beneath).is_some()
            || others.into_iter().any(|other| crossed(&inner[k], &inner[other]).is_some());
        if spoiled {
            return Some(fault);
        }
    }
    bring_out(inner, outer, fabrics)
}

/// Brings cloth of `inner` that lies over `outer`, a flare that has not hung yet, to its inside. What is beside it comes along:
/// the way is a harmonic function over the garment that is what is needed there and nothing where it is pinned, so a skirt becomes
/// narrower as a whole and is pulled long nowhere.
fn tuck_in(inner: &mut Garment, outer: &Garment, gap_m: f32) {
    let over = Beneath::new(outer, gap_m);
    let links = neighbours(&inner.sim);
    let pinned = held(inner);
    for round in 0..ROUNDS {
        let faces = vertex_normals(&inner.sim.positions, &inner.sim.triangles);
        let mut way = vec![Vec3::ZERO; links.len()];
        let mut held = pinned.clone();
        for (v, p) in inner.sim.positions.iter().enumerate().filter(|(v, _)| !pinned[*v]) {
            let Some(near) = over.tree.closest_within(*p, OVER_M) else { continue };
            let (outside, normal) = over.above(*p, &near);
            let lies_over = outside + over.gap_m * (1.0 + 0.25 * round as f32);
            // A sleeve beside a skirt faces it and does not cover it, nor does a shirt what hangs below its hem.
            let covered = normal.dot(faces[v]) > FACING && outside >= ABOVE * near.distance_m - NEAR_M;
            if lies_over > 0.0 && covered {
                (way[v], held[v]) = (-normal * lies_over, true);
            }
        }
        for _ in 0..HARMONIC_SWEEPS {
            for v in (0..links.len()).filter(|v| !held[*v]) {
                way[v] =
                    links[v].iter().map(|u| way[*u as usize]).sum::<Vec3>() / links[v].len().max(1) as f32;
            }
        }
        inner.sim.positions.iter_mut().zip(&way).for_each(|(p, way)| *p += *way);
        if crossed(inner, outer).is_none() {
            break;
        }
    }
}

/// Why a garment cannot be put on over others.
#[derive(Debug)]
struct Fault {
    /// The garment beneath that is in the way.
    beneath: usize,
    /// Pairs of an edge and a triangle that cross.
    crossings: usize,
    /// An edge that would be pulled too long, and by how much.
    pulled: Option<f32>,
    /// Whether its ends are pinned.
    pinned: bool,
    /// Where the worst is.
    at: Vec3,
    /// Share of the outer garment that starts behind the inner one, of what is near it.
    behind: f64,
}

impl Fault {
    fn refusal(&self, body: &Body, inner: &[Garment], outer: &Garment, other_way: bool) -> Error {
        let (within, over) = (&inner[self.beneath].name, &outer.name);
        let Vec3 { x, y, z } = self.at;
        let place = format!("at the {} ({x:.2}, {y:.2}, {z:.2})", part_of(body, self.at));
        let why = match self.pulled {
            Some(by) => format!(
                "`{over}` would be pulled {:.0} % too long {place} to lie outside of `{within}`, and stay so",
                100.0 * (by - 1.0)
            ),
            None => format!(
                "they start crossed in {} places, the first {place}, and moving `{over}` out by up to {:.0} cm does not part them",
                self.crossings,
                100.0 * BEHIND_M
            ),
        };
        let inside = match self.behind > MOSTLY {
            true => {
                format!("; {:.0} % of what they share of it lies inside of `{within}`", 100.0 * self.behind)
            }
            false => String::new(),
        };
        let what_would_do = match other_way {
            true => format!(
                "garments are named from the innermost out, and the other way round these can be worn: --garment {over} --garment {within}"
            ),
            false => format!(
                "take a wider `{over}` or a closer `{within}`, or place `{over}` in its file outside of the other everywhere"
            ),
        };
        Error::Scene(format!("`{over}` cannot be put on over `{within}`: {why}{inside}; {what_would_do}"))
    }
}

/// A garment that another is put on over.
struct Beneath<'a> {
    garment: &'a Garment,
    tree: TriangleTree,
    normals: Vec<Vec3>,
    /// Distance that is kept from it, m.
    gap_m: f32,
}

impl<'a> Beneath<'a> {
    fn new(garment: &'a Garment, gap_m: f32) -> Self {
        let mesh = &garment.sim;
        let tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
        Self { garment, tree, normals: vertex_normals(&mesh.positions, &mesh.triangles), gap_m }
    }

    /// How far `p` is outside of it, m, and which way that is; none where it is not near.
    fn outside(&self, p: Vec3) -> Option<(f32, Vec3)> {
        Some(self.above(p, &self.tree.closest_within(p, BEHIND_M)?))
    }

    /// The same from its nearest point.
    fn above(&self, p: Vec3, near: &ClosestPoint) -> (f32, Vec3) {
        let corners = self.garment.sim.triangles[near.triangle as usize];
        let normal: Vec3 = (0..3).map(|k| self.normals[corners[k] as usize] * near.barycentric[k]).sum();
        let normal = normal.normalize_or_zero();
        ((p - near.point).dot(normal), normal)
    }

    /// Share of the vertices near it that are behind it.
    fn share_behind(&self, positions: &[Vec3]) -> f64 {
        let near: Vec<f32> = positions.iter().filter_map(|p| Some(self.outside(*p)?.0)).collect();
        let behind = near.iter().filter(|out| **out < -BEHIND_AT_ALL_M).count();
        behind as f64 / near.len().max(1) as f64
    }
}

/// What is left between two garments at the start, m.
fn gap_m(a: &Fabric, b: &Fabric) -> f32 {
    0.5 * (a.thickness + b.thickness) as f32 + ROOM_M
}

/// Moves vertices of `outer` that start within or behind `inner` garments to their outsides, until nothing crosses, and says why
/// where that fails.
fn bring_out(inner: &[Garment], outer: &mut Garment, fabrics: &[Fabric]) -> Option<Fault> {
    let gap = |k: usize| gap_m(&fabrics[k], &fabrics[inner.len()]);
    let under: Vec<Beneath<'_>> = inner.iter().enumerate().map(|(k, g)| Beneath::new(g, gap(k))).collect();
    let as_laid_out = outer.sim.positions.clone();
    let links = neighbours(&outer.sim);
    for round in 0..ROUNDS {
        let mut out = vec![Vec3::ZERO; outer.sim.positions.len()];
        for (moved, p) in out.iter_mut().zip(&outer.sim.positions) {
            for beneath in &under {
                let Some((outside, normal)) = beneath.outside(*p + *moved) else { continue };
                // A little more each round: edges between vertices that are out may still cut through.
                let lacks = beneath.gap_m * (1.0 + 0.25 * round as f32) - outside;
                if lacks > 0.0 {
                    *moved += normal * lacks;
                }
            }
        }
        // Neighbours go along in part, so that the border of what was moved is no step.
        let farthest = |v: usize| links[v].iter().map(|u| out[*u as usize]).max_by(longer);
        let spread: Vec<Vec3> = (0..out.len())
            .map(|v| {
                let near = farthest(v).unwrap_or(Vec3::ZERO) * 0.5;
                if near.length() > out[v].length() { near } else { out[v] }
            })
            .collect();
        outer.sim.positions.iter_mut().zip(&spread).for_each(|(p, moved)| *p += *moved);
        if inner.iter().all(|g| crossed(g, outer).is_none()) {
            break;
        }
    }
    let found = inner.iter().enumerate().find_map(|(k, g)| Some((k, crossed(g, outer)?)));
    let pulled = pulled(outer, &as_laid_out);
    let (beneath, crossings, at) = match (found, pulled) {
        (None, None) => return None,
        (Some((k, (count, at))), _) => (k, count, at),
        // In the way is what is nearest to where it is pulled.
        (None, Some(Pulled { at, .. })) => {
            let far = |b: &Beneath<'_>| b.tree.closest(at).map_or(f32::INFINITY, |c| c.distance_m);
            let nearest = (0..under.len()).min_by(|a, b| far(&under[*a]).total_cmp(&far(&under[*b])));
            (nearest.unwrap_or(0), 0, at)
        }
    };
    let behind = under[beneath].share_behind(&as_laid_out);
    let pinned = pulled.is_some_and(|p| p.pinned);
    let pulled = pulled.filter(|_| crossings == 0).map(|p| p.by);
    Some(Fault { beneath, crossings, pulled, pinned, at, behind })
}

fn longer(a: &Vec3, b: &Vec3) -> std::cmp::Ordering {
    a.length_squared().total_cmp(&b.length_squared())
}

/// How often two garments cross, and where they do so first.
fn crossed(a: &Garment, b: &Garment) -> Option<(usize, Vec3)> {
    let [of_a, of_b] = crossings(&a.sim, &b.sim);
    let at = |mesh: &Mesh, c: &Crossing| {
        0.5 * (mesh.positions[c.edge[0] as usize] + mesh.positions[c.edge[1] as usize])
    };
    let first = of_a.first().map(|c| at(&a.sim, c)).or_else(|| of_b.first().map(|c| at(&b.sim, c)))?;
    Some((of_a.len() + of_b.len(), first))
}

/// An edge that is longer than it may be.
#[derive(Clone, Copy)]
struct Pulled {
    /// By what factor.
    by: f32,
    at: Vec3,
    pinned: bool,
}

/// The edge that was lengthened farthest beyond what it may be; first those that are pinned.
fn pulled(garment: &Garment, before: &[Vec3]) -> Option<Pulled> {
    let now = &garment.sim.positions;
    let held = held(garment);
    let edges = garment.sim.topology().edges;
    let long = edges.iter().filter_map(|edge| {
        let [a, b] = edge.ends.map(|v| v as usize);
        let pinned = held[a] && held[b];
        let by = now[a].distance(now[b]) / before[a].distance(before[b]).max(1e-6);
        let bears = if pinned { PINNED_BEARS } else { BEARS };
        (by > bears).then(|| Pulled { by, at: 0.5 * (now[a] + now[b]), pinned })
    });
    long.max_by(|a, b| a.pinned.cmp(&b.pinned).then(a.by.total_cmp(&b.by)))
}

/// Which vertices are pinned.
fn held(garment: &Garment) -> Vec<bool> {
    let mut held = vec![false; garment.sim.positions.len()];
    garment.pins.iter().flat_map(|pin| &pin.vertices).for_each(|v| held[*v as usize] = true);
    held
}

/// What people call the place of a body that is nearest to `p`: `left upper leg`.
fn part_of(body: &Body, p: Vec3) -> String {
    let surface = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    let tree = TriangleTree::new(&surface, &body.mesh.triangles);
    let Some(near) = tree.closest(p) else { return "body".into() };
    let corner = body.mesh.triangles[near.triangle as usize][0] as usize;
    let strongest = body.skin.row(corner).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some(joint) = strongest.map(|(joint, _)| usize::from(joint)) else { return "body".into() };
    let roles = body.humanoid().joints;
    let mut at = joint;
    // Fingers and twists have no name of their own.
    loop {
        if let Some((role, _)) = roles.iter().find(|(_, j)| *j == at) {
            return match role {
                Role::Spine => "waist".into(),
                _ => spelled(&format!("{role:?}")),
            };
        }
        match body.skeleton.joints[at].parent {
            Some(parent) => at = parent,
            None => return body.skeleton.joints[joint].name.clone(),
        }
    }
}

/// `LeftUpperLeg` as people write it.
fn spelled(name: &str) -> String {
    let mut words = String::new();
    for (k, c) in name.char_indices() {
        if c.is_uppercase() && k > 0 {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DrapeSettings, Outfit, Settings, drape_outfit};
    use toile_assets::builtin;
    use toile_lab::check;

    fn piece(body: &Body, garment: &str) -> (Garment, Fabric) {
        let garment = builtin::garment(garment, body).unwrap();
        let fabric = builtin::fabric(&garment.fabric).unwrap();
        (garment, fabric)
    }

    fn outfit(body: &Body, garments: [&str; 2]) -> Result<Outfit> {
        Outfit::new(body, garments.map(|name| piece(body, name)).into())
    }

    #[test]
    fn an_outer_garment_that_starts_within_is_brought_out() {
        let body = builtin::body("mannequin:female").unwrap();
        // The same skirt twice starts in the same place.
        let outfit = outfit(&body, ["skirt:300", "skirt:300"]).unwrap();
        let [inner, outer] = [0, 1].map(|k| &outfit.garments()[k]);
        assert_eq!(crossings(&inner.sim, &outer.sim).map(|c| c.len()), [0, 0]);
        assert_ne!(inner.name, outer.name);
        let moved = outer.sim.positions.iter().zip(&inner.sim.positions).map(|(a, b)| a.distance(*b));
        assert!(moved.clone().fold(f32::INFINITY, f32::min) > 2e-3);
        assert!(moved.fold(0.0, f32::max) < 0.03);
    }

    #[test]
    fn a_flare_is_tucked_in_under_a_shirt_and_comes_to_rest_there() {
        let body = builtin::body("mannequin:female").unwrap();
        let outfit = outfit(&body, ["skirt:300", "shirt:600"]).unwrap();
        let [skirt, shirt] = [0, 1].map(|k| &outfit.garments()[k]);
        assert_eq!(crossings(&skirt.sim, &shirt.sim).map(|c| c.len()), [0, 0]);
        let laid_out = piece(&body, "skirt:300").0;
        assert!(pulled(skirt, &laid_out.sim.positions).is_none());
        for v in (0..laid_out.sim.positions.len()).filter(|v| held(skirt)[*v]) {
            assert_eq!(skirt.sim.positions[v], laid_out.sim.positions[v], "what is pinned stays");
        }
        let settings = Settings::worn();
        let world = drape_outfit(&body, &outfit, &settings, &DrapeSettings::default()).unwrap();
        assert_eq!(check::crossings(&world.scene.triangles, &world.scene.edges, &world.state.x), 0);
        let longest = world.scene.max_stretch(&world.state.x);
        assert!(longest < 0.15, "{longest}");
    }

    #[test]
    fn a_wrong_order_is_refused_with_the_right_one() {
        let body = builtin::body("mannequin:female").unwrap();
        // A waistband over loose cloth would be torn, a dress does not go into trousers.
        for (garments, place) in [
            (["shirt:600", "pants:300"], "% too long at the waist ("),
            (["dress:400", "pants:300"], "places, the first at the left upper leg ("),
        ] {
            let said = outfit(&body, garments).map(drop).expect_err("in the wrong order").to_string();
            let [inner, outer] = garments.map(|name| name.split(':').next().unwrap());
            let order = format!("the other way round these can be worn: --garment {outer} --garment {inner}");
            assert!(said.contains(place) && said.contains(&order), "{said}");
            let [a, b] = garments;
            outfit(&body, [b, a]).unwrap();
        }
    }

    #[test]
    fn garments_that_cross_in_any_order_are_refused_with_what_would_do() {
        let body = builtin::body("mannequin:female").unwrap();
        // A narrow long skirt does not close over a wide short one, nor does the short one open over it.
        let said =
            outfit(&body, ["skirt:300", "long-skirt:300"]).map(drop).expect_err("they cross").to_string();
        assert!(said.contains("`long-skirt` cannot be put on over `skirt`: they start crossed in"), "{said}");
        assert!(said.contains("take a wider `long-skirt` or a closer `skirt`"), "{said}");
    }

    #[test]
    fn places_are_called_as_people_call_them() {
        let body = builtin::body("mannequin:female").unwrap();
        assert_eq!(part_of(&body, Vec3::new(0.2, 1.02, 0.0)), "waist");
        assert_eq!(spelled("LeftUpperLeg"), "left upper leg");
    }
}
