//! Trousers: four panels, a front and a back a leg, sewn at the sides, inside the legs and through the crotch.
//!
//! Above the crotch the panels lie around the trunk, below it each pair around its own leg; in between they go
//! over from one to the other as the crotch seam curves from the belly under the body to the seat.

use super::form::{Build, Form};
use super::limb::{StraightLimb, at_share_around};
use super::panel::Outline;
use super::place::{Face, length};
use super::relax;
use super::sew::{Pattern, PinnedEdges};
use super::shell::Shell;
use crate::{Error, Garment, PinTarget, Result};
use glam::{DVec2, DVec3};

/// Distance at which the cloth is laid around the body, m.
const CLEARANCE: f64 = 0.014;
/// How far the crotch seam hangs below the crotch, m.
const RISE_EASE: f64 = 0.095;
/// Least height from crotch seam to the fullest place of the seat, m.
const SEAT: f64 = 0.075;
/// Least width of the cloth that passes between the legs, from front to back, m. Where that is narrow, or the crotch seam
/// high, the seat of a body that crouches is short of cloth: the seam goes over the body between the legs like a string, and is
/// drawn into it (docs/decisions/036).
const BETWEEN: f64 = 0.16;
/// By how much the waist edge of a back panel rises from the side to the centre seam, m: a seat that bends is longer at the back.
const BACK_RISE: f64 = 0.02;
/// What the front takes of the cloth that passes between the legs. A seat needs more than a belly when it stands; but thighs
/// that rub hold on to what is tight, and with 0.35 a walk stretched the crotch by half (7 % now).
const FRONT_SHARE: f64 = 0.5;
/// Rounds in which the placed cloth slides.
const ROUNDS: usize = 40;
/// Points along a drawn seam.
const POINTS: usize = 96;

/// What differs between the cuts.
struct Cutting {
    /// The waist edge below the natural waist, m.
    below_waist: f64,
    /// Ease around hips and thigh, m. Thighs touch in every step: cloth that has no room to slide along them is pinched and torn
    /// along (56 % of stretch with 4.5 cm).
    hip_ease: f64,
    thigh_ease: f64,
    /// Around the hem over the girth of the thigh.
    hem: f64,
    /// What the centre seams of front and back take of the difference of hips and waist; the side seams take the
    /// rest.
    centre: [f64; 2],
}

fn cutting(build: Build) -> Cutting {
    match build {
        // Up to the waist, shaped by the side seams, tapered.
        Build::Female => {
            Cutting { below_waist: 0.015, hip_ease: 0.05, thigh_ease: 0.15, hem: 0.62, centre: [0.14, 0.24] }
        }
        // On the hips, straight.
        Build::Male => {
            Cutting { below_waist: 0.05, hip_ease: 0.06, thigh_ease: 0.14, hem: 0.72, centre: [0.2, 0.3] }
        }
    }
}

/// One panel. Heights are above the hem along the leg, `d` is the distance from the panel's grain line towards
/// the outer seam.
struct Leg {
    face: Face,
    /// Heights of knee, crotch point, seat and waist edge.
    knee: f64,
    crotch: f64,
    seat: f64,
    top: f64,
    /// By how much the waist edge rises from the side to the centre seam.
    rise: f64,
    /// Half widths at hem, knee and crotch.
    half: [f64; 3],
    /// Width at the seat.
    seat_width: f64,
    /// What side and centre seam take up to the waist.
    taken: [f64; 2],
}

impl Leg {
    /// Distance of the outer seam.
    fn outer(&self, y: f64) -> f64 {
        if y > self.seat {
            // Rounded over the hip bone, still slanting where it ends.
            let up = (y - self.seat) / (self.top - self.seat);
            return self.half[2] - self.taken[0] * up * up * (2.0 - up);
        }
        self.tapered(y)
    }

    /// Half the width of the leg.
    fn tapered(&self, y: f64) -> f64 {
        let [hem, knee, crotch] = self.half;
        if y < self.knee {
            return hem + (knee - hem) * y / self.knee;
        }
        knee + (crotch - knee) * ((y - self.knee) / (self.crotch - self.knee)).min(1.0)
    }

    /// How far, from 1 at the crotch point to 0 at the seat, the panel has gone over from leg to trunk.
    fn under(&self, y: f64) -> f64 {
        (1.0 - (y - self.crotch) / (self.seat - self.crotch)).clamp(0.0, 1.0).powi(3)
    }

