//! Pictures in memory, and as PNG.

use crate::{Error, Result};
use std::path::Path;
use toile_assets::write::{MARK, write_atomically};

/// An RGBA picture, eight bits a channel, sRGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn new(width: u32, height: u32, colour: [u8; 4]) -> Self {
        Self { width, height, pixels: colour.repeat(width as usize * height as usize) }
    }

    /// A picture from its bytes, four a pixel.
    pub fn from_rgba(width: u32, height: u32, pixels: Vec<u8>) -> Result<Self> {
        if pixels.len() as u64 != 4 * width as u64 * height as u64 {
            return Err(Error::Invalid(format!(
                "a picture of {width}×{height} has {} bytes, not {}",
                4 * width as u64 * height as u64,
                pixels.len()
            )));
        }
        Ok(Self { width, height, pixels })
    }

    /// In pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// In pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Four bytes a pixel, rows from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The pixel at `x`, `y`; transparent black outside.
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        if x >= self.width || y >= self.height {
            return [0; 4];
        }
        let i = 4 * (y as usize * self.width as usize + x as usize);
        [self.pixels[i], self.pixels[i + 1], self.pixels[i + 2], self.pixels[i + 3]]
    }

    /// Blends a colour over one pixel with the given coverage; outside nothing happens.
    pub fn blend(&mut self, x: i32, y: i32, colour: [u8; 3], coverage: f32) {
        if x < 0 || y < 0 || x >= self.width as i32 || y >= self.height as i32 {
            return;
        }
        let i = 4 * (y as usize * self.width as usize + x as usize);
        let c = coverage.clamp(0.0, 1.0);
        for k in 0..3 {
            let old = self.pixels[i + k] as f32;
            self.pixels[i + k] = (old + (colour[k] as f32 - old) * c).round() as u8;
        }
        self.pixels[i + 3] = self.pixels[i + 3].max((255.0 * c) as u8);
    }

    /// Copies `other` in with its top left corner at `x`, `y`; what falls outside is cut off.
    pub fn paste(&mut self, other: &Self, x: u32, y: u32) {
        let wide = other.width.min(self.width.saturating_sub(x)) as usize;
        let high = other.height.min(self.height.saturating_sub(y));
        for row in 0..high {
            let from = 4 * row as usize * other.width as usize;
            let to = 4 * ((y + row) as usize * self.width as usize + x as usize);
            self.pixels[to..to + 4 * wide].copy_from_slice(&other.pixels[from..from + 4 * wide]);
        }
    }

    /// The picture at half its size, four pixels averaged to one: drawn at twice the size, a still has edges smoother
    /// than multisampling alone gives.
    #[must_use]
    pub fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut pixels = Vec::with_capacity(4 * width as usize * height as usize);
        for y in 0..height {
            for x in 0..width {
                let (x1, y1) =
                    ((2 * x + 1).min(self.width.max(1) - 1), (2 * y + 1).min(self.height.max(1) - 1));
                let four = [self.at(2 * x, 2 * y), self.at(x1, 2 * y), self.at(2 * x, y1), self.at(x1, y1)];
                pixels
                    .extend((0..4).map(|k| ((four.iter().map(|p| p[k] as u32).sum::<u32>() + 2) / 4) as u8));
            }
        }
        Self { width, height, pixels }
    }

    /// The PNG file's bytes.
    pub fn png(&self) -> Result<Vec<u8>> {
        let fail = |e: png::EncodingError| Error::Encode { what: "PNG", why: e.to_string() };
        let mut bytes = Vec::new();
        let opaque = self.pixels.chunks_exact(4).all(|p| p[3] == 255);
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.add_text_chunk("Software".into(), MARK.into()).map_err(fail)?;
        let mut writer = encoder.write_header().map_err(fail)?;
        if opaque {
            writer.write_image_data(&self.rgb()).map_err(fail)?;
        } else {
            writer.write_image_data(&self.pixels).map_err(fail)?;
        }
        writer.finish().map_err(fail)?;
        Ok(bytes)
    }

    /// Three bytes a pixel, without opacity.
    pub(crate) fn rgb(&self) -> Vec<u8> {
        self.pixels.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect()
    }

    /// Writes a PNG file, all or nothing.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), &self.png()?)?)
    }
}
