//! A set-in sleeve: a tapered panel with a bell-shaped cap that is eased into the armhole.

use super::limb::{StraightLimb, at_share_around};
use super::panel::{Outline, PanelEdge};
use super::place::length;
use super::shell::smoothstep;
use crate::{Error, Result};
use glam::{DVec2, DVec3};

/// How much longer the cap is than the armhole, so that it can bulge over the shoulder.
const CAP_EASE: f64 = 1.03;

/// Shortest sleeve below the underarm and lowest cap, m.
const SHORTEST: f64 = 0.04;
const LOWEST_CAP: f64 = 0.02;

/// Samples of the sag on each side of the sleeve.
const SAGS: i32 = 64;

/// A left sleeve. Panel +X is the back of the arm, +Y runs up to the shoulder.
pub struct Sleeve {
    /// Half widths at the underarm and at the cuff.
    half: [f64; 2],
    cap_height: f64,
    length: f64,
    /// Height in the arm's frame of the ring at the underarm.
    base_y: f64,
}

/// Where a sleeve is sewn in.
pub struct Armhole<'a> {
    /// The edges of the flat panels from underarm to shoulder: front, back.
    pub edges: [&'a PanelEdge; 2],
    /// Where the point at a share (0 underarm to 1 shoulder) of an edge lies, for the wearer's left.
    pub place: &'a dyn Fn(usize, f64) -> DVec3,
}

impl Sleeve {
    /// Drafts the sleeve for an arm and an armhole, at the underarm so many times as `wide` as the arm there. The cuff ends
    /// `short_of_wrist` above the wrist.
    pub fn new(arm: &StraightLimb, armhole: &Armhole, wide: f64, short_of_wrist: f64) -> Result<Self> {
        let lengths = armhole.edges.map(PanelEdge::length);
        let shoulder_y = arm.in_limb((armhole.place)(0, 1.0)).y;
        let cuff_y = short_of_wrist - arm.length;
        let mut sleeve = Self { half: [0.0; 2], cap_height: 0.10, length: 0.0, base_y: 0.0 };
        // The ring that fits the arm depends on how far down the cap reaches, and the other way round.
        for _ in 0..4 {
            sleeve.base_y = shoulder_y - sleeve.cap_height;
            let girths = [sleeve.base_y - 0.03, cuff_y].map(|y| length(&arm.shell.half_ring(y)));
            // A cap needs to be narrower than the hole it fills.
            let widest = 0.5 * CAP_EASE * (lengths[0] + lengths[1]) * 0.93;
            sleeve.half = [(wide * girths[0]).min(widest), 1.02 * girths[1]];
            let (mut low, mut high) = (0.01, 0.30);
            for _ in 0..40 {
                sleeve.cap_height = 0.5 * (low + high);
                let cap: f64 = sleeve.cap("+").length() * 2.0;
                if cap < CAP_EASE * (lengths[0] + lengths[1]) {
                    low = sleeve.cap_height;
                } else {
                    high = sleeve.cap_height;
                }
            }
        }
        let most = shoulder_y - cuff_y - SHORTEST;
        if most < LOWEST_CAP {
            return Err(Error::Invalid(format!(
                "the arm is {:.2} m long from shoulder to wrist, which is too short for a sleeve",
                arm.length
            )));
        }
        if sleeve.cap_height > most {
            // A short arm in a deep armhole: a lower cap, and so a wider sleeve.
            sleeve.cap_height = most;
            sleeve.base_y = shoulder_y - most;
            let (mut low, mut high) = (0.0, lengths[0] + lengths[1]);
            for _ in 0..40 {
                sleeve.half[0] = 0.5 * (low + high);
                let long = sleeve.cap("+").length() * 2.0 > CAP_EASE * (lengths[0] + lengths[1]);
                if long { high = sleeve.half[0] } else { low = sleeve.half[0] }
            }
        }
        if sleeve.base_y - cuff_y < SHORTEST {
            // Rings and caps that call for each other by turns, on a short thick arm: the last cap counts.
            sleeve.base_y = shoulder_y - sleeve.cap_height;
        }
        sleeve.length = sleeve.base_y - cuff_y;
        Ok(sleeve)
    }

