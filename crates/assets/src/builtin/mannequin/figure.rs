//! The figure: which primitives make the body and where their stations lie.
//!
//! Heights are metres of the reference figure (stature 1.629 m); `Figure::new` places them with the
//! joints. The field is that of the half `x ≥ 0`; callers mirror.

use super::super::proportions::{Joints, Proportions};
use super::shape::{Ellipsoid, RoundCone, Station, Sweep, smooth_union};
use glam::Vec3;

/// The body as a signed field, part by part.
#[derive(Clone, Debug)]
pub struct Figure {
    torso: Sweep,
    breast: Ellipsoid,
    buttock: Ellipsoid,
    yoke: RoundCone,
    neck: RoundCone,
    skull: Ellipsoid,
    face: Ellipsoid,
    chin: Ellipsoid,
    leg: Sweep,
    foot: Sweep,
    arm: Sweep,
    thumb: RoundCone,
}

/// Distances to the parts that the weights tell apart.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Trunk, neck and head.
    pub trunk: f32,
    /// Leg and foot of this side.
    pub leg: f32,
    /// Arm and hand of this side.
    pub arm: f32,
}

fn stations(rows: &[[f32; 8]]) -> Vec<Station> {
    rows.iter()
        .map(|&[t, cu, cv, a, b, c, d, power]| Station { t, centre: [cu, cv], reach: [a, b, c, d], power })
        .collect()
}

