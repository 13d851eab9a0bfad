//! MP4 and WebM: frames go raw into an `ffmpeg` process that writes beside the film's place.

use crate::film::FilmFormat;
use crate::{Error, Image, Result};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;
use toile_assets::write::MARK;

/// A film that `ffmpeg` is encoding. Dropped before it is finished it leaves nothing behind.
pub(crate) struct Encoder {
    format: FilmFormat,
    path: PathBuf,
    beside: PathBuf,
    child: Child,
    frames: Option<ChildStdin>,
    said: Option<JoinHandle<String>>,
    finished: bool,
}

impl Encoder {
    pub fn start(path: &Path, format: FilmFormat, (width, height): (u32, u32), fps: f32) -> Result<Self> {
        let what = format.name();
        let codecs = codecs(what)?;
        let (codec, container): (&[&str], &str) = match format {
            FilmFormat::Webm if codecs.contains(" libvpx-vp9 ") => (
                &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6"],
                "webm",
            ),
            FilmFormat::Webm => (&["-c:v", "libvpx", "-crf", "12", "-b:v", "4M"], "webm"),
            _ if codecs.contains(" libx264 ") => {
                (&["-c:v", "libx264", "-preset", "veryfast", "-crf", "18"], "mp4")
            }
            // Every build has it; players on the web do not.
            _ => (&["-c:v", "mpeg4", "-q:v", "3"], "mp4"),
        };
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let beside = path.with_file_name(name);
        let mut child = Command::new("ffmpeg")
            .args(["-y", "-nostdin", "-hide_banner", "-loglevel", "error", "-xerror"])
            .args(["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &format!("{width}x{height}")])
            .args(["-r", &format!("{fps}"), "-i", "pipe:0", "-an"])
            .args(codec)
            // Colour is kept at half the resolution, so both sides must be even.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p"])
            .args(if container == "mp4" { &["-movflags", "+faststart"][..] } else { &[] })
            .args(["-metadata", &format!("comment={MARK}"), "-f", container])
            .arg(&beside)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| Error::NoEncoder { what, why: e.to_string() })?;
        let frames = child.stdin.take();
        // Read as it comes: a process that cannot say what is wrong would wait for ever.
        let said = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                let _ = stderr.read_to_end(&mut said);
                String::from_utf8_lossy(&said).trim().to_string()
            })
        });
        Ok(Self { format, path: path.to_path_buf(), beside, child, frames, said, finished: false })
    }

    pub fn format(&self) -> FilmFormat {
        self.format
    }

    pub fn push(&mut self, image: &Image) -> Result<()> {
        let written = match &mut self.frames {
            Some(frames) => frames.write_all(&image.rgb()),
            None => Err(ErrorKind::BrokenPipe.into()),
        };
        written.map_err(|e| self.failure(e.to_string()))
    }

    pub fn finish(mut self) -> Result<()> {
        drop(self.frames.take());
        let status = self.child.wait();
        self.finished = true;
        // Some versions say that the disk is full and call it a success.
        let said = self.said.take().and_then(|s| s.join().ok()).unwrap_or_default();
        match status {
            Ok(status) if status.success() && said.is_empty() => {}
            Ok(_) if !said.is_empty() => return Err(self.failure(said)),
            Ok(status) => return Err(self.failure(status.to_string())),
            Err(e) => return Err(self.failure(e.to_string())),
        }
        let place =
            || std::fs::File::open(&self.beside)?.sync_all().and(std::fs::rename(&self.beside, &self.path));
        place().map_err(|e| toile_assets::Error::io(&self.path, e).into())
    }

    /// What `ffmpeg` said, if it said anything, is a better reason than a broken pipe.
    fn failure(&mut self, why: String) -> Error {
        drop(self.frames.take());
        let _ = self.child.wait();
        self.finished = true;
        let said = self.said.take().and_then(|s| s.join().ok()).filter(|s| !s.is_empty());
        let why = format!("{}: ffmpeg: {}", self.path.display(), said.unwrap_or(why));
        Error::Encode { what: self.format.name(), why }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        drop(self.frames.take());
        if !self.finished {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // Gone already when the film is in its place.
        let _ = std::fs::remove_file(&self.beside);
    }
}

/// Whether there is an `ffmpeg` at all.
pub fn check(what: &'static str) -> Result<()> {
    codecs(what).map(drop)
}

/// The encoders this `ffmpeg` was built with.
fn codecs(what: &'static str) -> Result<String> {
    let out = Command::new("ffmpeg")
        .args(["-hide_banner", "-encoders"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::NoEncoder { what, why: e.to_string() })?;
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
