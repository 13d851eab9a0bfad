//! The scaled, factored product against the plain dense matrix.

use super::*;
use crate::settings::Settings;
use glam::Vec3;
use toile_assets::{Mesh, builtin};
use toile_geometry::Random;

const SIDE: u32 = 4;
const N: usize = (SIDE * SIDE) as usize;

fn scene() -> Scene {
    let positions = (0..SIDE * SIDE).map(|v| Vec3::new((v % SIDE) as f32, 0.0, (v / SIDE) as f32)).collect();
    let squares = (0..SIDE * SIDE).filter(|v| v % SIDE < SIDE - 1 && v / SIDE < SIDE - 1);
    let triangles = squares.flat_map(|v| [[v, v + SIDE, v + 1], [v + 1, v + SIDE, v + SIDE + 1]]).collect();
    let mesh = Mesh { positions, triangles, uvs: vec![] };
    Scene::from_mesh(&mesh, &builtin::fabric("cotton").unwrap(), &Settings::default()).unwrap()
}

fn matrix(random: &mut Random) -> DMat3 {
    DMat3::from_cols(random.vector(), random.vector(), random.vector())
}

fn positive(random: &mut Random) -> DMat3 {
    let m = matrix(random);
    m * m.transpose() + DMat3::from_diagonal(DVec3::splat(0.5))
}

/// A contact of cloth with cloth between vertices that share no edge, and one with a body within a triangle.
fn contacts(scene: &Scene) -> [Contact; 2] {
    let contact = |v: [u32; 4], w: [f64; 4], sample: u32| Contact {
        v,
        w,
        n: DVec3::Y,
        offset: 0.0,
        reach: 0.0,
        k: 1.0,
        anchor: DVec3::ZERO,
        k_t: 0.0,
        friction: 0.0,
        limit: 0.0,
        sample,
    };
    let [a, b, c] = scene.triangles[4];
    [
        contact([0, 15, 10, 11], [1.0, -0.5, -0.3, -0.2], NO_SAMPLE),
        contact([a, b, c, c], [0.2, 0.5, 0.3, 0.0], 7),
    ]
}

/// Blocks of noise, the same as a dense matrix.
fn filled(scene: &Scene, random: &mut Random) -> (System, Vec<Vec<DMat3>>) {
    let mut system = System::new(scene);
    let mut dense = vec![vec![DMat3::ZERO; N]; N];
    let all = WorkingSet::new(scene, system.order());
    system.clear(&all);
    for v in 0..N {
        let d = positive(random) * 8.0;
        dense[v][v] = d;
        system.diagonal[v] = d.as_mat3().into();
    }
    for (e, &[a, b]) in scene.edges.iter().enumerate() {
        let reversed = e % 2 == 1;
        let m = matrix(random) * 0.3;
        system.add_edge(e as u32, reversed, &m.as_mat3().into());
        let (row, column) = if reversed { (b, a) } else { (a, b) };
        dense[row as usize][column as usize] += m;
        dense[column as usize][row as usize] += m.transpose();
    }
    for c in contacts(scene) {
        let m = positive(random);
        system.add_contact(&c, &m, &all);
        for (&i, wi) in c.v.iter().zip(c.w) {
            for (&j, wj) in c.v.iter().zip(c.w) {
                dense[i as usize][j as usize] += m * (wi * wj);
            }
        }
    }
    (system, dense)
}

/// `G⁻¹ A G⁻ᵀ` in the order of the rows, entry by entry.
fn scaled(system: &System, dense: &[Vec<DMat3>]) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; 3 * N]; 3 * N];
    let g = |v: u32| system.diagonal[v as usize].as_dmat3();
    for (i, &a) in system.order.iter().enumerate() {
        for (j, &b) in system.order.iter().enumerate() {
            let m = g(a) * dense[a as usize][b as usize] * g(b).transpose();
            for (r, c) in (0..9).map(|k| (k / 3, k % 3)) {
                out[3 * i + r][3 * j + c] = m.col(c)[r];
            }
        }
    }
    out
}

