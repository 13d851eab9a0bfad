//! `toile lab`: the solver against analytic values, and the scenes the field knows.

mod solvers;
mod solvers_page;

use crate::driver;
use crate::output::Overwrite;
use crate::resolve::BadRequest;
use anyhow::Result;
use clap::{Parser, Subcommand};
use serde_json::json;
use std::path::{Path, PathBuf};
use toile_assets::Error;
use toile_lab::{Case, Findings, Plot, Row, Snapshot};
use toile_show::{
    Camera, Chart, Image, Item, Line, Material, MeshHandle, Page, Renderer, Scene, View, contact_sheet,
};

/// Hold the solver to values that physics gives
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toile lab --json\n  toile lab --long --out lab\n  toile lab --only cantilever\n  toile lab solvers"
)]
pub struct Args {
    #[command(subcommand)]
    part: Option<Part>,
    /// The rows that take minutes, too
    #[arg(long)]
    long: bool,
    /// Only cases whose names contain this; may be given more than once
    #[arg(long, value_name = "WORD")]
    only: Vec<String>,
    /// Folder for lab.html: the rows with plots and pictures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Parts of the laboratory with a command of their own.
#[derive(Subcommand)]
enum Part {
    Solvers(solvers::Args),
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(Part::Solvers(args)) = &args.part {
        return solvers::run(args);
    }
    let cases: Vec<&Case> = toile_lab::CASES
        .iter()
        .filter(|c| {
            if args.only.is_empty() {
                args.long || !c.long
            } else {
                // A whole name means that case alone.
                let whole = |w: &String| toile_lab::CASES.iter().any(|c| c.name == *w);
                args.only.iter().any(|w| if whole(w) { c.name == *w } else { c.name.contains(w) })
            }
        })
        .collect();
    if cases.is_empty() {
        let names: Vec<&str> = toile_lab::CASES.iter().map(|c| c.name).collect();
        return Err(BadRequest(format!("no case has such a name; there are: {}", names.join(", "))).into());
    }
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        args.overwrite.check(&folder.join("lab.html"), [])?;
    }
    let found = study(&cases)?;
    let failed = found.rows.iter().filter(|r| !r.pass).count();
    if args.json {
        println!("{}", as_json(&found.rows, failed));
    } else {
        print_table(&found.rows);
    }
    if let Some(folder) = &args.out {
        let path = folder.join("lab.html");
        write_page(&path, &found, failed)?;
        eprintln!("wrote {}", path.display());
    }
    if failed > 0 {
        anyhow::bail!("{failed} of {} rows failed", found.rows.len());
    }
    Ok(())
}

/// Runs the cases one after the other.
fn study(cases: &[&Case]) -> Result<Findings> {
    let bar = crate::progress::bar(cases.len() as u64, "");
    let found = toile_lab::study(|c| {
        let wanted = cases.iter().any(|w| w.name == c.name);
        if wanted {
            bar.set_message(c.name);
            bar.inc(1);
        }
        wanted
    });
    bar.finish_and_clear();
    Ok(found?)
}

fn as_json(rows: &[Row], failed: usize) -> serde_json::Value {
    let list: Vec<_> = rows
        .iter()
        .map(|r| {
            json!({"name": r.name, "ours": r.ours, "reference": r.reference,
                   "tolerance": r.tolerance, "pass": r.pass})
        })
        .collect();
    json!({"rows": list, "failed": failed})
}

/// A number in six digits, small and large ones with a power of ten.
fn number(v: f64) -> String {
    if v != 0.0 && !(1e-3..1e5).contains(&v.abs()) { format!("{v:.2e}") } else { format!("{v:.5}") }
}

fn print_table(rows: &[Row]) {
    let wide = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0);
    println!("{:wide$} {:>12} {:>12} {:>10}", "test", "ours", "reference", "tolerance");
    for r in rows {
        let verdict = if r.pass { "" } else { "  FAILED" };
        println!(
            "{:wide$} {:>12} {:>12} {:>10}{verdict}",
            r.name,
            number(r.ours),
            number(r.reference),
            format!("{:.1e}", r.tolerance)
        );
    }
}

fn write_page(path: &Path, found: &Findings, failed: usize) -> Result<()> {
    let mut page = Page::new("The laboratory");
    page.paragraph(&format!(
        "{} rows hold the solver to what physics gives; {} of them fail. Dashed lines are what is right.",
        found.rows.len(),
        if failed == 0 { "none".to_string() } else { failed.to_string() }
    ));
    page.section("Rows");
    let rows: Vec<Vec<String>> = found
        .rows
        .iter()
        .map(|r| {
            vec![
                r.name.clone(),
                number(r.ours),
                number(r.reference),
                format!("{:.1e}", r.tolerance),
                if r.pass { "pass" } else { "FAIL" }.into(),
            ]
        })
        .collect();
    page.table(&["test", "ours", "reference", "tolerance", ""], &rows);
    if !found.plots.is_empty() {
        page.section("Plots");
    }
    for plot in &found.plots {
        page.chart(&chart(plot));
    }
    if !found.shots.is_empty() {
        page.section("Scenes");
        match driver::renderer_if_any()? {
            Some(mut renderer) => pictures(&mut page, &mut renderer, &found.shots)?,
            None => driver::say_on(&mut page),
        }
    }
    Ok(page.write(path)?)
}

