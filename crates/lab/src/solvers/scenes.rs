//! The four scenes that all methods are held to.

use super::ours;
use super::stage::{KEY_RATE, Lattice, Stage, Track};
use crate::cloths::{Pattern, lay, plain, rectangle};
use crate::scenes::{canvas, sleeve, two_hands};
use glam::{DAffine3, DVec3, Quat, Vec3};
use toile_assets::{Fabric, Transform, builtin};
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{DrapeSettings, Result, Scene, Settings, World, drape, ramp};

/// First root of J₀ over 2: the first mode of a hanging chain is `ω = 1.20241 √(g/L)`.
const FIRST_MODE: f64 = 1.202_412_778_847_886;
/// Displacement of the hem at the start of the swing, m.
const SWING_M: f64 = 0.05;

/// Without air and self-contact, which most methods have not.
pub fn bare() -> Settings {
    Settings::default().with(|s| {
        s.air_density = 0.0;
        s.self_contact = false;
    })
}

/// J₀ by its series, for small arguments.
fn bessel(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..30 {
        term *= -0.25 * x * x / f64::from(k * k);
        sum += term;
    }
    sum
}

/// Shape of the first mode at height `s` above the hem of a sheet of length 1.
pub fn mode(s: f64) -> f64 {
    bessel(2.0 * FIRST_MODE * s.max(0.0).sqrt())
}

/// Its angular frequency for a sheet of length 1 m, 1/s.
pub fn mode_frequency(gravity: f64) -> f64 {
    FIRST_MODE * gravity.sqrt()
}

fn square(size: f64, n: usize, fabric: &Fabric) -> Result<(Scene, Vec<DVec3>, Lattice)> {
    let (mesh, rest) = rectangle(size, size, n, n, Pattern::Alternating);
    let scene = Scene::new(&mesh, &rest, fabric, &bare())?;
    let cell = size / n as f64;
    let lattice = Lattice { across: n + 1, along: n + 1, wraps: false, spacing: [cell, cell] };
    Ok((scene, lay(&mesh, 0.0), lattice))
}

/// A square metre held along its top, swinging in its first mode: period and decay are known.
pub fn hanging(n: usize) -> Result<Stage> {
    let fabric = Fabric { stretch_warp: 2000.0, stretch_weft: 2000.0, shear: 200.0, ..plain() };
    let weight = 9.81 * fabric.density;
    let (mut scene, flat, lattice) = square(1.0, n, &fabric)?;
    let mut x = flat.clone();
    // Down the warp: each row hangs from the one above it, stretched by the weight of what is below.
    let mut at = DVec3::ZERO;
    for j in 0..=n {
        let s = 1.0 - j as f64 / n as f64;
        if j > 0 {
            let middle = s + 0.5 / n as f64;
            let length = (1.0 + weight * middle / fabric.stretch_warp) / n as f64;
            let aside = SWING_M * (mode(s) - mode(s + 1.0 / n as f64));
            at += DVec3::new(0.0, -(length * length - aside * aside).sqrt(), aside);
        }
        for i in 0..=n {
            let v = j * (n + 1) + i;
            x[v] = DVec3::new(flat[v].x, at.y, at.z);
        }
    }
    let held: Vec<u32> = (0..=n as u32).collect();
    held.iter().for_each(|&v| scene.pinned[v as usize] = true);
    let keys = vec![held.iter().map(|&v| x[v as usize]).collect()];
    let pins = Track { vertices: held, keys };
    let world = World::new(scene, x, bare())?;
    let friction = world.scene.fabric.friction;
    // Two periods.
    let secs = 2.0 * std::f64::consts::TAU / mode_frequency(9.81);
    let lattice = Some(lattice);
    Ok(Stage { name: "hanging square", world, lattice, pins, bones: vec![], worn: false, secs, friction })
}

/// A square falls on a ball and hangs over it.
pub fn sphere(n: usize) -> Result<Stage> {
    let radius = 0.2;
    let fabric = Fabric { poisson: 0.0, damping_secs: 0.01, shear: 100.0, ..canvas() };
    over(n, 0.8, radius + 0.005, fabric, Shape::Sphere { radius }, "sphere", 1.0)
}

/// A square sheet of `size` laid at height `top` over a shape.
pub fn over(
    n: usize,
    size: f64,
    top: f64,
    fabric: Fabric,
    shape: Shape,
    name: &'static str,
    secs: f64,
) -> Result<Stage> {
    let (scene, flat, lattice) = square(size, n, &fabric)?;
    let x: Vec<DVec3> = flat.iter().map(|p| *p + DVec3::Y * top).collect();
    let mut world = World::new(scene, x, bare())?;
    world.state.colliders.push(Collider::fixed(shape, DAffine3::IDENTITY));
    let friction = fabric.friction;
    let pins = Track { vertices: vec![], keys: vec![vec![]] };
    Ok(Stage { name, world, lattice: Some(lattice), pins, bones: vec![], worn: false, secs, friction })
}

