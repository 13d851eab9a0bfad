//! Kinematic cloth on a body of three cylinders, standing and in a stride.

use glam::{Quat, Vec3};
use toile_assets::{AttachmentSettings, Body, Joint, Mesh, Skeleton, Skin, Transform, attach, skirt_share};

/// A closed elliptic cylinder from `low` to `high`.
fn cylinder(mesh: &mut Mesh, centre: Vec3, radii: [f32; 2], low: f32, high: f32) {
    const AROUND: u32 = 24;
    const RINGS: u32 = 24;
    let first = mesh.positions.len() as u32;
    for y in 0..=RINGS {
        for k in 0..AROUND {
            let a = std::f32::consts::TAU * k as f32 / AROUND as f32;
            let height = low + (high - low) * y as f32 / RINGS as f32;
            mesh.positions.push(Vec3::new(
                centre.x + radii[0] * a.cos(),
                height,
                centre.z - radii[1] * a.sin(),
            ));
        }
    }
    for y in 0..RINGS {
        for k in 0..AROUND {
            let (i, j) = (first + y * AROUND + k, first + y * AROUND + (k + 1) % AROUND);
            mesh.triangles.push([i, j, j + AROUND]);
            mesh.triangles.push([i, j + AROUND, i + AROUND]);
        }
    }
    for (ring, up) in [(0, false), (RINGS, true)] {
        let i = first + ring * AROUND;
        for k in 1..AROUND - 1 {
            mesh.triangles.push(if up { [i, i + k, i + k + 1] } else { [i, i + k + 1, i + k] });
        }
    }
}

/// An open tube whose radii go from `top` to `hem`.
fn tube(centre: Vec3, top: [f32; 2], hem: [f32; 2], from: f32, to: f32) -> Mesh {
    const AROUND: u32 = 64;
    const RINGS: u32 = 32;
    let mut mesh = Mesh::default();
    for y in 0..=RINGS {
        let t = y as f32 / RINGS as f32;
        for k in 0..AROUND {
            let a = std::f32::consts::TAU * k as f32 / AROUND as f32;
            let r = [0, 1].map(|i| top[i] + (hem[i] - top[i]) * t);
            mesh.positions.push(centre + Vec3::new(r[0] * a.cos(), from + (to - from) * t, -r[1] * a.sin()));
        }
    }
    for y in 0..RINGS {
        for k in 0..AROUND {
            let (i, j) = (y * AROUND + k, y * AROUND + (k + 1) % AROUND);
            mesh.triangles.push([i, i + AROUND, j + AROUND]);
            mesh.triangles.push([i, j + AROUND, j]);
        }
    }
    mesh
}

/// Trunk and two legs with weights that blend over the groin.
fn biped() -> Body {
    let joint = |name: &str, parent, at| Joint {
        name: name.to_string(),
        parent,
        rest: Transform::from_translation(at),
    };
    let skeleton = Skeleton::new(vec![
        joint("Hips", None, Vec3::new(0.0, 0.95, 0.0)),
        joint("LeftUpLeg", Some(0), Vec3::new(0.1, -0.05, 0.0)),
        joint("RightUpLeg", Some(0), Vec3::new(-0.1, -0.05, 0.0)),
    ])
    .unwrap();
    let mut mesh = Mesh::default();
    cylinder(&mut mesh, Vec3::ZERO, [0.17, 0.11], 0.8, 1.3);
    let legs = mesh.positions.len();
    cylinder(&mut mesh, Vec3::new(0.1, 0.0, 0.0), [0.075, 0.075], 0.0, 0.85);
    cylinder(&mut mesh, Vec3::new(-0.1, 0.0, 0.0), [0.075, 0.075], 0.0, 0.85);
    let rows: Vec<Vec<(u16, f32)>> = mesh
        .positions
        .iter()
        .enumerate()
        .map(|(v, p)| {
            let thigh = if v >= legs { ((0.95 - p.y) / 0.15).clamp(0.0, 1.0) } else { 0.0 };
            vec![(0, 1.0 - thigh), (if p.x > 0.0 { 1 } else { 2 }, thigh)]
        })
        .collect();
    Body::bound_at_rest("biped", skeleton, mesh, Skin::from_rows(rows).unwrap()).unwrap()
}

/// Longest edge of the posed garment over its length at rest, in a stride of ±`degrees`.
fn stretch(body: &Body, garment: &Mesh, settings: &AttachmentSettings, degrees: f32) -> f32 {
    let attachment = attach(body, garment, settings).unwrap();
    let mut pose = body.skeleton.rest_pose();
    pose.locals[1].rotation = Quat::from_rotation_x(-degrees.to_radians());
    pose.locals[2].rotation = Quat::from_rotation_x(degrees.to_radians());
    let posed = attachment.posed(&body.bones(&pose));
    let ratio = |a: u32, b: u32| {
        let (a, b) = (a as usize, b as usize);
        posed[a].distance(posed[b]) / garment.positions[a].distance(garment.positions[b])
    };
    garment.topology().edges.iter().map(|e| ratio(e.ends[0], e.ends[1])).fold(0.0, f32::max)
}

