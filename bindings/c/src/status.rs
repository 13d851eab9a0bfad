//! Errors as code and message, and the border that panics do not cross.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what it says.
    Ok = 0,
    /// A pointer that must not be null was.
    Null = 1,
    /// The model could not be read; the message names every fault.
    Model = 2,
    /// The model has no certificate that holds.
    Uncertified = 3,
    /// All reserved places are taken.
    Full = 4,
    /// No such instance or model in this crowd.
    Gone = 5,
    /// Bones or coefficients for another model.
    Count = 6,
    /// A number is infinite or not a number.
    NotFinite = 7,
    /// A bone matrix that is not a rotation.
    NotRigid = 8,
    /// A time step that is not above 0 and at most 1 s.
    TimeStep = 9,
    /// The model does not name its hip joints.
    NoHips = 10,
    /// A setting outside its range.
    Range = 11,
    /// The caller's buffer or stride is too small.
    Buffer = 12,
    /// A struct's size is none that this library knows.
    Version = 13,
    /// A fault of the library itself; please report it.
    Internal = 14,
}

/// A status and what to say about it.
pub(crate) type Failure = (Status, String);

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong in this thread's last call that failed; empty if none has. Good until the next one fails.
#[unsafe(no_mangle)]
pub extern "C" fn toile_last_error() -> *const c_char {
    LAST.with(|last| last.try_borrow().map_or(c"".as_ptr(), |last| last.as_ptr()))
}

/// Runs the body of a function of the border.
pub(crate) fn border(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let (status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            (Status::Internal, format!("internal error: {}", said.unwrap_or_default()))
        }
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = message;
        }
    });
    status
}

pub(crate) fn null(what: &str) -> Failure {
    (Status::Null, format!("`{what}` is null"))
}

pub(crate) fn run_error(error: toile_run::Error) -> Failure {
    use toile_run::Error;
    let status = match &error {
        Error::Uncertified(_) => Status::Uncertified,
        Error::Full { .. } => Status::Full,
        Error::Gone => Status::Gone,
        Error::Joints { .. } | Error::Coefficients { .. } => Status::Count,
        Error::NotFinite { .. } | Error::TooFar { .. } => Status::NotFinite,
        Error::NotRigid { .. } => Status::NotRigid,
        Error::TimeStep(_) => Status::TimeStep,
        Error::NoHips => Status::NoHips,
        _ => Status::Range,
    };
    (status, error.to_string())
}

/// Refuses a struct that was built against a header this library does not know. Only the size is read before.
///
/// # Safety
/// `sized` is good for a `u32`, which is the first field of `T`.
pub(crate) unsafe fn check_size<T>(sized: *const T, name: &str) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let size = unsafe { sized.cast::<u32>().read_unaligned() };
    if (size as usize) < size_of::<T>() {
        let what = format!("{name} of {size} bytes; set its size to sizeof({name}), {} here", size_of::<T>());
        return Err((Status::Version, what));
    }
    Ok(())
}
