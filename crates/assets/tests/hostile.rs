//! Damaged files of every format: an error that names the file, never a panic, never much memory.

use glam::{Affine3A, DVec3, Vec3};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use toile_assets::read::garment::{RestChoice, read_garment};
use toile_assets::read::{bvh, gltf, obj};
use toile_assets::{
    Attachment, Body, Certificate, Fabric, FrameReport, HipLine, InputSet, Joint, Mesh, Model, ModelKind,
    Motion, RootFrame, Skeleton, Skin, Take, Transform, write,
};
use toile_geometry::Random;

/// A format: a sound file of it and what reads it. The reader's result only has to be an error or a value.
struct Format {
    ending: &'static str,
    sound: Vec<u8>,
    read: fn(&Path) -> Result<(), toile_assets::Error>,
}

/// A folder of its own for each call: tests run side by side.
fn folder(name: &str) -> PathBuf {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("toile-hostile-{name}-{}-{call}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn small_body() -> (Body, Motion) {
    let joint =
        |name: &str, parent, at| Joint { name: name.into(), parent, rest: Transform::from_translation(at) };
    let skeleton = Skeleton::new(vec![
        joint("Hips", None, Vec3::Y),
        joint("Spine", Some(0), Vec3::Y * 0.3),
        joint("Head", Some(1), Vec3::Y * 0.4),
    ])
    .unwrap();
    let positions: Vec<Vec3> = (0..12)
        .map(|i| Vec3::new((i % 3) as f32 * 0.2, 0.5 + (i / 3) as f32 * 0.4, (i % 2) as f32 * 0.1))
        .collect();
    let triangles = (0..10).map(|i| [i, i + 1, i + 2]).collect();
    let rows: Vec<[(u16, f32); 2]> =
        (0..12).map(|i| [((i % 3) as u16, 0.7), (((i + 1) % 3) as u16, 0.3)]).collect();
    let mesh = Mesh { positions, triangles, uvs: vec![] };
    let body = Body::bound_at_rest("small", skeleton.clone(), mesh, Skin::from_rows(rows).unwrap()).unwrap();
    let mut poses = vec![skeleton.rest_pose(); 6];
    for (f, pose) in poses.iter_mut().enumerate() {
        pose.locals[0].translation.z = f as f32 * 0.1;
        pose.locals[1].rotation = glam::Quat::from_rotation_x(f as f32 * 0.2);
    }
    let motion = Motion::new("nod", 30.0, skeleton, poses).unwrap();
    (body, motion)
}

fn small_take() -> Take {
    Take {
        clip: "nod".into(),
        fps: 30.0,
        triangles: vec![[0, 1, 2]],
        positions: vec![Vec3::ONE; 6],
        vertices: 3,
        bones: vec![Affine3A::IDENTITY; 4],
        joints: 2,
        roots: vec![RootFrame { position: DVec3::ZERO, heading: 0.0 }; 2],
        reports: vec![FrameReport::default(); 2],
        draped: vec![],
        stop_frame: None,
        verdict: None,
        provenance: None,
        notes: vec![],
    }
}

fn small_model() -> Model {
    Model {
        name: "small".into(),
        kind: ModelKind::B,
        order: 1,
        fps: 30.0,
        vertices: 3,
        triangles: vec![[0, 1, 2]],
        cloth_dims: 1,
        body_dims: 1,
        joints: 1,
        cloth_mean: vec![Vec3::ZERO; 3],
        cloth_basis: vec![1.0 / 3.0; 9],
        bones_mean: vec![0.0; 12],
        body_from_bones: vec![0.1; 12],
        a: vec![0.5],
        b: vec![vec![0.5]],
        c: vec![],
        bias: vec![0.0],
        a0: vec![1.0],
        bias0: vec![0.0],
        hips: Some(HipLine { joints: [0, 0, 0], bind: [Vec3::ZERO, Vec3::X, Vec3::NEG_X] }),
        inputs: InputSet {
            body_min: vec![-1.0],
            body_max: vec![1.0],
            body_rate: vec![0.5],
            body_std: vec![0.4],
            body_reach: 2.0,
            max_horizontal_m: 0.1,
            max_vertical_m: 0.1,
            max_turn: 0.1,
        },
        certificate: Certificate {
            rho: 0.5,
            gamma: 0.75,
            p: vec![1.0],
            transient_gain: 1.0,
            travel_bound_m: vec![2.0; 3],
            travel_bound_rate_m: vec![1.5; 3],
            training_travel_m: vec![0.5; 3],
        },
        correction: None,
        shield: None,
        attachment: Some(Attachment {
            skin: Skin::from_rows([[(0, 1.0)]; 3]).unwrap(),
            rest: vec![Vec3::ZERO; 3],
        }),
        hidden_triangles: vec![0, 2],
        notes: vec![],
    }
}

fn formats() -> Vec<Format> {
    let dir = folder("sound");
    let (body, motion) = small_body();
    let at = |name: &str| dir.join(name);
    write::glb::write_body(at("a.glb"), &body, std::slice::from_ref(&motion)).unwrap();
    write::bvh::write_motion(at("a.bvh"), &motion, 100.0).unwrap();
    write::obj::write_mesh(at("a.obj"), &body.mesh).unwrap();
    small_take().write(at("a.take")).unwrap();
    small_model().write(at("a.toile")).unwrap();
    let read = |name: &str| std::fs::read(at(name)).unwrap();
    let all = vec![
        Format {
            ending: "glb",
            sound: read("a.glb"),
            read: |p| {
                gltf::contents(p)?;
                gltf::read_body(p, None)?;
                gltf::read_mesh(p, None)?;
                gltf::read_motions(p, None, 30.0).map(|_| ())
            },
        },
        Format { ending: "bvh", sound: read("a.bvh"), read: |p| bvh::read_motion(p, None).map(|_| ()) },
        Format {
            ending: "obj",
            sound: read("a.obj"),
            read: |p| {
                obj::read_mesh(p)?;
                read_garment(p, RestChoice::Auto, None).map(|_| ())
            },
        },
        Format { ending: "take", sound: read("a.take"), read: |p| Take::read(p).map(|_| ()) },
        Format { ending: "toile", sound: read("a.toile"), read: |p| Ok(Model::read(p).map(|_| ())?) },
        Format {
            ending: "toml",
            sound: include_bytes!("../fabrics/cotton.toml").to_vec(),
            read: |p| Fabric::read(p).map(|_| ()),
        },
    ];
    std::fs::remove_dir_all(&dir).unwrap();
    for format in &all {
        assert!(!format.sound.is_empty());
    }
    all
}

/// Reads bytes as a file; an error must name it.
fn feed(dir: &Path, format: &Format, bytes: &[u8], what: &str) -> bool {
    let path = dir.join(format!("case.{}", format.ending));
    std::fs::write(&path, bytes).unwrap();
    match (format.read)(&path) {
        Ok(()) => true,
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("case."), "{what}: the error does not name the file: {text}");
            false
        }
    }
}

