//! Where results go: nothing of the user's is overwritten unless he says so.

use crate::resolve::{BadRequest, is_file};
use anyhow::Result;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use toile_assets::write::{MARK, pc2};

/// `--force`, for every command that writes a file.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Overwrite {
    /// Overwrite a file even if Toile did not write it, or it is one of the inputs
    #[arg(long)]
    pub force: bool,
}

impl Overwrite {
    /// Makes a folder for results, or takes one that is there; refuses a file.
    pub fn folder(path: &Path) -> Result<()> {
        if path.exists() && !path.is_dir() {
            return Err(BadRequest(format!("{}: is a file; name a folder", path.display())).into());
        }
        Ok(std::fs::create_dir_all(path).map_err(|e| toile_assets::Error::io(path, e))?)
    }

    /// Refuses, before any work is done, an output whose folder does not exist, one that is an input, and one that is
    /// somebody else's file.
    pub fn check<'a>(self, path: &Path, inputs: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let refuse = |what: String| Err(BadRequest(format!("{}: {what}", path.display())).into());
        if !folder.is_dir() {
            return refuse(format!("the folder {} does not exist", folder.display()));
        }
        if path.is_dir() {
            return refuse("is a folder".into());
        }
        if self.force || !path.exists() {
            return Ok(());
        }
        let same = |name: &&str| is_file(name) && same_file(Path::new(whole(name)), path);
        if let Some(input) = inputs.into_iter().find(same) {
            return refuse(format!("is the input {input}; name another file, or --force to replace it"));
        }
        if !ours(path) {
            return refuse("was not written by Toile; name another file, or --force to replace it".into());
        }
        Ok(())
    }
}

/// The file of `hero.glb#Shirt`.
fn whole(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((file, _)) if !Path::new(name).exists() => file,
        _ => name,
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether a file says in its head or its tail that it is from here, as all that are written here do, or is empty.
/// Point caches have no room for words; theirs is in the mesh beside them.
fn ours(path: &Path) -> bool {
    if path.extension().is_some_and(|x| x.eq_ignore_ascii_case("pc2")) {
        return says_so(&pc2::partner(path)).unwrap_or(false);
    }
    says_so(path).unwrap_or(false)
}

fn says_so(path: &Path) -> std::io::Result<bool> {
    /// Headers of files with many parts are long.
    const LOOK: u64 = 1 << 20;
    const MARKS: [&[u8]; 7] = [
        MARK.as_bytes(),
        b"\"generator\":\"toile\"",
        b"toile-model",
        b"toile-take",
        b"toile-adaptive",
        // What the frames of takes cost, and the page of published tables, as they were written before they said so.
        b"{\"ms\":{",
        b"# Stable Spaces, reproduced\n",
    ];
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    (&mut file).take(LOOK).read_to_end(&mut bytes)?;
    if length > LOOK {
        file.seek(SeekFrom::Start(length.saturating_sub(LOOK).max(LOOK)))?;
        file.read_to_end(&mut bytes)?;
    }
    let says = |mark: &&[u8]| bytes.windows(mark.len()).any(|w| w == *mark);
    Ok(length == 0 || MARKS.iter().any(says))
}

/// The inputs of a command that name files, for [`Overwrite::check`].
pub fn named<'a>(
    names: impl IntoIterator<Item = &'a str>,
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Vec<&'a str> {
    names.into_iter().chain(paths.into_iter().filter_map(|p| p.to_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_files_of_others_are_kept() {
        let dir = std::env::temp_dir().join(format!("toile-output-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let at = |name: &str, bytes: &[u8]| {
            std::fs::write(dir.join(name), bytes).unwrap();
            dir.join(name)
        };
        let (keep, force) = (Overwrite { force: false }, Overwrite { force: true });
        let why = |path: &Path, inputs: &[&str]| {
            keep.check(path, inputs.iter().copied()).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let theirs = at("hero.glb", b"glTF made by somebody else");
        assert!(why(&theirs, &[]).contains("not written by Toile"));
        assert!(force.check(&theirs, []).is_ok());
        let long = [&[b'x'; 9000][..], b"\n# made by toile\n"].concat();
        let mine = at("walk.obj", &long);
        assert_eq!(why(&mine, &[]), "");
        // The same file by another name, and a part of it.
        let odd = dir.join(".").join("walk.obj");
        for name in [odd.to_str().unwrap().to_string(), format!("{}#Shirt", mine.display())] {
            assert!(why(&mine, &[&name]).contains("is the input"), "{name}");
        }
        // A cache is known by its mesh.
        let cache = at("walk.pc2", b"POINTCACHE2");
        assert_eq!(why(&cache, &[]), "");
        assert!(why(&at("other.pc2", b"POINTCACHE2"), &[]).contains("not written"));
        assert_eq!(why(&at("empty.png", b""), &[]), "");
        assert_eq!(why(&dir.join("new.png"), &["dress"]), "");
        assert!(why(&dir.join("no/such.png"), &[]).contains("does not exist"));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
