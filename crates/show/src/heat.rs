//! Error as colour: blue is none, red is much, with a legend that says how much.

use crate::label::Anchor;
use crate::{Image, Label, srgb};
use glam::Vec3;

/// Five colours from blue over green and yellow to red, chosen so that lightness rises and falls once: neighbours
/// stay apart in print and for most colour-blind eyes.
fn stops() -> [Vec3; 5] {
    [
        srgb(0x2b, 0x4b, 0xa8),
        srgb(0x2f, 0xa3, 0xc7),
        srgb(0x8f, 0xd1, 0x6a),
        srgb(0xf6, 0xc4, 0x3c),
        srgb(0xc7, 0x22, 0x2a),
    ]
}

/// Linear RGB of a value between 0 (blue) and 1 (red); beyond that it stays red, and what is not a number is magenta.
pub fn heat_colour(value: f32) -> Vec3 {
    if value.is_nan() {
        return Vec3::new(1.0, 0.0, 1.0);
    }
    let stops = stops();
    let at = value.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let k = (at as usize).min(stops.len() - 2);
    stops[k].lerp(stops[k + 1], at - k as f32)
}

/// A colour per vertex for values such as errors in centimetres; `most` is red.
pub fn heat_colours(values: &[f32], most: f32) -> Vec<Vec3> {
    let scale = if most > 0.0 { 1.0 / most } else { 0.0 };
    values.iter().map(|v| heat_colour(v * scale)).collect()
}

/// Draws the legend of a heat map along the right edge: a bar with `0` to `most` and the unit.
pub fn write_legend(image: &mut Image, most: f32, unit: &str) {
    let (w, h) = (image.width() as f32, image.height() as f32);
    if w < 60.0 || h < 60.0 {
        return;
    }
    let size = (0.020 * w.min(h)).clamp(7.0, 22.0);
    let bar_wide = (1.1 * size) as i32;
    let (top, bottom) = ((0.30 * h) as i32, (0.70 * h) as i32);
    let right = (w - 1.2 * size) as i32;
    for y in top..=bottom {
        let value = (bottom - y) as f32 / (bottom - top).max(1) as f32;
        let colour = bytes(heat_colour(value));
        for x in right - bar_wide..right {
            image.blend(x, y, colour, 1.0);
        }
    }
    let decimals = if most >= 10.0 { 0 } else { 1 };
    for (k, part) in [1.0f32, 0.5, 0.0].into_iter().enumerate() {
        let text = format!("{:.*}", decimals, part * most);
        let text = if k == 0 { format!("{text} {unit}") } else { text };
        let y = bottom as f32 - part * (bottom - top) as f32 - 0.5 * size;
        let x = (right - bar_wide) as f32 - 0.7 * size - crate::font::width(&text, size);
        Label::new(text).sized(size).at(Anchor::Pixel(x, y)).write(image, None);
    }
}

/// A linear colour as sRGB bytes.
pub(crate) fn bytes(colour: Vec3) -> [u8; 3] {
    colour.to_array().map(|c| {
        let c = c.clamp(0.0, 1.0);
        let s = if c <= 0.0031308 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (255.0 * s).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_begins_blue_ends_red_and_marks_what_is_no_number() {
        let (none, much) = (heat_colour(0.0), heat_colour(1.0));
        assert!(none.z > none.x && much.x > much.z);
        assert_eq!(heat_colour(7.0), much);
        assert_eq!(heat_colour(f32::NAN), Vec3::new(1.0, 0.0, 1.0));
        assert_eq!(heat_colours(&[0.0, 2.0], 2.0), vec![none, much]);
    }

    #[test]
    fn srgb_bytes_come_back() {
        for c in [[0, 128, 255], [1, 17, 200]] {
            assert_eq!(bytes(srgb(c[0], c[1], c[2])), c);
        }
    }
}
