//! The report's tables. Figures come out of the JSON that the command prints, so that page and JSON agree.

use serde_json::Value;
use toile_learn::Evaluation;
use toile_show::Page;

/// A figure by its key (dots lead into objects) with so many decimals; a dash where it was not measured.
pub fn figure(value: &Value, key: &str, decimals: usize) -> String {
    let found = key.split('.').try_fold(value, |v, part| v.get(part)).and_then(Value::as_f64);
    found.map_or("–".into(), |v| format!("{v:.decimals$}"))
}

fn text(value: &Value, key: &str) -> String {
    match key.split('.').try_fold(value, |v, part| v.get(part)) {
        Some(Value::String(s)) => s.clone(),
        Some(Value::Null) | None => "–".into(),
        Some(other) => other.to_string(),
    }
}

fn pairs(page: &mut Page, headers: [&str; 2], rows: &[(&str, String)]) {
    let rows: Vec<Vec<String>> = rows.iter().map(|(k, v)| vec![(*k).to_string(), v.clone()]).collect();
    page.table(&headers, &rows);
}

/// Verdict, what was done, and the figures that matter most.
pub fn opening(page: &mut Page, value: &Value) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    let rows = value["gate"].as_array().map_or(0, Vec::len);
    let failed = value["gate"].as_array().map_or(0, |g| g.iter().filter(|r| r["pass"] == false).count());
    let pass = value["pass"].as_bool().unwrap_or(false);
    let said = if rows == 0 {
        "without a gate all that is asked for is to be nearer to the simulation than skinning.".into()
    } else if pass {
        format!("all {rows} limits of the gate are kept.")
    } else {
        format!("{failed} of the gate's {rows} limits are not kept; see the gate below.")
    };
    page.verdict(pass, &said);
    let clips = |key: &str| {
        let count = value[key].as_u64().unwrap_or(0);
        format!("{count} clip{}", if count == 1 { "" } else { "s" })
    };
    let learned = if value["train_frames"].is_number() {
        format!("{} frames of {}", text(value, "train_frames"), clips("train_clips"))
    } else {
        format!("{} windows of frames", figure(value, "windows", 0))
    };
    page.paragraph(&format!(
        "The garment “{}” in {} was simulated on “{}”, and a linear model of its motion learned from {learned}. It was \
         then judged on {} that it was not trained on.",
        text(value, "garment"),
        text(value, "fabric"),
        text(value, "body"),
        clips("test_clips")
    ));
    let mut facts = vec![
        (
            "mean error, unseen clips",
            format!("{} cm", n("mean_cm", 2)),
            format!("skinned {} cm, best of its space {} cm", n("skin_cm", 2), n("projection_cm", 2)),
        ),
        (
            "liveliness, 1 is right",
            n("liveliness", 2),
            format!("its velocities correlate {} with the simulation's", n("correlation", 2)),
        ),
        (
            "cost, one garment and frame",
            format!("{} µs", n("us_per_frame", 1)),
            format!("simulated {} ms", n("simulated_ms_per_frame", 1)),
        ),
    ];
    if value["crowd"].is_object() {
        facts.push((
            "a crowd of them",
            format!("{} ms", n("crowd.mean_ms", 2)),
            format!(
                "{} garments, one core: {} % of a frame at 60 Hz",
                text(value, "crowd.count"),
                n("crowd.share_of_60hz_percent", 0)
            ),
        ));
    }
    facts.push((
        "certified",
        format!("ρ {}", n("rho", 3)),
        format!("never farther than {} cm from its mean", n("travel_bound_cm", 0)),
    ));
    facts.push((
        "size",
        format!("{:.0} kB", value["bytes"].as_f64().unwrap_or(0.0) / 1024.0),
        format!("{} vertices, {} dimensions", text(value, "vertices"), text(value, "cloth_dims")),
    ));
    page.facts(&facts);
}

/// Clip by clip.
pub fn clips(page: &mut Page, e: &Evaluation) {
    let rows: Vec<Vec<String>> = e
        .clips
        .iter()
        .map(|c| {
            let name =
                c.stop_frame.map_or_else(|| c.clip.clone(), |at| format!("{} stopped at {at}", c.clip));
            let numbers = [c.mean_cm, c.p95_cm, c.max_cm, c.skin_cm, c.projection_cm, c.kinematic_cm];
            [name, c.frames.to_string()]
                .into_iter()
                .chain(numbers.iter().map(|v| format!("{v:.2}")))
                .collect()
        })
        .collect();
    page.table(
        &["clip", "frames", "mean cm", "p95 cm", "max cm", "skinned cm", "projection cm", "order 0 cm"],
        &rows,
    );
}

/// Stop by stop.
pub fn stops(page: &mut Page, e: &Evaluation) {
    if e.stops.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = e
        .stops
        .iter()
        .map(|s| {
            let swing = |v: f64| if s.swings { format!("{v:.2}") } else { "–".into() };
            let mut row = vec![format!("{} at {}", s.clip, s.frame)];
            row.extend([s.truth_hz, s.model_hz, s.truth_decrement, s.model_decrement].map(swing));
            row.push(format!("{:.2}", s.error_ratio));
            row
        })
        .collect();
    page.table(
        &[
            "stop",
            "simulated Hz",
            "learned Hz",
            "simulated decrement",
            "learned decrement",
            "error over way to rest",
        ],
        &rows,
    );
    page.paragraph(
        "Decrement: logarithm of the ratio of two swings a period apart. The last column is the distance over the first \
         second divided by the simulation's own distance to rest; 1 is what cloth that does not swing at all would get. \
         Dashes: the simulation itself does not swing regularly there.",
    );
}

