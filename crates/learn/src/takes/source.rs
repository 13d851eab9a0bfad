//! Where takes come from: memory, or files that are read one at a time so that memory does not grow with them.

use crate::Error;
use std::borrow::Cow;
use std::path::PathBuf;
use toile_assets::{Body, Provenance, Take, TakeHead};

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

impl TakeFiles {
    /// Those that are true, by what their heads say, and the others each with its faults. A take that nobody judged is
    /// taken at its word.
    pub fn only_true(paths: Vec<PathBuf>) -> Result<(Self, Vec<LeftOut>), Error> {
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for path in paths {
            let head = TakeHead::read(&path)?;
            let faults = head.verdict.map(|v| v.faults()).unwrap_or_default();
            match faults.is_empty() {
                true => kept.push(path),
                false => left_out.push(LeftOut { path, clip: head.clip, faults }),
            }
        }
        Ok((Self(kept), left_out))
    }
}

/// A take that is not learned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its file.
    pub path: PathBuf,
    /// Its clip.
    pub clip: String,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

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
    /// What it was made from.
    pub provenance: Option<Provenance>,
    /// The mirror image of a take.
    pub mirrored: bool,
}

/// Reads every take once: what it is, and all mismatches at once. Where surroundings are heard, takes may differ in fabric,
/// wind and gravity, and must say what theirs were.
pub(crate) fn heads<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    hears: bool,
) -> Result<(Vec<Head>, Take), Error> {
    if source.count() == 0 {
        return Err(Error::Empty("no takes were given".into()));
    }
    let first = source.take(0)?.into_owned();
    let joints = body.skeleton.len();
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
        if let Some(wrong) = t.provenance.and_then(|p| p.wrong_body(body)) {
            faults.push(format!("`{name}`: {wrong}"));
        }
        if let (Some(ours), Some(theirs)) = (&t.provenance, &first.provenance) {
            let alike = |p: &Provenance| p.conditions.without_surroundings();
            let other_solver = match hears {
                true => alike(ours) != alike(theirs),
                false => ours.solver != theirs.solver,
            };
            let pairs = [
                ("another garment", ours.garment != theirs.garment),
                ("another fabric", !hears && ours.fabric != theirs.fabric),
                ("other settings of the solver", other_solver),
            ];
            for (what, _) in pairs.iter().filter(|(_, differs)| *differs) {
                faults.push(format!("`{name}` was made with {what} than `{}`", first.clip));
            }
        }
        if t.fps != first.fps {
            faults.push(format!(
                "`{name}` runs at {} frames per second, `{}` at {}",
                t.fps, first.clip, first.fps
            ));
        }
        if hears && t.provenance.is_none_or(|p| p.conditions.cloth.is_none()) {
            faults.push(format!("`{name}` does not say what cloth it is of; simulate it anew"));
        }
        for key in ["body", "garment", "fabric", "version"].into_iter().filter(|k| !hears || *k != "fabric") {
            let note = |take: &Take| take.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
            if let (Some(ours), Some(theirs)) = (note(&t), note(&first))
                && ours != theirs
            {
                faults
                    .push(format!("`{name}` was made with {key} `{ours}`, `{}` with `{theirs}`", first.clip));
            }
        }
        let (clip, stop_frame) = (t.clip.clone(), t.stop_frame);
        heads.push(Head { clip, stop_frame, frames: t.len(), provenance: t.provenance, mirrored: false });
    }
    if faults.is_empty() { Ok((heads, first)) } else { Err(Error::Mixed(faults)) }
}
