//! The figure: which primitives make the body, where their stations lie, and how they are let out and
//! taken in until the tape reads the wanted girths.
//!
//! The tables below are drawn at the survey's mean stature; `BodyField::new` moves their heights to the
//! wanted landmarks. The field is that of the half `x ≥ 0`; callers mirror.

use super::super::proportions::{Joints, Proportions};
use super::measure::field_girth;
use super::shape::{Dent, Ellipsoid, RoundCone, Station, Sweep, smooth_union};
use glam::{Vec2, Vec3};

/// The body as a signed field, part by part.
#[derive(Clone, Debug)]
pub struct BodyField {
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
    levels: Levels,
}

/// Heights between which a part lies, for skipping it elsewhere.
#[derive(Clone, Copy, Debug)]
struct Level {
    low: f32,
    high: f32,
}

impl Level {
    /// The distance, or a lower bound of it where that is beyond every smooth union's reach anyway.
    fn unless_far(&self, p: Vec3, distance: impl FnOnce() -> f32) -> f32 {
        let gap = (self.low - p.y).max(p.y - self.high);
        if gap > 0.07 { gap } else { distance() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Levels {
    torso: Level,
    breast: Level,
    buttock: Level,
    yoke: Level,
    head: Level,
    leg: Level,
    foot: Level,
    arm: Level,
}

impl Levels {
    /// The heights between which each primitive counts, drawn ones but for the arm.
    fn new(lift: impl Fn(f32) -> f32, arm: Level) -> Self {
        let level = |low: f32, high: f32| Level { low: lift(low), high: lift(high) };
        Self {
            torso: level(0.780, 1.365),
            breast: level(1.09, 1.29),
            buttock: level(0.75, 0.97),
            yoke: level(1.25, 1.41),
            head: level(1.28, 1.63),
            leg: level(0.0, 0.97),
            foot: level(0.0, 0.09),
            arm,
        }
    }
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

/// The girths that are fitted, in the order of `BodyField::tapes`.
const GIRTHS: usize = 11;

/// Heights of the drawn figure that move with the wearer's.
const DRAWN_HEIGHTS: [f32; 8] = [0.0, 0.449, 0.772, 0.980, 1.178, 1.335, 1.396, 1.6285];
/// Lengths of the drawn arm: to the elbow, to the wrist, to the finger tips.
const DRAWN_ARM: [f32; 4] = [0.0, 0.280, 0.524, 0.705];
/// Drawn biacromial breadth, hip breadth and foot length.
const DRAWN_SHOULDERS: f32 = 0.3653;
const DRAWN_HIPS: f32 = 0.3538;
const DRAWN_FOOT: f32 = 0.246;

/// height, centre x, centre z, reach: right, left, front, back, boxiness
const TORSO: &[[f32; 8]] = &[
    [0.812, 0.0, -0.008, 0.085, 0.085, 0.066, 0.055, 0.010],
    [0.845, 0.0, -0.008, 0.122, 0.122, 0.098, 0.078, 0.030],
    [0.880, 0.0, -0.006, 0.147, 0.147, 0.107, 0.086, 0.042],
    [0.925, 0.0, -0.002, 0.156, 0.156, 0.110, 0.088, 0.040],
    [0.980, 0.0, 0.000, 0.148, 0.148, 0.113, 0.093, 0.034],
    [1.020, 0.0, 0.001, 0.138, 0.138, 0.106, 0.089, 0.030],
    [1.060, 0.0, 0.001, 0.130, 0.130, 0.101, 0.090, 0.028],
    [1.120, 0.0, -0.003, 0.136, 0.136, 0.098, 0.094, 0.028],
    [1.190, 0.0, -0.010, 0.149, 0.149, 0.100, 0.100, 0.030],
    [1.240, 0.0, -0.018, 0.151, 0.151, 0.095, 0.099, 0.028],
    [1.290, 0.0, -0.024, 0.142, 0.142, 0.078, 0.085, 0.020],
    [1.330, 0.0, -0.026, 0.108, 0.108, 0.056, 0.066, 0.010],
];

/// height, centre x, centre z, reach: out, in, front, back, boxiness
const LEG: &[[f32; 8]] = &[
    [0.045, 0.101, -0.022, 0.028, 0.028, 0.038, 0.040, 0.000],
    [0.072, 0.101, -0.022, 0.032, 0.030, 0.036, 0.036, 0.010],
    [0.105, 0.101, -0.024, 0.029, 0.028, 0.035, 0.037, 0.000],
    [0.160, 0.101, -0.026, 0.034, 0.032, 0.038, 0.043, 0.000],
    [0.230, 0.101, -0.027, 0.046, 0.047, 0.046, 0.057, 0.000],
    [0.310, 0.100, -0.025, 0.055, 0.058, 0.051, 0.068, 0.000],
    [0.360, 0.098, -0.018, 0.052, 0.056, 0.050, 0.064, 0.010],
    [0.405, 0.096, -0.008, 0.047, 0.050, 0.051, 0.056, 0.015],
    [0.449, 0.095, 0.000, 0.048, 0.052, 0.055, 0.053, 0.022],
    [0.500, 0.094, 0.004, 0.052, 0.056, 0.059, 0.058, 0.018],
    [0.560, 0.094, 0.004, 0.060, 0.063, 0.070, 0.069, 0.010],
    [0.640, 0.093, 0.003, 0.070, 0.073, 0.087, 0.084, 0.008],
    [0.710, 0.093, 0.000, 0.076, 0.081, 0.098, 0.096, 0.010],
    [0.765, 0.093, -0.004, 0.079, 0.085, 0.105, 0.104, 0.020],
    [0.820, 0.094, -0.006, 0.080, 0.085, 0.104, 0.100, 0.030],
    [0.865, 0.092, -0.006, 0.079, 0.080, 0.096, 0.090, 0.030],
    [0.905, 0.088, -0.004, 0.070, 0.070, 0.075, 0.075, 0.010],
    [0.935, 0.082, -0.002, 0.052, 0.052, 0.060, 0.060, 0.010],
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
    [-0.020, -0.002, 0.000, 0.036, 0.040, 0.045, 0.045, 0.010],
    [0.020, -0.002, 0.000, 0.050, 0.044, 0.053, 0.051, 0.010],
    [0.065, -0.003, 0.000, 0.053, 0.046, 0.053, 0.051, 0.010],
    [0.130, -0.004, 0.000, 0.046, 0.046, 0.048, 0.049, 0.000],
    [0.210, -0.003, 0.000, 0.040, 0.040, 0.043, 0.043, 0.000],
    [0.280, 0.000, 0.002, 0.036, 0.036, 0.039, 0.038, 0.010],
    [0.335, 0.001, 0.007, 0.040, 0.037, 0.040, 0.039, 0.000],
    [0.420, 0.001, 0.016, 0.033, 0.031, 0.034, 0.034, 0.000],
    [0.490, 0.000, 0.023, 0.023, 0.022, 0.027, 0.027, 0.010],
    [0.522, 0.000, 0.026, 0.020, 0.020, 0.028, 0.027, 0.015],
    [0.560, 0.000, 0.030, 0.018, 0.019, 0.036, 0.033, 0.030],
    [0.605, -0.003, 0.035, 0.015, 0.016, 0.040, 0.038, 0.035],
    [0.650, -0.009, 0.038, 0.0125, 0.0125, 0.0365, 0.0355, 0.030],
    [0.672, -0.013, 0.039, 0.0115, 0.0115, 0.0315, 0.031, 0.020],
    [0.687, -0.016, 0.040, 0.0100, 0.0100, 0.0235, 0.023, 0.005],
    [0.697, -0.018, 0.040, 0.0070, 0.0070, 0.0130, 0.013, 0.000],
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

/// How much wider or narrower than drawn the trunk is at a drawn height; `shoulders` is the scale of their breadth.
fn torso_scale(sizes: &[f32; GIRTHS], shoulders: f32, y: f32) -> f32 {
    let &[_, _, bust, natural, waist, hip, ..] = sizes;
    between(
        &[
            (0.80, hip),
            (0.86, hip),
            (0.94, 0.3 * hip + 0.7 * waist),
            (0.98, waist),
            (1.06, natural),
            (1.17, bust),
            (1.22, bust),
            (1.30, shoulders),
        ],
        y,
    )
}

/// The same of the leg.
fn leg_scale(sizes: &[f32; GIRTHS], y: f32) -> f32 {
    let &[_, _, _, _, _, hip, thigh, calf, ankle, ..] = sizes;
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
}

/// The same of the arm, by the drawn way along it; it ends in the hand's own size.
fn arm_scale(sizes: &[f32; GIRTHS], shoulders: f32, hand: f32, t: f32) -> f32 {
    let &[.., upper_arm, wrist] = sizes;
    between(
        &[
            (-0.02, shoulders),
            (0.02, shoulders),
            (0.10, upper_arm),
            (0.16, upper_arm),
            (0.30, 0.5 * (upper_arm + wrist)),
            (0.49, wrist),
            (0.525, wrist),
            (0.57, hand),
        ],
        t,
    )
}

/// Hollows and, where the depth is negative, mounds; `at` places a drawn point.
fn dents(tall: f32, at: impl Fn(f32, f32, f32) -> Vec3) -> Vec<Dent> {
    let dent = |c: [f32; 3], reach: [f32; 3], depth: f32| Dent {
        centre: at(c[0], c[1], c[2]),
        reach: Vec3::from(reach) * tall,
        depth: depth * tall,
    };
    vec![
        // Along the spine, between the breasts, between the buttocks, above the collar bone.
        dent([0.0, 1.130, -0.100], [0.024, 0.170, 0.070], 0.007),
        dent([0.0, 1.190, 0.085], [0.032, 0.060, 0.060], 0.007),
        dent([0.0, 0.850, -0.120], [0.024, 0.060, 0.070], 0.011),
        dent([0.060, 1.350, 0.030], [0.036, 0.016, 0.030], 0.005),
        // The mound below the belly and the knee cap stand out.
        dent([0.0, 0.808, 0.075], [0.030, 0.030, 0.040], -0.009),
        dent([0.095, 0.455, 0.055], [0.030, 0.034, 0.030], -0.004),
    ]
}

impl BodyField {
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
            (p.thigh_circumference, on_leg(0.745), Vec3::Y),
            (p.calf_circumference, on_leg(0.310), Vec3::Y),
            (p.ankle_circumference, on_leg(0.108), Vec3::Y),
            (p.upper_arm_circumference, upper, down),
            (p.wrist_circumference, wrist, forearm),
        ]
    }

    /// The figure with its parts scaled by `sizes`.
    fn new(p: &Proportions, joints: &Joints, sizes: &[f32; GIRTHS]) -> Self {
        let &[head, neck, bust, _, _, hip, ..] = sizes;
        let lift = lifted(p);
        let tall = p.stature / DRAWN_HEIGHTS[7];
        let wide = [p.biacromial_breadth / DRAWN_SHOULDERS, p.hip_breadth / DRAWN_HIPS];
        let upright = [Vec3::X, Vec3::Z, Vec3::Y];
        let none = |_: f32| Vec2::ZERO;

        // The drawn leg's axis follows the joints.
        let leg_axis = |y: f32| {
            let drawn = [(0.070, 0.101), (0.449, 0.095), (0.860, 0.085)];
            let own = [(0.070, joints.ankle.x), (0.449, joints.knee.x), (0.860, joints.hip.x)];
            Vec2::new(between(&own, y) - between(&drawn, y), 0.0)
        };
        let along_arm = along_arm(p, joints, tall);
        let hand = p.hand_length / (DRAWN_ARM[3] - DRAWN_ARM[2]);
        let down = (joints.elbow - joints.shoulder).normalize();
        let up = Vec3::Z.cross(down).normalize();
        let in_arm = |t: f32, u: f32, v: f32| {
            joints.shoulder + down * along_arm(t) + up * (u * hand) + Vec3::Z * (v * hand)
        };
        let foot_axis = (joints.ball - joints.ankle).with_y(0.0).normalize();
        let foot = p.foot_length / DRAWN_FOOT;
        let at = |x: f32, y: f32, z: f32| Vec3::new(x * tall, lift(y), z * tall);
        let mix = |flat: [f32; 3], full: [f32; 3]| Vec3::from(flat).lerp(Vec3::from(full), p.bust);
        let skull = |c: Vec3, r: Vec3, pitch: f32| Ellipsoid::new(c, r * Vec3::new(head, tall, head), pitch);
        let arm_level =
            Level { low: in_arm(DRAWN_ARM[3], -0.04, 0.0).y, high: joints.shoulder.y + 0.06 * tall };
        Self {
            levels: Levels::new(lift, arm_level),
            torso: Sweep::new(
                Vec3::ZERO,
                upright,
                [0.028, 0.03],
                &stations(TORSO, lift, |y| torso_scale(sizes, wide[0], y), none),
            ),
            // A flat chest has the pectoral muscles in the breasts' place: wider, higher and shallower.
            breast: Ellipsoid::new(
                mix([0.076 * bust, lift(1.212), 0.040 * bust], [0.079 * bust, lift(1.190), 0.048 * bust]),
                mix([0.074, 0.066, 0.050], [0.064, 0.084, 0.060]) * bust,
                -0.3 - 0.25 * p.bust,
            ),
            buttock: Ellipsoid::new(
                Vec3::new(0.076 * hip, lift(0.848), (-0.044 - 0.008 * p.bust) * hip),
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
            leg: Sweep::new(
                Vec3::ZERO,
                upright,
                [0.02, 0.03],
                &stations(LEG, lift, |y| leg_scale(sizes, y), leg_axis),
            ),
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
                [0.03, 0.0068 * hand],
                &stations(ARM, along_arm, |t| arm_scale(sizes, wide[0], hand, t), none),
            ),
            thumb: RoundCone {
                ends: [in_arm(0.545, -0.004, 0.045), in_arm(0.622, -0.024, 0.084)],
                radii: [0.014 * hand, 0.0095 * hand],
            },
            dents: dents(tall, at),
        }
    }

    /// Distances to trunk, leg and arm of the side `x ≥ 0`.
    pub fn parts(&self, p: Vec3) -> Parts {
        let other = p * Vec3::new(-1.0, 1.0, 1.0);
        let pair = |e: &Ellipsoid, k: f32| smooth_union(e.distance(p), e.distance(other), k);
        let levels = &self.levels;
        let mut trunk = levels.torso.unless_far(p, || self.torso.distance(p));
        let breasts = levels.breast.unless_far(p, || pair(&self.breast, 0.03));
        trunk = smooth_union(trunk, breasts, 0.05);
        let buttocks = levels.buttock.unless_far(p, || pair(&self.buttock, 0.02));
        trunk = smooth_union(trunk, buttocks, 0.06);
        trunk = smooth_union(trunk, levels.yoke.unless_far(p, || self.yoke.distance(p)), 0.05);
        let head = levels.head.unless_far(p, || {
            let head = smooth_union(self.skull.distance(p), self.face.distance(p), 0.06);
            let jaw = smooth_union(self.jaw.distance(p), self.chin.distance(p), 0.04);
            smooth_union(smooth_union(head, jaw, 0.05), self.neck.distance(p), 0.025)
        });
        trunk = smooth_union(trunk, head, 0.05);
        let leg = levels.leg.unless_far(p, || {
            let foot = levels.foot.unless_far(p, || self.foot.distance(p));
            smooth_union(self.leg.distance(p), foot, 0.03)
        });
        let arm =
            levels.arm.unless_far(p, || smooth_union(self.arm.distance(p), self.thumb.distance(p), 0.02));
        Parts { trunk, leg, arm }
    }

    /// The body's signed field for `x ≥ 0`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let d = self.parts(p);
        let body = smooth_union(smooth_union(d.trunk, d.leg, 0.05), d.arm, 0.030);
        body + self.dents.iter().map(|dent| dent.offset(p)).sum::<f32>()
    }
}

/// From places along the drawn arm to places along the wearer's.
fn along_arm(p: &Proportions, joints: &Joints, tall: f32) -> impl Fn(f32) -> f32 + Copy + use<> {
    let upper = joints.shoulder.distance(joints.elbow);
    let to_wrist = upper + joints.elbow.distance(joints.wrist);
    let own = [0.0, upper, to_wrist, to_wrist + p.hand_length];
    let knots: [(f32, f32); 4] = std::array::from_fn(|k| (DRAWN_ARM[k], own[k]));
    move |t: f32| if t < 0.0 { t * tall } else { between(&knots, t) }
}

/// From heights of the drawn figure to heights of the wearer's.
fn lifted(p: &Proportions) -> impl Fn(f32) -> f32 + Copy + use<> {
    let own = [
        0.0,
        p.knee_height,
        p.crotch_height,
        p.waist_height,
        p.bust_height,
        p.acromial_height,
        p.cervicale_height,
        p.stature,
    ];
    move |y| {
        let knots: [(f32, f32); 8] = std::array::from_fn(|k| (DRAWN_HEIGHTS[k], own[k]));
        between(&knots, y)
    }
}
