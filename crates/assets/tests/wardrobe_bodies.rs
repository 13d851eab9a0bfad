//! Every built-in garment on characters that stand, face and are built otherwise than the mannequin.

mod variants;

use glam::Vec3;
use toile_assets::{Body, Error, Facing, Garment, Role, TriangleTree, builtin, crossings, self_crossings};
use variants::variant;

const BODIES: [&str; 5] = ["t", "arms:30", "turned:90", "stylised", "slight+t+turned"];
const GARMENTS: [&str; 6] = ["dress", "skirt", "shirt:900", "pants", "jacket:900", "jumper"];

fn mannequin() -> Body {
    builtin::body("mannequin:female").unwrap()
}

/// Nothing of it passes through itself or the wearer, and nothing is inside.
fn assert_worn(name: &str, garment: &Garment, body: &Body) {
    let with_itself = self_crossings(&garment.sim).len();
    let with_body: usize = crossings(&garment.sim, &body.mesh).iter().map(Vec::len).sum();
    assert_eq!((with_itself, with_body), (0, 0), "{name}: crossings with itself, with the body");
    let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
    let inside = garment.sim.positions.iter().filter(|p| tree.is_inside(**p)).count();
    assert_eq!(inside, 0, "{name}: vertices inside the body");
    assert!(garment.sim.positions.iter().all(|p| p.is_finite()), "{name}");
    for (r, v) in garment.sim_from_render.iter().enumerate() {
        assert_eq!(garment.render.positions[r], garment.sim.positions[*v as usize], "{name}");
    }
}

#[test]
fn every_garment_fits_every_variant_of_the_mannequin() {
    for kind in BODIES {
        let body = variant(&mannequin(), kind);
        for name in GARMENTS {
            let garment = builtin::garment(name, &body).unwrap_or_else(|e| panic!("{name} on {kind}: {e}"));
            assert_worn(&format!("{name} on {kind}"), &garment, &body);
            // And it can be dressed at once.
            let fabric = builtin::fabric(&garment.fabric).unwrap();
            let settings = toile_assets::layers::LayerSettings::default();
            let apart =
                toile_assets::layers::layers(&body, &garment, &garment.sim.positions, &fabric, &settings);
            let apart = apart.unwrap_or_else(|e| panic!("{name} on {kind} in layers: {e}"));
            assert_eq!(apart.layer.len(), garment.sim.positions.len());
            let floats = ["dress", "skirt", "jumper"].contains(&name);
            assert_eq!(apart.floating.is_some(), floats, "{name} on {kind}");
        }
    }
}

#[test]
fn a_turned_character_gets_the_same_clothes_turned() {
    let (straight, turned) = (mannequin(), variant(&mannequin(), "turned"));
    for name in ["dress", "pants"] {
        let (a, b) = (builtin::garment(name, &straight).unwrap(), builtin::garment(name, &turned).unwrap());
        // Slices of a turned body differ by rounding, which triangles and vertices between them feel; sizes do not.
        let ((lo, hi), (l, h)) = (a.sim.bounds(), b.sim.bounds());
        let turned_back = [Vec3::new(-h.x, l.y, -h.z), Vec3::new(-l.x, h.y, -l.z)];
        let apart = lo.distance(turned_back[0]).max(hi.distance(turned_back[1]));
        assert!(apart < 5e-3, "{name}: {apart} m apart");
        let flat = |g: &Garment| (0..g.rest.len()).map(|t| g.rest_area(t)).sum::<f32>();
        assert!((flat(&a) / flat(&b) - 1.0).abs() < 1e-3, "{name}");
    }
}

#[test]
fn a_doll_gets_the_same_clothes_small() {
    let body = mannequin();
    let mut doll = body.clone();
    let small = 0.2;
    doll.mesh.positions.iter_mut().for_each(|p| *p *= small);
    doll.skeleton.joints.iter_mut().for_each(|j| j.rest.translation *= small);
    doll.joint_from_bind =
        doll.skeleton.world_from_joints(&doll.skeleton.rest_pose()).iter().map(|m| m.inverse()).collect();
    let (large, little) =
        (builtin::garment("dress", &body).unwrap(), builtin::garment("dress", &doll).unwrap());
    assert_worn("dress on a doll", &little, &doll);
    let area = |g: &Garment| (0..g.rest.len()).map(|t| g.rest_area(t)).sum::<f32>();
    let ratio = area(&little) / area(&large) / (small * small);
    assert!((0.9..1.1).contains(&ratio), "flat cloth scales with the wearer: {ratio}");
    for seam in &little.seams {
        assert!(seam.lengths[0] < 0.2, "{} is {} m long", seam.name, seam.lengths[0]);
    }
}

#[test]
fn facing_is_found_by_toes_even_where_left_and_right_are_mixed_up() {
    let turned = variant(&mannequin(), "turned:90");
    let facing = Facing::of(&turned).unwrap();
    assert!((facing.heading.to_degrees() - 90.0).abs() < 1.0 && !facing.sides_swapped, "{facing:?}");
    let mut swapped = mannequin();
    for joint in &mut swapped.skeleton.joints {
        joint.name = match joint.name.split_once('_') {
            Some(("l", rest)) => format!("r_{rest}"),
            Some(("r", rest)) => format!("l_{rest}"),
            _ => joint.name.clone(),
        };
    }
    let facing = Facing::of(&swapped).unwrap();
    assert!(facing.heading.abs() < 0.02 && facing.sides_swapped, "{facing:?}");
    let dress = builtin::garment("dress", &swapped).unwrap();
    assert_worn("dress on mixed-up sides", &dress, &swapped);
    // Turning back what was turned gives the character itself.
    let back = turned.turned(-90.0);
    let original = mannequin();
    let moved = back.mesh.positions.iter().zip(&original.mesh.positions).map(|(a, b)| a.distance(*b));
    assert!(moved.fold(0.0, f32::max) < 1e-5);
    let bones = turned.bones(&turned.skeleton.rest_pose());
    assert!(bones.iter().all(|b| b.abs_diff_eq(glam::Affine3A::IDENTITY, 1e-5)), "bound as it rests");
}