#[test]
fn a_skirt_does_not_tear_between_striding_legs() {
    let body = biped();
    let plain = AttachmentSettings::default().with(|s| {
        s.smoothing_passes = 0;
        s.legs = false;
    });
    let smooth = AttachmentSettings::default().with(|s| s.legs = false);
    let flared = tube(Vec3::ZERO, [0.19, 0.13], [0.35, 0.3], 1.05, 0.4);
    let narrow = tube(Vec3::ZERO, [0.19, 0.13], [0.2, 0.14], 1.05, 0.45);
    let long = tube(Vec3::ZERO, [0.19, 0.13], [0.4, 0.35], 1.05, 0.1);
    for (name, skirt) in [("flared", &flared), ("narrow", &narrow), ("long", &long)] {
        let torn = stretch(&body, skirt, &plain, 30.0);
        let blurred = stretch(&body, skirt, &smooth, 30.0);
        let whole = stretch(&body, skirt, &AttachmentSettings::default(), 30.0);
        println!("{name}: closest points {torn:.2}, smoothed {blurred:.2}, as a skirt {whole:.2}");
        assert!(torn > 3.0, "{name}: closest-point weights tear: {torn}");
        assert!(blurred > 1.6, "{name}: smoothing alone is not enough: {blurred}");
        assert!(whole < 1.6, "{name}: {whole}");
    }
}

#[test]
fn trousers_and_tops_keep_their_weights() {
    let body = biped();
    // Waist, seat and two legs in one piece: the legs' tubes are joined to the seat's ring.
    let mut trousers = tube(Vec3::ZERO, [0.19, 0.13], [0.2, 0.14], 1.05, 0.78);
    let seat = trousers.positions.len() as u32;
    for x in [0.1, -0.1] {
        // So wide that their insides lie nearer to the other leg.
        let leg = tube(Vec3::new(x, 0.0, 0.0), [0.11, 0.11], [0.13, 0.13], 0.76, 0.1);
        let n = trousers.positions.len() as u32;
        trousers.positions.extend(&leg.positions);
        trousers.triangles.extend(leg.triangles.iter().map(|t| t.map(|i| i + n)));
        trousers.triangles.push([n, n + 1, if x > 0.0 { seat - 64 } else { seat - 32 }]);
    }
    assert!(skirt_share(&body, &trousers).iter().all(|s| *s == 0.0));
    let top = tube(Vec3::ZERO, [0.19, 0.13], [0.2, 0.14], 1.25, 0.9);
    assert!(skirt_share(&body, &top).iter().all(|s| *s == 0.0));
    let skirt = tube(Vec3::ZERO, [0.19, 0.13], [0.3, 0.25], 1.05, 0.4);
    let share = skirt_share(&body, &skirt);
    assert!(share.iter().zip(&skirt.positions).all(|(s, p)| (p.y > 0.88) == (*s == 0.0)));
    assert_eq!(share[share.len() - 1], 1.0);

    let attachment = attach(&body, &trousers, &AttachmentSettings::default()).unwrap();
    let mut pose = body.skeleton.rest_pose();
    pose.locals[1].rotation = Quat::from_rotation_x(-0.5);
    let bones = body.bones(&pose);
    let posed = attachment.posed(&bones);
    // The left trouser leg goes all the way with the left leg, the right one stays.
    for (v, (p, q)) in posed.iter().zip(&trousers.positions).enumerate().filter(|(_, (_, q))| q.y < 0.6) {
        let left = v < (seat as usize + posed.len()) / 2;
        let expected = if left { bones[1].transform_point3(*q) } else { *q };
        assert!(p.distance(expected) < 1e-4, "{q}");
    }
}

#[test]
fn a_body_without_known_legs_still_dresses() {
    let mut body = biped();
    body.skeleton.joints.iter_mut().for_each(|j| j.name = "bone".into());
    let skirt = tube(Vec3::ZERO, [0.19, 0.13], [0.3, 0.25], 1.05, 0.4);
    let attachment = attach(&body, &skirt, &AttachmentSettings::default()).unwrap();
    assert_eq!(attachment.skin.len(), skirt.positions.len());
    let rest = attachment.posed(&body.bones(&body.skeleton.rest_pose()));
    assert!(rest.iter().zip(&skirt.positions).all(|(a, b)| a.distance(*b) < 1e-5));
}

#[test]
fn both_sides_of_a_texture_seam_get_the_same_weights() {
    let body = biped();
    let mut skirt = tube(Vec3::ZERO, [0.19, 0.13], [0.3, 0.25], 1.05, 0.4);
    // Split one triangle off: it draws with its own copies of its corners.
    let n = skirt.positions.len() as u32;
    let corners = skirt.triangles[2000];
    corners.iter().for_each(|&i| skirt.positions.push(skirt.positions[i as usize]));
    skirt.triangles[2000] = [n, n + 1, n + 2];
    let attachment = attach(&body, &skirt, &AttachmentSettings::default()).unwrap();
    for (k, &i) in corners.iter().enumerate() {
        let rows = [i as usize, n as usize + k].map(|v| attachment.skin.row(v).collect::<Vec<_>>());
        assert_eq!(rows[0], rows[1]);
    }
}
