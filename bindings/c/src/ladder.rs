//! One garment that goes from one tier to another while it is worn.

use crate::crowd::{read_bones, write_points};
use crate::model::Model;
use crate::status::{Failure, Status, border, null, run_error};
use glam::{Affine3A, Vec3};
use toile_run::{HandOverSettings, Skinned, Stable, Tier};

/// A garment with its tiers: of toile_ladder_new 0 follows the bones (skin) and 1 is learned (stable), of toile_ladder_dress
/// those of ToileTierKind. Used by one thread at a time.
pub struct Ladder {
    inner: toile_run::Ladder,
    joints: usize,
    /// Number of each tier in `inner`; none where it lacks what it needs.
    tiers: Vec<Option<usize>>,
    bones: Vec<Affine3A>,
    shown: Vec<Vec3>,
}

impl Ladder {
    pub(crate) fn new(
        inner: toile_run::Ladder,
        joints: usize,
        vertices: usize,
        tiers: &[Option<usize>],
    ) -> Self {
        let (bones, shown) = (Vec::with_capacity(joints), vec![Vec3::ZERO; vertices]);
        Self { inner, joints, tiers: tiers.to_vec(), bones, shown }
    }
}

/// # Safety
/// `ladder` is null or was returned by this library and has not been freed and nobody else uses it.
unsafe fn ladder_mut<'a>(ladder: *mut Ladder) -> Result<&'a mut Ladder, Failure> {
    // SAFETY: the caller's promise.
    unsafe { ladder.as_mut() }.ok_or_else(|| null("ladder"))
}

/// Makes the ladder of a model of kind d, which brings the skin that it follows bones with. It begins with tier 0. Free it
/// with toile_ladder_free.
///
/// # Safety
/// `model` was returned by this library and has not been freed; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_new(model: *const Model, out: *mut *mut Ladder) -> Status {
    border(|| {
        // SAFETY: the caller promises a model.
        let Some(model) = (unsafe { model.as_ref() }) else { return Err(null("model")) };
        if out.is_null() {
            return Err(null("out"));
        }
        let model = &model.inner;
        let Some(attachment) = &model.attachment else {
            let what = "the model has no skin to follow bones with; train one of kind d";
            return Err((Status::Model, what.to_string()));
        };
        let hips = model.hips.as_ref().map_or(0, |h| h.joints[0] as usize);
        let mut inner = toile_run::Ladder::new(HandOverSettings { hips, ..HandOverSettings::default() });
        inner.add("skin", Box::new(Skinned::new(attachment.clone()))).map_err(run_error)?;
        inner.add("stable", Box::new(Stable::new(model.clone()))).map_err(run_error)?;
        let ladder = Ladder::new(inner, model.joints, model.vertices, &[Some(0), Some(1)]);
        // SAFETY: the caller promises room for a pointer.
        unsafe { out.write(Box::into_raw(Box::new(ladder))) };
        Ok(())
    })
}

/// Frees a ladder. Null is allowed.
///
/// # Safety
/// `ladder` was returned by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_free(ladder: *mut Ladder) {
    if !ladder.is_null() {
        border(|| {
            // SAFETY: made by `Box::into_raw` here, and the caller promises not to free it twice.
            drop(unsafe { Box::from_raw(ladder) });
            Ok(())
        });
    }
}

/// Advances by `dt_secs` to a pose in the world, given as toile_crowd_set_pose takes it.
///
/// # Safety
/// `ladder` was returned by this library and has not been freed; `bones` points to `joints · floats_per_bone` floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_step(
    ladder: *mut Ladder,
    bones: *const f32,
    joints: usize,
    floats_per_bone: usize,
    dt_secs: f64,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let ladder = unsafe { ladder_mut(ladder) }?;
        // SAFETY: handed on.
        unsafe { read_bones(bones, joints, floats_per_bone, ladder.joints, &mut ladder.bones) }?;
        ladder.inner.step(&ladder.bones, dt_secs).map_err(run_error)?;
        ladder.inner.positions(&mut ladder.shown);
        Ok(())
    })
}

/// Lets another tier take over from where the garment is and as fast as it is, over `secs` seconds, or longer where the two
/// are far apart.
///
/// # Safety
/// `ladder` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_hand_over(ladder: *mut Ladder, tier: u32, secs: f32) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let ladder = unsafe { ladder_mut(ladder) }?;
        if !(0.0..=60.0).contains(&secs) {
            return Err((Status::Range, format!("a hand-over of {secs} s; it wants 0 to 60")));
        }
        let to = match ladder.tiers.get(tier as usize) {
            Some(Some(to)) => *to,
            Some(None) => {
                let what =
                    format!("tier {tier} was made without its model or database; give it when dressing");
                return Err((Status::Range, what));
            }
            None => {
                let what = format!("there is no tier {tier}: {} were added", ladder.tiers.len());
                return Err((Status::Range, what));
            }
        };
        ladder.inner.settings().secs = secs;
        ladder.inner.hand_over(to).map_err(run_error)
    })
}

/// Says which tier moves the garment and for how many seconds a hand-over still goes on; either may be null.
///
/// # Safety
/// `ladder` was returned by this library and has not been freed; `tier` and `left_secs` point to one number each or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_tier(
    ladder: *const Ladder,
    tier: *mut u32,
    left_secs: *mut f32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let Some(ladder) = (unsafe { ladder.as_ref() }) else { return Err(null("ladder")) };
        // SAFETY: the caller promises room for a number where there is a pointer.
        unsafe {
            if !tier.is_null() {
                let current = Some(ladder.inner.current());
                tier.write(ladder.tiers.iter().position(|t| *t == current).unwrap_or(0) as u32);
            }
            if !left_secs.is_null() {
                left_secs.write(ladder.inner.handing_over_secs());
            }
        }
        Ok(())
    })
}

/// Writes the garment's world-space vertices, as toile_crowd_vertices does.
///
/// # Safety
/// `ladder` was returned by this library and has not been freed; `out` points to `capacity` vertices of that stride.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_vertices(
    ladder: *const Ladder,
    out: *mut f32,
    capacity: usize,
    stride_bytes: usize,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let Some(ladder) = (unsafe { ladder.as_ref() }) else { return Err(null("ladder")) };
        // SAFETY: handed on.
        unsafe { write_points(&ladder.shown, out, capacity, stride_bytes) }
    })
}
