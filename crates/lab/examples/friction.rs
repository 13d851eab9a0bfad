//! How far friction and the life of garments depend on the step.
//!
//! `friction sheet [settings…]` strikes a hanging sheet; `friction GARMENT MOTION FRAMES [settings…]` walks about in a
//! garment. Each of the settings is a list such as `rate=240,newton=3,tight`; the last one is what the others are
//! compared with. A whole run and its twin, nudged by 0.1 mm, are compared with `twin`; `runs=3` gives the mean of three runs,
//! the first as it is and the others nudged by 0.1 and 0.2 mm.

use toile_assets::builtin;
use toile_lab::impact;
use toile_simulate::{DrapeSettings, Settings, drape, ramp};

/// Settings from a list of words.
fn settings(mut s: Settings, words: &str) -> Result<Settings, Box<dyn std::error::Error>> {
    for word in words.split(',').filter(|w| !w.is_empty() && *w != "twin" && !w.starts_with("runs=")) {
        let (name, value) = word.split_once('=').unwrap_or((word, "1"));
        let value: f64 = value.parse()?;
        match name {
            "rate" => s.max_step_secs = 1.0 / value,
            "newton" => s.max_newton = value as usize,
            "linear" => s.linear_tolerance = value,
            "tolerance" => s.tolerance_m = value,
            "stiffness" => s.contact_stiffness = value,
            "tight" => {
                (s.max_newton, s.tolerance_m) = (40, 1e-6);
                (s.linear_tolerance, s.max_linear) = (1e-4, 3000);
            }
            other => return Err(format!("no setting `{other}`").into()),
        }
    }
    Ok(s)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "sheet") {
        for words in &args[1..] {
            for rate in [60.0, 240.0, 960.0] {
                let s = settings(Settings::default(), words)?.with(|s| s.max_step_secs = 1.0 / rate);
                let (friction, r) = impact::struck_sheet(s)?;
                println!(
                    "{words:30} 1/{rate:3} s: friction {friction:6.3} N s, normal {:7.3} N s, newton {} linear {} retries {}",
                    r.normal_impulse, r.newton, r.linear, r.retries
                );
            }
        }
        return Ok(());
    }
    let word = |k: usize, default: &str| args.get(k).cloned().unwrap_or_else(|| default.into());
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment(&word(0, "dress"), &body)?;
    let motion = builtin::motion(&word(1, "walk"), &body.skeleton)?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let frames: usize = word(2, "60").parse()?;
    // All begin alike.
    let base = Settings::worn();
    let mut start = drape(&body, &garment, &fabric, &base, &DrapeSettings::default())?;
    ramp(&mut start, &body, &motion, &DrapeSettings::default())?;
    println!("{} on {}: {} vertices", word(0, "dress"), word(1, "walk"), start.scene.len());
    println!(
        "settings                        speed   hem cm  N·s/s  friction   ms   substeps newton linear retries stretch % held"
    );
    let mut runs = Vec::new();
    for words in &args[3.min(args.len())..] {
        let mut world = start.clone();
        world.settings = settings(base, words)?;
        if words.contains("twin") {
            world.nudge(1e-4);
        }
        let runs_of: u32 = words.split(',').find_map(|w| w.strip_prefix("runs=")?.parse().ok()).unwrap_or(1);
        let mut o = impact::worn(&mut world, &body, &motion, frames)?;
        for k in 1..runs_of {
            let mut again = start.clone();
            again.settings = world.settings;
            again.nudge(1e-4 * f64::from(k));
            let other = impact::worn(&mut again, &body, &motion, frames)?;
            for (mean, value) in [
                (&mut o.internal_speed, other.internal_speed),
                (&mut o.hem_rise_m, other.hem_rise_m),
                (&mut o.friction, other.friction),
                (&mut o.pressed, other.pressed),
                (&mut o.ms, other.ms),
            ] {
                *mean += (value - *mean) / f64::from(k + 1);
            }
        }
        let r = &o.report;
        println!(
            "{words:30} {:6.3} {:8.2} {:7.2} {:7.3} {:7.1} {:7} {:7} {:7} {:6} {:7.1} {:5}",
            o.internal_speed,
            100.0 * o.hem_rise_m,
            o.pressed,
            o.friction,
            o.ms,
            r.substeps,
            r.newton,
            r.linear,
            r.retries,
            100.0 * o.stretch,
            r.held_back
        );
        runs.push((words.clone(), o));
    }
    if let Some((name, reference)) = runs.last() {
        for (words, o) in &runs[..runs.len() - 1] {
            println!(
                "{words:30} from {name}: frame 6 {:.2} mm, frame 12 {:.2} mm, mean {:.2} mm",
                1e3 * o.apart(reference, 5.min(frames - 1)),
                1e3 * o.apart(reference, 11.min(frames - 1)),
                1e3 * o.mean_apart(reference)
            );
        }
    }
    Ok(())
}
