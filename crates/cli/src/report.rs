//! The page that tells the story of a model: film, error over time, numbers.

use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use toile_learn::Evaluation;
use toile_show::{Chart, Image, Line, Page};

/// What the page tells.
pub struct Story<'a> {
    pub title: &'a str,
    pub value: &'a Value,
    pub evaluation: &'a Evaluation,
    pub wardrobe: &'a Image,
    pub film: &'a [Image],
    pub film_fps: f32,
    pub stages: &'a [(&'static str, f64)],
    pub adapter: String,
}

pub fn write(path: &Path, story: &Story<'_>) -> Result<()> {
    let e = story.evaluation;
    let number = |key: &str| story.value[key].as_f64().unwrap_or(0.0);
    let mut page = Page::new(story.title);
    page.paragraph(&format!(
        "A dress was simulated on a mannequin, and a linear model of its motion learned from {} frames. On clips it \
         never saw it is {:.2} cm off on average, where skinning is {:.2} cm off and the best any model of its space \
         could do is {:.2} cm. It costs {:.1} µs a frame and cannot leave its certified bound.",
        story.value["train_frames"],
        e.mean_cm,
        e.skin_cm,
        e.projection_cm,
        e.us_per_frame
    ));
    page.section("Film");
    page.film(
        story.film,
        story.film_fps,
        "An unseen clip: simulated, learned (free run), skinned, in lock-step.",
    )?;
    page.section("Error over time");
    for clip in &e.clips {
        let seconds = |values: &[f32]| -> Vec<(f64, f64)> {
            values.iter().enumerate().map(|(f, v)| (f as f64 / 30.0, f64::from(*v))).collect()
        };
        page.chart(&Chart {
            title: clip.clip.clone(),
            x_label: "seconds".into(),
            y_label: "mean vertex error, cm".into(),
            lines: vec![
                Line::new("learned", seconds(&clip.by_frame_cm)),
                Line::new("skinned", seconds(&clip.skin_by_frame_cm)),
            ],
            from_zero: true,
        });
    }
    page.section("Clips");
    let rows: Vec<Vec<String>> = e
        .clips
        .iter()
        .map(|c| {
            let mut row = vec![c.clip.clone(), c.frames.to_string()];
            row.extend(
                [c.mean_cm, c.p95_cm, c.max_cm, c.skin_cm, c.projection_cm].iter().map(|v| format!("{v:.2}")),
            );
            row
        })
        .collect();
    page.table(&["clip", "frames", "mean cm", "p95 cm", "max cm", "skin cm", "projection cm"], &rows);
    page.section("Model");
    let facts = [
        ("spectral radius, shipped", format!("{:.4}", number("rho"))),
        ("spectral radius before enforcement", format!("{:.4}", number("rho_before"))),
        ("certified travel of any vertex", format!("{:.0} cm", number("travel_bound_cm"))),
        ("liveliness (1 is right)", format!("{:.2}", e.liveliness)),
        ("velocity correlation (1 is right)", format!("{:.2}", e.correlation)),
        ("inputs clamped per frame", format!("{:.2}", e.clamped_per_frame)),
        ("learned, per garment and frame", format!("{:.1} µs", e.us_per_frame)),
        ("simulated, per frame", format!("{:.1} ms", number("simulated_ms_per_frame"))),
        ("size", format!("{:.0} kB", number("bytes") / 1024.0)),
        ("drawn by", story.adapter.clone()),
    ];
    let rows: Vec<Vec<String>> = facts.iter().map(|(k, v)| vec![(*k).to_string(), v.clone()]).collect();
    page.table(&["what", "value"], &rows);
    let rows: Vec<Vec<String>> =
        story.stages.iter().map(|(n, s)| vec![(*n).to_string(), format!("{s:.1} s")]).collect();
    page.table(&["stage", "time"], &rows);
    page.section("Wardrobe");
    page.figure(&story.wardrobe.png()?, "The built-in garments as cut and placed, before draping.");
    toile_assets::write::write_atomically(path, page.finish().as_bytes())?;
    Ok(())
}
