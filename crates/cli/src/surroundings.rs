//! Wind, gravity and cloth that a learned garment is told, and what is said where it cannot hear them.

use crate::resolve::{self, BadRequest};
use crate::simulate::Vector;
use anyhow::Result;
use glam::{Affine3A, Vec3};
use toile_assets::{Model, Surroundings, gusts};
use toile_run::{Stable, Tier, TierReport};
use toile_simulate::RecordSettings;

/// What is asked for on the command line.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Asked {
    /// Velocity of the wind in metres per second, in the world: +Y up, +Z to the front of a character as it stands in its file
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    wind: Vec<Vector>,
    /// Share, 0 to 1, by which gusts strengthen and weaken the wind
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub gust: f64,
    /// Gravity in m/s², as in 0,-1.62,0 for the moon
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    gravity: Option<Vector>,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or("wants a number from 0 to 1".into())
}

impl Asked {
    /// Whether nothing is.
    pub fn is_nothing(&self) -> bool {
        self.wind.is_empty() && self.gravity.is_none() && self.gust == 0.0
    }

    /// For the simulator.
    pub fn settings(&self, settings: RecordSettings) -> RecordSettings {
        settings.with(|s| {
            s.gust = self.gust;
            if let Some(wind) = self.wind.first() {
                s.solver.wind = wind.0;
            }
            if let Some(gravity) = self.gravity {
                s.solver.gravity = gravity.0;
            }
        })
    }

    /// For instances of a learned garment, which take turns where several winds or fabrics are given. What the model cannot
    /// hear is refused, what is beyond its training said.
    pub fn told(&self, model: &Model, fabrics: &[String]) -> Result<Vec<Surroundings>> {
        let asks = !self.is_nothing() || !fabrics.is_empty();
        let Some(hearing) = model.hears() else {
            return match asks {
                true => Err(BadRequest(
                    "the model does not hear wind, gravity or fabric; train one with `toile train --surroundings` \
                     from takes that differ in them"
                        .into(),
                )
                .into()),
                false => Ok(vec![Surroundings::default()]),
            };
        };
        if !fabrics.is_empty() && hearing.axes() == 0 {
            eprintln!("the model was trained in one fabric: --fabric changes nothing");
        }
        let cloths = fabrics
            .iter()
            .filter(|_| hearing.axes() > 0)
            .map(|name| Ok(Some(resolve::fabric(name)?.heard().map(|v| v as f32))))
            .collect::<Result<Vec<_>>>()?;
        let count = self.wind.len().max(cloths.len()).max(1);
        let usual = Surroundings::default();
        let told: Vec<Surroundings> = (0..count)
            .map(|i| Surroundings {
                wind: self.wind.get(i % self.wind.len().max(1)).map_or(Vec3::ZERO, |w| w.0.as_vec3()),
                gravity: self.gravity.map_or(usual.gravity, |g| g.0.as_vec3()),
                fabric: cloths.get(i % cloths.len().max(1)).copied().flatten(),
            })
            .collect();
        let strongest = |s: &Surroundings| Surroundings { wind: s.wind * (1.0 + self.gust as f32), ..*s };
        let mut said: Vec<String> = told.iter().flat_map(|s| hearing.beyond(&strongest(s))).collect();
        said.dedup();
        said.iter().for_each(|line| eprintln!("{line}"));
        Ok(told)
    }
}

/// A learned garment in a wind that gusts.
pub struct Blown {
    pub garment: Stable,
    pub told: Surroundings,
    pub gust: f64,
    pub secs: f64,
}

impl Tier for Blown {
    fn reset(&mut self) {
        self.secs = 0.0;
        self.garment.reset();
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> toile_run::Result<TierReport> {
        let strength = (1.0 + self.gust * gusts(self.secs)) as f32;
        self.secs += dt_secs;
        self.garment.set_surroundings(&Surroundings { wind: self.told.wind * strength, ..self.told });
        self.garment.step(bones, dt_secs)
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.garment.positions(out);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        self.garment.velocities(out)
    }

    fn vertices(&self) -> usize {
        self.garment.vertices()
    }
}
