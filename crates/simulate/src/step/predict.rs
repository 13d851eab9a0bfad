//! Where a step leads without forces, and what damping measures from.

use super::Workspace;
use crate::energy::air;
use crate::scene::Scene;
use crate::settings::{Integrator, Settings};
use crate::state::State;
use glam::DMat3;

/// `[(1+ω)²/(1+2ω), ω²/(1+2ω), β]` for a step of `h` that is ω times the one before.
pub fn coefficients(h: f64, w: f64) -> [f64; 3] {
    let d = 1.0 / (1.0 + 2.0 * w);
    [(1.0 + w) * (1.0 + w) * d, w * w * d, h * (1.0 + w) * d]
}

/// Targets of the integrator for every vertex.
pub(super) fn predict(scene: &Scene, settings: &Settings, h: f64, state: &State, ws: &mut Workspace) {
    let bdf2 = settings.integrator == Integrator::Bdf2 && state.step_before_secs > 0.0;
    let ratio = if bdf2 { h / state.step_before_secs } else { 0.0 };
    for i in 0..scene.len() {
        let [now, before, beta] = coefficients(h, if state.touching[i] { 0.0 } else { ratio });
        ws.beta[i] = beta;
        ws.base[i] = state.x[i] * now - state.x_before[i] * before;
        let v = state.v[i] * now - state.v_before[i] * before;
        ws.predicted[i] = ws.base[i] + v * beta;
    }
}

/// Strains and angles that the strain-rate damping measures from, and the air's resistance.
pub(super) fn start_dissipation(
    scene: &Scene,
    settings: &Settings,
    h: f64,
    state: &State,
    ws: &mut Workspace,
) {
    for (el, s) in scene.membrane.iter().zip(&mut ws.strain_before) {
        *s = el.strain(&state.x);
    }
    ws.damping.fill(DMat3::ZERO);
    if settings.air_density > 0.0 {
        // Velocities and places as they will be at the end of the step: taken from its start, the lag alone would
        // damp a swing by a few per cent.
        let ahead = if state.step_before_secs > 0.0 { h / state.step_before_secs } else { 0.0 };
        for i in 0..scene.len() {
            ws.move_[i] = state.v[i] + (state.v[i] - state.v_before[i]) * ahead - ws.air[i];
            ws.x_try[i] = state.x[i] + state.v[i] * h;
        }
        for t in &scene.triangles {
            let half_density_drag = 0.5 * settings.air_density * scene.fabric_of(t[0]).drag;
            air::add_damping(*t, &ws.x_try, &ws.move_, half_density_drag, &mut ws.damping);
        }
    }
}
