//! Which tier moves a garment when: `--tier stable@0,full@2.5`.

use crate::adaptive;
use crate::resolve::BadRequest;
use crate::tiers::{self, Played, PosedMotion, TierName};
use anyhow::{Context, Result};
use clap::ValueEnum;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Body, Fabric, Garment, Model, Role};
use toile_model::adaptive::Database;
use toile_run::{
    Full, HandOverSettings, Ladder, Layered, LayeredSettings, Leashed, Skinned, Stable, Tier, TierReport,
};
use toile_simulate::{DrapeSettings, Recorder, World, ramp};

/// Tiers and the seconds at which they take over, the first at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule(Vec<(f64, TierName)>);

impl Schedule {
    /// One tier for all of the motion.
    pub fn of(tier: TierName) -> Self {
        Self(vec![(0.0, tier)])
    }

    /// The tier, where there is only one.
    pub fn only(&self) -> Option<TierName> {
        match self.0.as_slice() {
            [(_, tier)] => Some(*tier),
            _ => None,
        }
    }

    /// Whether a tier has a part in it.
    pub fn has(&self, tier: TierName) -> bool {
        self.0.iter().any(|(_, t)| *t == tier)
    }

    /// `stable@0,full@2.5`.
    pub fn said(&self) -> String {
        if let Some(tier) = self.only() {
            return tier.as_str().into();
        }
        let parts: Vec<String> = self.0.iter().map(|(at, t)| format!("{}@{at}", t.as_str())).collect();
        parts.join(",")
    }
}

impl std::str::FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut tiers: Vec<(f64, TierName)> = Vec::new();
        for part in text.split(',') {
            let (name, at) = part.split_once('@').unwrap_or((part, "0"));
            let known: Vec<&str> = TierName::value_variants().iter().map(|t| t.as_str()).collect();
            let tier = TierName::from_str(name.trim(), true)
                .map_err(|_| format!("there is no tier `{name}`; there are {}", known.join(", ")))?;
            let at: f64 = match at.trim().trim_end_matches('s').parse() {
                Ok(at) if at >= 0.0 && f64::is_finite(at) => at,
                _ => {
                    return Err(format!(
                        "`{part}`: a tier takes over at seconds from the start, as full@2.5"
                    ));
                }
            };
            match tiers.last() {
                None if at > 0.0 => {
                    return Err(format!("no tier moves the garment before {at} s; begin with one at 0"));
                }
                Some((before, _)) if at <= *before => {
                    return Err(format!(
                        "`{part}`: tiers take over one after the other, this one not after {before} s"
                    ));
                }
                _ => tiers.push((at, tier)),
            }
        }
        Ok(Self(tiers))
    }
}

/// Everything that tiers of one garment are made from.
pub struct Rungs<'a> {
    pub body: &'a Body,
    pub garment: &'a Garment,
    pub fabric: &'a Fabric,
    pub model: Option<&'a Arc<Model>>,
    /// For the tier adaptive.
    pub database: Option<Arc<Database>>,
    draped: World,
    rest: Vec<Vec3>,
}

impl<'a> Rungs<'a> {
    /// Drapes the garment once for all of them.
    pub fn new(
        body: &'a Body,
        garment: &'a Garment,
        fabric: &'a Fabric,
        model: Option<&'a Arc<Model>>,
    ) -> Result<Self> {
        let recorder = Recorder::new(body, garment);
        let draped = recorder.drape(fabric).with_context(|| format!("draping `{}`", garment.name))?;
        let rest = draped.state.x.iter().map(|p| p.as_vec3()).collect();
        Ok(Self { body, garment, fabric, model, database: None, draped, rest })
    }

    /// The garment as it hangs.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// The simulation of it.
    pub fn world(&self) -> World {
        self.draped.clone()
    }

