//! Everything the crate can show, on shapes made here: `gallery [FOLDER]` writes PNG, GIF, APNG and a page.

#![allow(clippy::disallowed_methods, reason = "the time a frame takes is what is reported")]

use glam::Vec3;
use std::path::Path;
use std::time::Instant;
use toile_show::{
    Anchor, Camera, Chart, Ground, Image, Item, Label, Line, Material, MeshHandle, Page, Renderer, Scene,
    View, beside, contact_sheet, gif, heat_colours, srgb, write_apng, write_legend,
};

const SIDES: u32 = 96;

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    if let Err(e) = run(Path::new(&folder)) {
        eprintln!("gallery: {e}");
        std::process::exit(1);
    }
}

fn run(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut renderer = Renderer::new()?;
    let body_mesh = MeshHandle::new(&tube(60));
    let skirt_mesh = MeshHandle::new(&tube(18));
    let body = dummy();
    let slack = |m: Material| Material { depth_slack_m: 0.01, ..m };
    let silk = slack(Material::fabric("silk"));

    let (lo, hi) = (Vec3::new(-0.6, 0.0, -0.6), Vec3::new(0.6, 1.62, 0.6));
    let camera = Camera::framing(lo, hi, View::ThreeQuarter, 1.0);
    let mut looks = Vec::new();
    for fabric in ["silk", "denim", "wool", "leather", "linen", "cotton"] {
        let skirt = skirt(0.4, 1.0);
        let scene = Scene::new()
            .with(Item::new(&body_mesh, &body, Material::body()))
            .with(Item::new(&skirt_mesh, &skirt, slack(Material::fabric(fabric))))
            .labelled(Label::new(fabric));
        looks.push(renderer.draw(&scene, &camera, 360, 360)?);
    }
    let fabrics = contact_sheet(&looks, &[], 3)?;

    let (truth, model) = (skirt(1.2, 1.0), skirt(1.0, 0.8));
    let errors_cm: Vec<f32> = truth.iter().zip(&model).map(|(a, b)| 100.0 * a.distance(*b)).collect();
    let colours = heat_colours(&errors_cm, 6.0);
    let heat_look = Material { flatness: 0.65, ..slack(Material::cloth(Vec3::ONE)) };
    let ghost = Material { opacity: 0.35, ..Material::cloth(srgb(0x2a, 0x6f, 0x97)) };
    let base = || Scene::new().with(Item::new(&body_mesh, &body, Material::body()));
    let panes = [
        base().with(Item::new(&skirt_mesh, &truth, silk)).labelled(Label::new("simulated")),
        base()
            .with(Item::new(&skirt_mesh, &model, silk))
            .with(Item::new(&skirt_mesh, &truth, ghost))
            .labelled(Label::new("learned, truth as ghost")),
        base()
            .with(Item::new(&skirt_mesh, &model, heat_look).coloured(&colours))
            .labelled(Label::new("distance").at(Anchor::TopLeft)),
        base()
            .with(Item::new(&skirt_mesh, &model, Material { wireframe: true, ..silk }))
            .labelled(Label::new("mesh")),
    ];
    let mut drawn = Vec::new();
    for pane in &panes {
        drawn.push(renderer.draw(pane, &camera, 480, 480)?);
    }
    write_legend(&mut drawn[2], 6.0, "cm");
    let compared = beside(&drawn)?;

    let mut frames = Vec::new();
    let mut times_ms = Vec::new();
    let start = Instant::now();
    for k in 0..48 {
        let phase = std::f32::consts::TAU * k as f32 / 48.0;
        let now = skirt(phase, 1.0);
        let scene = Scene { ground: Some(Ground { grid_m: 0.5, ..Ground::default() }), ..base() }
            .with(Item::new(&skirt_mesh, &now, silk))
            .labelled(Label::new(format!("{:.2} s", k as f32 / 24.0)).at(Anchor::BottomLeft));
        let begun = Instant::now();
        frames.push(renderer.draw(&scene, &camera, 320, 320)?);
        times_ms.push((k as f64 / 24.0, 1e3 * begun.elapsed().as_secs_f64()));
    }
    println!("48 frames of 320×320 in {:.1} s on {}", start.elapsed().as_secs_f64(), renderer.adapter());
    let film = gif(&frames, 24.0)?;
    println!("GIF: {} kB", film.len() / 1024);
    let swing = (0..96)
        .map(|k| (k as f64 / 24.0, 6.0 * (-0.5 * k as f64 / 24.0).exp() * (k as f64 * 0.4).cos().abs()));
    let mut page = Page::new("A skirt, turning");
    page.paragraph("Pictures, a film, a table and charts, all in this one file.").section("Fabrics");
    page.image(&fabrics, "Six fabrics under the same light.")?.section("Side by side");
    page.image(&compared, "Simulated, learned with the truth as a ghost, distance in centimetres, mesh.")?;
    page.film(&frames, 24.0, "Play, pause, scrub.")?.figure(&film, "The same as a GIF.").section("Figures");
    page.table(
        &["tier", "mean cm", "µs", "verdict"],
        &[["skin", "3.1", "12", "FAIL"], ["stable", "0.8", "4.5", "pass"]]
            .map(|r| r.map(String::from).to_vec()),
    );
    page.chart(&Chart {
        title: "Distance to the simulation".into(),
        x_label: "time (s)".into(),
        y_label: "distance (cm)".into(),
        lines: vec![
            Line::new("stable", swing.collect()),
            Line::new("gate", vec![(0.0, 2.0), (4.0, 2.0)]).dashed(),
        ],
        from_zero: true,
    });
    page.chart(&Chart {
        title: "Time to draw a frame".into(),
        x_label: "time (s)".into(),
        y_label: "ms".into(),
        lines: vec![Line::new("", times_ms)],
        from_zero: true,
    });
    std::fs::create_dir_all(folder)?;
    fabrics.write_png(folder.join("fabrics.png"))?;
    compared.write_png(folder.join("compared.png"))?;
    std::fs::write(folder.join("film.gif"), &film)?;
    write_apng(folder.join("film.png"), &frames[..12], 24.0)?;
    let strip: Vec<Image> = frames.iter().step_by(8).cloned().collect();
    contact_sheet(&strip, &["0", "8", "16", "24", "32", "40"], 3)?.write_png(folder.join("sheet.png"))?;
    page.write(folder.join("gallery.html"))?;
    // A gallery of empty walls would be a failure nobody sees.
    let (first, later) = (&frames[0], &frames[24]);
    let moved = first.pixels().iter().zip(later.pixels()).filter(|(a, b)| a.abs_diff(**b) > 16).count();
    if moved < 500 { Err("the skirt does not move".into()) } else { Ok(()) }
}

