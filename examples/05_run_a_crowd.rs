//! Two hundred skirts at once: the same bits on one thread and on two, and what they cost.

#[path = "tailor/mod.rs"]
mod tailor;

use glam::{DVec3, Quat, Vec3};
use toile::run::{Actor, Crowd, CrowdSettings};

const COUNT: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let made = tailor::skirt()?;
    let take = &made.takes[0];
    let walk = |threads: usize| -> Result<(Vec<Vec3>, f64), Box<dyn std::error::Error>> {
        let mut crowd = Crowd::new(CrowdSettings::default().with(|s| s.threads = threads));
        let model = crowd.add_model(made.model.clone(), COUNT)?;
        let people = (0..COUNT).map(|_| crowd.add(model)).collect::<Result<Vec<_>, _>>()?;
        #[allow(clippy::disallowed_methods)] // what it costs is what is shown
        let begun = std::time::Instant::now();
        for f in 0..take.len() {
            for (k, &who) in people.iter().enumerate() {
                // Everyone on a place of their own, each a few frames behind the one before.
                let position = DVec3::new((k % 20) as f64, 0.0, (k / 20) as f64);
                let actor = Actor { position, rotation: Quat::IDENTITY };
                crowd.set_pose(who, &actor, take.frame_bones(f.saturating_sub(k % 5)))?;
            }
            crowd.step(1.0 / take.fps)?;
            crowd.draw();
        }
        let ms = begun.elapsed().as_secs_f64() * 1e3 / take.len() as f64;
        let mut all = Vec::new();
        for &who in &people {
            all.extend_from_slice(crowd.vertices(who)?);
        }
        Ok((all, ms))
    };
    let (alone, ms) = walk(1)?;
    let (together, _) = walk(2)?;
    println!("{COUNT} skirts of {} vertices: {ms:.2} ms a frame on one thread", made.model.vertices);
    assert!(alone == together, "threads change no bit");
    assert!(alone.iter().all(|p| p.is_finite()));
    assert!(alone[0] != alone[made.model.vertices], "everyone has a place of their own");
    Ok(())
}
