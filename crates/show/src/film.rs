//! Films: animated GIF for everywhere, APNG for true colours, MP4 and WebM where `ffmpeg` is installed.

use crate::encoder::Encoder;
use crate::{Error, Image, Result, palette::Palette};
use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use toile_assets::write::{MARK, Partial, write_atomically};

/// How a film is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilmFormat {
    /// 255 colours, shown by everything.
    Gif,
    /// An animated PNG without loss, shown by browsers.
    Apng,
    /// H.264, through `ffmpeg`.
    Mp4,
    /// VP9, through `ffmpeg`.
    Webm,
}

impl FilmFormat {
    /// The format a file's ending names: `gif`, `apng`, `mp4` or `webm`.
    pub fn of(ending: &str) -> Option<Self> {
        Some(match ending {
            "gif" => Self::Gif,
            "apng" => Self::Apng,
            "mp4" => Self::Mp4,
            "webm" => Self::Webm,
            _ => return None,
        })
    }

    /// Whether such films can be written here: before an hour is spent on the frames of one.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Gif | Self::Apng => Ok(()),
            Self::Mp4 | Self::Webm => crate::encoder::check(self.name()),
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gif => "GIF",
            Self::Apng => "APNG",
            Self::Mp4 => "MP4",
            Self::Webm => "WebM",
        }
    }
}

/// A film that is written while it is made, so that a long one needs no more memory than a short one. It stands beside
/// its place until it is complete; dropped before, it vanishes.
pub struct Film {
    size: (u32, u32),
    /// Frames that are still to come.
    left: usize,
    to: To,
}

enum To {
    Gif(GifWriter<Shared<Beside>>, Shared<Beside>),
    Apng(ApngWriter<Shared<Beside>>, Shared<Beside>),
    Encoder(Encoder),
}

impl Film {
    /// Begins a film of so many frames. `samples` are pictures from all over it: a GIF takes its colours from them.
    pub fn create(
        path: impl AsRef<Path>,
        format: FilmFormat,
        fps: f32,
        frames: usize,
        samples: &[Image],
    ) -> Result<Self> {
        let size = check(samples, format.name())?;
        if frames == 0 {
            return Err(Error::Encode { what: format.name(), why: "there are no frames".into() });
        }
        let path = path.as_ref();
        let to = match format {
            FilmFormat::Gif => {
                let file = Shared::new(Beside(Partial::create(path)?));
                To::Gif(GifWriter::new(file.clone(), size, fps, samples)?, file)
            }
            FilmFormat::Apng => {
                let file = Shared::new(Beside(Partial::create(path)?));
                To::Apng(ApngWriter::new(file.clone(), size, fps, frames)?, file)
            }
            FilmFormat::Mp4 | FilmFormat::Webm => {
                let fps = if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 240.0) } else { 25.0 };
                To::Encoder(Encoder::start(path, format, size, fps)?)
            }
        };
        Ok(Self { size, left: frames, to })
    }

    /// The next frame.
    pub fn push(&mut self, frame: &Image) -> Result<()> {
        let what = self.format().name();
        if (frame.width(), frame.height()) != self.size {
            return Err(Error::Encode { what, why: "a frame has another size than the first".into() });
        }
        let Some(left) = self.left.checked_sub(1) else {
            return Err(Error::Encode { what, why: "more frames than were announced".into() });
        };
        self.left = left;
        match &mut self.to {
            To::Gif(writer, _) => writer.push(frame),
            To::Apng(writer, _) => writer.push(frame),
            To::Encoder(encoder) => encoder.push(frame),
        }
    }

    /// Puts the complete film in its place.
    pub fn finish(self) -> Result<()> {
        let what = self.format().name();
        if self.left > 0 {
            return Err(Error::Encode { what, why: format!("{} frames are missing", self.left) });
        }
        let file = match self.to {
            To::Gif(writer, file) => {
                drop(writer);
                file
            }
            To::Apng(writer, file) => {
                writer.finish()?;
                file
            }
            To::Encoder(encoder) => return encoder.finish(),
        };
        match file.into_inner() {
            Some(file) => Ok(file.0.commit()?),
            None => Err(Error::Encode { what, why: "the encoder kept its file".into() }),
        }
    }

    fn format(&self) -> FilmFormat {
        match &self.to {
            To::Gif(..) => FilmFormat::Gif,
            To::Apng(..) => FilmFormat::Apng,
            To::Encoder(encoder) => encoder.format(),
        }
    }
}

