//! One garment moved in one way over a whole clip: made frame by frame while the window goes on, then free to scrub in.

use super::cast::Cast;
use super::way::Way;
use crate::{Material, MeshHandle};
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Attachment, Model, Take};
use toile_run::{Layered, LayeredSettings, Skinned, Stable, Tier};
use web_time::Instant;

/// What a frame was noticed to be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noted {
    /// Time of the step, bones to vertices, µs.
    pub step_us: f32,
    /// How far a learned correction was trusted, 0 to 1.
    pub gate: Option<f32>,
    /// The pose against the farthest one of training: above 1 is out of range.
    pub pose_distance: Option<f32>,
    /// Inputs that were clamped to what is certified.
    pub clamped: u32,
    /// The largest share of its certified bound that any vertex used, 0 to 1.
    pub bound_share: Option<f32>,
    /// Mean distance to the truth, cm.
    pub error_cm: Option<f32>,
    /// Speed that skinning does not have, root mean square, cm/s.
    pub lively_cm_per_s: Option<f32>,
}

/// A garment over a clip.
pub struct Track {
    pub way: Way,
    pub mesh: MeshHandle,
    pub material: Material,
    pub notes: Vec<Noted>,
    /// How far each vertex of the body leads in the depth test, found when first drawn.
    pub leads_m: Option<Vec<f32>>,
    frames: Vec<Vec<Vec3>>,
    source: Source,
    /// The cloth on its bones, for what is compared with it.
    skin: Option<Attachment>,
    /// Where cloth was beyond skinning in the frame before.
    beyond: Vec<Vec3>,
}

enum Source {
    Tier(Box<dyn Tier>),
    Learned { tier: Box<Stable>, model: Arc<Model>, dims: usize },
    Take(Arc<Take>),
    Nothing,
}

/// What a user sets for all garments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Cloth dimensions that are drawn; all where `None`.
    pub dims: Option<usize>,
}

impl Track {
    /// Nothing made yet.
    pub fn new(way: Way, cast: &Cast, conditions: &Conditions) -> Result<Self, String> {
        let lacking = || cast.lacks(way, true).unwrap_or("is not there yet").to_string();
        let skin = cast.attachment();
        let source = match way {
            Way::Skin => Source::Tier(Box::new(Skinned::new(skin.clone().ok_or_else(lacking)?))),
            Way::Layered => {
                let settings = LayeredSettings { wind: conditions.wind, ..LayeredSettings::default() };
                Source::Tier(Box::new(Layered::new(cast.layers()?, settings)))
            }
            Way::Stable => {
                let model = cast.model.clone().ok_or_else(lacking)?;
                let dims = conditions.dims.unwrap_or(model.cloth_dims).min(model.cloth_dims);
                Source::Learned { tier: Box::new(Stable::new(model.clone())), model, dims }
            }
            Way::Adaptive => Source::Tier(cast.adaptive().ok_or_else(lacking)??),
            Way::Full => cast.take.clone().map_or(Source::Nothing, Source::Take),
        };
        let triangles = match (way, &cast.garment) {
            (Way::Layered, Some(garment)) => garment.sim.triangles.as_slice(),
            _ => cast.triangles().ok_or_else(lacking)?,
        };
        Ok(Self {
            way,
            mesh: MeshHandle::new(triangles),
            material: Material::fabric(&cast.fabric()),
            notes: Vec::new(),
            leads_m: None,
            frames: Vec::new(),
            source,
            skin,
            beyond: Vec::new(),
        })
    }

    /// Frames that are there.
    pub fn ready(&self) -> usize {
        self.frames.len()
    }

    /// Whether it waits for something that is made elsewhere.
    pub fn waits(&self) -> bool {
        matches!(self.source, Source::Nothing)
    }

    /// The vertices of a frame that is there.
    pub fn frame(&self, f: usize) -> Option<&[Vec3]> {
        self.frames.get(f).map(Vec::as_slice)
    }

