//! A body as a tailor sees it: girths, heights, and where neck, arms and legs leave the trunk.
//!
//! Arms are told from the trunk by skin weights, except for what lies inside the shoulder joint; the head only
//! where it is so large or so low that it would hide the shoulders.

use super::limb::StraightLimb;
use super::shell::{AROUND, STEP, Shell};
use super::stand::Stand;
use crate::{Result, Role};
use glam::DVec3;

/// A head whose chin is not this far above the shoulder joints hides the neck, m.
const CHIN_ABOVE: f64 = 0.10;
/// Widest half of a neck, m, and as a share of the way to the shoulder joint.
const NECK: [f64; 2] = [0.08, 0.6];
/// A head rests on the shoulders if nowhere up to this share of the way to the shoulder joint it is so far above them, m;
/// straps then lie at the other share.
const UNDER_HEAD: f64 = 0.03;
const RESTS_UP_TO: f64 = 0.75;
const BESIDE_HEAD: f64 = 0.82;

/// Sine of the angle below the horizontal from which on an arm hangs.
const HANGING: f64 = 0.9;

/// A trunk so many times as wide as its shoulder joints are apart is stout.
const STOUT: f64 = 1.25;

/// What is measured on a body.
#[derive(Clone, Debug)]
pub struct Form {
    /// The taut trunk.
    pub trunk: Shell,
    /// Left shoulder joint, or the side of a trunk that reaches well beyond it.
    pub shoulder: DVec3,
    /// Where arm and trunk part.
    pub armpit_y: f64,
    /// Narrowest girth of the trunk.
    pub waist_y: f64,
    /// Widest girth above the waist.
    pub bust_y: f64,
    /// Widest girth below the waist.
    pub hip_y: f64,
    /// Height of the knees.
    pub knee_y: f64,
    /// Half the breadth of the neck.
    pub neck_half: f64,
    /// Whether the head leaves only the ends of the shoulders free.
    pub head_rests: bool,
    /// The left arm, as wide as the wider of the two.
    pub arm: StraightLimb,
    /// The left leg, likewise.
    pub leg: StraightLimb,
    /// Where the legs part.
    pub crotch_y: f64,
    /// Height of the ankles.
    pub ankle_y: f64,
    /// Which cut suits it.
    pub build: Build,
    /// How far the inner sides of the legs are from the middle, for slices from the floor up.
    apart: Vec<f64>,
}

/// Whose cut a garment follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Hips clearly wider than the waist.
    Female,
    /// A straight trunk.
    Male,
}

/// Hips over waist from which on the female cut fits better. The mannequins have 1.30 and 1.11, MakeHuman's woman
/// and man 1.40 and 1.27.
const HIPS_OVER_WAIST: f64 = 1.28;
/// Legs nearer than this to the middle have not parted, m.
const PARTED: f64 = 0.002;

/// Which vertices are arms and head.
struct Parts {
    arm: Vec<f32>,
    head: Vec<bool>,
}

