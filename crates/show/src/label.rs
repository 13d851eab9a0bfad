//! Words on pictures.

use crate::{Camera, Image, font};
use glam::Vec3;

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// In a corner of the picture.
    TopLeft,
    /// In the middle of the upper edge.
    Top,
    /// In a corner of the picture.
    TopRight,
    /// In a corner of the picture.
    BottomLeft,
    /// In the middle of the lower edge.
    Bottom,
    /// In a corner of the picture.
    BottomRight,
    /// Centred over a point of the scene, in metres.
    World(Vec3),
    /// With its top left corner at this pixel.
    Pixel(f32, f32),
}

/// A line or several on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// What it says; `\n` begins a new line.
    pub text: String,
    /// Where.
    pub anchor: Anchor,
    /// Height of a capital in pixels; 0 chooses by the size of the picture.
    pub size_px: f32,
    /// sRGB.
    pub colour: [u8; 3],
}

impl Label {
    /// A dark label in the top left corner.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), anchor: Anchor::TopLeft, size_px: 0.0, colour: [0x26, 0x2b, 0x33] }
    }

    /// The same label elsewhere.
    #[must_use]
    pub fn at(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// The same label with capitals of this height in pixels.
    #[must_use]
    pub fn sized(mut self, size_px: f32) -> Self {
        self.size_px = size_px;
        self
    }

    /// The same label in this sRGB colour.
    #[must_use]
    pub fn coloured(mut self, colour: [u8; 3]) -> Self {
        self.colour = colour;
        self
    }

    /// Writes the label on a finished picture. `camera` is needed for labels that stand at a point of the scene,
    /// which are left out without it.
    pub fn write(&self, image: &mut Image, camera: Option<&Camera>) {
        let (w, h) = (image.width() as f32, image.height() as f32);
        let size =
            if self.size_px > 0.0 { self.size_px.min(400.0) } else { (0.022 * w.min(h)).clamp(8.0, 28.0) };
        let lines: Vec<&str> = self.text.lines().collect();
        let wide = lines.iter().map(|l| font::width(l, size)).fold(0.0, f32::max);
        let pitch = 1.75 * size;
        let high = pitch * lines.len().saturating_sub(1) as f32 + size;
        let edge = 0.9 * size + 2.0;
        // 0 left, ½ centred, 1 right.
        let (x, y, aligned) = match self.anchor {
            Anchor::TopLeft => (edge, edge, 0.0),
            Anchor::Top => (0.5 * (w - wide), edge, 0.5),
            Anchor::TopRight => (w - edge - wide, edge, 1.0),
            Anchor::BottomLeft => (edge, h - edge - high, 0.0),
            Anchor::Bottom => (0.5 * (w - wide), h - edge - high, 0.5),
            Anchor::BottomRight => (w - edge - wide, h - edge - high, 1.0),
            Anchor::Pixel(x, y) => (x, y, 0.0),
            Anchor::World(point) => {
                let Some(at) = camera.and_then(|c| c.pixel(point, image.width(), image.height())) else {
                    return;
                };
                (at.x - 0.5 * wide, at.y - 0.5 * high, 0.5)
            }
        };
        let light = self.colour.iter().map(|c| *c as u32).sum::<u32>() < 384;
        let halo = if light { [255; 3] } else { [20, 22, 26] };
        for pass in [true, false] {
            for (k, line) in lines.iter().enumerate() {
                let x = x + aligned * (wide - font::width(line, size));
                let y = y + k as f32 * pitch;
                if pass {
                    font::write(image, line, x, y, size, 0.28 * size, halo, 0.55);
                } else {
                    font::write(image, line, x, y, size, 0.0, self.colour, 1.0);
                }
            }
        }
    }
}
