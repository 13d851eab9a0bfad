//! Meshes as OBJ, one or a sequence.
