//! What training has seen of a body's movement, and what motions ask for that it has not.
//!
//! A frame is looked at part by part: how a part is turned (pose) and how fast it turns (speed), in the canonical frame, and
//! how the root travels and turns. Distances are in tolerances: within 1 of a frame that was seen, a part counts as known.

mod advice;
mod movement;
mod training_frames;

pub use advice::{Added, Advice, Gap, PartLack, advise};
pub use movement::{Aspect, BodyPart, Movement};
pub use training_frames::TrainingFrames;
