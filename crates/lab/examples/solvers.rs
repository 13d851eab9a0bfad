//! The solvers' measures, raw.
use toile_lab::solvers::{METHODS, measure};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    for (name, find) in toile_lab::solvers::findings::CLAIMS
        .iter()
        .filter(|c| args[0] == "claims" && (args.len() < 2 || args[1..].contains(&c.0.to_string())))
    {
        let began = toile_lab::cpu_ms();
        let found = find().unwrap();
        println!("{name} {:.0} ms", toile_lab::cpu_ms() - began);
        for r in found.rows {
            println!("  {:5} {:80} {:12.6} {:12.6} {:.2e}", r.pass, r.name, r.ours, r.reference, r.tolerance);
        }
    }
    for name in measure::SCENES.iter().filter(|n| n.contains(&args[0])) {
        let subject = measure::subject(name).unwrap();
        println!("{name}: {} vertices", subject.stage.cloth().len());
        for entry in METHODS
            .iter()
            .filter(|e| e.refusal(name, Default::default()).is_none())
            .filter(|e| args.len() < 2 || args[1..].contains(&e.name.to_string()))
        {
            let m = measure::measure(entry, &subject);
            for r in &m.runs {
                println!(
                    "{:16} 1/{:<6.0} stable {:5} error {:?} drift {:?} stretch {:.5} it {:.0} halv {} ms {:.2}",
                    entry.name,
                    1.0 / r.step_secs,
                    r.stable,
                    r.error,
                    r.drift,
                    r.stretch,
                    r.iterations,
                    r.halvings,
                    r.ms
                );
            }
        }
    }
}
