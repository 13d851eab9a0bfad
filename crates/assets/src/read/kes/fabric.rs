//! What the solver makes of a sheet.

use super::Sheet;
use crate::fabric::damping_of_hysteresis;
use crate::{Fabric, Hysteresis};

/// N·m for a gf·cm²/cm.
const BEND: f64 = 9.80665e-5;
/// N for a gf·cm/cm.
const MOMENT: f64 = 9.80665e-3;
/// N/m for a gf/cm; J/m² for a gf·cm/cm².
const TENSION: f64 = 0.980665;
/// The load at which the tensile tester turns round, gf/cm.
const FULL_LOAD: f64 = 500.0;
/// Load at which stretch is wanted, N/m: what a garment's own weight pulls with.
const WORN_LOAD: f64 = 20.0;
/// A strip that bends under its own weight to 41.5° is this many times `B/w` long, cubed, and twice the bending length.
const CANTILEVER: f64 = 8.004;
/// Cloth rubs on skin about twice as much as on the tester's steel wires.
const SKIN_OVER_STEEL: f64 = 2.0;
/// What layers keep apart beyond the cloth's own thickness, m.
const APART: f64 = 0.002;

/// Secant stiffness, N/m, at the loads of a worn garment: the tensile curve is `F (ε/EMT)^p` with `p = 2/LT − 1`, whose work
/// is WT.
fn stretch(linearity: f64, strain: f64) -> f64 {
    let p = (2.0 / linearity - 1.0).max(0.2);
    let full = FULL_LOAD * TENSION;
    WORN_LOAD / (strain * (WORN_LOAD / full).powf(1.0 / p))
}

/// Rigidity, N·m, of cloth of a weight (kg/m²) and a bending length (m).
fn rigidity(mass: f64, bending_length: f64) -> f64 {
    mass * 9.80665 * (2.0 * bending_length).powi(3) / CANTILEVER
}

impl Sheet {
    /// The fabric of a sheet without faults; what it lacks is taken from `like`.
    pub fn fabric(&self, like: &Fabric) -> Fabric {
        let mut f = Fabric { name: self.name.clone(), sources: Vec::new(), hysteresis: None, ..like.clone() };
        let mut said: Vec<(&str, String)> = Vec::new();
        if let Some(w) = self.weight() {
            f.density = 0.01 * w;
            said.push(("density", format!("measured: W {w} mg/cm2")));
        }
        self.tensile(&mut f, &mut said);
        self.bending(&mut f, &mut said);
        if let Some(g) = self.mean("G") {
            f.shear = g * TENSION * 180.0 / std::f64::consts::PI;
            said.push(("shear", format!("measured: G {g} gf/(cm deg), mean of both directions")));
        }
        if let Some(miu) = self.mean("MIU") {
            f.friction = (SKIN_OVER_STEEL * miu).min(1.0);
            said.push((
                "friction",
                format!("measured: MIU {miu} on steel; twice that on skin and on itself is estimated"),
            ));
        }
        if let Some(t) = self.mean("T") {
            f.thickness = 1e-3 * t + APART;
            said.push((
                "thickness",
                format!("measured: T {t} mm, and 2 mm that layers keep apart for the solver"),
            ));
        }
        if let Some(([warp, weft], shear)) = self.get("2HB").zip(self.mean("2HG")) {
            f.hysteresis = Some(Hysteresis {
                bend_warp: warp * MOMENT,
                bend_weft: weft * MOMENT,
                shear: shear * TENSION,
            });
            let at_five = self.mean("2HG5").map_or(String::new(), |v| format!(", 2HG5 {v} gf/cm (not used)"));
            said.push((
                "hysteresis",
                format!("measured: 2HB {warp}, {weft} gf cm/cm, 2HG {shear} gf/cm{at_five}"),
            ));
        }
        let groups = ["density", "stretch", "shear", "poisson", "bend", "damping_secs", "thickness"];
        for group in groups.into_iter().chain(["friction", "drag", "hysteresis"]) {
            let own = said.iter().find(|(key, _)| *key == group).map(|(_, text)| text.clone());
            let text = match own {
                Some(text) => text,
                None if group == "hysteresis" => continue,
                None => format!("estimated: as {}", like.name),
            };
            f.sources.push(format!("{group}: {text}"));
        }
        f
    }

