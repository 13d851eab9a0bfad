//! Nothing that comes through the C door does harm: null pointers, wrong counts, wrong sizes, damaged files.
#![allow(unsafe_code)] // calling through the border is what is tested

#[path = "../../../crates/run/tests/synthetic/mod.rs"]
mod synthetic;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};
use synthetic::{SMALL, model};
use toile_c::*;

fn message() -> String {
    // SAFETY: the library's own string.
    unsafe { CStr::from_ptr(toile_last_error()) }.to_string_lossy().into_owned()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-c-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn null_and_nonsense_are_refused_with_a_message() {
    let folder = folder("border");
    let path = folder.join("noise.toile");
    model(SMALL, 1).write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut made = null_mut();
    // SAFETY: every pointer is good for what the header asks, or null, which must be noticed.
    unsafe {
        assert_eq!(toile_model_from_file(null(), &mut made), Status::Null);
        assert_eq!(toile_model_from_file(c"/no/such/file".as_ptr(), &mut made), Status::Model);
        assert!(message().contains("/no/such/file"), "{}", message());
        for length in [0, 7, 100, bytes.len() - 1] {
            assert_eq!(toile_model_from_memory(bytes.as_ptr(), length, &mut made), Status::Model, "{length}");
        }
        assert!(made.is_null());
        assert_eq!(toile_model_from_memory(bytes.as_ptr(), bytes.len(), &mut made), Status::Ok);
        let named = CString::new(path.to_str().unwrap()).unwrap();
        let mut again = null_mut();
        assert_eq!(toile_model_from_file(named.as_ptr(), &mut again), Status::Ok);
        toile_model_free(again);
        toile_model_free(null_mut());

        let mut info = ModelInfo { size: 4, ..ModelInfo::default() };
        assert_eq!(toile_model_info(made, &mut info), Status::Version);
        info.size = size_of::<ModelInfo>() as u32;
        assert_eq!(toile_model_info(made, &mut info), Status::Ok);
        assert_eq!((info.vertices, info.joints, info.cloth_dims, info.fps), (53, 5, 21, 30.0));
        let mut triangles = vec![0; 3 * info.triangles as usize];
        assert_eq!(toile_model_triangles(made, triangles.as_mut_ptr(), 3), Status::Buffer);
        assert_eq!(toile_model_triangles(made, triangles.as_mut_ptr(), triangles.len()), Status::Ok);
        assert!(triangles.contains(&52));

        let mut crowd = null_mut();
        assert_eq!(
            toile_crowd_new(&CrowdSettings { size: 1, threads: 1, normals: 0 }, &mut crowd),
            Status::Version
        );
        assert_eq!(toile_crowd_new(null(), &mut crowd), Status::Ok);
        let mut id = 0;
        assert_eq!(toile_crowd_add_model(crowd, null(), 2, &mut id), Status::Null);
        assert_eq!(toile_crowd_add_model(null_mut(), made, 2, &mut id), Status::Null);
        assert_eq!(toile_crowd_add_model(crowd, made, u32::MAX, &mut id), Status::Range);
        assert_eq!(toile_crowd_add_model(crowd, made, 2, &mut id), Status::Ok);
        let mut garment = Instance::default();
        assert_eq!(toile_crowd_add(crowd, 77, &mut garment), Status::Gone);
        assert_eq!(toile_crowd_add(crowd, id, &mut garment), Status::Ok);

        let bones = [[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]; 5];
        let flat = bones.as_flattened().as_ptr();
        let actor = Actor { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };
        let pose = |g, a: *const Actor, b, joints, floats| {
            toile_crowd_set_pose(crowd, g, a, b, joints, floats, null())
        };
        assert_eq!(pose(garment, &actor, flat, 5, 12), Status::Ok);
        // A count that would overflow any address must not be multiplied, let alone read.
        assert_eq!(pose(garment, &actor, flat, usize::MAX, 12), Status::Count);
        assert_eq!(pose(garment, &actor, flat, 5, 13), Status::Range);
        assert_eq!(pose(garment, &actor, null(), 5, 12), Status::Null);
        assert_eq!(pose(Instance { bits: [9, 9, 9] }, &actor, flat, 5, 12), Status::Gone);
        let astray = Actor { position: [f64::NAN; 3], ..actor };
        assert_eq!(pose(garment, &astray, flat, 5, 12), Status::NotFinite);
        let mut report = CrowdReport { size: 3, ..CrowdReport::default() };
        assert_eq!(toile_crowd_step(crowd, 0.01, &mut report), Status::Version);
        for dt in [0.0, -1.0, 1e9, f64::NAN] {
            assert_eq!(toile_crowd_step(crowd, dt, null_mut()), Status::TimeStep);
        }
        assert_eq!(toile_crowd_step(crowd, 0.01, null_mut()), Status::Ok);
        assert_eq!(toile_crowd_draw(crowd), Status::Ok);
        let mut out = [0.0f32; 53 * 3];
        assert_eq!(toile_crowd_vertices(crowd, garment, out.as_mut_ptr(), 53, 11), Status::Buffer);
        assert_eq!(toile_crowd_vertices(crowd, garment, null_mut(), 53, 12), Status::Null);
        assert_eq!(toile_crowd_vertices(crowd, garment, out.as_mut_ptr(), 53, 12), Status::Ok);
        assert!(out.iter().any(|v| *v != 0.0));
        assert_eq!(toile_crowd_normals(crowd, garment, out.as_mut_ptr(), 53, 12), Status::Range);
        assert_eq!(toile_crowd_coefficients(crowd, garment, out.as_mut_ptr(), 20, 4), Status::Buffer);
        assert_eq!(toile_crowd_set_tolerance_mm(crowd, garment, -1.0), Status::Range);
        toile_model_free(made);
        toile_crowd_free(crowd);
        toile_crowd_free(null_mut());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_garment_goes_from_skinned_to_learned_without_a_jump() {
    let folder = folder("ladder");
    let [plain, corrected] = ["plain.toile", "corrected.toile"].map(|name| folder.join(name));
    model(SMALL, 1).write(&plain).unwrap();
    synthetic::corrected(SMALL, 1).write(&corrected).unwrap();
    let load = |path: &PathBuf| {
        let (named, mut made) = (CString::new(path.to_str().unwrap()).unwrap(), null_mut());
        // SAFETY: a string and room for a pointer.
        assert_eq!(unsafe { toile_model_from_file(named.as_ptr(), &mut made) }, Status::Ok, "{}", message());
        made
    };
    let (plain, corrected) = (load(&plain), load(&corrected));
    let bones = [[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]; 5];
    let flat = bones.as_flattened().as_ptr();
    // SAFETY: every pointer is good for what the header asks, or null, which must be noticed.
    unsafe {
        let mut ladder = null_mut();
        assert_eq!(toile_ladder_new(null(), &mut ladder), Status::Null);
        assert_eq!(toile_ladder_new(plain, &mut ladder), Status::Model);
        assert!(message().contains("kind d"), "{}", message());
        assert_eq!(toile_ladder_new(corrected, &mut ladder), Status::Ok);
        assert_eq!(toile_ladder_step(ladder, flat, 4, 12, 0.02), Status::Count);
        assert_eq!(toile_ladder_step(ladder, flat, 5, 12, -1.0), Status::TimeStep);
        assert_eq!(toile_ladder_hand_over(ladder, 1, f32::NAN), Status::Range);
        assert_eq!(toile_ladder_hand_over(ladder, 7, 0.5), Status::Range);
        let mut before = [0.0f32; 53 * 3];
        let (mut farthest, mut tier, mut left) = (0.0f32, 9, 9.0);
        for f in 0..240 {
            assert_eq!(toile_ladder_step(ladder, flat, 5, 12, 1.0 / 60.0), Status::Ok);
            let mut out = [0.0f32; 53 * 3];
            assert_eq!(toile_ladder_vertices(ladder, out.as_mut_ptr(), 53, 12), Status::Ok);
            if f > 0 {
                let moved = out.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                farthest = farthest.max(moved);
            }
            before = out;
            if f == 10 {
                assert_eq!(toile_ladder_hand_over(ladder, 1, 0.5), Status::Ok);
            }
        }
        assert_eq!(toile_ladder_tier(ladder, &mut tier, &mut left), Status::Ok);
        assert_eq!((tier, left), (1, 0.0));
        assert!(farthest > 0.0 && farthest < 0.01, "{farthest} m in 1/60 s");
        toile_ladder_free(ladder);
        toile_ladder_free(null_mut());
        toile_model_free(plain);
        toile_model_free(corrected);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_model_without_a_certificate_does_not_load() {
    let folder = folder("uncertified");
    let path = folder.join("noise.toile");
    let mut bad = model(SMALL, 1);
    bad.b[0].iter_mut().for_each(|b| *b *= 4.0);
    bad.write(&path).unwrap();
    let named = CString::new(path.to_str().unwrap()).unwrap();
    let mut made = null_mut();
    // SAFETY: a string and room for a pointer.
    let status = unsafe { toile_model_from_file(named.as_ptr(), &mut made) };
    assert_eq!(status, Status::Uncertified, "{}", message());
    assert!(made.is_null() && message().contains("certificate"));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The library as cargo has just built it beside this test.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let here = [deps.clone(), deps.parent().unwrap().to_path_buf()];
    let newest = here
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap().filter_map(|e| Some(e.ok()?.path())))
        .filter(|p| {
            let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            name.starts_with("libtoile_c") && name.ends_with(".a")
        })
        .max_by_key(|p| std::fs::metadata(p).and_then(|m| m.modified()).ok());
    newest.expect("cargo builds the static library with the tests")
}

#[test]
fn the_c_program_compiles_and_runs() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let folder = folder("program");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (program, data) = (folder.join("crowd"), folder.join("noise.toile"));
    model(SMALL, 1).write(&data).unwrap();
    let compiled = Command::new("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples/crowd.c"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("gcc is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).arg(&data).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("53 vertices, 21 weights"), "{said}");
    let cpp = Command::new("gcc")
        .args(["-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"])
        .arg(root.join("include/toile.h"))
        .output()
        .expect("gcc is installed");
    let cpp_error = String::from_utf8_lossy(&cpp.stderr);
    assert!(cpp.status.success() || cpp_error.contains("cc1plus"), "the header as C++: {cpp_error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_scheduler_keeps_its_budget_and_refuses_nonsense() {
    let rung = |tier, cost_us, quality| Rung { tier, cost_us, quality, ..Rung::default() };
    let rungs = [rung(0, 1.0, 0.2), rung(1, 100.0, 1.0), rung(0, 2.0, 0.3)];
    let mut scheduler = null_mut();
    // SAFETY: every pointer is good for what the header asks, or null, which must be noticed.
    unsafe {
        let counts = [2u32, 1];
        assert_eq!(toile_scheduler_new(1e3, null(), counts.as_ptr(), 2, &mut scheduler), Status::Null);
        assert_eq!(
            toile_scheduler_new(1e3, rungs.as_ptr(), [0u32].as_ptr(), 1, &mut scheduler),
            Status::Range
        );
        assert_eq!(
            toile_scheduler_new(f32::NAN, rungs.as_ptr(), counts.as_ptr(), 2, &mut scheduler),
            Status::Range
        );
        assert_eq!(toile_scheduler_new(1e3, rungs.as_ptr(), counts.as_ptr(), 2, &mut scheduler), Status::Ok);
        let mut wishes = [Wish { priority: 0.1, trust: 1.0, ..Wish::default() }; 40];
        wishes[7].priority = 2.0;
        wishes[8].kind = 1;
        let (mut planned, mut lacks) = ([9u32; 40], -1.0f32);
        let mut plan = |wishes: &[Wish; 40]| {
            toile_scheduler_plan(scheduler, wishes.as_ptr(), 40, 0.1, planned.as_mut_ptr(), &mut lacks)
        };
        (0..20).for_each(|_| assert_eq!(plan(&wishes), Status::Ok));
        let mut strange = wishes;
        strange[3].kind = 2;
        assert_eq!(plan(&strange), Status::Count);
        strange[3] = Wish { priority: f32::NAN, ..wishes[3] };
        assert_eq!(plan(&strange), Status::NotFinite);
        assert!(lacks == 0.0 && planned[7] == 1 && planned[8] == 0, "{planned:?}");
        let cost: f32 = planned.iter().map(|r| if *r == 1 { 100.0 } else { 1.0 }).sum();
        assert!(cost <= 1000.0 && planned.iter().sum::<u32>() >= 4, "{planned:?}");
        assert_eq!(toile_scheduler_measured(scheduler, 900.0), Status::Ok);
        assert_eq!(toile_scheduler_measured(scheduler, -1.0), Status::Range);
        assert_eq!(toile_scheduler_refused(scheduler, 7, 0), Status::Ok);
        toile_scheduler_free(scheduler);
        toile_scheduler_free(null_mut());
    }
}
