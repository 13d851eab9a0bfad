//! Takes as a model D sees them: chosen bones, roots and displacements in the bind pose as coefficients.

use crate::Error;
use crate::inputs::surroundings::Heard;
use crate::spaces::cloth::ClothSpace;
use crate::spaces::unposed;
use crate::takes::sequence::{canonical_bones, joined_roots};
use crate::takes::source::{Head, TakeSource};
use faer::Mat;
use glam::{DVec3, Vec3};
use toile_assets::{Attachment, Hearing, Provenance, RootFrame, Take};

/// Frames that the space is found from, evenly thinned: ten times as many change its directions by less than
/// clips do.
const SPACE_FRAMES: usize = 2048;

/// For so many frames of takes one of the garment at rest. On clips left out the worst second was at 2.3 of skinning's error
/// without, 2.1, 1.8, 1.4, 1.1, 1.1 and 1.1 with one in 50, 20, 8, 3, 2 and 1; all others were as right as before up to 2.
const AT_REST_EVERY: usize = 3;
/// And at least so many are.
const LEAST_AT_REST: usize = 30;

/// One take.
pub(crate) struct TakeMotion {
    /// Number of its clip; a stop goes with the clip it branches from, a mirror image with its original.
    pub clip: usize,
    /// Learned from and not scored: a mirror image would only say the same again, and at rest there is nothing to foretell.
    pub told_only: bool,
    /// Entries of the canonical bones' linear parts: `9·joints × frames`, the led-in frames of a stop first.
    pub bones: Mat<f64>,
    pub roots: Vec<RootFrame>,
    /// Wind, gravity and cloth of every frame.
    pub heard: Heard,
    /// Leading frames that belong to the clip a stop branches from.
    pub lead: usize,
    /// `dims × (frames − lead)`.
    pub y: Mat<f64>,
    /// Per frame the squared displacement in all, m² summed over vertices.
    pub apart_sq: Vec<f64>,
}

/// All takes, and the space of their displacements.
pub(crate) struct Motions {
    pub all: Vec<TakeMotion>,
    pub clips: usize,
    pub space: ClothSpace,
    /// The farthest that each vertex was from its skinned place, in the bind pose, m.
    pub travel_m: Vec<f32>,
    /// How a model of these hears its surroundings; `None` where it is not to.
    pub hearing: Option<Hearing>,
}