fn check(frames: &[Image], what: &'static str) -> Result<(u32, u32)> {
    let Some(first) = frames.first() else {
        return Err(Error::Encode { what, why: "there are no frames".into() });
    };
    let size = (first.width(), first.height());
    if let Some(k) = frames.iter().position(|f| (f.width(), f.height()) != size) {
        return Err(Error::Encode { what, why: format!("frame {k} has another size than the first") });
    }
    if size.0 == 0 || size.1 == 0 {
        return Err(Error::Encode { what, why: "the frames are empty".into() });
    }
    Ok(size)
}

/// The bytes of an endless GIF. One palette for all frames, ordered dithering that stands still in the picture, and
/// only the changed rectangle of each frame, with unchanged pixels transparent: what does not move costs nothing.
pub fn gif(frames: &[Image], fps: f32) -> Result<Vec<u8>> {
    let size = check(frames, "GIF")?;
    let bytes = Shared::new(Vec::new());
    let mut writer = GifWriter::new(bytes.clone(), size, fps, frames)?;
    for frame in frames {
        writer.push(frame)?;
    }
    drop(writer);
    bytes.into_inner().ok_or(Error::Encode { what: "GIF", why: "the encoder kept its bytes".into() })
}

/// Bytes or a file that an encoder owns as long as it lives, and its owner afterwards.
struct Shared<W>(Rc<RefCell<W>>);

impl<W> Shared<W> {
    fn new(inner: W) -> Self {
        Self(Rc::new(RefCell::new(inner)))
    }

    fn into_inner(self) -> Option<W> {
        Rc::into_inner(self.0).map(RefCell::into_inner)
    }
}

impl<W> Clone for Shared<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Write> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// A file in the making, as encoders want it.
struct Beside(Partial);

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(bytes).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A GIF frame by frame.
struct GifWriter<W: Write> {
    encoder: gif::Encoder<W>,
    palette: Palette,
    shown: Vec<u8>,
    width: usize,
    frames: usize,
    /// Delays are whole hundredths; carrying the remainder keeps the film's length right.
    hundredths: f64,
}

impl<W: Write> GifWriter<W> {
    /// The palette is that of `samples`.
    fn new(to: W, (width, height): (u32, u32), fps: f32, samples: &[Image]) -> Result<Self> {
        let (Ok(w), Ok(h)) = (u16::try_from(width), u16::try_from(height)) else {
            return Err(gif_failure(format!("{width}×{height}: a GIF has at most 65535 pixels a side")));
        };
        // 255 colours and one index for "as before".
        let palette = Palette::of(samples, 255);
        let mut table: Vec<u8> = palette.colours().iter().flatten().copied().collect();
        table.extend([0, 0, 0]);
        let mut encoder = gif::Encoder::new(to, w, h, &table).map_err(|e| gif_failure(e.to_string()))?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|e| gif_failure(e.to_string()))?;
        encoder
            .write_raw_extension(gif::Extension::Comment.into(), &[MARK.as_bytes()])
            .map_err(|e| gif_failure(e.to_string()))?;
        let fps = if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 50.0) } else { 25.0 };
        let hundredths = 100.0 / f64::from(fps);
        Ok(Self { encoder, palette, shown: Vec::new(), width: width as usize, frames: 0, hundredths })
    }

    fn push(&mut self, frame: &Image) -> Result<()> {
        let indices = self.palette.indices(frame);
        let transparent = self.palette.colours().len() as u8;
        let (x, y, across, down) = changed(&self.shown, &indices, self.width);
        let mut buffer = Vec::with_capacity(across * down);
        for row in y..y + down {
            for column in x..x + across {
                let i = row * self.width + column;
                let same = self.shown.get(i) == Some(&indices[i]);
                buffer.push(if same { transparent } else { indices[i] });
            }
        }
        let at = |k: usize| (k as f64 * self.hundredths).round();
        let until = at(self.frames + 1) - at(self.frames);
        self.encoder
            .write_frame(&gif::Frame {
                delay: until.max(1.0) as u16,
                dispose: gif::DisposalMethod::Keep,
                transparent: Some(transparent),
                left: x as u16,
                top: y as u16,
                width: across as u16,
                height: down as u16,
                buffer: buffer.into(),
                ..gif::Frame::default()
            })
            .map_err(|e| gif_failure(e.to_string()))?;
        self.shown = indices;
        self.frames += 1;
        Ok(())
    }
}

