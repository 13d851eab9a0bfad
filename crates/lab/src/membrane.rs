//! Stretch and shear: patches and strips that give their moduli back.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::row::{Findings, Plot, Row};
use super::{quiet, rest};
use glam::{DVec2, DVec3};
use toile_assets::Fabric;
use toile_geometry::Random;
use toile_simulate::energy::membrane;
use toile_simulate::{Result, Scene, World};

/// Constant strain on an irregular mesh is reproduced exactly: no net force inside.
pub fn patch() -> Result<Row> {
    let (mesh, flat) = rectangle(1.0, 1.0, 8, 8, Pattern::Jittered);
    let fabric = Fabric { poisson: 0.3, stretch_weft: 700.0, ..plain() };
    let scene = Scene::new(&mesh, &flat, &fabric, &quiet())?;
    let places = flat_places(&mesh.triangles, &flat, scene.len());
    let x: Vec<DVec3> = places
        .iter()
        .map(|p| DVec3::new(1.03 * p.x + 0.02 * p.y, 0.01 * p.x, 0.98 * p.y + 0.01 * p.x))
        .collect();
    let (force, size) = forces(&scene, &x);
    let inner = |i: usize| places[i].x.abs() < 0.499 && places[i].y.abs() < 0.499;
    let worst = (0..scene.len()).filter(|&i| inner(i)).map(|i| force[i].length()).fold(0.0, f64::max);
    Ok(Row::absolute("membrane patch, net force inside over element force", worst / size, 0.0, 1e-10))
}

/// Where each vertex lies on the flat cloth.
fn flat_places(triangles: &[[u32; 3]], flat: &[[DVec2; 3]], n: usize) -> Vec<DVec2> {
    let mut places = vec![DVec2::ZERO; n];
    for (t, r) in triangles.iter().zip(flat) {
        for k in 0..3 {
            places[t[k] as usize] = r[k];
        }
    }
    places
}

/// Derivative of the membrane energy by the vertices, and the largest contribution of one element.
fn forces(scene: &Scene, x: &[DVec3]) -> (Vec<DVec3>, f64) {
    let mut force = vec![DVec3::ZERO; scene.len()];
    let mut size = 0.0f64;
    for el in &scene.membrane {
        let g = membrane::gradient(el, x, [0.0; 3], 0.0);
        for k in 0..3 {
            force[el.v[k] as usize] += g[k];
            size = size.max(g[k].length());
        }
    }
    (force, size)
}

/// Strain along the threads that the patches are given.
const STRAIN: f64 = 0.002;

/// A unit patch whose rim is prescribed by `place` (flat to space) and whose inside, thrown into disorder, the solver
/// has to find. Returns the force per length that the rim needs: across the edge x = ½ and across the edge z = ½.
fn framed_patch(place: impl Fn(DVec2) -> DVec3) -> Result<(DVec3, DVec3)> {
    let (mesh, flat) = rectangle(1.0, 1.0, 10, 10, Pattern::Jittered);
    let fabric = Fabric { poisson: 0.25, stretch_weft: 800.0, shear: 60.0, ..plain() };
    let settings = quiet().with(|s| s.gravity = DVec3::ZERO);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let places = flat_places(&mesh.triangles, &flat, scene.len());
    let mut random = Random::new(3);
    let mut x: Vec<DVec3> = places.iter().map(|p| place(*p)).collect();
    for (i, p) in places.iter().enumerate() {
        scene.pinned[i] = p.x.abs() > 0.499 || p.y.abs() > 0.499;
        if !scene.pinned[i] {
            x[i] += DVec3::new(random.signed(), 0.0, random.signed()) * 0.002;
        }
    }
    let mut world = World::new(scene, x, settings)?;
    rest(&mut world, 1e3)?;
    let (force, _) = forces(&world.scene, &world.state.x);
    // What the rim of one half carries crosses the middle of the patch; its two ends, on opposite edges, cancel.
    let half = |pick: &dyn Fn(DVec2) -> bool| {
        let own = |i: &usize| world.scene.pinned[*i] && pick(places[*i]);
        (0..places.len()).filter(own).map(|i| force[i]).sum::<DVec3>()
    };
    Ok((half(&|p| p.x > 1e-9), half(&|p| p.y > 1e-9)))
}

