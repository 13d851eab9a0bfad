//! Bending: cylinders in every direction, strips against the elastica.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::elastica::{self, Load};
use super::row::{Findings, Plot, Row};
use super::{quiet, rest};
use glam::DVec3;
use toile_assets::Fabric;
use toile_simulate::Settings;
use toile_simulate::energy::bending;
use toile_simulate::{Result, Scene, World};

/// Energy of a sheet rolled to a cylinder about an axis at `angle` from the warp, over ½·B·area/R².
pub(super) fn cylinder_ratio(pattern: Pattern, cells: usize, angle: f64, settings: &Settings) -> Result<f64> {
    let (mesh, flat) = rectangle(1.0, 1.0, cells, cells, pattern);
    let fabric = Fabric { bend_warp: 1e-5, bend_weft: 1e-5, ..plain() };
    let scene = Scene::new(&mesh, &flat, &fabric, settings)?;
    let radius = 1.0;
    let (sin, cos) = angle.sin_cos();
    let x: Vec<DVec3> = mesh
        .positions
        .iter()
        .map(|p| {
            let p = p.as_dvec3();
            let (u, v) = (p.x * cos + p.z * sin, -p.x * sin + p.z * cos);
            DVec3::new(radius * (u / radius).sin(), radius * (1.0 - (u / radius).cos()), v)
        })
        .collect();
    let angles: Vec<f64> = scene.hinges.iter().map(|h| bending::angle(h, &x, 0.0)).collect();
    let energy = bending::energy(&scene.bending, &angles, &scene.rest_angles, &angles, 0.0);
    let area: f64 = scene.membrane.iter().map(|m| m.area).sum();
    Ok(energy / (0.5 * 1e-5 * area / (radius * radius)))
}

/// Bending energy of a cylinder in several directions on three kinds of mesh: the worst ratio of each.
pub fn cylinder() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (pattern, name) in
        [(Pattern::Right, "right"), (Pattern::Alternating, "alternating"), (Pattern::Jittered, "jittered")]
    {
        for cells in [12, 24, 48] {
            let mut worst = 1.0f64;
            for k in 0..8 {
                let angle = std::f64::consts::PI * f64::from(k) / 8.0;
                let ratio = cylinder_ratio(pattern, cells, angle, &quiet())?;
                if (ratio - 1.0).abs() > (worst - 1.0).abs() {
                    worst = ratio;
                }
            }
            rows.push(Row::relative(
                format!("cylinder bending, {name} mesh, {cells} cells"),
                worst,
                1.0,
                0.01,
            ));
        }
    }
    Ok(rows)
}

/// A strip that is bent until it rests: points `(along, down)` over its length, from the clamp to the tip.
fn bent_strip(load: Load, cells: usize, rows: usize, pattern: Pattern) -> Result<Vec<(f64, f64)>> {
    let (length, width) = (0.2, rows as f64 * 0.2 / cells as f64);
    let weight = 0.2 * 9.81;
    let rigidity = match load {
        Load::Weight(gamma) => weight * length * length * length / gamma,
        // As stiff as the one whose own weight, hung at the tip, would bend it so.
        Load::Tip(p) => weight * length * length * length / p,
    };
    let fabric = Fabric {
        stretch_warp: 2e4,
        stretch_weft: 2e4,
        shear: 1e4,
        bend_warp: rigidity,
        bend_weft: rigidity,
        ..plain()
    };
    // Twice the length over a thin rod in the middle: by symmetry it is level there, which is a clamp without
    // the question where in a cell the clamp ends.
    let (mesh, flat) = rectangle(2.0 * length, width, 2 * cells, rows, pattern);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &quiet())?;
    let x = lay(&mesh, 0.0);
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.x.abs() < 0.1 * length / cells as f64;
    }
    if let Load::Tip(_) = load {
        // All of the weight sits in the two tips; the rest keeps a thousandth so that every vertex has mass.
        let share = 1e-3;
        let ends: Vec<f64> = (0..scene.len())
            .map(|i| if [0, 2 * cells].contains(&(i % (2 * cells + 1))) { scene.area[i] } else { 0.0 })
            .collect();
        let whole: f64 = ends.iter().sum();
        let total = 0.2 * 2.0 * length * width;
        for (i, m) in scene.mass.iter_mut().enumerate() {
            *m = *m * share + total * ends[i] / whole;
        }
    }
    let mut world = World::new(scene, x, quiet())?;
    rest(&mut world, 1e3)?;
    let columns = 2 * cells + 1;
    let row_mean = |column: usize| {
        let some = (0..=rows).map(|r| world.state.x[r * columns + column]);
        some.sum::<DVec3>() / (rows + 1) as f64
    };
    Ok((0..=cells)
        .map(|k| {
            let (a, b) = (row_mean(cells + k), row_mean(cells - k));
            (0.5 * (a.x - b.x) / length, -0.5 * (a.y + b.y) / length)
        })
        .collect())
}

fn last(profile: &[(f64, f64)]) -> (f64, f64) {
    profile.last().copied().unwrap_or_default()
}

/// A strip clamped at one end under its own weight: drop of the tip over length, Γ = wL³/B.
#[cfg(test)]
pub fn cantilever(gamma: f64, drop: f64, cells: usize) -> Result<Row> {
    cantilever_on(gamma, drop, cells, 2, Pattern::Right)
}

/// The same on another mesh.
#[cfg(test)]
pub fn cantilever_on(gamma: f64, drop: f64, cells: usize, rows: usize, pattern: Pattern) -> Result<Row> {
    let tip = last(&bent_strip(Load::Weight(gamma), cells, rows, pattern)?);
    Ok(drop_row(gamma, pattern, tip.1, drop))
}

