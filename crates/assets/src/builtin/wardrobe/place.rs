//! Laying panels around a body before anything is simulated.
//!
//! Below the arms a bodice goes around level rings, by arc length from the middle to the side.
//! Above, each column of cloth climbs over the shoulder in the plane where it stands, by arc length
//! again, so that front and back meet on the ridge of the shoulder.

use super::shell::{AROUND, Shell};
use glam::{DVec2, DVec3};

/// Front or back of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Towards +Z; panel +X is the wearer's left.
    Front,
    /// Towards −Z; panel +X is the wearer's right.
    Back,
}

impl Face {
    /// World x of panel +X.
    pub fn sign(self) -> f64 {
        if self == Self::Front { 1.0 } else { -1.0 }
    }
}

/// Quarter of a ring, from the middle of the face to the side, on the wearer's left.
fn quarter(ring: &[DVec2; AROUND], face: Face) -> Vec<DVec2> {
    let quarter = AROUND / 4;
    (0..=quarter).map(|i| ring[if face == Face::Front { i } else { AROUND / 2 - i }]).collect()
}

pub(super) fn length(line: &[DVec2]) -> f64 {
    line.windows(2).map(|w| w[0].distance(w[1])).sum()
}

/// The point of a line at `distance` from its start; its ends are extended.
pub(super) fn walk(line: &[DVec2], distance: f64) -> DVec2 {
    let mut left = distance;
    let last = line.len() - 2;
    for (k, w) in line.windows(2).enumerate() {
        let piece = w[0].distance(w[1]);
        if left <= piece || k == last {
            let along = (w[1] - w[0]).normalize_or_zero();
            return w[0] + along * left;
        }
        left -= piece;
    }
    line[0]
}

impl Shell {
    /// Length from the middle of a face to the side at a height.
    pub fn half_width(&self, y: f64, face: Face) -> f64 {
        length(&quarter(&self.ring(y), face))
    }

    /// The point at a share (−1 to 1, positive towards panel +X) of the way from the middle of a
    /// face to the side.
    pub fn at_share(&self, y: f64, share: f64, face: Face) -> DVec3 {
        let line = quarter(&self.ring(y), face);
        let p = walk(&line, share.abs() * length(&line));
        DVec3::new(p.x * share.signum() * face.sign(), y, p.y)
    }

    /// The profile `(y, z)` of a face in the plane at `x`, from height `from` up to the ridge of the
    /// shoulder, where front and back meet, or up the neck to height `to` where there is no ridge.
    pub fn climb(&self, x: f64, from: f64, to: f64, face: Face) -> Vec<DVec2> {
        let x = x.abs();
        let depth = |y: f64, face: Face| {
            let half = quarter(&self.ring(y), face);
            let cut = half.windows(2).find(|w| w[0].x <= x && x <= w[1].x);
            cut.map(|w| w[0].y + (w[1].y - w[0].y) * (x - w[0].x) / (w[1].x - w[0].x).max(1e-9))
        };
        let steps = 64;
        let heights: Vec<f64> =
            (0..=steps).map(|k| from + (to - from) * f64::from(k) / f64::from(steps)).collect();
        let top = heights.iter().rposition(|&y| depth(y, face).is_some()).unwrap_or(0);
        // Beside the trunk, under the shoulder, the cloth stands in the plane of the side.
        let mut line: Vec<DVec2> =
            heights[..=top].iter().map(|&y| DVec2::new(y, depth(y, face).unwrap_or(self.axis_z))).collect();
        if top < steps as usize {
            let (mut inside, mut outside) = (heights[top], heights[top + 1]);
            for _ in 0..20 {
                let y = 0.5 * (inside + outside);
                if depth(y, face).is_some() { inside = y } else { outside = y }
            }
            let ends = [Face::Front, Face::Back].map(|f| depth(inside, f).unwrap_or(self.axis_z));
            line.push(DVec2::new(inside, 0.5 * (ends[0] + ends[1])));
        }
        line
    }
}
