//! What is written is read back the same, and other people's checker finds nothing wrong with it.

mod gltf_figure;

use glam::{DVec3, Quat, Vec3};
use gltf_figure::{Scratch, distance, tube, wave};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use toile_assets::read::gltf;
use toile_assets::write::glb;
use toile_assets::{Body, Joint, Mesh, Motion, RootFrame, Skeleton, Skin, Transform, attach};

#[test]
fn bodies_come_back_with_all_influences_and_motions() {
    let scratch = Scratch::new("bodies");
    for influences in [1, 4, 5, 7] {
        let body = tube(influences);
        let motions = [wave(&body, 40, 30.0), Motion { name: "other".into(), ..wave(&body, 7, 24.0) }];
        let path = scratch.file("tube.glb");
        glb::write_body(&path, &body, &motions).unwrap();
        let again = gltf::read_body(&path, None).unwrap();
        assert!(
            again.problems.is_empty() && again.notes.is_empty(),
            "{:?} {:?}",
            again.problems,
            again.notes
        );
        let again = again.value;
        assert_eq!(again.mesh, body.mesh);
        assert_eq!(again.skin.max_influences(), influences);
        for v in 0..body.skin.len() {
            let mut rows: [Vec<(u16, f32)>; 2] = [body.skin.row(v).collect(), again.skin.row(v).collect()];
            rows.iter_mut().for_each(|r| r.sort_by_key(|e| e.0));
            for (a, b) in rows[0].iter().zip(&rows[1]) {
                assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-6, "vertex {v}: {a:?} {b:?}");
            }
        }
        let clips = gltf::read_motions(&path, None, 30.0).unwrap().value;
        assert_eq!(clips.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["wave", "other"]);
        assert_eq!(clips[0].len(), 40);
        assert!((clips[1].duration_secs() - motions[1].duration_secs()).abs() < 1.0 / 30.0);
        for f in 0..40 {
            let d = distance(&body, &motions[0].poses[f], &again, &clips[0].poses[f]);
            assert!(d < 1e-5, "frame {f}: {d} m");
        }
    }
}

#[test]
fn a_skeleton_with_two_roots_and_many_joints_comes_back() {
    let count = 300;
    let joints = (0..count)
        .map(|j| Joint {
            name: format!("joint {j}"),
            parent: if j < 2 { None } else { Some(j / 2) },
            rest: Transform::from_translation(Vec3::new(0.01 * j as f32, 0.1, 0.0)),
        })
        .collect();
    let skeleton = Skeleton::new(joints).unwrap();
    let positions: Vec<Vec3> =
        (0..count).map(|j| Vec3::new((j % 7) as f32, (j % 5) as f32, j as f32 / 100.0)).collect();
    let triangles = (0..count as u32 - 2).map(|i| [i, i + 1, i + 2]).collect();
    let mesh = Mesh { positions, triangles, uvs: vec![] };
    let skin = Skin::from_rows((0..count as u16).map(|j| vec![(j, 1.0)])).unwrap();
    let body = Body::bound_at_rest("many", skeleton, mesh, skin).unwrap();
    let scratch = Scratch::new("many");
    let path = scratch.file("many.glb");
    glb::write_body(&path, &body, &[]).unwrap();
    let options =
        gltf::Options::default().with(|s| s.conversion = Some(toile_assets::axes::Conversion::NONE));
    let again = gltf::read_body_with(&path, &options).unwrap().value;
    assert_eq!(again.skeleton.len(), count);
    let mut pose = body.skeleton.rest_pose();
    pose.locals[1].rotation = Quat::from_rotation_z(1.0);
    pose.locals[40].rotation = Quat::from_rotation_x(1.0);
    assert!(distance(&body, &pose, &again, &pose) < 1e-4);
}

#[test]
fn cloth_frames_come_back_as_targets() {
    let scratch = Scratch::new("morphs");
    let body = tube(2);
    let motion = wave(&body, 12, 30.0);
    let frames: Vec<Vec<Vec3>> =
        motion.poses.iter().map(|p| body.skinned_positions(&body.bones(p))).collect();
    let path = scratch.file("cloth.glb");
    glb::write_cloth_morphs(&path, &body.mesh, &frames, 30.0).unwrap();
    let listed = gltf::contents(&path).unwrap();
    assert_eq!(listed.meshes[0].primitives[0].morph_targets, 11);
    assert!((listed.animations[0].duration_secs - 11.0 / 30.0).abs() < 1e-6);
    let mesh = gltf::read_mesh(&path, None).unwrap();
    assert_eq!(mesh.value.positions, frames[0]);
    assert_eq!(mesh.problems.len(), 1, "morph targets are to be mentioned");
}

