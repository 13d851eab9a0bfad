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
