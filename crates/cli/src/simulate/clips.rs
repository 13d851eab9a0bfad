//! Which clips can be simulated, and why the others cannot: said before any time is spent.

use crate::pacing::Pacing;
use crate::resolve::{self, BadRequest};
use crate::simulate::shard::Shard;
use anyhow::{Context, Result};
use std::path::Path;
use toile_assets::{Body, Motion};
use toile_simulate::{RecordSettings, check_clip, cut_at_jumps, find_jumps, without_lone_frame};

/// Clips on the body's skeleton, and those that were left out with the reason.
pub struct Clips {
    pub usable: Vec<Motion>,
    pub skipped: Vec<(String, String)>,
}

/// A clip that is named but not yet read, or that had to be read to have a name.
enum Source {
    File(String),
    Read { from: String, motion: Box<Motion> },
}

impl Source {
    fn name(&self) -> String {
        match self {
            Self::File(path) => {
                Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
            Self::Read { motion, .. } => motion.name.clone(),
        }
    }
}

impl Clips {
    /// Reads what was asked for. A clip that cannot be used is named and left out; where none is left, that is refused.
    pub fn gather(
        names: &[String],
        pacing: &Pacing,
        body: &Body,
        settings: &RecordSettings,
        cut: bool,
        shard: Option<Shard>,
    ) -> Result<Self> {
        let mut sources = Vec::new();
        let mut skipped = Vec::new();
        for name in names {
            for item in resolve::motion_items(name)? {
                if resolve::ending(&item) == "bvh" {
                    sources.push(Source::File(item));
                    continue;
                }
                match resolve::paced(&item, pacing) {
                    Ok(motions) => sources.extend(
                        motions.into_iter().map(|m| Source::Read { from: item.clone(), motion: Box::new(m) }),
                    ),
                    Err(e) => skipped.push((item, format!("{e:#}"))),
                }
            }
        }
        if let Some(shard) = shard {
            sources = shard.of(sources, Source::name);
        }
        let mut usable = Vec::new();
        let asked = !sources.is_empty();
        for source in sources {
            let name = source.name();
            match clips_of(source, pacing, body).and_then(|all| whole(body, all, settings, cut)) {
                Ok(motions) => usable.extend(motions),
                Err(e) => skipped.push((name, format!("{e:#}"))),
            }
        }
        if usable.is_empty() && (asked || !skipped.is_empty()) {
            let why: Vec<&str> = skipped.iter().map(|(_, why)| why.as_str()).collect();
            return Err(BadRequest(why.join("\n")).into());
        }
        Ok(Self { usable, skipped })
    }
}

fn clips_of(source: Source, pacing: &Pacing, body: &Body) -> Result<Vec<Motion>> {
    match source {
        Source::File(path) => {
            let said = || format!("motion {path}");
            resolve::paced(&path, pacing)?
                .into_iter()
                .map(|m| resolve::file_onto(m, body).with_context(said))
                .collect()
        }
        Source::Read { from, motion } => {
            let carry = if resolve::is_file(&from) { resolve::file_onto } else { resolve::onto };
            Ok(vec![carry(*motion, body).with_context(|| format!("motion {from}"))?])
        }
    }
}

/// Clips without jumps: a first frame that belongs to none of what follows is dropped, what jumps later is refused, or
/// cut where it does.
fn whole(body: &Body, motions: Vec<Motion>, settings: &RecordSettings, cut: bool) -> Result<Vec<Motion>> {
    let mut all = Vec::new();
    for mut motion in motions {
        if let Some((rest, far_m)) = without_lone_frame(body, &motion) {
            eprintln!(
                "{}: frame 0 is {:.0} cm from frame 1, a pose put before the motion: left out",
                motion.name,
                100.0 * far_m
            );
            motion = rest;
        }
        let jumps = find_jumps(body, &motion, settings);
        if cut && !jumps.is_empty() {
            let parts = cut_at_jumps(&motion, &jumps)?;
            let frames: Vec<String> = jumps.iter().map(|j| j.frame.to_string()).collect();
            let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
            eprintln!("{}: cut at frame {} into {}", motion.name, frames.join(", "), names.join(", "));
            all.extend(parts);
        } else {
            let checked = check_clip(body, &motion, settings);
            checked.map_err(|e| match jumps.is_empty() {
                true => anyhow::Error::new(e),
                false => anyhow::anyhow!("{e}, or give --cut, which simulates every part"),
            })?;
            all.push(motion);
        }
    }
    Ok(all)
}
