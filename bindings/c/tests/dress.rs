//! Every tier from C: a character is dressed, handed from tier to tier, and bad input refused.
#![allow(unsafe_code)] // calling through the border is what is tested

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use toile_assets::builtin;
use toile_c::*;

fn message() -> String {
    // SAFETY: the library's own string.
    unsafe { CStr::from_ptr(toile_last_error()) }.to_string_lossy().into_owned()
}

#[test]
fn a_skirt_goes_through_the_tiers_it_has_and_is_refused_the_others() {
    let body = builtin::body("mannequin:female").unwrap();
    let walk = builtin::motion("walk:1.1", &body.skeleton).unwrap().resampled(30.0);
    let bones = |f: usize| -> Vec<f32> {
        let bones = body.bones(&walk.poses[f % walk.poses.len()]);
        bones.iter().flat_map(|b| b.to_cols_array()).collect()
    };
    let (mut ladder, mut vertices) = (null_mut(), 0u32);
    // SAFETY: every pointer is good for what the header asks, or null, which must be noticed.
    unsafe {
        let dress = |body: &CStr, garment: &CStr, ladder: *mut *mut Ladder, vertices: *mut u32| {
            toile_ladder_dress(body.as_ptr(), garment.as_ptr(), null(), null(), vertices, ladder)
        };
        assert_eq!(dress(c"mannequin:female", c"no-such-garment", &mut ladder, &mut vertices), Status::Model);
        assert!(message().contains("no-such-garment"), "{}", message());
        assert_eq!(dress(c"nobody.glb", c"skirt:300", &mut ladder, &mut vertices), Status::Model);
        assert_eq!(toile_ladder_dress(null(), null(), null(), null(), null_mut(), &mut ladder), Status::Null);
        assert!(ladder.is_null());
        assert_eq!(dress(c"mannequin:female", c"skirt:300", &mut ladder, &mut vertices), Status::Ok);
        assert!(vertices >= 250, "{vertices}");
        assert_eq!(toile_ladder_hand_over(ladder, TierKind::Stable as u32, 0.2), Status::Range);
        assert!(message().contains("model or database"), "{}", message());
        assert_eq!(toile_ladder_hand_over(ladder, 5, 0.2), Status::Range);
        let joints = body.skeleton.len();
        let mut before: Vec<f32> = Vec::new();
        let mut out = vec![0.0f32; 3 * vertices as usize];
        for f in 0..45 {
            let to = match f {
                10 => Some(TierKind::Layered),
                22 => Some(TierKind::Full),
                36 => Some(TierKind::Skin),
                _ => None,
            };
            if let Some(to) = to {
                assert_eq!(toile_ladder_hand_over(ladder, to as u32, 0.2), Status::Ok, "{}", message());
            }
            let pose = bones(f);
            assert_eq!(toile_ladder_step(ladder, pose.as_ptr(), joints, 12, 1.0 / 30.0), Status::Ok);
            assert_eq!(toile_ladder_vertices(ladder, out.as_mut_ptr(), vertices as usize, 12), Status::Ok);
            let moved = |(a, b): (&f32, &f32)| (a - b).abs();
            let far = before.iter().zip(&out).map(moved).fold(0.0, f32::max);
            assert!(far < 0.15, "frame {f}: a vertex jumps by {far} m");
            before.clone_from(&out);
        }
        let mut tier = 9;
        assert_eq!(toile_ladder_tier(ladder, &mut tier, null_mut()), Status::Ok);
        assert_eq!(tier, TierKind::Skin as u32);
        toile_ladder_free(ladder);
    }
}

