//! Ogawa, the container of Alembic files: a tree of groups and blocks of bytes, addressed by their place in the file.
//!
//! Layout, little-endian: `Ogawa`, a byte that is 0xff once the file is complete, the version (0, 1), the place of the
//! root group (u64). A group is its number of children (u64) and their places, a block its length (u64) and its bytes;
//! the highest bit of a place tells blocks from groups, and a place of zero is an empty one of its kind.

use super::Partial;
use crate::{Error, Result};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// Where something stands, as its parent writes it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

impl Place {
    const BLOCK: u64 = 1 << 63;
    /// A block without bytes.
    pub const NOTHING: Self = Self(Self::BLOCK);
}

/// A file in the making; children come before their parents.
pub(super) struct Ogawa {
    file: Partial,
    at: u64,
}

impl Ogawa {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self> {
        let mut file = Partial::create(path)?;
        file.write_all(&[b"Ogawa\0\0\x01".as_slice(), &[0; 8]].concat())?;
        Ok(Self { file, at: 16 })
    }

    /// The file it is going to be.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// A block of the parts in their order.
    pub fn block(&mut self, parts: &[&[u8]]) -> Result<Place> {
        let length: usize = parts.iter().map(|p| p.len()).sum();
        if length == 0 {
            return Ok(Place::NOTHING);
        }
        let place = Place(self.at | Place::BLOCK);
        self.put(&(length as u64).to_le_bytes())?;
        parts.iter().try_for_each(|part| self.put(part))?;
        Ok(place)
    }

    /// A group of what is already there.
    pub fn group(&mut self, children: &[Place]) -> Result<Place> {
        if children.is_empty() {
            return Ok(Place(0));
        }
        let place = Place(self.at);
        self.put(&(children.len() as u64).to_le_bytes())?;
        let places: Vec<u8> = children.iter().flat_map(|c| c.0.to_le_bytes()).collect();
        self.put(&places)?;
        Ok(place)
    }

    /// Names the root, marks the file complete and puts it in place.
    pub fn finish(mut self, root: Place) -> Result<()> {
        let path = self.file.path().to_path_buf();
        let patch = |file: &mut std::fs::File| {
            file.seek(SeekFrom::Start(5))?;
            file.write_all(&[0xff])?;
            file.seek(SeekFrom::Start(8))?;
            file.write_all(&root.0.to_le_bytes())
        };
        self.file.with_file(patch).map_err(|e| Error::io(path, e))?;
        self.file.commit()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}
