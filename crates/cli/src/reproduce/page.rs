//! The report: every published value with ours beside it.

use super::cast::Cast;
use super::study::{Row, Study};
use super::variants;
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toile_assets::ModelKind;
use toile_learn::Evaluation;
use toile_show::{Chart, Line};

/// Table 2: dimensions, then train and test of A, B, C.
const TABLE_2: [(usize, [f64; 3], [f64; 3]); 7] = [
    (10, [2.26, 2.89, 2.86], [2.37, 2.99, 3.33]),
    (16, [1.90, 2.24, 2.20], [2.04, 2.48, 2.58]),
    (32, [1.46, 1.50, 1.36], [1.51, 1.62, 1.59]),
    (50, [1.32, 1.26, 1.09], [1.40, 1.43, 1.38]),
    (64, [1.26, 1.17, 1.01], [1.37, 1.36, 1.32]),
    (80, [1.21, 1.10, 0.96], [1.32, 1.37, 1.34]),
    (128, [1.14, 1.00, 0.87], [1.44, 1.56, 1.49]),
];
/// Table 3, model C by order: train and test.
const TABLE_3: [[f64; 2]; 6] =
    [[1.26, 1.37], [1.25, 1.53], [1.01, 1.32], [0.99, 1.39], [0.97, 1.37], [0.96, 1.40]];
/// Table 1: garment as we name it, their λ, total s a frame, Maya s a frame.
const TABLE_1: [(&str, f64, f64, f64); 11] = [
    ("dress", 0.9798, 0.00049, 0.37),
    ("dress:3410", 0.9798, 0.00246, 1.20),
    ("dress:5178", 0.9757, 0.00377, 1.90),
    ("dress:20530", 0.9778, 0.01497, 13.20),
    ("skirt", 0.8950, 0.00040, 0.25),
    ("skirt, denim", 0.9563, 0.00041, 0.33),
    ("long-skirt", 0.9736, 0.00041, 0.40),
    ("oscar", 0.9654, 0.00039, 0.77),
    ("cape", 0.9915, 0.00157, 0.57),
    ("shirt", 0.9983, 0.00245, 0.76),
    ("poncho", 0.9995, 0.00169, 0.80),
];

fn published(name: &str) -> Option<&'static (&'static str, f64, f64, f64)> {
    let garment = name.split(',').next().unwrap_or(name);
    TABLE_1.iter().find(|t| t.0 == name).or_else(|| TABLE_1.iter().find(|t| t.0 == garment))
}

fn kind_index(kind: ModelKind) -> usize {
    match kind {
        ModelKind::A => 0,
        ModelKind::B => 1,
        // The tables are of the published forms.
        ModelKind::C | ModelKind::D => 2,
    }
}

pub(super) fn number(v: f64, digits: usize) -> String {
    if v.is_finite() { format!("{v:.digits$}") } else { "–".into() }
}

/// What was asked for and what came out.
fn goals(study: &Study) -> Vec<(String, f64, String, bool)> {
    let (Some(main), Some(e)) = (&study.main, &study.evaluation) else { return Vec::new() };
    let a = study.by_dims.iter().find(|r| r.kind == ModelKind::A && r.dims == main.dims);
    let mut goals = Vec::new();
    let mut most = |what: &str, value: f64, limit: f64| {
        goals.push((what.to_string(), value, format!("≤ {limit}"), value <= limit));
    };
    most("model C on test clips, cm", main.test_cm, 1.32);
    most("… over skinning", e.mean_cm / e.skin_cm, 0.5);
    most("… over the projection of the truth", e.mean_cm / e.projection_cm, 2.0);
    if let Some(a) = a {
        most("… over model A", main.test_cm / a.test_cm, 0.97);
        most("… over model A in the second after stops", e.after_stops_cm / a.after_stops_cm, 0.7);
    }
    if let Some(s) = e.settling() {
        most("swing frequency off by, %", s.frequency_error_percent, 10.0);
        most("logarithmic decrement off by, %", s.decrement_error_percent, 25.0);
    }
    most("travel bound over training travel, box", main.tightness[0], 20.0);
    most("travel bound over training travel, box and rates", main.tightness[1], 5.0);
    let live = (0.85..=1.15).contains(&main.liveliness);
    goals.push(("liveliness".into(), main.liveliness, "0.85 to 1.15".into(), live));
    goals.push(("velocity correlation".into(), main.correlation, "≥ 0.6".into(), main.correlation >= 0.6));
    if let Some(w) = &study.worst {
        goals.push((
            "worst input reaches of the bound, %".into(),
            w.attained_percent,
            "95 to 100".into(),
            (95.0..=100.0).contains(&w.attained_percent),
        ));
    }
    goals
}

