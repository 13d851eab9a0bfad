//! What a take was made from and what a model was learned from, as values and not as text.

use crate::{Body, Fabric, Fingerprint};
use glam::DVec3;
use toile_model::{FABRIC_VALUES, Surroundings};

/// How a take was simulated, as far as anyone asks later.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
pub struct Conditions {
    /// Velocity of the air, m/s.
    pub wind: [f64; 3],
    /// kg/m³; 0 where there was none.
    pub air_density: f64,
    /// Share of the wearer's velocity that enclosed air has.
    pub carried_air: f64,
    /// Substeps a second, at least.
    pub rate: f64,
    /// How far 1 kPa presses cloth into the body, mm.
    pub softness: f64,
    /// How far every vertex was pushed aside at the first frame, mm: not 0 for a twin.
    pub nudge_mm: f64,
    /// Share by which gusts strengthen and weaken the wind.
    #[cfg_attr(feature = "io", serde(default))]
    pub gust: f64,
    /// m/s²; `None` for the usual one.
    #[cfg_attr(feature = "io", serde(default))]
    pub gravity: Option<[f64; 3]>,
    /// What tells the cloth from others, as a model hears it: see [`Fabric::heard`]. Older takes do not say.
    #[cfg_attr(feature = "io", serde(default))]
    pub cloth: Option<[f64; FABRIC_VALUES]>,
}

/// What gusts do to a wind of strength 1 after so many seconds, −1 to 1: two waves of 3.2 and 1.2 s that never meet.
pub fn gusts(secs: f64) -> f64 {
    let wave = |hz: f64| (std::f64::consts::TAU * hz * secs).sin();
    0.7 * wave(0.31) + 0.3 * wave(0.83)
}

impl Conditions {
    /// Wind, gravity and cloth after so many seconds of a clip.
    pub fn surroundings(&self, secs: f64) -> Surroundings {
        let wind = DVec3::from_array(self.wind) * (1.0 + self.gust * gusts(secs));
        let usual = Surroundings::default();
        Surroundings {
            wind: wind.as_vec3(),
            gravity: self.gravity.map_or(usual.gravity, |g| DVec3::from_array(g).as_vec3()),
            fabric: self.cloth.map(|c| c.map(|v| v as f32)),
        }
    }

    /// All but wind, gravity and cloth.
    pub fn without_surroundings(&self) -> Self {
        Self { wind: [0.0; 3], gust: 0.0, gravity: None, cloth: None, nudge_mm: 0.0, ..*self }
    }
}

impl Fabric {
    /// What tells it from others, as a model hears it: logarithms of bending length (m), mass (kg/m²), stretch and shear
    /// stiffness (N/m) and damping (s).
    pub fn heard(&self) -> [f64; FABRIC_VALUES] {
        let bending_length = ((self.bend_warp * self.bend_weft).sqrt() / (9.81 * self.density)).cbrt();
        let stretch = (self.stretch_warp * self.stretch_weft).sqrt();
        [bending_length, self.density, stretch, self.shear, self.damping_secs.max(1e-4)].map(f64::ln)
    }
}

/// What a take was made from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
pub struct Provenance {
    /// Joints, bind pose, surface and weights.
    pub body: Fingerprint,
    /// Mesh, flat cut and pins.
    pub garment: Fingerprint,
    /// All values.
    pub fabric: Fingerprint,
    /// All settings but the nudge.
    pub solver: Fingerprint,
    /// Rate and poses.
    pub clip: Fingerprint,
    /// In plain values.
    pub conditions: Conditions,
}

/// What a model was learned from.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
pub struct Lineage {
    /// The body that wore it.
    pub body: Fingerprint,
    /// What was worn.
    pub garment: Fingerprint,
    /// What it is made of.
    pub fabric: Fingerprint,
    /// How it was simulated.
    pub solver: Fingerprint,
    /// The clips, each once: name and fingerprint.
    pub clips: Vec<(String, Fingerprint)>,
}

/// The note of a model that its lineage is kept in.
#[cfg(feature = "io")]
const LINEAGE: &str = "lineage";

impl Lineage {
    /// Of takes that were made alike, by the names of their clips; `None` where one does not know what it was made from.
    pub fn of<'a>(takes: impl IntoIterator<Item = (&'a str, Option<&'a Provenance>)>) -> Option<Self> {
        let mut lineage: Option<Self> = None;
        for (clip, provenance) in takes {
            let p = provenance?;
            let lineage = lineage.get_or_insert_with(|| Self {
                body: p.body,
                garment: p.garment,
                fabric: p.fabric,
                solver: p.solver,
                clips: Vec::new(),
            });
            if !lineage.clips.iter().any(|(_, print)| *print == p.clip) {
                lineage.clips.push((clip.to_string(), p.clip));
            }
        }
        lineage
    }

    /// Whether a clip was learned from; then by what name.
    pub fn knows(&self, clip: Fingerprint) -> Option<&str> {
        self.clips.iter().find(|(_, print)| *print == clip).map(|(name, _)| name.as_str())
    }
}

#[cfg(feature = "io")]
impl Lineage {
    /// As a model keeps it.
    pub fn to_note(&self) -> (String, String) {
        (LINEAGE.into(), serde_json::to_string(self).unwrap_or_default())
    }

    /// From a model's notes; `None` for models that do not say.
    pub fn from_notes(notes: &[(String, String)]) -> Option<Self> {
        notes.iter().find(|(key, _)| key == LINEAGE).and_then(|(_, text)| serde_json::from_str(text).ok())
    }
}

impl Provenance {
    /// What is wrong with using the take on `body`, if anything.
    pub fn wrong_body(&self, body: &Body) -> Option<String> {
        let print = body.fingerprint();
        (print != self.body).then(|| {
            format!(
                "it was made with another body ({}) than `{}` ({print}): name the one that wore it with --body",
                self.body, body.name
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(clip: u64) -> Provenance {
        let print = Fingerprint;
        Provenance {
            body: print(1),
            garment: print(2),
            fabric: print(3),
            solver: print(4),
            clip: print(clip),
            conditions: Conditions::default(),
        }
    }

    #[test]
    fn gusts_stay_within_their_strength_and_begin_with_the_wind_itself() {
        let c = Conditions { wind: [0.0, 0.0, 2.0], gust: 0.5, ..Conditions::default() };
        assert_eq!(c.surroundings(0.0).wind.to_array(), [0.0, 0.0, 2.0]);
        let speeds: Vec<f32> = (0..600).map(|f| c.surroundings(f64::from(f) / 30.0).wind.z).collect();
        let (low, high) = speeds.iter().fold((9.0f32, 0.0f32), |(l, h), v| (l.min(*v), h.max(*v)));
        assert!((1.0..1.2).contains(&low) && (2.8..=3.0).contains(&high), "{low} {high}");
        assert_eq!(Conditions::default().surroundings(1.0), Surroundings::default());
    }

    #[test]
    fn a_model_knows_its_clips_and_its_body() {
        let (walk, run) = (made(10), made(11));
        let takes = [("walk", Some(&walk)), ("walk", Some(&walk)), ("run", Some(&run))];
        let lineage = Lineage::of(takes).unwrap();
        assert_eq!(lineage.clips.len(), 2, "stops of a clip are the same clip");
        assert_eq!((lineage.knows(Fingerprint(11)), lineage.knows(Fingerprint(12))), (Some("run"), None));
        assert_eq!(Lineage::of([("old", None)]), None);
        #[cfg(feature = "io")]
        assert_eq!(Lineage::from_notes(&[lineage.to_note()]), Some(lineage));
    }
}
