//! All tiers on several garments and clips that no model has seen, as one page.

use super::{Args, Learned, Row, bodies, play, shot_of, strip};
use crate::adaptive;
use crate::driver;
use crate::evaluate::draped_attachment;
use crate::output;
use crate::picture::Studio;
use crate::progress;
use crate::resolve::{self, BadRequest};
use crate::resume;
use crate::tiers::{self, TierName};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toile_assets::{Body, Lineage, Model, Take};
use toile_show::View;

/// One garment of a study: `skirt=skirt.toile=takes/skirt`, or `skirt=skirt.toile+bases.toile=takes/skirt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    garment: String,
    model: PathBuf,
    /// For the tier adaptive.
    database: Option<PathBuf>,
    takes: PathBuf,
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('=').map(str::trim).collect();
        match parts.as_slice() {
            [garment, model, takes] if parts.iter().all(|p| !p.is_empty()) => {
                let (model, database) = model.split_once('+').map_or((*model, None), |(m, d)| (m, Some(d)));
                Ok(Self {
                    garment: garment.to_string(),
                    model: model.into(),
                    database: database.map(PathBuf::from),
                    takes: takes.into(),
                })
            }
            _ => Err("wants GARMENT=MODEL=FOLDER, as skirt=skirt.toile=takes/skirt".into()),
        }
    }
}

/// One tier on all clips of a garment.
#[derive(Clone, Debug, Default)]
struct Score {
    mean_cm: f64,
    p95_cm: f64,
    worst_clip_cm: f64,
    liveliness: f64,
    inside_percent: f64,
    deepest_mm: f64,
    us: f64,
    bytes: usize,
}

/// What is said of one garment.
struct Studied {
    name: String,
    vertices: usize,
    clips: Vec<String>,
    tiers: Vec<(TierName, Score)>,
    training: String,
    picture: Option<PathBuf>,
}

/// Refuses what cannot be written or read before any work is done.
pub fn check(args: &Args, page: &Path) -> Result<()> {
    if args.case.is_empty() {
        let what = "--page needs garments to compare: --case GARMENT=MODEL=FOLDER, once for each";
        return Err(BadRequest(what.into()).into());
    }
    let files = args.case.iter().flat_map(|c| std::iter::once(&c.model).chain(&c.database));
    let inputs: Vec<String> = files.map(|f| f.to_string_lossy().into_owned()).collect();
    args.overwrite.check(page, output::named(inputs.iter().map(String::as_str), &None::<PathBuf>))
}

/// Compares all cases and writes the page, its pictures beside it.
pub fn run(args: &Args, page: &Path) -> Result<()> {
    check(args, page)?;
    let body = resolve::body(&args.body, None)?;
    let mut studied = Vec::new();
    for case in &args.case {
        studied.push(study(args, case, &body, page).with_context(|| format!("comparing {}", case.garment))?);
    }
    let text = write_page(&studied);
    std::fs::write(page, text).with_context(|| format!("writing {}", page.display()))?;
    println!("{}", page.display());
    Ok(())
}

fn takes_of(case: &Case, model: &Model) -> Result<Vec<Take>> {
    std::fs::read_dir(&case.takes).map_err(|e| BadRequest(format!("{}: {e}", case.takes.display())))?;
    let paths = resume::takes_in(&case.takes);
    let mut takes = Vec::new();
    let seen = Lineage::from_notes(&model.notes).map(|l| l.clips).unwrap_or_default();
    for path in paths {
        let take = resume::read_take(&path)?;
        let print = take.provenance.as_ref().map(|p| p.clip);
        if let Some((name, _)) = seen.iter().find(|(_, known)| Some(*known) == print) {
            let what = format!(
                "{}: the model was learned from this very clip ({name}); compare on unseen ones",
                path.display()
            );
            return Err(BadRequest(what).into());
        }
        if take.triangles != model.triangles {
            let what = format!(
                "{}: it is a take of `{}` ({} vertices), the model is of a garment of {}",
                path.display(),
                tiers::noted(&take.notes, "garment").unwrap_or("another garment"),
                take.vertices,
                model.vertices
            );
            return Err(BadRequest(what).into());
        }
        takes.push(take);
    }
    if takes.is_empty() {
        return Err(resume::no_takes(&case.takes).into());
    }
    Ok(takes)
}