fn drop_row(gamma: f64, pattern: Pattern, ours: f64, drop: f64) -> Row {
    Row::relative(format!("heavy cantilever Γ={gamma} ({pattern:?} mesh), drop/L"), ours, drop, 0.01)
}

/// Γ, drop/L and chord angle in degrees of the published table.
pub const HEAVY: [(f64, f64, f64); 6] = [
    (1.0, 0.12347, 7.10),
    (3.0, 0.33965, 20.03),
    (5.0, 0.49591, 30.36),
    (10.0, 0.70020, 46.85),
    (20.0, 0.82988, 61.79),
    (50.0, 0.90792, 74.90),
];

/// Heavy cantilevers: drop and chord angle of each Γ, and their profiles against the elastica.
pub fn heavy_cantilevers(gammas: &[f64], cells: usize) -> Result<Findings> {
    let mut found = Findings::default();
    let mut plot = Plot::new("Heavy cantilevers (dashed: elastica)", "along / L", "height / L");
    for (gamma, drop, chord) in HEAVY.into_iter().filter(|h| gammas.contains(&h.0)) {
        let profile = bent_strip(Load::Weight(gamma), cells, 2, Pattern::Right)?;
        let (x, y) = last(&profile);
        found.rows.push(drop_row(gamma, Pattern::Right, y, drop));
        found.rows.push(Row::relative(
            format!("heavy cantilever Γ={gamma} (Right mesh), chord angle"),
            y.atan2(x).to_degrees(),
            chord,
            0.01,
        ));
        let up = |p: Vec<(f64, f64)>| p.into_iter().map(|(x, y)| (x, -y)).collect::<Vec<_>>();
        let exact = elastica::profile(Load::Weight(gamma)).into_iter().step_by(40).collect();
        plot = plot.ours(format!("Γ = {gamma}"), up(profile)).reference("", up(exact));
    }
    found.plots.push(plot);
    Ok(found)
}

/// The error of the drop at Γ = 5 falls as the mesh is refined, on every kind of mesh.
pub fn cantilever_convergence() -> Result<Findings> {
    let mut found = Findings::default();
    let mut plot = Plot::new("Heavy cantilever Γ = 5, error of the drop", "cells along", "%");
    let drop = elastica::tip(Load::Weight(5.0)).1;
    for pattern in [Pattern::Right, Pattern::Alternating, Pattern::Jittered] {
        let mut errors = Vec::new();
        for cells in [20, 40, 80] {
            let tip = last(&bent_strip(Load::Weight(5.0), cells, 2, pattern)?);
            errors.push((cells as f64, 100.0 * (tip.1 / drop - 1.0)));
        }
        found.rows.push(Row::band(
            format!("heavy cantilever Γ=5 ({pattern:?} mesh), error with 80 cells over error with 20"),
            (errors[2].1 / errors[0].1).abs(),
            0.0,
            0.5,
        ));
        found.rows.push(Row::at_most(
            format!("heavy cantilever Γ=5 ({pattern:?} mesh, 80 cells), error of the drop, %"),
            errors[2].1.abs(),
            1.0,
        ));
        plot = plot.ours(format!("{pattern:?}"), errors);
    }
    found.plots.push(plot);
    Ok(found)
}

/// The fabric stiffness tester: the Γ at which the chord is at 41.5°.
pub fn stiffness_tester() -> Result<Row> {
    let chord = |gamma: f64| -> Result<f64> {
        let (x, y) = last(&bent_strip(Load::Weight(gamma), 80, 2, Pattern::Right)?);
        Ok(y.atan2(x).to_degrees())
    };
    let (a, b) = (7.8, 8.2);
    let (ca, cb) = (chord(a)?, chord(b)?);
    let gamma = a + (41.5 - ca) / (cb - ca) * (b - a);
    Ok(Row::relative("fabric stiffness tester, Γ at a chord of 41.5°", gamma, 8.004, 0.005))
}

/// PL²/B, drop/L and shortening/L.
const END_LOADED: [(f64, f64, f64); 4] =
    [(1.0, 0.30172, 0.05643), (2.0, 0.49346, 0.16064), (4.0, 0.66996, 0.32894), (10.0, 0.81061, 0.55500)];

/// A strip with a weight at its tip: drop and shortening.
pub fn end_loaded(loads: &[f64]) -> Result<Findings> {
    let mut found = Findings::default();
    let mut plot =
        Plot::new("Cantilevers with a load at the tip (dashed: elastica)", "along / L", "height / L");
    for (p, drop, shortening) in END_LOADED.into_iter().filter(|l| loads.contains(&l.0)) {
        let profile = bent_strip(Load::Tip(p), 50, 2, Pattern::Right)?;
        let (x, y) = last(&profile);
        found.rows.push(Row::relative(format!("end-loaded cantilever PL²/B={p}, drop/L"), y, drop, 0.01));
        found.rows.push(Row::relative(
            format!("end-loaded cantilever PL²/B={p}, shortening/L"),
            1.0 - x,
            shortening,
            0.01,
        ));
        let up = |p: Vec<(f64, f64)>| p.into_iter().map(|(x, y)| (x, -y)).collect::<Vec<_>>();
        let exact = elastica::profile(Load::Tip(p)).into_iter().step_by(40).collect();
        plot = plot.ours(format!("PL²/B = {p}"), up(profile)).reference("", up(exact));
    }
    found.plots.push(plot);
    Ok(found)
}