#[test]
fn entries_are_the_matrix_scaled_to_a_unit_diagonal() {
    let scene = scene();
    let (mut system, dense) = filled(&scene, &mut Random::new(3));
    system.prepare(&scene.hinges, &[false; N], &WorkingSet::new(&scene, system.order()));
    let wanted = scaled(&system, &dense);
    let mut found = vec![vec![0.0; 3 * N]; 3 * N];
    for (r, c, value) in system.entries().unwrap() {
        found[r][c] += f64::from(value);
    }
    for r in 0..3 * N {
        for c in 0..=r {
            let (found, wanted) = (found[r][c], wanted[r][c]);
            assert!((found - wanted).abs() < 1e-5, "({r}, {c}): {found} for {wanted}");
        }
    }
}

#[test]
fn the_product_of_the_solver_is_that_of_the_dense_matrix() {
    let scene = scene();
    let (mut system, dense) = filled(&scene, &mut Random::new(4));
    system.prepare(&scene.hinges, &[false; N], &WorkingSet::new(&scene, system.order()));
    let matrix = scaled(&system, &dense);
    let mut random = Random::new(5);
    let p: Vec<Vec3A> = (0..N).map(|_| single(random.vector())).collect();
    // (I + L)⁻¹ Â (I + Lᵀ)⁻¹ p comes out as t + y.
    let mut t = p.clone();
    system.backward(&mut t);
    let mut y = vec![Vec3A::ZERO; N];
    system.remainder(&scene.hinges, &scene.bending, &t, &mut y);
    let dot = system.forward_from(&p, &t, &mut y);

    let flat = |v: &[Vec3A]| -> Vec<f64> { v.iter().flat_map(|v| v.to_array()).map(f64::from).collect() };
    let (t, y, p) = (flat(&t), flat(&y), flat(&p));
    let product: Vec<f64> = t.iter().zip(&y).map(|(a, b)| a + b).collect();
    // L holds blocks of edges only; what contacts couple beyond them is in the remainder.
    let mut of_edges = vec![vec![0.0; 3 * N]; 3 * N];
    for i in 0..N {
        let range = system.starts[i] as usize..system.starts[i + 1] as usize;
        for (m, &j) in system.blocks[range.clone()].iter().zip(&system.columns[range]) {
            for (r, c) in (0..9).map(|k| (k / 3, k % 3)) {
                of_edges[3 * i + r][3 * j as usize + c] = f64::from(m.col(c)[r]);
            }
        }
    }
    for r in 0..3 * N {
        let left = product[r] + (0..3 * N).map(|c| of_edges[r][c] * product[c]).sum::<f64>();
        let right = (0..3 * N).map(|c| matrix[r][c] * t[c]).sum::<f64>();
        assert!((left - right).abs() < 2e-5, "row {r}: {left} for {right}");
    }
    let wanted: f64 = p.iter().zip(&product).map(|(p, q)| p * q).sum();
    assert!((dot - wanted).abs() < 1e-4 * wanted.abs(), "{dot} for {wanted}");
}

#[test]
fn pinned_vertices_have_no_part_in_it() {
    let scene = scene();
    let (mut system, _) = filled(&scene, &mut Random::new(6));
    let mut pinned = vec![false; N];
    pinned[5] = true;
    system.prepare(&scene.hinges, &pinned, &WorkingSet::new(&scene, system.order()));
    let g: Vec<DVec3> = (0..N).map(|v| if v == 5 { DVec3::splat(1e9) } else { DVec3::ONE }).collect();
    assert_eq!(system.largest(&g), 1.0);
    let row = system.row[5] as usize;
    assert_eq!(system.right_side(&g)[3 * row..3 * row + 3], [0.0; 3]);
}