fn study(args: &Args, case: &Case, body: &Body, page: &Path) -> Result<Studied> {
    let garment = resolve::worn(&case.garment, body, args.rest.into())?;
    let model = tiers::model_for(&case.model, body, Some(&garment))?;
    let database = match &case.database {
        Some(path) => Some(adaptive::database_for(path, body, &garment)?),
        None => None,
    };
    let takes = takes_of(case, &model)?;
    let bar = progress::bar(takes.len() as u64, &case.garment);
    let mut all: Vec<(TierName, Vec<Score>)> = Vec::new();
    let mut picture = None;
    for (k, take) in takes.iter().enumerate() {
        let attachment = draped_attachment(body, &garment, take)?;
        let shot = shot_of(take, body)?;
        let bodies = bodies(body, &shot.bones);
        let rows = play(
            body,
            &garment,
            Learned { model: Some(&model), database: database.as_ref() },
            take,
            &attachment,
            &shot,
            &bodies,
        )?;
        for row in &rows {
            let at = all.iter().position(|(tier, _)| *tier == row.tier).unwrap_or_else(|| {
                all.push((row.tier, Vec::new()));
                all.len() - 1
            });
            all[at].1.push(score(row));
        }
        if k == 0
            && let Some(renderer) = driver::renderer_if_any()?
        {
            let studio = Studio::new(renderer, body, View::ThreeQuarter, (220, 300), 0.0);
            let path = picture_of(page, &garment.name);
            strip(args, studio, body, &garment, &shot, &rows)?.write_png(&path)?;
            picture = Some(path);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let tiers = all.into_iter().map(|(tier, scores)| (tier, mean(&scores))).collect();
    let lineage = Lineage::from_notes(&model.notes);
    let training = lineage.map_or("unknown".into(), |l| {
        let names: Vec<&str> = l.clips.iter().map(|(name, _)| name.as_str()).collect();
        format!("{} simulated clips: {}", names.len(), names.join(", "))
    });
    let clips = takes.iter().map(named).collect();
    Ok(Studied { name: garment.name.clone(), vertices: model.vertices, clips, tiers, training, picture })
}

/// A clip, and what is not true of its take: the others are measured against it all the same.
fn named(take: &Take) -> String {
    match take.verdict.filter(|v| !v.is_true()) {
        None => take.clip.clone(),
        Some(verdict) => format!("{} (not true: {})", take.clip, verdict.faults().join("; ")),
    }
}

/// `compare-skirt.png` beside `compare.md`, or in a folder `pictures` there.
fn picture_of(page: &Path, garment: &str) -> PathBuf {
    let folder = page.parent().unwrap_or(Path::new("."));
    let pictures = folder.join("pictures");
    let folder = if pictures.is_dir() { pictures } else { folder.to_path_buf() };
    let stem = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    folder.join(format!("{stem}-{garment}.png"))
}

fn score(row: &Row) -> Score {
    Score {
        mean_cm: row.mean_cm,
        p95_cm: row.p95_cm,
        worst_clip_cm: row.mean_cm,
        liveliness: row.liveliness,
        inside_percent: row.penetration.percent(),
        deepest_mm: row.penetration.deepest_mm(),
        us: row.played.us_per_frame,
        bytes: row.bytes + row.state_bytes,
    }
}

/// Means over clips; the worst of what is a worst.
fn mean(scores: &[Score]) -> Score {
    let n = scores.len().max(1) as f64;
    let sum = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / n;
    let most = |of: fn(&Score) -> f64| scores.iter().map(of).fold(0.0, f64::max);
    Score {
        mean_cm: sum(|s| s.mean_cm),
        p95_cm: sum(|s| s.p95_cm),
        worst_clip_cm: most(|s| s.mean_cm),
        liveliness: sum(|s| s.liveliness),
        inside_percent: sum(|s| s.inside_percent),
        deepest_mm: most(|s| s.deepest_mm),
        us: sum(|s| s.us),
        bytes: scores.first().map_or(0, |s| s.bytes),
    }
}

fn write_page(studied: &[Studied]) -> String {
    let mut page = String::from(
        "# Which tier for what\n\nMade by `toile compare --page`. Every tier plays the same clips; those that its models learned from stand beside them. The full simulation is \
         the truth that the others are measured against. Errors are distances of vertices, means over clips; *worst clip* is the largest \
         mean of one clip. Liveliness is the motion left when the pose is taken away (1 is right, 0 is none). *Inside* is the share of \
         vertices more than 1 mm under the skin. Costs are medians of one garment alone on one core, bones to vertices; in a \
         crowd a learned garment costs less.\n\n",
    );
    words(&mut page, studied);
    verdict(&mut page, studied);
    for garment in studied {
        let _ = writeln!(page, "\n## {} ({} vertices)\n", garment.name, garment.vertices);
        let _ = writeln!(page, "Clips: {}. Learned from {}.\n", garment.clips.join(", "), garment.training);
        page.push_str("| tier | mean cm | p95 cm | worst clip cm | liveliness | inside % | deepest mm | µs a frame | kB | training |\n");
        page.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
        for (tier, s) in &garment.tiers {
            let lively = if s.liveliness.is_nan() { "–".into() } else { format!("{:.2}", s.liveliness) };
            let training = if is_learned(*tier) { "takes" } else { "none" };
            let _ = writeln!(
                page,
                "| {} | {:.2} | {:.2} | {:.2} | {lively} | {:.2} | {:.1} | {:.0} | {:.0} | {training} |",
                tier.as_str(),
                s.mean_cm,
                s.p95_cm,
                s.worst_clip_cm,
                s.inside_percent,
                s.deepest_mm,
                s.us,
                s.bytes as f64 / 1e3
            );
        }
        if let Some(picture) = &garment.picture {
            let name = picture.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let folder =
                if picture.parent().is_some_and(|p| p.ends_with("pictures")) { "pictures/" } else { "" };
            let _ = writeln!(page, "\n![{} in every tier]({folder}{name})", garment.name);
        }
    }
    page
}

/// Whether a tier is made from takes.
fn is_learned(tier: TierName) -> bool {
    matches!(tier, TierName::Stable | TierName::Adaptive)
}

impl Studied {
    fn of(&self, tier: TierName) -> Option<&Score> {
        self.tiers.iter().find(|(t, _)| *t == tier).map(|(_, s)| s)
    }

    /// A measure of one tier over that of another.
    fn ratio(&self, tier: TierName, over: TierName, of: fn(&Score) -> f64) -> Option<f64> {
        Some(of(self.of(tier)?) / of(self.of(over)?))
    }
}

/// Least and most of what is known of each garment.
fn ends(of: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    of.filter(|v| v.is_finite()).fold(None, |ends, v| match ends {
        None => Some([v, v]),
        Some([least, most]) => Some([v.min(least), v.max(most)]),
    })
}

/// `2 to 24 % less than skin's`, of a tier's error.
fn against_skin(studied: &[Studied], tier: TierName) -> String {
    let ratios = studied.iter().filter_map(|g| g.ratio(tier, TierName::Skin, |s| s.mean_cm));
    let Some([least, most]) = ends(ratios) else { return "not measured".into() };
    let less = |ratio: f64| format!("{:.0}", 100.0 * (1.0 - ratio).abs());
    match (most <= 1.0, least <= 1.0) {
        (true, _) if less(most) == less(least) => format!("{} % less than skin's", less(most)),
        (true, _) => format!("{} to {} % less than skin's", less(most), less(least)),
        (false, true) => format!("between {} % less and {} % more than skin's", less(least), less(most)),
        (false, false) => format!("{} to {} % more than skin's", less(least), less(most)),
    }
}

/// `7 to 89 \u{b5}s`, what a tier costs in a frame.
fn cost(studied: &[Studied], tier: TierName) -> String {
    match ends(studied.iter().filter_map(|g| Some(g.of(tier)?.us))) {
        None => "not measured".into(),
        Some([least, most]) if least >= 1000.0 => format!("{:.1} to {:.1} ms", least / 1e3, most / 1e3),
        Some([least, most]) => format!("{least:.0} to {most:.0} \u{b5}s"),
    }
}

/// `0.22 to 0.72`, how lively a tier is.
fn lively(studied: &[Studied], tier: TierName) -> String {
    let known = ends(studied.iter().filter_map(|g| Some(g.of(tier)?.liveliness)));
    known.map_or("not measured".into(), |[least, most]| format!("{least:.2} to {most:.2}"))
}

/// The garments for which something holds: `all`, `none` or their names.
fn those(studied: &[Studied], holds: impl Fn(&Studied) -> bool) -> String {
    let names: Vec<&str> = studied.iter().filter(|g| holds(g)).map(|g| g.name.as_str()).collect();
    match names.len() {
        0 => "none".into(),
        n if n == studied.len() && n > 1 => "all of them".into(),
        _ => names.join(", "),
    }
}

/// What the numbers say, in sentences: when to take which tier.
fn words(page: &mut String, studied: &[Studied]) {
    use TierName::{Adaptive, Full, Layered, Skin, Stable};
    let nearer = |by: TierName, than: TierName, of: fn(&Score) -> f64| {
        those(studied, |g| g.ratio(by, than, of).is_some_and(|r| r < 1.0))
    };
    let error: fn(&Score) -> f64 = |s| s.mean_cm;
    let _ = writeln!(
        page,
        "- **`skin`**: for what is far away, and what everything falls back to. It costs {} and needs nothing; it does not swing, and \
         limbs go through it.\n\
         - **`layered`**: for a garment that nothing was trained for. Its error is {}, it swings {} as much as the truth, and it costs {}. \
         Nearer than skin: {}.\n\
         - **`stable`**: for crowds, and motion like that it was trained on. Its error is {}, it swings {} as much as the truth, and it \
         costs {}. On the clip it does worst on, `layered` is nearer: {}.",
        cost(studied, Skin),
        against_skin(studied, Layered),
        lively(studied, Layered),
        cost(studied, Layered),
        nearer(Layered, Skin, error),
        against_skin(studied, Stable),
        lively(studied, Stable),
        cost(studied, Stable),
        nearer(Layered, Stable, |s| s.worst_clip_cm)
    );
    if studied.iter().any(|g| g.of(Adaptive).is_some()) {
        let _ = writeln!(
            page,
            "- **`adaptive`**: for a few garments seen near, with takes to learn bases from. Its error is {}, it swings {} as much as the \
             truth, and it costs {}. Nearer than `stable`: {}.",
            against_skin(studied, Adaptive),
            lively(studied, Adaptive),
            cost(studied, Adaptive),
            nearer(Adaptive, Stable, error)
        );
    }
    let _ = writeln!(
        page,
        "- **`full`**: the truth, for takes, for one garment in close-up and where cloth touches cloth. It costs {}.\n",
        cost(studied, Full)
    );
}

/// What the numbers say, in a table: nearest, liveliest and cheapest of what can be run.
fn verdict(page: &mut String, studied: &[Studied]) {
    page.push_str("| garment | nearest without training | nearest of all but full | worst clip least bad | cheapest | least inside |\n");
    page.push_str("|---|---|---|---|---|---|\n");
    for garment in studied {
        let least = |of: fn(&Score) -> f64, among: &dyn Fn(TierName) -> bool| {
            let tiers = garment.tiers.iter().filter(|(t, _)| *t != TierName::Full && among(*t));
            let best = tiers.min_by(|a, b| of(&a.1).total_cmp(&of(&b.1)));
            best.map_or("–".to_string(), |(tier, s)| format!("{} ({:.2})", tier.as_str(), of(s)))
        };
        let any = |_: TierName| true;
        let _ = writeln!(
            page,
            "| {} | {} cm | {} cm | {} cm | {} µs | {} % |",
            garment.name,
            least(|s| s.mean_cm, &|t| !is_learned(t)),
            least(|s| s.mean_cm, &any),
            least(|s| s.worst_clip_cm, &any),
            least(|s| s.us, &any),
            least(|s| s.inside_percent, &any)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_and_the_page_names_the_best() {
        let case: Case = "skirt:400=a/skirt.toile=takes/skirt".parse().unwrap();
        assert_eq!((case.garment.as_str(), case.takes.as_path()), ("skirt:400", Path::new("takes/skirt")));
        let both: Case = "skirt=a.toile+b.toile=takes".parse().unwrap();
        assert_eq!((both.model.to_str(), both.database), (Some("a.toile"), Some("b.toile".into())));
        assert!("skirt=x".parse::<Case>().is_err() && "a==b".parse::<Case>().is_err());
        let score = |mean_cm, us| Score { mean_cm, worst_clip_cm: 2.0 * mean_cm, us, ..Score::default() };
        let studied = Studied {
            name: "skirt".into(),
            vertices: 400,
            clips: vec!["walk".into()],
            tiers: vec![
                (TierName::Skin, score(3.0, 5.0)),
                (TierName::Layered, score(2.0, 50.0)),
                (TierName::Stable, score(1.0, 9.0)),
                (TierName::Full, score(0.0, 9000.0)),
            ],
            training: "2 simulated clips: a, b".into(),
            picture: None,
        };
        let page = write_page(&[studied]);
        assert!(
            page.contains(
                "| skirt | layered (2.00) cm | stable (1.00) cm | stable (2.00) cm | skin (5.00) µs |"
            ),
            "{page}"
        );
        assert!(page.contains("| full | 0.00 |") && page.contains("It costs 9.0 to 9.0 ms"), "{page}");
        assert!(page.contains("`layered` is nearer: none."), "{page}");
        assert!(
            page.contains("Its error is 33 % less than skin's") && page.contains("Nearer than skin: skirt"),
            "{page}"
        );
        assert!(!page.contains("adaptive"), "what was not compared is not spoken of");
    }
}
