//! Point caches for Blender and 3ds Max.
