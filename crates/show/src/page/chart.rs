//! Line charts as inline SVG, coloured by the page's style so that they follow light and dark.

use super::escape;
use std::fmt::Write as _;

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// For the legend.
    pub name: String,
    /// x and y; points that are not finite leave a gap.
    pub points: Vec<(f64, f64)>,
    /// Drawn dashed: a reference, a limit.
    pub dashed: bool,
    /// One of the eight colours; the line's place in the chart where none is named.
    pub colour: Option<usize>,
}

impl Line {
    /// A solid line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, dashed: false, colour: None }
    }

    /// The same line in a colour of its own, so that it has it in every chart of a page.
    #[must_use]
    pub fn coloured(mut self, colour: usize) -> Self {
        self.colour = Some(colour);
        self
    }

    /// The same line, dashed.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }
}

/// A line chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Above the chart.
    pub title: String,
    /// Quantity and unit along the bottom.
    pub x_label: String,
    /// Quantity and unit along the side.
    pub y_label: String,
    /// The lines, at most eight of which have colours of their own.
    pub lines: Vec<Line>,
    /// Whether the y axis begins at zero even if no value is near.
    pub from_zero: bool,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// y in powers of ten; what is not above zero leaves a gap.
    pub decades: bool,
    /// With a vertical mark that follows the film above, x being its seconds.
    pub marked: bool,
}

const WIDE: f64 = 640.0;
const HIGH: f64 = 300.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

