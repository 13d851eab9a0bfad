//! The page that tells the story of a model: film, error, swing, spectrum, stability, cost, and whether it passes.

pub mod facts;
pub mod film;
mod live;
mod plots;
pub mod tables;

use crate::driver;
use crate::picture::Studio;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use toile_assets::{Attachment, Body, Model, Take};
use toile_learn::{Evaluation, Spectrum};
use toile_show::{Image, Page, View};

/// A clip on film: panes side by side.
pub struct Film {
    pub frames: Vec<Image>,
    pub panes: u32,
    pub fps: f32,
    /// Distance that is red in the last pane.
    pub red_cm: f32,
    /// Which of the evaluation's clips it shows.
    pub clip: String,
}

/// What the page tells. Every figure on it is one of `value`, of the evaluation or of the model.
pub struct Story<'a> {
    pub title: &'a str,
    /// What the command prints with `--json`.
    pub value: &'a Value,
    pub model: &'a Model,
    pub evaluation: &'a Evaluation,
    pub spectrum: Option<&'a Spectrum>,
    /// None where nothing could be drawn.
    pub film: Option<&'a Film>,
    /// Rows of pictures and what they show, after the figures.
    pub pictures: &'a [(Vec<Image>, String)],
    /// Commands to go on with.
    pub next: &'a str,
}

pub fn write(path: &Path, story: &Story<'_>) -> Result<()> {
    toile_assets::write::write_atomically(path, page(story)?.as_bytes())?;
    Ok(())
}

/// The page of a model that was evaluated on takes, with a film of the first one that runs through.
pub fn write_evaluated(
    path: &Path,
    model: &Arc<Model>,
    body: &Body,
    takes: &[Take],
    attachment: &Attachment,
    evaluation: &Evaluation,
    value: &Value,
) -> Result<()> {
    let mut value = value.clone();
    let mut studio = driver::renderer_if_any()?
        .map(|renderer| Studio::new(renderer, body, View::ThreeQuarter, (220, 400), 0.0));
    facts::merge(&mut value, facts::of_model(model));
    let note = |key: &str| model.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    let mut unseen: Vec<&str> = takes.iter().map(|t| t.clip.as_str()).collect();
    unseen.dedup();
    facts::merge(
        &mut value,
        json!({
            "command": "toile evaluate", "body": body.name, "garment": note("garment"), "fabric": note("fabric"),
            "unseen": unseen.join(", "), "test_clips": unseen.len(),
            "simulated_ms_per_frame": facts::simulated_ms(takes.iter()),
            "skin_us_per_frame": facts::skinned_us(attachment, &takes[0])?,
            "machine": facts::of_machine(studio.as_ref().map(Studio::adapter)),
        }),
    );
    let filmed = takes.iter().find(|t| t.stop_frame.is_none()).unwrap_or(&takes[0]);
    // A hundred frames are a film; a long clip is shown in fewer a second.
    let every = filmed.len().div_ceil(100).max(2);
    let red = film::red_cm(evaluation.mean_cm);
    let film = match &mut studio {
        Some(studio) => Some(film::film(studio, body, filmed, model, attachment, every, red)?),
        None => None,
    };
    let spectrum = toile_learn::spectrum(model, takes, attachment);
    let story = Story {
        title: &format!("{}, learned", note("garment").unwrap_or_else(|| model.name.clone())),
        value: &value,
        model,
        evaluation,
        spectrum: spectrum.as_ref(),
        film: film.as_ref(),
        pictures: &[],
        next: "",
    };
    write(path, &story)
}

fn page(story: &Story<'_>) -> Result<String> {
    let (e, value) = (story.evaluation, story.value);
    let mut page = Page::new(story.title);
    tables::opening(&mut page, value);

    page.section("Film");
    match story.film {
        Some(film) => show_film(&mut page, film)?,
        None => driver::say_on(&mut page),
    }
    page.section("Error over time");
    page.paragraph("Mean distance of all vertices to the simulation. The mark follows the film.");
    for clip in e.clips.iter().filter(|c| c.stop_frame.is_none()) {
        let chart = plots::error(clip, story.model.fps);
        if story.film.is_some_and(|film| film.clip == clip.clip) {
            page.chart_of_film(&chart)
        } else {
            page.chart(&chart)
        };
    }
    page.section("Clips");
    page.paragraph(
        "Every error is a free run. Skinned is what following the bones costs nothing to get; projection is the best \
         any model of this many dimensions could do; order 0 is the pose alone, without memory.",
    );
    tables::clips(&mut page, e);

    page.section("After a stop");
    plots::stops(&mut page, e, story.model.fps);
    tables::stops(&mut page, e);

    page.section("Spectrum of the hem");
    plots::spectrum(&mut page, story.spectrum);

    page.section("Stability");
    plots::eigenvalues(&mut page, story.model)?;
    tables::certificate(&mut page, value);

    page.section("Cloth inside the body");
    tables::penetration(&mut page, value);

    page.section("Cost");
    tables::cost(&mut page, value);

    if value["gate"].is_array() {
        page.section("Gate");
        tables::gate(&mut page, value);
    }

    page.section("Settings and versions");
    tables::settings(&mut page, value);

    if !story.pictures.is_empty() {
        page.section("Pictures");
        for (pictures, caption) in story.pictures {
            match pictures.as_slice() {
                [one] => page.image(one, caption)?,
                several => page.gallery(several, caption)?,
            };
        }
    }
    if !story.next.is_empty() {
        page.section("With your own character").preformatted(story.next);
    }
    let body = value["body"].as_str().unwrap_or_default();
    if let Some(view) = live::of(story.model, body, page.finish().len()) {
        live::show(&mut page, &view);
    }
    Ok(page.finish())
}

fn show_film(page: &mut Page, film: &Film) -> Result<()> {
    page.film_of_panes(
        &film.frames,
        film.panes,
        film.fps,
        &format!(
            "{}, a clip it was not trained on: simulated, learned (free run: it sees only the body), skinned, and the \
             learned one coloured by its distance to the simulation, blue for none to red for {} cm, about twice the mean; all in lock-step.",
            film.clip, film.red_cm
        ),
    )?;
    Ok(())
}
