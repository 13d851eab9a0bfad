//! What an artist paints onto a garment, vertex by vertex.

use crate::{Error, Result};
use toile_model::layers::Layer;

/// Attributes of simulation vertices. Each list is empty where nothing is painted, else it has one entry a vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paint {
    /// Layer that a vertex is to be in, for the tier `layered`; `None` leaves it to the distance from the skin.
    pub layer: Vec<Option<Layer>>,
    /// How far a vertex may leave its skinned place, m; 0 holds it there.
    pub max_distance_m: Vec<f32>,
    /// How deep a vertex may go below its skinned place, against its normal, m.
    pub backstop_m: Vec<f32>,
}

impl Paint {
    /// Whether nothing is painted.
    pub fn is_empty(&self) -> bool {
        self.layer.is_empty() && self.max_distance_m.is_empty() && self.backstop_m.is_empty()
    }

    /// Checks counts and ranges for a garment of so many vertices.
    pub fn check(&self, vertices: usize) -> Result<()> {
        let bad = |what: String| Err(Error::Invalid(what));
        let counts = [
            ("layers", self.layer.len()),
            ("max distances", self.max_distance_m.len()),
            ("backstops", self.backstop_m.len()),
        ];
        if let Some((name, count)) = counts.into_iter().find(|(_, n)| *n != 0 && *n != vertices) {
            return bad(format!("{count} painted {name} for {vertices} vertices; paint one for each"));
        }
        for (name, values) in [("max distance", &self.max_distance_m), ("backstop", &self.backstop_m)] {
            if let Some(v) = values.iter().position(|m| *m < 0.0 || m.is_nan()) {
                return bad(format!(
                    "vertex {v} has a painted {name} of {} m; it wants 0 (held) or more",
                    values[v]
                ));
            }
        }
        Ok(())
    }
}
