//! What the later examples begin with: a small skirt, simulated on two short clips and learned.

use std::sync::Arc;
use toile::assets::{Body, Garment, Model, Motion, Take, builtin};
use toile::learn;
use toile::simulate::Recorder;

/// A wearer, a garment and what was learned of it. Not every example looks at all of it.
#[allow(dead_code)]
pub struct Tailored {
    pub body: Body,
    pub garment: Garment,
    pub takes: Vec<Take>,
    pub model: Arc<Model>,
}

/// The first second or so of a built-in motion.
pub fn clip(name: &str, body: &Body) -> Result<Motion, Box<dyn std::error::Error>> {
    Ok(builtin::motion(name, &body.skeleton)?.trimmed(0.0, 1.2)?)
}

/// Simulates and learns; seconds of work.
pub fn skirt() -> Result<Tailored, Box<dyn std::error::Error>> {
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment("skirt:300", &body)?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let mut takes = Vec::new();
    for name in ["walk:0.9", "walk:1.3"] {
        let motion = clip(name, &body)?;
        takes.push(Recorder::new(&body, &garment).record(&fabric, &motion)?);
    }
    let model = learn::train(&body, &takes, &learn::Settings::default())?.model;
    Ok(Tailored { body, garment, takes, model: Arc::new(model) })
}