/// A sleeve whose ends are turned against each other by a third of a turn and come nearer.
pub fn twist(n: usize) -> Result<Stage> {
    let (length, radius, secs) = (0.6f32, 0.1f32, 1.0);
    let body = two_hands(length)?;
    let garment = sleeve(length, radius, n as u32, n as u32);
    let fabric = Fabric { poisson: 0.0, damping_secs: 0.01, ..canvas() };
    let mut world = World::with_body(&body, &garment, &fabric, bare())?;
    // Dented by a millimetre: a perfect tube that is pushed together does not know where to go.
    let mut random = toile_geometry::Random::new(1);
    for (v, p) in world.state.x.iter_mut().enumerate() {
        if !world.scene.pinned[v] {
            *p -= DVec3::new(0.0, p.y, p.z).normalize_or_zero() * 1e-3 * random.unit();
        }
    }
    world.state.halt();
    let keys = (secs * KEY_RATE) as usize;
    let bones = (0..=keys)
        .map(|k| {
            let t = k as f32 / keys as f32;
            // Begins and ends at rest.
            let t = t * t * (3.0 - 2.0 * t);
            let mut pose = body.skeleton.rest_pose();
            for (joint, side) in [(1, -1.0f32), (2, 1.0)] {
                pose.locals[joint] = Transform {
                    rotation: Quat::from_rotation_x(side * std::f32::consts::TAU / 6.0 * t),
                    translation: Vec3::X * side * 0.5 * length * (1.0 - 0.05 * t),
                };
            }
            body.bones(&pose)
        })
        .collect();
    let chord = 2.0 * f64::from(radius) * (std::f64::consts::PI / n as f64).sin();
    let lattice =
        Lattice { across: n, along: n + 1, wraps: true, spacing: [chord, f64::from(length) / n as f64] };
    let friction = fabric.friction;
    let pins = Track::default();
    let stage = Stage {
        name: "cylinder twist",
        world,
        lattice: Some(lattice),
        pins,
        bones,
        worn: false,
        secs,
        friction,
    };
    Ok(stage)
}

/// A skirt on a walk of 1.2 m/s, from where the default solver has draped it.
pub fn skirt(secs: f64) -> Result<Stage> {
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment("skirt", &body)?;
    let fabric = Fabric { poisson: 0.0, ..builtin::fabric(&garment.fabric)? };
    let motion = builtin::motion("walk:1.2", &body.skeleton)?;
    let how = DrapeSettings::default();
    // Dressed with everything on, played with what all methods have.
    let mut world = drape(&body, &garment, &fabric, &Settings::worn(), &how)?;
    ramp(&mut world, &body, &motion, &how)?;
    world.settings = bare();
    world.scene.membrane.iter_mut().for_each(|e| e.limit = f64::INFINITY);
    let keys = (secs * KEY_RATE) as usize;
    let bones = (0..=keys).map(|k| body.bones(&motion.at(k as f64 / KEY_RATE))).collect();
    let friction = fabric.friction;
    let pins = Track::default();
    Ok(Stage { name: "skirt on a walk", world, lattice: None, pins, bones, worn: true, secs, friction })
}

/// Where the default solver goes with steps that are short enough, 30 times a second; and where it holds what is held, which
/// the other methods are given.
pub fn converge(stage: &mut Stage) -> Result<Vec<Vec<DVec3>>> {
    let held: Vec<u32> =
        (0..stage.cloth().len() as u32).filter(|&v| stage.cloth().pinned[v as usize]).collect();
    let mut default = ours::Ours::fine(stage);
    let places = |x: &[DVec3]| held.iter().map(|&v| x[v as usize]).collect::<Vec<_>>();
    let mut keys = vec![places(&stage.world.state.x)];
    let mut frames = vec![stage.world.state.x.clone()];
    let per_frame = (KEY_RATE / 30.0) as usize;
    let count = (stage.secs * KEY_RATE).round() as usize;
    for k in 1..=count {
        let x = default.advance(stage, (k - 1) as f64 / KEY_RATE, 1.0 / KEY_RATE)?;
        keys.push(places(x));
        if k % per_frame == 0 {
            frames.push(x.to_vec());
        }
    }
    stage.pins = Track { vertices: held, keys };
    Ok(frames)
}
