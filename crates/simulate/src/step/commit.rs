//! Makes the iterate the new state.

use super::Workspace;
use crate::contact::constraint::{self, Contact};
use crate::energy::bending;
use crate::report::StepReport;
use crate::scene::Scene;
use crate::state::{Grip, State};
use glam::DVec3;

/// Takes the iterate as the new state.
pub(super) fn take(scene: &Scene, h: f64, state: &mut State, ws: &mut Workspace, report: &mut StepReport) {
    let mut touching = std::mem::take(&mut state.touching);
    touching.fill(false);
    for g in &mut state.grips {
        g.touching = false;
    }
    for c in &ws.contacts {
        let y = c.point(&ws.x);
        let depth = c.depth(y);
        if c.sample != constraint::NO_SAMPLE {
            report.deepest_m = report.deepest_m.max(depth - c.reach);
            report.normal_impulse += h * c.k * depth.max(0.0);
            report.friction_impulse += h * c.limit.min(c.k_t * c.slide(y).length());
        }
        if depth <= 0.0 {
            continue;
        }
        for k in 0..4 {
            if c.w[k] != 0.0 {
                touching[c.v[k] as usize] = true;
            }
        }
        if c.sample == constraint::NO_SAMPLE {
            report.self_contacts += 1;
            continue;
        }
        report.body_contacts += 1;
        remember(c, y, &mut state.grips[c.sample as usize]);
    }
    std::mem::swap(&mut state.x_before, &mut state.x);
    std::mem::swap(&mut state.v_before, &mut state.v);
    for i in 0..scene.len() {
        let x = ws.x[i];
        state.x[i] = x;
        // A multi-step velocity would read an impact as a bounce.
        state.v[i] = if touching[i] { (x - state.x_before[i]) / h } else { (x - ws.base[i]) / ws.beta[i] };
    }
    bending::angles(0..scene.hinges.len() as u32, &scene.hinges, &state.x, &state.angles, &mut ws.angles);
    std::mem::swap(&mut state.angles, &mut ws.angles);
    state.touching = touching;
    state.step_before_secs = h;
    state.secs += h;
}

/// Notes how a contact that presses at `y` is pressed and held. One memory per sample: the contact that presses hardest
/// keeps it, of those with friction if there are any.
pub(crate) fn remember(c: &Contact, y: DVec3, grip: &mut Grip) {
    let force = c.k * c.depth(y);
    if grip.touching && (grip.rubs, grip.normal_force) > (c.friction > 0.0, force) {
        return;
    }
    let mut stretch = c.slide(y);
    let most = c.friction * force / c.k_t;
    if stretch.length() > most {
        stretch *= most / stretch.length();
    }
    *grip = Grip { touching: true, rubs: c.friction > 0.0, stretch, normal_force: force };
}
