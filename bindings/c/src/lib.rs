//! The C door: [`toile_run::Crowd`] behind plain functions, for engines in any language.
//!
//! `include/toile.h` is made of this crate and says what a C programmer needs to know; `examples/crowd.c` is a whole
//! program. Every function checks its pointers for null, its counts against the model, and its floats for sense
//! before anything changes, and catches panics at the border.
//!
//! `unsafe` is what a C border is made of: pointers come from outside, and that they are good for as much as the
//! documentation asks is the caller's promise, as in any C library. It is confined to this crate, and within it to
//! reading and writing through those pointers.
//!
//! ```
//! assert_eq!(toile_c::toile_abi_version(), toile_c::TOILE_ABI_VERSION);
//! ```
#![allow(unsafe_code)]

mod crowd;
#[cfg(feature = "simulate")]
mod dress;
mod ladder;
mod model;
mod scheduler;
mod status;

pub use crowd::*;
#[cfg(feature = "simulate")]
pub use dress::*;
pub use ladder::*;
pub use model::*;
pub use scheduler::*;
pub use status::*;

/// What changes when programs built against an older header would break.
pub const TOILE_ABI_VERSION: u32 = 1;

/// The version of this library; compare it with TOILE_ABI_VERSION of the header.
#[unsafe(no_mangle)]
pub extern "C" fn toile_abi_version() -> u32 {
    TOILE_ABI_VERSION
}