impl Motions {
    /// Reads every take twice: for the space, and for its coefficients.
    pub fn new<S: TakeSource + ?Sized>(
        source: &S,
        heads: &[Head],
        attachment: &Attachment,
        joints: &[usize],
        dims: usize,
        watch: &dyn Fn(f64),
    ) -> Result<Self, Error> {
        let space = space(source, heads, attachment, dims)?;
        let mut names: Vec<&str> = heads.iter().map(|h| h.clip.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut all: Vec<TakeMotion> = Vec::with_capacity(heads.len());
        let mut travel_m = vec![0.0f32; attachment.rest.len()];
        for (i, head) in heads.iter().enumerate() {
            watch(0.5 + 0.5 * i as f64 / heads.len() as f64);
            let take = source.take(i)?;
            let clip = names.binary_search(&head.clip.as_str()).unwrap_or(0);
            let mut motion = of(&take, attachment, joints, &space, &mut travel_m);
            (motion.clip, motion.told_only) = (clip, head.mirrored);
            if let Some(at) = head.stop_frame {
                let plain = heads.iter().position(|h| {
                    h.clip == head.clip
                        && h.stop_frame.is_none()
                        && h.mirrored == head.mirrored
                        && h.frames > at
                });
                if let Some(plain) = plain {
                    lead_in(&mut motion, source, (plain, at), joints, head.provenance)?;
                }
            }
            all.push(motion);
        }
        Ok(Self { all, clips: names.len(), space, travel_m, hearing: None })
    }

    /// Adds what is known without a simulation: in the bind pose, standing, the garment is as it was draped, which is its skinned
    /// place. Captured clips seldom stand so, and what is foretold there from afar is worse than skinned cloth.
    pub fn add_rest(&mut self, bind_heading: f64, joints: usize) {
        let frames: usize = self.all.iter().map(|m| m.y.ncols()).sum();
        let count = (frames / AT_REST_EVERY).max(LEAST_AT_REST);
        let bind = glam::DMat3::from_rotation_y(-bind_heading).to_cols_array();
        self.all.push(TakeMotion {
            clip: self.clips,
            told_only: true,
            bones: Mat::from_fn(9 * joints, count, |r, _| bind[r % 9]),
            roots: vec![RootFrame { position: DVec3::ZERO, heading: bind_heading }; count],
            heard: Heard::default(),
            lead: 0,
            y: Mat::zeros(self.space.basis.ncols(), count),
            apart_sq: vec![0.0; count],
        });
    }
}

fn entries(take: &Take, frames: usize, joints: &[usize]) -> Mat<f64> {
    let mut out = Mat::<f64>::zeros(9 * joints.len(), frames);
    for f in 0..frames {
        let row: Vec<f64> = canonical_bones(take, f).collect();
        for (k, &j) in joints.iter().enumerate() {
            out.col_as_slice_mut(f)[9 * k..9 * k + 9].copy_from_slice(&row[12 * j..12 * j + 9]);
        }
    }
    out
}

fn of(
    take: &Take,
    attachment: &Attachment,
    joints: &[usize],
    space: &ClothSpace,
    travel_m: &mut [f32],
) -> TakeMotion {
    let mut data = Mat::<f64>::zeros(3 * take.vertices, take.len());
    let mut apart_sq = Vec::with_capacity(take.len());
    for f in 0..take.len() {
        let apart = unposed(attachment, take, f);
        apart_sq.push(apart.iter().map(|p| p.length_squared()).sum());
        for (v, p) in apart.iter().enumerate() {
            travel_m[v] = travel_m[v].max(p.length() as f32);
            data.col_as_slice_mut(f)[3 * v..3 * v + 3].copy_from_slice(&p.to_array());
        }
    }
    TakeMotion {
        clip: 0,
        told_only: false,
        bones: entries(take, take.len(), joints),
        roots: take.roots.clone(),
        heard: (0..take.len()).map(|f| take.surroundings(f)).collect(),
        lead: 0,
        y: space.basis.transpose() * data,
        apart_sq,
    }
}

/// Puts the frames before a stop in front of it.
fn lead_in<S: TakeSource + ?Sized>(
    motion: &mut TakeMotion,
    source: &S,
    (plain, at): (usize, usize),
    joints: &[usize],
    conditions: Option<Provenance>,
) -> Result<(), Error> {
    let plain = source.take(plain)?;
    let before = entries(&plain, at, joints);
    let own = &motion.bones;
    let joined =
        Mat::from_fn(
            own.nrows(),
            at + own.ncols(),
            |r, f| {
                if f < at { before[(r, f)] } else { own[(r, f - at)] }
            },
        );
    motion.bones = joined;
    motion.roots = joined_roots(&plain.roots, 0, at, &motion.roots);
    // The clip may have been recorded in another cloth or wind first; the stop's own are those of its take.
    if let Some(p) = conditions {
        let before = (0..at).map(|f| p.conditions.surroundings(f as f64 / plain.fps));
        motion.heard = before.chain(std::mem::take(&mut motion.heard)).collect();
    }
    motion.lead = at;
    Ok(())
}

/// Directions of displacement from the skinned garment itself, not from their mean: a mean is one of them.
fn space<S: TakeSource + ?Sized>(
    source: &S,
    heads: &[Head],
    attachment: &Attachment,
    dims: usize,
) -> Result<ClothSpace, Error> {
    let plain: Vec<usize> = (0..heads.len()).filter(|&i| heads[i].stop_frame.is_none()).collect();
    let looked = if plain.is_empty() { (0..heads.len()).collect() } else { plain };
    let frames: usize = looked.iter().map(|&i| heads[i].frames).sum();
    let stride = frames.div_ceil(SPACE_FRAMES).max(1);
    let mut sample = source.take(0)?.into_owned();
    (sample.positions, sample.bones, sample.reports) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = 0;
    for &i in &looked {
        let take = source.take(i)?;
        let mut at = next;
        while at < take.len() {
            sample
                .positions
                .extend(unposed(attachment, &take, at).iter().map(|p: &DVec3| -> Vec3 { p.as_vec3() }));
            at += stride;
        }
        next = at - take.len();
    }
    let count = sample.positions.len() / sample.vertices.max(1);
    sample.roots = vec![RootFrame { position: DVec3::ZERO, heading: 0.0 }; count];
    let takes = vec![sample];
    ClothSpace::about(&takes, &[0], vec![0.0; 3 * attachment.rest.len()], dims, count.max(1))
}
