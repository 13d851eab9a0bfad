//! Five words for a cloth, and what they mean in its values.
//!
//! Each word goes with one value and is measured on a small simulated scene (the laboratory's `feel`); a table that
//! `toile fabric measure` makes holds value, measure and slider. Between its rows sliders are straight lines over the
//! logarithm of the value, so that both ways are the same map.

use crate::{Error, Fabric, Result};
use std::path::Path;
use std::sync::OnceLock;

/// What can be said of a cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quality {
    /// Stands off rather than falls.
    Stiff,
    /// Hangs rather than flies.
    Heavy,
    /// Gives when it is pulled.
    Stretchy,
    /// Buckles rather than shears.
    Wrinkly,
    /// Swings on rather than comes to rest.
    Bouncy,
}

impl Quality {
    /// In the order of a table.
    pub const ALL: [Self; 5] = [Self::Stiff, Self::Heavy, Self::Stretchy, Self::Wrinkly, Self::Bouncy];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stiff => "stiff",
            Self::Heavy => "heavy",
            Self::Stretchy => "stretchy",
            Self::Wrinkly => "wrinkly",
            Self::Bouncy => "bouncy",
        }
    }

    /// What is measured, with its unit.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Stiff => "Cusick drape coefficient, %",
            Self::Heavy => "angle from the vertical in a wind of 2.5 m/s, degrees",
            Self::Stretchy => "strain under 20 N/m, %",
            Self::Wrinkly => "curvature of a square sheared by 4 in 30 cm, 1/m",
            Self::Bouncy => "swing left after one bounce of a strip, %",
        }
    }

    /// The value that it goes with.
    pub fn parameter(self) -> &'static str {
        match self {
            Self::Stiff => "bending length, m",
            Self::Heavy => "density, kg/m²",
            Self::Stretchy => "stretch stiffness, N/m",
            Self::Wrinkly => "shear stiffness, N/m",
            Self::Bouncy => "damping_secs, s",
        }
    }

    /// The ends of its scale, slider 0 first.
    pub fn ends(self) -> [f64; 2] {
        match self {
            Self::Stiff => [0.008, 0.040],
            Self::Heavy => [0.04, 0.8],
            Self::Stretchy => [5000.0, 60.0],
            Self::Wrinkly => [8.0, 400.0],
            Self::Bouncy => [0.05, 0.003],
        }
    }

    /// Whether ratios rather than differences of the measure are what is felt: strains go over two decades.
    pub fn is_ratio(self) -> bool {
        self == Self::Stretchy
    }

    /// Its value of a fabric.
    pub fn of(self, f: &Fabric) -> f64 {
        match self {
            Self::Stiff => ((f.bend_warp * f.bend_weft).sqrt() / (9.81 * f.density)).cbrt(),
            Self::Heavy => f.density,
            Self::Stretchy => (f.stretch_warp * f.stretch_weft).sqrt(),
            Self::Wrinkly => f.shear,
            Self::Bouncy => f.damping_secs.max(1e-4),
        }
    }

    /// A fabric with another value of it. Warp over weft stays, and so does the bending length of a cloth that gets heavier:
    /// it would hang softer otherwise.
    #[must_use]
    pub fn with(self, fabric: &Fabric, value: f64) -> Fabric {
        let mut f = fabric.clone();
        let ratio = value / self.of(fabric);
        match self {
            Self::Stiff => {
                (f.bend_warp, f.bend_weft) = (f.bend_warp * ratio.powi(3), f.bend_weft * ratio.powi(3))
            }
            Self::Heavy => {
                f.density = value;
                (f.bend_warp, f.bend_weft) = (f.bend_warp * ratio, f.bend_weft * ratio);
            }
            Self::Stretchy => {
                (f.stretch_warp, f.stretch_weft) = (f.stretch_warp * ratio, f.stretch_weft * ratio)
            }
            Self::Wrinkly => f.shear = value,
            Self::Bouncy => f.damping_secs = value,
        }
        f
    }

    /// Value, measure and slider of the shipped table, by rising slider.
    pub fn scale(self) -> &'static [(f64, f64, f64)] {
        &shipped()[Self::ALL.iter().position(|q| *q == self).unwrap_or(0)]
    }

    /// The value at a slider's place.
    pub fn value_at(self, slider: f64) -> f64 {
        let rows = self.scale();
        let at = slider.clamp(0.0, 1.0);
        let k = rows.iter().skip(1).position(|r| at <= r.2).unwrap_or(rows.len() - 2);
        let (a, b) = (rows[k], rows[k + 1]);
        let share = (at - a.2) / (b.2 - a.2);
        (a.0.ln() + share * (b.0 / a.0).ln()).exp()
    }

    /// The slider's place of a value; beyond the ends of the scale it is the end.
    pub fn slider_of(self, value: f64) -> f64 {
        let rows = self.scale();
        let rising = rows[rows.len() - 1].0 > rows[0].0;
        let beyond = |r: &(f64, f64, f64)| if rising { value <= r.0 } else { value >= r.0 };
        let k = rows.iter().skip(1).position(beyond).unwrap_or(rows.len() - 2);
        let (a, b) = (rows[k], rows[k + 1]);
        let share = ((value / a.0).ln() / (b.0 / a.0).ln()).clamp(0.0, 1.0);
        a.2 + share * (b.2 - a.2)
    }
}

