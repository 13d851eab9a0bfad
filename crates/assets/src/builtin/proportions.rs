//! The mannequin's measures and the skeleton that follows from them.

use crate::{Error, Joint, Result, Skeleton, Transform};
use glam::Vec3;

/// Lengths, heights and girths of a standing adult, in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportions {
    /// Crown above the floor.
    pub stature: f32,
    /// Seventh vertebra of the neck above the floor.
    pub cervicale_height: f32,
    /// Tip of the shoulder above the floor.
    pub acromial_height: f32,
    /// Fullest part of the bust above the floor.
    pub bust_height: f32,
    /// Narrowest part of the trunk above the floor.
    pub natural_waist_height: f32,
    /// Navel above the floor.
    pub waist_height: f32,
    /// Fullest part of the buttocks above the floor.
    pub hip_height: f32,
    /// Crotch above the floor.
    pub crotch_height: f32,
    /// Middle of the knee cap above the floor.
    pub knee_height: f32,
    /// From tip to tip of the shoulders.
    pub biacromial_breadth: f32,
    /// Widest across the hips.
    pub hip_breadth: f32,
    /// Around the brow.
    pub head_circumference: f32,
    /// Around the middle of the neck.
    pub neck_circumference: f32,
    /// Around the bust at `bust_height`.
    pub chest_circumference: f32,
    /// Around the trunk at `natural_waist_height`.
    pub natural_waist_circumference: f32,
    /// Around the trunk at `waist_height`.
    pub waist_circumference: f32,
    /// Around the buttocks at `hip_height`.
    pub hip_circumference: f32,
    /// Around the top of one thigh.
    pub thigh_circumference: f32,
    /// Around the fullest part of one calf.
    pub calf_circumference: f32,
    /// Around the narrowest part above one ankle.
    pub ankle_circumference: f32,
    /// Around the middle of one upper arm.
    pub upper_arm_circumference: f32,
    /// Around one wrist.
    pub wrist_circumference: f32,
    /// From the shoulder joint to the finger tips.
    pub arm_length: f32,
    /// From heel to toe.
    pub foot_length: f32,
    /// From the wrist to the finger tips.
    pub hand_length: f32,
    /// How full the breasts are: 1 for women's mean, 0 for a flat chest.
    pub bust: f32,
}

/// Joint positions at rest in metres; those of limbs are the left side's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Joints {
    pub hip: Vec3,
    pub knee: Vec3,
    pub ankle: Vec3,
    /// Ball of the foot.
    pub ball: Vec3,
    pub clavicle: Vec3,
    pub shoulder: Vec3,
    pub elbow: Vec3,
    pub wrist: Vec3,
    pub knuckle: Vec3,
    /// Root, then the spine upwards to the base of the skull.
    pub spine: [Vec3; 7],
    /// Over what height the surface passes from one spine joint to the next.
    pub spine_ramp: [f32; 7],
    pub skull_base: Vec3,
}

impl Proportions {
    /// Means of the 1,986 women in the 2012 anthropometric survey of US Army personnel (ANSUR II; Gordon
    /// et al. 2014, NATICK/TR-15/007). The survey's waist is at the navel (omphalion); the natural waist
    /// above it, where a dressmaker ties the tape, is not in the survey and is drawn 13 % narrower.
    /// The survey's upper arm is flexed (0.306); ours hangs.
    ///
    /// From the survey's means to the tenth of a millimetre: stature, cervicale, acromion, navel and knee
    /// heights, both breadths, and the girths of head, neck, chest, waist, hips, thigh and calf. Levels of
    /// bust, hips and crotch are its mean shares of stature (0.719, 0.512, 0.480).
    pub fn female() -> Self {
        Self {
            stature: 1.6285,
            cervicale_height: 1.3957,
            acromial_height: 1.3351,
            bust_height: 1.171,
            natural_waist_height: 1.060,
            waist_height: 0.9801,
            hip_height: 0.834,
            crotch_height: 0.7817,
            knee_height: 0.449,
            biacromial_breadth: 0.3653,
            hip_breadth: 0.3538,
            head_circumference: 0.5611,
            neck_circumference: 0.3298,
            chest_circumference: 0.9469,
            natural_waist_circumference: 0.745,
            waist_circumference: 0.8609,
            hip_circumference: 1.0212,
            thigh_circumference: 0.6161,
            calf_circumference: 0.3733,
            ankle_circumference: 0.215,
            upper_arm_circumference: 0.300,
            wrist_circumference: 0.154,
            arm_length: 0.705,
            foot_length: 0.246,
            hand_length: 0.181,
            bust: 1.0,
        }
    }