fn chart(plot: &Plot) -> Chart {
    let line = |c: &toile_lab::Curve| {
        let line = Line::new(c.name.clone(), c.points.clone());
        if c.reference { line.dashed() } else { line }
    };
    Chart {
        title: plot.title.clone(),
        x_label: plot.x_label.clone(),
        y_label: plot.y_label.clone(),
        lines: plot.curves.iter().map(line).collect(),
        from_zero: false,
    }
}

/// Shots of one scene side by side, all from one camera that sees all of them.
fn pictures(page: &mut Page, renderer: &mut Renderer, shots: &[Snapshot]) -> Result<()> {
    let mut names: Vec<&str> = shots.iter().map(|s| s.scene.as_str()).collect();
    names.dedup();
    for name in names {
        let group: Vec<&Snapshot> = shots.iter().filter(|s| s.scene == name).collect();
        let images = panes(renderer, &group, 360)?;
        let captions: Vec<&str> = group.iter().map(|s| s.name.as_str()).collect();
        page.image(&contact_sheet(&images, &captions, 4)?, name)?;
    }
    Ok(())
}

/// A picture of each shot of a scene, all from one camera.
pub fn panes(renderer: &mut Renderer, shots: &[&Snapshot], size: u32) -> Result<Vec<Image>> {
    let frame = Frame::of(shots);
    shots.iter().map(|s| picture(renderer, s, &frame, size)).collect()
}

/// What all panes of a scene are seen through: one camera, above one floor.
struct Frame {
    camera: Camera,
    lowest: f32,
}

impl Frame {
    /// Sees all shots but those that have grown out of all proportion: what flies apart would make dots of the others.
    fn of(shots: &[&Snapshot]) -> Self {
        let points = |s: &Snapshot| s.pieces.iter().flat_map(|p| p.positions.clone()).collect::<Vec<_>>();
        let reach = |s: &Snapshot| {
            let (low, high) = points(s)
                .iter()
                .fold((glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
            (high - low).length()
        };
        let mut reaches: Vec<f32> = shots.iter().map(|s| reach(s)).collect();
        reaches.sort_by(f32::total_cmp);
        let most = 1.5 * reaches.get(reaches.len() / 2).copied().unwrap_or(0.0);
        let seen: Vec<&&Snapshot> = shots.iter().filter(|s| reach(s) <= most).collect();
        let lowest = seen.iter().flat_map(|s| points(s)).map(|p| p.y).fold(f32::INFINITY, f32::min);
        let lifted: Vec<Vec<glam::Vec3>> = seen.iter().map(|s| raise(&points(s), lowest)).collect();
        let none = MeshHandle::new(&[]);
        let scene =
            lifted.iter().fold(Scene::new(), |scene, p| scene.with(Item::new(&none, p, Material::body())));
        let (azimuth, elevation) = shots.first().map_or((0.0, 0.0), |s| s.view);
        let camera = Camera::framing_scene(&scene, View::Angle { azimuth, elevation }, 1.0);
        Self { camera, lowest }
    }
}

/// The studio's floor is at zero; what hangs in the air of the laboratory is stood on it.
fn raise(points: &[glam::Vec3], lowest: f32) -> Vec<glam::Vec3> {
    points.iter().map(|q| *q - glam::Vec3::Y * lowest).collect()
}

fn picture(renderer: &mut Renderer, shot: &Snapshot, frame: &Frame, size: u32) -> Result<Image> {
    let lifted: Vec<Vec<glam::Vec3>> =
        shot.pieces.iter().map(|p| raise(&p.positions, frame.lowest)).collect();
    let meshes: Vec<MeshHandle> = shot.pieces.iter().map(|p| MeshHandle::new(&p.triangles)).collect();
    let cloth = ["silk", "denim"].into_iter().find(|f| shot.name.contains(f)).unwrap_or("cotton");
    let mut scene = Scene::new();
    for ((piece, mesh), positions) in shot.pieces.iter().zip(&meshes).zip(&lifted) {
        let material = if piece.cloth { Material::fabric(cloth) } else { Material::body() };
        scene = scene.with(Item::new(mesh, positions, material));
    }
    Ok(renderer.draw(&scene, &frame.camera, size, size)?)
}