/// A database of a garment with a few smooth directions.
fn database(garment: &str, path: &std::path::Path) {
    use toile_model::adaptive::{Database, Site};
    let body = builtin::body("mannequin:female").unwrap();
    let garment = builtin::garment(garment, &body).unwrap();
    let attachment = toile_assets::attach(&body, &garment.sim, &Default::default()).unwrap();
    let n = attachment.rest.len();
    let wave = |k: usize, at: usize| {
        let p = attachment.rest[at / 3];
        let phase = 6.0 * [p.x, p.y, p.z, p.x + p.y][k];
        if at % 3 == k % 3 { phase.sin() } else { 0.2 * phase.cos() }
    };
    let entries = 12 * body.skeleton.len();
    let database = Database {
        name: body.name.clone(),
        fps: 30.0,
        joints: body.skeleton.len(),
        triangles: garment.sim.triangles.clone(),
        hips: body.hip_line(),
        bones_mean: vec![0.0; entries],
        pose_from_bones: vec![0.0; entries],
        sites: vec![Site { place: vec![0.0], first: 0, significance: vec![1.0; 4], frames: 8 }],
        vectors: (0..4).flat_map(|k| (0..3 * n).map(move |at| (k, at))).map(|(k, at)| wave(k, at)).collect(),
        cubature: None,
        reach: vec![0.05; n],
        hangs: vec![],
        half: true,
        notes: vec![],
        attachment,
    };
    database.write(path).unwrap();
}

#[test]
fn a_database_adds_the_tier_adaptive_and_one_of_another_garment_is_refused() {
    let folder = std::env::temp_dir().join(format!("toile-c-adaptive-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [own, other] = ["skirt:300", "skirt:400"].map(|garment| {
        let path = folder.join(garment.replace(':', "-") + ".toile");
        database(garment, &path);
        std::ffi::CString::new(path.to_str().unwrap()).unwrap()
    });
    let body = builtin::body("mannequin:female").unwrap();
    let walk = builtin::motion("walk:1.1", &body.skeleton).unwrap().resampled(30.0);
    let (mut ladder, mut vertices) = (null_mut(), 0u32);
    // SAFETY: every pointer is good for what the header asks.
    unsafe {
        let mut dress = |database: &CStr, ladder: *mut *mut Ladder| {
            let (body, garment) = (c"mannequin:female".as_ptr(), c"skirt:300".as_ptr());
            toile_ladder_dress(body, garment, null(), database.as_ptr(), &mut vertices, ladder)
        };
        assert_eq!(dress(&other, &mut ladder), Status::Count);
        assert!(message().contains("vertices"), "{}", message());
        assert_eq!(dress(c"nowhere.toile", &mut ladder), Status::Model);
        assert_eq!(dress(&own, &mut ladder), Status::Ok, "{}", message());
        assert_eq!(
            toile_ladder_hand_over(ladder, TierKind::Adaptive as u32, 0.1),
            Status::Ok,
            "{}",
            message()
        );
        let mut out = vec![0.0f32; 3 * vertices as usize];
        let mut before = out.clone();
        for f in 0..30 {
            let bones = body.bones(&walk.poses[f]);
            let pose: Vec<f32> = bones.iter().flat_map(|b| b.to_cols_array()).collect();
            let joints = body.skeleton.len();
            assert_eq!(toile_ladder_step(ladder, pose.as_ptr(), joints, 12, 1.0 / 30.0), Status::Ok);
            before.clone_from(&out);
            assert_eq!(toile_ladder_vertices(ladder, out.as_mut_ptr(), vertices as usize, 12), Status::Ok);
            let hips = bones[0].transform_point3(body.hip_line().bind[0]);
            let far =
                out.chunks_exact(3).map(|p| glam::Vec3::from_slice(p).distance(hips)).fold(0.0, f32::max);
            assert!(far < 1.5, "frame {f}: {far} m from the hips");
        }
        assert_ne!(before, out, "it moves");
        let mut tier = 9;
        assert_eq!(toile_ladder_tier(ladder, &mut tier, null_mut()), Status::Ok);
        assert_eq!(tier, TierKind::Adaptive as u32);
        toile_ladder_free(ladder);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
