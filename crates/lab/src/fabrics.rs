//! Named fabrics on the textile laboratory's testers: cantilever (ASTM D1388), tensile, and Cusick's drape, each at two
//! resolutions.

use super::cloths::{Pattern, lay, rectangle};
use super::row::{Findings, Piece, Row, Snapshot};
use super::{cusick, quiet, rest};
use glam::{DVec2, DVec3};
use toile_assets::Fabric;
use toile_simulate::{Result, Scene, World};

/// Which threads a strip is cut along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Bent and pulled along the warp.
    Warp,
    /// Along the weft.
    Weft,
}

/// A strip along x whose length is cut along the asked threads: x is weft as the mesh lies.
fn strip(
    length: f64,
    width: f64,
    columns: usize,
    rows: usize,
    along: Along,
) -> (toile_assets::Mesh, Vec<[DVec2; 3]>) {
    let (mesh, mut flat) = rectangle(length, width, columns, rows, Pattern::Alternating);
    if along == Along::Warp {
        flat.iter_mut().flatten().for_each(|p| *p = p.perp());
    }
    (mesh, flat)
}

/// Weight, N/m².
fn weight(fabric: &Fabric) -> f64 {
    9.81 * fabric.density
}

/// Bending length by the textbook, m: half of the overhang that hangs at 41.5°.
pub fn bending_length(fabric: &Fabric, along: Along) -> f64 {
    let rigidity = if along == Along::Warp { fabric.bend_warp } else { fabric.bend_weft };
    (rigidity / weight(fabric)).cbrt()
}

/// Chord angle, degrees, of a strip that overhangs by twice its bending length: 41.5° where the solver is right. Twice the
/// strip lies over a rod in the middle, which by symmetry is a clamp.
pub fn overhang(fabric: &Fabric, along: Along, cells: usize) -> Result<f64> {
    let length = 2.0 * bending_length(fabric, along);
    let (mesh, flat) = strip(2.0 * length, 2.0 * length / cells as f64, 2 * cells, 2, along);
    let mut scene = Scene::new(&mesh, &flat, fabric, &quiet())?;
    let x = lay(&mesh, 0.0);
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.x.abs() < 0.1 * length / cells as f64;
    }
    let mut world = World::new(scene, x, quiet())?;
    rest(&mut world, 1e3)?;
    let columns = 2 * cells + 1;
    let row = |column: usize| (0..=2).map(|r| world.state.x[r * columns + column]).sum::<DVec3>() / 3.0;
    let (a, b) = (row(2 * cells), row(0));
    Ok((-0.5 * (a.y + b.y)).atan2(0.5 * (a.x - b.x)).to_degrees())
}

/// Strain, %, of a strip of 20 cm that a load per width (N/m) pulls at both ends, away from the clamps.
pub fn tensile(fabric: &Fabric, along: Along, load: f64, cells: usize) -> Result<f64> {
    Ok(pulled(fabric, along, load, cells)?.0)
}

/// The same with the strip as it then hangs.
pub(super) fn pulled(fabric: &Fabric, along: Along, load: f64, cells: usize) -> Result<(f64, World)> {
    let (length, width) = (0.2, 0.05);
    let (mesh, flat) = strip(length, width, cells, (cells / 4).max(2), along);
    // A weight hangs on each end; nothing else has any.
    let settings = quiet();
    let mut scene = Scene::new(&mesh, &flat, fabric, &settings)?;
    let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| DVec3::new(p.z, -p.x, 0.0)).collect();
    let bottom: Vec<usize> = (0..x.len()).filter(|i| x[*i].y < -0.5 * length + 1e-9).collect();
    let share: f64 = bottom.iter().map(|i| scene.area[*i]).sum();
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.y > 0.5 * length - 1e-9;
        scene.mass[i] *= 1e-4;
        if bottom.contains(&i) {
            scene.mass[i] += load * width / 9.81 * scene.area[i] / share;
        }
    }
    let start: Vec<f64> = x.iter().map(|p| p.y).collect();
    let mut world = World::new(scene, x, settings)?;
    rest(&mut world, 1e3)?;
    // Gauge marks at a quarter of the length from the ends.
    let at = |place: f64| {
        let near = |i: &usize| (start[*i] - place).abs() < 0.5 * length / cells as f64;
        let marks: Vec<usize> = (0..start.len()).filter(near).collect();
        let mean = |v: &dyn Fn(usize) -> f64| marks.iter().map(|i| v(*i)).sum::<f64>() / marks.len() as f64;
        (mean(&|i| start[i]), mean(&|i| world.state.x[i].y))
    };
    let ((a0, a1), (b0, b1)) = (at(0.25 * length), at(-0.25 * length));
    Ok((100.0 * ((a1 - b1) / (a0 - b0) - 1.0), world))
}

