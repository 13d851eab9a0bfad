//! How people walk and run at a speed: cadence, share of stance, and the curves of feet, pelvis and arms.

use std::f64::consts::TAU;

/// Straight-line blend of a walking and a running value.
fn mix(walk: f64, run: f64, running: f64) -> f64 {
    walk + (run - walk) * running
}

/// Strides per second. In walking, cadence grows about with the square root of speed (Grieve and Gear 1966);
/// in running it hardly grows and the stride lengthens instead (Cavanagh and Kram 1989).
pub(super) fn cadence(speed: f64, running: f64) -> f64 {
    let v = speed.max(0.25);
    mix(0.96 * (v / 1.3).powf(0.55), 1.37 + 0.06 * (v - 3.0), running)
}

/// The share of a stride that a foot stays on the ground.
pub(super) fn duty(speed: f64, running: f64) -> f64 {
    mix(0.62 - 0.05 * (speed - 1.3), 0.36 - 0.045 * (speed - 3.0), running).clamp(0.22, 0.7)
}

/// What differs from speed to speed; angles in radians, lengths as shares of the leg.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Toes up when the heel strikes.
    pub strike_pitch: f64,
    /// Heel up when the toes leave (negative).
    pub off_pitch: f64,
    /// Shares of stance at which the foot lies flat and at which the heel begins to rise.
    pub flat: f64,
    pub rise: f64,
    /// The share of stance at which the root passes over the ankle.
    pub over: f64,
    /// Half the distance between the lines of the feet.
    pub half_width: f64,
    /// Knee at mid-stance, from straight.
    pub knee: f64,
    /// Half the rise and fall of the root, with its phase in cycles (when it is highest after a strike).
    pub bob: f64,
    pub bob_phase: f64,
    /// Sideways sway towards the standing foot.
    pub sway: f64,
    /// Pelvis: turning, listing, tilting forward.
    pub pelvis_yaw: f64,
    pub pelvis_list: f64,
    pub pelvis_tilt: f64,
    /// Trunk leaning forward, shoulders turning against the pelvis.
    pub lean: f64,
    pub shoulder_yaw: f64,
    /// Swing of the upper arms (amplitude and mean, forward positive), elbow (mean and amplitude).
    pub arm_swing: f64,
    pub arm_mean: f64,
    pub elbow: f64,
    pub elbow_swing: f64,
    /// Height of the swinging ankle over the line from toe-off to strike, early and late.
    pub lift: f64,
}

impl Style {
    /// Standing still.
    pub fn standing() -> Self {
        Self {
            strike_pitch: 0.0,
            off_pitch: 0.0,
            flat: 0.1,
            rise: 0.6,
            over: 0.5,
            half_width: 0.10,
            knee: 8f64.to_radians(),
            bob: 0.0,
            bob_phase: 0.3,
            sway: 0.0,
            pelvis_yaw: 0.0,
            pelvis_list: 0.0,
            pelvis_tilt: 0.0,
            lean: 0.0,
            shoulder_yaw: 0.0,
            arm_swing: 0.0,
            arm_mean: 0.0,
            elbow: 14f64.to_radians(),
            elbow_swing: 0.0,
            lift: 0.02,
        }
    }

    /// Walking (`running` = 0) or running (1) at a speed, fading to standing under 0.5 m/s.
    pub fn at(speed: f64, running: f64) -> Self {
        let v = speed;
        let d = f64::to_radians;
        let walk = Self {
            strike_pitch: d(8.0 + 10.0 * v),
            off_pitch: d(-48.0 - 8.0 * v),
            flat: 0.16,
            rise: 0.48,
            over: 0.44,
            half_width: 0.052,
            knee: d(14.0 + 2.0 * v),
            bob: 0.020 * v / 1.3,
            bob_phase: 0.32,
            sway: 0.028 - 0.006 * v,
            pelvis_yaw: d(3.0 + 1.5 * v),
            pelvis_list: d(3.5),
            pelvis_tilt: d(1.0),
            lean: d(2.0 + v),
            shoulder_yaw: d(3.0 + 2.0 * v),
            arm_swing: d(6.0 + 9.0 * v),
            arm_mean: d(-4.0),
            elbow: d(14.0 + 6.0 * v),
            elbow_swing: d(3.0 + 4.0 * v),
            lift: 0.02,
        };
        let run = Self {
            strike_pitch: d(12.0),
            off_pitch: d(-68.0),
            flat: 0.22,
            rise: 0.46,
            over: 0.40,
            half_width: 0.030,
            knee: d(44.0),
            bob: 0.045,
            bob_phase: 0.43,
            sway: 0.010,
            pelvis_yaw: d(6.0),
            pelvis_list: d(3.5),
            pelvis_tilt: d(6.0),
            lean: d(6.0 + v),
            shoulder_yaw: d(11.0),
            arm_swing: d(18.0 + 5.0 * v),
            arm_mean: d(-14.0),
            elbow: d(88.0),
            elbow_swing: d(8.0),
            lift: 0.16,
        };
        let moving = super::path::ramp(v / 0.6);
        Self::standing().blended(&walk.blended(&run, running), moving)
    }

    /// Straight-line blend.
    pub fn blended(&self, other: &Self, t: f64) -> Self {
        let m = |a: f64, b: f64| a + (b - a) * t;
        Self {
            strike_pitch: m(self.strike_pitch, other.strike_pitch),
            off_pitch: m(self.off_pitch, other.off_pitch),
            flat: m(self.flat, other.flat),
            rise: m(self.rise, other.rise),
            over: m(self.over, other.over),
            half_width: m(self.half_width, other.half_width),
            knee: m(self.knee, other.knee),
            bob: m(self.bob, other.bob),
            bob_phase: m(self.bob_phase, other.bob_phase),
            sway: m(self.sway, other.sway),
            pelvis_yaw: m(self.pelvis_yaw, other.pelvis_yaw),
            pelvis_list: m(self.pelvis_list, other.pelvis_list),
            pelvis_tilt: m(self.pelvis_tilt, other.pelvis_tilt),
            lean: m(self.lean, other.lean),
            shoulder_yaw: m(self.shoulder_yaw, other.shoulder_yaw),
            arm_swing: m(self.arm_swing, other.arm_swing),
            arm_mean: m(self.arm_mean, other.arm_mean),
            elbow: m(self.elbow, other.elbow),
            elbow_swing: m(self.elbow_swing, other.elbow_swing),
            lift: m(self.lift, other.lift),
        }
    }
}

/// Cosine of a gait phase in cycles.
pub(super) fn wave(cycles: f64) -> f64 {
    (TAU * cycles).cos()
}