    fn corners(&self) -> [DVec2; 3] {
        let [wide, cuff] = self.half;
        [DVec2::new(cuff, -self.length), DVec2::new(wide, 0.0), DVec2::new(0.0, self.cap_height)]
    }

    /// One half of the cap, as an edge from its lower corner (`+`) or from the top (`-`).
    fn cap(&self, side: &str) -> PanelEdge {
        let outline = self.outline("sleeve");
        let edge = outline.edge(&format!("cap {side}")).unwrap_or(0);
        outline.edges[edge].clone()
    }

    /// The outline. Edges: `cuff`, `under +`, `cap +`, `cap -`, `under -`.
    pub fn outline(&self, name: &str) -> Outline {
        let mirror = |p: DVec2| DVec2::new(-p.x, p.y);
        let [cuff, wide, top] = self.corners();
        let (w, h) = (wide.x, self.cap_height);
        let (c1, c2) = (DVec2::new(0.62 * w, 0.04 * h), DVec2::new(0.46 * w, h));
        Outline::pen(name, mirror(cuff))
            .line("cuff", cuff)
            .line("under +", wide)
            .curve("cap +", c1, c2, top)
            .curve("cap -", mirror(c2), mirror(c1), mirror(wide))
            .line("under -", mirror(cuff))
            .close()
    }

    /// Where a point of the left sleeve lies in the world.
    pub fn place<'a>(
        &self,
        arm: &'a StraightLimb,
        armhole: &'a Armhole,
    ) -> impl Fn(DVec2) -> DVec3 + use<'a> {
        let [wide, cuff] = self.half;
        let (base_y, total) = (self.base_y, self.length);
        let cap: Vec<DVec2> = self.cap("+").sample(256);
        // Where a column of the sleeve meets the armhole, and at what height of the panel.
        let hole = move |x: f64| {
            let at = x.abs().min(wide);
            let k = cap.windows(2).position(|w| w[1].x <= at).unwrap_or(cap.len() - 2);
            let part = ((cap[k].x - at) / (cap[k].x - cap[k + 1].x).max(1e-9)).clamp(0.0, 1.0);
            let height = cap[k].y + (cap[k + 1].y - cap[k].y) * part;
            let share = (k as f64 + part) / (cap.len() - 1) as f64;
            // Panel +X is the back of the arm.
            (arm.in_limb((armhole.place)(usize::from(x > 0.0), share)), height)
        };
        // Under the arm the sleeve does not follow the arm but hangs from the armhole: this is how far
        // the ring at the underarm is from where the armhole and the cap's height would put it.
        let sags: Vec<DVec3> = (-SAGS..=SAGS)
            .map(|k| {
                let share = f64::from(k) / f64::from(SAGS);
                let (top, height) = hole(share * wide);
                let foot = at_share_around(&arm.shell, base_y, share);
                (top - DVec3::Y * height - foot) * smoothstep(0.3, 0.8, share.abs())
            })
            .collect();
        let ring = move |share: f64, v: f64| {
            let at = (share + 1.0) * f64::from(SAGS);
            let k = (at.floor().max(0.0) as usize).min(sags.len() - 2);
            let sag = sags[k].lerp(sags[k + 1], at - k as f64);
            at_share_around(&arm.shell, base_y + v, share) + sag * smoothstep(-0.20, 0.0, v.min(0.0))
        };
        move |p| {
            if p.y <= 0.0 {
                let half = wide + (cuff - wide) * (-p.y / total);
                return arm.in_world(ring(p.x / half, p.y));
            }
            // The cap: straight lines from the armhole down to the ring at the underarm.
            let (top, height) = hole(p.x);
            let foot = ring((p.x / wide).clamp(-1.0, 1.0), 0.0);
            arm.in_world(foot.lerp(top, (p.y / height.max(1e-6)).min(1.0)))
        }
    }
}
