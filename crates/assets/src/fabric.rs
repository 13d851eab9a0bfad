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
    /// What bending and shearing lose, where it was measured or estimated. The solver does not read it: its damping is
    /// `damping_secs`, which says the same of one amplitude and one frequency.
    #[cfg_attr(feature = "io", serde(default, skip_serializing_if = "Option::is_none"))]
    pub hysteresis: Option<Hysteresis>,
}

/// Internal friction: how far apart the curves of loading and unloading lie, as Kawabata's testers draw them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "io", serde(deny_unknown_fields))]
pub struct Hysteresis {
    /// 2HB for curvature along the warp: moment per width, N.
    pub bend_warp: f64,
    /// 2HB for curvature along the weft, N.
    pub bend_weft: f64,
    /// 2HG, force per length at half a degree, N/m.
    pub shear: f64,
}

impl Hysteresis {
    /// Every value with its unit and the range in which cloth exists.
    pub fn values(&self) -> [(&'static str, f64, &'static str, std::ops::RangeInclusive<f64>); 3] {
        [
            // Up to twice the rigidity per centimetre of saddle leather.
            ("hysteresis.bend_warp", self.bend_warp, "N", 0.0..=20.0),
            ("hysteresis.bend_weft", self.bend_weft, "N", 0.0..=20.0),
            ("hysteresis.shear", self.shear, "N/m", 0.0..=1000.0),
        ]
    }
}

/// Curvature of the folds at which a loop of hysteresis is turned into a loss factor, 1/m: 8 mm of radius.
const FOLDS: f64 = 400.0 / std::f64::consts::PI;
/// Frequency at which the loss factor is turned into a time, Hz: skirts swing at 1 to 3.
const SWING_HZ: f64 = 2.0;

/// Strain-rate damping that loses in a cycle what a loop of height `hysteresis` (2HB, N) about a rigidity (N·m) does: the
/// loop's area over 2π times the energy stored is `2·2HB / (π B κ)`.
pub fn damping_of_hysteresis(hysteresis: f64, rigidity: f64) -> f64 {
    let loss = 2.0 * hysteresis / (std::f64::consts::PI * rigidity * FOLDS);
    loss / (std::f64::consts::TAU * SWING_HZ)
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
        let lost = self.hysteresis.iter().flat_map(Hysteresis::values);
        self.values()
            .into_iter()
            .chain(lost)
            .filter(|(_, value, _, range)| !range.contains(value))
            .map(|(name, value, unit, range)| {
                let (lo, hi) = range.into_inner();
                format!("{name} = {value:?} {unit} is no cloth: {lo:?} to {hi:?} {unit} are allowed")
            })
            .collect()
    }
}

impl Fabric {
    /// A fabric a share of the way from this to another, each value by its logarithm: half way between 1 and 100 is 10.
    #[must_use]
    pub fn towards(&self, other: &Self, share: f64) -> Self {
        let mix = |a: f64, b: f64| match a > 0.0 && b > 0.0 {
            true => a * (b / a).powf(share),
            false => a + share * (b - a),
        };
        let lost = self.hysteresis.zip(other.hysteresis).map(|(a, b)| Hysteresis {
            bend_warp: mix(a.bend_warp, b.bend_warp),
            bend_weft: mix(a.bend_weft, b.bend_weft),
            shear: mix(a.shear, b.shear),
        });
        Self {
            name: format!("{}-{}-{share}", self.name, other.name),
            density: mix(self.density, other.density),
            stretch_warp: mix(self.stretch_warp, other.stretch_warp),
            stretch_weft: mix(self.stretch_weft, other.stretch_weft),
            shear: mix(self.shear, other.shear),
            poisson: mix(self.poisson, other.poisson),
            bend_warp: mix(self.bend_warp, other.bend_warp),
            bend_weft: mix(self.bend_weft, other.bend_weft),
            damping_secs: mix(self.damping_secs, other.damping_secs),
            thickness: mix(self.thickness, other.thickness),
            friction: mix(self.friction, other.friction),
            drag: mix(self.drag, other.drag),
            sources: vec![format!("all: {share} of the way from {} to {}", self.name, other.name)],
            hysteresis: lost,
        }
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

    /// The text of its file.
    pub fn to_toml(&self) -> String {
        let mut text =
            format!("# {}\nname = {}\n", crate::write::MARK, toml::Value::from(self.name.as_str()));
        for (key, number, unit, _) in self.values() {
            let unit = if unit.is_empty() { String::new() } else { format!("  # {unit}") };
            text.push_str(&format!("{key} = {number:?}{unit}\n"));
        }
        text.push_str("sources = [\n");
        for source in &self.sources {
            text.push_str(&format!("  {},\n", toml::Value::from(source.as_str())));
        }
        text.push_str("]\n");
        if let Some(hysteresis) = &self.hysteresis {
            text.push_str("\n[hysteresis]\n");
            for (key, number, unit, _) in hysteresis.values() {
                let key = key.rsplit('.').next().unwrap_or(key);
                text.push_str(&format!("{key} = {number:?}  # {unit}\n"));
            }
        }
        text
    }

    /// Names and one-line descriptions of the built-in fabrics.
    pub const BUILT_IN: [(&'static str, &'static str); BUILT_IN.len()] = {
        let mut names = [("", ""); BUILT_IN.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = (BUILT_IN[i].0, BUILT_IN[i].1);
            i += 1;
        }
        names
    };

    /// A built-in fabric by name.
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, _, text) = BUILT_IN.iter().find(|(known, ..)| *known == name)?;
        Self::parse(text, std::path::Path::new(name)).ok()
    }
}

