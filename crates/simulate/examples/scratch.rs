//! scratch
fn main() -> toile_simulate::Result<()> {
    let run = toile_simulate::lab::scenes::twist(toile_simulate::lab::scenes::Size::Full, 1)?;
    println!("{:?} {} {} {:?}", run.crossings, run.strain, run.retries, run.stuck);
    for (k, s) in run.shots.iter().enumerate() {
        let mut out = String::new();
        for p in &s.pieces[0].positions { out += &format!("v {} {} {}\n", p.x, p.y, p.z); }
        for t in &s.pieces[0].triangles { out += &format!("f {} {} {}\n", t[0], t[1], t[2]); }
        std::fs::write(format!("/work/wt/lab-data/twist{k}.obj"), out).unwrap();
    }
    Ok(())
}