    /// Distance of the inner seams.
    fn inner(&self, y: f64) -> f64 {
        if y <= self.crotch {
            return -self.tapered(y);
        }
        let centre = self.half[2] - self.seat_width;
        let up = ((y - self.seat) / (self.top - self.seat)).clamp(0.0, 1.0);
        centre + self.taken[1] * up - self.under(y) * (2.0 * self.half[2] - self.seat_width)
    }

    /// The outline. Edges: `hem`, `out`, `waist`, `centre`, `in`.
    fn outline(&self, name: String, sign: f64) -> Outline {
        let line = |from: f64, to: f64, x: &dyn Fn(f64) -> f64| -> Vec<DVec2> {
            (0..=POINTS)
                .map(|k| from + (to - from) * k as f64 / POINTS as f64)
                .map(|y| DVec2::new(x(y), y))
                .collect()
        };
        let (outer, inner) = (|y: f64| self.outer(y), |y: f64| self.inner(y));
        let outline = Outline::pen(name.clone(), DVec2::new(inner(0.0), 0.0))
            .line("hem", DVec2::new(outer(0.0), 0.0))
            .through("out", line(0.0, self.top, &outer))
            .line("waist", DVec2::new(inner(self.top + self.rise), self.top + self.rise))
            .through("centre", line(self.top + self.rise, self.crotch, &inner))
            .through("in", line(self.crotch, 0.0, &inner))
            .close();
        if sign < 0.0 { outline.mirrored(name) } else { outline }
    }
}

/// Where a left leg is laid.
struct Around<'a> {
    trunk: &'a Shell,
    limb: &'a StraightLimb,
    form: &'a Form,
    /// World height of the hem's level on the trunk, and the limb's.
    hem_y: f64,
    hem_limb: f64,
    /// World height of the waist edge.
    top_y: f64,
}

impl Around<'_> {
    /// A point of the left leg at a height above the hem, `u` of the way from the outer seam to the inner one.
    fn place(&self, leg: &Leg, y: f64, u: f64) -> DVec3 {
        let under = if y <= leg.crotch { 1.0 } else { leg.under(y) };
        // Front is where the limb's x is negative.
        let side = -leg.face.sign();
        let on_leg = || {
            let p = self.limb.in_world(at_share_around(&self.limb.shell, self.hem_limb + y, side * u));
            // Between the legs each takes half of the room there is.
            DVec3::new(p.x.max(0.5 * self.form.legs_apart(p.y)), p.y, p.z)
        };
        let on_trunk = || {
            let share = (1.0 - u) * leg.face.sign();
            // What is longer than the body lies closer together.
            let longer = (leg.top + leg.rise * u - leg.seat) / (leg.top - leg.seat);
            let y = if y > leg.seat { leg.seat + (y - leg.seat) / longer } else { y };
            self.trunk.at_share(self.hem_y + y, share, leg.face)
        };
        match under {
            u if u >= 1.0 => on_leg(),
            u if u <= 0.0 => on_trunk(),
            u => on_trunk().lerp(on_leg(), u),
        }
    }
}

impl Around<'_> {
    /// On which shell a point lies.
    fn is_on_leg(&self, p: DVec3) -> bool {
        p.y < self.form.crotch_y
    }

    /// How far a point is outside the shell it lies on.
    fn level(&self, p: DVec3) -> f64 {
        let left = DVec3::new(p.x.abs(), p.y, p.z);
        if self.is_on_leg(p) {
            self.limb.shell.level(self.limb.in_limb(left))
        } else {
            self.trunk.level(left)
        }
    }

    /// Brings a point that began at `start` back to between the shell and the level it had there.
    fn slid(&self, start: DVec3, p: DVec3, level: f64) -> DVec3 {
        if start.x.abs() < 1e-4 {
            return DVec3::new(0.0, p.y, p.z);
        }
        let side = DVec3::new(start.x.signum(), 1.0, 1.0);
        let left = p * side;
        let range = level.min(0.0)..=level.max(0.0);
        let inside = |level: f64| level.clamp(*range.start(), *range.end());
        let q = if self.is_on_leg(start) {
            let q = self.limb.in_limb(left);
            self.limb.in_world(self.limb.shell.bring(q, inside(self.limb.shell.level(q))))
        } else {
            self.trunk.bring(left, inside(self.trunk.level(left)))
        };
        let least = if self.is_on_leg(start) { 0.5 * self.form.legs_apart(q.y) } else { 0.0 };
        DVec3::new(q.x.max(least), q.y, q.z) * side
    }
}

