//! A pose-space database (Hahn et al. 2014, §4): bases of cloth displacement at sites in the space of poses.
//!
//! A garment is `LBS(p, X̄ + ū)` with `X̄` the kinematic cloth in the bind pose. The database says for a pose which
//! displacements `ū` cloth tends to make there; a subspace solver picks from them.

mod file;

use crate::{Attachment, HipLine, RootFrame, RootTracker};
use glam::{Affine3A, DMat3, DVec3, Vec3};

/// A place in the space of poses with a basis of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// In whitened pose coordinates.
    pub place: Vec<f32>,
    /// Its first basis vector.
    pub first: usize,
    /// Singular values of its vectors over the largest, from one down.
    pub significance: Vec<f32>,
    /// Training frames that it was made from.
    pub frames: usize,
}

impl Site {
    /// The numbers of its basis vectors.
    pub fn vectors(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.significance.len()
    }
}

/// How cloth was in a training frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Hang {
    /// The pose, in whitened coordinates.
    pub place: Vec<f32>,
    /// The site that the frame belongs to.
    pub site: usize,
    /// Its displacements along the vectors of that site.
    pub along: Vec<f32>,
}

/// Triangles that stand for all of them when stiffness is summed over a basis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cubature {
    /// In ascending order.
    pub triangles: Vec<u32>,
    /// Not negative, one a triangle.
    pub weights: Vec<f32>,
}

/// Sites, bases and the kinematic cloth that they are relative to.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// The body's name.
    pub name: String,
    /// Frames per second of the takes.
    pub fps: f64,
    /// Joints of the body.
    pub joints: usize,
    /// The simulation mesh.
    pub triangles: Vec<[u32; 3]>,
    /// The kinematic cloth: `X̄` and its weights.
    pub attachment: Attachment,
    /// Where the canonical frame comes from.
    pub hips: HipLine,
    /// Mean of the canonical bones, 12·joints.
    pub bones_mean: Vec<f32>,
    /// `dims × 12·joints`: whitened coordinates of the posed body (PCA of its surface).
    pub pose_from_bones: Vec<f32>,
    /// The sites.
    pub sites: Vec<Site>,
    /// Displacements in the bind pose, `vectors × 3·vertices`, each scaled so that its largest number is one.
    pub vectors: Vec<f32>,
    /// What stiffness is sampled from, where that was learned.
    pub cubature: Option<Cubature>,
    /// How far each vertex was from the kinematic cloth, in the bind pose, in any training frame, m; empty where that is not
    /// known.
    pub reach: Vec<f32>,
    /// Some training frames, the first of each site among them: where cloth that is put on begins. Empty where they are not known.
    pub hangs: Vec<Hang>,
    /// Whether the file holds the vectors in half precision.
    pub half: bool,
    /// Where it comes from.
    pub notes: Vec<(String, String)>,
}

impl Database {
    /// Vertices of the garment.
    pub fn vertices(&self) -> usize {
        self.attachment.rest.len()
    }

    /// Dimensions of the space of poses.
    pub fn pose_dims(&self) -> usize {
        self.pose_from_bones.len() / self.bones_mean.len().max(1)
    }

    /// How many basis vectors there are.
    pub fn vector_count(&self) -> usize {
        self.vectors.len() / (3 * self.vertices()).max(1)
    }

    /// One basis vector, x, y, z vertex by vertex.
    pub fn vector(&self, k: usize) -> &[f32] {
        let n = 3 * self.vertices();
        &self.vectors[k * n..(k + 1) * n]
    }

    /// The displacements of the training frame nearest to a pose; none where no frame is as near as sites are to each other. Of several
    /// frames in that pose it is the first: trousers hang straight before a bow, and otherwise after it.
    pub fn hanging(&self, pose: &[f32]) -> Option<Vec<DVec3>> {
        const SAME_POSE: f32 = 0.01;
        let radius = self.search_radius();
        let least = self.hangs.iter().map(|h| apart(&h.place, pose)).fold(f32::INFINITY, f32::min);
        if least > radius {
            return None;
        }
        let most = least + SAME_POSE * radius.min(1.0);
        let nearest = self.hangs.iter().find(|h| apart(&h.place, pose) <= most)?;
        let mut displacements = vec![DVec3::ZERO; self.vertices()];
        for (k, along) in self.sites[nearest.site].vectors().zip(&nearest.along) {
            let vector = self.vector(k).as_chunks::<3>().0;
            for (sum, v) in displacements.iter_mut().zip(vector) {
                *sum += DVec3::from_array(v.map(f64::from)) * f64::from(*along);
            }
        }
        Some(displacements)
    }

    /// Root and heading of a pose.
    pub fn root(&self, bones: &[Affine3A], tracker: &mut RootTracker) -> RootFrame {
        let [hips, left, right] = self.hips.points(bones);
        RootFrame { position: hips.as_dvec3(), heading: tracker.follow(left - right).0 }
    }

    /// Whitened coordinates of a pose; the distance between two of them is one of body shapes.
    pub fn pose(&self, root: &RootFrame, bones: &[Affine3A]) -> Vec<f32> {
        let mut entries = canonical(root, bones);
        entries.iter_mut().zip(&self.bones_mean).for_each(|(e, mean)| *e -= f64::from(*mean));
        let rows = self.pose_from_bones.chunks_exact(self.bones_mean.len().max(1));
        rows.map(|row| row.iter().zip(&entries).map(|(a, b)| f64::from(*a) * b).sum::<f64>() as f32).collect()
    }

    /// How far each site is from a pose.
    pub fn distances(&self, pose: &[f32]) -> Vec<f32> {
        self.sites.iter().map(|s| apart(&s.place, pose)).collect()
    }

    /// The mean distance between sites: how far bases are looked for (§4, Data Retrieval).
    pub fn search_radius(&self) -> f32 {
        let (mut sum, mut pairs) = (0.0, 0);
        for (i, a) in self.sites.iter().enumerate() {
            for b in &self.sites[..i] {
                sum += apart(&a.place, &b.place);
                pairs += 1;
            }
        }
        if pairs == 0 { f32::INFINITY } else { sum / pairs as f32 }
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        4 * (self.vectors.len() + self.pose_from_bones.len())
            + self.vertices() * (12 + 6 * self.attachment.skin.max_influences())
    }
}

/// Bone matrices in the canonical frame, 12 numbers a bone: three columns, then the translation.
pub fn canonical(root: &RootFrame, bones: &[Affine3A]) -> Vec<f64> {
    let turn = DMat3::from_rotation_y(-root.heading);
    let mut entries = Vec::with_capacity(12 * bones.len());
    for bone in bones {
        let linear = turn * glam::Mat3::from(bone.matrix3).as_dmat3();
        let translation: DVec3 = turn * (Vec3::from(bone.translation).as_dvec3() - root.position);
        entries.extend(linear.to_cols_array());
        entries.extend(translation.to_array());
    }
    entries
}

fn apart(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}
