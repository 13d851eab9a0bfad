//! Eigenvalues against the unit circle: what lies inside dies out.

use super::escape;
use std::fmt::Write as _;

/// Half the side of the picture, and the radius of the unit circle in it.
const HALF: f64 = 200.0;
const UNIT: f64 = 150.0;

/// A figure with the circle, both axes and a dot per value; those on or beyond the circle are marked.
pub(super) fn html(title: &str, values: &[(f64, f64)], caption: &str) -> String {
    let largest = values.iter().map(|(re, im)| re.hypot(*im)).filter(|r| r.is_finite()).fold(1.0, f64::max);
    // Values far outside would leave the picture: shrink everything until they fit.
    let unit = UNIT.min((HALF - 12.0) / largest);
    let side = 2.0 * HALF;
    let mut out = String::from("<figure class=\"disc\">\n");
    let _ = writeln!(out, "<figcaption class=\"title\">{}</figcaption>", escape(title));
    let _ = writeln!(
        out,
        "<svg viewBox=\"{0} {0} {side} {side}\" role=\"img\" aria-label=\"{1}\">\n\
         <line class=\"grid\" x1=\"{0}\" x2=\"{HALF}\" y1=\"0\" y2=\"0\"/><line class=\"grid\" x1=\"0\" x2=\"0\" y1=\"{0}\" \
         y2=\"{HALF}\"/>\n<circle class=\"circle\" r=\"{unit:.1}\"/>\n\
         <text class=\"tick\" x=\"{2:.1}\" y=\"16\">1</text><text class=\"tick\" x=\"{3:.1}\" y=\"16\" text-anchor=\"end\">−1</text>\
         <text class=\"tick\" x=\"6\" y=\"{3:.1}\">i</text><text class=\"tick\" x=\"6\" y=\"{4:.1}\">−i</text>",
        -HALF,
        escape(title),
        unit + 6.0,
        -unit - 6.0,
        unit + 16.0
    );
    for (re, im) in values.iter().filter(|(re, im)| re.is_finite() && im.is_finite()) {
        let class = if re.hypot(*im) < 1.0 { "dot" } else { "dot out" };
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{:.2}\" cy=\"{:.2}\" r=\"3.5\"/>",
            unit * re,
            -unit * im
        );
    }
    let _ = writeln!(out, "</svg>\n<figcaption>{}</figcaption>\n</figure>", escape(caption));
    out
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn what_is_outside_is_marked_and_still_in_the_picture() {
        let page = html("t", &[(0.5, 0.5), (0.0, -3.0), (f64::NAN, 0.0)], "c");
        assert_eq!(page.matches("class=\"dot\"").count(), 1);
        assert_eq!(page.matches("class=\"dot out\"").count(), 1);
        let at: f64 =
            page.split("dot out").nth(1).unwrap().split("cy=\"").nth(1).unwrap()[..6].parse().unwrap();
        assert!(at > 0.0 && at < 200.0, "below the axis and inside: {at}");
    }
}
