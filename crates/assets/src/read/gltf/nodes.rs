//! The node hierarchy: checked to be a forest, with transforms in double precision.

use super::document::Document;
use crate::Result;
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};

/// Translation, rotation and scale of a node, and what of its matrix these three cannot say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
    /// The whole matrix where it has shear.
    pub sheared: Option<DAffine3>,
}

impl Local {
    /// `parent_from_node`.
    pub fn affine(&self) -> DAffine3 {
        self.sheared.unwrap_or_else(|| {
            DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
        })
    }
}

/// All nodes, with parents.
pub(super) struct Nodes {
    pub parent: Vec<Option<usize>>,
    /// Parents before children.
    pub order: Vec<usize>,
    pub locals: Vec<Local>,
    /// `world_from_node` as the file leaves the nodes.
    pub world: Vec<DAffine3>,
}

impl Nodes {
    /// Checks children, cycles and numbers.
    pub fn new(doc: &Document) -> Result<Self> {
        let nodes = &doc.json.nodes;
        let mut parent = vec![None; nodes.len()];
        for (n, node) in nodes.iter().enumerate() {
            for &c in &node.children {
                let place = format!("node {n}");
                if c >= nodes.len() {
                    let what = format!("has child {c}, there are {} nodes", nodes.len());
                    return Err(doc.bad(place, what));
                }
                if let Some(other) = parent[c] {
                    let what = format!("has child {c}, which is already a child of node {other}");
                    return Err(doc.bad(place, what));
                }
                parent[c] = Some(n);
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&n| parent[n].is_none()).collect();
        let mut next = 0;
        while next < order.len() {
            order.extend_from_slice(&nodes[order[next]].children);
            next += 1;
        }
        if order.len() < nodes.len() {
            let mut reached = vec![false; nodes.len()];
            order.iter().for_each(|&n| reached[n] = true);
            let n = reached.iter().position(|r| !r).unwrap_or(0);
            return Err(doc.bad(format!("node {n}"), "is its own ancestor: the hierarchy is cyclic"));
        }
        let locals = (0..nodes.len()).map(|n| local(doc, n)).collect::<Result<Vec<_>>>()?;
        let mut world = vec![DAffine3::IDENTITY; nodes.len()];
        for &n in &order {
            world[n] = parent[n].map_or(DAffine3::IDENTITY, |p| world[p]) * locals[n].affine();
            if !world[n].is_finite() {
                return Err(doc.bad(format!("node {n}"), "its place in the world is not finite"));
            }
        }
        Ok(Self { parent, order, locals, world })
    }
}

/// The transform of one node.
fn local(doc: &Document, n: usize) -> Result<Local> {
    let node = &doc.json.nodes[n];
    let place = || format!("node {n} `{}`", doc.node_name(n));
    if let Some(m) = &node.matrix {
        if m.iter().any(|v| !v.is_finite()) {
            return Err(doc.bad(place(), "its matrix is not finite"));
        }
        return Ok(decomposed(DAffine3::from_mat4(DMat4::from_cols_array(m))));
    }
    let translation = node.translation.map_or(DVec3::ZERO, DVec3::from_array);
    let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let scale = node.scale.map_or(DVec3::ONE, DVec3::from_array);
    if !(translation.is_finite() && rotation.is_finite() && scale.is_finite()) {
        return Err(doc.bad(place(), "its transform is not finite"));
    }
    let length = rotation.length();
    if !(1e-6..1e6).contains(&length) {
        return Err(doc.bad(place(), "its rotation is a quaternion of no length"));
    }
    // Normalised in double precision only where needed, so that clean files stay bit-exact.
    let rotation = if (length - 1.0).abs() < 1e-12 { rotation } else { rotation.normalize() };
    Ok(Local { translation, rotation, scale, sheared: None })
}

/// Splits a matrix by Gram–Schmidt; a mirrored one gets a negative first scale.
fn decomposed(m: DAffine3) -> Local {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    let x = a.try_normalize().unwrap_or(DVec3::X);
    let y = (b - x * x.dot(b)).try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    let z = x.cross(y);
    let mut rotation = DMat3::from_cols(x, y, z);
    let mut scale = DVec3::new(a.length(), b.length(), c.length());
    if z.dot(c) < 0.0 {
        rotation = DMat3::from_cols(-x, y, -z);
        scale.x = -scale.x;
    }
    let rotation = DQuat::from_mat3(&rotation).normalize();
    let translation = m.translation;
    let plain = Local { translation, rotation, scale, sheared: None };
    let off = plain.affine().matrix3 - m.matrix3;
    let size = scale.abs().max_element();
    let far = [off.x_axis, off.y_axis, off.z_axis].iter().any(|v| v.abs().max_element() > 1e-5 * size);
    if far { Local { sheared: Some(m), ..plain } } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_matrices_come_apart_and_together() {
        let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.2, 2.0);
        for scale in [DVec3::new(2.0, 2.0, 2.0), DVec3::new(-1.0, 3.0, 0.5), DVec3::splat(-2.0)] {
            let m = DAffine3::from_scale_rotation_translation(scale, q, DVec3::new(1.0, 2.0, 3.0));
            let local = decomposed(m);
            assert!(local.sheared.is_none());
            assert!(local.affine().abs_diff_eq(m, 1e-12), "{scale}");
        }
        let sheared = DAffine3::from_mat3(DMat3::from_cols(DVec3::X, DVec3::new(0.5, 1.0, 0.0), DVec3::Z));
        assert!(decomposed(sheared).sheared.is_some());
    }
}
