//! Pictures and films from the window, into files that were not there before.

use std::path::{Path, PathBuf};
use toile_show::view::{Keep, Kept};
use toile_show::{Error, Film, FilmFormat, Image};

/// Writes into a folder under names that are free.
pub fn keeper(folder: PathBuf) -> Keep {
    Box::new(move |kept| match kept {
        Kept::Picture(picture) => {
            let path = free(&folder, "png");
            picture.write_png(&path).map_err(|e| e.to_string())?;
            Ok(format!("kept {}", path.display()))
        }
        Kept::Film(frames, fps) => film(&folder, &frames, fps),
        Kept::Canvas => Err("only a page keeps its canvas".into()),
    })
}

/// WebM where there is something to encode it, else GIF.
fn film(folder: &Path, frames: &[Image], fps: f32) -> Result<String, String> {
    for format in [FilmFormat::Webm, FilmFormat::Gif] {
        let path = free(folder, if format == FilmFormat::Gif { "gif" } else { "webm" });
        match write(&path, format, frames, fps) {
            Ok(()) => return Ok(format!("kept {} ({} frames)", path.display(), frames.len())),
            Err(Error::NoEncoder { .. }) if format == FilmFormat::Webm => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    Err("no film could be written".into())
}

fn write(path: &Path, format: FilmFormat, frames: &[Image], fps: f32) -> toile_show::Result<()> {
    let every = frames.len().div_ceil(8).max(1);
    let samples: Vec<Image> = frames.iter().step_by(every).cloned().collect();
    let mut film = Film::create(path, format, fps, frames.len(), &samples)?;
    for frame in frames {
        film.push(frame)?;
    }
    film.finish()
}

/// `toile-view-001.png`, or the first of that kind that is not there.
fn free(folder: &Path, ending: &str) -> PathBuf {
    let named = |k: usize| folder.join(format!("toile-view-{k:03}.{ending}"));
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(0))
}