fn most_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn flips(cases: usize, seed: u64) {
    let dir = folder(&format!("flips-{cases}"));
    let formats = formats();
    let mut random = Random::new(seed);
    println!("seed {seed}");
    for case in 0..cases {
        let format = &formats[case % formats.len()];
        let mut bytes = format.sound.clone();
        for _ in 0..1 + random.below(8) {
            let at = random.below(bytes.len());
            bytes[at] = match random.below(4) {
                0 => bytes[at] ^ (1 << random.below(8)),
                1 => random.below(256) as u8,
                2 => 0xff,
                _ => b"0-9e{}[],\n\""[random.below(11)],
            };
        }
        feed(&dir, format, &bytes, &format!("seed {seed}, case {case} ({})", format.ending));
    }
    std::fs::remove_dir_all(&dir).unwrap();
    if let Some(mib) = most_memory_mib() {
        assert!(mib < 1024, "{mib} MiB");
    }
}

#[test]
fn sound_files_are_read() {
    let dir = folder("read");
    for format in formats() {
        assert!(feed(&dir, &format, &format.sound, "sound"), "{}", format.ending);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn every_file_cut_at_every_64th_of_its_length_is_an_error_or_less() {
    let dir = folder("cut");
    for format in formats() {
        for k in 0..64 {
            let bytes = &format.sound[..format.sound.len() * k / 64];
            let read = feed(&dir, &format, bytes, &format!("{} cut at {k}/64", format.ending));
            let text = ["obj", "bvh", "toml"].contains(&format.ending);
            assert!(!read || text, "{} cut at {k}/64 was read as if it were whole", format.ending);
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn flipped_bytes_are_survived() {
    flips(1_000, 0x7011e);
}

#[test]
#[ignore = "long: run by cargo xtask soak"]
fn flipped_bytes_are_survived_at_length() {
    flips(10_000, 0x50a4);
}

#[test]
fn a_model_whose_certificate_does_not_hold_is_refused() {
    let dir = folder("certificate");
    let path = dir.join("case.toile");
    let mut model = small_model();
    model.b = vec![vec![0.8]];
    model.write(&path).unwrap();
    let fault = Model::read(&path).unwrap_err().to_string();
    assert!(fault.contains("certificate"), "{fault}");
    let mut model = small_model();
    model.certificate.travel_bound_m[1] = f32::INFINITY;
    model.write(&path).unwrap();
    assert!(Model::read(&path).is_err());
    std::fs::remove_dir_all(&dir).unwrap();
}
