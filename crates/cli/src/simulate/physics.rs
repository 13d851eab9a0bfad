//! The options that change what is simulated, their ranges, and what they become in the solver.

use crate::resolve::BadRequest;
use anyhow::Result;
use clap::Args;
use glam::DVec3;
use std::str::FromStr;
use toile_simulate::{RecordSettings, Settings};

/// No wind that anyone dresses for is faster, m/s: a hurricane.
const MOST_WIND: f64 = 40.0;
/// Thrice the usual, m/s².
const MOST_GRAVITY: f64 = 30.0;
/// Substeps a second; below the first a step is longer than a frame, beyond the last nothing changes any more.
const RATES: std::ops::RangeInclusive<f64> = 30.0..=3840.0;
/// Millimetres that 1 kPa presses: steel to foam.
const SOFTNESS: std::ops::RangeInclusive<f64> = 0.03..=10.0;

/// Air, time step and contact.
#[derive(Args, Clone, Debug, Default)]
pub struct Physics {
    /// Velocity of the wind in metres per second, +Y up and +Z to the front of a character as it stands in its file; given
    /// more than once, every clip is simulated in each
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    wind: Vec<Vector>,
    /// Share, 0 to 1, by which gusts strengthen and weaken the wind
    #[arg(long, value_name = "SHARE")]
    gust: Option<f64>,
    /// Gravity in m/s², as in 0,-1.62,0 for the moon; leaning for a slope or a ship
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    gravity: Option<Vector>,
    /// Share of its wearer's velocity, 0 to 1, that air has which a garment shuts in (0.8 when not given; a cape, open to
    /// the sides, shuts in none); `off` for no air at all
    #[arg(long, value_name = "SHARE|off")]
    air: Option<String>,
    /// Substeps a second, at least
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// How far a pressure of 1 kPa presses cloth into the body, in millimetres
    #[arg(long, value_name = "MM")]
    softness: Option<f64>,
}

impl Physics {
    /// The usual settings with what was asked for, once for each wind, with what tells their files apart where there are
    /// several; everything out of range is refused at once.
    pub fn settings(&self) -> Result<Vec<(String, RecordSettings)>> {
        let mut settings = RecordSettings::default().with(|s| s.gust = self.gust.unwrap_or(0.0));
        let faults = self.apply(&mut settings.solver);
        if !faults.is_empty() {
            return Err(BadRequest(faults.join("\n")).into());
        }
        let in_wind = |wind: DVec3| settings.clone().with(|s| s.solver.wind = wind);
        Ok(match self.wind.as_slice() {
            [] => vec![(String::new(), settings)],
            [only] => vec![(String::new(), in_wind(only.0))],
            many => many.iter().map(|w| (format!("+wind{}", w.label()), in_wind(w.0))).collect(),
        })
    }

    fn apply(&self, solver: &mut Settings) -> Vec<String> {
        let mut faults = Vec::new();
        for Vector(wind) in &self.wind {
            if !(wind.length() <= MOST_WIND) {
                faults.push(format!("--wind {wind}: at most {MOST_WIND} m/s"));
            }
        }
        if let Some(gust) = self.gust.filter(|g| !(0.0..=1.0).contains(g)) {
            faults.push(format!("--gust {gust}: 0 to 1"));
        }
        if let Some(Vector(gravity)) = self.gravity {
            solver.gravity = gravity;
            if !(gravity.length() <= MOST_GRAVITY) {
                faults.push(format!("--gravity {gravity}: at most {MOST_GRAVITY} m/s²"));
            }
        }
        match (self.air.as_deref(), self.air.as_deref().map(str::parse::<f64>)) {
            (None, _) => {}
            (Some("off"), _) => solver.air_density = 0.0,
            (_, Some(Ok(share))) if (0.0..=1.0).contains(&share) => solver.carried_air = share,
            (Some(text), _) => faults.push(format!("--air {text}: 0 to 1, or `off`")),
        }
        if let Some(rate) = self.rate {
            solver.max_step_secs = 1.0 / rate;
            // Longer steps are harder to solve: friction is right only where they are solved.
            solver.max_newton = (8.0 * 240.0 / rate).ceil().clamp(8.0, 40.0) as usize;
            if !RATES.contains(&rate) {
                faults.push(format!("--rate {rate}: {} to {} substeps a second", RATES.start(), RATES.end()));
            }
        }
        if let Some(softness) = self.softness {
            solver.contact_stiffness = 1e6 / softness;
            if !SOFTNESS.contains(&softness) {
                faults.push(format!(
                    "--softness {softness}: {} to {} mm at 1 kPa",
                    SOFTNESS.start(),
                    SOFTNESS.end()
                ));
            }
        }
        faults
    }
}

/// Three numbers with commas between them.
#[derive(Clone, Copy, Debug)]
pub struct Vector(pub DVec3);

impl Vector {
    /// For the name of a file.
    fn label(&self) -> String {
        self.0.to_array().map(|v| format!("{v}")).join("_")
    }
}

impl FromStr for Vector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<f64> = text.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        match (numbers.as_slice(), text.split(',').count()) {
            ([x, y, z], 3) if numbers.iter().all(|n| n.is_finite()) => Ok(Self(DVec3::new(*x, *y, *z))),
            _ => Err("wants three numbers, as in 0,0,-2.5".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_reach_the_solver_and_ranges_are_said() {
        let asked = Physics {
            wind: vec!["0, 0.5,-2".parse().unwrap()],
            air: Some("0.5".into()),
            rate: Some(240.0),
            softness: Some(2.0),
            ..Physics::default()
        };
        let only = |asked: &Physics| asked.settings().unwrap().remove(0).1;
        let solver = only(&asked).solver;
        assert_eq!(solver.wind, DVec3::new(0.0, 0.5, -2.0));
        assert_eq!((solver.carried_air, solver.contact_stiffness), (0.5, 5e5));
        assert!((240.0 * solver.max_step_secs - 1.0).abs() < 1e-12);
        let off = Physics { air: Some("off".into()), ..Physics::default() };
        assert_eq!(only(&off).solver.air_density, 0.0);
        assert_eq!(only(&Physics::default()), RecordSettings::default());
        let winds = ["0,0,3", "-3,0,0"].map(|w| w.parse().unwrap()).to_vec();
        let two = Physics { wind: winds, gust: Some(0.5), ..Physics::default() }.settings().unwrap();
        assert_eq!((two.len(), two[1].0.as_str(), two[1].1.gust), (2, "+wind-3_0_0", 0.5));

        let bad = Physics {
            wind: vec!["0,0,90".parse().unwrap()],
            gust: Some(2.0),
            gravity: Some("0,-90,0".parse().unwrap()),
            air: Some("2".into()),
            rate: Some(0.0),
            softness: Some(f64::NAN),
        };
        let said = bad.settings().unwrap_err().to_string();
        for part in [
            "at most 40 m/s",
            "--gust 2: 0 to 1",
            "at most 30 m/s²",
            "--air 2: 0 to 1",
            "30 to 3840",
            "0.03 to 10",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        for text in ["1,2", "1,2,3,4", "a,0,0", "nan,0,0", ""] {
            assert!(text.parse::<Vector>().is_err(), "{text}");
        }
    }
}