    /// Makes frames until `until` or the end of the clip, at least one.
    #[allow(clippy::disallowed_methods)] // µs a stage are what is shown
    pub fn make(&mut self, cast: &Cast, until: Instant) -> Result<(), String> {
        let shot = &cast.shot;
        while self.frames.len() < shot.bones.len() && !self.waits() {
            let f = self.frames.len();
            let begun = Instant::now();
            let (positions, mut noted) = self.step(cast, f)?;
            if !matches!(self.source, Source::Take(_)) {
                noted.step_us = begun.elapsed().as_secs_f32() * 1e6;
            }
            self.judge(cast, f, &positions, &mut noted);
            self.frames.push(positions);
            self.notes.push(noted);
            if Instant::now() >= until {
                break;
            }
        }
        Ok(())
    }

    fn step(&mut self, cast: &Cast, f: usize) -> Result<(Vec<Vec3>, Noted), String> {
        let (bones, root) = (&cast.shot.bones[f], &cast.shot.roots[f]);
        let dt = 1.0 / cast.shot.fps;
        let mut noted = Noted::default();
        let failed = |e: toile_run::Error| format!("{}, frame {f}: {e}", cast.shot.name);
        let positions = match &mut self.source {
            Source::Nothing => Vec::new(),
            Source::Take(take) => {
                noted.step_us = take.reports.get(f).map_or(0.0, |r| 1e3 * r.ms);
                if f >= take.len() {
                    return Err(format!("{}: the take ends before frame {f}", take.clip));
                }
                take.frame(f).to_vec()
            }
            Source::Tier(tier) => {
                noted.clamped = tier.step(bones, dt).map_err(failed)?.clamped;
                let mut out = vec![Vec3::ZERO; tier.vertices()];
                tier.positions(&mut out);
                out
            }
            Source::Learned { tier, model, dims } => {
                noted.clamped = tier.step_with_root(bones, root, dt).map_err(failed)?.clamped;
                let mut out = vec![Vec3::ZERO; tier.vertices()];
                tier.positions_of(*dims, &mut out);
                noted.gate = model.correction.is_some().then(|| tier.gate());
                noted.pose_distance = Some(model.pose_distance(tier.body_coefficients()));
                noted.bound_share = Some(bound_share(model, tier.coefficients()));
                out
            }
        };
        Ok((positions, noted))
    }

    /// Distance to the truth, and motion beyond skinning.
    fn judge(&mut self, cast: &Cast, f: usize, positions: &[Vec3], noted: &mut Noted) {
        if let Some(truth) = cast.take.as_ref().filter(|t| t.vertices == positions.len() && f < t.len())
            && self.way != Way::Full
        {
            let sum: f32 = positions.iter().zip(truth.frame(f)).map(|(a, b)| a.distance(*b)).sum();
            noted.error_cm = Some(100.0 * sum / positions.len().max(1) as f32);
        }
        let Some(skin) = self.skin.as_ref().filter(|s| s.rest.len() == positions.len()) else { return };
        let skinned = skin.posed(&cast.shot.bones[f]);
        let beyond: Vec<Vec3> = positions.iter().zip(&skinned).map(|(p, s)| *p - *s).collect();
        if self.beyond.len() == beyond.len() {
            let sum: f32 = beyond.iter().zip(&self.beyond).map(|(a, b)| a.distance_squared(*b)).sum();
            let rms_m = (sum / beyond.len().max(1) as f32).sqrt();
            noted.lively_cm_per_s = Some(100.0 * rms_m * cast.shot.fps as f32);
        }
        self.beyond = beyond;
    }
}

/// The largest share of its bound that any vertex is at: of its way from the mean, or of a model D's correction.
fn bound_share(model: &Model, y: &[f32]) -> f32 {
    let d = model.cloth_dims;
    let rows = model.cloth_basis.chunks_exact(3 * d);
    let shares = rows.zip(&model.certificate.travel_bound_m).map(|(rows, bound)| {
        let moved =
            [0, 1, 2].map(|k| rows[k * d..(k + 1) * d].iter().zip(y).map(|(b, y)| b * y).sum::<f32>());
        Vec3::from_array(moved).length() / bound.max(1e-6)
    });
    shares.fold(0.0, f32::max)
}
