//! Outlines of flat cloth, drawn with lines and curves.
//!
//! A panel is drawn as it is seen from its outer face: +Y runs along the grain (warp) towards the
//! wearer's head, the outline counter-clockwise, lengths in metres. For a front panel +X is the
//! wearer's left, for a back panel the wearer's right.

use glam::DVec2;

/// Points per curve: at most 0.2 mm beside the true curve for the sizes of clothing.
const FLATTENING: usize = 64;

/// One edge of an outline, from corner to corner.
#[derive(Clone, Debug)]
pub struct PanelEdge {
    /// What the edge is called in seams: `side left`, `hem`.
    pub name: String,
    /// From corner to corner, both included.
    pub points: Vec<DVec2>,
}

/// A closed outline.
#[derive(Clone, Debug)]
pub struct Outline {
    /// `front bodice`.
    pub name: String,
    /// Counter-clockwise; each starts where the one before ends.
    pub edges: Vec<PanelEdge>,
}

/// Draws an outline edge by edge.
pub struct Pen {
    outline: Outline,
    at: DVec2,
    start: DVec2,
}

impl PanelEdge {
    /// Length in metres.
    pub fn length(&self) -> f64 {
        self.points.windows(2).map(|w| w[0].distance(w[1])).sum()
    }

    /// `segments + 1` points at equal distances along the edge, both ends included.
    pub fn sample(&self, segments: usize) -> Vec<DVec2> {
        let step = self.length() / segments as f64;
        let mut out = vec![self.points[0]];
        let (mut walked, mut next) = (0.0, step);
        for w in self.points.windows(2) {
            let piece = w[0].distance(w[1]);
            while out.len() < segments && next <= walked + piece {
                out.push(w[0].lerp(w[1], (next - walked) / piece));
                next = step * out.len() as f64;
            }
            walked += piece;
        }
        out.push(self.points[self.points.len() - 1]);
        out
    }
}

impl Outline {
    /// Puts the pen down at the first corner.
    pub fn pen(name: impl Into<String>, start: DVec2) -> Pen {
        Pen { outline: Outline { name: name.into(), edges: Vec::new() }, at: start, start }
    }

    /// The same cloth for the other side of the wearer; edges keep their names.
    pub fn mirrored(&self, name: impl Into<String>) -> Self {
        let flip = |e: &PanelEdge| PanelEdge {
            name: e.name.clone(),
            points: e.points.iter().rev().map(|p| DVec2::new(-p.x, p.y)).collect(),
        };
        Self { name: name.into(), edges: self.edges.iter().rev().map(flip).collect() }
    }

    /// The edge of that name.
    pub fn edge(&self, name: &str) -> Option<usize> {
        self.edges.iter().position(|e| e.name == name)
    }

    /// Enclosed area in square metres, positive for counter-clockwise outlines.
    pub fn area(&self) -> f64 {
        let points = self.edges.iter().flat_map(|e| &e.points[..e.points.len() - 1]);
        let points: Vec<DVec2> = points.copied().collect();
        (0..points.len()).map(|i| 0.5 * points[i].perp_dot(points[(i + 1) % points.len()])).sum()
    }
}

impl Pen {
    /// A straight edge.
    pub fn line(self, name: impl Into<String>, to: DVec2) -> Self {
        let points = vec![self.at, to];
        self.push(name.into(), points)
    }

    /// A cubic Bézier edge.
    pub fn curve(self, name: impl Into<String>, c1: DVec2, c2: DVec2, to: DVec2) -> Self {
        let from = self.at;
        let points = (0..=FLATTENING)
            .map(|i| {
                let t = i as f64 / FLATTENING as f64;
                let s = 1.0 - t;
                from * (s * s * s) + c1 * (3.0 * s * s * t) + c2 * (3.0 * s * t * t) + to * (t * t * t)
            })
            .collect();
        self.push(name.into(), points)
    }

    /// An edge through given points; the first is where the pen is.
    pub fn through(self, name: impl Into<String>, points: Vec<DVec2>) -> Self {
        debug_assert!(points[0].distance(self.at) < 1e-9, "{} is open", self.outline.name);
        self.push(name.into(), points)
    }

    /// A circular arc around `centre` that turns by `angle` radians, counter-clockwise if positive.
    pub fn arc(self, name: impl Into<String>, centre: DVec2, angle: f64) -> Self {
        let arm = self.at - centre;
        let points = (0..=FLATTENING)
            .map(|i| centre + DVec2::from_angle(angle * i as f64 / FLATTENING as f64).rotate(arm))
            .collect();
        self.push(name.into(), points)
    }

    fn push(mut self, name: String, points: Vec<DVec2>) -> Self {
        self.at = points[points.len() - 1];
        self.outline.edges.push(PanelEdge { name, points });
        self
    }

    /// Lifts the pen. The last edge is moved by rounding errors onto the first corner.
    pub fn close(mut self) -> Outline {
        debug_assert!(self.at.distance(self.start) < 1e-9, "{} is open", self.outline.name);
        if let Some(last) = self.outline.edges.last_mut().and_then(|e| e.points.last_mut()) {
            *last = self.start;
        }
        self.outline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_evenly_spaced() {
        let o = Outline::pen("p", DVec2::ZERO)
            .curve("c", DVec2::new(0.1, 0.0), DVec2::new(0.3, 0.3), DVec2::new(0.4, 0.1))
            .line("l", DVec2::ZERO)
            .close();
        let s = o.edges[0].sample(7);
        assert_eq!(s.len(), 8);
        let d: Vec<f64> = s.windows(2).map(|w| w[0].distance(w[1])).collect();
        assert!(d.iter().all(|x| (x / d[0] - 1.0).abs() < 0.05), "{d:?}");
    }
}
