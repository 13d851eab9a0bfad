//! A report as one HTML file: everything inside, nothing fetched, readable on a telephone and in the dark.
//!
//! ```
//! use toile_show::{Chart, Line, Page};
//! let mut page = Page::new("A dress, walking");
//! page.section("How far off").paragraph("Mean distance to the simulation.");
//! page.table(&["tier", "cm"], &[vec!["skin".into(), "3.1".into()], vec!["stable".into(), "0.8".into()]]);
//! page.chart(&Chart {
//!     x_label: "s".into(),
//!     y_label: "cm".into(),
//!     lines: vec![Line::new("stable", vec![(0.0, 0.7), (1.0, 0.9)])],
//!     ..Chart::default()
//! });
//! assert!(page.finish().starts_with("<!doctype html>"));
//! ```

mod base64;
mod chart;
mod disc;
mod live;

pub use chart::{Chart, Line};
pub use live::LiveView;

use crate::palette::Palette;
use crate::{Error, Image, Result};
use chart::Look;
use std::fmt::Write as _;
use std::path::Path;
use toile_assets::write::{MARK, write_atomically};

/// A page that is being written.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    films: usize,
}

impl Page {
    /// A page with a title and nothing else.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: String::new(), films: 0 }
    }

    /// Begins a section.
    pub fn section(&mut self, heading: &str) -> &mut Self {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(heading));
        self
    }

    /// A paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
        self
    }

    /// Text whose lines and spaces stay as they are: a command, a log.
    pub fn preformatted(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(text));
        self
    }

    /// A table. Columns of numbers are set flush right, the words `pass` and `FAIL` in colour.
    pub fn table(&mut self, headers: &[&str], rows: &[Vec<String>]) -> &mut Self {
        let numeric = |column: usize| {
            let mut cells = rows.iter().filter_map(|r| r.get(column)).filter(|c| !c.is_empty()).peekable();
            cells.peek().is_some() && cells.all(|c| is_number(c))
        };
        // Many columns do not fit a telephone: there every row becomes a card, each figure with its header.
        let class = if headers.len() > 4 { " class=\"cards\"" } else { "" };
        let _ = write!(self.body, "<div class=\"scroll\"><table{class}>\n<thead><tr>");
        for (k, header) in headers.iter().enumerate() {
            let class = if numeric(k) { " class=\"n\"" } else { "" };
            let _ = write!(self.body, "<th{class}>{}</th>", escape(header));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (k, cell) in row.iter().enumerate() {
                let class = match cell.to_ascii_lowercase().as_str() {
                    "pass" => " class=\"pass\"",
                    "fail" => " class=\"fail\"",
                    _ if numeric(k) => " class=\"n\"",
                    _ => "",
                };
                let label = headers
                    .get(k)
                    .filter(|_| headers.len() > 4 && k > 0)
                    .map_or_else(String::new, |h| format!(" data-label=\"{}\"", escape(h)));
                let _ = write!(self.body, "<td{class}{label}>{}</td>", escape(cell));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
        self
    }

    /// A picture from the bytes of a PNG, APNG or GIF file.
    pub fn figure(&mut self, file: &[u8], caption: &str) -> &mut Self {
        let kind = if file.starts_with(b"GIF8") { "gif" } else { "png" };
        // Panes in a row are scrolled on a telephone rather than shrunk to stamps.
        let class = if aspect(file).is_some_and(|a| a > 2.2) { " class=\"wide\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<figure{class}><img alt=\"{0}\" src=\"data:image/{kind};base64,{1}\"><figcaption>{0}</figcaption></figure>",
            escape(caption),
            base64::encode(file)
        );
        self
    }

    /// Pictures beside each other, as many to a row as the screen has room for.
    pub fn gallery(&mut self, images: &[Image], caption: &str) -> Result<&mut Self> {
        self.body.push_str("<figure class=\"gallery\"><div>\n");
        for image in images {
            let png = base64::encode(&image.png()?);
            let _ =
                writeln!(self.body, "<img alt=\"{}\" src=\"data:image/png;base64,{png}\">", escape(caption));
        }
        let _ = writeln!(self.body, "</div><figcaption>{}</figcaption></figure>", escape(caption));
        Ok(self)
    }

    /// A picture.
    pub fn image(&mut self, image: &Image, caption: &str) -> Result<&mut Self> {
        let png = image.png()?;
        Ok(self.figure(&png, caption))
    }

    /// A film that can be played, paused and scrubbed. Its frames are stored side by side in a few
    /// PNGs of 256 colours: about 25 kB a frame at 320 pixels, so keep it to a hundred or two.
    pub fn film(&mut self, frames: &[Image], fps: f32, caption: &str) -> Result<&mut Self> {
        self.film_of_panes(frames, 1, fps, caption)
    }

    /// A film whose frames are panes of one width in a row; a narrow screen shows them two by two.
    pub fn film_of_panes(
        &mut self,
        frames: &[Image],
        panes: u32,
        fps: f32,
        caption: &str,
    ) -> Result<&mut Self> {
        let Some(first) = frames.first() else { return Err(Error::Invalid("a film needs frames".into())) };
        let (wide, high) = (first.width(), first.height());
        if wide == 0 || high == 0 || frames.iter().any(|f| (f.width(), f.height()) != (wide, high)) {
            return Err(Error::Invalid("the frames of a film must all have the same size".into()));
        }
        if panes == 0 || wide % panes != 0 {
            return Err(Error::Invalid(format!(
                "a frame of {wide} pixels is not {panes} panes of one width"
            )));
        }
        // Browsers on telephones refuse pictures beyond 4096 a side.
        let across = (4096 / wide).clamp(1, 8);
        let down = (4096 / high).clamp(1, 8);
        let per_sheet = (across * down) as usize;
        let fps = if fps.is_finite() && fps > 0.0 { fps } else { 25.0 };
        let _ = writeln!(
            self.body,
            "<figure class=\"film\" data-reel=\"{wide} {high} {} {fps} {across}\" data-per-sheet=\"{per_sheet}\" \
             data-panes=\"{panes}\">",
            frames.len()
        );
        let _ = writeln!(self.body, "<canvas width=\"{wide}\" height=\"{high}\" hidden></canvas>");
        let mut palette = Palette::of(frames, 256);
        for part in frames.chunks(per_sheet) {
            let columns = across.min(part.len() as u32);
            let rows = (part.len() as u32).div_ceil(across);
            let row = wide as usize * columns as usize;
            let mut sheet = vec![0u8; row * high as usize * rows as usize];
            for (k, frame) in part.iter().enumerate() {
                let (x, y) = (k % across as usize * wide as usize, k / across as usize * high as usize);
                for (line, indices) in palette.indices(frame).chunks_exact(wide as usize).enumerate() {
                    let at = (y + line) * row + x;
                    sheet[at..at + wide as usize].copy_from_slice(indices);
                }
            }
            let png = base64::encode(&palette.png(wide * columns, high * rows, &sheet)?);
            let _ =
                writeln!(self.body, "<img alt=\"{}\" src=\"data:image/png;base64,{png}\">", escape(caption));
        }
        let _ = writeln!(
            self.body,
            "<div class=\"reel\" hidden><button type=\"button\"></button><input type=\"range\" min=\"0\" max=\"{}\" \
             value=\"0\" aria-label=\"Frame\"><output></output></div><figcaption>{}</figcaption></figure>",
            frames.len() - 1,
            escape(caption)
        );
        self.films += 1;
        Ok(self)
    }

    /// Figures to be seen first: what, how much, and a word on it.
    pub fn facts(&mut self, facts: &[(&str, String, String)]) -> &mut Self {
        self.body.push_str("<dl class=\"facts\">\n");
        for (what, value, word) in facts {
            let _ = writeln!(
                self.body,
                "<div><dt>{}</dt><dd>{}</dd><dd class=\"word\">{}</dd></div>",
                escape(what),
                escape(value),
                escape(word)
            );
        }
        self.body.push_str("</dl>\n");
        self
    }

    /// Pass or fail, in colour, and what that means.
    pub fn verdict(&mut self, pass: bool, text: &str) -> &mut Self {
        let (class, word) = if pass { ("pass", "PASS") } else { ("fail", "FAIL") };
        let _ =
            writeln!(self.body, "<p class=\"verdict {class}\"><strong>{word}</strong> {}</p>", escape(text));
        self
    }

    /// Complex numbers against the unit circle.
    pub fn disc(&mut self, title: &str, values: &[(f64, f64)], caption: &str) -> &mut Self {
        self.body.push_str(&disc::html(title, values, caption));
        self
    }

    /// A line chart with powers of ten up its side.
    pub fn chart_of_decades(&mut self, chart: &Chart) -> &mut Self {
        self.body.push_str(&chart.html_as(Look { decades: true, marked: false }));
        self
    }

    /// A line chart over the seconds of the page's first film, with a mark that moves as it plays.
    pub fn chart_of_film(&mut self, chart: &Chart) -> &mut Self {
        self.body.push_str(&chart.html_as(Look { decades: false, marked: true }));
        self
    }

    /// A line chart.
    pub fn chart(&mut self, chart: &Chart) -> &mut Self {
        self.body.push_str(&chart.html());
        self
    }

    /// The whole page.
    pub fn finish(&self) -> String {
        let script = if self.films > 0 {
            format!("<script>\n{}</script>\n", include_str!("film.js"))
        } else {
            String::new()
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"{MARK}\">\n<title>{title}</title>\n\
             <style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n{script}</body>\n</html>\n",
            title = escape(&self.title),
            style = include_str!("style.css"),
            body = self.body,
        )
    }

    /// Writes the page, all or nothing.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_atomically(path.as_ref(), self.finish().as_bytes())?)
    }
}

