//! Characters with animations, and cloth as morph targets, as binary glTF.