impl Form {
    /// Measures a body.
    pub fn of(stand: &Stand) -> Result<Self> {
        let shoulder = stand.mean(Role::LeftUpperArm, Role::RightUpperArm)?;
        let elbow = stand.mean(Role::LeftLowerArm, Role::RightLowerArm)?;
        let wrist = stand.mean(Role::LeftHand, Role::RightHand)?;
        let hip = stand.mean(Role::LeftUpperLeg, Role::RightUpperLeg)?;
        let knee = stand.mean(Role::LeftLowerLeg, Role::RightLowerLeg)?;
        let parts = Parts::of(stand, shoulder)?;
        let armpit_y = parts.armpit(stand, shoulder, elbow);
        if !(armpit_y < shoulder.y && armpit_y > hip.y) {
            return Err(stand.refused(&format!(
                "its arms leave the trunk at {armpit_y:.2} m, not between hips ({:.2} m) and shoulders ({:.2} m); \
                 the skin that follows the upper arms should reach from shoulder to armpit",
                hip.y, shoulder.y
            )));
        }
        // The axis stands where the ridge of the shoulders is, so that it is inside every slice.
        let shell = |shoulder: DVec3| {
            let (trunk, arms) = parts.triangles(stand, shoulder);
            (Shell::around(&trunk, shoulder.z), arms)
        };
        let joint = shoulder;
        let (mut trunk, mut arms) = shell(joint);
        // Shoulder joints deep inside a stout trunk are not where its shoulders end.
        let side = trunk.ring(armpit_y - 0.02)[AROUND / 4].x;
        let mut shoulder = joint;
        if side > STOUT * joint.x {
            shoulder.x = 0.95 * side;
            (trunk, arms) = shell(shoulder);
        }
        let spine = shoulder.y - hip.y;
        let least = |from: f64, to: f64, sign: f64| {
            let n = ((to - from) / STEP).floor().max(1.0) as usize;
            (0..=n)
                .map(|k| from + STEP * k as f64)
                .min_by(|a, b| (sign * trunk.girth(*a)).total_cmp(&(sign * trunk.girth(*b))))
                .unwrap_or(from)
        };
        // The natural waist: narrowest between navel and lowest rib. Wider limits would find the
        // place under the bust on a body with a soft belly.
        let waist_y = least(hip.y + 0.30 * spine, hip.y + 0.37 * spine, 1.0);
        let bust_y = least(waist_y + 0.08, armpit_y - 0.01, -1.0);
        let hip_y = least(hip.y - 0.10, waist_y - 0.05, -1.0);
        for (part, y) in [("waist", waist_y), ("bust", bust_y), ("hips", hip_y)] {
            let girth = trunk.girth(y);
            if girth < 0.2 {
                return Err(stand
                    .refused(&format!("its {part} at {y:.2} m is {girth:.2} m around: there is no skin")));
            }
        }
        let beside = parts.beside_head(stand, shoulder);
        let neck_half = beside.unwrap_or_else(|| parts.neck(&trunk, shoulder));
        // On top of an arm that is held out; beside one that hangs.
        let steep = (joint - wrist).normalize_or(DVec3::Y).y > HANGING;
        let outer = if steep { DVec3::new(1.0, 1.0, 0.0) } else { DVec3::Y };
        let arm = StraightLimb::new([joint, elbow, wrist], outer, &arms);
        let ankle = stand.mean(Role::LeftFoot, Role::RightFoot)?;
        let leg = StraightLimb::new([hip, knee, ankle], DVec3::X, &parts.leg_triangles(stand)?);
        let apart = apart(stand, &parts, shoulder.y);
        let crotch_y = crotch(&apart, knee.y, waist_y);
        let girth = |y: f64| trunk.girth(y);
        let build = if girth(hip_y) > HIPS_OVER_WAIST * girth(waist_y) { Build::Female } else { Build::Male };
        let (knee_y, ankle_y) = (knee.y, ankle.y);
        Ok(Self {
            trunk,
            shoulder,
            armpit_y,
            waist_y,
            bust_y,
            hip_y,
            knee_y,
            neck_half,
            head_rests: beside.is_some(),
            arm,
            leg,
            crotch_y,
            ankle_y,
            build,
            apart,
        })
    }

    /// The same body, so much thicker all around.
    pub fn stouter(&self, by: f64) -> Self {
        let thick = |limb: &StraightLimb| limb.with_shell(limb.shell.grown(by));
        Self { trunk: self.trunk.grown(by), arm: thick(&self.arm), leg: thick(&self.leg), ..self.clone() }
    }

    /// How far the inner sides of the legs are from the middle at a height.
    pub fn legs_apart(&self, y: f64) -> f64 {
        let at = (y / STEP).clamp(0.0, (self.apart.len() - 1) as f64);
        let (k, part) = (at.floor() as usize, at.fract());
        self.apart[k] + (self.apart[(k + 1).min(self.apart.len() - 1)] - self.apart[k]) * part
    }

    /// Distance of the left leg's axis from the middle at the crotch.
    pub fn leg_middle_x(&self) -> f64 {
        let (mut low, mut high) = (-self.leg.length, 0.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.leg.in_world(DVec3::Y * middle).y < self.crotch_y { low = middle } else { high = middle }
        }
        self.leg.in_world(DVec3::Y * low).x
    }
}

