//! The comparison of solvers as a page: tables from what was measured, pictures, and what is to be said of them.

use super::solvers::OnScene;
use crate::driver;
use anyhow::Result;
use std::fmt::Write as _;
use std::path::Path;
use toile_assets::write::{MARK, write_atomically};
use toile_lab::solvers::measure::{
    FAR_M, MOST_ROUNDS, MOST_RUNS, MOST_STRETCH, Measured, Outcome, REST_M, ROW_MS, RUN_MS, STEPS, TORN,
};
use toile_lab::solvers::{Entry, METHODS};
use toile_lab::{Findings, Piece, Snapshot};
use toile_show::{Image, Page, Renderer, contact_sheet};

/// The two files.
pub const MARKDOWN: &str = "solvers.md";
/// The page with everything inside.
pub const HTML: &str = "solvers.html";

const HEADERS: [&str; 9] = [
    "solver",
    "error",
    "energy drift",
    "largest stretch",
    "iterations a frame",
    "steps cut",
    "step",
    "ms a frame",
    "largest stable step",
];

/// What is measured, in words.
fn how() -> String {
    let steps: Vec<String> = STEPS.iter().map(|s| format!("{s:.0}")).collect();
    format!(
        "Every solver is given the same cloth, pins and obstacles and is run with steps of 1/n s, n = {}, one after the other, until its \
        error is under the scene's bar and no thread is stretched by more than {:.0} % at any frame: then quality is equal and the time a \
        frame (of 1/30 s, processor time of one thread) can be compared. No more than {MOST_RUNS} runs that are stable are made, and no shorter \
        step is begun after {:.0} s of processor time on one scene; rows that this time has cut are marked †: but for times, they alone depend on the machine. \
        Where the bars were not reached within that, the run with the least error is shown, error and time in brackets; a stretch over {:.0} % is marked !. \
        Flown apart is cloth of which a vertex is more than {FAR_M:.0} m from where it began or a triangle is strained by more than {:.0} %. \
        The largest stable step is the longest of those tried that was played to its end without flying apart; a run that is broken off after {:.0} s of \
        processor time counts as neither. Methods without time relax until nothing moves by {REST_M:.0e} m in a round, and are not at rest after {MOST_ROUNDS} rounds of 20 sweeps. \
        Steps cut counts how often in the run a method took a step, or a part of one, again with a shorter one; how many parts those that cut their steps themselves took is said below \
        the table. Stretch is along the threads. Energy drift is what the first mode of the hanging square lost or gained in two swings; on the \
        sphere it is the largest rise of weight and motion above an earlier value, as a share of what fell (some of it is elastic and rightly \
        comes back); driven scenes have none. Scenes are without air, and without self-contact except for `bridson`, whose method it is.",
        steps.join(", "),
        100.0 * MOST_STRETCH,
        ROW_MS / 1000.0,
        100.0 * MOST_STRETCH,
        100.0 * TORN,
        RUN_MS / 1000.0,
    )
}

/// What stands in no table.
const LIMITS: &str = "Not here: yarn-level cloth (Kaldor, James and Marschner 2008) and volumetric rendering of knits, which are \
    out of scope. Methods keep what is their own; mesh, masses, flat shapes, fabric, pins, body and contact planes are shared. \
    Static methods (`weil`, `feynman`, `breen`) have no time: their error on the hanging square is the length at rest, and their \
    time is that of the whole relaxation. The round table is drawn 1.5 cm narrower and 0.8 cm lower than the cloth feels it: contact is by vertices, \
    three centimetres apart, and a rim of the true size would show between them. All panes of a picture have one camera.";

fn step(secs: f64) -> String {
    format!("1/{:.0} s", 1.0 / secs)
}