/// Cuts, sews and places trousers.
pub fn pants(form: &Form, vertices: usize) -> Result<Garment> {
    let cutting = cutting(form.build);
    let limb = form.leg.with_shell(form.leg.shell.grown(CLEARANCE));
    let crotch_y = form.crotch_y - RISE_EASE;
    if crotch_y < form.knee_y + 0.12 {
        return Err(Error::Invalid(format!(
            "the legs part at {:.2} m, {:.2} m above the knees at {:.2} m; trousers need legs",
            form.crotch_y,
            form.crotch_y - form.knee_y,
            form.knee_y
        )));
    }
    let top_y = form.waist_y - cutting.below_waist;
    let seat_y = form.hip_y.max(crotch_y + SEAT);
    if top_y < seat_y + 0.05 {
        return Err(Error::Invalid(format!(
            "the waist at {:.2} m is too near to the seat at {seat_y:.2} m for a waistband",
            form.waist_y
        )));
    }
    let trunk = form.trunk.grown(CLEARANCE);
    // The leg is as long as from the crotch point to just above the ankle.
    let hem_y = form.ankle_y + 0.03;
    let crotch_limb = limb.in_limb(DVec3::new(form.leg_middle_x(), crotch_y, form.trunk.axis_z)).y;
    let hem_limb = crotch_limb - (crotch_y - hem_y);
    let faces = [Face::Front, Face::Back];
    let thigh = 2.0 * length(&form.leg.shell.half_ring(crotch_limb - 0.03)) + cutting.thigh_ease;
    let hem = cutting.hem * thigh;
    let seats = faces.map(|f| form.trunk.half_width(seat_y, f) + cutting.hip_ease / 4.0);
    let between = (thigh - seats[0] - seats[1]).max(BETWEEN);
    let legs = [0, 1].map(|k| {
        let face = faces[k];
        let share = if face == Face::Front { FRONT_SHARE } else { 1.0 - FRONT_SHARE };
        let width = seats[k] + share * between;
        let waist = trunk.half_width(top_y, face) + 0.004;
        let more = (seats[k] - waist).max(0.0);
        Leg {
            face,
            knee: form.knee_y - hem_y,
            crotch: crotch_y - hem_y,
            seat: seat_y - hem_y,
            top: top_y - hem_y,
            rise: if face == Face::Back { BACK_RISE } else { 0.0 },
            half: [0.25 * hem, 0.25 * (0.55 * hem + 0.45 * thigh), 0.5 * width],
            seat_width: seats[k],
            taken: [(1.0 - cutting.centre[k]) * more, cutting.centre[k] * more],
        }
    });
    sew(vertices, &legs, &Around { trunk: &trunk, limb: &limb, form, hem_y, hem_limb, top_y })
}

fn sew(vertices: usize, legs: &[Leg; 2], around: &Around) -> Result<Garment> {
    let mut pattern = Pattern::default();
    // Left front, left back, right front, right back.
    let pieces = [(0, 1.0), (1, 1.0), (0, -1.0), (1, -1.0)];
    let names = ["left front", "left back", "right front", "right back"];
    for ((k, side), name) in pieces.into_iter().zip(names) {
        let leg: &Leg = &legs[k];
        pattern.add(leg.outline(name.to_string(), side * leg.face.sign()));
    }
    for (side, front, back) in [("left", 0, 1), ("right", 2, 3)] {
        pattern.sew(format!("out {side}"), (front, "out"), (back, "out"))?;
        pattern.sew(format!("in {side}"), (front, "in"), (back, "in"))?;
    }
    pattern.sew("centre front", (0, "centre"), (2, "centre"))?;
    pattern.sew("centre back", (1, "centre"), (3, "centre"))?;
    let cut = pattern.cut(vertices)?;
    let mut positions = cut.place(|panel, p| {
        let (k, side) = pieces[panel];
        let leg = &legs[k];
        let d = p.x * side * leg.face.sign();
        let (outer, inner) = (leg.outer(p.y), leg.inner(p.y));
        let u = ((outer - d) / (outer - inner).max(1e-6)).clamp(0.0, 1.0);
        around.place(leg, p.y, u) * DVec3::new(side, 1.0, 1.0)
    });
    // Cloth slides on the shells it was laid on, no farther in and no farther out than it was, and never across
    // the middle.
    let starts: Vec<(DVec3, f64)> = positions.iter().map(|p| (*p, around.level(*p))).collect();
    relax::pull(&cut, &mut positions, &vec![true; cut.count], ROUNDS, |v, p| {
        let (start, level) = starts[v];
        if start.y > around.top_y - 1e-4 {
            return start;
        }
        around.slid(start, p, level)
    });
    let edges = names.map(|n| (n, "waist")).to_vec();
    let pin = PinnedEdges { name: "waist", edges, target: PinTarget::Body };
    cut.sew(&pattern, "pants", &positions, &[pin])
}