pub(super) fn table(out: &mut String, headers: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", headers.join(" | "));
    let rule: Vec<&str> =
        headers.iter().enumerate().map(|(k, _)| if k == 0 { "---" } else { "---:" }).collect();
    let _ = writeln!(out, "|{}|", rule.join("|"));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

/// The page's name in its folder.
pub const FILE: &str = "stable-spaces.md";

/// Writes the report and its plots; returns where it is.
pub fn write(folder: &Path, study: &Study, cast: &Cast, command: &str, seconds: f64) -> Result<PathBuf> {
    let mut md = String::from("# Stable Spaces, reproduced\n\n");
    let _ = writeln!(
        md,
        "de Aguiar, Sigal, Treuille and Hodgins, *Stable Spaces for Real-time Clothing*, 2010. This page is written by\n\n\
         ```\n{command}\n```\n\nin {:.0} minutes on {} ({} threads), finished simulations not counted again. \
         Every error is a free run: the model sees only the body, from its own order-0 start. Published values stand in \
         brackets.\n",
        seconds / 60.0,
        crate::report::facts::processor(),
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    let [train, test, apart] = study.frames;
    let _ = writeln!(
        md,
        "**What differs.** Motion: {} ({train} frames at 30 Hz to train with {} windows stops{} included, {test} to test, \
         {apart} apart; theirs 6,609, 33,045 and 9,881 of one actor). Body and garment: ours. Simulator: ours, with \
         measured fabric; theirs Maya nCloth. Our models have a bias and `cos − 1`; the printed form is below.\n",
        cast.source,
        study.windows,
        if study.mirrored { " and mirror images" } else { "" }
    );
    let rows: Vec<Vec<String>> = goals(study)
        .into_iter()
        .map(|(what, value, wanted, met)| {
            vec![what, number(value, 2), wanted, if met { "yes" } else { "**no**" }.into()]
        })
        .collect();
    md.push_str("## In short\n\n");
    table(&mut md, &["what", "ours", "wanted", "met"], &rows);

    dims_table(&mut md, study);
    order_table(&mut md, study);
    variants::resolution_table(&mut md, &study.resolutions);
    garment_table(&mut md, study);
    main_section(&mut md, study);
    let plots = plots(study);
    md.push_str("## Plots\n\n");
    for (name, chart) in &plots {
        let _ = writeln!(md, "![{}](stable-spaces-{name}.svg)\n", chart.title);
        let path = folder.join(format!("stable-spaces-{name}.svg"));
        toile_assets::write::write_atomically(&path, chart.svg().as_bytes())?;
    }
    let path = folder.join(FILE);
    toile_assets::write::write_atomically(&path, md.as_bytes())?;
    Ok(path)
}

fn dims_table(md: &mut String, study: &Study) {
    md.push_str("## Table 2: dimensions, cm\n\n");
    let mut rows = Vec::new();
    for r in &study.by_dims {
        let theirs = TABLE_2.iter().find(|t| t.0 == r.dims);
        let k = kind_index(r.kind);
        let beside = |v: f64, t: Option<f64>| match t {
            Some(t) => format!("{} ({t:.2})", number(v, 2)),
            None => number(v, 2),
        };
        rows.push(vec![
            format!("{} {:?}", r.dims, r.kind),
            format!("{}+{}", r.got[0], r.got[1]),
            beside(r.train_cm, theirs.map(|t| t.1[k])),
            beside(r.test_cm, theirs.map(|t| t.2[k])),
            number(r.projection_cm, 2),
            number(r.after_stops_cm, 2),
            number(r.liveliness, 2),
            number(r.correlation, 2),
            number(r.rho, 4),
            number(r.rho_before, 4),
            number(r.tightness[0], 1),
        ]);
    }
    let headers = [
        "dims, model",
        "got",
        "train",
        "test",
        "projection",
        "after stops",
        "liveliness",
        "correlation",
        "ρ",
        "ρ unaided",
        "bound / travel",
    ];
    table(md, &headers, &rows);
    let unaided = study.by_dims.iter().chain(&study.by_order).filter(|r| r.order > 0);
    let (all, stable) = unaided.fold((0, 0), |(a, s), r| (a + 1, s + usize::from(r.rho_before < 1.0)));
    let _ = writeln!(
        md,
        "Least squares alone was stable in {stable} of {all} models with memory; all carry a certificate.\n"
    );
    if let Some(note) = trend(&study.by_dims) {
        let _ = writeln!(md, "{note}\n");
    }
}

/// What the published table shows and whether ours does.
fn trend(rows: &[Row]) -> Option<String> {
    let best = |kind: ModelKind| {
        rows.iter().filter(|r| r.kind == kind).min_by(|a, b| a.test_cm.total_cmp(&b.test_cm)).map(|r| r.dims)
    };
    Some(format!(
        "Least test error at {} (A), {} (B) and {} (C) dims; theirs at 80, 64 and 64.",
        best(ModelKind::A)?,
        best(ModelKind::B)?,
        best(ModelKind::C)?
    ))
}

fn order_table(md: &mut String, study: &Study) {
    md.push_str("## Table 3: order of model C at 64 dims, cm\n\n");
    let rows: Vec<Vec<String>> = study
        .by_order
        .iter()
        .map(|r| {
            let t = TABLE_3.get(r.order).copied().unwrap_or([f64::NAN; 2]);
            vec![
                r.order.to_string(),
                format!("{} ({:.2})", number(r.train_cm, 2), t[0]),
                format!("{} ({:.2})", number(r.test_cm, 2), t[1]),
                number(r.liveliness, 2),
                number(r.after_stops_cm, 2),
                number(r.rho, 4),
                number(r.rho_before, 4),
            ]
        })
        .collect();
    table(md, &["order", "train", "test", "liveliness", "after stops", "ρ", "ρ unaided"], &rows);
    let ends = |pick: fn(f64, f64) -> bool| {
        study.by_order.iter().fold(None::<&Row>, |b, r| match b {
            Some(b) if !pick(r.test_cm, b.test_cm) => Some(b),
            _ => Some(r),
        })
    };
    if let (Some(least), Some(most)) = (ends(|a, b| a < b), ends(|a, b| a > b)) {
        let _ = writeln!(md, "Best order {} (theirs 2), worst {} (theirs 1).\n", least.order, most.order);
    }
}

fn garment_table(md: &mut String, study: &Study) {
    md.push_str("## Table 1: garments\n\n");
    let rows: Vec<Vec<String>> = study
        .garments
        .iter()
        .map(|g| {
            let theirs = published(&g.name);
            let beside = |v: String, t: Option<String>| t.map_or(v.clone(), |t| format!("{v} ({t})"));
            let speedup = g.full_ms * 1e3 / g.total_us.max(1e-9);
            vec![
                g.name.clone(),
                g.vertices.to_string(),
                g.triangles.to_string(),
                beside(number(g.rho, 4), theirs.map(|t| number(t.1, 4))),
                number(g.rho_before, 4),
                number(g.model_us, 1),
                beside(number(g.total_us, 1), theirs.map(|t| number(t.2 * 1e6, 0))),
                beside(number(g.full_ms, 1), theirs.map(|t| number(t.3 * 1e3, 0))),
                beside(number(speedup, 0), theirs.map(|t| number(t.3 / t.2, 0))),
                number(g.mean_cm, 2),
            ]
        })
        .collect();
    let headers = [
        "garment",
        "vertices",
        "triangles",
        "λ",
        "λ unaided",
        "model µs",
        "total µs",
        "simulated ms",
        "speed-up",
        "mean cm",
    ];
    table(md, &headers, &rows);
    md.push_str(
        "Times are one garment and frame on one thread. The published model time, 4.8e-08 s, is implausible (it leaves \
         a 3 GHz core 144 cycles for more than ten thousand multiplications) and nothing is computed from it. Garments \
         beside the first are trained on a few clips and scored on one they have not seen: their errors say less.\n\n",
    );
    for p in &study.pairs {
        let _ = writeln!(
            md,
            "One cut, two fabrics (their Figure 4): {} and {} on the same unseen motion are {} cm apart as models and {} cm as \
             simulations; the models' own errors are {} and {} cm.\n",
            p.names[0],
            p.names[1],
            number(p.apart_cm, 2),
            number(p.truths_apart_cm, 2),
            number(p.errors_cm[0], 2),
            number(p.errors_cm[1], 2)
        );
    }
}

fn main_section(md: &mut String, study: &Study) {
    let (Some(main), Some(e)) = (&study.main, &study.evaluation) else { return };
    md.push_str("## Model C, 64 dimensions\n\n");
    let mut rows = Vec::new();
    let mut row = |name: &str, values: [f64; 4]| {
        let mut cells = vec![name.to_string()];
        cells.extend(values.iter().map(|v| number(*v, 2)));
        rows.push(cells);
    };
    row("model C", [main.test_cm, main.liveliness, main.correlation, main.after_stops_cm]);
    if let Some(p) = &study.printed {
        row(
            "printed form (no bias, plain cosine)",
            [p.test_cm, p.liveliness, p.correlation, p.after_stops_cm],
        );
    }
    if let Some(p) = &study.one_step {
        row("one-step least squares only", [p.test_cm, p.liveliness, p.correlation, p.after_stops_cm]);
    }
    row("order 0 (model A)", [e.kinematic_cm, f64::NAN, f64::NAN, e.kinematic_after_stops_cm]);
    if let Some(b) = &study.baselines {
        row("nearest neighbour", [b.nearest_cm, f64::NAN, f64::NAN, f64::NAN]);
        row("kernel regression", [b.kernel_cm, f64::NAN, f64::NAN, f64::NAN]);
    }
    row("skinning", [e.skin_cm, f64::NAN, f64::NAN, f64::NAN]);
    row("projection of the truth", [e.projection_cm, f64::NAN, f64::NAN, f64::NAN]);
    if let Some(t) = &study.twins {
        row(
            "the simulation itself, nudged by 0.1 mm",
            [t.mean_cm, t.liveliness, t.correlation, t.after_stops_cm],
        );
    }
    table(md, &["", "test cm", "liveliness", "correlation", "second after stops, cm"], &rows);
    prose(md, study, main, e);
    md.push_str("### Apart\n\n");
    let rows: Vec<Vec<String>> = study
        .apart
        .iter()
        .map(|(name, v)| {
            let mut cells = vec![name.clone()];
            cells.extend(v.iter().map(|v| number(*v, 2)));
            cells
        })
        .collect();
    table(md, &["clips", "model C cm", "order 0 cm", "skinning cm", "out of range %"], &rows);
    variants::rotation_table(md, &study.rotations);
    variants::speed_table(md, &study.speeds);
}

/// What the table of the main model does not say: what can be known, its depth, its bound and its swing.
fn prose(md: &mut String, study: &Study, main: &Row, e: &Evaluation) {
    if let Some(t) = &study.twins {
        let _ = writeln!(
            md,
            "**What can be known.** The test clips were simulated twice, from starts that differ by 0.1 mm ({} pairs). They end {} cm \
             apart, so the mean of all such twins, the best anyone could foretell from the body alone, is about {} cm off \
             (that over √2), with liveliness and correlation of about {} (the root of {}). Model C is {} times that far off.\n",
            t.pairs,
            number(t.mean_cm, 2),
            number(t.mean_cm / 2.0f64.sqrt(), 2),
            number(t.correlation.max(0.0).sqrt(), 2),
            number(t.correlation, 2),
            number(main.test_cm / (t.mean_cm / 2.0f64.sqrt()), 2)
        );
    }
    let _ = writeln!(
        md,
        "Trained in {:.1} s (theirs 1.5 h on four cores){}. Inside the body: {} % of vertices, deepest {} mm (simulated: \
         {} %, {} mm). Out of range in {:.1} % of frames.\n",
        study.train_secs,
        if main.horizon > 0 { format!(", refined over {} frames", main.horizon) } else { String::new() },
        number(e.penetration_percent, 2),
        number(e.deepest_mm, 1),
        number(e.truth_penetration_percent, 2),
        number(e.truth_deepest_mm, 1),
        e.out_of_range_percent
    );
    if let Some(w) = &study.worst {
        let _ = writeln!(
            md,
            "No vertex can be farther than {:.0} cm from its mean, {:.1} times what training saw ({:.1} at trained \
             speeds). The worst input found reaches {:.1} % of that bound; no vertex went beyond {:.1} % of its own.\n",
            w.bound_cm, main.tightness[0], main.tightness[1], w.attained_percent, w.largest_percent
        );
    }
    if let Some(s) = e.settling() {
        let _ = writeln!(
            md,
            "After stops ({} of {} swing back by a sixth or more; the others fall to rest, and a frequency or decrement fitted to \
             them means nothing): {} Hz (simulated {}), decrement {} ({}), {} of the truth's way to rest over 1 s.\n",
            s.swinging,
            s.stops,
            number(s.hz[1], 2),
            number(s.hz[0], 2),
            number(s.decrement[1], 2),
            number(s.decrement[0], 2),
            number(s.error_ratio, 2)
        );
    }
}

/// Plots by the names of their files.
fn plots(study: &Study) -> Vec<(String, Chart)> {
    let mut plots = Vec::new();
    let line = |kind: ModelKind| {
        let points = study.by_dims.iter().filter(|r| r.kind == kind);
        Line::new(format!("{kind:?}"), points.map(|r| (r.dims as f64, r.test_cm)).collect())
    };
    let theirs = |k: usize, name: &str| {
        Line::new(name, TABLE_2.iter().map(|t| (t.0 as f64, t.2[k])).collect()).dashed()
    };
    plots.push((
        "dims".into(),
        Chart {
            title: "Table 2: error on test clips".into(),
            x_label: "dimensions".into(),
            y_label: "mean vertex error, cm".into(),
            lines: vec![
                line(ModelKind::A),
                line(ModelKind::B),
                line(ModelKind::C),
                theirs(0, "A, 2010"),
                theirs(1, "B, 2010"),
                theirs(2, "C, 2010"),
            ],
            from_zero: true,
        },
    ));
    let Some(e) = &study.evaluation else { return plots };
    let seconds = |v: &[f32]| v.iter().enumerate().map(|(f, v)| (f as f64 / 30.0, f64::from(*v))).collect();
    // Those that swing first: there is more to see.
    let (swinging, falling): (Vec<_>, Vec<_>) = e.stops.iter().partition(|s| s.swings);
    for (k, s) in swinging.into_iter().chain(falling).take(3).enumerate() {
        plots.push((
            format!("stop{}", k + 1),
            Chart {
                title: format!("After a stop: {}, frame {}", s.clip, s.frame),
                x_label: "seconds after the stop".into(),
                y_label: "along the main swing, cm".into(),
                lines: vec![
                    Line::new("simulated", seconds(&s.truth_cm)),
                    Line::new("model C", seconds(&s.model_cm)),
                ],
                from_zero: false,
            },
        ));
    }
    if let Some(c) = e.clips.iter().filter(|c| c.stop_frame.is_none()).max_by_key(|c| c.frames) {
        plots.push((
            "clip".into(),
            Chart {
                title: format!("Error over time: {}", c.clip),
                x_label: "seconds".into(),
                y_label: "mean vertex error, cm".into(),
                lines: vec![
                    Line::new("model C", seconds(&c.by_frame_cm)),
                    Line::new("skinning", seconds(&c.skin_by_frame_cm)),
                ],
                from_zero: true,
            },
        ));
    }
    plots
}

/// What the program prints for people.
pub fn text(study: &Study) -> String {
    let mut out = String::new();
    for (what, value, wanted, met) in goals(study) {
        let _ = writeln!(
            out,
            "{what:56} {value:8.2}   wanted {wanted:14} {}",
            if met { "met" } else { "not met" }
        );
    }
    out
}

/// What it prints for machines.
pub fn json(study: &Study, page: &Path) -> Value {
    let row = |r: &Row| {
        json!({
            "model": format!("{:?}", r.kind), "order": r.order, "dims": r.dims, "train_cm": r.train_cm,
            "test_cm": r.test_cm, "liveliness": r.liveliness, "correlation": r.correlation, "rho": r.rho,
            "rho_before": r.rho_before, "tightness": r.tightness[0],
        })
    };
    let goals: Vec<Value> = goals(study)
        .into_iter()
        .map(|(name, ours, wanted, pass)| json!({"name": name, "ours": ours, "wanted": wanted, "pass": pass}))
        .collect();
    json!({
        "table2": study.by_dims.iter().map(row).collect::<Vec<_>>(),
        "table3": study.by_order.iter().map(row).collect::<Vec<_>>(),
        "twins_cm": study.twins.map(|t| t.mean_cm), "goals": goals, "report": page,
    })
}