#[test]
fn what_cannot_be_written_is_refused_in_words() {
    let scratch = Scratch::new("refused");
    let path = scratch.file("no.glb");
    let body = tube(3);
    let mut broken = body.clone();
    broken.mesh.positions[17].y = f32::NAN;
    let said = glb::write_body(&path, &broken, &[]).unwrap_err().to_string();
    assert!(said.contains("vertex 17"), "{said}");
    let mut motion = wave(&body, 5, 30.0);
    motion.poses[3].locals[2].translation.x = f32::INFINITY;
    let said = glb::write_body(&path, &body, &[motion]).unwrap_err().to_string();
    assert!(said.contains("frame 3"), "{said}");
    let other = Motion::new("o", 30.0, Skeleton::default(), vec![Default::default()]).unwrap();
    assert!(glb::write_body(&path, &body, &[other]).unwrap_err().to_string().contains("retarget"));
    let short = vec![body.mesh.positions.clone(), vec![Vec3::ZERO; 3]];
    assert!(glb::write_cloth_morphs(&path, &body.mesh, &short, 30.0).is_err());
    assert!(glb::write_cloth_morphs(&path, &body.mesh, &[], 30.0).is_err());
    assert!(!path.exists());
}

/// Writes one of everything; returns the files.
fn one_of_everything(scratch: &Scratch) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut next = |name: &str| {
        files.push(scratch.file(name));
        files[files.len() - 1].clone()
    };
    let body = tube(7);
    let motion = wave(&body, 20, 30.0);
    glb::write_body(next("body.glb"), &body, std::slice::from_ref(&motion)).unwrap();
    let mut dress = body.mesh.clone();
    let normals = dress.normals();
    dress.positions.iter_mut().zip(&normals).for_each(|(p, n)| *p += *n * 0.02);
    let attached = attach(&body, &dress, &Default::default()).unwrap();
    let frames: Vec<Vec<Vec3>> = motion.poses.iter().map(|p| attached.posed(&body.bones(p))).collect();
    let pieces = [
        glb::Piece::with_bones("dress", &dress, &attached).coloured([0.7, 0.1, 0.2]),
        glb::Piece::frames("cape", &dress, &frames, 30.0),
        glb::Piece::still("stand", &dress),
    ];
    let motions = [motion];
    let scene = glb::Scene { body: Some(&body), motions: &motions, pieces: &pieces };
    glb::write_scene(next("scene.glb"), &scene).unwrap();
    glb::write_cloth_morphs(next("cloth.glb"), &dress, &frames, 30.0).unwrap();
    glb::write_cloth_morphs(next("cloth_one.glb"), &dress, &frames[..1], 30.0).unwrap();
    let basis: Vec<Vec<Vec3>> = (0..5)
        .map(|k| normals.iter().enumerate().map(|(v, n)| *n * ((v * (k + 1)) as f32).sin() * 0.1).collect())
        .collect();
    let mut space = glb::MorphBasis {
        name: "dress",
        mesh: &dress,
        mean: &dress.positions,
        basis: &basis,
        wearer: None,
        motion: None,
        extras: serde_json::json!({"scale": [1, 2, 3, 4, 5]}),
    };
    glb::write_morph_basis(next("basis.glb"), &space).unwrap();
    let rows: Vec<Vec<f32>> = (0..9).map(|f| (0..5).map(|k| ((f * k) as f32).cos()).collect()).collect();
    let roots: Vec<RootFrame> = (0..9)
        .map(|f| RootFrame { position: DVec3::new(0.0, 1.0, 0.1 * f as f64), heading: f as f64 })
        .collect();
    space.motion = Some(glb::BasisMotion { weights: &rows, roots: &roots, fps: 24.0 });
    glb::write_morph_basis(next("basis_moving.glb"), &space).unwrap();
    let mut carried = space.clone();
    carried.wearer = Some(glb::Wearer { body: &body, skin: &attached.skin, motion: Some(&motions[0]) });
    glb::write_morph_basis(next("basis_carried.glb"), &carried).unwrap();
    space.motion = Some(glb::BasisMotion { weights: &rows, roots: &roots[1..], fps: 24.0 });
    assert!(glb::write_morph_basis(scratch.file("refused.glb"), &space).is_err());
    files
}

