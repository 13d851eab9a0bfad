//! How far to go along a Newton direction: until the potential falls enough.

use super::Workspace;
use crate::contact::constraint;
use crate::energy::{bending, gravity, inertia, membrane};
use crate::scene::Scene;
use crate::settings::Settings;

/// The potential at the iterate.
pub(super) fn potential(
    scene: &Scene,
    settings: &Settings,
    angles_before: &[f64],
    ws: &mut Workspace,
) -> f64 {
    let rate = ws.bent_from.rate();
    let x = &ws.x;
    let mut energy = 0.0;
    for i in 0..scene.len() {
        let k = inertia::stiffness(scene.mass[i], ws.beta[i]);
        energy += inertia::energy(k, x[i], ws.predicted[i])
            + gravity::energy(scene.mass[i], settings.gravity, x[i])
            + ws.drag(i).energy(x[i]);
    }
    for (el, before) in scene.membrane.iter().zip(&ws.strain_before) {
        energy += membrane::energy(el, x, *before, rate);
    }
    bending::angles(&scene.hinges, x, angles_before, &mut ws.angles);
    energy += ws.bent_from.energy_and_moments(&scene.bending, &ws.angles, &mut ws.moments);
    for c in &ws.contacts {
        energy += constraint::energy(c, x);
    }
    energy
}

/// A move that has to lower the energy (Armijo), or be shortened.
pub(super) struct Descent {
    energy: f64,
    slope: f64,
    /// Share of the move that is left.
    pub share: f64,
    left: u32,
}

impl Descent {
    /// A move from where the potential is `energy` and falls by `slope` along it.
    pub fn new(energy: f64, slope: f64) -> Self {
        Self { energy, slope, share: 1.0, left: 12 }
    }

    /// Whether the energy after the move is low enough, or shortening is at its end.
    pub fn falls(&self, after: f64) -> bool {
        // Sums of many terms carry rounding; a move that small is not refused for it.
        self.left == 0 || after <= self.energy + 1e-4 * self.share * self.slope + 1e-12 * self.energy.abs()
    }

    /// Halves the move from `x_try` to `x`.
    pub fn shorten(&mut self, ws: &mut Workspace) {
        self.left -= 1;
        self.share *= 0.5;
        for i in 0..ws.x.len() {
            ws.x[i] = ws.x_try[i] + ws.move_[i] * self.share;
        }
    }
}
