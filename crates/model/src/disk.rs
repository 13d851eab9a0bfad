//! Files as the readers see them: those of the disk, and before them those that were handed over in memory. A web page has
//! no disk; what its user drops on it is read by the very code that reads files elsewhere, companions and all.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

static IN_MEMORY: RwLock<BTreeMap<PathBuf, Arc<[u8]>>> = RwLock::new(BTreeMap::new());

/// Hands a file over under a name; readers of that name see it in place of the disk's.
pub fn hand_over(path: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) {
    if let Ok(mut files) = IN_MEMORY.write() {
        files.insert(path.into(), bytes.into());
    }
}

/// Forgets a file that was handed over.
pub fn forget(path: impl AsRef<Path>) {
    if let Ok(mut files) = IN_MEMORY.write() {
        files.remove(path.as_ref());
    }
}

fn in_memory(path: &Path) -> Option<Arc<[u8]>> {
    IN_MEMORY.read().ok()?.get(path).cloned()
}

/// The bytes of a file.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    match in_memory(path) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => std::fs::read(path),
    }
}

/// The text of a file.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// Whether there is such a file.
pub fn exists(path: impl AsRef<Path>) -> bool {
    in_memory(path.as_ref()).is_some() || path.as_ref().exists()
}

/// Whether it is a file with an end, not a folder, device or pipe; an error where there is none.
pub fn is_plain_file(path: impl AsRef<Path>) -> io::Result<bool> {
    match in_memory(path.as_ref()) {
        Some(_) => Ok(true),
        None => Ok(std::fs::metadata(path)?.is_file()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_over_is_read_until_it_is_forgotten() {
        let name = "no such folder/handed over.obj";
        assert!(read(name).is_err() && !exists(name) && is_plain_file(name).is_err());
        hand_over(name, &b"v 0 0 0"[..]);
        assert_eq!(read(name).unwrap(), b"v 0 0 0");
        assert!(exists(name) && is_plain_file(name).unwrap());
        assert_eq!(read_to_string(name).unwrap(), "v 0 0 0");
        forget(name);
        assert!(read(name).is_err());
    }
}
