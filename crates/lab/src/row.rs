//! What the laboratory hands back: rows to be judged, curves to be drawn, shapes to be looked at.

use glam::{DVec3, Vec3};

/// One result of the laboratory.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Fixed once; rows are only added.
    pub name: String,
    /// What the solver gives.
    pub ours: f64,
    /// What is right.
    pub reference: f64,
    /// Allowed difference, in the same unit.
    pub tolerance: f64,
    /// Whether it is within.
    pub pass: bool,
}

impl Row {
    /// Within `tolerance` of `reference`.
    pub fn absolute(name: impl Into<String>, ours: f64, reference: f64, tolerance: f64) -> Self {
        let pass = (ours - reference).abs() <= tolerance;
        Self { name: name.into(), ours, reference, tolerance, pass }
    }

    /// Within a share of `reference`.
    pub fn relative(name: impl Into<String>, ours: f64, reference: f64, share: f64) -> Self {
        Self::absolute(name, ours, reference, share * reference.abs())
    }

    /// Between `low` and `high`.
    pub fn band(name: impl Into<String>, ours: f64, low: f64, high: f64) -> Self {
        Self::absolute(name, ours, 0.5 * (low + high), 0.5 * (high - low))
    }

    /// Not above `limit` (and not below zero).
    pub fn at_most(name: impl Into<String>, ours: f64, limit: f64) -> Self {
        Self::absolute(name, ours, 0.0, limit)
    }
}

/// A line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// For the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<(f64, f64)>,
    /// Whether it is what ours is held against.
    pub reference: bool,
}

/// Curves to be drawn together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What is shown.
    pub title: String,
    /// Quantity and unit along the bottom.
    pub x_label: String,
    /// Quantity and unit along the side.
    pub y_label: String,
    /// The lines.
    pub curves: Vec<Curve>,
}

impl Plot {
    /// An empty plot.
    pub fn new(title: impl Into<String>, x_label: &str, y_label: &str) -> Self {
        Self { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), curves: vec![] }
    }

    /// With one more line of ours.
    pub fn ours(mut self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.curves.push(Curve { name: name.into(), points, reference: false });
        self
    }

    /// With one more line that is right.
    pub fn reference(mut self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.curves.push(Curve { name: name.into(), points, reference: true });
        self
    }
}

/// Something solid in a picture, or cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
    /// Places.
    pub positions: Vec<Vec3>,
    /// Whether it is cloth.
    pub cloth: bool,
}

impl Piece {
    /// Cloth at `x`.
    pub fn cloth(triangles: &[[u32; 3]], x: &[DVec3]) -> Self {
        Self {
            triangles: triangles.to_vec(),
            positions: x.iter().map(|p| p.as_vec3()).collect(),
            cloth: true,
        }
    }
}

/// A shape worth a look.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What is seen.
    pub name: String,
    /// The scene it belongs to; shots of one scene are shown side by side.
    pub scene: String,
    /// Degrees around the vertical and above the horizon.
    pub view: (f32, f32),
    /// What stands there.
    pub pieces: Vec<Piece>,
}

/// All that a case has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// To be judged.
    pub rows: Vec<Row>,
    /// To be drawn.
    pub plots: Vec<Plot>,
    /// To be looked at.
    pub shots: Vec<Snapshot>,
}

impl From<Vec<Row>> for Findings {
    fn from(rows: Vec<Row>) -> Self {
        Self { rows, ..Self::default() }
    }
}

impl From<Row> for Findings {
    fn from(row: Row) -> Self {
        vec![row].into()
    }
}

impl Findings {
    /// Takes in what another case found.
    pub fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.plots.extend(other.plots);
        self.shots.extend(other.shots);
    }
}
