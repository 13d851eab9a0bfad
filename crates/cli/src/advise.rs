//! `toile train --advise`: what motions ask for that training has not seen, and which clips would add it.

use crate::pacing::Pacing;
use crate::resolve;
use crate::resume::read_take;
use crate::train::take_files;
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};
use toile_assets::{Body, builtin};
use toile_learn::coverage::{Advice, Aspect, BodyPart, Movement, TrainingFrames, advise};

pub fn run(training: &[PathBuf], motions: &[String], body: &str, as_json: bool) -> Result<()> {
    let body = resolve::body(body, None)?;
    let mut seen = TrainingFrames::default();
    let mut names: Vec<String> = Vec::new();
    for source in training {
        for movement in movements_of(source, &body)? {
            seen.add(&movement);
            names.push(movement.clip);
        }
    }
    let wanted = resolve::motions(motions, &body, &Pacing::AS_IS)?;
    let wanted: Vec<Movement> = wanted.iter().map(|m| Movement::of_motion(&body, m)).collect();
    let mut offered = built_in(&body)?;
    offered.retain(|m| !names.contains(&m.clip) && !wanted.iter().any(|w| w.clip == m.clip));
    let advice = advise(&seen, &wanted, &offered);
    if as_json {
        println!("{}", value(&seen, &advice));
    } else {
        print!("{}", text(&seen, names.len(), &advice));
    }
    Ok(())
}

/// What a folder of takes, a take, or motions that stand for takes show.
fn movements_of(source: &Path, body: &Body) -> Result<Vec<Movement>> {
    let name = source.to_string_lossy();
    let holds_takes = source.is_dir() && take_files(std::slice::from_ref(&source.to_path_buf())).is_ok();
    if !holds_takes && resolve::ending(&name) != "take" {
        let motions = resolve::motions(&[name.into_owned()], body, &Pacing::AS_IS)?;
        return Ok(motions.iter().map(|m| Movement::of_motion(body, m)).collect());
    }
    let mut movements = Vec::new();
    for file in take_files(&[source.to_path_buf()])? {
        let take = read_take(&file)?;
        if take.joints != body.skeleton.len() {
            return Err(resolve::BadRequest(format!(
                "{}: recorded on a body of {} joints, `{}` has {}; name its body with --body",
                file.display(),
                take.joints,
                body.name,
                body.skeleton.len()
            ))
            .into());
        }
        movements.push(Movement::of_take(body, &take));
    }
    Ok(movements)
}

/// Every built-in motion on the body.
fn built_in(body: &Body) -> Result<Vec<Movement>> {
    let sets = builtin::motions::sets().into_iter().filter(|set| set.name != "extremes");
    let of_sets = sets.filter_map(|set| builtin::motions::set(set.name)).flatten();
    let names: Vec<String> =
        builtin::motions::list().iter().map(|e| e.name.to_string()).chain(of_sets).collect();
    Ok(resolve::motions(&names, body, &Pacing::AS_IS)?.iter().map(|m| Movement::of_motion(body, m)).collect())
}

fn aspect(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Pose => "poses",
        Aspect::Speed => "speeds",
    }
}

/// How far, with its unit.
fn far(part: BodyPart, of: Aspect, by: f32) -> String {
    match (part, of) {
        _ if !by.is_finite() => "nothing was seen".into(),
        (BodyPart::Travel, _) => format!("{by:.1} m/s away"),
        (_, Aspect::Pose) => format!("{by:.0}° away"),
        (_, Aspect::Speed) => format!("{by:.0}°/s away"),
    }
}

fn text(seen: &TrainingFrames, clips: usize, advice: &Advice) -> String {
    let mut text = format!(
        "training: {clips} clips, {:.1} minutes; asked about: {} frames, {:.1} % of them known in every part\n",
        seen.seconds / 60.0,
        advice.frames,
        100.0 * advice.known
    );
    let lacking: Vec<_> = advice.parts.iter().filter(|p| p.lacking > 0.0).collect();
    if lacking.is_empty() {
        text.push_str("training lacks nothing of them\n");
        return text;
    }
    text.push_str("lacking, in frames and at the farthest:\n");
    for p in lacking {
        let what = format!("{}, {}", p.part.name(), aspect(p.aspect));
        text.push_str(&format!(
            "  {what:20} {:5.1} %  {}\n",
            100.0 * p.lacking,
            far(p.part, p.aspect, p.farthest)
        ));
    }
    text.push_str("farthest from everything seen:\n");
    for g in &advice.gaps {
        text.push_str(&format!(
            "  {} from {:.0} s: {}, {}, {}\n",
            g.clip,
            g.from_secs,
            g.part.name(),
            aspect(g.aspect),
            far(g.part, g.aspect, g.farthest)
        ));
    }
    if advice.add.is_empty() {
        text.push_str("no built-in clip would add much of it; motion of that kind has to be given\n");
        return text;
    }
    text.push_str("what would add most of it, each on top of those before:\n");
    for a in &advice.add {
        text.push_str(&format!("  {:40} {:4.1} %\n", a.clip, 100.0 * a.share));
    }
    text
}

fn value(seen: &TrainingFrames, advice: &Advice) -> serde_json::Value {
    let finite = |x: f32| x.is_finite().then_some(x);
    json!({
        "training": {"frames": seen.frames, "seconds": seen.seconds},
        "frames": advice.frames,
        "known": advice.known,
        "parts": advice.parts.iter().map(|p| json!({
            "part": p.part.name(), "aspect": aspect(p.aspect), "lacking": p.lacking, "farthest": finite(p.farthest),
        })).collect::<Vec<_>>(),
        "gaps": advice.gaps.iter().map(|g| json!({
            "clip": g.clip, "from_secs": g.from_secs, "part": g.part.name(), "aspect": aspect(g.aspect),
            "farthest": finite(g.farthest),
        })).collect::<Vec<_>>(),
        "add": advice.add.iter().map(|a| json!({"clip": a.clip, "share": a.share})).collect::<Vec<_>>(),
    })
}
