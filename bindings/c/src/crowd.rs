//! Crowds: poses in, vertices or coefficients out.

use crate::model::Model;
use crate::status::{Failure, Status, border, check_size, null, run_error};
use glam::{Affine3A, DVec3, Mat3A, Quat, Vec3, Vec3A};
use toile_run::{CrowdSettings as Settings, ModelId};
use toile_run::{RootFrame, Surroundings};

/// Many garments of one or several models. Used by one thread at a time.
pub struct Crowd {
    inner: toile_run::Crowd,
    /// Bones of the pose being set.
    bones: Vec<Affine3A>,
}

/// How a crowd works.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrowdSettings {
    /// Set to sizeof(ToileCrowdSettings).
    pub size: u32,
    /// Threads that work on a step, the caller's own included; 0 means 1.
    pub threads: u32,
    /// Whether drawing gives normals too: 1 or 0.
    pub normals: u32,
}

/// A handle to one garment of a crowd, passed by value. After toile_crowd_remove every use of it returns
/// TOILE_STATUS_GONE. A zeroed handle may be a valid one, so do not use zero for "none".
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Opaque: copy and compare it, but neither make one up nor read meaning into it.
    pub bits: [u32; 3],
}

/// Where a character stands: what its bone matrices are relative to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actor {
    /// In the world, m.
    pub position: [f64; 3],
    /// World from actor: x, y, z, w.
    pub rotation: [f32; 4],
}

/// What a garment is made of, as `toile fabric NAME --json` says under "heard"; all above 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Half of the overhang that hangs at 41.5 degrees (ASTM D1388), m.
    pub bending_length_m: f32,
    /// Mass per area, kg/m2.
    pub density: f32,
    /// Stretch stiffness, mean of warp and weft, N/m.
    pub stretch: f32,
    /// Shear stiffness, N/m.
    pub shear: f32,
    /// Strain-rate damping, s.
    pub damping_secs: f32,
}

impl Fabric {
    fn heard(&self) -> [f32; 5] {
        [self.bending_length_m, self.density, self.stretch, self.shear, self.damping_secs.max(1e-4)]
            .map(f32::ln)
    }
}

/// Canonical frame of a pose: where the hips are and which way they face.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Root {
    /// The hips' joint in the world, m.
    pub position: [f64; 3],
    /// Angle about +Y in radians; 0 when the left hip is towards +X.
    pub heading: f64,
}

/// What a step did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrowdReport {
    /// Set to sizeof(ToileCrowdReport) before the call.
    pub size: u32,
    /// Garments that have a state after it.
    pub stepped: u32,
    /// Latent ticks, of all models together.
    pub ticks: u32,
    /// Inputs that had to be held to what the models are certified for.
    pub clamped: u32,
    /// Poses refused since the step before; their garments kept the pose they had.
    pub refused: u32,
}

/// # Safety
/// `crowd` is null or was returned by this library and has not been freed and nobody else uses it.
unsafe fn crowd_mut<'a>(crowd: *mut Crowd) -> Result<&'a mut Crowd, Failure> {
    // SAFETY: the caller's promise.
    unsafe { crowd.as_mut() }.ok_or_else(|| null("crowd"))
}

/// # Safety
/// `crowd` is null or was returned by this library and has not been freed and nobody changes it.
unsafe fn crowd_ref<'a>(crowd: *const Crowd) -> Result<&'a Crowd, Failure> {
    // SAFETY: the caller's promise.
    unsafe { crowd.as_ref() }.ok_or_else(|| null("crowd"))
}

fn instance(i: Instance) -> toile_run::Instance {
    toile_run::Instance::from_bits(i.bits)
}

