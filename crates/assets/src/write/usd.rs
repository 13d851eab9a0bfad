//! Animated meshes as USD ASCII.
