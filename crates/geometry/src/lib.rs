//! Closest points, trees, crossings, inside tests and random numbers: one of each.
//!
//! ```
//! use glam::Vec3;
//! use toile_geometry::TriangleTree;
//! let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let tree = TriangleTree::new(&corners, &[[0, 1, 2]]);
//! let near = tree.closest(Vec3::new(0.2, 0.2, 1.0)).unwrap();
//! assert_eq!(near.distance_m, 1.0);
//! ```

mod closest;
mod crossings;
mod curved;
mod incidence;
mod mesh;
mod random;

pub mod bvh2;
pub mod bvh4;
pub mod continuous;
pub mod distance;
pub mod untangle;

pub use closest::{ClosestPoint, RayHit, TriangleTree};
pub use crossings::{Crossing, SelfCrossings, crossings, edges_through, passes_through, self_crossings};
pub use curved::{Curved, Split};
pub use incidence::Incidence;
pub use mesh::{Edge, Mesh, Topology, vertex_normals};
pub use random::Random;
