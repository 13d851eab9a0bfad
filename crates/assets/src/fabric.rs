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

#[cfg(feature = "io")]
impl Fabric {
    /// Reads a fabric's TOML file; unknown or missing keys are errors that name the line.
    pub fn read(path: impl AsRef<std::path::Path>) -> crate::Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| crate::Error::io(path, e))?;
        Self::parse(&text, path)
    }

    /// Parses a fabric's TOML text; `path` is for the error.
    pub fn parse(text: &str, path: &std::path::Path) -> crate::Result<Self> {
        toml::from_str(text).map_err(|e| {
            let start = e.span().map_or(0, |s| s.start.min(text.len()));
            let line = text.as_bytes()[..start].iter().filter(|b| **b == b'\n').count() + 1;
            crate::Error::bad(path, format!("line {line}"), e.message().to_string())
        })
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
    fn a_fault_names_its_line() {
        let text = "name = \"x\"\ndensity = \"heavy\"\n";
        let fault = Fabric::parse(text, Path::new("x.toml")).unwrap_err().to_string();
        assert!(fault.contains("x.toml: line 2"), "{fault}");
        let fault = Fabric::parse("colour = 1\n", Path::new("x.toml")).unwrap_err().to_string();
        assert!(fault.contains("colour"), "{fault}");
    }
}
