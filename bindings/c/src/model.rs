//! Models: read once, shared by any number of crowds.

use crate::status::{Failure, Status, border, check_size, null};
use std::ffi::{CStr, c_char};
use std::path::Path;
use std::sync::Arc;

/// A learned garment. It is never changed after loading: any number of threads may use it.
pub struct Model {
    pub(crate) inner: Arc<toile_model::Model>,
}

/// What a model is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// Set to sizeof(ToileModelInfo) before the call.
    pub size: u32,
    /// Vertices of the garment.
    pub vertices: u32,
    /// Triangles of the garment.
    pub triangles: u32,
    /// Bone matrices that a pose has.
    pub joints: u32,
    /// Cloth coefficients.
    pub cloth_dims: u32,
    /// Body coefficients.
    pub body_dims: u32,
    /// Frames of history.
    pub order: u32,
    /// Whether root and heading are found from bones alone (1) or must be given (0).
    pub has_hips: u32,
    /// Frames per second of the latent clock.
    pub fps: f64,
    /// No vertex is ever farther from its mean than this, m, whatever is fed in.
    pub travel_bound_m: f32,
    /// Bytes of numbers that the model keeps in memory, in millions.
    pub megabytes: f32,
}

/// Reads a model from a file. Free it with toile_model_free.
///
/// # Safety
/// `path` is a string that ends in a zero; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_model_from_file(path: *const c_char, out: *mut *mut Model) -> Status {
    border(|| {
        if path.is_null() || out.is_null() {
            return Err(null("path or out"));
        }
        // SAFETY: the caller promises a string.
        let path = unsafe { CStr::from_ptr(path) };
        let path = path.to_str().map_err(|_| (Status::Model, "the path is not UTF-8".to_string()))?;
        let model = toile_model::Model::read(Path::new(path)).map_err(read_error)?;
        // SAFETY: the caller promises room for a pointer.
        unsafe { out.write(Box::into_raw(Box::new(Model { inner: Arc::new(model) }))) };
        Ok(())
    })
}

/// Reads a model from `length` bytes of memory, which are not needed afterwards. Free it with toile_model_free.
///
/// # Safety
/// `bytes` points to `length` bytes; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_model_from_memory(
    bytes: *const u8,
    length: usize,
    out: *mut *mut Model,
) -> Status {
    border(|| {
        if bytes.is_null() || out.is_null() {
            return Err(null("bytes or out"));
        }
        if length > isize::MAX as usize {
            return Err((Status::Buffer, format!("{length} bytes cannot be")));
        }
        // SAFETY: the caller promises so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
        let model = toile_model::Model::from_bytes(bytes).map_err(read_error)?;
        // SAFETY: the caller promises room for a pointer.
        unsafe { out.write(Box::into_raw(Box::new(Model { inner: Arc::new(model) }))) };
        Ok(())
    })
}

fn read_error(error: toile_model::Error) -> Failure {
    let text = error.to_string();
    let status = if text.contains("certificate") { Status::Uncertified } else { Status::Model };
    (status, text)
}

/// Frees a model; crowds that have it keep what they need. Null is allowed.
///
/// # Safety
/// `model` was returned by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_model_free(model: *mut Model) {
    if !model.is_null() {
        // SAFETY: made by `Box::into_raw` here, and the caller promises not to free it twice.
        border(|| {
            drop(unsafe { Box::from_raw(model) });
            Ok(())
        });
    }
}

/// Says what a model is.
///
/// # Safety
/// `model` was returned by this library and has not been freed; `info` points to `info->size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_model_info(model: *const Model, info: *mut ModelInfo) -> Status {
    border(|| {
        // SAFETY: the caller promises a model.
        let Some(model) = (unsafe { model.as_ref() }) else { return Err(null("model")) };
        if info.is_null() {
            return Err(null("info"));
        }
        // SAFETY: the caller promises as many bytes as the struct says.
        let info = unsafe {
            check_size(info, "ToileModelInfo")?;
            &mut *info
        };
        let m = &*model.inner;
        *info = ModelInfo {
            size: info.size,
            vertices: m.vertices as u32,
            triangles: m.triangles.len() as u32,
            joints: m.joints as u32,
            cloth_dims: m.cloth_dims as u32,
            body_dims: m.body_dims as u32,
            order: m.order as u32,
            has_hips: m.hips.is_some().into(),
            fps: m.fps,
            travel_bound_m: m.certificate.travel_bound_m.iter().copied().fold(0.0, f32::max),
            megabytes: m.bytes() as f32 / 1e6,
        };
        Ok(())
    })
}

/// Writes three vertex numbers for every triangle.
///
/// # Safety
/// `model` was returned by this library and has not been freed; `out` points to `capacity` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_model_triangles(
    model: *const Model,
    out: *mut u32,
    capacity: usize,
) -> Status {
    border(|| {
        // SAFETY: the caller promises a model.
        let Some(model) = (unsafe { model.as_ref() }) else { return Err(null("model")) };
        if out.is_null() {
            return Err(null("out"));
        }
        let flat = model.inner.triangles.as_flattened();
        if capacity < flat.len() {
            return Err((Status::Buffer, format!("room for {capacity} numbers, {} are needed", flat.len())));
        }
        for (i, v) in flat.iter().enumerate() {
            // SAFETY: within the capacity that the caller promises.
            unsafe { out.add(i).write_unaligned(*v) };
        }
        Ok(())
    })
}
