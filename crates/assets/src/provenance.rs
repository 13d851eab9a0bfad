//! What a take was made from and what a model was learned from, as values and not as text.

use crate::{Body, Fingerprint};

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