/// Width over height of a PNG file, from its header.
fn aspect(file: &[u8]) -> Option<f64> {
    if !file.starts_with(b"\x89PNG") {
        return None;
    }
    let number = |at: usize| file.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let (wide, high) = (number(16)?, number(20)?);
    (high > 0).then(|| f64::from(wide) / f64::from(high))
}

/// Text for HTML, inside elements and quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A number, perhaps with a unit behind it: `12.3`, `−4 %`, `1 800 µs`.
fn is_number(cell: &str) -> bool {
    let cell = cell.trim_start_matches(['-', '−', '+', '±', '<', '≤', '~', ' ']);
    cell.starts_with(|c: char| c.is_ascii_digit()) || cell == "–" || cell == "—"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_cannot_become_markup() {
        let mut page = Page::new("<script>");
        page.section("a & b").paragraph("x < y").table(&["\"q\""], &[vec!["<b>".into()]]);
        page.figure(b"\x89PNG", "\"><img onerror=x>");
        let html = page.finish();
        assert!(!html.contains("<script>") && !html.contains("<b>") && !html.contains("<img onerror"));
        assert!(html.contains("a &amp; b") && html.contains("x &lt; y"));
    }

    #[test]
    fn numbers_stand_flush_right_and_verdicts_have_colour() {
        let mut page = Page::new("t");
        page.table(
            &["what", "cm", "verdict"],
            &[
                vec!["skin".into(), "3.1".into(), "FAIL".into()],
                vec!["stable".into(), "0.80".into(), "pass".into()],
            ],
        );
        let html = page.finish();
        assert!(html.contains("<td class=\"n\">3.1</td>") && html.contains("<td>skin</td>"));
        assert!(
            html.contains("<td class=\"fail\">FAIL</td>") && html.contains("<td class=\"pass\">pass</td>")
        );
    }

    #[test]
    fn a_film_has_all_its_frames_and_the_script_once() {
        let frames: Vec<Image> = (0..70).map(|k| Image::new(500, 40, [k, 0, 0, 255])).collect();
        let mut page = Page::new("film");
        page.film(&frames, 30.0, "walk").unwrap().film(&frames[..2], 30.0, "short").unwrap();
        let html = page.finish();
        assert!(html.contains("data-reel=\"500 40 70 30 8\" data-per-sheet=\"64\" data-panes=\"1\""));
        assert_eq!(html.matches("data:image/png").count(), 3);
        assert_eq!(html.matches("<script>").count(), 1);
        assert!(page.film(&[], 30.0, "none").is_err());
        assert!(page.film_of_panes(&frames, 3, 30.0, "500 is not three panes").is_err());
    }
}
