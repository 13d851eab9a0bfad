//! What cloth is made of, in SI units.

/// A fabric. `warp` runs along a panel's +Y, `weft` along +X.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "io", serde(deny_unknown_fields))]
pub struct Fabric {
    /// `cotton`.
    pub name: String,
    /// Mass per area, kg/m².
    pub density: f64,
    /// Membrane stiffness along the warp, N/m.
    pub stretch_warp: f64,
    /// Membrane stiffness along the weft, N/m.
    pub stretch_weft: f64,
    /// Shear stiffness, N/m.
    pub shear: f64,
    /// In-plane Poisson ratio, 0 to 0.5.
    pub poisson: f64,
    /// Bending rigidity per width for curvature along the warp, N·m.
    pub bend_warp: f64,
    /// Bending rigidity per width for curvature along the weft, N·m.
    pub bend_weft: f64,
    /// Strain-rate damping as a time: damping stiffness = stiffness × this, s.
    pub damping_secs: f64,
    /// Distance kept between layers, m.
    pub thickness: f64,
    /// Coulomb coefficient against the body and itself.
    pub friction: f64,
    /// Drag coefficient of one side in moving air.
    pub drag: f64,
    /// Where the values come from, one line per value or group of values.
    pub sources: Vec<String>,
}

impl Fabric {
    /// Every value with its unit and the range in which cloth exists, with a factor of ten to spare on both sides.
    pub fn values(&self) -> [(&'static str, f64, &'static str, std::ops::RangeInclusive<f64>); 11] {
        [
            // From chiffon (0.02) to leather and wet wool (2).
            ("density", self.density, "kg/m²", 0.005..=10.0),
            // From loose jersey (10) to sailcloth (50,000).
            ("stretch_warp", self.stretch_warp, "N/m", 1.0..=500_000.0),
            ("stretch_weft", self.stretch_weft, "N/m", 1.0..=500_000.0),
            ("shear", self.shear, "N/m", 0.1..=200_000.0),
            ("poisson", self.poisson, "", 0.0..=0.5),
            // From silk gauze (1e-7) to saddle leather (1e-2).
            ("bend_warp", self.bend_warp, "N·m", 1e-8..=0.1),
            ("bend_weft", self.bend_weft, "N·m", 1e-8..=0.1),
            ("damping_secs", self.damping_secs, "s", 0.0..=0.1),
            ("thickness", self.thickness, "m", 1e-4..=0.02),
            ("friction", self.friction, "", 0.0..=2.0),
            ("drag", self.drag, "", 0.0..=5.0),
        ]
    }

    /// Values that no cloth has, each with the range allowed: kilopascals in place of newtons per metre,
    /// grams in place of kilograms.
    pub fn absurdities(&self) -> Vec<String> {
        self.values()
            .into_iter()
            .filter(|(_, value, _, range)| !range.contains(value))
            .map(|(name, value, unit, range)| {
                let (lo, hi) = range.into_inner();
                format!("{name} = {value:?} {unit} is no cloth: {lo:?} to {hi:?} {unit} are allowed")
            })
            .collect()
    }
}

#[cfg(feature = "io")]
impl Fabric {
    /// Reads a fabric's TOML file; unknown or missing keys are errors that name the line.
    pub fn read(path: impl AsRef<std::path::Path>) -> crate::Result<Self> {
        let path = path.as_ref();
        let text = toile_model::disk::read_to_string(path).map_err(|e| crate::Error::io(path, e))?;
        Self::parse(&text, path)
    }

    /// Parses a fabric's TOML text; `path` is for the error.
    pub fn parse(text: &str, path: &std::path::Path) -> crate::Result<Self> {
        let fabric: Self = toml::from_str(text).map_err(|e| {
            let start = e.span().map_or(0, |s| s.start.min(text.len()));
            let line = text.as_bytes()[..start].iter().filter(|b| **b == b'\n').count() + 1;
            crate::Error::bad(path, format!("line {line}"), e.message().to_string())
        })?;
        let mut faults = fabric.absurdities();
        match faults.len() {
            0 => Ok(fabric),
            1 => Err(crate::Error::bad(path, "values", faults.remove(0))),
            _ => Err(crate::Error::many(path, faults)),
        }
    }

    /// Names and one-line descriptions of the built-in fabrics.
    pub const BUILT_IN: [(&'static str, &'static str); 3] = [
        ("silk", "light, soft and slippery"),
        ("cotton", "plain weave of shirt weight"),
        ("denim", "twill of trouser weight"),
    ];

    /// A built-in fabric by name.
    pub fn built_in(name: &str) -> Option<Self> {
        let text = match name {
            "silk" => include_str!("../fabrics/silk.toml"),
            "cotton" => include_str!("../fabrics/cotton.toml"),
            "denim" => include_str!("../fabrics/denim.toml"),
            _ => return None,
        };
        Self::parse(text, std::path::Path::new(name)).ok()
    }
}

#[cfg(all(test, feature = "io"))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn built_in_fabrics_parse_and_say_their_sources() {
        for (name, _) in Fabric::BUILT_IN {
            let fabric = Fabric::built_in(name).unwrap();
            assert_eq!(fabric.name, name);
            assert!(fabric.sources.len() >= 9);
        }
    }

    #[test]
    fn absurd_values_are_refused_with_the_range_allowed() {
        let text = include_str!("../fabrics/cotton.toml");
        let fault = |from: &str, to: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            Fabric::parse(&changed, Path::new("x.toml")).unwrap_err().to_string()
        };
        let stiff = fault("stretch_warp = 1500.0", "stretch_warp = 1.5e9");
        assert!(
            stiff.contains("stretch_warp = 1500000000.0 N/m") && stiff.contains("1.0 to 500000.0"),
            "{stiff}"
        );
        assert!(fault("bend_weft = 9.0e-6", "bend_weft = nan").contains("bend_weft"));
        assert!(fault("density = 0.15", "density = -0.15").contains("0.005 to 10.0"));
        let two = fault("density = 0.15\nstretch_warp = 1500.0", "density = 150.0\nstretch_warp = 0.0");
        assert!(
            two.contains("2 problems") && two.contains("density") && two.contains("stretch_warp"),
            "{two}"
        );
    }

    #[test]
    fn a_fault_names_its_line() {
        let text = "name = \"x\"\ndensity = \"heavy\"\n";
        let fault = Fabric::parse(text, Path::new("x.toml")).unwrap_err().to_string();
        assert!(fault.contains("x.toml: line 2"), "{fault}");
        let fault = Fabric::parse("colour = 1\n", Path::new("x.toml")).unwrap_err().to_string();
        assert!(fault.contains("colour"), "{fault}");
    }
}