/// Makes an empty crowd; `settings` may be null. Free it with toile_crowd_free.
///
/// # Safety
/// `settings` is null or points to `settings->size` bytes; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_new(settings: *const CrowdSettings, out: *mut *mut Crowd) -> Status {
    border(|| {
        if out.is_null() {
            return Err(null("out"));
        }
        let mut wanted = Settings::default();
        if !settings.is_null() {
            // SAFETY: the caller promises as many bytes as the struct says.
            let s = unsafe {
                check_size(settings, "ToileCrowdSettings")?;
                &*settings
            };
            if s.threads > 1024 {
                return Err((Status::Range, format!("{} threads", s.threads)));
            }
            wanted.threads = s.threads.max(1) as usize;
            wanted.normals = s.normals != 0;
        }
        let crowd = Crowd { inner: toile_run::Crowd::new(wanted), bones: Vec::new() };
        // SAFETY: the caller promises room for a pointer.
        unsafe { out.write(Box::into_raw(Box::new(crowd))) };
        Ok(())
    })
}

/// Frees a crowd and all its garments. Null is allowed.
///
/// # Safety
/// `crowd` was returned by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_free(crowd: *mut Crowd) {
    if !crowd.is_null() {
        border(|| {
            // SAFETY: made by `Box::into_raw` here, and the caller promises not to free it twice.
            drop(unsafe { Box::from_raw(crowd) });
            Ok(())
        });
    }
}

/// Adds a model and room for `reserve` garments of it: all memory is taken here, none later.
///
/// # Safety
/// `crowd` and `model` were returned by this library and have not been freed; `id` points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_add_model(
    crowd: *mut Crowd,
    model: *const Model,
    reserve: u32,
    id: *mut u32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let (crowd, model) = (unsafe { crowd_mut(crowd) }?, unsafe { model.as_ref() });
        let model = model.ok_or_else(|| null("model"))?;
        if id.is_null() {
            return Err(null("id"));
        }
        if reserve > 1 << 20 {
            return Err((Status::Range, format!("{reserve} garments are more than a million")));
        }
        let added = crowd.inner.add_model(model.inner.clone(), reserve as usize).map_err(run_error)?;
        let joints = crowd.bones.capacity().max(model.inner.joints);
        crowd.bones.reserve(joints);
        // SAFETY: the caller promises room for a number.
        unsafe { id.write(added.to_bits()) };
        Ok(())
    })
}

/// Adds a garment, which waits for its first pose.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to one instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_add(crowd: *mut Crowd, model: u32, out: *mut Instance) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let crowd = unsafe { crowd_mut(crowd) }?;
        if out.is_null() {
            return Err(null("out"));
        }
        let added = crowd.inner.add(ModelId::from_bits(model)).map_err(run_error)?;
        // SAFETY: the caller promises room for an instance.
        unsafe { out.write(Instance { bits: added.to_bits() }) };
        Ok(())
    })
}

/// Takes a garment out; others are not affected.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_remove(crowd: *mut Crowd, garment: Instance) -> Status {
    // SAFETY: the caller's promise.
    border(|| unsafe { crowd_mut(crowd) }?.inner.remove(instance(garment)).map_err(run_error))
}

/// Gives the pose to step to. `bones` are matrices from the bind pose to the actor, column-major: 12 floats a bone
/// (four columns of three) or 16 (four of four, the last row ignored), as `floats_per_bone` says. `root` may be null
/// where the model names its hips. A garment that is given no pose stands still.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `actor` points to one actor, `bones` to
/// `joints · floats_per_bone` floats,
/// `root` to one root if it is not null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_pose(
    crowd: *mut Crowd,
    garment: Instance,
    actor: *const Actor,
    bones: *const f32,
    joints: usize,
    floats_per_bone: usize,
    root: *const Root,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let crowd = unsafe { crowd_mut(crowd) }?;
        if actor.is_null() || bones.is_null() {
            return Err(null("actor or bones"));
        }
        let garment = instance(garment);
        let expected = crowd.inner.model(garment).map_err(run_error)?.joints;
        // SAFETY: handed on.
        unsafe { read_bones(bones, joints, floats_per_bone, expected, &mut crowd.bones) }?;
        // SAFETY: the caller promises an actor.
        let given = unsafe { actor.read_unaligned() };
        let actor = toile_run::Actor {
            position: DVec3::from_array(given.position),
            rotation: Quat::from_array(given.rotation),
        };
        let bones = &crowd.bones;
        if root.is_null() {
            return crowd.inner.set_pose(garment, &actor, bones).map_err(run_error);
        }
        // SAFETY: the caller promises a root.
        let root = unsafe { root.read_unaligned() };
        let root = RootFrame { position: DVec3::from_array(root.position), heading: root.heading };
        crowd.inner.set_pose_with_root(garment, &actor, bones, &root).map_err(run_error)
    })
}

