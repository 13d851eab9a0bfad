//! Pictures on surfaces, from PNG and JPEG.

use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// More than any character carries; a file that claims more is not decoded.
const MOST_SIDE: u32 = 16384;
const MOST_BYTES: usize = 1 << 30;

/// A picture that lies on an item. Cheap to clone; a renderer uploads it once.
#[derive(Clone, Debug)]
pub struct Texture {
    pub(crate) picture: Arc<Picture>,
}

#[derive(Debug)]
pub(crate) struct Picture {
    pub id: u64,
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Texture {
    /// From sRGB bytes with straight alpha, rows from the top.
    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if width == 0 || height == 0 || rgba.len() as u64 != 4 * u64::from(width) * u64::from(height) {
            return Err(Error::Invalid(format!("{} bytes are no picture of {width}×{height}", rgba.len())));
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { picture: Arc::new(Picture { id, width, height, rgba }) })
    }

    /// From the bytes of a PNG or JPEG file.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => png(bytes),
            [0xFF, 0xD8, ..] => jpeg(bytes),
            _ => Err(Error::Invalid("a picture that is neither PNG nor JPEG".into())),
        }
    }

    /// A number of its own; clones share it.
    pub fn id(&self) -> u64 {
        self.picture.id
    }

    /// In pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.picture.width, self.picture.height)
    }
}

fn png(bytes: &[u8]) -> Result<Texture> {
    let bad = |e: &dyn std::fmt::Display| Error::Invalid(format!("PNG: {e}"));
    let mut decoder =
        png::Decoder::new_with_limits(std::io::Cursor::new(bytes), png::Limits { bytes: MOST_BYTES });
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|e| bad(&e))?;
    let size = reader.output_buffer_size().filter(|s| *s <= MOST_BYTES).ok_or_else(|| bad(&"too large"))?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|e| bad(&e))?;
    let rgba = match info.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::GrayscaleAlpha => {
            pixels.as_chunks::<2>().0.iter().flat_map(|[g, a]| [*g, *g, *g, *a]).collect()
        }
        other => return Err(bad(&format!("{other:?} pixels"))),
    };
    Texture::from_rgba(info.width, info.height, rgba)
}

fn jpeg(bytes: &[u8]) -> Result<Texture> {
    let bad = |e: &dyn std::fmt::Display| Error::Invalid(format!("JPEG: {e}"));
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGBA)
        .set_max_width(MOST_SIDE as usize)
        .set_max_height(MOST_SIDE as usize);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let rgba = decoder.decode().map_err(|e| bad(&e))?;
    let (width, height) = decoder.dimensions().ok_or_else(|| bad(&"no size"))?;
    Texture::from_rgba(width as u32, height as u32, rgba)
}

impl Picture {
    /// The picture and its halves down to one pixel, the first no larger than `most` a side.
    pub fn levels(&self, most: u32) -> Vec<(u32, u32, Vec<u8>)> {
        let mut levels = vec![(self.width, self.height, self.rgba.clone())];
        while let Some((width, height, rgba)) = levels.last().filter(|(w, h, _)| *w > 1 || *h > 1) {
            let next = halved(*width, *height, rgba);
            levels.push(next);
        }
        let fits = |(w, h, _): &(u32, u32, Vec<u8>)| *w <= most && *h <= most;
        let first = levels.iter().position(fits).unwrap_or(levels.len() - 1);
        levels.split_off(first)
    }
}

/// Means of two by two pixels, as the eye sees them: of encoded values, weighed by opacity so that what is not to be
/// seen lends no colour.
fn halved(width: u32, height: u32, rgba: &[u8]) -> (u32, u32, Vec<u8>) {
    let (w, h) = ((width / 2).max(1), (height / 2).max(1));
    let mut out = Vec::with_capacity(4 * (w * h) as usize);
    for y in 0..h {
        for x in 0..w {
            let mut sum = [0u32; 3];
            let (mut alpha, mut plain) = (0, [0u32; 3]);
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (px, py) = ((2 * x + dx).min(width - 1), (2 * y + dy).min(height - 1));
                let at = 4 * (py * width + px) as usize;
                let a = u32::from(rgba[at + 3]);
                alpha += a;
                for k in 0..3 {
                    sum[k] += a * u32::from(rgba[at + k]);
                    plain[k] += u32::from(rgba[at + k]);
                }
            }
            let colour = |k: usize| match alpha {
                0 => plain[k] / 4,
                _ => (sum[k] + alpha / 2) / alpha,
            };
            out.extend([colour(0) as u8, colour(1) as u8, colour(2) as u8, ((alpha + 2) / 4) as u8]);
        }
    }
    (w, h, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_take_no_colour_from_what_is_not_seen() {
        let red_and_nothing = [[255, 0, 0, 255], [0, 255, 0, 0], [255, 0, 0, 255], [0, 255, 0, 0]].concat();
        assert_eq!(halved(2, 2, &red_and_nothing), (1, 1, vec![255, 0, 0, 128]));
        let picture = Texture::from_rgba(8, 2, vec![7; 64]).unwrap();
        let sizes: Vec<(u32, u32)> = picture.picture.levels(4).iter().map(|(w, h, _)| (*w, *h)).collect();
        assert_eq!(sizes, [(4, 1), (2, 1), (1, 1)]);
    }

    #[test]
    fn what_is_no_picture_is_said() {
        assert!(Texture::decode(b"GIF89a").unwrap_err().to_string().contains("neither PNG nor JPEG"));
        assert!(Texture::decode(b"\x89PNG\r\n\x1a\n").unwrap_err().to_string().contains("PNG"));
        assert!(Texture::decode(&[0xFF, 0xD8, 0xFF, 0xE0]).unwrap_err().to_string().contains("JPEG"));
        assert!(Texture::from_rgba(2, 2, vec![0; 3]).is_err());
    }
}