    /// Means of the 4,082 men in the same survey.
    pub fn male() -> Self {
        Self {
            stature: 1.7562,
            cervicale_height: 1.5173,
            acromial_height: 1.4407,
            bust_height: 1.291,
            natural_waist_height: 1.130,
            waist_height: 1.0565,
            hip_height: 0.887,
            crotch_height: 0.8465,
            knee_height: 0.4884,
            biacromial_breadth: 0.4157,
            hip_breadth: 0.3457,
            head_circumference: 0.5744,
            neck_circumference: 0.3976,
            chest_circumference: 1.0587,
            natural_waist_circumference: 0.905,
            waist_circumference: 0.9406,
            hip_circumference: 1.0195,
            thigh_circumference: 0.6251,
            calf_circumference: 0.3923,
            ankle_circumference: 0.229,
            upper_arm_circumference: 0.350,
            wrist_circumference: 0.176,
            arm_length: 0.758,
            foot_length: 0.271,
            hand_length: 0.193,
            bust: 0.0,
        }
    }

    /// Checks what the generator relies on: levels ascend from knee to crown with some room between them,
    /// and every girth and length lies within a factor of two of the women's mean.
    pub fn check(&self) -> Result<()> {
        let levels = [
            ("floor", 0.0),
            ("knee", self.knee_height),
            ("crotch", self.crotch_height),
            ("waist", self.waist_height),
            ("bust", self.bust_height),
            ("acromial", self.acromial_height),
            ("cervicale", self.cervicale_height),
            ("stature", self.stature),
        ];
        for pair in levels.windows(2) {
            let ((low, a), (high, b)) = (pair[0], pair[1]);
            if b.is_nan() || b - a < 0.03 {
                return Err(Error::Invalid(format!(
                    "proportions: the {high} height {b} m must be at least 3 cm above the {low} height {a} m"
                )));
            }
        }
        let mean = Self::female();
        let sizes = [
            ("stature", self.stature, mean.stature),
            ("natural waist height", self.natural_waist_height, mean.natural_waist_height),
            ("hip height", self.hip_height, mean.hip_height),
            ("biacromial breadth", self.biacromial_breadth, mean.biacromial_breadth),
            ("hip breadth", self.hip_breadth, mean.hip_breadth),
            ("head circumference", self.head_circumference, mean.head_circumference),
            ("neck circumference", self.neck_circumference, mean.neck_circumference),
            ("chest circumference", self.chest_circumference, mean.chest_circumference),
            ("natural waist", self.natural_waist_circumference, mean.natural_waist_circumference),
            ("waist circumference", self.waist_circumference, mean.waist_circumference),
            ("hip circumference", self.hip_circumference, mean.hip_circumference),
            ("thigh circumference", self.thigh_circumference, mean.thigh_circumference),
            ("calf circumference", self.calf_circumference, mean.calf_circumference),
            ("ankle circumference", self.ankle_circumference, mean.ankle_circumference),
            ("upper arm circumference", self.upper_arm_circumference, mean.upper_arm_circumference),
            ("wrist circumference", self.wrist_circumference, mean.wrist_circumference),
            ("foot length", self.foot_length, mean.foot_length),
            ("hand length", self.hand_length, mean.hand_length),
        ];
        for (what, own, mean) in sizes {
            if !(0.5 * mean..=2.0 * mean).contains(&own) {
                return Err(Error::Invalid(format!(
                    "proportions: {what} of {own} m is not human; expected about {mean} m"
                )));
            }
        }
        if !(0.0..=1.5).contains(&self.bust) {
            return Err(Error::Invalid(format!("proportions: bust {} is not within 0 and 1.5", self.bust)));
        }
        Ok(())
    }