impl Figure {
    /// The figure of these proportions.
    pub fn new(_p: &Proportions, joints: &Joints) -> Self {
        let upright = [Vec3::X, Vec3::Z, Vec3::Y];
        // height, centre x, centre z, reach: right, left, front, back, exponent
        let torso = stations(&[
            [0.800, 0.0, -0.012, 0.110, 0.110, 0.060, 0.070, 2.2],
            [0.840, 0.0, -0.012, 0.162, 0.162, 0.092, 0.095, 2.3],
            [0.880, 0.0, -0.008, 0.172, 0.172, 0.104, 0.098, 2.4],
            [0.925, 0.0, -0.004, 0.165, 0.165, 0.108, 0.088, 2.4],
            [0.980, 0.0, 0.002, 0.150, 0.150, 0.110, 0.083, 2.3],
            [1.060, 0.0, 0.008, 0.127, 0.127, 0.095, 0.080, 2.3],
            [1.120, 0.0, 0.002, 0.131, 0.131, 0.092, 0.088, 2.4],
            [1.190, 0.0, -0.010, 0.140, 0.140, 0.092, 0.094, 2.5],
            [1.240, 0.0, -0.018, 0.145, 0.145, 0.088, 0.092, 2.5],
            [1.290, 0.0, -0.022, 0.140, 0.140, 0.072, 0.082, 2.4],
            [1.330, 0.0, -0.024, 0.105, 0.105, 0.055, 0.066, 2.2],
        ]);
        let leg = stations(&[
            [0.045, 0.101, -0.022, 0.028, 0.028, 0.040, 0.040, 2.0],
            [0.075, 0.101, -0.022, 0.033, 0.031, 0.038, 0.037, 2.1],
            [0.105, 0.101, -0.024, 0.030, 0.029, 0.035, 0.036, 2.0],
            [0.160, 0.101, -0.026, 0.036, 0.034, 0.038, 0.042, 2.0],
            [0.230, 0.101, -0.028, 0.047, 0.048, 0.046, 0.056, 2.0],
            [0.310, 0.100, -0.026, 0.056, 0.057, 0.052, 0.068, 2.0],
            [0.380, 0.097, -0.014, 0.053, 0.055, 0.053, 0.062, 2.1],
            [0.453, 0.095, 0.000, 0.053, 0.056, 0.057, 0.056, 2.3],
            [0.520, 0.094, 0.003, 0.058, 0.060, 0.062, 0.061, 2.2],
            [0.620, 0.093, 0.003, 0.072, 0.072, 0.080, 0.079, 2.1],
            [0.700, 0.092, 0.000, 0.080, 0.081, 0.092, 0.092, 2.1],
            [0.760, 0.092, -0.004, 0.083, 0.085, 0.098, 0.100, 2.2],
            [0.820, 0.093, -0.006, 0.080, 0.085, 0.094, 0.098, 2.2],
            [0.880, 0.095, -0.006, 0.060, 0.070, 0.070, 0.080, 2.2],
        ]);
        // distance from the ankle forwards, centre x, centre y, reach: out, in, up, down, exponent
        let foot = stations(&[
            [-0.038, 0.000, 0.026, 0.020, 0.020, 0.024, 0.020, 2.4],
            [-0.015, 0.000, 0.030, 0.030, 0.030, 0.040, 0.029, 2.5],
            [0.025, 0.001, 0.032, 0.032, 0.032, 0.044, 0.031, 2.5],
            [0.060, 0.004, 0.029, 0.035, 0.034, 0.034, 0.028, 2.5],
            [0.100, 0.008, 0.022, 0.041, 0.040, 0.026, 0.021, 2.6],
            [0.130, 0.010, 0.018, 0.044, 0.042, 0.018, 0.017, 2.7],
            [0.160, 0.008, 0.015, 0.040, 0.040, 0.014, 0.014, 2.6],
            [0.180, 0.005, 0.013, 0.028, 0.032, 0.010, 0.012, 2.4],
        ]);
        // distance from the shoulder along the arm, centre up, centre front, reach: up, down, front, back
        let down = Vec3::new(1.0, -1.0, 0.0).normalize();
        let up = Vec3::new(1.0, 1.0, 0.0).normalize();
        let arm = stations(&[
            [-0.020, -0.004, 0.000, 0.036, 0.045, 0.045, 0.045, 2.1],
            [0.020, -0.004, 0.000, 0.046, 0.052, 0.052, 0.050, 2.1],
            [0.065, -0.004, 0.000, 0.049, 0.050, 0.052, 0.050, 2.1],
            [0.130, -0.004, 0.000, 0.045, 0.046, 0.047, 0.048, 2.0],
            [0.210, -0.003, 0.000, 0.040, 0.041, 0.043, 0.043, 2.0],
            [0.280, 0.000, 0.002, 0.037, 0.037, 0.039, 0.038, 2.1],
            [0.335, 0.001, 0.008, 0.040, 0.038, 0.040, 0.039, 2.0],
            [0.420, 0.001, 0.016, 0.033, 0.031, 0.034, 0.034, 2.0],
            [0.495, 0.000, 0.023, 0.024, 0.023, 0.027, 0.027, 2.1],
            [0.524, 0.000, 0.026, 0.020, 0.020, 0.027, 0.027, 2.2],
            [0.560, 0.000, 0.030, 0.018, 0.018, 0.036, 0.033, 2.4],
            [0.605, -0.003, 0.036, 0.015, 0.015, 0.040, 0.039, 2.6],
            [0.650, -0.009, 0.041, 0.012, 0.012, 0.034, 0.035, 2.5],
            [0.693, -0.018, 0.045, 0.008, 0.009, 0.018, 0.020, 2.2],
        ]);
        let ankle = joints.ankle;
        let foot_axis = (joints.ball - ankle).with_y(0.0).normalize();
        let across = Vec3::Y.cross(foot_axis);
        let along_arm = |t: f32, u: f32, v: f32| joints.shoulder + down * t + up * u + Vec3::Z * v;
        Self {
            torso: Sweep::new(Vec3::ZERO, upright, [0.028, 0.03], &torso),
            breast: Ellipsoid::new(Vec3::new(0.082, 1.178, 0.060), Vec3::new(0.062, 0.064, 0.062), 0.25),
            buttock: Ellipsoid::new(Vec3::new(0.078, 0.852, -0.062), Vec3::new(0.078, 0.080, 0.066), 0.0),
            yoke: RoundCone {
                ends: [Vec3::new(0.0, 1.335, -0.030), joints.shoulder + Vec3::new(0.0, 0.004, 0.0)],
                radii: [0.058, 0.040],
            },
            neck: RoundCone {
                ends: [Vec3::new(0.0, 1.345, -0.030), Vec3::new(0.0, 1.500, 0.0)],
                radii: [0.056, 0.050],
            },
            skull: Ellipsoid::new(Vec3::new(0.0, 1.543, -0.003), Vec3::new(0.073, 0.086, 0.094), 0.15),
            face: Ellipsoid::new(Vec3::new(0.0, 1.490, 0.030), Vec3::new(0.056, 0.072, 0.056), -0.2),
            chin: Ellipsoid::new(Vec3::new(0.0, 1.433, 0.058), Vec3::new(0.026, 0.020, 0.024), 0.0),
            leg: Sweep::new(Vec3::ZERO, upright, [0.02, 0.03], &leg),
            foot: Sweep::new(ankle.with_y(0.0), [across, Vec3::Y, foot_axis], [0.018, 0.009], &foot),
            arm: Sweep::new(joints.shoulder, [up, Vec3::Z, down], [0.03, 0.008], &arm),
            thumb: RoundCone {
                ends: [along_arm(0.548, -0.004, 0.045), along_arm(0.608, -0.020, 0.082)],
                radii: [0.014, 0.0095],
            },
        }
    }

    /// Distances to trunk, leg and arm of the side `x ≥ 0`.
    pub fn parts(&self, p: Vec3) -> Parts {
        let mut trunk = self.torso.distance(p);
        trunk = smooth_union(trunk, self.breast.distance(p), 0.035);
        trunk = smooth_union(trunk, self.buttock.distance(p), 0.05);
        trunk = smooth_union(trunk, self.yoke.distance(p), 0.05);
        let mut head = smooth_union(self.skull.distance(p), self.face.distance(p), 0.03);
        head = smooth_union(head, self.chin.distance(p), 0.03);
        head = smooth_union(head, self.neck.distance(p), 0.02);
        trunk = smooth_union(trunk, head, 0.04);
        let leg = smooth_union(self.leg.distance(p), self.foot.distance(p), 0.03);
        let arm = smooth_union(self.arm.distance(p), self.thumb.distance(p), 0.02);
        Parts { trunk, leg, arm }
    }

    /// The body's signed field for `x ≥ 0`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let d = self.parts(p);
        smooth_union(smooth_union(d.trunk, d.leg, 0.03), d.arm, 0.035)
    }
}
