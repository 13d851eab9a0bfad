//! Garments from small files of every kind of unit, axis and rest shape.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use toile_assets::read::Loaded;
use toile_assets::read::garment::{RestChoice, read_garment};
use toile_assets::{Garment, PinTarget, RestSource};

const AROUND: usize = 12;
const RINGS: usize = 8;
const RADIUS: f32 = 0.25;

/// A skirt of two panels from 1.05 m down to 0.55 m, sewn at both sides; texture coordinates are the flat
/// panels, times `uv`. The front panel is drawn from its wrong side.
fn skirt(point: impl Fn([f32; 3]) -> [f32; 3], uv: f32) -> String {
    let mut text = String::from("o skirt\n");
    for r in 0..=RINGS {
        for k in 0..AROUND {
            let a = std::f32::consts::TAU * k as f32 / AROUND as f32;
            let [x, y, z] =
                point([RADIUS * a.cos(), 1.05 - 0.5 * r as f32 / RINGS as f32, -RADIUS * a.sin()]);
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
    }
    let edge = 2.0 * RADIUS * (std::f32::consts::PI / AROUND as f32).sin();
    for (panel, sign) in [("front", -1.0), ("back", 1.0)] {
        for r in 0..=RINGS {
            for k in 0..=AROUND / 2 {
                let [u, v] = [sign * edge * k as f32, -0.5 * r as f32 / RINGS as f32].map(|x| uv * x);
                writeln!(text, "vt {u} {v}").unwrap();
            }
        }
        writeln!(text, "g {panel}").unwrap();
        let (side, first) =
            if panel == "front" { (AROUND / 2, 0) } else { (0, (RINGS + 1) * (AROUND / 2 + 1)) };
        for r in 0..RINGS {
            for k in 0..AROUND / 2 {
                let corner = |k: usize, r: usize| {
                    let v = r * AROUND + (side + k) % AROUND + 1;
                    format!("{v}/{}", first + r * (AROUND / 2 + 1) + k + 1)
                };
                let [a, b, c, d] = [corner(k, r), corner(k, r + 1), corner(k + 1, r + 1), corner(k + 1, r)];
                writeln!(text, "f {a} {b} {c} {d}").unwrap();
            }
        }
    }
    text
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn read(name: &str, text: &str, json: Option<&str>) -> Loaded<Garment> {
    let path = folder(name).join("skirt.obj");
    std::fs::write(&path, text).unwrap();
    if let Some(json) = json {
        std::fs::write(path.with_extension("json"), json).unwrap();
    }
    read_garment(&path, RestChoice::Auto, None).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_pattern_in_metres_gives_panels_seams_and_pins() {
    let waist: Vec<String> = (0..AROUND).map(|k| k.to_string()).collect();
    let json = format!(r#"{{"labels": {{"waist": [{}]}}}}"#, waist.join(","));
    let loaded = read("pattern", &skirt(|p| p, 1.0), Some(&json));
    let g = &loaded.value;
    assert_eq!(g.sim.positions.len(), AROUND * (RINGS + 1));
    assert_eq!(g.render.positions.len(), (AROUND + 2) * (RINGS + 1));
    assert_eq!(g.rest_source, RestSource::Uv);
    let names: Vec<_> = g.panels.iter().map(|p| (p.name.as_str(), p.count)).collect();
    assert_eq!(names, [("front", 96), ("back", 96)]);
    assert_eq!(g.seams.len(), 2);
    for seam in &g.seams {
        assert_eq!((seam.name.as_str(), seam.vertices.len(), seam.gather), ("front – back", RINGS + 1, 1.0));
        assert!(seam.lengths.iter().all(|l| (l - 0.5).abs() < 1e-5), "{:?}", seam.lengths);
        // In order along the seam.
        let heights: Vec<f32> = seam.vertices.iter().map(|v| g.sim.positions[*v as usize].y).collect();
        assert!(heights.is_sorted() || heights.iter().rev().is_sorted(), "{heights:?}");
    }
    assert_eq!(g.pins.len(), 1);
    assert_eq!((g.pins[0].vertices.len(), &g.pins[0].target), (AROUND, &PinTarget::Body));
    assert!(g.pins[0].vertices.iter().all(|v| g.sim.positions[*v as usize].y > 1.04));
    // Flat areas are those of the mesh, and positive also where the panel was drawn from behind.
    for t in 0..g.rest.len() {
        assert!((g.rest_area(t) / g.sim.triangle_area(t) - 1.0).abs() < 1e-3);
        // The grain runs down the skirt: vertical edges stay vertical.
        let flat = g.rest[t].map(|p| p.y);
        let high = g.sim.triangles[t].map(|i| g.sim.positions[i as usize].y);
        assert!((0..3).all(|k| ((flat[k] - flat[0]) - (high[k] - high[0])).abs() < 1e-5));
    }
    // Render vertices sit on their simulation vertices.
    for (r, s) in g.sim_from_render.iter().enumerate() {
        assert_eq!(g.render.positions[r], g.sim.positions[*s as usize]);
    }
}

#[test]
fn a_garment_hangs_by_its_collar_unless_it_is_asked_to_be_pinned_there() {
    let json = r#"{"labels": {"left_collar": [0, 1], "waist": [8, 9], "right_armhole": [2]}}"#;
    let loaded = read("openings", &skirt(|p| p, 1.0), Some(json));
    let mut g = loaded.value;
    let names = |pins: &[toile_assets::Pin]| pins.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&g.pins), ["waist"]);
    assert_eq!(names(&g.openings), ["left_collar", "right_armhole"]);
    assert!(loaded.notes.iter().any(|n| n.contains("hangs by left_collar (2), right_armhole (1)")));
    g.hold(&["left_collar".into()]).unwrap();
    assert_eq!((names(&g.pins), names(&g.openings).len()), (vec!["left_collar".to_string()], 2));
    assert!(g.hold(&["hem".into()]).unwrap_err().contains(&"waist".to_string()));
    g.hold(&[]).unwrap();
    assert!(g.pins.is_empty());
}

#[test]
fn the_two_sides_of_a_seam_are_measured_apart() {
    // One panel closed to a tube; its right edge is cut 4 % longer than its left. Rings are numbered out of
    // order, as meshing programs do.
    let number = |r: usize| [0, 5, 2, 7, 4, 1, 6, 3, 8][r];
    let ring = |n: usize| (0..=RINGS).find(|&r| number(r) == n).unwrap();
    let edge = 2.0 * RADIUS * (std::f32::consts::PI / AROUND as f32).sin();
    let mut text = String::new();
    for r in (0..=RINGS).map(ring) {
        for k in 0..AROUND {
            let a = std::f32::consts::TAU * k as f32 / AROUND as f32;
            let y = 1.05 - 0.5 * r as f32 / RINGS as f32;
            writeln!(text, "v {} {y} {}", RADIUS * a.cos(), -RADIUS * a.sin()).unwrap();
        }
    }
    for r in 0..=RINGS {
        for k in 0..=AROUND {
            let longer = 1.0 + 0.04 * k as f32 / AROUND as f32;
            writeln!(text, "vt {} {}", edge * k as f32, -0.5 * longer * r as f32 / RINGS as f32).unwrap();
        }
    }
    for r in 0..RINGS {
        for k in 0..AROUND {
            let corner = |k: usize, r: usize| {
                format!("{}/{}", number(r) * AROUND + k % AROUND + 1, r * (AROUND + 1) + k + 1)
            };
            let [a, b, c, d] = [corner(k, r), corner(k, r + 1), corner(k + 1, r + 1), corner(k + 1, r)];
            writeln!(text, "f {a} {b} {c} {d}").unwrap();
        }
    }
    let g = read("tube", &text, None).value;
    assert_eq!(g.rest_source, RestSource::Uv);
    assert_eq!((g.seams.len(), g.panels.len()), (1, 1));
    let mut lengths = g.seams[0].lengths;
    lengths.sort_by(f32::total_cmp);
    assert!((lengths[0] - 0.5).abs() < 1e-4 && (lengths[1] - 0.52).abs() < 1e-4, "{lengths:?}");
    assert!((g.seams[0].gather - g.seams[0].lengths[0] / g.seams[0].lengths[1]).abs() < 1e-6);
}

#[test]
fn units_and_axes_are_guessed_and_said() {
    let metres = read("metres", &skirt(|p| p, 1.0), None);
    assert!(!metres.notes.iter().any(|n| n.contains("guessed")), "{:?}", metres.notes);
    for (name, text, said) in [
        ("centimetres", skirt(|p| p.map(|x| 100.0 * x), 100.0), "centimetres"),
        ("centimetres_uv_in_metres", skirt(|p| p.map(|x| 100.0 * x), 1.0), "centimetres"),
        ("inches", skirt(|p| p.map(|x| x / 0.0254), 1.0), "inches"),
        ("z_up", skirt(|[x, y, z]| [x, -z, y], 1.0), "+Z"),
    ] {
        let loaded = read(name, &text, None);
        assert!(loaded.notes.iter().any(|n| n.contains(said)), "{name}: {:?}", loaded.notes);
        assert_eq!(loaded.value.rest_source, RestSource::Uv, "{name}: {:?}", loaded.notes);
        for (a, b) in loaded.value.sim.positions.iter().zip(&metres.value.sim.positions) {
            assert!(a.distance(*b) < 1e-4, "{name}: {a} {b}");
        }
        let flat: f32 = (0..loaded.value.rest.len()).map(|t| loaded.value.rest_area(t)).sum();
        assert!((flat / metres.value.sim.area() - 1.0).abs() < 0.01, "{name}: {flat}");
    }
}

#[test]
fn texture_atlases_are_not_taken_for_patterns() {
    let loaded = read("atlas", &skirt(|p| p, 0.4), None);
    assert_eq!(loaded.value.rest_source, RestSource::Mesh);
    assert!(loaded.notes.iter().any(|n| n.contains("16.0 %")), "{:?}", loaded.notes);
    let g = &loaded.value;
    for t in 0..g.rest.len() {
        let flat = g.rest[t];
        let solid = g.sim.triangles[t].map(|i| g.sim.positions[i as usize]);
        for k in 0..3 {
            let (a, b) = (flat[k].distance(flat[(k + 1) % 3]), solid[k].distance(solid[(k + 1) % 3]));
            assert!((a - b).abs() < 1e-6);
        }
        assert!(g.rest_area(t) > 0.0);
    }
    let path = folder("forced").join("skirt.obj");
    std::fs::write(&path, skirt(|p| p, 0.4)).unwrap();
    let forced = read_garment(&path, RestChoice::Uv, None).unwrap();
    assert_eq!(forced.value.rest_source, RestSource::Uv);
    let front = read_garment(&path, RestChoice::Mesh, Some("front")).unwrap();
    assert_eq!(front.value.sim.triangles.len(), 96);
    assert_eq!(front.value.sim.components().1, 1);
}

#[test]
fn faults_name_the_file_and_the_place() {
    let folder = folder("faults");
    let path = folder.join("skirt.obj");
    std::fs::write(&path, skirt(|p| p, 1.0)).unwrap();
    for (json, place) in [
        ("{", "line 1"),
        (r#"{"labels": {"waist": 3}}"#, "labels.waist"),
        (r#"{"labels": {"waist": [0, 5000]}}"#, "labels.waist: 5000"),
        (r#"{"labels": {"waist": [-1]}}"#, "labels.waist: -1"),
    ] {
        std::fs::write(path.with_extension("json"), json).unwrap();
        let fault = read_garment(&path, RestChoice::Auto, None).unwrap_err().to_string();
        assert!(fault.contains("skirt.json") && fault.contains(place), "{fault}");
    }
    std::fs::write(path.with_extension("json"), r#"{"note": "something else"}"#).unwrap();
    assert!(read_garment(&path, RestChoice::Auto, None).unwrap().value.pins.is_empty());
    let bare = folder.join("bare.obj");
    std::fs::write(&bare, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let fault = read_garment(&bare, RestChoice::Uv, None).unwrap_err().to_string();
    assert!(fault.contains("no texture coordinates"), "{fault}");
    std::fs::write(&bare, "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n").unwrap();
    assert!(read_garment(&bare, RestChoice::Auto, None).unwrap_err().to_string().contains("bare.obj"));
    assert!(read_garment(folder.join("none.obj"), RestChoice::Auto, None).is_err());
    assert!(read_garment(folder.join("none.fbx"), RestChoice::Auto, None).is_err());
}

#[test]
fn materials_of_the_file_are_kept_and_written_back() {
    let folder = std::env::temp_dir().join(format!("toile-materials-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("two.obj");
    let text = "v 0 1 0\nv 0.3 1 0\nv 0.3 1.3 0\nv 0 1.3 0\nusemtl wool\nf 1 2 3\nusemtl silk\nf 1 3 4\n";
    std::fs::write(&path, text).unwrap();
    let garment = read_garment(&path, RestChoice::Auto, None).unwrap().value;
    let names: Vec<&str> = garment.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["wool", "silk"]);
    assert_eq!(garment.materials[1].triangles, [1]);
    toile_assets::write::obj::write_garment(&path, &garment).unwrap();
    let again = read_garment(&path, RestChoice::Auto, None).unwrap().value;
    assert_eq!(again.materials, garment.materials);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn painted_attributes_are_read_and_wrong_ones_named() {
    let folder = std::env::temp_dir().join(format!("toile-paint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mesh, paint) = (folder.join("patch.obj"), folder.join("patch.json"));
    std::fs::write(&mesh, "v 0 1 0\nv 0.1 1 0\nv 0 1.1 0\nv 0.1 1.1 0\nf 1 2 3\nf 2 4 3\n").unwrap();
    let read = || read_garment(&mesh, RestChoice::Mesh, None);
    std::fs::write(
        &paint,
        r#"{"layers": ["stretch", null, "floating", "loose"], "max_distance_m": [0, 0.1, 0.2, 0.3],
            "backstop_m": [0.01, 0.01, 0.01, 0.01]}"#,
    )
    .unwrap();
    let garment = read().unwrap().value;
    let layer = |v: usize| {
        let at = garment.render.positions[v];
        let sim = garment.sim.positions.iter().position(|p| *p == at).unwrap();
        (garment.paint.layer[sim].map(|l| l.name()), garment.paint.max_distance_m[sim])
    };
    assert_eq!(
        [0, 1, 2, 3].map(layer).map(|l| l.0),
        [Some("stretch"), None, Some("floating"), Some("loose")]
    );
    assert_eq!([0, 1, 2, 3].map(layer).map(|l| l.1), [0.0, 0.1, 0.2, 0.3]);
    assert_eq!(garment.pins.iter().map(|p| p.vertices.len()).collect::<Vec<_>>(), [1], "held by paint");
    for (text, said) in [
        (r#"{"layers": ["loose"]}"#, "1 entries for 4 vertices"),
        (r#"{"layers": ["tight", null, null, null]}"#, "layers[0]"),
        (r#"{"max_distance_m": [0, 0, 0, -1]}"#, "max_distance_m[3]"),
        (r#"{"backstop_m": 3}"#, "is not a list"),
        (r#"{"Max_Distance": [0, 0, 0, 0]}"#, "is `max_distance_m` meant?"),
        (r#"{"vertex_colors": {"max_distance_m": 1}}"#, "is `vertex_colours` meant?"),
        (r#"{"labels": [0, 1]}"#, "wants sets of vertices by name"),
    ] {
        std::fs::write(&paint, text).unwrap();
        let fault = read().unwrap_err().to_string();
        assert!(fault.contains(said) && fault.contains("patch.json"), "{fault}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A patch of two triangles as .gltf, its colours as bytes.
fn painted_patch(colours: Option<&[[u8; 4]; 4]>) -> String {
    let positions: [[f32; 3]; 4] = [[0.0, 1.0, 0.0], [0.1, 1.0, 0.0], [0.0, 1.1, 0.0], [0.1, 1.1, 0.0]];
    let mut bytes: Vec<u8> = positions.iter().flatten().flat_map(|f| f.to_le_bytes()).collect();
    bytes.extend([0u16, 1, 2, 1, 3, 2].iter().flat_map(|i| i.to_le_bytes()));
    let colour_at = bytes.len();
    bytes.extend(colours.into_iter().flatten().flatten());
    let base64 = {
        const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for three in bytes.chunks(3) {
            let n = three.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
            let sign = |k: u32| SIGNS[(n >> (18 - 6 * k) & 63) as usize] as char;
            (0..4).for_each(|k| out.push(if k as usize > three.len() { '=' } else { sign(k) }));
        }
        out
    };
    let (attribute, accessor, view) = match colours {
        None => ("", "", String::new()),
        Some(_) => (
            r#","COLOR_0":2"#,
            r#",{"bufferView":2,"componentType":5121,"normalized":true,"count":4,"type":"VEC4"}"#,
            format!(r#",{{"buffer":0,"byteOffset":{colour_at},"byteLength":16}}"#),
        ),
    };
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0,"name":"patch"}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0{attribute}}},"indices":1}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}}{accessor}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}{view}],
        "buffers":[{{"byteLength":{},"uri":"data:application/octet-stream;base64,{base64}"}}]}}"#,
        bytes.len()
    )
}

#[test]
fn vertex_colours_are_paint_where_the_file_beside_says_so_and_only_there() {
    let folder = std::env::temp_dir().join(format!("toile-colours-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mesh, beside) = (folder.join("patch.gltf"), folder.join("patch.json"));
    let colours = [[0, 255, 0, 255], [255, 51, 85, 255], [102, 0, 170, 0], [255, 255, 255, 255]];
    std::fs::write(&mesh, painted_patch(Some(&colours))).unwrap();
    let read = || read_garment(&mesh, RestChoice::Mesh, None);
    assert!(read().unwrap().value.paint.is_empty(), "colours alone are only colours");
    let says = r#"{"vertex_colours": {"max_distance_m": 0.5, "backstop_m": 0.1, "layers": true}}"#;
    std::fs::write(&beside, says).unwrap();
    let garment = read().unwrap().value;
    let of = |at: [f32; 3]| {
        let sim = garment.sim.positions.iter().position(|p| p.to_array() == at).unwrap();
        let paint = &garment.paint;
        (paint.max_distance_m[sim], paint.backstop_m[sim], paint.layer[sim].map(|l| l.name()))
    };
    assert_eq!(of([0.0, 1.0, 0.0]), (0.0, 0.1, None));
    let (most, back, layer) = of([0.1, 1.0, 0.0]);
    assert!((most - 0.5).abs() < 1e-6 && (back - 0.02).abs() < 1e-6 && layer == Some("stretch"));
    assert_eq!(of([0.0, 1.1, 0.0]).2, Some("loose"));
    assert_eq!(of([0.1, 1.1, 0.0]).2, Some("floating"));
    assert_eq!(garment.pins.iter().map(|p| p.vertices.len()).collect::<Vec<_>>(), [1], "red 0 holds");
    for (text, said) in [
        (r#"{"vertex_colours": {"max_distance_m": -1}}"#, "vertex_colours.max_distance_m"),
        (r#"{"vertex_colours": {"max_distance": 1}}"#, "wants {"),
        (r#"{"vertex_colours": 3}"#, "wants {"),
    ] {
        std::fs::write(&beside, text).unwrap();
        let fault = read().unwrap_err().to_string();
        assert!(fault.contains(said) && fault.contains("patch.json"), "{fault}");
    }
    std::fs::write(&beside, r#"{"max_distance_m": [0, 1, 1, 1]}"#).unwrap();
    let unread = read().unwrap();
    assert!(unread.value.paint.is_empty() && unread.notes.iter().any(|n| n.contains("are not read")));
    std::fs::write(&beside, r#"{"vertices": 4, "max_distance_m": [0, 1, 1, 1]}"#).unwrap();
    assert_eq!(read().unwrap().value.paint.max_distance_m.len(), 4);
    std::fs::write(&beside, says).unwrap();
    std::fs::write(&mesh, painted_patch(None)).unwrap();
    let fault = read().unwrap_err().to_string();
    assert!(fault.contains("COLOR_0") && fault.contains("patch.gltf"), "{fault}");
    std::fs::remove_dir_all(&folder).unwrap();
}
