//! A file in the making: beside its place until it is complete.

use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Streams into a file beside `path`; only [`Partial::commit`] puts it in place. Dropped before, it vanishes.
pub struct Partial {
    path: PathBuf,
    beside: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Partial {
    /// Begins a file.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let beside = path.with_file_name(name);
        let file = File::create(&beside).map_err(|e| Error::io(path, e))?;
        Ok(Self { path: path.to_path_buf(), beside, file: Some(BufWriter::with_capacity(1 << 16, file)) })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(|e| Error::io(&self.path, e)),
            None => Ok(()),
        }
    }

    /// Flushes and hands out the file, to go back and fill in what was not known before.
    pub fn with_file(&mut self, work: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
        match &mut self.file {
            Some(file) => {
                file.flush()?;
                work(file.get_mut())
            }
            None => Ok(()),
        }
    }

    /// Syncs and renames.
    pub fn commit(mut self) -> Result<()> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let mut finish = || {
            file.flush()?;
            file.get_ref().sync_all()?;
            std::fs::rename(&self.beside, &self.path)
        };
        finish().map_err(|e| {
            let _ = std::fs::remove_file(&self.beside);
            Error::io(&self.path, e)
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}
