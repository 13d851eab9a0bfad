//! Why a model could not be had.

use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file of ours could not be read or written.
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
    /// The file was read but is not what it should be.
    #[error("{}: {place}: {what}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// Where in the file.
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