/// The least distance from the middle plane of what is not arm, for slices up to a height.
fn apart(stand: &Stand, parts: &Parts, high: f64) -> Vec<f64> {
    let mut apart = vec![f64::INFINITY; (high / STEP).ceil().max(1.0) as usize + 1];
    for tri in stand.body.mesh.triangles.iter().filter(|t| t.iter().all(|&i| parts.arm[i as usize] < 0.5)) {
        let corners = tri.map(|i| stand.positions[i as usize]);
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            let (a, b) = if a.y < b.y { (a, b) } else { (b, a) };
            let first = (a.y / STEP).ceil().max(0.0) as usize;
            let last = (b.y / STEP).floor().max(0.0) as usize;
            for (s, least) in apart.iter_mut().enumerate().take(last + 1).skip(first) {
                let part = if b.y > a.y { (STEP * s as f64 - a.y) / (b.y - a.y) } else { 0.0 };
                let x = a.lerp(b, part).x;
                *least = least.min(x.abs());
            }
            // An edge across the middle plane closes the slices it passes.
            if a.x * b.x < 0.0 {
                let y = a.lerp(b, a.x / (a.x - b.x)).y;
                let s = (y / STEP).round().max(0.0) as usize;
                if let Some(least) = apart.get_mut(s) {
                    *least = 0.0;
                }
            }
        }
    }
    apart.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect()
}

/// The height up to which the legs are apart, from the knees upwards.
fn crotch(apart: &[f64], knee_y: f64, waist_y: f64) -> f64 {
    let (from, to) = ((knee_y / STEP).ceil() as usize, (waist_y / STEP) as usize);
    let closed = (from..to).find(|&s| apart.get(s).is_none_or(|x| *x < PARTED));
    closed.unwrap_or(to) as f64 * STEP
}

impl Parts {
    fn of(stand: &Stand, shoulder: DVec3) -> Result<Self> {
        let arms = [stand.index(Role::LeftUpperArm)?, stand.index(Role::RightUpperArm)?];
        let mut head: Vec<bool> = stand.share(&[stand.index(Role::Head)?]).iter().map(|w| *w > 0.5).collect();
        let chin = (0..head.len()).filter(|&v| head[v]).map(|v| stand.positions[v].y);
        if chin.fold(f64::INFINITY, f64::min) > shoulder.y + CHIN_ABOVE {
            head.fill(false);
        }
        Ok(Self { arm: stand.share(&arms), head })
    }

    /// The height at which arm and trunk part: the lowest triangle on their border or, where arms are pieces of
    /// their own, the lowest place of their inner ends.
    fn armpit(&self, stand: &Stand, shoulder: DVec3, elbow: DVec3) -> f64 {
        let places = &stand.positions;
        let mirrored = |v: u32| places[v as usize] * DVec3::new(places[v as usize].x.signum(), 1.0, 1.0);
        let upper_arm = shoulder.distance(elbow);
        let border = stand.body.mesh.triangles.iter().filter(|tri| {
            let arms = tri.iter().filter(|&&i| self.arm[i as usize] > 0.5).count();
            // Hands that touch a thigh are no armpit.
            (arms == 1 || arms == 2) && mirrored(tri[0]).distance(shoulder) < upper_arm
        });
        let low = border.flatten().fold(f64::INFINITY, |y, &i| y.min(places[i as usize].y));
        if low.is_finite() {
            return low;
        }
        let along = |p: DVec3| (p - shoulder).dot((elbow - shoulder).normalize_or(DVec3::X));
        let of_arm: Vec<DVec3> =
            (0..places.len() as u32).filter(|&v| self.arm[v as usize] > 0.5).map(mirrored).collect();
        let inner = of_arm.iter().map(|p| along(*p)).fold(f64::INFINITY, f64::min);
        let end = of_arm.iter().filter(|p| along(**p) < inner.max(0.0) + 0.2 * upper_arm);
        end.fold(f64::INFINITY, |y, p| y.min(p.y))
    }

    /// The triangles of the trunk, and those of both arms seen as left.
    fn triangles(&self, stand: &Stand, shoulder: DVec3) -> (Vec<[DVec3; 3]>, Vec<[DVec3; 3]>) {
        let (mut trunk, mut arms_seen_left) = (Vec::new(), Vec::new());
        for tri in &stand.body.mesh.triangles {
            let corners = tri.map(|i| stand.positions[i as usize]);
            if tri.iter().all(|&i| self.head[i as usize]) {
                continue;
            }
            let arms = tri.iter().filter(|&&i| self.arm[i as usize] > 0.5).count();
            // The roundness of the shoulder belongs to both.
            let reach = |p: &DVec3| if p.y > shoulder.y - 0.05 { shoulder.x + 0.02 } else { shoulder.x };
            if arms == 0 || corners.iter().all(|p| p.x.abs() < reach(p)) {
                trunk.push(corners);
            }
            // On top of the shoulder the arm begins wherever it has any say, so that no gap is left
            // between it and the trunk; below, only flesh that follows the arm counts.
            let enough = |i: u32| {
                let high = stand.positions[i as usize].y > shoulder.y;
                self.arm[i as usize] > if high { 0.02 } else { 0.3 }
            };
            if tri.iter().all(|&i| enough(i)) {
                let mirror = if corners[0].x < 0.0 { -1.0 } else { 1.0 };
                arms_seen_left.push(corners.map(|p| p * DVec3::new(mirror, 1.0, 1.0)));
            }
        }
        (trunk, arms_seen_left)
    }

