//! Flared cloth: a part of a ring, bent into a cone.

use super::panel::Outline;
use super::place::{Face, length, walk};
use super::shell::Shell;
use glam::{DVec2, DVec3};

/// A ring of cloth whose upper edge is sewn to a waist: one face of a part of a circle.
pub struct Sector {
    /// Front or back.
    pub face: Face,
    /// Radii of waist and hem.
    radii: [f64; 2],
    /// Half the angle.
    half: f64,
    /// Angles at which the waist edge is divided, from the middle.
    divide: Option<f64>,
}

impl Sector {
    /// A sector whose waist edge has the parts `[outer, middle]` in metres, on an arc of `radius`.
    pub fn new(face: Face, parts: [f64; 2], radius: f64, length: f64) -> Self {
        let half = (parts[0] + 0.5 * parts[1]) / radius;
        let divide = (parts[0] > 0.0).then(|| 0.5 * parts[1] / radius);
        Self { face, radii: [radius, radius + length], half, divide }
    }

    fn at(radius: f64, angle: f64) -> DVec2 {
        DVec2::new(angle.sin(), -angle.cos()) * radius
    }

    /// The outline. Edges: `hem`, `side +`, `waist +`, `waist`, `waist -`, `side -`.
    pub fn outline(&self, name: &str) -> Outline {
        let [r0, r1] = self.radii;
        let pen = Outline::pen(name, Self::at(r1, -self.half))
            .arc("hem", DVec2::ZERO, 2.0 * self.half)
            .line("side +", Self::at(r0, self.half));
        let pen = match self.divide {
            Some(d) => pen
                .arc("waist +", DVec2::ZERO, d - self.half)
                .arc("waist", DVec2::ZERO, -2.0 * d)
                .arc("waist -", DVec2::ZERO, d - self.half),
            None => pen.arc("waist", DVec2::ZERO, -2.0 * self.half),
        };
        pen.line("side -", Self::at(r1, -self.half)).close()
    }

    /// Lays the sector on the cone into which it bends without stretching: `circle` is the sine of its
    /// half angle. Its top lies around `shell` at `waist_y`, its hem on the same ring widened.
    pub fn cone(&self, shell: &Shell, waist_y: f64, circle: f64) -> impl Fn(DVec2) -> DVec3 + use<'_> {
        let slant = self.radii[1] - self.radii[0];
        let drop = slant * (1.0 - circle * circle).sqrt();
        // Measured along the whole half of each ring: the wider one is shared out in the proportion
        // of front and back that the upper one has.
        let [front, back] = [Face::Front, Face::Back].map(|f| shell.half_width(waist_y, f));
        let (top, hem) = (shell.half_ring(waist_y), shell.hoop(waist_y, slant * circle).half_ring(waist_y));
        move |p| {
            let share = p.x.atan2(-p.y) / self.half;
            let part = match self.face {
                Face::Front => share.abs() * front / (front + back),
                Face::Back => 1.0 - share.abs() * back / (front + back),
            };
            let side = share.signum() * self.face.sign();
            let on = |ring: &[DVec2], y: f64| {
                let q = walk(ring, part * length(ring));
                DVec3::new(q.x * side, y, q.y)
            };
            let (a, b) = (on(&top, waist_y), on(&hem, waist_y - drop));
            a.lerp(b, (p.length() - self.radii[0]) / slant)
        }
    }
}
