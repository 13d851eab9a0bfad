//! Pieces of cloth to experiment on.

use glam::{DVec2, DVec3, Vec3};
use toile_assets::{Fabric, Mesh};

/// How a rectangle is cut into triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All diagonals one way.
    Right,
    /// Diagonals turn from cell to cell.
    Alternating,
    /// Alternating, with inner vertices moved by up to a fifth of a cell.
    Jittered,
}

/// A flat rectangle in the plane y = 0: corners and flat coordinates (x is weft, z is warp).
pub fn rectangle(
    width: f64,
    depth: f64,
    columns: usize,
    rows: usize,
    pattern: Pattern,
) -> (Mesh, Vec<[DVec2; 3]>) {
    let mut random = toile_geometry::Random::new(1);
    let (cw, cd) = (width / columns as f64, depth / rows as f64);
    let mut flat = Vec::new();
    for j in 0..=rows {
        for i in 0..=columns {
            let mut p = DVec2::new(i as f64 * cw - 0.5 * width, j as f64 * cd - 0.5 * depth);
            let inner = i > 0 && j > 0 && i < columns && j < rows;
            if pattern == Pattern::Jittered && inner {
                p += DVec2::new(random.signed() * cw, random.signed() * cd) * 0.2;
            }
            flat.push(p);
        }
    }
    let at = |i: usize, j: usize| (j * (columns + 1) + i) as u32;
    let mut triangles = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            if pattern == Pattern::Right || (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    let rest = triangles.iter().map(|t| t.map(|i| flat[i as usize])).collect();
    // Facing up: x × z points down, so the corners are turned.
    let positions = flat.iter().map(|p| Vec3::new(p.x as f32, 0.0, p.y as f32)).collect();
    let rest: Vec<[DVec2; 3]> = rest;
    (Mesh { positions, triangles, uvs: vec![] }, rest)
}

/// Flat coordinates as places in space at height `y`.
pub fn lay(mesh: &Mesh, y: f64) -> Vec<DVec3> {
    mesh.positions.iter().map(|p| p.as_dvec3() + DVec3::Y * y).collect()
}

/// A plain fabric of round numbers, without air and damping.
pub fn plain() -> Fabric {
    Fabric {
        name: "plain".into(),
        density: 0.2,
        stretch_warp: 500.0,
        stretch_weft: 500.0,
        shear: 50.0,
        poisson: 0.0,
        bend_warp: 1e-5,
        bend_weft: 1e-5,
        damping_secs: 0.0,
        thickness: 2e-3,
        friction: 0.3,
        drag: 0.0,
        sources: vec![],
        hysteresis: None,
    }
}