/// The folder with the validator, installed once for all tests.
fn validator() -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(install_validator).clone()
}

/// Installs the validator outside the sources; says why not where it cannot.
fn install_validator() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf-validator");
    if folder.join("node_modules/gltf-validator").exists() {
        return Some(folder);
    }
    std::fs::create_dir_all(&folder).ok()?;
    std::fs::write(folder.join("package.json"), "{\"private\": true}").ok()?;
    let npm = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=0",
            "--fetch-timeout=20000",
            "gltf-validator@2.0.0-dev.3.10",
        ])
        .current_dir(&folder)
        .output();
    match npm {
        Ok(out) if out.status.success() => Some(folder),
        Ok(out) => {
            eprintln!("SKIPPED: npm cannot install gltf-validator: {}", String::from_utf8_lossy(&out.stderr));
            None
        }
        Err(e) => {
            eprintln!("SKIPPED: npm cannot be run: {e}");
            None
        }
    }
}

#[test]
fn the_khronos_validator_finds_no_fault() {
    let Some(folder) = validator() else { return };
    let scratch = Scratch::new("validator");
    let files = one_of_everything(&scratch);
    validate(&folder, &files);
}

/// Fails with the validator's words if it finds an error or a warning.
fn validate(folder: &Path, files: &[PathBuf]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf_validate.mjs");
    let out = Command::new("node").arg(script).arg(folder).args(files).output();
    match out {
        Err(e) => eprintln!("SKIPPED: node cannot be run: {e}"),
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
            eprintln!("{said}");
        }
    }
}

/// Every binary glTF file under a folder.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_under(&path));
        } else if path.extension().is_some_and(|e| e == "glb" || e == "vrm") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Real characters and garments, in a folder that `TOILE_DATA` names.
#[test]
fn real_files_survive_the_round_trip() {
    let Some(folder) = std::env::var_os("TOILE_DATA") else {
        eprintln!("SKIPPED: TOILE_DATA names no folder with real files");
        return;
    };
    let files = files_under(Path::new(&folder));
    assert!(!files.is_empty(), "no .glb under {folder:?}");
    let scratch = Scratch::new("real");
    let mut written = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let first = gltf::read_body(path, None).unwrap();
        let clips = gltf::read_motions(path, None, 30.0).unwrap();
        let (body, motions) = (first.value, clips.value);
        let copy = scratch.file(&name);
        glb::write_body(&copy, &body, &motions).unwrap();
        let again = gltf::read_body(&copy, None).unwrap().value;
        let clips_again = gltf::read_motions(&copy, None, 30.0).unwrap().value;
        assert_eq!(again.mesh.triangles, body.mesh.triangles, "{name}");
        assert_eq!(clips_again.len(), motions.len(), "{name}");
        let size = { body.mesh.bounds().1 - body.mesh.bounds().0 }.max_element().max(1.0);
        let mut worst = distance(&body, &body.skeleton.rest_pose(), &again, &again.skeleton.rest_pose());
        for (a, b) in motions.iter().zip(&clips_again) {
            assert_eq!((&a.name, a.len()), (&b.name, b.len()), "{name}");
            for f in [0, a.len() / 3, a.len() - 1] {
                worst = worst.max(distance(&body, &a.poses[f], &again, &b.poses[f]));
            }
        }
        eprintln!(
            "{name}: {} vertices, {} joints, {} clips, worst {worst:.1e} m; {:?} {:?}",
            body.mesh.positions.len(),
            body.skeleton.len(),
            motions.len(),
            first.problems,
            first.notes
        );
        assert!(worst < 1e-5 * size, "{name}: {worst} m");
        written.push(copy);
    }
    if let Some(folder) = validator() {
        validate(&folder, &written);
    }
}
