//! Choi and Ko's own demonstration: a sheet that is pushed together.

use super::{play, shot};
use crate::cloths::{Pattern, plain, rectangle};
use crate::row::{Findings, Row};
use crate::solvers::implicit::{Implicit, Scheme};
use crate::solvers::scenes;
use crate::solvers::springs::Springs;
use crate::solvers::stage::{Lattice, Stage, Track};
use crate::solvers::{Method, find};
use glam::{DAffine3, DVec3};
use toile_assets::Fabric;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

/// A sheet on a table pushed together by a quarter from two sides: Choi and Ko's own demonstration.
fn pushed(n: usize, noise_m: f64) -> Result<Stage> {
    let (width, depth) = (0.4, 0.3);
    let fabric = Fabric {
        stretch_warp: 2000.0,
        stretch_weft: 2000.0,
        shear: 200.0,
        damping_secs: 0.02,
        bend_warp: 1e-4,
        bend_weft: 1e-4,
        ..plain()
    };
    let rows = n * 3 / 4;
    let (mesh, rest) = rectangle(width, depth, n, rows, Pattern::Alternating);
    let mut scene = Scene::new(&mesh, &rest, &fabric, &scenes::bare())?;
    let mut random = toile_geometry::Random::new(5);
    let lowest = 0.5 * fabric.thickness + scenes::bare().skin_m;
    let x: Vec<DVec3> =
        crate::cloths::lay(&mesh, lowest).iter().map(|p| *p + DVec3::Y * noise_m * random.unit()).collect();
    let held: Vec<u32> = (0..x.len() as u32).filter(|v| (*v as usize % (n + 1)).is_multiple_of(n)).collect();
    held.iter().for_each(|&v| scene.pinned[v as usize] = true);
    let secs = 1.0;
    let keys = (0..=240).map(|k| {
        let t = (f64::from(k) / 180.0).min(1.0);
        let nearer = 1.0 - 0.25 * t * t * (3.0 - 2.0 * t);
        held.iter().map(|&v| DVec3::new(x[v as usize].x * nearer, x[v as usize].y, x[v as usize].z)).collect()
    });
    let pins = Track { vertices: held.clone(), keys: keys.collect() };
    let mut world = World::new(scene, x, scenes::bare())?;
    world.state.colliders.push(Collider::fixed(Shape::Plane, DAffine3::IDENTITY));
    let cell = width / n as f64;
    let lattice =
        Lattice { across: n + 1, along: rows + 1, wraps: false, spacing: [cell, depth / rows as f64] };
    let friction = 0.1;
    Ok(Stage {
        name: "pushed together",
        world,
        lattice: Some(lattice),
        pins,
        bones: vec![],
        worn: false,
        secs,
        friction,
    })
}

/// Folds where the plain spring model explodes or stays flat.
pub(super) fn buckling() -> Result<Findings> {
    let stage = pushed(32, 5e-4)?;
    let mut found = Findings::default();
    let mut heights = Vec::new();
    let made = |name: &str| find(name).map(|entry| (entry.make)(&stage)).ok();
    let whole = || {
        let model = Springs::new(&stage, 1.0).indefinite();
        Box::new(Implicit::new(&stage, model, Scheme::Euler)) as Box<dyn Method>
    };
    for (name, label, method, rate) in [
        ("haumann", "explicit springs", made("haumann"), 800.0),
        ("whole", "whole Jacobian", Some(whole()), 50.0),
        ("provot", "soft springs", made("provot"), 800.0),
        ("implicit-springs", "implicit, definite part", made("implicit-springs"), 50.0),
        ("choi-ko", "Choi and Ko", made("choi-ko"), 50.0),
    ] {
        let Some(mut method) = method else { continue };
        let (state, flew) = play(method.as_mut(), &stage, 1.0 / rate, stage.secs);
        let high = state.x.iter().map(|p| p.y).fold(0.0, f64::max);
        heights.push((name, high, flew));
        let label = flew.map_or_else(|| label.to_string(), |_| format!("{label}: explodes"));
        found.shots.push(shot(&label, &stage, &state.x, (25.0, 25.0), vec![]));
    }
    let of = |name: &str| heights.iter().find(|h| h.0 == name).map_or((f64::NAN, None), |h| (h.1, h.2));
    let exploded = f64::from(u8::from(of("haumann").1.is_some()));
    found.rows.push(Row::absolute("choi-ko: pushed sheet, plain springs explode", exploded, 1.0, 0.0));
    found.rows.push(Row::at_most(
        "choi-ko: pushed sheet, implicit springs, height of folds, cm",
        100.0 * of("implicit-springs").0,
        20.0,
    ));
    found.rows.push(Row::band(
        "choi-ko: pushed sheet, height of folds, cm",
        100.0 * of("choi-ko").0,
        2.0,
        20.0,
    ));
    Ok(found)
}
