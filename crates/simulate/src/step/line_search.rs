//! How far to go along a Newton direction: until the potential falls enough.

use super::WorkingSet;
use super::Workspace;
use crate::contact::constraint::{self, Contact};
use crate::energy::{bending, gravity, inertia, membrane};
use crate::scene::Scene;
use crate::settings::Settings;
use glam::DVec3;

/// The potential at the iterate of what is worked on, up to a constant.
pub(super) fn potential(
    scene: &Scene,
    settings: &Settings,
    angles_before: &[f64],
    ws: &mut Workspace,
) -> f64 {
    let rate = ws.bent_from.rate();
    let (x, set) = (&ws.x, &ws.working);
    let mut energy = 0.0;
    let airy = settings.air_density > 0.0;
    for i in set.vertices.iter().map(|&v| v as usize) {
        let k = inertia::stiffness(scene.mass[i], ws.beta[i]);
        let own = inertia::energy(k, x[i], ws.predicted[i])
            + gravity::energy(scene.mass[i], settings.gravity, x[i]);
        energy += if airy { own + ws.drag(i).energy(x[i]) } else { own };
    }
    let held = ws.leashes.iter().filter(|l| set.has[l.vertex as usize]);
    energy += held.map(|l| l.energy(x[l.vertex as usize])).sum::<f64>();
    for t in set.triangles.iter().map(|&t| t as usize) {
        energy += membrane::energy(&scene.membrane[t], x, ws.strain_before[t], rate);
    }
    bending::angles(set.hinges.iter().copied(), &scene.hinges, x, angles_before, &mut ws.angles);
    energy += bent(scene, set, &ws.bent_from, &ws.angles, &mut ws.moments);
    energy + pressed(&ws.contacts, set, x)
}

/// Energy and moments of bending of what is worked on.
pub(super) fn bent(
    scene: &Scene,
    set: &WorkingSet,
    datum: &bending::Datum,
    angles: &[f64],
    moments: &mut [f64],
) -> f64 {
    if set.whole {
        return datum.energy_and_moments(&scene.bending, angles, moments);
    }
    let mut others = angles.to_vec();
    set.hinges.iter().for_each(|&h| others[h as usize] = 0.0);
    datum.energy_and_moments_of(&set.hinges, &scene.bending, (angles, &others), moments)
}

/// Energy of the contacts of what is worked on.
pub(super) fn pressed(contacts: &[Contact], set: &WorkingSet, x: &[DVec3]) -> f64 {
    contacts.iter().filter(|c| set.feels(&c.v)).map(|c| constraint::energy(c, x)).sum()
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