    /// One way to move the garment; `first` where the motion begins with it.
    pub fn tier(&self, name: TierName, first: Option<&PosedMotion>) -> Result<Box<dyn Tier + Send>> {
        let attachment = || tiers::attached(self.body, self.garment, &self.rest);
        let tier: Box<dyn Tier + Send> = match name {
            TierName::Skin => Box::new(Skinned::new(attachment()?)),
            TierName::Layered => {
                let layers = tiers::layers(self.body, self.garment, &self.rest, self.fabric)?;
                Box::new(Layered::new(layers, LayeredSettings::default()))
            }
            TierName::Stable => {
                let Some(model) = self.model else { return Err(no_model().into()) };
                Box::new(Stable::new(model.clone()))
            }
            TierName::Adaptive => {
                let Some(database) = &self.database else { return Err(adaptive::no_database().into()) };
                Box::new(adaptive::tier(self.body, self.garment, self.fabric, database, Default::default())?)
            }
            TierName::Full => {
                let mut world = self.draped.clone();
                if let Some(shot) = first {
                    ramp(&mut world, self.body, &shot.motion, &DrapeSettings::default())?;
                }
                Box::new(Full::new(world))
            }
        };
        let limits = tiers::limits(self.garment, &self.rest);
        Ok(if limits.is_empty() { tier } else { Box::new(Leashed::new(tier, limits, attachment()?)) })
    }

    /// A ladder of some of them, the first of which begins the motion.
    pub fn ladder(
        &self,
        names: impl IntoIterator<Item = TierName>,
        secs: f32,
        shot: &PosedMotion,
    ) -> Result<Ladder> {
        let hips = self.body.humanoid().joint(Role::Hips).unwrap_or(0);
        let mut ladder = Ladder::new(HandOverSettings { secs, hips, ..HandOverSettings::default() });
        for name in names {
            if ladder.find(name.as_str()).is_none() {
                let first = (ladder.vertices() == 0).then_some(shot);
                ladder.add(name.as_str(), self.tier(name, first)?)?;
            }
        }
        Ok(ladder)
    }
}

/// The tier stable without what it needs.
pub fn no_model() -> BadRequest {
    BadRequest(
        "the tier stable needs --model FILE.toile; `toile simulate` and `toile train` make one (see `toile train --help`)"
            .into(),
    )
}

/// Plays a garment through a schedule, frame by frame into `out`.
pub fn play(
    rungs: &Rungs<'_>,
    schedule: &Schedule,
    secs: f32,
    shot: &PosedMotion,
    out: &mut dyn FnMut(&[Vec3]) -> Result<()>,
) -> Result<Played> {
    let mut ladder = rungs.ladder(schedule.0.iter().map(|(_, tier)| *tier), secs, shot)?;
    let mut shown = vec![Vec3::ZERO; ladder.vertices()];
    let mut played = Played::default();
    let mut micros = Vec::with_capacity(shot.len());
    let mut next = 1;
    for (f, bones) in shot.bones.iter().enumerate() {
        while let Some((at, tier)) = schedule.0.get(next).filter(|(at, _)| f as f64 / shot.fps >= *at) {
            let rung = ladder.find(tier.as_str()).context("every tier of the schedule was added")?;
            // A tier that cannot take over leaves the garment to the one before.
            if let Err(why) = ladder.hand_over(rung) {
                eprintln!("{}: {} stays at {at} s: {why}", shot.motion.name, ladder.name());
            }
            next += 1;
        }
        let mut stepped = Ok(TierReport::default());
        micros.push(tiers::timed(|| stepped = ladder.step(bones, 1.0 / shot.fps)));
        let report = stepped.with_context(|| format!("{}, frame {f}", shot.motion.name))?;
        played.frames += 1;
        played.clamped_frames += usize::from(report.clamped > 0);
        ladder.positions(&mut shown);
        out(&shown)?;
    }
    micros.sort_by(f64::total_cmp);
    played.us_per_frame = micros.get(micros.len() / 2).copied().unwrap_or(0.0);
    Ok(played)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read_and_faults_said() {
        let read = |text: &str| text.parse::<Schedule>();
        assert_eq!(read("skin").unwrap().only(), Some(TierName::Skin));
        let both = read("stable@0,full@2.5").unwrap();
        assert_eq!(both.0, [(0.0, TierName::Stable), (2.5, TierName::Full)]);
        assert_eq!((both.only(), both.said()), (None, "stable@0,full@2.5".into()));
        for (bad, said) in [
            ("flat", "there is no tier `flat`; there are skin"),
            ("skin@1", "before 1 s"),
            ("skin,full@0", "one after the other"),
            ("skin,full@nan", "seconds from the start"),
            ("", "no tier"),
        ] {
            let why = read(bad).unwrap_err();
            assert!(why.contains(said), "{bad}: {why}");
        }
    }
}
