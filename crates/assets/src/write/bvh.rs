//! Motion as BVH.
