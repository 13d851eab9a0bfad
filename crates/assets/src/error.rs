//! One error for the crate, and the problems a file may have without being unusable.

use std::path::{Path, PathBuf};
pub use toile_model::Error as FileError;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an asset could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file: it could not be opened, or it is not what it should be. Names file and place.
    #[error(transparent)]
    File(#[from] FileError),
    /// A built-in name that does not exist.
    #[error("there is no built-in {kind} named `{name}`{nearest}; there are: {known}")]
    Unknown {
        /// Body, garment, motion or fabric.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// `, did you mean ...?`, or nothing.
        nearest: String,
        /// What exists.
        known: String,
    },
    /// Values in memory that do not fit together.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// A failure of the file system at `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        FileError::io(path, source).into()
    }

    /// Several faults of one file at once.
    pub fn many(path: &Path, faults: Vec<String>) -> Self {
        FileError::Many { path: path.to_path_buf(), faults }.into()
    }

    /// A fault at one place of a file.
    pub fn bad(path: &Path, place: impl Into<String>, what: impl Into<String>) -> Self {
        FileError::bad(path, place, what).into()
    }
}

/// Something wrong with an asset that loading repaired, worked around or only noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is: `zero-area triangles`.
    pub what: String,
    /// How many.
    pub count: usize,
    /// What was or will be done: `removed`.
    pub action: String,
}

impl Problem {
    /// A problem from its three parts.
    pub fn new(what: impl Into<String>, count: usize, action: impl Into<String>) -> Self {
        Self { what: what.into(), count, action: action.into() }
    }
}
