//! The report's plots.

use anyhow::{Result, anyhow};
use faer::Mat;
use toile_assets::Model;
use toile_learn::{ClipScore, Evaluation, Spectrum};
use toile_show::{Chart, Line, Page};

/// Colours that mean the same in every plot.
const LEARNED: usize = 0;
const SKINNED: usize = 1;
const SIMULATED: usize = 2;
/// Stops that get a plot of their own; the table has all.
const STOPS: usize = 3;

fn seconds(values: &[f32], fps: f64) -> Vec<(f64, f64)> {
    values.iter().enumerate().map(|(f, v)| (f as f64 / fps, f64::from(*v))).collect()
}

/// Error of one clip over time.
pub fn error(clip: &ClipScore, fps: f64) -> Chart {
    Chart {
        title: clip.clip.clone(),
        x_label: "seconds".into(),
        y_label: "mean distance, cm".into(),
        lines: vec![
            Line::new("learned", seconds(&clip.by_frame_cm, fps)).coloured(LEARNED),
            Line::new("skinned", seconds(&clip.skin_by_frame_cm, fps)).coloured(SKINNED),
        ],
        from_zero: true,
    }
}

/// The swing after stops, model against truth.
pub fn stops(page: &mut Page, e: &Evaluation, fps: f64) {
    if e.stops.is_empty() {
        page.paragraph("No take stops: simulate with --stops to have the swing after a stop measured.");
        return;
    }
    page.paragraph(
        "The wearer freezes; the cloth swings on. Both are seen along the direction in which the simulation swings most, \
         each about where it comes to rest.",
    );
    // Those that swing first: the others have little to show.
    let mut order: Vec<_> = e.stops.iter().collect();
    order.sort_by_key(|s| !s.swings);
    for s in order.into_iter().take(STOPS) {
        page.chart(&Chart {
            title: format!("{}, stopped at {:.1} s", s.clip, s.frame as f64 / fps),
            x_label: "seconds after the stop".into(),
            y_label: "along the main swing, cm".into(),
            lines: vec![
                Line::new("learned", seconds(&s.model_cm, fps)).coloured(LEARNED),
                Line::new("simulated", seconds(&s.truth_cm, fps)).dashed().coloured(SIMULATED),
            ],
            from_zero: true,
        });
    }
}

/// Power over frequency, on a scale of decades.
pub fn spectrum(page: &mut Page, spectrum: Option<&Spectrum>) {
    let Some(s) = spectrum else {
        page.paragraph("No clip is long enough for a spectrum.");
        return;
    };
    page.paragraph(
        "How the motion of the lowest quarter of the garment, seen from the wearer, is spread over frequencies. A learned \
         line below the simulated one is cloth that is too stiff there, above it cloth that is too nervous.",
    );
    let line = |name: &str, power: &[f64]| {
        Line::new(name, s.hz.iter().copied().zip(power.iter().copied()).collect())
    };
    page.chart_of_decades(&Chart {
        title: String::new(),
        x_label: "Hz".into(),
        y_label: "power, cm² per Hz".into(),
        lines: vec![
            line("learned", &s.model).coloured(LEARNED),
            line("skinned", &s.skin).coloured(SKINNED),
            line("simulated", &s.truth).dashed().coloured(SIMULATED),
        ],
        from_zero: false,
    });
}

/// Eigenvalues of the shipped memory in the unit circle.
pub fn eigenvalues(page: &mut Page, model: &Model) -> Result<()> {
    let n = model.order * model.cloth_dims;
    if n == 0 {
        page.paragraph("The model has no memory: nothing can build up in it.");
        return Ok(());
    }
    let m = model.companion();
    let values = Mat::from_fn(n, n, |r, c| m[r * n + c]).eigenvalues();
    let values = values.map_err(|e| anyhow!("the model's eigenvalues could not be found: {e:?}"))?;
    let values: Vec<(f64, f64)> = values.iter().map(|v| (v.re, v.im)).collect();
    page.disc(
        &format!("{n} eigenvalues of the model's memory"),
        &values,
        &format!(
            "All inside the unit circle: every swing dies out. The outermost is at {:.4}; the angle is the swing's \
             frequency, a full turn being {} Hz.",
            model.certificate.rho, model.fps
        ),
    );
    Ok(())
}
