//! Where takes come from: memory, or files that are read one at a time so that memory does not grow with them.

use crate::Error;
use std::borrow::Cow;
use std::path::PathBuf;
use toile_assets::Take;

/// Takes that can be gone through several times.
pub trait TakeSource {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn take(&self, index: usize) -> Result<Cow<'_, Take>, Error>;
}

impl TakeSource for [Take] {
    fn count(&self) -> usize {
        self.len()
    }

    fn take(&self, index: usize) -> Result<Cow<'_, Take>, Error> {
        Ok(Cow::Borrowed(&self[index]))
    }
}

impl TakeSource for Vec<Take> {
    fn count(&self) -> usize {
        self.len()
    }

    fn take(&self, index: usize) -> Result<Cow<'_, Take>, Error> {
        Ok(Cow::Borrowed(&self[index]))
    }
}

/// Take files, read each time they are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeFiles(pub Vec<PathBuf>);

impl TakeSource for TakeFiles {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn take(&self, index: usize) -> Result<Cow<'_, Take>, Error> {
        Ok(Cow::Owned(Take::read(&self.0[index])?))
    }
}

/// What is remembered of every take.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub clip: String,
    pub stop_frame: Option<usize>,
    pub frames: usize,
    /// The mirror image of a take.
    pub mirrored: bool,
}

/// Reads every take once: what it is, and all mismatches at once.
pub(crate) fn heads<S: TakeSource + ?Sized>(joints: usize, source: &S) -> Result<(Vec<Head>, Take), Error> {
    if source.count() == 0 {
        return Err(Error::Empty("no takes were given".into()));
    }
    let first = source.take(0)?.into_owned();
    let mut faults = Vec::new();
    let mut heads = Vec::with_capacity(source.count());
    for i in 0..source.count() {
        let t = source.take(i)?;
        let name = match t.stop_frame {
            Some(at) => format!("{} stopped at {at}", t.clip),
            None => t.clip.clone(),
        };
        if t.vertices != first.vertices || t.triangles != first.triangles {
            faults.push(format!(
                "`{name}` has another garment ({} vertices, {} triangles) than `{}` ({}, {})",
                t.vertices,
                t.triangles.len(),
                first.clip,
                first.vertices,
                first.triangles.len()
            ));
        }
        if t.joints != joints {
            faults.push(format!("`{name}` has {} joints, the body {joints}", t.joints));
        }
        if t.fps != first.fps {
            faults.push(format!(
                "`{name}` runs at {} frames per second, `{}` at {}",
                t.fps, first.clip, first.fps
            ));
        }
        for key in ["body", "garment", "fabric", "version"] {
            let note = |take: &Take| take.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
            if let (Some(ours), Some(theirs)) = (note(&t), note(&first))
                && ours != theirs
            {
                faults
                    .push(format!("`{name}` was made with {key} `{ours}`, `{}` with `{theirs}`", first.clip));
            }
        }
        let (clip, stop_frame) = (t.clip.clone(), t.stop_frame);
        heads.push(Head { clip, stop_frame, frames: t.len(), mirrored: false });
    }
    if faults.is_empty() { Ok((heads, first)) } else { Err(Error::Mixed(faults)) }
}