/// Reads bone matrices; nothing is read from an array of another length than is expected.
///
/// # Safety
/// `bones` is null or points to `joints · floats_per_bone` floats.
pub(crate) unsafe fn read_bones(
    bones: *const f32,
    joints: usize,
    floats_per_bone: usize,
    expected: usize,
    out: &mut Vec<Affine3A>,
) -> Result<(), Failure> {
    if bones.is_null() {
        return Err(null("bones"));
    }
    if floats_per_bone != 12 && floats_per_bone != 16 {
        return Err((Status::Range, format!("{floats_per_bone} floats a bone, not 12 or 16")));
    }
    if joints != expected {
        return Err((Status::Count, format!("{joints} bone matrices for a model of {expected} joints")));
    }
    out.clear();
    let width = floats_per_bone / 4;
    for j in 0..joints {
        let column = |c: usize| {
            // SAFETY: within the `joints · floats_per_bone` floats that the caller promises.
            Vec3A::from_array(std::array::from_fn(|r| unsafe {
                bones.add(j * floats_per_bone + c * width + r).read_unaligned()
            }))
        };
        let matrix3 = Mat3A::from_cols(column(0), column(1), column(2));
        out.push(Affine3A { matrix3, translation: column(3) });
    }
    Ok(())
}

/// Wind, gravity and cloth of a garment from the next step on, for models that were trained for them: others do not hear.
/// Beyond what training saw the correction fades, as toile_crowd_gate tells. Null for no wind, the usual gravity, and the
/// middle of training's cloths.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `wind` (m/s) and `gravity` (m/s²) are null or point to three
/// numbers in the world, `fabric` is null or points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_surroundings(
    crowd: *mut Crowd,
    garment: Instance,
    wind: *const f32,
    gravity: *const f32,
    fabric: *const Fabric,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let read = |numbers: *const f32| {
            (!numbers.is_null()).then(|| {
                Vec3::from_array(std::array::from_fn(|i| unsafe { numbers.add(i).read_unaligned() }))
            })
        };
        let usual = Surroundings::default();
        // SAFETY: the caller's promise.
        let cloth = (!fabric.is_null()).then(|| unsafe { fabric.read_unaligned() });
        let told = Surroundings {
            wind: read(wind).unwrap_or(usual.wind),
            gravity: read(gravity).unwrap_or(usual.gravity),
            fabric: cloth.map(|f| f.heard()),
        };
        // SAFETY: the caller's promise.
        let crowd = unsafe { crowd_mut(crowd) }?;
        crowd.inner.set_surroundings(instance(garment), &told).map_err(run_error)
    })
}

/// Forgets a garment's history: the next step starts afresh from its pose.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_reset(crowd: *mut Crowd, garment: Instance) -> Status {
    // SAFETY: the caller's promise.
    border(|| unsafe { crowd_mut(crowd) }?.inner.reset(instance(garment)).map_err(run_error))
}

/// The next pose is somewhere else: the garment keeps its shape and does not feel the way there.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_teleport(crowd: *mut Crowd, garment: Instance) -> Status {
    // SAFETY: the caller's promise.
    border(|| unsafe { crowd_mut(crowd) }?.inner.teleport(instance(garment)).map_err(run_error))
}

/// Whether vertices are wanted (1, as at first) or not (0); the state goes on either way.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_drawn(crowd: *mut Crowd, garment: Instance, drawn: u32) -> Status {
    // SAFETY: the caller's promise.
    border(|| unsafe { crowd_mut(crowd) }?.inner.set_drawn(instance(garment), drawn != 0).map_err(run_error))
}

