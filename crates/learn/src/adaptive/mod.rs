//! A pose-space database from takes (Hahn et al. 2014, §4).
//!
//! Poses become whitened coordinates of the posed body ([`poses`]), k-means places sites among them ([`sites`]), and the
//! unposed displacements about each site give it a basis ([`bases`]).

mod bases;
mod poses;
mod sites;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::models::train::attachment;
use crate::takes::source::{TakeSource, heads};
use poses::Poses;
use toile_assets::{Body, Lineage};
use toile_model::adaptive::{Database, Hang, Site};

/// What a database may be told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdaptiveSettings {
    /// Sites; 0 for two or three a clip, which suits exercises that go through one movement (§4).
    pub sites: usize,
    /// Basis vectors a site, at most: `d` of the paper.
    pub vectors: usize,
    /// A site's basis ends where a singular value is less than this share of its largest: ε_PCA.
    pub least_significance: f64,
    /// Dimensions of the space of poses, at most.
    pub pose_dims: usize,
    /// A direction of the posed bodies counts if its singular value is at least this share of the largest.
    pub least_pose: f64,
    /// Frames that a site looks at, evenly thinned: memory is bounded by this.
    pub most_frames: usize,
    /// Fewer frames than this make no site.
    pub least_frames: usize,
    /// Of the first places of the sites.
    pub seed: u64,
    /// Whether the file is to hold half precision.
    pub half: bool,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        Self {
            sites: 0,
            vectors: 12,
            least_significance: 0.01,
            pose_dims: 12,
            least_pose: 0.05,
            most_frames: 240,
            least_frames: 8,
            seed: 1,
            half: true,
        }
    }
}

impl AdaptiveSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// A database and how it came about.
#[derive(Clone, Debug)]
pub struct AdaptiveTraining {
    /// What was learned.
    pub database: Database,
    /// Frames of all takes.
    pub frames: usize,
    /// Vertices, of all frames together, whose blended bones were so flat that a singular value was held at 0.2.
    pub clamped: usize,
    /// Root mean square of the displacements, and of what the bases leave of them, m.
    pub displacement_m: f64,
    /// What the nearest site's basis leaves, m.
    pub left_m: f64,
    /// What was changed of the settings, and why.
    pub remarks: Vec<String>,
}

/// Blended bones flatter than this are not undone further.
const LEAST_STRETCH: f64 = 0.2;
/// Bones that carry a vertex, at most: as many as engines take.
const BONES: usize = 4;
/// Sites a clip: two and a half.
const SITES_A_CLIP: f64 = 2.5;

/// Learns a database.
pub fn train_adaptive<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    settings: &AdaptiveSettings,
    watch: &dyn Fn(f64),
) -> Result<AdaptiveTraining, Error> {
    let (heads, first) = heads(body, source, false)?;
    let mut remarks = Vec::new();
    let Some(attachment) = attachment(body, &first, &mut remarks) else {
        return Err(Error::Empty(
            "the takes do not hold the draped garment, which a database's displacements are relative to; simulate them \
             anew"
                .into(),
        ));
    };
    let attachment = toile_assets::Attachment { skin: attachment.skin.strongest(BONES), ..attachment };
    let plain: Vec<usize> = (0..heads.len()).collect();
    let frames: usize = heads.iter().map(|h| h.frames).sum();
    let mut clips: Vec<&str> = heads.iter().map(|h| h.clip.as_str()).collect();
    clips.sort_unstable();
    clips.dedup();
    let wanted = match settings.sites {
        0 => (SITES_A_CLIP * clips.len() as f64).round() as usize,
        n => n,
    };
    refuse_too_few(&heads, wanted, frames, settings)?;
    let poses = Poses::new(body, source, &plain, settings)?;
    let places = sites::place(&poses, wanted, settings);
    if places.len() < wanted {
        remarks.push(format!(
            "{} sites instead of {wanted}: the others were nearest to fewer than {} frames",
            places.len(),
            settings.least_frames
        ));
    }
    let found = bases::find(source, &attachment, &poses, &places, settings, watch)?;
    let (mut sites, mut hangs) = (Vec::new(), Vec::new());
    for (place, basis) in places.iter().zip(&found.bases) {
        hangs.extend(basis.hangs.iter().map(|(frame, along)| Hang {
            place: poses.place(*frame).iter().map(|v| *v as f32).collect(),
            site: sites.len(),
            along: along.clone(),
        }));
        let first = sites.last().map_or(0, |s: &Site| s.vectors().end);
        let place = place.place.iter().map(|v| *v as f32).collect();
        sites.push(Site { place, first, significance: basis.significance.clone(), frames: basis.frames });
    }
    let learned = heads.iter().map(|h| (h.clip.as_str(), h.provenance.as_ref()));
    let mut notes = vec![("takes".to_string(), heads.len().to_string())];
    notes.push(("frames".into(), frames.to_string()));
    notes.push(("clips".into(), clips.join(" ")));
    for key in ["garment", "fabric"] {
        notes.extend(first.notes.iter().filter(|(k, _)| k == key).cloned());
    }
    notes.extend(Lineage::of(learned).map(|l| l.to_note()));
    let database = Database {
        name: body.name.clone(),
        fps: first.fps,
        joints: first.joints,
        triangles: first.triangles.clone(),
        attachment,
        hips: body.hip_line(),
        bones_mean: poses.mean.iter().map(|v| *v as f32).collect(),
        pose_from_bones: poses.from_bones.iter().map(|v| *v as f32).collect(),
        sites,
        vectors: found.bases.into_iter().flat_map(|b| b.vectors).collect(),
        cubature: None,
        reach: found.reach,
        hangs,
        half: settings.half,
        notes,
    };
    if database.vectors.is_empty() {
        return Err(Error::Empty("the garment never leaves its skinned place in any take".into()));
    }
    Ok(AdaptiveTraining {
        database,
        frames,
        clamped: found.clamped,
        displacement_m: found.displacement_m,
        left_m: found.left_m,
        remarks,
    })
}

/// Refuses takes that cannot fill their sites, and says every reason.
fn refuse_too_few(
    heads: &[crate::takes::source::Head],
    wanted: usize,
    frames: usize,
    settings: &AdaptiveSettings,
) -> Result<(), Error> {
    let least = settings.least_frames;
    let mut faults = Vec::new();
    if wanted * least > frames {
        let fewer = match frames / least.max(1) {
            0 => String::new(),
            most => format!(" or ask for at most {most} sites"),
        };
        faults.push(format!(
            "{frames} frames for {wanted} sites: each needs at least {least}; simulate longer clips{fewer}"
        ));
    }
    let short = heads.iter().filter(|h| h.frames < least);
    faults.extend(short.map(|h| format!("`{}` has {} frames, fewer than {least}", h.clip, h.frames)));
    if faults.is_empty() { Ok(()) } else { Err(Error::Empty(faults.join("\n"))) }
}
