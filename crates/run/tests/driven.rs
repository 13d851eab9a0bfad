//! A dense mesh on a coarse garment: where it was at the start, smooth when bent, closed along seams.

use glam::{Quat, Vec3};
use std::sync::Arc;
use toile_assets::{Mesh, builtin, embed};
use toile_run::Driven;

/// A tube of `n` around and `rows` up, open at its ends; with `double`, its first column comes twice, as at a texture's seam.
fn tube(n: u32, rows: u32, double: bool) -> Mesh {
    let columns = n + u32::from(double);
    let mut mesh = Mesh::default();
    for j in 0..=rows {
        for i in 0..columns {
            let angle = (i % n) as f32 / n as f32 * std::f32::consts::TAU;
            mesh.positions.push(Vec3::new(0.2 * angle.cos(), j as f32 / rows as f32, -0.2 * angle.sin()));
        }
    }
    for j in 0..rows {
        for i in 0..n {
            let next = if double { i + 1 } else { (i + 1) % n };
            let [a, b] = [j * columns + i, j * columns + next];
            let [c, d] = [a + columns, b + columns];
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    mesh
}

#[test]
fn a_dense_tube_bends_as_smoothly_as_the_round_it_was_cut_from() {
    let (coarse, fine) = (tube(16, 12, false), tube(64, 48, true));
    let on = Arc::new(embed(&coarse, &fine).unwrap());
    let mut driven = Driven::new(on);
    let mut placed = vec![Vec3::ZERO; fine.positions.len()];
    driven.place(&coarse.positions, &mut placed).unwrap();
    let off = placed.iter().zip(&fine.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-5, "{off} m off at the start");
    // Bent and turned: what the dense tube would be if it were bent itself.
    let bend = |p: Vec3| Quat::from_rotation_z(0.6 * p.y) * Quat::from_rotation_y(0.5) * p + Vec3::Y * 0.1;
    let bent: Vec<Vec3> = coarse.positions.iter().map(|p| bend(*p)).collect();
    driven.place(&bent, &mut placed).unwrap();
    let wanted: Vec<Vec3> = fine.positions.iter().map(|p| bend(*p)).collect();
    let off = placed.iter().zip(&wanted).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 2.5e-3, "{} mm off", 1e3 * off);
    let mut normals = vec![Vec3::ZERO; placed.len()];
    driven.normals(&placed, &mut normals);
    let right = toile_assets::vertex_normals(&wanted, &fine.triangles);
    // The seam's columns see one side each.
    let inner = (0..placed.len()).filter(|v| ![0, 64].contains(&(v % 65)) && (65..48 * 65).contains(v));
    let worst = inner.map(|v| normals[v].dot(right[v])).fold(1.0, f32::min);
    assert!(worst > 0.995, "a normal is {}° off", worst.acos().to_degrees());
    // Both columns of the seam are in one place.
    assert!((0..=48).all(|j| placed[j * 65] == placed[j * 65 + 64]), "the seam is open");
}

#[test]
fn a_dense_shirt_lies_on_a_coarse_one_and_a_skirt_does_not() {
    let body = builtin::body("mannequin:female").unwrap();
    let [coarse, fine, other] =
        ["shirt:900", "shirt:3329", "skirt:300"].map(|name| builtin::garment(name, &body).unwrap());
    let on = embed(&coarse.sim, &fine.sim).unwrap();
    let mut driven = Driven::new(Arc::new(on));
    let mut placed = vec![Vec3::ZERO; fine.sim.positions.len()];
    driven.place(&coarse.sim.positions, &mut placed).unwrap();
    let off = placed.iter().zip(&fine.sim.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-4, "{off} m off as it was cut");
    assert!(driven.place(&coarse.sim.positions[1..], &mut placed).is_err());
    let said = embed(&coarse.sim, &other.sim).unwrap_err().to_string();
    assert!(said.contains("does not lie on the garment") && said.contains("vertex"), "{said}");
}