/// How far any vertex may be off for the sake of speed, mm; 0 at first.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_tolerance_mm(
    crowd: *mut Crowd,
    garment: Instance,
    mm: f32,
) -> Status {
    // SAFETY: the caller's promise.
    border(|| unsafe { crowd_mut(crowd) }?.inner.set_tolerance_mm(instance(garment), mm).map_err(run_error))
}

/// Draws a garment with at most `dims` coefficients from now on, those that come or go fading within `secs` seconds. With
/// none a model of kind d merely follows its bones.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_fade_dims(
    crowd: *mut Crowd,
    garment: Instance,
    dims: u32,
    secs: f32,
) -> Status {
    // SAFETY: the caller's promise.
    border(|| {
        unsafe { crowd_mut(crowd) }?
            .inner
            .fade_dims(instance(garment), dims as usize, secs)
            .map_err(run_error)
    })
}

/// Lets the tolerance grow by `mm_per_metre` for each metre from a viewer; 0 switches that off.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `position` points to three numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_viewer(
    crowd: *mut Crowd,
    position: *const f64,
    mm_per_metre: f32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let (crowd, at) = (unsafe { crowd_mut(crowd) }?, unsafe { three(position) }?);
        let viewer = (mm_per_metre != 0.0).then_some((at, mm_per_metre));
        crowd.inner.set_viewer(viewer).map_err(run_error)
    })
}

/// What vertices are relative to, in the world; in large worlds the camera. The world's origin at first.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `position` points to three numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_set_origin(crowd: *mut Crowd, position: *const f64) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let (crowd, at) = (unsafe { crowd_mut(crowd) }?, unsafe { three(position) }?);
        crowd.inner.set_origin(at).map_err(run_error)
    })
}

/// # Safety
/// `numbers` is null or points to three numbers.
unsafe fn three(numbers: *const f64) -> Result<DVec3, Failure> {
    if numbers.is_null() {
        return Err(null("position"));
    }
    // SAFETY: the caller's promise.
    Ok(DVec3::from_array(std::array::from_fn(|i| unsafe { numbers.add(i).read_unaligned() })))
}

/// Advances all garments by `dt_secs` (above 0, at most 1) to the poses given. `report` may be null.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `report` is null or points to `report->size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_step(
    crowd: *mut Crowd,
    dt_secs: f64,
    report: *mut CrowdReport,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let crowd = unsafe { crowd_mut(crowd) }?;
        if !report.is_null() {
            // SAFETY: the caller promises as many bytes as the struct says.
            unsafe { check_size(report, "ToileCrowdReport") }?;
        }
        let done = crowd.inner.step(dt_secs).map_err(run_error)?;
        // SAFETY: null, or as large as was checked.
        if let Some(r) = unsafe { report.as_mut() } {
            *r = CrowdReport {
                size: r.size,
                stepped: done.stepped,
                ticks: done.ticks,
                clamped: done.clamped,
                refused: done.refused,
            };
        }
        Ok(())
    })
}

/// Makes the vertices (and normals, if the settings ask) of all garments that are drawn.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_draw(crowd: *mut Crowd) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        unsafe { crowd_mut(crowd) }?.inner.draw();
        Ok(())
    })
}

/// Writes a garment's vertices as drawn last: three floats each, `stride_bytes` (at least 12) from one to the next.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to `capacity` vertices of that stride.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_vertices(
    crowd: *const Crowd,
    garment: Instance,
    out: *mut f32,
    capacity: usize,
    stride_bytes: usize,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let vertices = unsafe { crowd_ref(crowd) }?.inner.vertices(instance(garment)).map_err(run_error)?;
        // SAFETY: handed on.
        unsafe { write_points(vertices, out, capacity, stride_bytes) }
    })
}

/// Writes a garment's unit normals as drawn last, as toile_crowd_vertices does.
///
/// # Safety
/// As toile_crowd_vertices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_normals(
    crowd: *const Crowd,
    garment: Instance,
    out: *mut f32,
    capacity: usize,
    stride_bytes: usize,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let normals = unsafe { crowd_ref(crowd) }?.inner.normals(instance(garment)).map_err(run_error)?;
        if normals.is_empty() {
            return Err((Status::Range, "this crowd was made without normals".to_string()));
        }
        // SAFETY: handed on.
        unsafe { write_points(normals, out, capacity, stride_bytes) }
    })
}

