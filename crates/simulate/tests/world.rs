//! A world from outside: who holds what, what is refused, and that physics does not know where the origin is.

use glam::{Affine3A, DAffine3, DQuat, DVec3, Vec3};
use toile_assets::{Mesh, PinTarget, builtin};
use toile_simulate::{Scene, Settings, World};

/// A strip of cloth, one end of which is held.
fn strip() -> World {
    let positions: Vec<Vec3> =
        (0..16).map(|v| Vec3::new(0.03 * (v % 2) as f32, 1.0, 0.03 * (v / 2) as f32)).collect();
    let triangles = (0..7).flat_map(|k| {
        let v = 2 * k;
        [[v, v + 2, v + 1], [v + 1, v + 2, v + 3]]
    });
    let mesh = Mesh { positions, triangles: triangles.collect(), uvs: vec![] };
    let mut scene =
        Scene::from_mesh(&mesh, &builtin::fabric("cotton").unwrap(), &Settings::default()).unwrap();
    (scene.pinned[0], scene.pinned[1]) = (true, true);
    let x = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    World::new(scene, x, Settings::default().with(|s| s.wind = DVec3::ZERO)).unwrap()
}

#[test]
fn what_is_held_in_space_stays_and_the_rest_falls() {
    let mut world = strip();
    let start = world.state.x.clone();
    for _ in 0..30 {
        world.step(&[], 1.0 / 60.0).unwrap();
    }
    assert_eq!(world.state.x[..2], start[..2]);
    assert!(world.state.x[15].y < 0.9, "the free end is at {}", world.state.x[15]);
    assert!(world.scene.max_stretch(&world.state.x) < 0.02);
}

#[test]
fn a_scene_turned_about_the_vertical_and_moved_goes_the_same_way_there() {
    let m = DAffine3::from_rotation_translation(DQuat::from_rotation_y(0.7), DVec3::new(20.0, -3.0, 7.0));
    let (mut here, mut there) = (strip(), strip());
    there.transform(&m);
    for _ in 0..12 {
        here.step(&[], 1.0 / 60.0).unwrap();
        there.step(&[], 1.0 / 60.0).unwrap();
    }
    let apart = here.state.x.iter().zip(&there.state.x).map(|(a, b)| m.transform_point3(*a).distance(*b));
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < 1e-4, "{apart} m apart");
    assert!(here.state.x[15].y < 0.99, "it has moved");
}

#[test]
fn pins_follow_what_they_are_pinned_to() {
    let body = builtin::body("mannequin:female").unwrap();
    let mut skirt = builtin::garment("skirt:300", &body).unwrap();
    let fabric = builtin::fabric(&skirt.fabric).unwrap();
    let bones = body.bones(&body.skeleton.rest_pose());
    let up = 0.05 * Vec3::Y;
    let moved: Vec<Affine3A> = bones.iter().map(|b| Affine3A::from_translation(up) * *b).collect();
    for (target, follows) in [
        (PinTarget::Body, true),
        (PinTarget::Joint(body.skeleton.joints[0].name.clone()), true),
        (PinTarget::Space, false),
    ] {
        skirt.pins[0].target = target.clone();
        let mut world = World::with_body(&body, &skirt, &fabric, Settings::worn()).unwrap();
        let v = skirt.pins[0].vertices[0] as usize;
        let before = world.state.x[v];
        world.step(&moved, 1.0 / 30.0).unwrap();
        let way = world.state.x[v] - before;
        let wanted = if follows { up.as_dvec3() } else { DVec3::ZERO };
        assert!(way.distance(wanted) < 1e-5, "{target:?}: {way}");
    }
    skirt.pins[0].target = PinTarget::Joint("tail".into());
    let said = World::with_body(&body, &skirt, &fabric, Settings::worn()).unwrap_err().to_string();
    assert!(said.contains("tail") && said.contains(&skirt.pins[0].name), "{said}");
}

#[test]
fn positions_and_bones_that_do_not_fit_are_refused() {
    let world = strip();
    let mut x = world.state.x.clone();
    x[3].y = f64::NAN;
    let said = World::new(world.scene.clone(), x.clone(), Settings::default()).unwrap_err().to_string();
    assert!(said.contains("vertex 3 is not finite"), "{said}");
    let said = World::new(world.scene.clone(), x[1..].to_vec(), Settings::default()).unwrap_err().to_string();
    assert!(said.contains("15 positions for 16 vertices"), "{said}");

    let body = builtin::body("mannequin:female").unwrap();
    let skirt = builtin::garment("skirt:300", &body).unwrap();
    let fabric = builtin::fabric(&skirt.fabric).unwrap();
    let mut world = World::with_body(&body, &skirt, &fabric, Settings::worn()).unwrap();
    let before = world.state.x.clone();
    let bones = world.bones().to_vec();
    assert!(world.step(&bones[1..], 1.0 / 60.0).unwrap_err().to_string().contains("joints"));
    assert_eq!(world.state.x, before);
}
