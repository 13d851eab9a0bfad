//! Meshes as people have them: what is wrong with one, and a clean one made from it.