/// Load of the tensile rows, N/m: what a garment's own weight pulls with.
const LOAD: f64 = 5.0;

/// Cantilever and tensile rows of every named fabric, warp and weft, at two resolutions.
pub fn strips() -> Result<Findings> {
    let mut found = Findings::default();
    for (name, _) in Fabric::BUILT_IN {
        let fabric = toile_assets::builtin::fabric(name)?;
        for along in [Along::Warp, Along::Weft] {
            let word = if along == Along::Warp { "warp" } else { "weft" };
            for cells in [12, 24] {
                found.rows.push(Row::absolute(
                    format!("cantilever of {name} along the {word}, {cells} cells, chord at twice the bending length, degrees"),
                    overhang(&fabric, along, cells)?,
                    41.5,
                    2.0,
                ));
                // No narrowing is resisted at the sides, so it is the plain stiffness that is asked.
                let stretch = if along == Along::Warp { fabric.stretch_warp } else { fabric.stretch_weft };
                let strain = LOAD / stretch;
                found.rows.push(Row::relative(
                    format!(
                        "tensile test of {name} along the {word}, {cells} cells, strain at {LOAD} N/m, %"
                    ),
                    tensile(&fabric, along, LOAD, cells)?,
                    100.0 * strain,
                    0.01,
                ));
            }
        }
    }
    Ok(found)
}

/// Cusick's drape of every named fabric at two resolutions: in the published band where there is one, and the same at both.
pub fn drapes() -> Result<Findings> {
    let mut found = Findings::default();
    for (name, _) in Fabric::BUILT_IN {
        let fabric = toile_assets::builtin::fabric(name)?;
        let mut coefficients = Vec::new();
        for rings in [15, 20] {
            let d = cusick::drape(&fabric, rings, 1)?;
            coefficients.push(d.coefficient);
            if let Some((_, low, high)) = cusick::BANDS.iter().find(|(n, ..)| *n == name) {
                let row = format!("Cusick drape of {name}, {rings} rings, %");
                found.rows.push(Row::band(row, d.coefficient, *low, *high));
            }
            found.shots.push(Snapshot {
                name: format!("{name}, {} vertices, {:.0} %", d.x.len(), d.coefficient),
                scene: "named fabrics".into(),
                view: (20.0, 35.0),
                pieces: vec![Piece::cloth(&d.triangles, &d.x)],
            });
        }
        found.rows.push(Row::absolute(
            format!("Cusick drape of {name}, 15 rings against 20, %"),
            coefficients[0],
            coefficients[1],
            8.0,
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_soft_and_a_stiff_fabric_hang_and_stretch_as_their_numbers_say() {
        for (name, along) in [("silk", Along::Warp), ("denim", Along::Weft)] {
            let fabric = builtin::fabric(name).unwrap();
            let chord = overhang(&fabric, along, 12).unwrap();
            assert!((chord - 41.5).abs() < 2.0, "{name}: {chord}");
            let strain = tensile(&fabric, along, LOAD, 12).unwrap();
            let y = if along == Along::Warp { fabric.stretch_warp } else { fabric.stretch_weft };
            assert!((strain / (100.0 * LOAD / y) - 1.0).abs() < 0.01, "{name}: {strain} %");
        }
    }
}