/// The cells of a row.
fn cells(entry: &Entry, m: &Measured, unit: &str) -> Vec<String> {
    let none = || "–".to_string();
    let cut = if m.cut { " †" } else { "" };
    let stable = m.stable_secs.map_or_else(|| format!("none down to {}", step(m.shortest_secs)), step);
    let Some(run) = m.good.as_ref().or(m.best.as_ref()) else {
        let why = if m.cut { "not finished" } else { "flew apart" };
        let mut row = vec![entry.name.to_string(), format!("{why}{cut}")];
        row.extend((0..6).map(|_| none()));
        row.push(stable);
        return row;
    };
    let moves = entry.can.move_;
    let mark = |s: String| if m.good.is_some() { s } else { format!("({s})") };
    let over = if run.stretch > MOST_STRETCH { " !" } else { "" };
    let digits = if run.stretch < 1e-3 { 4 } else { 1 };
    vec![
        entry.name.to_string(),
        mark(run.error.map_or_else(|| "no full swing".into(), |e| format!("{e:.2} {unit}"))) + cut,
        run.drift.map_or_else(none, |d| format!("{:+.1} %", 100.0 * d)),
        format!("{:.digits$} %{over}", 100.0 * run.stretch),
        format!("{:.0}", run.iterations),
        if moves { run.halvings.to_string() } else { none() },
        match (moves, run.finished) {
            (true, _) => step(run.step_secs),
            (false, true) => "at rest".into(),
            (false, false) => "not at rest".into(),
        },
        mark(format!("{:.1}", run.ms)),
        if moves { stable } else { none() },
    ]
}

/// What methods that cut their steps themselves made of them.
fn parts(scene: &OnScene) -> Option<String> {
    let said: Vec<String> = scene
        .rows
        .iter()
        .filter_map(|(e, m)| {
            let run = m.good.as_ref().or(m.best.as_ref()).filter(|r| r.parts > 0.0)?;
            let step = step(run.step_secs);
            let each = run.parts * 30.0 * run.step_secs;
            Some(format!("`{}` took a step of {step} in {each:.1} parts on average", e.name))
        })
        .collect();
    (!said.is_empty()).then(|| format!("Chosen by the method itself: {}.", said.join("; ")))
}

