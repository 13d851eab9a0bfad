//! Films: animated GIF for everywhere, APNG for true colours.

use crate::{Error, Image, Result, palette::Palette};
use std::path::Path;
use toile_assets::write::write_atomically;

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
    let (width, height) = check(frames, "GIF")?;
    let fail = |why: String| Error::Encode { what: "GIF", why };
    let (Ok(w), Ok(h)) = (u16::try_from(width), u16::try_from(height)) else {
        return Err(fail(format!("{width}×{height}: a GIF has at most 65535 pixels a side")));
    };
    // 255 colours and one index for "as before".
    let mut palette = Palette::of(frames, 255);
    let transparent = palette.colours().len() as u8;
    let mut table: Vec<u8> = palette.colours().iter().flatten().copied().collect();
    table.extend([0, 0, 0]);
    let mut bytes = Vec::new();
    {
        let mut encoder = gif::Encoder::new(&mut bytes, w, h, &table).map_err(|e| fail(e.to_string()))?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|e| fail(e.to_string()))?;
        let mut shown: Vec<u8> = Vec::new();
        // Delays are whole hundredths; carrying the remainder keeps the film's length right.
        let hundredths =
            100.0 / f64::from(if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 50.0) } else { 25.0 });
        for (k, frame) in frames.iter().enumerate() {
            let indices = palette.indices(frame);
            let (x, y, across, down) = changed(&shown, &indices, width as usize);
            let mut buffer = Vec::with_capacity(across * down);
            for row in y..y + down {
                for column in x..x + across {
                    let i = row * width as usize + column;
                    let same = shown.get(i) == Some(&indices[i]);
                    buffer.push(if same { transparent } else { indices[i] });
                }
            }
            let until = ((k + 1) as f64 * hundredths).round() - (k as f64 * hundredths).round();
            encoder
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
                .map_err(|e| fail(e.to_string()))?;
            shown = indices;
        }
    }
    Ok(bytes)
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
    let (width, height) = check(frames, "APNG")?;
    let fail = |e: png::EncodingError| Error::Encode { what: "APNG", why: e.to_string() };
    let fps = if fps.is_finite() && fps > 0.0 { fps.clamp(0.1, 60.0) } else { 25.0 };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_animated(frames.len() as u32, 0).map_err(fail)?;
    encoder.set_frame_delay((1000.0 / fps).round() as u16, 1000).map_err(fail)?;
    let mut writer = encoder.write_header().map_err(fail)?;
    let mut shown: Vec<u8> = Vec::new();
    for frame in frames {
        let rgb = frame.rgb();
        let (x, y, across, down) = changed_rgb(&shown, &rgb, width as usize);
        writer.reset_frame_position().map_err(fail)?;
        writer.set_frame_dimension(across as u32, down as u32).map_err(fail)?;
        writer.set_frame_position(x as u32, y as u32).map_err(fail)?;
        let mut part = Vec::with_capacity(3 * across * down);
        for row in y..y + down {
            let from = 3 * (row * width as usize + x);
            part.extend_from_slice(&rgb[from..from + 3 * across]);
        }
        writer.write_image_data(&part).map_err(fail)?;
        shown = rgb;
    }
    writer.finish().map_err(fail)?;
    Ok(bytes)
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
