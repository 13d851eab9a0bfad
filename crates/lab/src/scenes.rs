//! Scenes the field knows: cloth on a sphere, on a rotating sphere, twisted, a curtain. Each starts jittered by 1 mm.

use super::check::Solid;
use super::cloths::{Pattern, lay, plain, rectangle};
use super::monitor::{Monitor, Run};
use super::row::Piece;
use glam::{DAffine3, DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use toile_assets::{
    Body, Fabric, Garment, Joint, Mesh, Pin, PinTarget, Pose, RestSource, Skeleton, Skin, Transform,
};
use toile_geometry::Random;
use toile_simulate::Settings;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

/// How fine a scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For every test run.
    Small,
    /// For the laboratory and the soak.
    Full,
}

impl Size {
    fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Self::Small => small,
            Self::Full => full,
        }
    }
}

/// A scene: its name and what runs it with a seed.
pub type SceneCase = (&'static str, fn(Size, u64) -> Result<Run>);

/// All that need no body.
pub const SCENES: [SceneCase; 4] = [
    ("cloth on sphere", on_sphere),
    ("rotating sphere", rotating_sphere),
    ("twist", twist),
    ("curtain", curtain),
];

const DT: f64 = 1.0 / 30.0;

fn jitter(x: &mut [DVec3], seed: u64) {
    let mut random = Random::new(seed);
    for p in x {
        *p += random.vector().clamp_length_max(1.0) * 1e-3;
    }
}

/// The cloth of the scenes: as heavy and as easily bent as cotton, but as stiff in shear as in stretch. A principal strain
/// of 10 % is a shear of 12 degrees, which loose weaves pass on any ball, rightly.
pub(crate) fn canvas() -> Fabric {
    Fabric {
        name: "canvas".into(),
        density: 0.15,
        stretch_warp: 2000.0,
        stretch_weft: 2000.0,
        shear: 800.0,
        poisson: 0.2,
        damping_secs: 0.003,
        thickness: 2.5e-3,
        friction: 0.4,
        drag: 1.2,
        ..plain()
    }
}

/// A ball to look at.
pub(crate) fn ball(centre: DVec3, radius: f64) -> Piece {
    let (rings, sides) = (24u32, 48u32);
    let mut positions = vec![];
    for r in 0..=rings {
        let a = std::f64::consts::PI * f64::from(r) / f64::from(rings);
        for s in 0..sides {
            let b = std::f64::consts::TAU * f64::from(s) / f64::from(sides);
            let n = DVec3::new(a.sin() * b.sin(), a.cos(), a.sin() * b.cos());
            positions.push((centre + n * radius).as_vec3());
        }
    }
    let at = |r: u32, s: u32| r * sides + s % sides;
    let mut triangles = vec![];
    for r in 0..rings {
        for s in 0..sides {
            let (a, b, c, d) = (at(r, s), at(r + 1, s), at(r + 1, s + 1), at(r, s + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Piece { triangles, positions, cloth: false }
}

/// A square of cotton falls on a ball and hangs there.
pub fn on_sphere(size: Size, seed: u64) -> Result<Run> {
    let settings = Settings::worn();
    let n = size.pick(15, 27);
    let radius = 0.2;
    let (mesh, rest) = rectangle(0.8, 0.8, n, n, Pattern::Alternating);
    let fabric = canvas();
    let scene = Scene::new(&mesh, &rest, &fabric, &settings)?;
    let mut x = lay(&mesh, radius + 0.02);
    jitter(&mut x, seed);
    let mut world = World::new(scene, x, settings)?;
    world.state.colliders.push(Collider::fixed(Shape::Sphere { radius }, DAffine3::IDENTITY));
    let mut monitor =
        Monitor::new("cloth on sphere", seed, &rest, &size.pick([9, 24, 39], [9, 29, 59]), (30.0, 20.0));
    for _ in 0..size.pick(40, 60) {
        let go = monitor.frame(
            &mut world,
            |w| w.step(&[], DT),
            Some(&|p| radius - p.length()),
            || vec![ball(DVec3::ZERO, radius)],
        )?;
        if !go {
            break;
        }
    }
    Ok(monitor.finish())
}

/// The same on a ball that begins to turn while the hem lies on the floor.
pub fn rotating_sphere(size: Size, seed: u64) -> Result<Run> {
    let settings = Settings::worn();
    let n = size.pick(14, 27);
    let radius = 0.2;
    let (mesh, rest) = rectangle(0.9, 0.9, n, n, Pattern::Alternating);
    let fabric = canvas();
    let scene = Scene::new(&mesh, &rest, &fabric, &settings)?;
    let floor = DAffine3::from_translation(DVec3::new(0.0, -radius, 0.0));
    let mut x = lay(&mesh, radius + 0.02);
    jitter(&mut x, seed);
    let mut world = World::new(scene, x, settings)?;
    world.state.colliders.push(Collider::fixed(Shape::Sphere { radius }, DAffine3::IDENTITY));
    world.state.colliders.push(Collider::fixed(Shape::Plane, floor));
    let (rest_frames, turn_frames) = size.pick((25, 25), (40, 60));
    let mut monitor =
        Monitor::new("rotating sphere", seed, &rest, &size.pick([24, 37, 49], [39, 69, 99]), (30.0, 25.0));
    let mut angle = 0.0;
    for f in 0..rest_frames + turn_frames {
        if f >= rest_frames {
            // Up to a turn a second within half a second.
            let speed = std::f64::consts::TAU * ((f - rest_frames) as f64 * DT / 0.5).min(1.0);
            angle += speed * DT;
        }
        let go = monitor.frame(
            &mut world,
            |w| {
                w.state.colliders[0].world_from_local = DAffine3::from_quat(DQuat::from_rotation_y(angle));
                w.step(&[], DT)
            },
            Some(&|p| (radius - p.length()).max(-radius - p.y)),
            || vec![ball(DVec3::ZERO, radius)],
        )?;
        if !go {
            break;
        }
    }
    Ok(monitor.finish())
}

/// A wide sheet gathered on a rail and a ball that swings through it.
pub fn curtain(size: Size, seed: u64) -> Result<Run> {
    let settings = Settings::worn();
    let n = size.pick(16, 30);
    let (width, height, gather) = (1.0, 0.9, 0.75);
    let (mesh, rest) = rectangle(width, height, n, n, Pattern::Alternating);
    let fabric = canvas();
    let mut scene = Scene::new(&mesh, &rest, &fabric, &settings)?;
    // Waves of the rail take up the width that gathering leaves over: places by length along the wave.
    let rail = wave(gather * width, width, 4.0);
    let mut x: Vec<DVec3> = lay(&mesh, 0.0)
        .iter()
        .map(|p| {
            let place = along(&rail, (p.x / width + 0.5) * width);
            DVec3::new(place.x, -(p.z + 0.5 * height), place.y)
        })
        .collect();
    jitter(&mut x, seed);
    for i in 0..=n {
        scene.pinned[i] = true;
    }
    let radius = 0.15;
    let centre = |t: f64| DVec3::new(0.05, -0.55, -0.55 + 1.1 * t);
    // Smooth, so that it passes under the cloth rather than pulls it off its rail.
    let place = DAffine3::from_translation(centre(0.0));
    let sphere = Collider { friction: Some(0.1), ..Collider::fixed(Shape::Sphere { radius }, place) };
    let mut world = World::new(scene, x, settings)?;
    world.state.colliders.push(sphere);
    let (hang, pass) = (size.pick(8, 20), 45);
    let mut monitor =
        Monitor::new("curtain", seed, &rest, &size.pick([7, 24, 39], [19, 42, 64]), (40.0, 8.0));
    for f in 0..hang + pass {
        let t = if f < hang { 0.0 } else { (f - hang + 1) as f64 / pass as f64 };
        let go = monitor.frame(
            &mut world,
            |w| {
                w.state.colliders[0].world_from_local = DAffine3::from_translation(centre(t));
                w.step(&[], DT)
            },
            Some(&|p| radius - p.distance(centre(t))),
            || vec![ball(centre(t), radius)],
        )?;
        if !go {
            break;
        }
    }
    Ok(monitor.finish())
}

/// A sine of `waves` waves over `span` that is `length` long, as many points of it.
fn wave(span: f64, length: f64, waves: f64) -> Vec<DVec2> {
    let k = std::f64::consts::TAU * waves / span;
    let points = |depth: f64| {
        let at = move |i: u32| span * (f64::from(i) / 2000.0 - 0.5);
        (0..=2000).map(move |i| DVec2::new(at(i), depth * (k * at(i)).sin())).collect::<Vec<_>>()
    };
    let long = |p: &[DVec2]| p.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>();
    let (mut low, mut high) = (0.0, length);
    for _ in 0..50 {
        let mid = 0.5 * (low + high);
        if long(&points(mid)) > length {
            high = mid;
        } else {
            low = mid;
        }
    }
    points(low)
}

/// The place `s` along a line of points.
fn along(line: &[DVec2], s: f64) -> DVec2 {
    let mut left = s;
    for w in line.windows(2) {
        let l = w[0].distance(w[1]);
        if left <= l {
            return w[0].lerp(w[1], left / l);
        }
        left -= l;
    }
    line.last().copied().unwrap_or_default()
}

/// Two joints at the ends of a sleeve, far apart; the body is only a pin's head at each.
pub(crate) fn two_hands(length: f32) -> Result<Body> {
    let mut joints = vec![Joint { name: "root".into(), parent: None, rest: Transform::IDENTITY }];
    let mut mesh = Mesh::default();
    let mut rows = vec![];
    for (k, (name, side)) in [("left", -1.0f32), ("right", 1.0)].into_iter().enumerate() {
        joints.push(Joint {
            name: name.into(),
            parent: Some(0),
            rest: Transform::from_translation(Vec3::X * side * 0.5 * length),
        });
        let centre = Vec3::X * side * (0.5 * length + 0.06);
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(
            [
                Vec3::new(1.0, 1.0, 1.0),
                Vec3::new(1.0, -1.0, -1.0),
                Vec3::new(-1.0, 1.0, -1.0),
                Vec3::new(-1.0, -1.0, 1.0),
            ]
            .map(|p| centre + 0.01 * p),
        );
        mesh.triangles.extend([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]].map(|t| t.map(|i| i + first)));
        rows.extend(vec![vec![(k as u16 + 1, 1.0f32)]; 4]);
    }
    Ok(Body::bound_at_rest(
        "two hands",
        Skeleton::new(joints)?,
        mesh,
        Skin::from_rows(rows).map_err(toile_assets::Error::from)?,
    )?)
}

/// A sleeve about the x axis whose end rings follow the two joints.
pub fn sleeve(length: f32, radius: f32, rings: u32, sides: u32) -> Garment {
    let mut sim = Mesh::default();
    for r in 0..=rings {
        for s in 0..sides {
            let a = std::f32::consts::TAU * s as f32 / sides as f32;
            let x = length * (r as f32 / rings as f32 - 0.5);
            sim.positions.push(Vec3::new(x, radius * a.cos(), radius * a.sin()));
        }
    }
    let mut rest = Vec::new();
    let chord = 2.0 * radius * (std::f32::consts::PI / sides as f32).sin();
    for r in 0..rings {
        for s in 0..sides {
            let at = |r: u32, s: u32| r * sides + s % sides;
            let flat = |r: u32, s: u32| Vec2::new(chord * s as f32, length * r as f32 / rings as f32);
            let corners = [(r, s), (r, s + 1), (r + 1, s + 1), (r + 1, s)];
            let order = if (r + s) % 2 == 0 { [[0, 1, 2], [0, 2, 3]] } else { [[0, 1, 3], [1, 2, 3]] };
            for t in order {
                sim.triangles.push(t.map(|k: usize| at(corners[k].0, corners[k].1)));
                rest.push(t.map(|k: usize| flat(corners[k].0, corners[k].1)));
            }
        }
    }
    let pin = |name: &str, vertices: Vec<u32>| Pin {
        name: name.into(),
        vertices,
        target: PinTarget::Joint(name.into()),
    };
    Garment {
        name: "sleeve".into(),
        render: sim.clone(),
        materials: vec![],
        sim_from_render: (0..sim.positions.len() as u32).collect(),
        openings: vec![],
        pins: vec![
            pin("left", (0..sides).collect()),
            pin("right", (rings * sides..(rings + 1) * sides).collect()),
        ],
        paint: toile_assets::Paint::default(),
        sim,
        rest,
        rest_source: RestSource::Mesh,
        panels: vec![],
        seams: vec![],
        fabric: "cotton".into(),
    }
}

/// A sleeve wrung out: its ends turn against each other and come nearer, as far as the cloth allows.
pub fn twist(size: Size, seed: u64) -> Result<Run> {
    let (length, radius) = (0.6f32, 0.1f32);
    let body = two_hands(length)?;
    let (rings, sides) = size.pick((20, 20), (34, 36));
    let garment = sleeve(length, radius, rings, sides);
    let fabric = canvas();
    let mut world = World::with_body(&body, &garment, &fabric, Settings::default())?;
    jitter(&mut world.state.x, seed);
    world.state.halt();
    let rest: Vec<[DVec2; 3]> = garment.rest.iter().map(|r| r.map(|p| p.as_dvec2())).collect();
    let frames = size.pick(45, 75);
    let turns = size.pick(0.4, TWIST_TURNS);
    let mut monitor =
        Monitor::new("twist", seed, &rest, &[frames / 3, 2 * frames / 3, frames - 1], (20.0, 15.0));
    for f in 1..=frames {
        let t = f as f32 / frames as f32;
        let turn = turns * 0.5 * std::f32::consts::TAU * t;
        let apart = 0.5 * length * (1.0 - TWIST_NEARER * t);
        let mut pose: Pose = body.skeleton.rest_pose();
        for (joint, side) in [(1, -1.0f32), (2, 1.0)] {
            pose.locals[joint] = Transform {
                rotation: Quat::from_rotation_x(side * turn),
                translation: Vec3::X * side * apart,
            };
        }
        let bones = body.bones(&pose);
        if !monitor.frame(&mut world, |w| w.step(&bones, DT), None, Vec::new)? {
            break;
        }
    }
    Ok(monitor.finish())
}

/// A box of side `size` made of facets, sharp at its edges.
pub fn box_body(size: f32, facets: u32) -> Result<Body> {
    let mut mesh = Mesh::default();
    let mut ids = std::collections::HashMap::new();
    for axis in 0..3 {
        for side in [-1i32, 1] {
            let mut corner = |u: u32, v: u32| {
                let along = |k: u32| 2 * k as i32 - facets as i32;
                let mut p = [0i32; 3];
                p[axis] = side * facets as i32;
                p[(axis + 1) % 3] = along(u);
                p[(axis + 2) % 3] = along(v);
                *ids.entry(p).or_insert_with(|| {
                    mesh.positions.push(Vec3::from(p.map(|c| c as f32)) * (0.5 * size / facets as f32));
                    mesh.positions.len() as u32 - 1
                })
            };
            let mut facing = Vec::new();
            for u in 0..facets {
                for v in 0..facets {
                    let (a, b, c, d) =
                        (corner(u, v), corner(u + 1, v), corner(u + 1, v + 1), corner(u, v + 1));
                    facing.extend([[a, b, c], [a, c, d]]);
                }
            }
            mesh.triangles
                .extend(facing.iter().map(|&[a, b, c]| if side > 0 { [a, b, c] } else { [a, c, b] }));
        }
    }
    let joint = Joint { name: "root".into(), parent: None, rest: Transform::IDENTITY };
    let skin = Skin::from_rows(vec![vec![(0u16, 1.0f32)]; mesh.positions.len()])
        .map_err(toile_assets::Error::from)?;
    Ok(Body::bound_at_rest("box", Skeleton::new(vec![joint])?, mesh, skin)?)
}

/// A square cloth of `cells` by `cells` falls on a box and hangs over its edges and corners. How deep the box stands out
/// through it at the end of any frame, m.
pub fn over_box(cells: usize, frames: usize) -> Result<f64> {
    let side = 0.3f32;
    let body = box_body(side, 8)?;
    let (mut mesh, rest) = rectangle(0.7, 0.7, cells, cells, Pattern::Alternating);
    mesh.positions = lay(&mesh, 0.5 * f64::from(side) + 0.01).iter().map(|p| p.as_vec3()).collect();
    let garment = Garment {
        name: "cover".into(),
        render: mesh.clone(),
        materials: vec![],
        sim_from_render: (0..mesh.positions.len() as u32).collect(),
        pins: vec![],
        openings: vec![],
        paint: toile_assets::Paint::default(),
        sim: mesh,
        rest: rest.iter().map(|r| r.map(|p| p.as_vec2())).collect(),
        rest_source: RestSource::Mesh,
        panels: vec![],
        seams: vec![],
        fabric: "cotton".into(),
    };
    let mut world = World::with_body(&body, &garment, &canvas(), Settings::default())?;
    let bones = world.bones().to_vec();
    let weld = Solid::weld(&body.mesh.positions);
    let solid = Solid::new(&body.mesh.positions, &body.mesh.triangles, &weld);
    let mut deepest = 0.0f64;
    for _ in 0..frames {
        world.step(&bones, DT)?;
        deepest = deepest.max(solid.pokes_through(&world.scene.triangles, &world.state.x, 0.0).0);
    }
    Ok(deepest)
}

/// Turns of one end against the other, and the share of its length by which the ends come nearer meanwhile: as far as
/// straight lines between the rings are no longer than the sleeve.
const TWIST_TURNS: f32 = 0.5;
const TWIST_NEARER: f32 = 0.08;