/// Picture-frame shear and biaxial patches: G, ν and both moduli come back.
pub fn moduli() -> Result<Vec<Row>> {
    // Shear: the frame is pushed to a rhombus, sides keep their length.
    let gamma = 0.01f64;
    let (s, c) = (0.5 * gamma).sin_cos();
    let (right, top) = framed_patch(|p| DVec3::new(c * p.x + s * p.y, 0.0, s * p.x + c * p.y))?;
    // The part of each edge's force along that edge.
    let shear = 0.5 * (right.dot(DVec3::new(s, 0.0, c)) + top.dot(DVec3::new(c, 0.0, s))) / gamma;
    let weft = framed_patch(|p| DVec3::new(p.x * (1.0 + STRAIN), 0.0, p.y))?;
    let warp = framed_patch(|p| DVec3::new(p.x, 0.0, p.y * (1.0 + STRAIN)))?;
    // σ_weft = Y_u/(1−ν²) ε_u and σ_warp = ν√(Y_u Y_v)/(1−ν²) ε_u; likewise along the warp.
    let (c00, c10) = (weft.0.x / STRAIN, weft.1.z / STRAIN);
    let (c11, c01) = (warp.1.z / STRAIN, warp.0.x / STRAIN);
    let poisson = (c10 * c01 / (c00 * c11)).sqrt();
    Ok(vec![
        Row::relative("picture-frame shear, G", shear, 60.0, 0.01),
        Row::relative("biaxial patch, Poisson's ratio", poisson, 0.25, 0.01),
        Row::relative(
            "biaxial patch, stiffness along the weft",
            c00 * (1.0 - poisson * poisson),
            800.0,
            0.01,
        ),
        Row::relative(
            "biaxial patch, stiffness along the warp",
            c11 * (1.0 - poisson * poisson),
            500.0,
            0.01,
        ),
    ])
}

/// A strip hung by its top edge: stretch of the tip wL²/2Y, strain at each height w(L−s)/Y.
pub fn hanging_strip() -> Result<Findings> {
    let (width, length, y) = (0.2, 1.0, 2000.0);
    let weight = 0.2 * 9.81;
    let fabric = Fabric { stretch_warp: y, stretch_weft: y, shear: 500.0, ..plain() };
    let (mesh, flat) = rectangle(width, length, 4, 20, Pattern::Jittered);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &quiet())?;
    let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| DVec3::new(p.x, -p.z, 0.0)).collect();
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.y > 0.5 * length - 1e-9;
    }
    let mut world = World::new(scene, x, quiet())?;
    rest(&mut world, 1e3)?;
    let bottom: Vec<f64> = (0..world.scene.len()).rev().take(5).map(|i| world.state.x[i].y).collect();
    let stretch = -0.5 * length - bottom.iter().sum::<f64>() / bottom.len() as f64;
    // Strain along the warp, averaged over the elements whose centroids share a row, against the strain there.
    let mut rows = vec![(0.0, 0.0, 0.0); 20];
    for (el, r) in world.scene.membrane.iter().zip(&flat) {
        let s = (r[0].y + r[1].y + r[2].y) / 3.0 + 0.5 * length;
        let row = &mut rows[((s * 20.0 / length) as usize).min(19)];
        row.0 += el.area;
        row.1 += el.area * el.strain(&world.state.x)[1];
        row.2 += el.area * s;
    }
    let top_strain = weight * length / y;
    let mut worst = 0.0f64;
    let (mut ours, mut exact) = (Vec::new(), Vec::new());
    for (area, strain, s) in rows {
        let (strain, s) = (strain / area, s / area);
        let reference = weight * (length - s) / y;
        worst = worst.max((strain - reference).abs() / top_strain);
        ours.push((s, 1e3 * strain));
        exact.push((s, 1e3 * reference));
    }
    Ok(Findings {
        rows: vec![
            Row::relative(
                "hanging strip, stretch of the tip",
                stretch,
                weight * length * length / (2.0 * y),
                0.01,
            ),
            Row::at_most("hanging strip, worst strain by height over strain at the top", worst, 0.01),
        ],
        plots: vec![
            Plot::new("Hanging strip", "below the top, m", "strain, 1/1000")
                .ours("ours", ours)
                .reference("w(L − s)/Y", exact),
        ],
        shots: vec![],
    })
}