/// # Safety
/// `out` is null or points to `capacity` points that far apart.
pub(crate) unsafe fn write_points(
    points: &[Vec3],
    out: *mut f32,
    capacity: usize,
    stride: usize,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(null("out"));
    }
    if capacity < points.len() || stride < 12 {
        let what = format!("room for {capacity} points of {stride} bytes, {} of 12 are needed", points.len());
        return Err((Status::Buffer, what));
    }
    if stride == 12 {
        // SAFETY: contiguous room for all points, which the caller promises; bytes need no alignment.
        unsafe {
            std::ptr::copy_nonoverlapping(points.as_ptr().cast::<u8>(), out.cast::<u8>(), 12 * points.len());
        }
        return Ok(());
    }
    for (i, p) in points.iter().enumerate() {
        // SAFETY: within the room that the caller promises.
        unsafe { out.cast::<u8>().add(i * stride).cast::<[f32; 3]>().write_unaligned(p.to_array()) };
    }
    Ok(())
}

/// Writes a garment's cloth coefficients, `stride_bytes` (at least 4) from one to the next: all that an engine with
/// the garment's basis as morph targets needs. Of kind d they are the weights of morph targets in the bind pose, before
/// the engine skins. toile_crowd_draw is not needed for them.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to `capacity` floats of that stride.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_coefficients(
    crowd: *const Crowd,
    garment: Instance,
    out: *mut f32,
    capacity: usize,
    stride_bytes: usize,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let y = unsafe { crowd_ref(crowd) }?.inner.coefficients(instance(garment)).map_err(run_error)?;
        if out.is_null() {
            return Err(null("out"));
        }
        if capacity < y.len() || stride_bytes < 4 {
            let what =
                format!("room for {capacity} floats of {stride_bytes} bytes, {} of 4 are needed", y.len());
            return Err((Status::Buffer, what));
        }
        for (i, v) in y.iter().enumerate() {
            // SAFETY: within the room that the caller promises.
            unsafe { out.cast::<u8>().add(i * stride_bytes).cast::<f32>().write_unaligned(*v) };
        }
        Ok(())
    })
}

/// How far a garment of kind d trusts what it learned for its present pose: 1 within what training saw, 0 where it is
/// merely skinned. 1 for the published kinds. Its coefficients are already multiplied with it.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to one float.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_gate(crowd: *const Crowd, garment: Instance, out: *mut f32) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let gate = unsafe { crowd_ref(crowd) }?.inner.gate(instance(garment)).map_err(run_error)?;
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: the caller promises room for one.
        unsafe { out.write_unaligned(gate) };
        Ok(())
    })
}

/// The canonical frame that goes with a garment's coefficients: turn morphed vertices by `heading` about +Y and move
/// them to `position`. All zeros before the first step.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to one root.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_root(crowd: *const Crowd, garment: Instance, out: *mut Root) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let root = unsafe { crowd_ref(crowd) }?.inner.root(instance(garment)).map_err(run_error)?;
        if out.is_null() {
            return Err(null("out"));
        }
        let root =
            root.map_or(Root::default(), |r| Root { position: r.position.to_array(), heading: r.heading });
        // SAFETY: the caller promises room for a root.
        unsafe { out.write_unaligned(root) };
        Ok(())
    })
}

/// How far any vertex of a garment may be off as drawn last, mm.
///
/// # Safety
/// `crowd` was returned by this library and has not been freed; `out` points to one float.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_crowd_error_bound_mm(
    crowd: *const Crowd,
    garment: Instance,
    out: *mut f32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promises.
        let bound =
            unsafe { crowd_ref(crowd) }?.inner.error_bound_mm(instance(garment)).map_err(run_error)?;
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: the caller promises room for a float.
        unsafe { out.write(bound) };
        Ok(())
    })
}