/// Where the five sliders stand, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sliders(pub [f64; 5]);

impl Sliders {
    /// The fabric that the scales were measured with.
    pub const BASE: &'static str = "cotton";

    /// Of a fabric.
    pub fn of(fabric: &Fabric) -> Self {
        Self(Quality::ALL.map(|q| q.slider_of(q.of(fabric))))
    }

    /// Which qualities of a fabric lie beyond the ends of their scales.
    pub fn beyond(fabric: &Fabric) -> Vec<Quality> {
        let outside = |q: &Quality| {
            let [a, b] = q.ends();
            let v = q.of(fabric);
            v < a.min(b) * (1.0 - 1e-9) || v > a.max(b) * (1.0 + 1e-9)
        };
        Quality::ALL.into_iter().filter(outside).collect()
    }

    /// A fabric with some sliders put elsewhere; weight first, which keeps the bending length.
    pub fn tune(fabric: &Fabric, wanted: &[(Quality, f64)]) -> Fabric {
        let mut f = fabric.clone();
        let heavy_first = wanted.iter().filter(|(q, _)| *q == Quality::Heavy);
        for (quality, slider) in heavy_first.chain(wanted.iter().filter(|(q, _)| *q != Quality::Heavy)) {
            f = quality.with(&f, quality.value_at(*slider));
        }
        f
    }
}

type Scale = Vec<(f64, f64, f64)>;

/// The table of the crate.
fn shipped() -> &'static [Scale; 5] {
    static TABLE: OnceLock<[Scale; 5]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let text = include_str!("../fabrics/sliders.csv");
        parse(text, Path::new("sliders.csv")).unwrap_or_else(|_| {
            // A test keeps the shipped table whole.
            Quality::ALL.map(|q| vec![(q.ends()[0], 0.0, 0.0), (q.ends()[1], 1.0, 1.0)])
        })
    })
}

/// Reads a table as [`to_csv`] writes it.
pub fn parse(text: &str, path: &Path) -> Result<[Scale; 5]> {
    let mut scales: [Scale; 5] = Default::default();
    let bad = |line: usize, what: String| Err(Error::bad(path, format!("line {line}"), what));
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("quality") {
            continue;
        }
        let cells: Vec<&str> = line.split(',').collect();
        let Some(k) = Quality::ALL.iter().position(|q| q.name() == cells[0]) else {
            return bad(n + 1, format!("`{}` is no quality", cells[0]));
        };
        let numbers: Vec<f64> = cells[1..].iter().filter_map(|c| c.trim().parse().ok()).collect();
        let [value, measured, slider] = numbers[..] else {
            return bad(n + 1, "wants quality,value,measure,slider".into());
        };
        scales[k].push((value, measured, slider));
    }
    for (quality, rows) in Quality::ALL.iter().zip(&scales) {
        let one_way = |v: fn(&(f64, f64, f64)) -> f64| {
            rows.windows(2).all(|w| v(&w[1]) > v(&w[0])) || rows.windows(2).all(|w| v(&w[1]) < v(&w[0]))
        };
        let ends = rows.first().zip(rows.last()).map(|(a, b)| (a.2, b.2));
        if rows.len() < 2 || ends != Some((0.0, 1.0)) || !one_way(|r| r.0) || !one_way(|r| r.2) {
            let what = format!("{}: values and sliders must go one way, from 0 to 1", quality.name());
            return Err(Error::bad(path, "table", what));
        }
    }
    Ok(scales)
}

