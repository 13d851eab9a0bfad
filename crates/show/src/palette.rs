//! A few colours for many pictures: median cut (Heckbert 1982) over all frames, then ordered dithering.

use crate::{Error, Image, Result};
use std::collections::HashMap;

/// At most 256 colours that stand for all of a film's.
pub(crate) struct Palette {
    colours: Vec<[u8; 3]>,
    /// Nearest colour for each colour cut to 6 bits a channel, found when first asked for.
    nearest: Vec<Option<u8>>,
}

/// A box of colours, each with the number of pixels that have it.
struct Bin {
    colours: Vec<([u8; 3], u64)>,
}

impl Bin {
    fn longest_side(&self) -> (usize, u64) {
        (0..3)
            .map(|k| {
                let values = || self.colours.iter().map(|(c, _)| c[k]);
                // Green weighs most in what the eye sees.
                let weight = [3, 5, 2][k];
                (k, weight * u64::from(values().max().unwrap_or(0) - values().min().unwrap_or(0)))
            })
            .max_by_key(|&(k, side)| (side, 3 - k))
            .unwrap_or((0, 0))
    }

    /// What splitting it would gain: side times root of population, so that small bright details get colours too.
    fn worth(&self) -> u64 {
        let pixels: u64 = self.colours.iter().map(|(_, n)| n).sum();
        if self.colours.len() < 2 { 0 } else { self.longest_side().1 * (pixels as f64).sqrt() as u64 }
    }

    fn split(mut self) -> (Self, Self) {
        let (k, _) = self.longest_side();
        self.colours.sort_unstable_by_key(|(c, _)| (c[k], *c));
        let half: u64 = self.colours.iter().map(|(_, n)| n).sum::<u64>() / 2;
        let mut seen = 0;
        let mut cut = 1;
        for (i, (_, n)) in self.colours.iter().enumerate() {
            seen += n;
            if seen >= half {
                cut = i + 1;
                break;
            }
        }
        let cut = cut.clamp(1, self.colours.len() - 1);
        let upper = self.colours.split_off(cut);
        (self, Self { colours: upper })
    }

    fn mean(&self) -> [u8; 3] {
        let pixels: u64 = self.colours.iter().map(|(_, n)| n).sum::<u64>().max(1);
        std::array::from_fn(|k| {
            let sum: u64 = self.colours.iter().map(|(c, n)| c[k] as u64 * n).sum();
            ((sum + pixels / 2) / pixels) as u8
        })
    }
}

impl Palette {
    /// The best `most` colours for these frames. Long films are sampled: at most 24 frames, every third pixel.
    pub fn of(frames: &[Image], most: usize) -> Self {
        let mut counted: HashMap<[u8; 3], u64> = HashMap::new();
        let step = frames.len().div_ceil(24).max(1);
        for frame in frames.iter().step_by(step) {
            for p in frame.pixels().chunks_exact(4).step_by(if frame.pixels().len() > 40_000 { 3 } else { 1 })
            {
                // Seven bits are below what dithering hides, and halve the work.
                *counted.entry([p[0] & 0xfe, p[1] & 0xfe, p[2] & 0xfe]).or_default() += 1;
            }
        }
        let mut colours: Vec<_> = counted.into_iter().collect();
        // A hash map's order is random; a film's palette must not be.
        colours.sort_unstable();
        let mut bins = vec![Bin { colours }];
        while bins.len() < most {
            let Some((k, worth)) =
                bins.iter().map(Bin::worth).enumerate().max_by_key(|&(k, w)| (w, usize::MAX - k))
            else {
                break;
            };
            if worth == 0 {
                break;
            }
            let (a, b) = bins.swap_remove(k).split();
            bins.extend([a, b]);
        }
        let mut colours: Vec<[u8; 3]> = bins.iter().map(Bin::mean).collect();
        colours.sort_unstable();
        colours.dedup();
        Self { colours, nearest: vec![None; 1 << 18] }
    }

    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// The bytes of a PNG file with this palette.
    pub fn png(&self, width: u32, height: u32, indices: &[u8]) -> Result<Vec<u8>> {
        let fail = |e: png::EncodingError| Error::Encode { what: "PNG", why: e.to_string() };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(self.colours.as_flattened());
        // Indices are names, not amounts: differences between neighbours say nothing.
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header().map_err(fail)?;
        writer.write_image_data(indices).map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(bytes)
    }

    /// The picture in palette indices, dithered by a 4×4 Bayer pattern. The pattern stands still, so that what does
    /// not move keeps its indices from frame to frame, which error diffusion would not.
    pub fn indices(&mut self, image: &Image) -> Vec<u8> {
        const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
        let width = image.width().max(1) as usize;
        let mut out = Vec::with_capacity(image.pixels().len() / 4);
        for (i, p) in image.pixels().chunks_exact(4).enumerate() {
            // About half the distance between neighbours in a palette of 255, either way.
            let push = (BAYER[i / width % 4][i % width % 4] * 2 - 15) / 4;
            let c = [0, 1, 2].map(|k| (p[k] as i32 + push).clamp(0, 255) >> 2);
            let cell = (c[0] << 12 | c[1] << 6 | c[2]) as usize;
            let colours = &self.colours;
            out.push(*self.nearest[cell].get_or_insert_with(|| nearest(colours, c.map(|v| 4 * v + 2))));
        }
        out
    }
}

fn nearest(colours: &[[u8; 3]], c: [i32; 3]) -> u8 {
    let away = |p: &[u8; 3]| -> i32 {
        (0..3).map(|k| [3, 5, 2][k] * (c[k] - p[k] as i32) * (c[k] - p[k] as i32)).sum()
    };
    (0..colours.len()).min_by_key(|&i| away(&colours[i])).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_nearly_exactly() {
        let mut image = Image::new(16, 16, [200, 40, 40, 255]);
        for k in 0..8 {
            image.blend(k, 3, [20, 200, 90], 1.0);
        }
        let mut palette = Palette::of(std::slice::from_ref(&image), 255);
        assert_eq!(palette.colours().len(), 2);
        let indices = palette.indices(&image);
        let of = |x: usize, y: usize| palette.colours()[indices[16 * y + x] as usize];
        assert!(of(0, 3)[1] > 190 && of(0, 0)[0] > 190);
    }

    #[test]
    fn a_gradient_gets_many_shades_and_always_the_same() {
        let mut image = Image::new(256, 64, [0, 0, 0, 255]);
        for y in 0..64 {
            for x in 0..256 {
                image.blend(x, y, [x as u8, (4 * y) as u8, 128], 1.0);
            }
        }
        let frames = [image];
        let (mut a, b) = (Palette::of(&frames, 255), Palette::of(&frames, 255));
        assert!(a.colours().len() > 200);
        assert_eq!(a.colours(), b.colours());
        let indices = a.indices(&frames[0]);
        let worst = frames[0]
            .pixels()
            .chunks_exact(4)
            .zip(indices)
            .map(|(p, i)| (0..3).map(|k| p[k].abs_diff(a.colours()[i as usize][k])).max().unwrap())
            .max();
        assert!(worst < Some(40), "{worst:?}");
    }
}
