//! The same garment in other meshes (table 4), and the same clip slower and faster.

use super::page::{number, table};
use super::study::median_ms;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::sync::Arc;
use toile_assets::{Body, Take};
use toile_learn::{Settings, evaluate};

/// Table 4: vertices and error on test clips, cm.
const TABLE_4: [(usize, f64); 4] = [(766, 1.32), (3410, 1.58), (5178, 1.70), (20530, 1.66)];

/// Seconds of each clip that table 4 simulates: the finest cut takes a hundred times as long as the coarsest.
pub const SPAN: (f64, f64) = (0.0, 2.0);

/// One mesh of table 4.
pub struct Resolution {
    pub vertices: usize,
    /// Clips to learn from and to test with, and frames of either.
    pub clips: [usize; 2],
    pub frames: [usize; 2],
    pub train_cm: f64,
    pub test_cm: f64,
    pub skin_cm: f64,
    pub projection_cm: f64,
    pub full_ms: f64,
}

impl Resolution {
    /// Trains model C on `train` and plays it on clips that it has not seen.
    pub fn measure(body: &Body, train: &[Take], test: &[Take], dims: usize) -> Result<Self> {
        let settings = Settings::default().with(|s| {
            s.cloth_dims = dims;
            s.body_dims = dims;
            s.hidden_frames = 0;
        });
        let model = Arc::new(toile_learn::train(body, train, &settings)?.model);
        let attachment = model.attachment.clone().context("the takes do not hold the draped garment")?;
        let (seen, unseen) =
            (evaluate(&model, train, &attachment, None), evaluate(&model, test, &attachment, None));
        let frames = |takes: &[Take]| takes.iter().map(Take::len).sum();
        let out = Self {
            vertices: model.vertices,
            clips: [train.len(), test.len()],
            frames: [frames(train), frames(test)],
            train_cm: seen.mean_cm,
            test_cm: unseen.mean_cm,
            skin_cm: unseen.skin_cm,
            projection_cm: unseen.projection_cm,
            full_ms: median_ms(train),
        };
        eprintln!("{} vertices: test {:.2} cm, skin {:.2} cm", out.vertices, out.test_cm, out.skin_cm);
        Ok(out)
    }
}

/// One clip at another speed.
pub struct Speed {
    pub times: f64,
    pub clip: String,
    /// Model C, order 0 and skinning, cm; out of range, %.
    pub scores: [f64; 4],
}

pub fn resolution_table(md: &mut String, rows: &[Resolution]) {
    if rows.is_empty() {
        return;
    }
    md.push_str("## Table 4: resolution of the dress, model C, 64 dims\n\n");
    let theirs = |vertices: usize| {
        TABLE_4.iter().find(|t| t.0.abs_diff(vertices) * 30 < t.0).map(|t| format!(" ({:.2})", t.1))
    };
    let cells = |r: &Resolution| {
        vec![
            r.vertices.to_string(),
            format!("{}, {}", r.clips[0], r.frames[0]),
            format!("{}, {}", r.clips[1], r.frames[1]),
            number(r.train_cm, 2),
            number(r.test_cm, 2) + &theirs(r.vertices).unwrap_or_default(),
            number(r.skin_cm, 2),
            number(r.projection_cm, 2),
            number(r.full_ms, 0),
        ]
    };
    let headers = [
        "vertices",
        "clips, frames to train",
        "to test",
        "train cm",
        "test cm",
        "skinning cm",
        "projection cm",
        "simulated ms",
    ];
    table(md, &headers, &rows.iter().map(cells).collect::<Vec<_>>());
    let _ = writeln!(
        md,
        "A few clips of the training set, {} s of each, without stops, the same for every mesh: errors compare with each other, not \
         with the tables above. Clips whose take is not true are left out of their row.\n",
        SPAN.1 - SPAN.0
    );
}

pub fn speed_table(md: &mut String, rows: &[Speed]) {
    let Some(first) = rows.first() else { return };
    let _ =
        writeln!(md, "### Slower and faster\n\nThe training clip {} at other speeds, model C:\n", first.clip);
    let cells = |r: &Speed| {
        let mut cells = vec![number(r.times, 2)];
        cells.extend(r.scores.iter().map(|v| number(*v, 2)));
        cells
    };
    let headers = ["times as fast", "model C cm", "order 0 cm", "skinning cm", "out of range %"];
    table(md, &headers, &rows.iter().map(cells).collect::<Vec<_>>());
}

/// Walk against walk, stop and twist by dims.
pub fn rotation_table(md: &mut String, rows: &[(usize, [f64; 2])]) {
    if rows.is_empty() {
        return;
    }
    md.push_str(
        "### Walk against turn\n\nPublished at 64 dims: walk 2.24 cm, walk with stop and twist 2.07 cm; the twist the lower at all \
         dims, the walk best at 32.\n\n",
    );
    let cells = |(dims, cm): &(usize, [f64; 2])| vec![dims.to_string(), number(cm[0], 2), number(cm[1], 2)];
    table(md, &["dims", "walk cm", "walk, stop, twist cm"], &rows.iter().map(cells).collect::<Vec<_>>());
}
