//! Energy and gradient of eq. 1 at any place of the cloth: the same terms as in the full simulation, with implicit Euler.

use crate::contact::constraint::{self, Contact};
use crate::energy::air::{self, Air, Drag};
use crate::energy::{bending, gravity, inertia, membrane};
use crate::scene::Scene;
use crate::settings::Settings;
use crate::state::State;
use glam::{DMat3, DVec3};

/// What is fixed in a step, and what was found at the last place.
#[derive(Clone, Debug, Default)]
pub(super) struct Forces {
    /// Of the step, s.
    pub h: f64,
    /// τ/h.
    pub rate: f64,
    predicted: Vec<DVec3>,
    base: Vec<DVec3>,
    air: Vec<DVec3>,
    damping: Vec<DMat3>,
    pub strain_before: Vec<membrane::Strain>,
    bent_from: bending::Datum,
    angles: Vec<f64>,
    moments: Vec<f64>,
    /// ∇θ at the last place.
    pub turns: Vec<bending::Turn>,
    /// dE/dx at the last place; zero where cloth is held.
    pub gradient: Vec<DVec3>,
    /// Contacts that push or hold there, each with its second derivative.
    pub pushes: Vec<(Contact, DMat3)>,
}

impl Forces {
    /// Begins a step of `h` seconds from `state`, for the elastic energy of `scene`: all of the cloth, or sampled triangles with
    /// all of its vertices, whose hinges were at `angles_before`. Air meets all `triangles`.
    pub fn begin(
        &mut self,
        scene: &Scene,
        angles_before: &[f64],
        triangles: &[[u32; 3]],
        settings: &Settings,
        state: &State,
        air: &Air<'_>,
        h: f64,
    ) {
        let n = scene.len();
        (self.h, self.rate) = (h, scene.fabric.damping_secs / h);
        self.base.clone_from(&state.x);
        self.predicted.clear();
        self.predicted.extend(state.x.iter().zip(&state.v).map(|(x, v)| *x + *v * h));
        self.air.clear();
        self.air.extend((0..n).map(|i| air.at(i)));
        self.strain_before.clear();
        self.strain_before.extend(scene.membrane.iter().map(|el| el.strain(&state.x)));
        self.angles.resize(scene.hinges.len(), 0.0);
        self.moments.resize(scene.hinges.len(), 0.0);
        self.turns.resize(scene.hinges.len(), bending::Turn::default());
        self.gradient.resize(n, DVec3::ZERO);
        let rest = &scene.rest_angles;
        self.bent_from.set(&scene.bending, rest, angles_before, self.rate, &mut self.moments);
        self.damping.clear();
        self.damping.resize(n, DMat3::ZERO);
        let half_density_drag = 0.5 * settings.air_density * scene.fabric.drag;
        if half_density_drag > 0.0 {
            let relative: Vec<DVec3> = state.v.iter().zip(&self.air).map(|(v, air)| *v - *air).collect();
            for t in triangles {
                air::add_damping(*t, &self.predicted, &relative, half_density_drag, &mut self.damping);
            }
        }
    }

    /// The drag of the air on a vertex.
    fn drag(&self, i: usize) -> Drag {
        Drag { damping: self.damping[i], air: self.air[i], base: self.base[i], beta: self.h }
    }

    /// What mass and air add to the second derivative at a vertex.
    pub fn diagonal(&self, scene: &Scene, i: usize) -> DMat3 {
        DMat3::from_diagonal(DVec3::splat(inertia::stiffness(scene.mass[i], self.h))) + self.drag(i).hessian()
    }

    /// Finds gradient and derivatives of the angles at `x`; returns the energy.
    pub fn evaluate(
        &mut self,
        scene: &Scene,
        settings: &Settings,
        angles_before: &[f64],
        x: &[DVec3],
        contacts: &[Contact],
    ) -> f64 {
        let mut energy = 0.0;
        for i in 0..scene.len() {
            let k = inertia::stiffness(scene.mass[i], self.h);
            let drag = self.drag(i);
            energy += inertia::energy(k, x[i], self.predicted[i])
                + gravity::energy(scene.mass[i], settings.gravity, x[i])
                + drag.energy(x[i]);
            self.gradient[i] = inertia::gradient(k, x[i], self.predicted[i])
                + gravity::gradient(scene.mass[i], settings.gravity)
                + drag.gradient(x[i]);
        }
        for (el, before) in scene.membrane.iter().zip(&self.strain_before) {
            let (e, g) = membrane::energy_and_gradient(el, x, *before, self.rate);
            energy += e;
            for k in 0..3 {
                self.gradient[el.v[k] as usize] += g[k];
            }
        }
        bending::angles_and_turns(
            0..scene.hinges.len() as u32,
            &scene.hinges,
            x,
            angles_before,
            &mut self.angles,
            &mut self.turns,
        );
        energy += self.bent_from.energy_and_moments(&scene.bending, &self.angles, &mut self.moments);
        for ((hinge, turn), moment) in scene.hinges.iter().zip(&self.turns).zip(&self.moments) {
            for (force, &v) in turn.forces_exactly(*moment).into_iter().zip(&hinge.v) {
                self.gradient[v as usize] += force;
            }
        }
        self.pushes.clear();
        for c in contacts {
            energy += constraint::energy(c, x);
            if let Some((g, m)) = constraint::linearise(c, x) {
                for k in 0..4 {
                    self.gradient[c.v[k] as usize] += g * c.w[k];
                }
                self.pushes.push((*c, m));
            }
        }
        for (g, held) in self.gradient.iter_mut().zip(&scene.pinned) {
            if *held {
                *g = DVec3::ZERO;
            }
        }
        energy
    }
}