/// A scene's table for a terminal.
pub fn text(scene: &OnScene) -> String {
    let mut out = format!(
        "\n{}: {}; good enough at {} {}\n",
        scene.subject.stage.name, scene.subject.what, scene.subject.bar, scene.subject.unit
    );
    let rows: Vec<Vec<String>> = scene.rows.iter().map(|(e, m)| cells(e, m, scene.subject.unit)).collect();
    let wide: Vec<usize> = (0..HEADERS.len())
        .map(|k| {
            rows.iter().map(|r| r[k].chars().count()).chain([HEADERS[k].chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[&str]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&wide)
            .enumerate()
            .map(|(k, (c, w))| if k == 0 { format!("{c:w$}") } else { format!("{c:>w$}") })
            .collect();
        padded.join("  ") + "\n"
    };
    out += &line(&HEADERS);
    rows.iter().for_each(|r| out += &line(&r.iter().map(String::as_str).collect::<Vec<_>>()));
    parts(scene).into_iter().for_each(|p| out = format!("{out}{p}\n"));
    scene.refused.iter().for_each(|r| {
        let _ = writeln!(out, "not run: {r}");
    });
    out
}

/// Where the default stands, from what was measured: its rank in time among those that are good enough.
fn place(scenes: &[OnScene]) -> Vec<String> {
    let mut said = Vec::new();
    for scene in scenes {
        let mut good: Vec<(&str, &Outcome)> = scene
            .rows
            .iter()
            .filter(|(e, _)| e.can.move_)
            .filter_map(|(e, m)| Some((e.name, m.good.as_ref()?)))
            .collect();
        good.sort_by(|a, b| a.1.ms.total_cmp(&b.1.ms));
        let Some(at) = good.iter().position(|g| g.0 == "ours") else { continue };
        let fastest = if at == 0 && good.len() > 1 {
            format!("next is `{}` at {:.1} ms", good[1].0, good[1].1.ms)
        } else if at == 0 {
            "no other reached the bars".into()
        } else {
            format!("fastest is `{}` at {:.1} ms", good[0].0, good[0].1.ms)
        };
        said.push(format!(
            "{}: {} in time of the {} that reach the bars, {:.1} ms a frame; {fastest}.",
            scene.subject.stage.name,
            ordinal(at + 1),
            good.len(),
            good[at].1.ms
        ));
    }
    said
}

fn ordinal(n: usize) -> String {
    match n {
        1 => "first".into(),
        2 => "second".into(),
        3 => "third".into(),
        n => format!("{n}th"),
    }
}

/// What has to be said with the default's place.
const FAIR: &str = "The references on sphere, sleeve and skirt are the default solver's own runs at 1/960 s, so part of every other \
    method's error there is that its model is another one, and the default has the advantage of its own model; only the hanging square \
    has an answer that belongs to nobody. The default is also the one whose inner loops were tuned, in single precision; the others are \
    written to be read, in double precision. It does not run here as it is shipped: its steps are those of the table instead of 1/240 s, \
    a step that goes wrong is not halved but counts as failed, and on the skirt its strain limit is off, as no other method \
    has it. With `--self-contact`, which only `bridson` shares, its largest stable step on the sphere is 1/100 s and not 1/30 s; as it is shipped it would halve a step that fails.";

/// Writes page, tables and pictures.
pub fn write(folder: &Path, scenes: &[OnScene], claims: &Findings, command: &str) -> Result<()> {
    let mut html = Page::new("Solvers of cloth, side by side");
    let how = how();
    let mut md =
        format!("# Solvers of cloth, side by side\n\n<!-- {MARK} -->\nMade by `{command}`.\n\n{how}\n");
    html.paragraph(&how).preformatted(command);
    let mut renderer = driver::renderer_if_any()?;
    methods(&mut md, &mut html, folder.join("../math").is_dir());
    for scene in scenes {
        let rows: Vec<Vec<String>> =
            scene.rows.iter().map(|(e, m)| cells(e, m, scene.subject.unit)).collect();
        let title = scene.subject.stage.name;
        let about = format!(
            "{} vertices, {:.1} s. Error: {}; good enough at {} {}.",
            scene.subject.stage.cloth().len(),
            scene.subject.stage.secs,
            scene.subject.what,
            scene.subject.bar,
            scene.subject.unit
        );
        section(&mut md, &mut html, title, &about, &HEADERS, &rows);
        if let Some(said) = parts(scene) {
            let _ = write!(md, "\n{said}\n");
            html.paragraph(&said);
        }
        if !scene.refused.is_empty() {
            let said = format!("Not run: {}.", scene.refused.join("; "));
            let _ = write!(md, "\n{said}\n");
            html.paragraph(&said);
        }
        if let Some(renderer) = &mut renderer {
            pictures(folder, renderer, &mut md, &mut html, &shots(scene))?;
        }
    }
    let said = place(scenes);
    if !said.is_empty() {
        let _ = write!(md, "\n## The default solver's place\n\n");
        html.section("The default solver's place");
        for line in &said {
            let _ = writeln!(md, "- {line}");
            html.paragraph(line);
        }
        let _ = write!(md, "\n{FAIR}\n");
        html.paragraph(FAIR);
    }
    claimed(folder, renderer.as_mut(), &mut md, &mut html, claims)?;
    let _ = write!(md, "\n## What is not here\n\n{LIMITS}\n");
    html.section("What is not here").paragraph(LIMITS);
    if renderer.is_none() {
        driver::say_on(&mut html);
    }
    write_atomically(folder.join(MARKDOWN), md.as_bytes())?;
    Ok(html.write(folder.join(HTML))?)
}

/// The list of methods; derivations are links where they lie beside the folder that the page goes to.
fn methods(md: &mut String, html: &mut Page, linked: bool) {
    let yes = |b: bool| if b { "yes" } else { "no" }.to_string();
    let rows: Vec<Vec<String>> = METHODS
        .iter()
        .map(|m| {
            vec![
                m.name.into(),
                m.paper.into(),
                m.idea.into(),
                yes(m.can.friction),
                yes(m.can.self_contact),
                m.math.into(),
            ]
        })
        .collect();
    let headers = ["solver", "paper", "idea", "friction", "self-contact", "derivation"];
    html.section("The methods").table(&headers, &rows);
    let named = |mut r: Vec<String>| {
        r[5] = if linked { format!("[{0}](../math/{0})", r[5]) } else { format!("`docs/math/{}`", r[5]) };
        r
    };
    let rows: Vec<Vec<String>> = rows.into_iter().map(named).collect();
    let _ = write!(md, "\n## The methods\n\n{}", table(&headers, &rows));
}

fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!("| {} |\n|{}\n", headers.join(" | "), "---|".repeat(headers.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out
}

fn section(
    md: &mut String,
    html: &mut Page,
    title: &str,
    about: &str,
    headers: &[&str],
    rows: &[Vec<String>],
) {
    let _ = write!(md, "\n## {title}\n\n{about}\n\n{}", table(headers, rows));
    html.section(title).paragraph(about).table(headers, rows);
}

/// Where every solver ended on a scene; what flew apart is shown as it was then.
fn shots(scene: &OnScene) -> Vec<Snapshot> {
    let stage = &scene.subject.stage;
    let view = match stage.name {
        "hanging square" => (70.0, 5.0),
        "sphere" => (30.0, 18.0),
        "cylinder twist" => (20.0, 15.0),
        _ => (40.0, 5.0),
    };
    let shot = |name: String, x: &[glam::DVec3]| Snapshot {
        name,
        scene: stage.name.into(),
        view,
        pieces: std::iter::once(Piece::cloth(&stage.cloth().triangles, x))
            .chain(scene.subject.obstacles())
            .collect(),
    };
    scene
        .rows
        .iter()
        .filter_map(|(e, m)| {
            let run = m.good.as_ref().or(m.best.as_ref())?;
            let name =
                if e.can.move_ { format!("{}, {}", e.name, step(run.step_secs)) } else { e.name.to_string() };
            let name = if m.good.is_some() { name } else { format!("{name}: bar missed") };
            Some(shot(name, &run.x))
        })
        .collect()
}

/// The file of a scene's sheet.
pub fn sheet_file(name: &str) -> String {
    let words: String =
        name.chars().take_while(|c| *c != ',').filter(|c| c.is_alphanumeric() || *c == ' ').collect();
    format!("{}.png", words.trim().replace(' ', "-"))
}

/// One sheet a scene, panes of 400 pixels.
fn pictures(
    folder: &Path,
    renderer: &mut Renderer,
    md: &mut String,
    html: &mut Page,
    shots: &[Snapshot],
) -> Result<()> {
    let mut names: Vec<&str> = shots.iter().map(|s| s.scene.as_str()).collect();
    names.dedup();
    for name in names {
        let group: Vec<&Snapshot> = shots.iter().filter(|s| s.scene == name).collect();
        let frame = super::Frame::of(&group);
        let images =
            group.iter().map(|s| super::picture(renderer, s, &frame, 400)).collect::<Result<Vec<Image>>>()?;
        let captions: Vec<&str> = group.iter().map(|s| s.name.as_str()).collect();
        let sheet = contact_sheet(&images, &captions, 5.min(group.len()))?;
        let file = sheet_file(name);
        sheet.write_png(folder.join(&file))?;
        let _ = write!(md, "\n![{name}]({file})\n");
        html.image(&sheet, name)?;
    }
    Ok(())
}

fn claimed(
    folder: &Path,
    renderer: Option<&mut Renderer>,
    md: &mut String,
    html: &mut Page,
    claims: &Findings,
) -> Result<()> {
    if claims.rows.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<String>> = claims
        .rows
        .iter()
        .map(|r| {
            let verdict = if r.pass { "pass" } else { "FAIL" };
            vec![r.name.clone(), super::number(r.ours), expected(r), verdict.into()]
        })
        .collect();
    let about = "Each is a row that can fail; the last column but one is what is expected.";
    section(md, html, "What the papers claim", about, &["claim", "found", "expected", ""], &rows);
    for plot in &claims.plots {
        html.chart(&super::chart(plot));
    }
    if let Some(renderer) = renderer {
        pictures(folder, renderer, md, html, &claims.shots)?;
    }
    Ok(())
}

/// What a row holds its value to.
fn expected(r: &toile_lab::Row) -> String {
    let (low, high) = (r.reference - r.tolerance, r.reference + r.tolerance);
    if r.tolerance == 0.0 {
        super::number(r.reference)
    } else if r.reference == 0.0 {
        format!("at most {}", super::number(r.tolerance))
    } else if high > 1e8 {
        format!("at least {}", super::number(low))
    } else {
        format!("{} to {}", super::number(low), super::number(high))
    }
}
