//! Motions made from parameters.

use super::{Entry, unknown};
use crate::{Motion, Result, Skeleton};

/// The motions there are.
pub fn list() -> Vec<Entry> {
    Vec::new()
}

/// A motion by name, for the mannequin's skeleton.
pub fn motion(name: &str, skeleton: &Skeleton) -> Result<Motion> {
    if name == "stand" {
        return Motion::new(name, 30.0, skeleton.clone(), vec![skeleton.rest_pose(); 30]);
    }
    Err(unknown("motion", name))
}
