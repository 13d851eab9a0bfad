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
    mix(0.95 * (v / 1.3).powf(0.52), 1.33 + 0.11 * (v - 3.0), running)
}

/// The share of a stride that a foot stays on the ground.
pub(super) fn duty(speed: f64, running: f64) -> f64 {
    mix(0.60 - 0.05 * (speed - 1.3), 0.325 - 0.03 * (speed - 3.0), running).clamp(0.22, 0.7)
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
    /// How late the heel rises: the power of time that it follows.
    pub late: f64,
    /// The share of stance at which the root passes over the ankle.
    pub over: f64,
    /// Half the distance between the lines of the feet.
    pub half_width: f64,
    /// Knee at mid-stance, from straight.
    pub knee: f64,
    /// The longest that a leg is stretched, as a share of its length: near straight, the knee's speed has no bound.
    pub stretch: f64,
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
    /// How the swinging foot departs from the smoothest way between its stances: see [`shape`].
    pub swing: Swing,
}

impl Style {
    /// Standing still.
    pub fn standing() -> Self {
        Self {
            strike_pitch: 0.0,
            off_pitch: 0.0,
            flat: 0.1,
            rise: 0.6,
            late: 2.0,
            over: 0.5,
            half_width: 0.10,
            knee: 8f64.to_radians(),
            stretch: 0.9985,
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
            swing: Swing::default(),
        }
    }

    /// Walking (`running` = 0) or running (1) at a speed, fading to standing under 0.5 m/s.
    pub fn at(speed: f64, running: f64) -> Self {
        let v = speed;
        let d = f64::to_radians;
        // Off the speeds about which the curves below were fitted, and no farther than they were.
        let (w, r) = (v.clamp(0.8, 1.9) - 1.3, v.clamp(2.4, 3.5) - 3.0);
        // Fast runs reach out with a straighter knee than a line through the slower ones would have it.
        let fast = ((v - 3.4) / 0.6).clamp(0.0, 1.0);
        let walk = Self {
            strike_pitch: d(10.0 + 9.5 * v),
            off_pitch: d(-28.0 - 17.0 * v),
            flat: 0.201 - 0.018 * w,
            rise: 0.554 - 0.113 * w,
            late: 3.31 + 0.05 * w,
            over: 0.416,
            half_width: 0.052,
            knee: d(18.0 + 7.0 * v - 2.3 * w),
            stretch: 0.9933 - 0.0034 * w,
            bob: 0.010 + 0.009 * v,
            bob_phase: 0.314 + 0.050 * w,
            sway: 0.028 - 0.006 * v,
            pelvis_yaw: d(4.0 + 2.0 * v),
            pelvis_list: d(3.5),
            pelvis_tilt: d(1.0),
            lean: d(2.0 + v),
            shoulder_yaw: d(3.0 + 2.0 * v),
            arm_swing: d(6.0 + 9.0 * v),
            arm_mean: d(-4.0),
            elbow: d(14.0 + 6.0 * v),
            elbow_swing: d(3.0 + 4.0 * v),
            swing: Swing::at(&WALK_SWING, w),
        };
        let run = Self {
            strike_pitch: d(9.0),
            off_pitch: d(-54.0 - 4.0 * (v - 3.0)),
            flat: 0.267 - 0.013 * r + 0.061 * fast,
            rise: 0.316 + 0.065 * r - 0.003 * fast,
            late: 2.61 + 0.12 * r - 0.35 * fast,
            over: 0.304 + 0.028 * r + 0.009 * fast,
            half_width: 0.030,
            knee: d(39.5 + 1.7 * r + 0.5 * fast),
            stretch: 0.9833 - 0.0061 * r + 0.0035 * fast,
            bob: 0.053 - 0.009 * (v - 3.0),
            bob_phase: 0.42 - 0.011 * r + 0.03 * fast,
            sway: 0.010,
            pelvis_yaw: d(8.0),
            pelvis_list: d(3.5),
            pelvis_tilt: d(6.0),
            lean: d(6.0 + v),
            shoulder_yaw: d(11.0),
            arm_swing: d(18.0 + 5.0 * v),
            arm_mean: d(-14.0),
            elbow: d(88.0),
            elbow_swing: d(8.0),
            swing: Swing::at(&RUN_SWING, r).plus(&FAST_SWING, fast),
        };
        let moving = super::path::ramp(v / 0.6);
        Self::standing().blended(&walk.blended(&run, running), moving)
    }

