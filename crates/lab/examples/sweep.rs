//! Scenario S over the settings that a user can make cheaper: what is the least that a valid run costs?
//!
//! `cargo run --release -p toile-lab --example sweep -- N [RUNS [STEPS,… LINEAR,… MILLIMETRES,… NEWTON,…]] [nofine]`. A
//! frame's time is the mean of RUNS, by processor time, whose clock may tick every 4 ms: a run does the same each time.

use toile_lab::{Measures, percentile, scenario_s_finer, scenario_s_with};
use toile_simulate::Settings;

fn main() -> toile_simulate::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers = |k: usize, usual: &[f64]| match args.get(k) {
        Some(list) => list.split(',').filter_map(|a| a.parse().ok()).collect(),
        None => usual.to_vec(),
    };
    let n = numbers(0, &[28.0])[0] as usize;
    let runs = numbers(1, &[5.0])[0] as usize;
    let fine = match args.iter().any(|a| a == "nofine") {
        true => None,
        false => Some(scenario_s_finer(n, 8.0)?.centre_m),
    };
    println!("n {n}: centre with finer steps {fine:.4?}");
    for steps in numbers(2, &[1.0, 2.0, 3.0, 4.0]) {
        for linear in numbers(3, &[0.01, 0.03, 0.1]) {
            for tolerance in numbers(4, &[0.02, 0.1, 0.5]) {
                for newton in numbers(5, &[40.0]) {
                    let settings = Settings::default().with(|s| {
                        s.max_step_secs = 1.0 / 30.0 / steps;
                        s.linear_tolerance = linear;
                        s.tolerance_m = tolerance * 1e-3;
                        s.max_newton = newton as usize;
                    });
                    let name = format!("{steps} steps, linear {linear}, {tolerance} mm, newton {newton}");
                    match repeated(n, settings, runs) {
                        Ok((m, ms)) => println!("{name}: {}", line(&m, &ms, fine)),
                        Err(e) => println!("{name}: {e}"),
                    }
                }
            }
        }
    }
    Ok(())
}

/// The measures of a run, and the processor time of each frame, mean of all runs, ms.
fn repeated(n: usize, settings: Settings, runs: usize) -> toile_simulate::Result<(Measures, Vec<f64>)> {
    let first = scenario_s_with(n, settings)?;
    let mut mean: Vec<f64> = first.frame_cpu_ms.iter().map(|ms| ms / runs as f64).collect();
    for _ in 1..runs {
        let again = scenario_s_with(n, settings)?;
        mean.iter_mut().zip(&again.frame_cpu_ms).for_each(|(sum, ms)| *sum += ms / runs as f64);
    }
    Ok((first, mean))
}

fn line(m: &Measures, ms: &[f64], fine: Option<f64>) -> String {
    let faults = m.faults(fine);
    format!(
        "median {:.2} ms, mean {:.2} (frames 10 to 69), all {:.2}; strain {:.2} %, deepest {:.2} mm, crossings {}, lowest {:.3}, centre {:.4}, retries {}: {}",
        percentile(&ms[10..70], 0.5),
        ms[10..70].iter().sum::<f64>() / 60.0,
        ms.iter().sum::<f64>() / ms.len() as f64,
        m.p99_strain_percent,
        m.deepest_mm,
        m.crossings,
        m.lowest_m,
        m.centre_m,
        m.retries,
        if faults.is_empty() { "valid".into() } else { format!("NOT VALID: {}", faults.join(", ")) }
    )
}