    /// The triangles of both legs seen as left.
    fn leg_triangles(&self, stand: &Stand) -> Result<Vec<[DVec3; 3]>> {
        let sides = [Role::LeftUpperLeg, Role::RightUpperLeg].map(|role| stand.index(role));
        let [left, right] = sides;
        let shares = [(stand.share(&[left?]), 1.0), (stand.share(&[right?]), -1.0)];
        let mut out = Vec::new();
        for tri in &stand.body.mesh.triangles {
            for (share, mirror) in &shares {
                if tri.iter().all(|&i| share[i as usize] > 0.5) {
                    out.push(tri.map(|i| stand.positions[i as usize] * DVec3::new(*mirror, 1.0, 1.0)));
                }
            }
        }
        Ok(out)
    }

    /// How far from the middle a head that rests on the shoulders lets cloth through between it and them; `None` where there is
    /// room beside the neck.
    fn beside_head(&self, stand: &Stand, shoulder: DVec3) -> Option<f64> {
        let (head, trunk): (Vec<_>, Vec<_>) = self.skin_points(stand).partition(|(_, of_head)| *of_head);
        let [head, trunk] = [head, trunk].map(|of| of.into_iter().map(|(p, _)| p).collect::<Vec<DVec3>>());
        // Of the ridge of the shoulders: the head's nape and the chin are elsewhere.
        let near = |p: &DVec3, x: f64| (p.x.abs() - x).abs() < 0.02 && (p.z - shoulder.z).abs() < 0.12;
        let clear = |x: f64| {
            let heights = |of: &[DVec3]| of.iter().filter(|p| near(p, x)).map(|p| p.y).collect::<Vec<f64>>();
            let low = heights(&head).into_iter().fold(f64::INFINITY, f64::min);
            let high = heights(&trunk).into_iter().fold(f64::NEG_INFINITY, f64::max);
            low - high > UNDER_HEAD
        };
        let first = NECK[0].min(NECK[1] * shoulder.x);
        let mut beside_neck =
            (0..).map(|k| first + 0.01 * f64::from(k)).take_while(|x| *x < RESTS_UP_TO * shoulder.x);
        let rests = self.head.contains(&true) && !beside_neck.any(clear);
        rests.then_some(BESIDE_HEAD * shoulder.x)
    }

    /// Points all over the skin of head and trunk, and whether each is of the head. Corners alone would miss what large
    /// triangles pass through.
    fn skin_points(&self, stand: &Stand) -> impl Iterator<Item = (DVec3, bool)> {
        const CUTS: usize = 5;
        let all = stand.body.mesh.triangles.iter();
        let no_arm = all.filter(|t| t.iter().all(|&i| self.arm[i as usize] < 0.5));
        no_arm.flat_map(|tri| {
            let [a, b, c] = tri.map(|i| stand.positions[i as usize]);
            let of_head = tri.iter().all(|&i| self.head[i as usize]);
            (0..=CUTS).flat_map(move |i| {
                (0..=CUTS - i).map(move |j| {
                    let [s, t] = [i, j].map(|k| k as f64 / CUTS as f64);
                    (a + (b - a) * s + (c - a) * t, of_head)
                })
            })
        })
    }

    /// Half the breadth of the neck: the narrowest place between shoulders and skull, or what is left open on top
    /// of a trunk whose head was taken off.
    fn neck(&self, trunk: &Shell, shoulder: DVec3) -> f64 {
        let half = |y: f64| trunk.ring(y)[AROUND / 4].x;
        let heights = || (0..40).map(|k| shoulder.y + STEP * f64::from(k));
        let most = NECK[0].min(NECK[1] * shoulder.x);
        if !self.head.contains(&true) {
            return heights().map(half).filter(|r| *r > 0.02).fold(most, f64::min);
        }
        let top = heights().filter(|y| half(*y) > 0.02).fold(shoulder.y, f64::max);
        half(top - 0.02).clamp(0.03f64.min(most), most)
    }
}