    /// Where the joints lie at rest.
    pub fn joints(&self) -> Joints {
        let h = self.stature;
        // Heights as shares of stature (Drillis and Contini 1966, as printed in Winter's Biomechanics),
        // the shoulder 37 mm below the acromion, where the head of the humerus turns.
        let down = Vec3::new(1.0, -1.0, 0.0).normalize();
        let shoulder = Vec3::new(
            0.5 * self.biacromial_breadth - 0.015 * h,
            self.acromial_height - 0.0225 * h,
            -0.012 * h,
        );
        let elbow = shoulder + down * (0.172 * h);
        let wrist = elbow + (down + Vec3::new(0.0, 0.0, 0.10)).normalize() * (0.150 * h);
        let knuckle = wrist + (down + Vec3::new(0.0, 0.0, 0.14)).normalize() * (0.055 * h);
        let centre = |y: f32, z: f32| Vec3::new(0.0, y * h, z * h);
        Joints {
            hip: Vec3::new(0.052 * h, 0.528 * h, 0.0),
            knee: Vec3::new(0.058 * h, self.knee_height, 0.002 * h),
            ankle: Vec3::new(0.062 * h, 0.043 * h, -0.014 * h),
            ball: Vec3::new(0.068 * h, 0.012 * h, 0.062 * h),
            clavicle: Vec3::new(0.014 * h, 0.809 * h, 0.012 * h),
            shoulder,
            elbow,
            wrist,
            knuckle,
            spine: [
                centre(0.555, -0.004),
                centre(0.597, -0.008),
                centre(0.660, -0.012),
                centre(0.740, -0.020),
                centre(0.850, -0.018),
                centre(0.880, -0.008),
                centre(0.912, -0.002),
            ],
            spine_ramp: [0.10, 0.08, 0.12, 0.14, 0.05, 0.05, 0.05],
            skull_base: centre(0.912, -0.002),
        }
    }

    /// Joints with H-Anim-like names, every one world-aligned at rest: arms 45° down, feet under the hips,
    /// facing +Z with the left side towards +X.
    pub fn skeleton(&self) -> Skeleton {
        let Joints {
            hip, knee, ankle, ball, clavicle, shoulder, elbow, wrist, knuckle, spine: column, ..
        } = self.joints();

        let mut joints: Vec<(String, Option<usize>, Vec3)> = vec![("humanoid_root".into(), None, column[0])];
        for (prefix, side) in [("l", 1.0), ("r", -1.0)] {
            let first = joints.len();
            for (k, (name, at)) in
                [("hip", hip), ("knee", knee), ("ankle", ankle), ("midtarsal", ball)].into_iter().enumerate()
            {
                let parent = if k == 0 { 0 } else { first + k - 1 };
                joints.push((format!("{prefix}_{name}"), Some(parent), at * Vec3::new(side, 1.0, 1.0)));
            }
        }
        let spine = joints.len();
        for (k, (name, at)) in [
            ("vl5", column[1]),
            ("vl1", column[2]),
            ("vt6", column[3]),
            ("vc7", column[4]),
            ("vc4", column[5]),
            ("skullbase", column[6]),
        ]
        .into_iter()
        .enumerate()
        {
            joints.push((name.into(), Some(if k == 0 { 0 } else { spine + k - 1 }), at));
        }
        let chest = spine + 2;
        for (prefix, side) in [("l", 1.0), ("r", -1.0)] {
            let first = joints.len();
            for (k, (name, at)) in [
                ("sternoclavicular", clavicle),
                ("shoulder", shoulder),
                ("elbow", elbow),
                ("wrist", wrist),
                ("metacarpal", knuckle),
            ]
            .into_iter()
            .enumerate()
            {
                let parent = if k == 0 { chest } else { first + k - 1 };
                joints.push((format!("{prefix}_{name}"), Some(parent), at * Vec3::new(side, 1.0, 1.0)));
            }
        }
        let places: Vec<Vec3> = joints.iter().map(|j| j.2).collect();
        let joints = joints
            .into_iter()
            .map(|(name, parent, at)| Joint {
                name,
                parent,
                rest: Transform::from_translation(parent.map_or(at, |p| at - places[p])),
            })
            .collect();
        Skeleton { joints }
    }
}
