//! The triangle tree against looking at every triangle.

use glam::Vec3;
use toile_geometry::{Mesh, Random, TriangleTree};

/// Within a cube of this side around the origin.
fn point(random: &mut Random, spread: f32) -> Vec3 {
    random.vector().as_vec3() * (0.5 * spread)
}

/// A closed sphere with bumps, around `centre`.
fn ball(around: u32, high: u32, radius: f32, centre: Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    for y in 0..=high {
        let b = std::f32::consts::PI * y as f32 / high as f32;
        for x in 0..around {
            let a = std::f32::consts::TAU * x as f32 / around as f32;
            let r = radius * (1.0 + 0.2 * (3.0 * a).sin() * b.sin());
            mesh.positions.push(centre + r * Vec3::new(b.sin() * a.cos(), b.cos(), b.sin() * -a.sin()));
        }
    }
    for y in 0..high {
        for x in 0..around {
            let (i, j) = (y * around + x, y * around + (x + 1) % around);
            mesh.triangles.push([i, i + around, j + around]);
            mesh.triangles.push([i, j + around, j]);
        }
    }
    mesh
}

fn soup(random: &mut Random, n: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for t in 0..n {
        let at = point(random, 2.0);
        (0..3).for_each(|_| mesh.positions.push(at + point(random, 0.3)));
        mesh.triangles.push([3 * t, 3 * t + 1, 3 * t + 2]);
    }
    mesh
}

#[test]
fn the_tree_finds_what_looking_at_every_triangle_finds() {
    let seed = 7;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for mesh in
        [soup(&mut random, 400), ball(24, 16, 1.0, Vec3::ZERO), soup(&mut random, 1), soup(&mut random, 5)]
    {
        let tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
        // One tree per triangle is the plainest reference there is.
        let singles: Vec<_> = mesh
            .triangles
            .iter()
            .map(|t| TriangleTree::new(&mesh.positions, std::slice::from_ref(t)))
            .collect();
        for _ in 0..200 {
            let query = point(&mut random, 4.0);
            let all: Vec<_> = singles.iter().map(|s| s.closest(query).unwrap()).collect();
            let best = all.iter().map(|c| c.distance_m).fold(f32::INFINITY, f32::min);
            let found = tree.closest(query).unwrap();
            assert_eq!(found.distance_m, best, "query {query}");
            assert_eq!(all[found.triangle as usize].point, found.point, "query {query}");
            let b = found.barycentric;
            let [p, q, r] = mesh.triangles[found.triangle as usize].map(|i| mesh.positions[i as usize]);
            assert!((p * b[0] + q * b[1] + r * b[2]).distance(found.point) < 1e-6);
            assert!(b.iter().all(|w| *w >= 0.0) && (b.iter().sum::<f32>() - 1.0).abs() < 1e-5);

            assert!(tree.closest_within(query, best * 1.001).is_some());
            assert!(tree.closest_within(query, best * 0.999).is_none());

            let direction = point(&mut random, 1.0);
            let hit = tree.first_hit(query, direction);
            let nearest = singles.iter().filter_map(|s| s.first_hit(query, direction)).map(|h| h.distance_m);
            assert_eq!(hit.map(|h| h.distance_m), nearest.min_by(f32::total_cmp), "ray {query} {direction}");
        }
    }
    assert!(TriangleTree::new(&[], &[]).closest(Vec3::ZERO).is_none());
}

#[test]
fn boxes_of_a_refitted_tree_follow_the_body() {
    let mut random = Random::new(3);
    let mesh = soup(&mut random, 300);
    let mut tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let moved: Vec<Vec3> = mesh.positions.iter().map(|p| Vec3::new(p.y + 3.0, p.x * p.x, -p.z)).collect();
    tree.refit(&moved);
    let fresh = TriangleTree::new(&moved, &mesh.triangles);
    for _ in 0..300 {
        let query = point(&mut random, 6.0);
        assert_eq!(tree.closest(query), fresh.closest(query));
        assert_eq!(tree.first_hit(query, Vec3::X), fresh.first_hit(query, Vec3::X));
    }
}

#[test]
fn inside_agrees_with_the_exact_winding_number() {
    let mut random = Random::new(11);
    // Two balls that overlap, as a thigh and a trunk do: inside either is inside.
    let mut mesh = ball(24, 16, 1.0, Vec3::ZERO);
    let other = ball(20, 12, 0.8, Vec3::new(0.9, 0.1, 0.0));
    let n = mesh.positions.len() as u32;
    mesh.positions.extend(&other.positions);
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + n)));
    let tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let (mut inside, mut twice) = (0, 0);
    for _ in 0..1000 {
        let query = point(&mut random, 3.0);
        let winding = tree.winding_number(query);
        assert!((winding - winding.round()).abs() < 1e-6, "{winding}");
        assert_eq!(tree.is_inside(query), winding > 0.5, "{query}");
        inside += usize::from(winding > 0.5);
        twice += usize::from(winding > 1.5);
    }
    assert!(inside > 50 && twice > 5, "{inside} {twice}");
    // Rays along the mesh's own edges and through its poles.
    assert!(tree.is_inside(Vec3::new(-0.3, 0.0, 0.0)));
    assert!(!tree.is_inside(Vec3::new(0.0, 1.5, 0.0)));
    assert!(tree.first_hit(Vec3::new(0.0, 3.0, 0.0), Vec3::NEG_Y).is_some());
}

#[test]
fn a_cavity_is_outside() {
    // A shell: whatever way a ray goes from its middle, it enters the material and leaves it again.
    let mut mesh = ball(24, 16, 1.0, Vec3::ZERO);
    let inner = ball(24, 16, 0.6, Vec3::ZERO);
    let n = mesh.positions.len() as u32;
    mesh.positions.extend(&inner.positions);
    mesh.triangles.extend(inner.triangles.iter().map(|t| [t[0] + n, t[2] + n, t[1] + n]));
    let tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    assert!(!tree.is_inside(Vec3::new(0.1, 0.05, -0.02)));
    assert!(tree.is_inside(Vec3::new(0.0, 0.8, 0.01)));
    assert!(!tree.is_inside(Vec3::new(0.9, 0.9, 0.9)));
}

#[test]
fn degenerate_and_coincident_triangles_do_no_harm() {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
    let triangles = vec![[0, 1, 2]; 500];
    let tree = TriangleTree::new(&positions, &triangles);
    let near = tree.closest(Vec3::new(1.5, 1.0, 0.0)).unwrap();
    assert_eq!(near.triangle, 0);
    assert!((near.distance_m - 1.0).abs() < 1e-6);
    let same = TriangleTree::new(&positions, &vec![[0, 0, 0]; 100]);
    assert_eq!(same.closest(Vec3::Y).unwrap().distance_m, 1.0);
    assert!(tree.first_hit(Vec3::Y, Vec3::NEG_Y).is_none());
    assert!(tree.first_hit(Vec3::Y, Vec3::ZERO).is_none());
}
