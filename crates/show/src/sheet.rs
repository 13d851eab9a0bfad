//! Pictures beside each other.

use crate::label::Anchor;
use crate::{Error, Image, Label, Result};

/// Panes in one row, for lock-step comparisons. All have the height of the first.
pub fn beside(panes: &[Image]) -> Result<Image> {
    let Some(first) = panes.first() else {
        return Err(Error::Invalid("no panes to set beside each other".into()));
    };
    let height = first.height();
    if let Some(other) = panes.iter().find(|p| p.height() != height) {
        return Err(Error::Invalid(format!("panes of {} and {} pixels height", height, other.height())));
    }
    let gap = 2;
    let width: u64 = panes.iter().map(|p| p.width() as u64 + gap).sum::<u64>() - gap;
    let mut out = Image::new(size(width, height as u64)?.0, height, [255; 4]);
    let mut x = 0;
    for pane in panes {
        out.paste(pane, x, 0);
        x += pane.width() + gap as u32;
    }
    Ok(out)
}

/// A contact sheet: pictures in rows of `columns`, each with its caption below. Captions that are missing stay empty.
pub fn contact_sheet(pictures: &[Image], captions: &[&str], columns: usize) -> Result<Image> {
    if pictures.is_empty() || columns == 0 {
        return Err(Error::Invalid("a contact sheet needs pictures and columns".into()));
    }
    let columns = columns.min(pictures.len());
    let rows = pictures.len().div_ceil(columns);
    let wide = pictures.iter().map(Image::width).max().unwrap_or(1);
    let high = pictures.iter().map(Image::height).max().unwrap_or(1);
    let captioned = captions.iter().any(|c| !c.is_empty());
    let text = (0.045 * wide as f32).clamp(8.0, 18.0);
    let caption = if captioned { (2.6 * text) as u32 } else { 0 };
    let gap = 6;
    let (width, height) = size(
        columns as u64 * (wide as u64 + gap) + gap,
        rows as u64 * (high as u64 + caption as u64 + gap) + gap,
    )?;
    let mut out = Image::new(width, height, [255; 4]);
    let gap = gap as u32;
    for (k, picture) in pictures.iter().enumerate() {
        let (column, row) = ((k % columns) as u32, (k / columns) as u32);
        let (x, y) = (gap + column * (wide + gap), gap + row * (high + caption + gap));
        out.paste(picture, x, y);
        if let Some(words) = captions.get(k) {
            Label::new(*words)
                .sized(text)
                .at(Anchor::Pixel(x as f32 + 2.0, (y + high) as f32 + 0.7 * text))
                .write(&mut out, None);
        }
    }
    Ok(out)
}

fn size(width: u64, height: u64) -> Result<(u32, u32)> {
    let (w, h) = (width.min(u32::MAX as u64) as u32, height.min(u32::MAX as u64) as u32);
    if width > 65_535 || height > 65_535 || width * height > 200_000_000 {
        return Err(Error::Size {
            width: w,
            height: h,
            limit: "200 million pixels and 65535 a side are the most".into(),
        });
    }
    Ok((w, h))
}
