//! One error for the crate, and the problems a file may have without being unusable.

use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an asset could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file was read but is not what it should be. `place` is a line, a byte offset or a node.
    #[error("{}: {place}: {what}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// Where in the file: `line 12`, `byte 80`, `mesh 3, primitive 0`.
        place: String,
        /// What is wrong, and what to do about it.
        what: String,
    },
    /// Several faults of one file at once.
    #[error("{}: {} problems:\n{}", path.display(), faults.len(), faults.join("\n"))]
    Many {
        /// The file.
        path: PathBuf,
        /// Each fault with its place.
        faults: Vec<String>,
    },
    /// A built-in name that does not exist.
    #[error("there is no built-in {kind} named `{name}`; there are: {known}")]
    Unknown {
        /// Body, garment, motion or fabric.
        kind: &'static str,
        /// What was asked for.
        name: String,
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
        Self::Io { path: path.into(), source }
    }

    /// A fault at one place of a file.
    pub fn bad(path: &Path, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Bad { path: path.to_path_buf(), place: place.into(), what: what.into() }
    }
}

impl From<toile_model::Error> for Error {
    fn from(e: toile_model::Error) -> Self {
        match e {
            toile_model::Error::Io { path, source } => Self::Io { path, source },
            toile_model::Error::Bad { path, place, what } => Self::Bad { path, place, what },
            toile_model::Error::Many { path, faults } => Self::Many { path, faults },
            other => Self::Invalid(other.to_string()),
        }
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
