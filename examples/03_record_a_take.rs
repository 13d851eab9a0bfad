//! A second of walking in a skirt is simulated, written as a take and read back.

use toile::assets::{Take, builtin};
use toile::simulate::Recorder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let skirt = builtin::garment("skirt:300", &body)?;
    let fabric = builtin::fabric(&skirt.fabric)?;
    let walk = builtin::motion("walk:1.2", &body.skeleton)?.trimmed(0.0, 1.0)?;

    // Drapes the skirt, brings the wearer to the first frame and records from there.
    let take = Recorder::new(&body, &skirt).record(&fabric, &walk)?;

    let path = std::env::temp_dir().join(format!("toile-example-{}.take", std::process::id()));
    take.write(&path)?;
    let again = Take::read(&path)?;
    std::fs::remove_file(&path)?;
    let stretch = take.reports.iter().map(|r| r.max_stretch_percent).fold(0.0, f32::max);
    let deepest = take.reports.iter().map(|r| r.deepest_mm).fold(0.0, f32::max);
    println!(
        "{} frames of {} vertices; stretched {stretch:.1} % at most, {deepest:.2} mm inside at most",
        take.len(),
        take.vertices
    );
    assert_eq!((take.len(), take.vertices), (31, skirt.sim.positions.len()));
    assert_eq!(again.positions, take.positions, "what is written is what is read");
    assert!(deepest < 10.0, "the skirt is outside of its wearer");
    Ok(())
}