impl Chart {
    /// The chart as a file of its own, coloured for a light background; the legend is inside.
    pub fn svg(&self) -> String {
        let html = self.html();
        let body = html.find("<svg viewBox").and_then(|from| {
            let inner = from + html[from..].find('>')? + 1;
            Some(&html[inner..inner + html[inner..].find("</svg>")?])
        });
        let colours =
            ["#2a6f97", "#c1440e", "#3c8d40", "#8f5fa8", "#b8860b", "#4a4a4a", "#d1495b", "#00798c"];
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 -44 {WIDE} {}\" font-family=\"sans-serif\">\n<style>\
             .grid{{stroke:#ddd}}.axis{{stroke:#555}}.tick{{font-size:12px;fill:#555}}.name{{font-size:13px;fill:#333}}\
             .line{{fill:none;stroke-width:2}}.dashed{{stroke-dasharray:6 4}}",
            HIGH + 44.0
        );
        for (k, colour) in colours.iter().enumerate() {
            let _ = write!(out, ".c{k}{{stroke:{colour}}}");
        }
        let _ = writeln!(
            out,
            "</style>\n<rect x=\"0\" y=\"-44\" width=\"{WIDE}\" height=\"{}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"-26\" font-size=\"14\" fill=\"#222\">{}</text>",
            HIGH + 44.0,
            escape(&self.title)
        );
        let mut x = LEFT;
        for (k, line) in self.lines.iter().enumerate() {
            let dashed = if line.dashed { " dashed" } else { "" };
            let _ = writeln!(
                out,
                "<path class=\"line c{}{dashed}\" d=\"M{x:.0} -8h22\"/><text class=\"tick\" x=\"{:.0}\" y=\"-4\">{}</text>",
                line.colour.unwrap_or(k) % 8,
                x + 27.0,
                escape(&line.name)
            );
            x += 44.0 + 7.0 * line.name.chars().count() as f64;
        }
        let _ = writeln!(out, "{}</svg>", body.unwrap_or(""));
        out
    }

    /// The chart as a figure.
    pub(super) fn html(&self) -> String {
        self.html_as(Look::default())
    }

    /// The same with decades up the side, or with a mark that a film moves.
    pub(super) fn html_as(&self, look: Look) -> String {
        let tall = |y: f64| if look.decades { y.log10() } else { y };
        let finite = || {
            let points = self.lines.iter().flat_map(|l| &l.points).map(|(x, y)| (*x, tall(*y)));
            points.filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        let mut out = String::from("<figure class=\"chart\">\n");
        if !self.title.is_empty() {
            let _ = writeln!(out, "<figcaption class=\"title\">{}</figcaption>", escape(&self.title));
        }
        if finite().next().is_none() {
            out.push_str("<p class=\"empty\">There is nothing to draw.</p>\n</figure>\n");
            return out;
        }
        let range = |values: Vec<f64>| {
            let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
            let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if hi > lo { (lo, hi) } else { (lo - 0.5 * lo.abs().max(1.0), hi + 0.5 * hi.abs().max(1.0)) }
        };
        let (x_lo, x_hi) = range(finite().map(|p| p.0).collect());
        let mut ys: Vec<f64> = finite().map(|p| p.1).collect();
        if self.from_zero && !look.decades {
            ys.push(0.0);
        }
        let (y_lo, y_hi) = range(ys);
        let y_ticks = if look.decades { decades(y_lo, y_hi) } else { ticks(y_lo, y_hi, 5) };
        let (y_lo, y_hi) = (y_lo.min(y_ticks[0]), y_hi.max(y_ticks[y_ticks.len() - 1]));
        let x_ticks = ticks(x_lo, x_hi, 7);
        let px = |x: f64| LEFT + (x - x_lo) / (x_hi - x_lo) * (WIDE - LEFT - RIGHT);
        let py = |y: f64| HIGH - BOTTOM - (y - y_lo) / (y_hi - y_lo) * (HIGH - TOP - BOTTOM);

        let _ = writeln!(
            out,
            "<svg viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{}\">",
            escape(&format!("{}: {} over {}", self.title, self.y_label, self.x_label))
        );
        for &y in &y_ticks {
            let at = py(y);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDE - RIGHT,
                LEFT - 7.0,
                at + 4.0,
                if look.decades { decade(y) } else { number(y, y_hi - y_lo) }
            );
        }
        for &x in x_ticks.iter().filter(|x| **x >= x_lo && **x <= x_hi) {
            let at = px(x);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
                 <text class=\"tick\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                HIGH - BOTTOM,
                HIGH - BOTTOM + 4.0,
                HIGH - BOTTOM + 18.0,
                number(x, x_hi - x_lo)
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
            WIDE - RIGHT,
            HIGH - BOTTOM,
            HIGH - BOTTOM
        );
        let _ = writeln!(
            out,
            "<text class=\"name\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"name\" text-anchor=\"middle\" transform=\"translate(16 {:.1}) rotate(-90)\">{}</text>",
            0.5 * (LEFT + WIDE - RIGHT),
            HIGH - 8.0,
            escape(&self.x_label),
            0.5 * (TOP + HIGH - BOTTOM),
            escape(&self.y_label)
        );
        for (k, line) in self.lines.iter().enumerate() {
            let mut path = String::new();
            let mut pen_down = false;
            for (x, y) in line.points.iter().map(|(x, y)| (*x, tall(*y))) {
                if !(x.is_finite() && y.is_finite()) {
                    pen_down = false;
                    continue;
                }
                let _ = write!(path, "{}{:.1} {:.1}", if pen_down { "L" } else { "M" }, px(x), py(y));
                pen_down = true;
            }
            let dashed = if line.dashed { " dashed" } else { "" };
            let _ = writeln!(
                out,
                "<path class=\"line c{}{dashed}\" d=\"{path}\"/>",
                line.colour.unwrap_or(k) % 8
            );
        }
        if look.marked {
            let (left, right) = (px(x_lo), px(x_hi));
            let _ = writeln!(
                out,
                "<line class=\"mark\" x1=\"{left:.1}\" x2=\"{left:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" \
                 data-span=\"{x_lo} {x_hi} {left:.1} {right:.1}\"/>",
                HIGH - BOTTOM
            );
        }
        out.push_str("</svg>\n");
        if self.lines.len() > 1 || self.lines.iter().any(|l| !l.name.is_empty()) {
            out.push_str("<div class=\"legend\">");
            for (k, line) in self.lines.iter().enumerate() {
                let dashed = if line.dashed { " dashed" } else { "" };
                let _ = write!(
                    out,
                    "<span><svg viewBox=\"0 0 24 8\"><path class=\"line c{}{dashed}\" d=\"M1 4H23\"/></svg>{}</span>",
                    line.colour.unwrap_or(k) % 8,
                    escape(&line.name)
                );
            }
            out.push_str("</div>\n");
        }
        out.push_str("</figure>\n");
        out
    }
}

