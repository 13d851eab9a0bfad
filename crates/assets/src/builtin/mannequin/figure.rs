//! The figure: which primitives make the body, where their stations lie, and how they are let out and
//! taken in until the tape reads the wanted girths.
//!
//! The tables below are drawn at the survey's mean stature; `Figure::new` moves their heights to the
//! wanted landmarks. The field is that of the half `x ≥ 0`; callers mirror.

use super::super::proportions::{Joints, Proportions};
use super::measure::field_girth;
use super::shape::{Dent, Ellipsoid, RoundCone, Station, Sweep, smooth_union};
use glam::{Vec2, Vec3};

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
    jaw: Ellipsoid,
    chin: Ellipsoid,
    leg: Sweep,
    foot: Sweep,
    arm: Sweep,
    thumb: RoundCone,
    dents: Vec<Dent>,
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

/// The girths that are fitted, in the order of `Figure::tapes`.
const GIRTHS: usize = 11;

/// Heights of the drawn figure that move with the wearer's.
const DRAWN_HEIGHTS: [f32; 9] = [0.0, 0.449, 0.772, 0.850, 0.980, 1.178, 1.335, 1.396, 1.6285];
/// Lengths of the drawn arm: to the elbow, to the wrist, to the finger tips.
const DRAWN_ARM: [f32; 4] = [0.0, 0.280, 0.524, 0.705];
/// Drawn biacromial breadth, hip breadth and foot length.
const DRAWN_SHOULDERS: f32 = 0.3653;
const DRAWN_HIPS: f32 = 0.3538;
const DRAWN_FOOT: f32 = 0.246;

/// height, centre x, centre z, reach: right, left, front, back, boxiness
const TORSO: &[[f32; 8]] = &[
    [0.812, 0.0, -0.010, 0.075, 0.075, 0.052, 0.055, 0.010],
    [0.845, 0.0, -0.010, 0.122, 0.122, 0.092, 0.078, 0.030],
    [0.880, 0.0, -0.006, 0.150, 0.150, 0.107, 0.086, 0.042],
    [0.925, 0.0, -0.002, 0.159, 0.159, 0.110, 0.088, 0.040],
    [0.980, 0.0, 0.000, 0.155, 0.155, 0.109, 0.090, 0.030],
    [1.020, 0.0, 0.001, 0.144, 0.144, 0.104, 0.088, 0.026],
    [1.060, 0.0, 0.001, 0.135, 0.135, 0.099, 0.087, 0.026],
    [1.120, 0.0, -0.003, 0.139, 0.139, 0.098, 0.093, 0.028],
    [1.190, 0.0, -0.010, 0.149, 0.149, 0.100, 0.100, 0.030],
    [1.240, 0.0, -0.018, 0.151, 0.151, 0.095, 0.099, 0.028],
    [1.290, 0.0, -0.024, 0.142, 0.142, 0.078, 0.085, 0.020],
    [1.330, 0.0, -0.026, 0.108, 0.108, 0.056, 0.066, 0.010],
];

/// height, centre x, centre z, reach: out, in, front, back, boxiness
const LEG: &[[f32; 8]] = &[
    [0.045, 0.101, -0.022, 0.028, 0.028, 0.038, 0.040, 0.00],
    [0.072, 0.101, -0.022, 0.032, 0.030, 0.036, 0.036, 0.01],
    [0.105, 0.101, -0.024, 0.030, 0.029, 0.034, 0.036, 0.00],
    [0.160, 0.101, -0.026, 0.036, 0.034, 0.038, 0.042, 0.00],
    [0.230, 0.101, -0.027, 0.047, 0.048, 0.046, 0.056, 0.00],
    [0.310, 0.100, -0.025, 0.056, 0.058, 0.051, 0.067, 0.00],
    [0.360, 0.098, -0.018, 0.053, 0.056, 0.050, 0.064, 0.01],
    [0.405, 0.096, -0.008, 0.050, 0.053, 0.051, 0.056, 0.015],
    [0.449, 0.095, 0.000, 0.052, 0.056, 0.055, 0.052, 0.025],
    [0.500, 0.094, 0.004, 0.056, 0.059, 0.059, 0.058, 0.02],
    [0.560, 0.094, 0.004, 0.064, 0.065, 0.070, 0.069, 0.01],
    [0.640, 0.093, 0.003, 0.075, 0.074, 0.085, 0.083, 0.005],
    [0.710, 0.093, 0.000, 0.081, 0.081, 0.094, 0.093, 0.005],
    [0.765, 0.093, -0.004, 0.080, 0.085, 0.104, 0.103, 0.02],
    [0.820, 0.094, -0.006, 0.080, 0.085, 0.104, 0.100, 0.03],
    [0.865, 0.092, -0.006, 0.079, 0.080, 0.096, 0.090, 0.03],
    [0.905, 0.088, -0.004, 0.070, 0.070, 0.075, 0.075, 0.01],
    [0.935, 0.082, -0.002, 0.052, 0.052, 0.060, 0.060, 0.01],
];

