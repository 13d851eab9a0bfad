//! Files in. Every reader checks what it reads, names file and place of every fault, and never panics.

pub mod bvh;
pub mod garment;
pub mod gltf;
pub mod kes;
pub mod obj;
mod paint;
pub mod take;

use crate::Problem;

/// Something read from a file, with what was noticed on the way.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The thing itself, clean.
    pub value: T,
    /// What was wrong and what was done about it.
    pub problems: Vec<Problem>,
    /// What was guessed and should be said aloud: units, axes, choices.
    pub notes: Vec<String>,
}

impl<T> Loaded<T> {
    /// A thing without remarks.
    pub fn clean(value: T) -> Self {
        Self { value, problems: Vec::new(), notes: Vec::new() }
    }
}
