//! What a scene is made of: masses, lengths, contact samples, and what is refused with its place.

use glam::{DVec2, DVec3, Vec3};
use toile_assets::{Fabric, Mesh, builtin};
use toile_simulate::{Scene, Settings};

/// A sheet of `n × n` squares, each `side` metres wide.
fn sheet(n: u32, side: f32) -> Mesh {
    let row = n + 1;
    let positions =
        (0..row * row).map(|v| side * Vec3::new((v % row) as f32, 0.0, (v / row) as f32)).collect();
    let square = |i: u32| {
        let v = i / n * row + i % n;
        [[v, v + row, v + 1], [v + 1, v + row, v + row + 1]]
    };
    Mesh { positions, triangles: (0..n * n).flat_map(square).collect(), uvs: vec![] }
}

fn cotton() -> Fabric {
    builtin::fabric("cotton").unwrap()
}

fn refused(mesh: &Mesh, rest: &[[DVec2; 3]], fabric: &Fabric) -> String {
    Scene::new(mesh, rest, fabric, &Settings::default()).unwrap_err().to_string()
}

#[test]
fn masses_are_area_times_density_and_lengths_those_of_the_flat_cloth() {
    let mesh = sheet(4, 0.05);
    let fabric = cotton();
    let scene = Scene::from_mesh(&mesh, &fabric, &Settings::default()).unwrap();
    let (area, mass) = (scene.area.iter().sum::<f64>(), scene.mass.iter().sum::<f64>());
    assert!((area - 0.04).abs() < 1e-9, "{area} m²");
    assert!((mass - 0.04 * fabric.density).abs() < 1e-9, "{mass} kg");
    // A corner with one triangle, a vertex in the middle with six.
    assert!((scene.area[0] - 0.05 * 0.05 / 6.0).abs() < 1e-9);
    assert!((scene.area[6] - 0.05 * 0.05).abs() < 1e-9);
    let flat: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    assert!(scene.max_stretch(&flat) < 1e-6);
    let wider: Vec<DVec3> = flat.iter().map(|p| DVec3::new(1.1 * p.x, p.y, p.z)).collect();
    assert!((scene.max_stretch(&wider) - 0.1).abs() < 1e-6);
    assert_eq!((scene.len(), scene.is_empty(), scene.hinges.len()), (25, false, scene.edges.len() - 16));
}

#[test]
fn a_panel_drawn_mirrored_weighs_the_same() {
    let mesh = sheet(2, 0.1);
    let flat: Vec<[DVec2; 3]> = mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| mesh.positions[v as usize]).map(|p| DVec2::new(p.x.into(), p.z.into())))
        .collect();
    let mirrored: Vec<[DVec2; 3]> = flat.iter().map(|t| t.map(|p| DVec2::new(-p.x, p.y))).collect();
    let of = |rest: &[[DVec2; 3]]| Scene::new(&mesh, rest, &cotton(), &Settings::default()).unwrap();
    let (a, b) = (of(&flat), of(&mirrored));
    assert!(a.mass.iter().all(|m| *m > 0.0));
    assert_eq!(a.mass, b.mass);
    assert_eq!(a.edge_lengths, b.edge_lengths);
}

#[test]
fn coarse_cloth_is_also_sampled_between_its_vertices() {
    let settings = Settings::default();
    let count = |side: f32| {
        let scene = Scene::from_mesh(&sheet(2, side), &cotton(), &settings).unwrap();
        // Wherever a sample is, its weights are a point of the cloth.
        assert!(scene.samples.iter().all(|s| (s.w.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        (scene.samples.len() - scene.len(), scene.edges.len(), scene.triangles.len())
    };
    let spacing = settings.sample_spacing_m as f32;
    assert_eq!(count(0.6 * spacing).0, 0, "fine cloth needs none");
    let (between, edges, _) = count(1.1 * spacing);
    assert_eq!(between, edges);
    let (between, edges, triangles) = count(4.0 * spacing);
    assert_eq!(between, edges + triangles);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_its_place() {
    let mesh = sheet(2, 0.1);
    let scene = Scene::from_mesh(&mesh, &cotton(), &Settings::default()).unwrap();
    assert_eq!(scene.len(), 9);
    let corner = [DVec2::ZERO, DVec2::X, DVec2::Y];
    let rest = vec![corner; mesh.triangles.len()];
    assert!(refused(&mesh, &rest[1..], &cotton()).contains("8 triangles have 7 rest shapes"));

    let mut flat = rest.clone();
    flat[5] = [DVec2::ZERO, DVec2::X, 2.0 * DVec2::X];
    assert!(refused(&mesh, &flat, &cotton()).contains("triangle 5 has no area"));

    let mut wild = mesh.clone();
    wild.triangles[3][1] = 99;
    assert!(refused(&wild, &rest, &cotton()).contains("triangle 3 names a vertex"));

    let mut loose = mesh.clone();
    loose.positions.push(Vec3::ONE);
    assert!(refused(&loose, &rest, &cotton()).contains("vertex 9 belongs to no triangle"));

    let absurd = Fabric { density: 100.0, friction: f64::NAN, ..cotton() };
    let said = refused(&mesh, &rest, &absurd);
    assert!(said.contains("density = 100, allowed 0.005 to 5") && said.contains("friction = NaN"), "{said}");
}

#[test]
fn a_pin_that_names_no_vertex_is_refused() {
    let body = builtin::body("mannequin:female").unwrap();
    let mut skirt = builtin::garment("skirt:300", &body).unwrap();
    let scene = Scene::from_garment(&skirt, &cotton(), &Settings::default()).unwrap();
    let marked = scene.pinned.iter().filter(|p| **p).count();
    assert_eq!(marked, skirt.pins.iter().map(|p| p.vertices.len()).sum::<usize>());
    skirt.pins[0].vertices.push(100_000);
    let said = Scene::from_garment(&skirt, &cotton(), &Settings::default()).unwrap_err().to_string();
    assert!(said.contains("100000") && said.contains(&skirt.pins[0].name), "{said}");
}
