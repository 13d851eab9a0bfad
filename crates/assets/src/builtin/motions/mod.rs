//! Motions made from parameters, for the mannequin's skeleton, at 120 frames per second.
//!
//! Footfalls are planted in the world from a travel (speed, heading, gait phase over time), the root follows the
//! travel with the rise, sway and turns of human gait, and the legs reach from one to the other.

mod families;
mod feet;
mod figure;
mod gait;
mod legs;
mod path;

use super::{Entry, unknown};
use crate::{Error, Motion, Result, Skeleton};
use figure::Figure;

/// The motions there are.
pub fn list() -> Vec<Entry> {
    [
        ("stand", "stands still"),
        ("walk", "walks at 1.3 m/s; `walk:0.8` at another speed (0.5 to 2.1)"),
        ("run", "runs at 3.0 m/s; `run:2.5` at another speed (2.2 to 5.0)"),
        ("turn:90", "walks and turns left by so many degrees (negative: right), up to 720"),
        ("walk-stop", "walks at 1.3 m/s, stops short and stands; `walk-stop:1.5`"),
        ("run-stop", "runs at 3.0 m/s, stops short and stands; `run-stop:2.5`"),
        ("walk-turn-stop", "walks, turns left by 90 degrees, stops short and stands; `walk-turn-stop:-60`"),
    ]
    .map(|(name, about)| Entry { kind: "motion", name, about })
    .to_vec()
}

/// A motion by name, for the mannequin's skeleton.
pub fn motion(name: &str, skeleton: &Skeleton) -> Result<Motion> {
    let figure = Figure::of(skeleton)?;
    let (family, value) = match name.split_once(':') {
        Some((family, value)) => (family, Some(value)),
        None => (name, None),
    };
    let number = |default: f64, least: f64, most: f64, unit: &str| -> Result<f64> {
        let Some(text) = value else { return Ok(default) };
        match text.parse::<f64>() {
            Ok(x) if (least..=most).contains(&x) => Ok(x),
            _ => Err(Error::Invalid(format!(
                "motion `{name}`: `{text}` should be a number of {unit} from {least} to {most}"
            ))),
        }
    };
    let angle = |default: f64| number(default, -720.0, 720.0, "degrees").map(f64::to_radians);
    let plan = match family {
        "stand" if value.is_none() => families::stand(&figure, 3.0),
        "walk" => families::steady(&figure, number(1.3, 0.5, 2.1, "m/s")?, 0.0, 5.0),
        "run" => families::steady(&figure, number(3.0, 2.2, 5.0, "m/s")?, 1.0, 4.0),
        "turn" => {
            let angle = angle(90.0)?;
            families::turning(&figure, 1.1, 0.0, angle, 3.0 + angle.abs().to_degrees() / 75.0)
        }
        "walk-stop" => families::stopping(&figure, number(1.3, 0.6, 2.0, "m/s")?, 0.0, 0.0, 2.5),
        "run-stop" => families::stopping(&figure, number(3.0, 2.2, 4.0, "m/s")?, 1.0, 0.0, 1.8),
        "walk-turn-stop" => families::stopping(&figure, 1.2, 0.0, angle(90.0)?, 3.5),
        _ => return Err(unknown("motion", name)),
    };
    figure.motion(name, &plan)
}
