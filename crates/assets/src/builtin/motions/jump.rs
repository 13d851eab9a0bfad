//! Jumping from standing.

use super::feet::Stance;
use super::figure::{Extra, Figure, Plan};
use super::gait::Swing;
use super::path::{Travel, through};
use super::stop::standing_foot;
use glam::DVec3;

/// Metres per second squared.
const GRAVITY: f64 = 9.81;

/// Crouches, jumps so that the root rises by `height` metres in flight, lands and stands.
pub(super) fn jump(figure: &Figure, height: f64) -> Plan {
    let d = f64::to_radians;
    let speed = (2.0 * GRAVITY * height).sqrt();
    // The root's height over standing at toe-off: ankles and knees are stretched then.
    let off_rise = 0.06;
    let (crouch, off) = (0.95, 1.20);
    // Knees and ankles give a little before the feet land.
    let land_rise = off_rise - 0.07;
    let landing_speed = (speed * speed + 2.0 * GRAVITY * (off_rise - land_rise)).sqrt();
    let land = off + (speed + landing_speed) / GRAVITY;
    let absorb = land + 0.26;
    let up = absorb + 0.60;
    let deep = -0.14 - 0.3 * height;

    let travel = Travel::new(up + 1.5, 0.0, |_| 0.0, |_| 0.0, |_| 0.0);
    let mut extra = Extra::none(&travel);
    extra.rise = through(
        &travel,
        &[
            (0.4, 0.0, 0.0),
            (crouch, deep, 0.0),
            (off, off_rise, speed),
            (land, land_rise, -landing_speed),
            (absorb, deep, 0.0),
            (up, 0.0, 0.0),
        ],
    );
    let crouched = |most: f64, flight: f64| {
        [
            (0.4, 0.0, 0.0),
            (crouch, most, 0.0),
            (off + 0.05, flight, 0.0),
            (land - 0.05, 0.3 * most, 0.0),
            (absorb, most, 0.0),
            (up, 0.0, 0.0),
        ]
    };
    extra.bend = through(&travel, &crouched(d(38.0), d(-4.0)));
    extra.pelvis_tilt = through(&travel, &crouched(d(24.0), 0.0));
    extra.forward = through(&travel, &crouched(-0.07, 0.0));
    extra.arms_forward = through(
        &travel,
        &[
            (0.4, 0.0, 0.0),
            (crouch - 0.05, d(-45.0), 0.0),
            (off + 0.05, d(120.0), 0.0),
            (land, d(55.0), d(-200.0)),
            (absorb + 0.05, d(10.0), 0.0),
            (up + 0.1, 0.0, 0.0),
        ],
    );
    extra.elbows = through(&travel, &crouched(d(25.0), d(30.0)));

    let lift = height / figure.legs[0].length();
    let stances = [0, 1].map(|k| {
        let standing = standing_foot(figure, k, DVec3::ZERO, 0.0);
        let leaving = Stance { off, rise: off - 0.20, late: 2.5, off_pitch: d(-50.0), ..standing };
        let landing = Stance {
            strike: land,
            flat: land + 0.12,
            strike_pitch: d(-38.0),
            swing: Swing { up: [0.95 * lift, 0.0, 0.0, 0.0], ..Swing::default() },
            ..standing
        };
        vec![leaving, landing]
    });
    Plan { travel, stances, extra }
}
