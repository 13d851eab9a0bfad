//! Motions made from parameters, for the mannequin's skeleton, at 120 frames per second.
//!
//! Footfalls are planted in the world from a travel (speed, heading, gait phase over time), the root follows the
//! travel with the rise, sway and turns of human gait, and the legs reach from one to the other.

mod calisthenics;
mod choreography;
mod extremes;
mod feet;
mod figure;
mod gait;
mod jump;
mod legs;
mod path;
mod stop;
mod training;
mod walk;

use super::{Entry, unknown};
use crate::{Error, Motion, Result, Skeleton};
use figure::{Figure, Plan};

/// The motions there are.
pub fn list() -> Vec<Entry> {
    let named = [
        ("stand", "stands still"),
        ("walk", "walks at 1.3 m/s; `walk:0.8` at another speed (0.5 to 2.1)"),
        ("run", "runs at 3.0 m/s; `run:2.5` at another speed (2.2 to 4.5)"),
        ("walk-run", "walks and speeds up into a run of 3.0 m/s; `walk-run:3.5`"),
        ("turn:45", "walks and turns left by so many degrees (negative: right; up to 360)"),
        ("turn:90", "the same by a right angle"),
        ("turn:180", "the same, and back"),
        ("turn:360", "the same, a full circle"),
        ("walk-stop", "walks at 1.3 m/s, stops short and stands; `walk-stop:1.5`"),
        ("run-stop", "runs at 3.0 m/s, stops short and stands; `run-stop:2.5`"),
        ("walk-turn-stop", "walks, turns left by 90 degrees, stops short and stands; `walk-turn-stop:-60`"),
        ("walk-stop-twist", "walks, stops, twists by 45 degrees on planted feet; `walk-stop-twist:30`"),
        ("jump", "jumps up by 0.25 m from standing; `jump:0.15`"),
    ];
    named
        .into_iter()
        .chain(calisthenics::EXERCISES)
        .map(|(name, about)| Entry { kind: "motion", name, about })
        .collect()
}

/// Sets of motions: a name that stands for all of a set's clips, which are called `set/clip`.
pub fn sets() -> Vec<Entry> {
    [
        (
            "training",
            "ten minutes of range of motion to learn from: gaits, turns, exercises, kicks, jumps, free movement",
        ),
        ("extremes", "fifteen clips to judge by: larger and faster movements, bow, squat, kicks, spins, jumps"),
    ]
    .map(|(name, about)| Entry { kind: "motion set", name, about })
    .into()
}

/// The clips of a set, or `None` where no set has the name.
pub fn set(name: &str) -> Option<Vec<String>> {
    let clips: Vec<&str> = match name {
        "training" => training::clips().map(|(clip, _)| *clip).collect(),
        "extremes" => extremes::NAMES.into(),
        _ => return None,
    };
    Some(clips.into_iter().map(|clip| format!("{name}/{clip}")).collect())
}

/// A motion by name, for the mannequin's skeleton.
pub fn motion(name: &str, skeleton: &Skeleton) -> Result<Motion> {
    let figure = Figure::of(skeleton)?;
    match name.split_once('/') {
        Some(("extremes", clip)) => {
            extremes::motion(&figure, clip).unwrap_or_else(|| Err(unknown("motion", name)))
        }
        _ => figure.motion(name, &named(&figure, name)?),
    }
}

/// The plan of a motion, or of a clip to learn from, by name.
fn named(figure: &Figure, name: &str) -> Result<Plan> {
    if let Some(("training", clip)) = name.split_once('/') {
        return training::plan(figure, clip).ok_or_else(|| unknown("motion", name));
    }
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
    let angle = |default: f64| number(default, -360.0, 360.0, "degrees").map(f64::to_radians);
    Ok(match family {
        "stand" if value.is_none() => stop::stand(figure, 3.0),
        "walk" => walk::steady(figure, number(1.3, 0.5, 2.1, "m/s")?, 0.0, 5.0),
        "run" => walk::steady(figure, number(3.0, 2.2, 4.5, "m/s")?, 1.0, 4.0),
        "walk-run" => walk::into_run(figure, number(3.0, 2.2, 4.5, "m/s")?),
        "turn" => {
            let angle = angle(90.0)?;
            walk::turning(figure, 1.1, 0.0, angle, 3.0 + angle.abs().to_degrees() / 75.0)
        }
        "walk-stop" => stop::stopping(figure, number(1.3, 0.6, 2.0, "m/s")?, 0.0, 0.0, 2.5, 0.0),
        "run-stop" => stop::stopping(figure, number(3.0, 2.2, 4.0, "m/s")?, 1.0, 0.0, 1.8, 0.0),
        "walk-turn-stop" => {
            let angle = angle(90.0)?;
            let moving = 2.2 + angle.abs().to_degrees() / 75.0;
            stop::stopping(figure, 1.2, 0.0, angle, moving, 0.0)
        }
        "walk-stop-twist" => {
            let twist = number(45.0, -70.0, 70.0, "degrees")?.to_radians();
            stop::stopping_and_twisting(figure, 1.2, twist)
        }
        "jump" => jump::jump(figure, number(0.25, 0.05, 0.35, "metres")?),
        _ => match calisthenics::exercise(figure, family) {
            Some(plan) if value.is_none() => plan,
            _ => return Err(unknown("motion", name)),
        },
    })
}
