//! Prints the laboratory's rows: ours against the reference. `--long` adds the slow ones.

fn main() -> toile_simulate::Result<()> {
    let long = std::env::args().any(|a| a == "--long");
    for row in toile_simulate::lab::all(long)? {
        let verdict = if row.pass { "pass" } else { "FAIL" };
        println!(
            "{verdict}  {:<62} {:>12.6} {:>12.6} ± {:.1e}",
            row.name, row.ours, row.reference, row.tolerance
        );
    }
    Ok(())
}
