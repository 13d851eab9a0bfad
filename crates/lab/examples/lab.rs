//! Prints the laboratory's rows: ours against the reference. `--long` adds the slow ones, a word picks cases by name.

fn main() -> toile_simulate::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let long = args.iter().any(|a| a == "--long");
    let words: Vec<&String> = args.iter().filter(|a| !a.starts_with("--")).collect();
    for case in toile_lab::CASES {
        let named = words.iter().any(|w| case.name.contains(w.as_str()));
        if !(named || words.is_empty() && (long || !case.long)) {
            continue;
        }
        let begun = toile_lab::cpu_ms();
        let rows = (case.run)()?.rows;
        println!("{} ({:.1} s)", case.name, 1e-3 * (toile_lab::cpu_ms() - begun));
        for row in rows {
            let verdict = if row.pass { "pass" } else { "FAIL" };
            println!(
                "{verdict}  {:<78} {:>12.6} {:>12.6} ± {:.1e}",
                row.name, row.ours, row.reference, row.tolerance
            );
        }
    }
    Ok(())
}