/// A table of values and what was measured at each, by rising slider: where a measure goes back the values about it are
/// pooled, so that the map stays one to one.
pub fn to_csv(measured: &[(Quality, Vec<(f64, f64)>)]) -> String {
    let mut text =
        format!("# {}: `toile fabric measure`\nquality,value,measure,slider\n", crate::write::MARK);
    for (quality, rows) in measured {
        let felt: Vec<f64> =
            rows.iter().map(|r| if quality.is_ratio() { r.1.max(1e-9).ln() } else { r.1 }).collect();
        let sign = if felt.last() >= felt.first() { 1.0 } else { -1.0 };
        let pooled = one_way(&felt.iter().map(|v| sign * v).collect::<Vec<_>>());
        let (low, high) = (pooled[0], pooled[pooled.len() - 1]);
        for ((value, measure), felt) in rows.iter().zip(&pooled) {
            let slider = (felt - low) / (high - low);
            text.push_str(&format!("{},{value:.6e},{measure:.4},{slider:.6}\n", quality.name()));
        }
    }
    text
}

/// The nearest rising sequence (pool adjacent violators), with a thousandth of its span between neighbours.
fn one_way(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for v in values {
        pools.push((*v, 1));
        while pools.len() > 1 && pools[pools.len() - 1].0 < pools[pools.len() - 2].0 {
            let (b, nb) = pools.pop().unwrap_or_default();
            let (a, na) = pools.pop().unwrap_or_default();
            pools.push(((a * na as f64 + b * nb as f64) / (na + nb) as f64, na + nb));
        }
    }
    let flat: Vec<f64> = pools.iter().flat_map(|(v, n)| std::iter::repeat_n(*v, *n)).collect();
    let span = (flat[flat.len() - 1] - flat[0]).max(1e-12);
    flat.iter().enumerate().map(|(k, v)| v + 1e-3 * span * k as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn the_shipped_table_is_whole_and_goes_one_way() {
        let scales = parse(include_str!("../fabrics/sliders.csv"), Path::new("sliders.csv")).unwrap();
        for (quality, rows) in Quality::ALL.iter().zip(&scales) {
            assert!(rows.len() >= 6, "{quality:?}");
            let [a, b] = quality.ends();
            assert!((rows[0].0 / a - 1.0).abs() < 1e-5 && (rows[rows.len() - 1].0 / b - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn sliders_and_values_are_one_map_both_ways() {
        for quality in Quality::ALL {
            for k in 0..=20 {
                let slider = f64::from(k) / 20.0;
                let back = quality.slider_of(quality.value_at(slider));
                assert!((back - slider).abs() < 1e-9, "{quality:?} at {slider}: {back}");
            }
        }
        let cotton = builtin::fabric("cotton").unwrap();
        let wanted = [(Quality::Stiff, 0.7), (Quality::Heavy, 0.3), (Quality::Bouncy, 0.9)];
        let tuned = Sliders::of(&Sliders::tune(&cotton, &wanted)).0;
        let before = Sliders::of(&cotton).0;
        for (got, want) in tuned.iter().zip([0.7, 0.3, before[2], before[3], 0.9]) {
            assert!((got - want).abs() < 1e-9, "{tuned:?}");
        }
    }

    #[test]
    fn sliders_turn_values_the_way_a_person_expects() {
        let cotton = builtin::fabric("cotton").unwrap();
        let at = |quality, slider| Sliders::tune(&cotton, &[(quality, slider)]);
        assert!(at(Quality::Stiff, 0.9).bend_warp > at(Quality::Stiff, 0.1).bend_warp);
        assert!(at(Quality::Heavy, 0.9).density > at(Quality::Heavy, 0.1).density);
        assert!(at(Quality::Stretchy, 0.9).stretch_warp < at(Quality::Stretchy, 0.1).stretch_warp);
        assert!(at(Quality::Bouncy, 0.9).damping_secs < at(Quality::Bouncy, 0.1).damping_secs);
        let heavier = at(Quality::Heavy, 0.9);
        assert!((Quality::Stiff.of(&heavier) / Quality::Stiff.of(&cotton) - 1.0).abs() < 1e-12);
        let [silk, denim] = ["silk", "denim"].map(|n| Sliders::of(&builtin::fabric(n).unwrap()).0);
        assert!(silk[0] < denim[0] && silk[1] < denim[1] && silk[4] > denim[4], "{silk:?} {denim:?}");
    }

    #[test]
    fn a_measure_that_goes_back_is_pooled() {
        let rising = one_way(&[1.0, 3.0, 2.0, 4.0]);
        assert!(rising.windows(2).all(|w| w[1] > w[0]), "{rising:?}");
        assert!((rising[1] - 2.5).abs() < 0.02 && (rising[2] - 2.5).abs() < 0.02);
    }
}