    /// The same not straight ahead: `ahead` 1 is, −1 goes backwards, 0 sideways with `aside` m/s to the left.
    pub fn going(&self, ahead: f64, aside: f64) -> Self {
        if ahead == 1.0 && aside == 0.0 {
            return *self;
        }
        let d = f64::to_radians;
        // Backwards and sideways the ball lands first, the foot is lifted straight, and the pelvis does not lead.
        let back = Self {
            strike_pitch: d(-14.0),
            off_pitch: d(-16.0),
            flat: 0.25,
            rise: 0.75,
            over: 0.52,
            pelvis_yaw: -0.6 * self.pelvis_yaw,
            lean: d(-1.0),
            arm_swing: 0.5 * self.arm_swing,
            swing: Swing { up: [0.07, 0.0, 0.0, 0.0], ..Swing::default() },
            ..*self
        };
        let sideways = Self {
            strike_pitch: d(-8.0),
            pelvis_yaw: 0.0,
            shoulder_yaw: 0.0,
            over: 0.5,
            arm_swing: 0.2 * self.arm_swing,
            ..back
        };
        let toward = if ahead > 0.0 { self } else { &back };
        let mut style = sideways.blended(toward, super::path::ramp(ahead.abs()));
        // Feet open and close instead of crossing.
        style.half_width = style.half_width.max(0.05 + 0.20 * aside.abs());
        style
    }

    /// Straight-line blend.
    pub fn blended(&self, other: &Self, t: f64) -> Self {
        let m = |a: f64, b: f64| a + (b - a) * t;
        Self {
            strike_pitch: m(self.strike_pitch, other.strike_pitch),
            off_pitch: m(self.off_pitch, other.off_pitch),
            flat: m(self.flat, other.flat),
            rise: m(self.rise, other.rise),
            late: m(self.late, other.late),
            over: m(self.over, other.over),
            half_width: m(self.half_width, other.half_width),
            knee: m(self.knee, other.knee),
            stretch: m(self.stretch, other.stretch),
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
            swing: self.swing.blended(&other.swing, t),
        }
    }
}

/// Departures of the swinging ankle (forward and up, as shares of the leg) and of the foot's pitch (radians).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Swing {
    pub forward: [f64; 4],
    pub up: [f64; 4],
    pub pitch: [f64; 4],
}

/// Walking at 1.3 m/s, and the change per m/s: least squares on the sagittal angles of captured walks of 1.0, 1.3 and
/// 1.7 m/s (CMU motion library), with a price on steps of joint velocity and on sliding contacts.
const WALK_SWING: [Swing; 2] = [
    Swing {
        forward: [0.235, -0.960, 0.809, 0.152],
        up: [-0.076, 0.380, -0.561, 0.372],
        pitch: [-0.452, 2.417, -3.113, 0.092],
    },
    Swing {
        forward: [0.114, -0.396, 0.717, -0.423],
        up: [-0.029, 0.098, -0.044, 0.018],
        pitch: [-1.189, 7.205, -9.185, 3.534],
    },
];

/// Running at 3.0 m/s, and the change per m/s: the same on runs of 2.7, 3.4 and 4.0 m/s.
const RUN_SWING: [Swing; 2] = [
    Swing {
        forward: [-0.565, 1.173, -1.200, 0.285],
        up: [-0.226, 2.140, -2.758, 0.935],
        pitch: [3.679, -15.563, 15.715, -5.279],
    },
    Swing {
        forward: [-0.327, 1.513, -1.978, 0.607],
        up: [0.074, 1.479, -2.446, 0.798],
        pitch: [-0.162, -0.823, 1.636, -2.633],
    },
];

/// What comes on top between 3.4 and 4.0 m/s: the same on the run of 4.0 m/s.
const FAST_SWING: Swing = Swing {
    forward: [-0.305, 0.370, 0.284, 0.085],
    up: [-0.044, -0.032, 0.129, 0.244],
    pitch: [-0.425, 0.640, 0.461, 0.423],
};

impl Swing {
    /// The table's swing at `dv` m/s off its speed.
    fn at(table: &[Self; 2], dv: f64) -> Self {
        table[0].plus(&table[1], dv)
    }

    fn plus(&self, other: &Self, times: f64) -> Self {
        let m = |a: [f64; 4], b: [f64; 4]| [0, 1, 2, 3].map(|i| a[i] + b[i] * times);
        Self {
            forward: m(self.forward, other.forward),
            up: m(self.up, other.up),
            pitch: m(self.pitch, other.pitch),
        }
    }

    fn blended(&self, other: &Self, t: f64) -> Self {
        let m = |a: [f64; 4], b: [f64; 4]| [0, 1, 2, 3].map(|i| a[i] + (b[i] - a[i]) * t);
        Self {
            forward: m(self.forward, other.forward),
            up: m(self.up, other.up),
            pitch: m(self.pitch, other.pitch),
        }
    }
}

/// A bump over 0…1 that begins and ends at 0 without slope.
pub(super) fn shape(c: [f64; 4], u: f64) -> f64 {
    16.0 * (u * (1.0 - u)).powi(2) * (c[0] + u * (c[1] + u * c[2]) + u.powi(6) * c[3])
}

/// Cosine of a gait phase in cycles.
pub(super) fn wave(cycles: f64) -> f64 {
    (TAU * cycles).cos()
}
