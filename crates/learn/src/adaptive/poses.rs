//! Poses as coordinates in which the distance is one of posed bodies (§4, Pose Space Parameterization).

use super::AdaptiveSettings;
use crate::Error;
use crate::spaces::body::BodySpace;
use crate::takes::source::TakeSource;
use toile_assets::Body;

/// Every training frame in whitened coordinates.
pub(super) struct Poses {
    /// Mean of the canonical bones.
    pub mean: Vec<f64>,
    /// `dims × 12·joints`, row by row.
    pub from_bones: Vec<f64>,
    pub dims: usize,
    /// Coordinates frame after frame, `dims` each.
    pub places: Vec<f64>,
    /// Take and frame of each.
    pub of: Vec<(usize, usize)>,
}

impl Poses {
    pub fn new<S: TakeSource + ?Sized>(
        body: &Body,
        source: &S,
        plain: &[usize],
        settings: &AdaptiveSettings,
    ) -> Result<Self, Error> {
        let space = BodySpace::new(body, source, plain, settings.pose_dims.max(1))?;
        let (mut places, mut of) = (Vec::new(), Vec::new());
        let spanned = space.from_bones.nrows();
        for &i in plain {
            let take = source.take(i)?;
            let x = space.project(&take);
            for f in 0..take.len() {
                places.extend((0..spanned).map(|k| x[(k, f)]));
                of.push((i, f));
            }
        }
        // Directions come in the order of their singular values.
        let spread = |k: usize| {
            let squares: f64 = places.iter().skip(k).step_by(spanned.max(1)).map(|v| v * v).sum();
            (squares / of.len().max(1) as f64).sqrt()
        };
        let spreads: Vec<f64> = (0..spanned).map(spread).collect();
        let dims = spreads.iter().take_while(|s| **s >= settings.least_pose * spreads[0]).count();
        if dims == 0 {
            return Err(Error::Empty("the body never moves in any take: there is no space of poses".into()));
        }
        let places =
            places.chunks_exact(spanned).flat_map(|p| (0..dims).map(|k| p[k] / spreads[k])).collect();
        let n = space.from_bones.ncols();
        let row = |k: usize| (0..n).map(move |c| (k, c));
        let from_bones =
            (0..dims).flat_map(row).map(|(k, c)| space.from_bones[(k, c)] / spreads[k]).collect();
        Ok(Self { mean: space.mean, from_bones, dims, places, of })
    }

    pub fn place(&self, frame: usize) -> &[f64] {
        &self.places[frame * self.dims..(frame + 1) * self.dims]
    }

    pub fn len(&self) -> usize {
        self.of.len()
    }
}
