//! A garment is learned from two takes and scored, by a free run, on a third that it has not seen.

#[path = "tailor/mod.rs"]
mod tailor;

use toile::assets::{AttachmentSettings, attach, builtin};
use toile::learn;
use toile::simulate::Recorder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tailor::Tailored { body, garment, takes, model } = tailor::skirt()?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let unseen = tailor::clip("walk:1.1", &body)?;
    let truth = Recorder::new(&body, &garment).record(&fabric, &unseen)?;

    // Skinned cloth, to be compared with, starts from the garment as it hangs.
    let mut hanging = garment.sim.clone();
    hanging.positions.copy_from_slice(takes[0].frame(0));
    let attachment = match &model.attachment {
        Some(own) => own.clone(),
        None => attach(&body, &hanging, &AttachmentSettings::default())?,
    };
    let scores = learn::evaluate(&model, &[truth], &attachment, Some(&body));
    println!(
        "learned from {} frames: {:.2} cm off in a free run (skinned {:.2} cm), ρ {:.3}, {:.1} µs a frame",
        takes.iter().map(|t| t.len()).sum::<usize>(),
        scores.mean_cm,
        scores.skin_cm,
        model.certificate.rho,
        scores.us_per_frame
    );
    assert!(model.certificate.rho < 1.0, "every model contracts");
    assert!(model.verify_certificate().is_ok(), "and says so in a way that can be checked");
    assert!(scores.mean_cm > 0.0 && scores.mean_cm < 15.0, "a few clips do not make it good, but a skirt");
    Ok(())
}
