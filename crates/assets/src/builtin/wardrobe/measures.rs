//! What was measured, for people.

use super::form::Form;
use super::stand::Stand;
use std::fmt;

/// Heights, girths and breadths of a body in metres, as clothes are cut for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Metres of the character for a metre of the adult it was measured as.
    pub scale: f64,
    /// Heights of shoulder joint, armpit, bust, waist, hips and knee above the soles.
    pub heights: [f64; 6],
    /// Around bust, waist and hips.
    pub girths: [f64; 3],
    /// Half of the neck and half of the way from shoulder joint to shoulder joint.
    pub halves: [f64; 2],
}

impl Measures {
    pub(super) fn of(stand: &Stand, form: &Form) -> Self {
        let s = stand.scale();
        let heights = [form.shoulder.y, form.armpit_y, form.bust_y, form.waist_y, form.hip_y, form.knee_y];
        let girths = [form.bust_y, form.waist_y, form.hip_y].map(|y| form.trunk.girth(y));
        Self {
            scale: s,
            heights: heights.map(|h| h * s),
            girths: girths.map(|g| g * s),
            halves: [form.neck_half * s, form.shoulder.x * s],
        }
    }
}

impl Measures {
    /// As measured on the stand, where every wearer is an adult.
    pub(super) fn on_stand(&self) -> Self {
        Self {
            scale: 1.0,
            heights: self.heights.map(|h| h / self.scale),
            girths: self.girths.map(|g| g / self.scale),
            halves: self.halves.map(|h| h / self.scale),
        }
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cm =
            |list: &[f64]| list.iter().map(|m| format!("{:.1}", 100.0 * m)).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "shoulder, armpit, bust, waist, hip and knee at {} cm; bust, waist and hips {} cm around; half neck and \
             shoulder {} cm",
            cm(&self.heights),
            cm(&self.girths),
            cm(&self.halves)
        )?;
        if self.scale == 1.0 { Ok(()) } else { write!(f, "; {:.2} of an adult", self.scale) }
    }
}