/// distance in front of the ankle, centre across, centre height, reach: out, in, up, down, boxiness
const FOOT: &[[f32; 8]] = &[
    [-0.038, 0.000, 0.026, 0.020, 0.020, 0.024, 0.022, 0.030],
    [-0.015, 0.000, 0.030, 0.029, 0.029, 0.040, 0.029, 0.035],
    [0.025, 0.001, 0.032, 0.031, 0.031, 0.044, 0.031, 0.035],
    [0.060, 0.004, 0.029, 0.034, 0.033, 0.034, 0.028, 0.035],
    [0.100, 0.008, 0.023, 0.040, 0.039, 0.025, 0.022, 0.035],
    [0.130, 0.009, 0.019, 0.044, 0.043, 0.018, 0.018, 0.035],
    [0.155, 0.006, 0.0165, 0.041, 0.043, 0.0145, 0.0155, 0.035],
    [0.176, 0.000, 0.0145, 0.030, 0.036, 0.0115, 0.0135, 0.025],
];

/// distance from the shoulder, centre up, centre front, reach: up, down, front, back, boxiness
const ARM: &[[f32; 8]] = &[
    [-0.020, -0.004, 0.000, 0.038, 0.045, 0.045, 0.045, 0.010],
    [0.020, -0.004, 0.000, 0.052, 0.052, 0.053, 0.051, 0.010],
    [0.065, -0.004, 0.000, 0.054, 0.050, 0.053, 0.051, 0.010],
    [0.130, -0.004, 0.000, 0.046, 0.046, 0.048, 0.049, 0.000],
    [0.210, -0.003, 0.000, 0.040, 0.040, 0.043, 0.043, 0.000],
    [0.280, 0.000, 0.002, 0.036, 0.036, 0.039, 0.038, 0.010],
    [0.335, 0.001, 0.007, 0.040, 0.037, 0.040, 0.039, 0.000],
    [0.420, 0.001, 0.016, 0.033, 0.031, 0.034, 0.034, 0.000],
    [0.490, 0.000, 0.023, 0.023, 0.022, 0.027, 0.027, 0.010],
    [0.522, 0.000, 0.026, 0.020, 0.020, 0.028, 0.027, 0.015],
    [0.560, 0.000, 0.030, 0.018, 0.019, 0.036, 0.033, 0.030],
    [0.605, -0.003, 0.035, 0.015, 0.016, 0.040, 0.038, 0.035],
    [0.650, -0.009, 0.038, 0.0125, 0.0125, 0.037, 0.036, 0.035],
    [0.675, -0.014, 0.039, 0.011, 0.011, 0.031, 0.031, 0.025],
    [0.694, -0.018, 0.040, 0.009, 0.009, 0.020, 0.021, 0.010],
];

