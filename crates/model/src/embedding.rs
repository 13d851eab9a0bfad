//! A dense mesh that a coarse garment carries: which curved triangle (Vlachos et al. 2001) each of its vertices lies on, where
//! there, and how far off.

use glam::Vec3;

/// Where a dense vertex lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Triangle of the coarse garment.
    pub triangle: u32,
    /// Weights of its corners.
    pub at: [f32; 3],
    /// How far off the curved triangle: along its first two edges, as shares of them, and along its normal, m.
    pub off: Vec3,
}

/// A dense mesh on a coarse one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Embedding {
    /// Vertices of the coarse garment.
    pub vertices: usize,
    /// Its triangles.
    pub coarse: Vec<[u32; 3]>,
    /// One for each dense vertex.
    pub links: Vec<Link>,
    /// Triangles of the dense mesh.
    pub triangles: Vec<[u32; 3]>,
}

/// A cubic triangle through three corners, at right angles to their normals.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    corners: [Vec3; 3],
    normals: [Vec3; 3],
    /// Next to each corner, towards the one after it and the one before it.
    edges: [[Vec3; 2]; 3],
    centre: Vec3,
}

impl Patch {
    /// From corners and their unit normals.
    pub fn new(corners: [Vec3; 3], normals: [Vec3; 3]) -> Self {
        let beside = |a: usize, b: usize| {
            let way = corners[b] - corners[a];
            corners[a] + (way - normals[a] * way.dot(normals[a])) / 3.0
        };
        let edges = [0, 1, 2].map(|k| [beside(k, (k + 1) % 3), beside(k, (k + 2) % 3)]);
        let edge = edges.iter().flatten().sum::<Vec3>() / 6.0;
        let corner = corners.iter().sum::<Vec3>() / 3.0;
        Self { corners, normals, edges, centre: edge + 0.5 * (edge - corner) }
    }

    /// The point with these weights of the corners.
    #[inline]
    pub fn point(&self, [u, v, w]: [f32; 3]) -> Vec3 {
        let ([p, q, r], [a, b, c]) = (self.corners, self.edges);
        p * (u * u * u)
            + q * (v * v * v)
            + r * (w * w * w)
            + (a[0] * (u * u * v) + b[1] * (u * v * v) + b[0] * (v * v * w)) * 3.0
            + (c[1] * (v * w * w) + c[0] * (w * w * u) + a[1] * (w * u * u)) * 3.0
            + self.centre * (6.0 * u * v * w)
    }

    /// The unit normal there: the mean of the corners', which is the same on both sides of an edge.
    #[inline]
    pub fn normal(&self, at: [f32; 3]) -> Vec3 {
        let [a, b, c] = self.normals;
        (a * at[0] + b * at[1] + c * at[2]).normalize_or_zero()
    }

    /// A point off the patch, as [`Link::off`] says.
    #[inline]
    pub fn off(&self, at: [f32; 3], off: Vec3) -> Vec3 {
        let [a, b, c] = self.corners;
        self.point(at) + (b - a) * off.x + (c - a) * off.y + self.normal(at) * off.z
    }

    /// What [`Patch::off`] takes to come from the patch at these weights to `p`.
    pub fn measure(&self, at: [f32; 3], p: Vec3) -> Vec3 {
        let [a, b, c] = self.corners;
        let (e, f, n) = (b - a, c - a, self.normal(at));
        let way = p - self.point(at);
        let volume = e.cross(f).dot(n);
        if volume.abs() < 1e-14 {
            return Vec3::new(0.0, 0.0, way.dot(n));
        }
        Vec3::new(way.cross(f).dot(n), e.cross(way).dot(n), e.cross(f).dot(way)) / volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_goes_through_its_corners_and_measures_back() {
        let corners = [Vec3::X, Vec3::Y, Vec3::Z];
        let patch = Patch::new(corners, corners);
        for k in 0..3 {
            let mut at = [0.0; 3];
            at[k] = 1.0;
            assert!(patch.point(at).distance(corners[k]) < 1e-6);
        }
        // The middle of a coarse eighth of a sphere bulges: worked out by hand, (12/27)√3.
        assert!((patch.point([1.0 / 3.0; 3]).length() - 0.7698).abs() < 1e-3);
        let at = [0.2, 0.3, 0.5];
        let p = Vec3::new(0.5, 0.7, 0.9);
        assert!(patch.off(at, patch.measure(at, p)).distance(p) < 1e-5);
    }
}
