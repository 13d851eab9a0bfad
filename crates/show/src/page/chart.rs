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
        let mut out = String::from("<figure class=\"chart\">\n");
        if !self.title.is_empty() {
            let _ = writeln!(out, "<figcaption class=\"title\">{}</figcaption>", escape(&self.title));
        }
        let Some(axes) = Axes::around(self, look) else {
            out.push_str("<p class=\"empty\">There is nothing to draw.</p>\n</figure>\n");
            return out;
        };
        let _ = writeln!(
            out,
            "<svg viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"{}\">",
            escape(&format!("{}: {} over {}", self.title, self.y_label, self.x_label))
        );
        axes.write(self, &mut out);
        self.write_lines(&axes, &mut out);
        if look.marked {
            let [x_lo, x_hi] = axes.x;
            let (left, right) = (axes.px(x_lo), axes.px(x_hi));
            let _ = writeln!(
                out,
                "<line class=\"mark\" x1=\"{left:.1}\" x2=\"{left:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" \
                 data-span=\"{x_lo} {x_hi} {left:.1} {right:.1}\"/>",
                HIGH - BOTTOM
            );
        }
        out.push_str("</svg>\n");
        self.write_legend(&mut out);
        out.push_str("</figure>\n");
        out
    }

    /// The lines, broken where a value is not finite.
    fn write_lines(&self, axes: &Axes, out: &mut String) {
        for (k, line) in self.lines.iter().enumerate() {
            let mut path = String::new();
            let mut pen_down = false;
            for (x, y) in line.points.iter().map(|(x, y)| (*x, axes.look.height(*y))) {
                if !(x.is_finite() && y.is_finite()) {
                    pen_down = false;
                    continue;
                }
                let _ =
                    write!(path, "{}{:.1} {:.1}", if pen_down { "L" } else { "M" }, axes.px(x), axes.py(y));
                pen_down = true;
            }
            let dashed = if line.dashed { " dashed" } else { "" };
            let _ = writeln!(
                out,
                "<path class=\"line c{}{dashed}\" d=\"{path}\"/>",
                line.colour.unwrap_or(k) % 8
            );
        }
    }

    /// Names of the lines, where there are several or the one has a name.
    fn write_legend(&self, out: &mut String) {
        if self.lines.len() <= 1 && self.lines.iter().all(|l| l.name.is_empty()) {
            return;
        }
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
}

impl Look {
    /// A value as it is drawn.
    fn height(&self, y: f64) -> f64 {
        if self.decades { y.log10() } else { y }
    }
}

/// The ranges that a chart covers and where its numbers stand.
struct Axes {
    look: Look,
    x: [f64; 2],
    y: [f64; 2],
    x_ticks: Vec<f64>,
    y_ticks: Vec<f64>,
}

impl Axes {
    /// Around everything finite of a chart; `None` where nothing is.
    fn around(chart: &Chart, look: Look) -> Option<Self> {
        let points = chart.lines.iter().flat_map(|l| &l.points).map(|(x, y)| (*x, look.height(*y)));
        let (xs, mut ys): (Vec<f64>, Vec<f64>) =
            points.filter(|(x, y)| x.is_finite() && y.is_finite()).unzip();
        if xs.is_empty() {
            return None;
        }
        let range = |values: &[f64]| {
            let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
            let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if hi > lo { [lo, hi] } else { [lo - 0.5 * lo.abs().max(1.0), hi + 0.5 * hi.abs().max(1.0)] }
        };
        if chart.from_zero && !look.decades {
            ys.push(0.0);
        }
        let (x, [y_lo, y_hi]) = (range(&xs), range(&ys));
        let y_ticks = if look.decades { decades(y_lo, y_hi) } else { ticks(y_lo, y_hi, 5) };
        let y = [y_lo.min(y_ticks[0]), y_hi.max(y_ticks[y_ticks.len() - 1])];
        Some(Self { look, x, y, x_ticks: ticks(x[0], x[1], 7), y_ticks })
    }

    /// Across the picture.
    fn px(&self, x: f64) -> f64 {
        LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDE - LEFT - RIGHT)
    }

    /// Down the picture.
    fn py(&self, y: f64) -> f64 {
        HIGH - BOTTOM - (y - self.y[0]) / (self.y[1] - self.y[0]) * (HIGH - TOP - BOTTOM)
    }

    /// Grid, numbers, the lower line and the names of both directions.
    fn write(&self, chart: &Chart, out: &mut String) {
        for &y in &self.y_ticks {
            let at = self.py(y);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"tick\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDE - RIGHT,
                LEFT - 7.0,
                at + 4.0,
                if self.look.decades { decade(y) } else { number(y, self.y[1] - self.y[0]) }
            );
        }
        for &x in self.x_ticks.iter().filter(|x| **x >= self.x[0] && **x <= self.x[1]) {
            let at = self.px(x);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
                 <text class=\"tick\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                HIGH - BOTTOM,
                HIGH - BOTTOM + 4.0,
                HIGH - BOTTOM + 18.0,
                number(x, self.x[1] - self.x[0])
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
            escape(&chart.x_label),
            0.5 * (TOP + HIGH - BOTTOM),
            escape(&chart.y_label)
        );
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