fn gif_failure(why: String) -> Error {
    Error::Encode { what: "GIF", why }
}

/// The least rectangle around all pixels that differ: left, top, width, height; one pixel if none does.
fn changed(before: &[u8], now: &[u8], width: usize) -> (usize, usize, usize, usize) {
    if before.len() != now.len() {
        return (0, 0, width, now.len() / width);
    }
    let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
    for (y, (a, b)) in before.chunks_exact(width).zip(now.chunks_exact(width)).enumerate() {
        let Some(first) = a.iter().zip(b).position(|(a, b)| a != b) else { continue };
        let last = a.iter().zip(b).rposition(|(a, b)| a != b).unwrap_or(first);
        (left, right) = (left.min(first), right.max(last + 1));
        (top, bottom) = (top.min(y), y + 1);
    }
    if top == usize::MAX { (0, 0, 1, 1) } else { (left, top, right - left, bottom - top) }
}

/// The bytes of an endless animated PNG, without loss.
pub fn apng(frames: &[Image], fps: f32) -> Result<Vec<u8>> {
    let size = check(frames, "APNG")?;
    let mut bytes = Vec::new();
    let mut writer = ApngWriter::new(&mut bytes, size, fps, frames.len())?;
    for frame in frames {
        writer.push(frame)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// An animated PNG frame by frame.
struct ApngWriter<W: Write> {
    writer: png::Writer<W>,
    shown: Vec<u8>,
    width: usize,
}

impl<W: Write> ApngWriter<W> {
    fn new(to: W, (width, height): (u32, u32), fps: f32, frames: usize) -> Result<Self> {
        let fps = if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 60.0) } else { 25.0 };
        let mut encoder = png::Encoder::new(to, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_animated(frames as u32, 0).map_err(apng_failure)?;
        encoder.set_frame_delay((1000.0 / fps).round() as u16, 1000).map_err(apng_failure)?;
        encoder.add_text_chunk("Software".into(), MARK.into()).map_err(apng_failure)?;
        let writer = encoder.write_header().map_err(apng_failure)?;
        Ok(Self { writer, shown: Vec::new(), width: width as usize })
    }

    fn push(&mut self, frame: &Image) -> Result<()> {
        let rgb = frame.rgb();
        let (x, y, across, down) = changed_rgb(&self.shown, &rgb, self.width);
        self.writer.reset_frame_position().map_err(apng_failure)?;
        self.writer.set_frame_dimension(across as u32, down as u32).map_err(apng_failure)?;
        self.writer.set_frame_position(x as u32, y as u32).map_err(apng_failure)?;
        let mut part = Vec::with_capacity(3 * across * down);
        for row in y..y + down {
            let from = 3 * (row * self.width + x);
            part.extend_from_slice(&rgb[from..from + 3 * across]);
        }
        self.writer.write_image_data(&part).map_err(apng_failure)?;
        self.shown = rgb;
        Ok(())
    }

    fn finish(self) -> Result<()> {
        self.writer.finish().map_err(apng_failure)
    }
}

fn apng_failure(e: png::EncodingError) -> Error {
    Error::Encode { what: "APNG", why: e.to_string() }
}

fn changed_rgb(before: &[u8], now: &[u8], width: usize) -> (usize, usize, usize, usize) {
    let (x, y, across, down) = changed(before, now, 3 * width);
    let (left, right) = (x / 3, (x + across).div_ceil(3));
    (left, y, right - left, down)
}

/// Writes a GIF file, all or nothing.
pub fn write_gif(path: impl AsRef<Path>, frames: &[Image], fps: f32) -> Result<()> {
    Ok(write_atomically(path.as_ref(), &gif(frames, fps)?)?)
}

/// Writes an APNG file, all or nothing.
pub fn write_apng(path: impl AsRef<Path>, frames: &[Image], fps: f32) -> Result<()> {
    Ok(write_atomically(path.as_ref(), &apng(frames, fps)?)?)
}
