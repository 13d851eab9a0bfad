//! `toile lab solvers`: the published solvers side by side, measured on the same scenes.

use super::solvers_page as page;
use crate::output::Overwrite;
use crate::resolve::BadRequest;
use anyhow::Result;
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use toile_lab::solvers::findings::{CLAIMS, Claim};
use toile_lab::solvers::measure::{Measured, SCENES, Subject, measure, subject};
use toile_lab::solvers::{Entry, METHODS, Wanted, find};
use toile_lab::{Findings, Row};

/// Compare the published cloth solvers on the same scenes
#[derive(Parser)]
#[command(
    after_help = "Examples:\n  toile lab solvers\n  toile lab solvers --list\n  toile lab solvers --only baraff-witkin --scene skirt\n  \
    toile lab solvers --only bridson --self-contact --scene sphere\n  toile lab solvers --out lab --json"
)]
pub struct Args {
    /// Only this solver; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only scenes whose names contain this: hanging, sphere, twist, skirt; `none` for the papers' claims alone
    #[arg(long, value_name = "WORD")]
    scene: Vec<String>,
    /// Coulomb's coefficient instead of each scene's own
    #[arg(long, value_name = "MU")]
    friction: Option<f64>,
    /// Cloth touches cloth; only solvers that can
    #[arg(long)]
    self_contact: bool,
    /// Solvers run at once; as many as there are cores when not given. Times are of the processor, each thread's own
    #[arg(long)]
    jobs: Option<usize>,
    /// Name the solvers with their papers and what they can do, and run nothing
    #[arg(long)]
    list: bool,
    /// Folder for solvers.md, solvers.html and the pictures
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Threads that may be asked for.
const MOST_JOBS: usize = 256;

/// What one scene gave.
pub struct OnScene {
    pub subject: Subject,
    pub rows: Vec<(&'static Entry, Measured)>,
    /// Solvers that were not run on it, and why.
    pub refused: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    if args.list {
        list(args.json);
        return Ok(());
    }
    let chosen = chosen(&args.only)?;
    let scenes = scenes(&args.scene)?;
    if args.jobs.is_some_and(|j| !(1..=MOST_JOBS).contains(&j)) {
        return Err(BadRequest(format!("--jobs wants a number between 1 and {MOST_JOBS}")).into());
    }
    if args.friction.is_some_and(|f| !(0.0..=10.0).contains(&f)) {
        return Err(BadRequest("--friction wants a coefficient between 0 and 10".into()).into());
    }
    let wanted = Wanted { friction: args.friction, self_contact: args.self_contact };
    check(args, &chosen, &scenes, wanted)?;
    let own = own(args, &chosen);
    if let Some(folder) = &args.out {
        Overwrite::folder(folder)?;
        let sheets = scenes.iter().copied().chain(own.iter().filter_map(|c| c.sheet)).map(page::sheet_file);
        for file in [page::MARKDOWN, page::HTML].map(String::from).into_iter().chain(sheets) {
            args.overwrite.check(&folder.join(file), [])?;
        }
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or_else(cores);
    let mut measured = Vec::new();
    for name in scenes {
        measured.push(on_scene(name, &chosen, wanted, jobs)?);
    }
    let claims = claims(&own, jobs)?;
    let failed = claims.rows.iter().filter(|r| !r.pass).count();
    if args.json {
        println!("{}", as_json(&measured, &claims.rows, failed));
    } else {
        for scene in &measured {
            print!("{}", page::text(scene));
        }
        super::print_table(&claims.rows);
    }
    if let Some(folder) = &args.out {
        let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        page::write(folder, &measured, &claims, &format!("toile {command}"))?;
        eprintln!(
            "wrote {} and {}",
            folder.join(page::MARKDOWN).display(),
            folder.join(page::HTML).display()
        );
    }
    if failed > 0 {
        anyhow::bail!("{failed} of {} claims failed", claims.rows.len());
    }
    Ok(())
}

fn chosen(only: &[String]) -> Result<Vec<&'static Entry>> {
    if only.is_empty() {
        return Ok(METHODS.iter().collect());
    }
    if only.iter().any(|name| name.trim().is_empty()) {
        let all: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        return Err(BadRequest(format!("--only wants a solver's name; there are: {}", all.join(", "))).into());
    }
    only.iter().map(|name| find(name).map_err(|said| BadRequest(said).into())).collect()
}

fn scenes(words: &[String]) -> Result<Vec<&'static str>> {
    if words.is_empty() {
        return Ok(SCENES.to_vec());
    }
    let known = |w: &str| w == "none" || (!w.trim().is_empty() && SCENES.iter().any(|s| s.contains(w)));
    if let Some(word) = words.iter().find(|w| !known(w)) {
        return Err(
            BadRequest(format!("no scene is called `{word}`; there are: {}", SCENES.join(", "))).into()
        );
    }
    Ok(SCENES.iter().filter(|s| words.iter().any(|w| s.contains(w.as_str()))).copied().collect())
}

/// Says before anything runs what solvers cannot do; one that was named and can do nothing of it is refused.
fn check(args: &Args, chosen: &[&'static Entry], scenes: &[&'static str], wanted: Wanted) -> Result<()> {
    // Without scenes there is still what was asked of the solver itself.
    let scenes = if scenes.is_empty() { &["none"] } else { scenes };
    for entry in chosen {
        let reasons: Vec<(&str, String)> =
            scenes.iter().filter_map(|s| Some((*s, entry.refusal(s, wanted)?))).collect();
        let none_left = reasons.len() == scenes.len();
        if none_left && !args.only.is_empty() {
            let able: Vec<&str> = METHODS
                .iter()
                .filter(|m| scenes.iter().any(|s| m.refusal(s, wanted).is_none()))
                .map(|m| m.name)
                .collect();
            let others = if able.is_empty() {
                "no solver has".into()
            } else {
                format!("these can: {}", able.join(", "))
            };
            return Err(BadRequest(format!("{}; {others}", reasons[0].1)).into());
        }
        for (scene, why) in reasons.into_iter().filter(|r| r.0 != "none") {
            eprintln!("not on {scene}: {why}");
        }
    }
    Ok(())
}

fn on_scene(name: &str, chosen: &[&'static Entry], wanted: Wanted, jobs: usize) -> Result<OnScene> {
    let subject = subject(name, wanted)?;
    let refused = chosen.iter().filter_map(|e| e.refusal(name, wanted)).collect();
    let able: Vec<&&Entry> = chosen.iter().filter(|e| e.refusal(name, wanted).is_none()).collect();
    let bar = crate::progress::bar(able.len() as u64, name);
    let rows = in_parallel(&able, jobs, |entry| {
        let found = measure(entry, &subject);
        bar.inc(1);
        (**entry, found)
    });
    bar.finish_and_clear();
    Ok(OnScene { subject, rows, refused })
}

/// The claims that are about the chosen solvers.
fn own(args: &Args, chosen: &[&'static Entry]) -> Vec<&'static Claim> {
    let about = |c: &&Claim| args.only.is_empty() || chosen.iter().any(|e| c.of.contains(&e.name));
    CLAIMS.iter().filter(about).collect()
}

/// What comes of the papers' claims.
fn claims(own: &[&Claim], jobs: usize) -> Result<Findings> {
    let bar = crate::progress::bar(own.len() as u64, "claims");
    let each = in_parallel(own, jobs, |claim| {
        let found = claim.found();
        bar.inc(1);
        found
    });
    bar.finish_and_clear();
    let mut found = Findings::default();
    for one in each {
        found.add(one?);
    }
    Ok(found)
}

/// Does `work` on all items with so many threads; results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(items.len()) {
            scope.spawn(|| {
                while let Some((k, item)) = {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    items.get(k).map(|item| (k, item))
                } {
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|d| d.0);
    done.into_iter().map(|d| d.1).collect()
}

fn list(as_json: bool) {
    if as_json {
        let all: Vec<_> = METHODS
            .iter()
            .map(|m| {
                json!({"name": m.name, "paper": m.paper, "idea": m.idea, "math": format!("docs/math/{}", m.math),
                       "moves": m.can.move_, "any_mesh": m.can.meshes, "touches": m.can.touch,
                       "friction": m.can.friction, "self_contact": m.can.self_contact, "stretches": m.can.stretch})
            })
            .collect();
        println!("{}", json!({"solvers": all}));
        return;
    }
    for m in METHODS {
        let has = |b: bool, what: &str| format!("{} {what}", if b { "with" } else { "no" });
        let can = [has(m.can.friction, "friction"), has(m.can.self_contact, "self-contact")].join(", ");
        println!("{:17} {}\n{:17} {}; {can}", m.name, m.paper, "", m.idea);
    }
}

fn as_json(scenes: &[OnScene], claims: &[Row], failed: usize) -> serde_json::Value {
    let one = |(entry, m): &(&Entry, Measured)| {
        let run = m.good.as_ref().or(m.best.as_ref());
        json!({
            "solver": entry.name,
            "error": run.and_then(|r| r.error),
            "energy_drift": run.and_then(|r| r.drift),
            "largest_stretch": run.map(|r| r.stretch),
            "iterations_per_frame": run.map(|r| r.iterations),
            "step_secs": run.map(|r| r.step_secs),
            "ms_per_frame": run.map(|r| r.ms),
            "steps_cut": run.map(|r| r.halvings),
            "parts_per_frame": run.map(|r| r.parts),
            "finished": run.map(|r| r.finished),
            "good_enough": m.good.is_some(),
            "largest_stable_step_secs": m.stable_secs,
            "shortest_step_secs": m.shortest_secs,
            "time_ran_out": m.cut,
        })
    };
    let list: Vec<_> = scenes
        .iter()
        .map(|s| {
            json!({"name": s.subject.stage.name, "error_is": s.subject.what, "unit": s.subject.unit,
                   "good_enough_at": s.subject.bar, "solvers": s.rows.iter().map(one).collect::<Vec<_>>(),
                   "refused": s.refused})
        })
        .collect();
    let mut all = super::as_json(claims, failed);
    all["scenes"] = json!(list);
    all
}
