//! The folder that a demo makes its own: never someone else's, and always one that can be gone on with.

use crate::resolve::BadRequest;
use crate::resume;
use anyhow::Result;
use std::path::Path;
use toile_assets::Error;
use toile_assets::write::write_atomically;

/// What says that a folder is a demo's.
const MARK: &str = "about.txt";
const ABOUT: &str = "Made by `toile demo`; run it again with the same --out to go on or to make it anew.

report.html   the whole story, film included; needs nothing else
demo.json     every figure of it
film.gif      the film alone
crowd.png     a thousand of them
dress.toile   the learned garment (another name where another garment was asked for)
gate.toml     the limits it was held against
takes/        the simulations it was learned from and judged on
example/      a character, a garment and a motion as files, to try the other commands on
";

/// Makes the folder, or takes up one that a demo has begun; whether it was begun before.
pub fn claim(out: &Path) -> Result<bool> {
    if out.exists() && !out.is_dir() {
        return Err(BadRequest(format!("{}: is a file; name a folder with --out", out.display())).into());
    }
    std::fs::create_dir_all(out).map_err(|e| Error::io(out, e))?;
    let mark = out.join(MARK);
    let ours = std::fs::read_to_string(&mark).is_ok_and(|text| text.starts_with("Made by `toile demo`"));
    if !ours {
        let entries = std::fs::read_dir(out).map_err(|e| Error::io(out, e))?;
        // What a run killed in its first moment leaves is no one else's.
        let foreign = entries
            .filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned()))
            .find(|name| !name.ends_with(".partial"));
        if let Some(name) = foreign {
            return Err(BadRequest(format!(
                "{}: the folder holds files of others ({name}); name a new or empty one with --out",
                out.display()
            ))
            .into());
        }
    }
    // Always: it is also the first to find out that nothing can be written here.
    write_atomically(&mark, ABOUT.as_bytes())?;
    for part in ["", "example", "takes/train", "takes/test"] {
        resume::sweep(&out.join(part), |_| true);
    }
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_others_is_refused_and_an_own_one_taken_up() {
        let dir = std::env::temp_dir().join(format!("toile-claim-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        assert!(!claim(&dir.join("new")).unwrap());
        assert!(claim(&dir.join("new")).unwrap(), "the second time it is gone on with");
        std::fs::create_dir_all(dir.join("other")).unwrap();
        std::fs::write(dir.join("other/thesis.tex"), "x").unwrap();
        let why = claim(&dir.join("other")).unwrap_err().to_string();
        assert!(why.contains("thesis.tex") && why.contains("--out"), "{why}");
        assert_eq!(std::fs::read_dir(dir.join("other")).unwrap().count(), 1, "nothing was put there");
        assert!(claim(&dir.join("other/thesis.tex")).unwrap_err().to_string().contains("is a file"));
        std::fs::create_dir_all(dir.join("killed")).unwrap();
        std::fs::write(dir.join("killed/about.txt.4294967295.partial"), "x").unwrap();
        assert!(!claim(&dir.join("killed")).unwrap());
        assert_eq!(std::fs::read_dir(dir.join("killed")).unwrap().count(), 1, "and the rest is swept away");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