/// What the file promises and how tight that is.
pub fn certificate(page: &mut Page, value: &Value) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    pairs(
        page,
        ["certificate", "value"],
        &[
            ("spectral radius, as shipped", n("rho", 4)),
            ("of the least-squares fit, before it was enforced", n("rho_before", 4)),
            ("contraction factor γ", n("gamma", 4)),
            ("most that memory alone can grow before it decays", format!("{} times", n("transient_gain", 1))),
            ("farthest a vertex was from its mean in training", format!("{} cm", n("training_travel_cm", 0))),
            ("farthest it can ever be, whatever it is fed", format!("{} cm", n("travel_bound_cm", 0))),
            ("… over what training saw (tightness)", format!("{} times", n("tightness", 1))),
            (
                "farthest it can be with motion at trained speeds",
                format!("{} cm", n("travel_bound_rate_cm", 0)),
            ),
            ("… over what training saw", format!("{} times", n("tightness_rate", 1))),
            ("inputs clamped per frame, unseen clips", n("clamped_per_frame", 3)),
        ],
    );
}

/// Model and truth.
pub fn penetration(page: &mut Page, value: &Value) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    let row = |name: &str, share: &str, deepest: &str| {
        vec![name.to_string(), format!("{} %", n(share, 2)), format!("{} mm", n(deepest, 1))]
    };
    page.table(
        &["cloth", "vertices inside", "deepest"],
        &[
            row("simulated", "truth_penetration_percent", "truth_deepest_mm"),
            row("learned", "penetration_percent", "deepest_mm"),
        ],
    );
}

/// What a frame costs by every tier, and a crowd.
pub fn cost(page: &mut Page, value: &Value) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    let mut rows = vec![
        ("simulated, one garment", format!("{} ms", n("simulated_ms_per_frame", 1))),
        ("skinned, one garment", format!("{} µs", n("skin_us_per_frame", 1))),
        ("learned, one garment", format!("{} µs", n("us_per_frame", 1))),
        ("… of it the latent step", format!("{} µs", n("us_latent", 1))),
    ];
    let crowd = format!("{} learned garments, one core", text(value, "crowd.count"));
    if value["crowd"].is_object() {
        rows.push((&crowd, format!("{} ms", n("crowd.mean_ms", 2))));
        rows.push(("… of a frame at 60 Hz", format!("{} %", n("crowd.share_of_60hz_percent", 1))));
        rows.push(("… 95 % of frames within", format!("{} ms", n("crowd.p95_ms", 2))));
    }
    pairs(page, ["bones to vertices, a frame", "time"], &rows);
    page.paragraph(&format!(
        "{}, {} cores, {} build. Time for the latent step and all vertices in the world; simulated with as many clips at once as there are cores; the others on one core.",
        text(value, "machine.processor"),
        text(value, "machine.cores"),
        text(value, "machine.build")
    ));
    if let Some(stages) = value["stages"].as_array() {
        let mut rows: Vec<Vec<String>> =
            stages.iter().map(|s| vec![text(s, "stage"), format!("{} s", figure(s, "seconds", 1))]).collect();
        rows.push(vec!["in all".into(), format!("{} s", n("seconds", 1))]);
        page.table(&["stage of this run", "time"], &rows);
        if value["resumed"] == true {
            page.paragraph("The run was resumed: stages that were finished before took no time.");
        }
    }
}

/// Limit by limit.
pub fn gate(page: &mut Page, value: &Value) {
    let rows: Vec<Vec<String>> = value["gate"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|r| {
            let verdict = if r["pass"] == true { "pass" } else { "FAIL" };
            vec![text(r, "key"), figure(r, "value", 3), text(r, "wanted"), verdict.into()]
        })
        .collect();
    page.table(&["figure", "value", "wanted", "verdict"], &rows);
}

/// How it came about.
pub fn settings(page: &mut Page, value: &Value) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    let mut rows = vec![
        ("command", text(value, "command")),
        ("toile", format!("{}, {} build", text(value, "machine.version"), text(value, "machine.build"))),
        ("system", text(value, "machine.system")),
        ("drawn by", text(value, "machine.drawn_by")),
        (
            "model",
            format!(
                "kind {}, order {}, {} cloth and {} body dimensions, {} frames a second",
                text(value, "kind"),
                text(value, "order"),
                text(value, "cloth_dims"),
                text(value, "body_dims"),
                n("fps", 0)
            ),
        ),
        ("ridge, chosen on clips held out of training", text(value, "ridge")),
        ("refined over free runs of", format!("{} frames", n("refined_over_frames", 0))),
        ("windows fitted", n("windows", 0)),
        ("clips it was judged on", text(value, "unseen")),
    ];
    if value["training"].is_string() {
        rows.push(("clips it was trained on", text(value, "training")));
    }
    let solver = text(value, "solver");
    if solver != "–" {
        rows.push(("simulator", solver));
    }
    pairs(page, ["setting", "value"], &rows);
}
