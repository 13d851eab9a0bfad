//! Sheets of fabric tests: KES-F (Kawabata) and bending lengths (ASTM D1388), in the units that testers print.
//!
//! A sheet is a CSV file, either a column for each property and a row for each cloth (`name,B-1,B-2,G,…`) or a row for each
//! property (`property,warp,weft,unit`), or a TOML file (`B = [0.12, 0.09]`). Warp is 1, weft is 2; a value without a
//! direction is of both. All that is missing or out of range is said at once, with its unit and its range.

mod fabric;
mod table;

use crate::{Error, Result};
use std::ops::RangeInclusive;
use std::path::Path;

/// Something that a tester measures.
#[derive(Debug)]
pub struct Property {
    /// As sheets call it.
    pub key: &'static str,
    /// In words.
    pub about: &'static str,
    /// As sheets have it.
    pub unit: &'static str,
    /// What cloth can have.
    pub range: RangeInclusive<f64>,
    /// Whether a KES-F sheet is incomplete without it.
    pub needed: bool,
}

const fn needed(
    key: &'static str,
    about: &'static str,
    unit: &'static str,
    range: RangeInclusive<f64>,
) -> Property {
    Property { key, about, unit, range, needed: true }
}

/// All that is known, each from a tenth of the lightest cloth to several times the heaviest.
pub const PROPERTIES: [Property; 14] = [
    needed("LT", "linearity of the tensile curve", "", 0.2..=1.3),
    needed("WT", "tensile energy at 500 gf/cm", "gf·cm/cm²", 0.1..=200.0),
    needed("RT", "tensile resilience", "%", 10.0..=100.0),
    needed("B", "bending rigidity", "gf·cm²/cm", 5e-4..=20.0),
    needed("2HB", "bending hysteresis", "gf·cm/cm", 0.0..=20.0),
    needed("G", "shear stiffness", "gf/(cm·deg)", 0.02..=50.0),
    needed("2HG", "shear hysteresis at 0.5°", "gf/cm", 0.0..=100.0),
    needed("2HG5", "shear hysteresis at 5°", "gf/cm", 0.0..=200.0),
    needed("MIU", "coefficient of friction", "", 0.02..=1.5),
    needed("T", "thickness at 0.5 gf/cm²", "mm", 0.03..=20.0),
    needed("W", "weight", "mg/cm²", 0.5..=500.0),
    Property { key: "EMT", about: "strain at 500 gf/cm", unit: "%", range: 0.2..=200.0, needed: false },
    Property { key: "C", about: "bending length (ASTM D1388)", unit: "cm", range: 0.2..=20.0, needed: false },
    Property { key: "GSM", about: "mass per area", unit: "g/m²", range: 5.0..=5000.0, needed: false },
];

impl Property {
    fn allowed(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        format!("{} to {}{unit}", self.range.start(), self.range.end())
    }
}

/// Which of the properties a name stands for.
fn property(key: &str) -> Option<usize> {
    PROPERTIES.iter().position(|p| p.key == key)
}

/// The tests of one cloth: warp and weft of every property that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What it is called.
    pub name: String,
    values: [Option<[f64; 2]>; PROPERTIES.len()],
}

impl Sheet {
    /// Without any values.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: [None; PROPERTIES.len()] }
    }

    /// Warp and weft of a property.
    pub fn get(&self, key: &str) -> Option<[f64; 2]> {
        self.values[property(key)?]
    }

    /// Sets warp and weft of a property that there is.
    pub fn set(&mut self, key: &str, value: [f64; 2]) {
        if let Some(k) = property(key) {
            self.values[k] = Some(value);
        }
    }

    /// The mean of both directions.
    fn mean(&self, key: &str) -> Option<f64> {
        self.get(key).map(|[a, b]| 0.5 * (a + b))
    }

    /// Whether only the bending length was measured.
    fn cantilever_only(&self) -> bool {
        self.get("C").is_some() && self.get("B").is_none() && self.get("G").is_none()
    }

    /// Weight in mg/cm², however it was given.
    fn weight(&self) -> Option<f64> {
        self.mean("W").or_else(|| self.mean("GSM").map(|gsm| 0.1 * gsm))
    }

    fn has(&self, key: &str) -> bool {
        match key {
            "W" => self.weight().is_some(),
            "WT" => self.get("WT").is_some() || self.get("EMT").is_some(),
            "B" => self.get("B").is_some() || self.get("C").is_some(),
            _ => self.get(key).is_some(),
        }
    }

    /// What a whole sheet has and this one lacks.
    fn missing(&self) -> impl Iterator<Item = &'static Property> {
        let only = self.cantilever_only();
        PROPERTIES.iter().filter(move |p| p.needed && (!only || p.key == "W") && !self.has(p.key))
    }

    /// Everything that is missing, unless `like` stands in for it, or out of range.
    pub fn faults(&self, like: bool) -> Vec<String> {
        let mut faults = Vec::new();
        for (p, value) in PROPERTIES.iter().zip(self.values) {
            for (side, v) in ["warp", "weft"].iter().zip(value.unwrap_or([*p.range.start(); 2])) {
                if !p.range.contains(&v) {
                    faults.push(format!(
                        "{}: {} {side} is {v}, and {} ({}) is within {}",
                        self.name,
                        p.key,
                        p.key,
                        p.about,
                        p.allowed()
                    ));
                }
            }
        }
        let lacks = self.missing().filter(|p| !like || p.key == "W");
        faults.extend(
            lacks.map(|p| format!("{}: {} is missing: {}, {}", self.name, p.key, p.about, p.allowed())),
        );
        faults
    }
}

/// Reads all cloths of a sheet, without judging their values: [`Sheet::faults`] does.
pub fn read_sheets(path: &Path) -> Result<Vec<Sheet>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("cloth");
    let (sheets, mut faults) = match ending.as_str() {
        "toml" => table::from_toml(&text, stem),
        "csv" | "tsv" | "txt" => table::from_csv(&text, stem),
        other => {
            let what = format!("a sheet of tests is a .csv or .toml file, not .{other}");
            return Err(Error::bad(path, "name", what));
        }
    };
    if sheets.is_empty() && faults.is_empty() {
        faults.push("holds no cloth".into());
    }
    match faults.len() {
        0 => Ok(sheets),
        1 => Err(Error::bad(path, "sheet", faults.remove(0))),
        _ => Err(Error::many(path, faults)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_said_with_unit_and_range() {
        let mut sheet = Sheet::new("mill 7");
        sheet.set("LT", [0.6, 0.7]);
        sheet.set("B", [0.1, 110.0]);
        sheet.set("W", [15.0, 15.0]);
        let faults = sheet.faults(false);
        assert_eq!(faults.len(), 9, "{faults:#?}");
        assert!(faults[0].contains("B weft is 110") && faults[0].contains("0.0005 to 20 gf·cm²/cm"));
        assert!(faults.iter().any(|f| f.contains("2HG5 is missing") && f.contains("0 to 200 gf/cm")));
        // With a named cloth for the rest only what is wrong is left.
        assert_eq!(sheet.faults(true).len(), 1);
    }

    #[test]
    fn a_bending_length_needs_a_weight_and_no_more() {
        let mut sheet = Sheet::new("strip");
        sheet.set("C", [1.9, 1.8]);
        assert!(sheet.faults(true)[0].contains("W is missing"), "a length alone says nothing of rigidity");
        sheet.set("GSM", [150.0, 150.0]);
        assert!(sheet.faults(true).is_empty() && sheet.faults(false).is_empty());
    }
}