/// Name, description and file, from thin to thick.
#[cfg(feature = "io")]
const BUILT_IN: [(&str, &str, &str); 15] = [
    ("chiffon", "sheer and very light", include_str!("../fabrics/chiffon.toml")),
    ("silk", "light, soft and slippery", include_str!("../fabrics/silk.toml")),
    ("polyester-cotton", "blend of blouse weight", include_str!("../fabrics/polyester-cotton.toml")),
    ("poplin", "crisp cotton of shirt weight", include_str!("../fabrics/poplin.toml")),
    ("cotton", "plain weave of shirt weight", include_str!("../fabrics/cotton.toml")),
    ("jersey", "single knit of T-shirt weight", include_str!("../fabrics/jersey.toml")),
    ("interlock", "double knit of T-shirt weight", include_str!("../fabrics/interlock.toml")),
    ("linen", "plain weave that creases", include_str!("../fabrics/linen.toml")),
    ("drill", "stiff twill of work trousers", include_str!("../fabrics/drill.toml")),
    ("rib-knit", "stretchy knit of cuffs and underwear", include_str!("../fabrics/rib-knit.toml")),
    ("wool-flannel", "milled wool of suit weight", include_str!("../fabrics/wool-flannel.toml")),
    ("ponte", "firm double knit of jacket weight", include_str!("../fabrics/ponte.toml")),
    ("felt", "mat of wool, 2 mm", include_str!("../fabrics/felt.toml")),
    ("denim", "twill of trouser weight", include_str!("../fabrics/denim.toml")),
    ("leather", "garment nappa", include_str!("../fabrics/leather.toml")),
];

#[cfg(all(test, feature = "io"))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn built_in_fabrics_parse_and_say_their_sources() {
        for (name, _) in Fabric::BUILT_IN {
            let fabric = Fabric::built_in(name).unwrap();
            assert_eq!(fabric.name, name);
            for key in [
                "density",
                "stretch",
                "shear",
                "poisson",
                "bend",
                "damping_secs",
                "thickness",
                "friction",
                "drag",
                "hysteresis",
            ] {
                let said = fabric.sources.iter().filter(|s| s.starts_with(&format!("{key}: "))).count();
                assert_eq!(said, 1, "{name}: the source of {key}");
            }
            assert!(fabric.hysteresis.is_some(), "{name}");
            assert_eq!(Fabric::parse(&fabric.to_toml(), Path::new(name)).unwrap(), fabric);
        }
    }

    #[test]
    fn half_way_between_two_fabrics_is_their_geometric_mean() {
        let [silk, denim] = ["silk", "denim"].map(|n| Fabric::built_in(n).unwrap());
        let half = silk.towards(&denim, 0.5);
        assert!((half.density / (silk.density * denim.density).sqrt() - 1.0).abs() < 1e-12);
        for ((_, a, ..), ((_, m, ..), (_, b, ..))) in
            silk.values().into_iter().zip(half.values().into_iter().zip(denim.values()))
        {
            assert!(m >= a.min(b) && m <= a.max(b));
        }
        for ((_, a, ..), (_, b, ..)) in silk.values().into_iter().zip(silk.towards(&denim, 0.0).values()) {
            assert_eq!(a, b);
        }
    }

    #[test]
    fn damping_loses_what_the_hysteresis_of_a_fold_does() {
        // A cycle of ±κ: the loop is a parallelogram of height 2HB and width 2κ; a damper loses π·(B τ ω)·κ².
        let (b, hb, k) = (1e-5, 4e-4, FOLDS);
        let tau = damping_of_hysteresis(hb, b);
        let damper = std::f64::consts::PI * b * tau * std::f64::consts::TAU * SWING_HZ * k * k;
        assert!((damper / (hb * 2.0 * k) - 1.0).abs() < 1e-12);
        // As the built-in files have it: 0.4 B per cm is a loss factor of 0.2.
        assert!((tau - 0.2 / (std::f64::consts::TAU * 2.0)).abs() < 1e-6, "{tau}");
    }

    #[test]
    fn hysteresis_is_checked_and_may_be_missing() {
        let text = include_str!("../fabrics/cotton.toml");
        let without = &text[..text.find("[hysteresis]").unwrap()];
        assert_eq!(Fabric::parse(without, Path::new("x.toml")).unwrap().hysteresis, None);
        let bad = text.replace("shear = 1.5", "shear = -1.5");
        let fault = Fabric::parse(&bad, Path::new("x.toml")).unwrap_err().to_string();
        assert!(fault.contains("hysteresis.shear = -1.5 N/m"), "{fault}");
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