/// Round numbers that cover a range: steps of 1, 2 or 5 times a power of ten.
fn ticks(lo: f64, hi: f64, about: usize) -> Vec<f64> {
    let raw = (hi - lo) / about as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(raw);
    let (first, last) = ((lo / step).floor() as i64, (hi / step).ceil() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Whole powers of ten that cover a range, at most seven of them.
fn decades(lo: f64, hi: f64) -> Vec<f64> {
    let (first, last) = (lo.floor() as i64, hi.ceil().max(lo.floor() + 1.0) as i64);
    let span = last.saturating_sub(first).unsigned_abs();
    let step = span.div_ceil(7).max(1);
    (0..=span.div_ceil(step)).map(|k| first as f64 + (k * step) as f64).collect()
}

/// 10 to the power of a tick, as one writes it.
fn decade(exponent: f64) -> String {
    match exponent as i64 {
        0 => "1".into(),
        e @ 1..=3 => 10i64.pow(e as u32).to_string(),
        e @ -3..=-1 => format!("{:.*}", -e as usize, 10f64.powi(e as i32)),
        e => {
            let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
            let raised = e.unsigned_abs().to_string();
            let raised = raised.bytes().filter_map(|d| digits.chars().nth(usize::from(d - b'0')));
            format!("10{}{}", if e < 0 { "⁻" } else { "" }, raised.collect::<String>())
        }
    }
}

/// A tick's number with as many decimals as the range needs.
fn number(value: f64, span: f64) -> String {
    if !(1e-4..1e6).contains(&span) {
        return format!("{value:.1e}");
    }
    let decimals = (1.3 - span.log10()).ceil().clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        for (lo, hi) in [(0.0, 1.0), (-3.7, 12.2), (0.001, 0.0042), (1e3, 1.3e6)] {
            let t = ticks(lo, hi, 5);
            assert!(t[0] <= lo && t[t.len() - 1] >= hi && (3..=9).contains(&t.len()), "{lo} {hi}: {t:?}");
        }
        assert_eq!(number(0.5, 1.0), "0.5");
        assert_eq!(number(20.0, 40.0), "20");
    }

    #[test]
    fn decades_are_written_as_one_writes_them() {
        assert_eq!(decades(-2.3, 1.1), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]);
        assert_eq!([-2.0, 0.0, 2.0, -5.0, 12.0].map(decade), ["0.01", "1", "100", "10⁻⁵", "10¹²"]);
        let points = vec![(0.0, 1e-3), (1.0, 0.0), (2.0, 10.0)];
        let chart = Chart { lines: vec![Line::new("a", points)], ..Chart::default() };
        let html = chart.html_as(Look { decades: true, marked: true });
        assert!(html.contains(">0.001<") && html.contains(">10<") && !html.contains("inf"), "{html}");
        assert!(html.contains("data-span=\"0 2 "), "a mark knows what it moves over");
    }

    #[test]
    fn a_chart_without_numbers_says_so() {
        let chart = Chart { lines: vec![Line::new("a", vec![(0.0, f64::NAN)])], ..Chart::default() };
        assert!(chart.html().contains("nothing to draw"));
    }

    #[test]
    fn a_gap_lifts_the_pen() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 1.5)];
        let html = Chart { lines: vec![Line::new("a<b", points)], ..Chart::default() }.html();
        let path = html.split("class=\"line c0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(path.matches('M').count(), 2);
        assert!(html.contains("a&lt;b") && !html.contains("NaN"));
    }
}