/// Straight lines between `(place, value)` pairs, constant beyond the ends.
fn between(knots: &[(f32, f32)], x: f32) -> f32 {
    let last = knots.len() - 1;
    let k = knots.partition_point(|k| k.0 <= x);
    if k == 0 {
        return knots[0].1;
    }
    if k > last {
        return knots[last].1;
    }
    let ((x0, y0), (x1, y1)) = (knots[k - 1], knots[k]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// A table's rows as stations: `place` moves them along the axis, `scale` sizes them, and `shift` moves
/// their centres.
fn stations(
    rows: &[[f32; 8]],
    place: impl Fn(f32) -> f32,
    scale: impl Fn(f32) -> f32,
    shift: impl Fn(f32) -> Vec2,
) -> Vec<Station> {
    rows.iter()
        .map(|&[t, cu, cv, a, b, c, d, boxy]| {
            let (s, m) = (scale(t), shift(t));
            Station { t: place(t), centre: [cu + m.x, cv + m.y], reach: [a, b, c, d].map(|r| r * s), boxy }
        })
        .collect()
}

impl Figure {
    /// The figure on which the tape reads the girths of `p`.
    pub fn fitted(p: &Proportions, joints: &Joints) -> Self {
        let mut sizes = [1.0; GIRTHS];
        let mut figure = Self::new(p, joints, &sizes);
        // Girths hang together only weakly, so a few rounds of the rule of three settle all of them.
        for _ in 0..6 {
            let field = |q: Vec3| figure.distance(q.with_x(q.x.abs()));
            for (size, (wanted, at, normal)) in sizes.iter_mut().zip(figure.tapes(p, joints)) {
                *size = (*size * wanted / field_girth(&field, at, normal)).clamp(0.6, 1.6);
            }
            figure = Self::new(p, joints, &sizes);
        }
        figure
    }

    /// Where the tape goes: wanted girth, a point inside, the plane's normal.
    pub fn tapes(&self, p: &Proportions, joints: &Joints) -> [(f32, Vec3, Vec3); GIRTHS] {
        let lift = lifted(p);
        let level = |y: f32| Vec3::new(0.0, y, 0.0);
        let [low, high] = self.neck.ends;
        let down = (joints.elbow - joints.shoulder).normalize();
        let upper = joints.shoulder.lerp(joints.elbow, 0.46);
        let wrist = joints.elbow.lerp(joints.wrist, 0.97);
        let forearm = (joints.wrist - joints.elbow).normalize();
        let on_leg = |y: f32| {
            let y = lift(y);
            let (from, to) =
                if y > joints.knee.y { (joints.hip, joints.knee) } else { (joints.knee, joints.ankle) };
            from.lerp(to, (from.y - y) / (from.y - to.y))
        };
        [
            (p.head_circumference, level(lift(1.553)), Vec3::Y),
            (p.neck_circumference, low.lerp(high, 0.42), (high - low).normalize()),
            (p.chest_circumference, level(p.bust_height), Vec3::Y),
            (p.natural_waist_circumference, level(p.natural_waist_height), Vec3::Y),
            (p.waist_circumference, level(p.waist_height), Vec3::Y),
            (p.hip_circumference, level(p.hip_height), Vec3::Y),
            (p.thigh_circumference, on_leg(0.752), Vec3::Y),
            (p.calf_circumference, on_leg(0.310), Vec3::Y),
            (p.ankle_circumference, on_leg(0.108), Vec3::Y),
            (p.upper_arm_circumference, upper, down),
            (p.wrist_circumference, wrist, forearm),
        ]
    }

    /// The figure with its parts scaled by `sizes`.
    fn new(p: &Proportions, joints: &Joints, sizes: &[f32; GIRTHS]) -> Self {
        let &[head, neck, bust, natural, waist, hip, thigh, calf, ankle, upper_arm, wrist] = sizes;
        let lift = lifted(p);
        let tall = p.stature / DRAWN_HEIGHTS[8];
        let wide = [p.biacromial_breadth / DRAWN_SHOULDERS, p.hip_breadth / DRAWN_HIPS];
        let upright = [Vec3::X, Vec3::Z, Vec3::Y];
        let none = |_: f32| Vec2::ZERO;

        let torso_scale = |y: f32| {
            between(
                &[
                    (0.80, hip),
                    (0.88, hip),
                    (0.98, waist),
                    (1.06, natural),
                    (1.17, bust),
                    (1.22, bust),
                    (1.30, wide[0]),
                ],
                y,
            )
        };
        let leg_scale = |y: f32| {
            let knee = 0.5 * (thigh + calf);
            between(
                &[
                    (0.06, 0.5 + 0.5 * ankle),
                    (0.09, ankle),
                    (0.12, ankle),
                    (0.28, calf),
                    (0.34, calf),
                    (0.45, knee),
                    (0.70, thigh),
                    (0.77, thigh),
                    (0.82, hip),
                ],
                y,
            )
        };
        // The drawn leg's axis follows the joints.
        let leg_axis = |y: f32| {
            let drawn = [(0.070, 0.101), (0.449, 0.095), (0.860, 0.085)];
            let own = [(0.070, joints.ankle.x), (0.449, joints.knee.x), (0.860, joints.hip.x)];
            Vec2::new(between(&own, y) - between(&drawn, y), 0.0)
        };
        let arm_knots = [
            0.0,
            joints.shoulder.distance(joints.elbow),
            joints.shoulder.distance(joints.elbow) + joints.elbow.distance(joints.wrist),
            joints.shoulder.distance(joints.elbow) + joints.elbow.distance(joints.wrist) + p.hand_length,
        ];
        let along_arm = |t: f32| {
            if t < 0.0 {
                return t * tall;
            }
            let knots: Vec<(f32, f32)> = DRAWN_ARM.iter().copied().zip(arm_knots).collect();
            between(&knots, t)
        };
        let hand = p.hand_length / (DRAWN_ARM[3] - DRAWN_ARM[2]);
        let arm_scale = |t: f32| {
            between(
                &[
                    (-0.02, wide[0]),
                    (0.02, wide[0]),
                    (0.10, upper_arm),
                    (0.16, upper_arm),
                    (0.30, 0.5 * (upper_arm + wrist)),
                    (0.49, wrist),
                    (0.525, wrist),
                    (0.57, hand),
                ],
                t,
            )
        };

        let down = (joints.elbow - joints.shoulder).normalize();
        let up = Vec3::Z.cross(down).normalize();
        let in_arm = |t: f32, u: f32, v: f32| {
            joints.shoulder + down * along_arm(t) + up * (u * hand) + Vec3::Z * (v * hand)
        };
        let foot_axis = (joints.ball - joints.ankle).with_y(0.0).normalize();
        let foot = p.foot_length / DRAWN_FOOT;
        let at = |x: f32, y: f32, z: f32| Vec3::new(x * tall, lift(y), z * tall);
        let dent = |c: [f32; 3], reach: [f32; 3], depth: f32| Dent {
            centre: at(c[0], c[1], c[2]),
            reach: Vec3::from(reach) * tall,
            depth: depth * tall,
        };
        let skull = |c: Vec3, r: Vec3, pitch: f32| Ellipsoid::new(c, r * Vec3::new(head, tall, head), pitch);
        Self {
            torso: Sweep::new(Vec3::ZERO, upright, [0.028, 0.03], &stations(TORSO, lift, torso_scale, none)),
            breast: Ellipsoid::new(
                Vec3::new(0.079 * bust, lift(1.190), 0.048 * bust),
                Vec3::new(0.064, 0.084, 0.060) * bust,
                -0.55,
            ),
            buttock: Ellipsoid::new(
                Vec3::new(0.076 * hip, lift(0.858), -0.052 * hip),
                Vec3::new(0.088, 0.098, 0.082) * hip,
                0.30,
            ),
            yoke: RoundCone {
                ends: [at(0.0, 1.340, -0.032), joints.shoulder + Vec3::new(0.0, 0.006, 0.0)],
                radii: [0.058 * tall, 0.040 * tall],
            },
            neck: RoundCone {
                ends: [at(0.0, 1.345, -0.044), at(0.0, 1.500, -0.002)],
                radii: [0.054 * neck, 0.051 * neck],
            },
            skull: skull(at(0.0, 1.5435, -0.005), Vec3::new(0.0735, 0.085, 0.0935), 0.12),
            face: skull(at(0.0, 1.502, 0.027), Vec3::new(0.058, 0.078, 0.058), -0.05),
            jaw: skull(at(0.0, 1.458, 0.034), Vec3::new(0.046, 0.036, 0.046), -0.25),
            chin: skull(at(0.0, 1.434, 0.054), Vec3::new(0.026, 0.021, 0.022), 0.0),
            leg: Sweep::new(Vec3::ZERO, upright, [0.02, 0.03], &stations(LEG, lift, leg_scale, leg_axis)),
            foot: Sweep::new(
                joints.ankle.with_y(0.0),
                [Vec3::Y.cross(foot_axis), Vec3::Y, foot_axis],
                [0.018 * foot, 0.013 * foot],
                &stations(FOOT, |t| t * foot, |_| foot, none)
                    .into_iter()
                    .map(|s| Station { centre: s.centre.map(|c| c * foot), ..s })
                    .collect::<Vec<_>>(),
            ),
            arm: Sweep::new(
                joints.shoulder,
                [up, Vec3::Z, down],
                [0.03, 0.011 * hand],
                &stations(ARM, along_arm, arm_scale, none),
            ),
            thumb: RoundCone {
                ends: [in_arm(0.545, -0.004, 0.045), in_arm(0.622, -0.024, 0.084)],
                radii: [0.014 * hand, 0.0095 * hand],
            },
            dents: vec![
                // Along the spine, between the breasts, between the buttocks, above the collar bone.
                dent([0.0, 1.130, -0.100], [0.024, 0.170, 0.070], 0.007),
                dent([0.0, 1.190, 0.085], [0.032, 0.060, 0.060], 0.007),
                dent([0.0, 0.850, -0.120], [0.016, 0.060, 0.070], 0.012),
                dent([0.060, 1.350, 0.030], [0.036, 0.016, 0.030], 0.005),
                // The knee cap stands out.
                dent([0.095, 0.455, 0.055], [0.030, 0.034, 0.030], -0.004),
            ],
        }
    }

    /// Distances to trunk, leg and arm of the side `x ≥ 0`.
    pub fn parts(&self, p: Vec3) -> Parts {
        let other = p * Vec3::new(-1.0, 1.0, 1.0);
        let pair = |e: &Ellipsoid, k: f32| smooth_union(e.distance(p), e.distance(other), k);
        let mut trunk = self.torso.distance(p);
        trunk = smooth_union(trunk, pair(&self.breast, 0.03), 0.05);
        trunk = smooth_union(trunk, pair(&self.buttock, 0.02), 0.06);
        trunk = smooth_union(trunk, self.yoke.distance(p), 0.05);
        let mut head = smooth_union(self.skull.distance(p), self.face.distance(p), 0.06);
        let jaw = smooth_union(self.jaw.distance(p), self.chin.distance(p), 0.04);
        head = smooth_union(head, jaw, 0.05);
        head = smooth_union(head, self.neck.distance(p), 0.025);
        trunk = smooth_union(trunk, head, 0.05);
        let leg = smooth_union(self.leg.distance(p), self.foot.distance(p), 0.03);
        let arm = smooth_union(self.arm.distance(p), self.thumb.distance(p), 0.02);
        Parts { trunk, leg, arm }
    }

    /// The body's signed field for `x ≥ 0`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let d = self.parts(p);
        let body = smooth_union(smooth_union(d.trunk, d.leg, 0.05), d.arm, 0.035);
        body + self.dents.iter().map(|dent| dent.offset(p)).sum::<f32>()
    }
}

/// From heights of the drawn figure to heights of the wearer's.
fn lifted(p: &Proportions) -> impl Fn(f32) -> f32 + Copy + use<> {
    let own = [
        0.0,
        p.knee_height,
        p.crotch_height,
        p.hip_height,
        p.waist_height,
        p.bust_height,
        p.acromial_height,
        p.cervicale_height,
        p.stature,
    ];
    move |y| {
        let knots: [(f32, f32); 9] = std::array::from_fn(|k| (DRAWN_HEIGHTS[k], own[k]));
        between(&knots, y)
    }
}