    fn tensile(&self, f: &mut Fabric, said: &mut Vec<(&'static str, String)>) {
        let Some(lt) = self.get("LT") else { return };
        let strain = |k: usize| match (self.get("WT"), self.get("EMT")) {
            (Some(wt), _) => Some(2.0 * wt[k] / (lt[k] * FULL_LOAD)),
            (None, Some(emt)) => Some(0.01 * emt[k]),
            _ => None,
        };
        let (Some(warp), Some(weft)) = (strain(0), strain(1)) else { return };
        (f.stretch_warp, f.stretch_weft) = (stretch(lt[0], warp), stretch(lt[1], weft));
        let resilience = self.mean("RT").map_or(String::new(), |rt| format!(", RT {rt} % (not used)"));
        said.push((
            "stretch",
            format!(
                "measured: LT {}, {} and {:.2}, {:.2} % at 490 N/m; secant at the 20 N/m of a worn garment{resilience}",
                lt[0],
                lt[1],
                100.0 * warp,
                100.0 * weft
            ),
        ));
    }

    fn bending(&self, f: &mut Fabric, said: &mut Vec<(&'static str, String)>) {
        if let Some([warp, weft]) = self.get("B") {
            (f.bend_warp, f.bend_weft) = (warp * BEND, weft * BEND);
            said.push(("bend", format!("measured: B {warp}, {weft} gf cm2/cm")));
        } else if let Some([warp, weft]) = self.get("C") {
            f.bend_warp = rigidity(f.density, 0.01 * warp);
            f.bend_weft = rigidity(f.density, 0.01 * weft);
            said.push(("bend", format!("measured: bending length (ASTM D1388) {warp}, {weft} cm")));
        }
        if let (Some(hb), Some(b)) = (self.get("2HB"), self.get("B")) {
            let of = |k: usize| damping_of_hysteresis(hb[k] * MOMENT, b[k] * BEND);
            f.damping_secs = (0.5 * (of(0) + of(1))).min(0.1);
            said.push((
                "damping_secs",
                "measured: loses at 2 Hz what the loop 2HB/B does at folds of 8 mm radius".into(),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn a_whole_sheet_becomes_a_fabric_in_si_units() {
        let mut sheet = Sheet::new("mill");
        for (key, value) in [
            ("LT", [0.6, 0.6]),
            ("WT", [7.5, 15.0]),
            ("RT", [60.0, 55.0]),
            ("B", [0.12, 0.09]),
            ("2HB", [0.048, 0.036]),
            ("G", [0.8, 0.8]),
            ("2HG", [1.5, 1.5]),
            ("2HG5", [3.0, 3.0]),
            ("MIU", [0.2, 0.2]),
            ("T", [0.4, 0.4]),
            ("W", [15.0, 15.0]),
        ] {
            sheet.set(key, value);
        }
        assert!(sheet.faults(false).is_empty());
        let f = sheet.fabric(&builtin::fabric("cotton").unwrap());
        assert!(f.absurdities().is_empty());
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} for {b}");
        near(f.density, 0.15);
        near(f.bend_warp, 1.1768e-5);
        near(f.shear, 0.8 * 56.188);
        near(f.thickness, 2.4e-3);
        near(f.friction, 0.4);
        // EMT 5 %, p = 2.333: 20 of 490 N/m are 25 % of the way.
        near(f.stretch_warp, 20.0 / (0.05 * (20.0f64 / 490.3325).powf(1.0 / 2.33333)));
        near(f.stretch_warp, 2.0 * f.stretch_weft);
        near(f.damping_secs, 0.2 / (std::f64::consts::TAU * 2.0));
        near(f.hysteresis.unwrap().bend_warp, 0.048 * 9.80665e-3);
        assert_eq!(f.sources.len(), 10);
        assert!(f.sources.iter().any(|s| s == "drag: estimated: as cotton"), "{:?}", f.sources);
    }

    #[test]
    fn the_tensile_curve_has_the_work_and_the_end_of_the_sheet() {
        let (lt, strain) = (0.7, 0.08);
        let p = 2.0 / lt - 1.0;
        let work: f64 =
            (0..1000).map(|k| 490.3325 * ((f64::from(k) + 0.5) / 1000.0f64).powf(p) * strain / 1000.0).sum();
        assert!((work / (lt * 0.5 * 490.3325 * strain) - 1.0).abs() < 1e-3);
        assert!(stretch(1.0, 0.05) > stretch(0.7, 0.05), "crimp comes out first");
        assert!((stretch(1.0, 0.05) - 490.3325 / 0.05).abs() < 1e-6);
    }

    #[test]
    fn a_bending_length_gives_the_rigidity_of_the_strip() {
        // As long as c cubed times weight: the textbook's rule, within the elastica's correction of 0.05 %.
        assert!((rigidity(0.15, 0.019) / (0.15 * 9.80665 * 0.019f64.powi(3)) - 1.0).abs() < 1e-3);
    }
}