#[test]
fn arms_that_are_pieces_of_their_own_have_an_armpit() {
    let mut body = mannequin();
    let roles = body.humanoid();
    let arms = [Role::LeftUpperArm, Role::RightUpperArm].map(|r| roles.joint(r).unwrap());
    let mut of_arm = vec![false; body.skeleton.len()];
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        of_arm[j] = arms.contains(&j) || joint.parent.is_some_and(|p| of_arm[p]);
    }
    let share = |v: u32| {
        let row = body.skin.row(v as usize).filter(|(j, _)| of_arm[*j as usize]);
        row.map(|(_, w)| w).sum::<f32>()
    };
    let mixed = |t: &[u32; 3]| !matches!(t.iter().filter(|v| share(**v) > 0.5).count(), 0 | 3);
    let whole: Vec<[u32; 3]> = body.mesh.triangles.iter().filter(|t| !mixed(t)).copied().collect();
    assert!(whole.len() < body.mesh.triangles.len());
    body.mesh.triangles = whole;
    let measured = builtin::wardrobe::measures(&body).unwrap();
    let known = builtin::wardrobe::measures(&mannequin()).unwrap();
    let apart = (measured.heights[1] - known.heights[1]).abs();
    assert!(apart < 0.05, "armpit {apart} m from where it is");
    builtin::garment("dress", &body).unwrap();
}

#[test]
fn bodies_that_cannot_be_measured_are_refused_with_part_and_number() {
    let fault = |body: &Body, garment: &str| match builtin::garment(garment, body) {
        Err(Error::Invalid(why)) => why,
        other => panic!("{:?}", other.map(|g| g.name)),
    };
    // Shoulder joints deep inside the trunk are no reason to refuse.
    let mut narrow = mannequin();
    let roles = narrow.humanoid();
    for role in [Role::LeftUpperArm, Role::RightUpperArm] {
        narrow.skeleton.joints[roles.joint(role).unwrap()].rest.translation.x *= 0.2;
    }
    narrow.joint_from_bind =
        narrow.skeleton.world_from_joints(&narrow.skeleton.rest_pose()).iter().map(|m| m.inverse()).collect();
    builtin::garment("dress", &narrow).unwrap();
    // Legs in one.
    let mut robe = mannequin();
    for p in &mut robe.mesh.positions {
        if p.x.abs() < 0.1 && p.y < 0.9 {
            p.x = 0.0;
        }
    }
    let why = fault(&robe, "pants");
    assert!(why.contains("legs part at") && why.contains("knees at"), "{why}");
    builtin::garment("skirt", &robe).unwrap();
    // Nobody's skin is on the trunk.
    let mut ghost = mannequin();
    ghost.mesh.triangles.truncate(3);
    let why = fault(&ghost, "dress");
    assert!(why.contains("mannequin:female") && why.contains("0.00 m around"), "{why}");
    let mut flat = mannequin();
    flat.mesh.positions.iter_mut().for_each(|p| *p = Vec3::ZERO);
    fault(&flat, "shirt");
}

#[test]
fn cuts_differ_between_women_and_men() {
    let body = mannequin();
    for name in ["shirt", "pants", "jacket"] {
        let cut = |who: &str| builtin::garment(&format!("{name}:{who}:900"), &body).unwrap();
        let (female, male) = (cut("female"), cut("male"));
        assert_ne!(female.rest, male.rest, "{name}");
        assert_eq!(builtin::garment(&format!("{name}:900"), &body).unwrap(), female, "a woman gets hers");
    }
    let man = builtin::body("mannequin:male").unwrap();
    for name in ["shirt:900", "pants"] {
        let male = builtin::garment(&format!("{name}:male"), &man).unwrap();
        assert_eq!(builtin::garment(name, &man).unwrap(), male, "a man his");
        assert_worn(name, &male, &man);
    }
}

/// Angular pieces, a stick with a ball for a head, and a head that rests on its shoulders.
#[test]
fn clothes_lie_outside_of_real_bodies_that_are_no_people() {
    let Some(folder) = std::env::var_os("TOILE_DATA") else {
        eprintln!("skipped: TOILE_DATA names no folder");
        return;
    };
    for name in ["mesh2motion_human_male", "CesiumMan", "KayKit_Mage"] {
        let path = std::path::Path::new(&folder).join(format!("extras/{name}.glb"));
        let body = toile_assets::read::gltf::read_body(&path, None).unwrap().value;
        let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
        for kind in ["dress", "skirt", "long-skirt", "oscar", "shirt:1200"] {
            let garment = builtin::garment(kind, &body).unwrap_or_else(|e| panic!("{name}: {e}"));
            let inside = garment.sim.positions.iter().filter(|p| tree.is_inside(**p)).count();
            let through: usize = crossings(&garment.sim, &body.mesh).iter().map(Vec::len).sum();
            assert_eq!((inside, through), (0, 0), "{kind} on {name}: vertices inside, edges through");
        }
    }
}