/// Rings of `SIDES` vertices joined to a tube of `rings` bands.
fn tube(rings: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for r in 0..rings {
        for s in 0..SIDES {
            let (a, b) = (r * SIDES + s, r * SIDES + (s + 1) % SIDES);
            triangles.extend([[a, a + SIDES, b], [b, a + SIDES, b + SIDES]]);
        }
    }
    triangles
}

fn ring(y: f32, radius: impl Fn(f32) -> f32, depth: f32) -> impl Iterator<Item = Vec3> {
    (0..SIDES).map(move |s| {
        let angle = std::f32::consts::TAU * s as f32 / SIDES as f32;
        let r = radius(angle);
        Vec3::new(r * angle.sin(), y, depth * r * angle.cos())
    })
}

/// A tailor's dummy on a stand, turned on a lathe: height and radius.
fn dummy() -> Vec<Vec3> {
    const SHAPE: [(f32, f32); 15] = [
        (1.60, 0.0),
        (1.59, 0.035),
        (1.55, 0.055),
        (1.47, 0.058),
        (1.42, 0.09),
        (1.37, 0.175),
        (1.25, 0.16),
        (1.10, 0.122),
        (0.92, 0.175),
        (0.80, 0.165),
        (0.76, 0.10),
        (0.74, 0.022),
        (0.06, 0.022),
        (0.03, 0.17),
        (0.0, 0.18),
    ];
    (0..=60)
        .flat_map(|k| {
            let at = k as f32 / 60.0 * (SHAPE.len() - 1) as f32;
            let i = (at as usize).min(SHAPE.len() - 2);
            let t = at - i as f32;
            let t = t * t * (3.0 - 2.0 * t);
            let (y, r) = (
                SHAPE[i].0 + (SHAPE[i + 1].0 - SHAPE[i].0) * t,
                SHAPE[i].1 + (SHAPE[i + 1].1 - SHAPE[i].1) * t,
            );
            let depth = if (0.77..1.42).contains(&y) { 0.78 } else { 1.0 };
            ring(y, move |_| r, depth)
        })
        .collect()
}

/// A flared skirt with nine folds that lag behind a turn.
fn skirt(phase: f32, swing: f32) -> Vec<Vec3> {
    (0..=18)
        .flat_map(|k| {
            let t = k as f32 / 18.0;
            let lag = swing * 0.9 * t * phase.sin();
            let flare = 0.125 + 0.30 * t + 0.05 * swing * t * t * (phase * 2.0).sin();
            let radius = move |angle: f32| flare * (1.0 + 0.16 * t * (9.0 * (angle + lag)).sin());
            ring(1.10 - 0.62 * t + 0.03 * t * swing * phase.cos(), radius, 0.8 + 0.2 * t)
        })
        .collect()
}
