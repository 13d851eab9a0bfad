//! Skins brought together into one skeleton of rigid joints.
//!
//! glTF poses a vertex with `Σ w_j W_j B_j v`: `W_j` the world matrix of the joint's node, which may hold
//! any scale, and `B_j` the inverse bind matrix. Ours is `Σ w_j R_j B'_j v'` with `R_j` rigid. Both agree
//! with `R_j = (Q_j, position of W_j)`, `A_j = Q_j⁻¹ linear(W_j)`, `v' = D v` and `B'_j = A_j B_j D⁻¹`, as
//! long as `A_j` does not change over time. Uniform scale and mirroring never change it; for the rest it is
//! held as it is at rest, and [`Folding::residual`] measures how far that is from the truth.
//!
//! `D` carries the mesh's own space into the world at rest, because a mesh may be stored in centimetres or
//! lying down when its joints put it right.

use super::document::Document;
use super::nodes::{Local, Nodes};
use super::parts::{self, Part};
use crate::axes::Conversion;
use crate::{Error, Joint, Pose, Problem, Result, Skeleton, Transform};
use glam::{Affine3A, DAffine3, DMat3, DMat4, DQuat, DVec3};
use std::collections::HashMap;

/// Skins whose joints hang together.
pub(super) struct Rig {
    /// Node of each joint of the body, parents first.
    pub joints: Vec<usize>,
    /// Joint of each node that is one.
    pub index: HashMap<usize, usize>,
    /// Joint above each joint.
    pub parents: Vec<Option<usize>>,
    /// For each skin: the body's joint for each of the skin's joints.
    pub slots: HashMap<usize, Vec<u16>>,
    /// For each skin: `D`, from mesh space to the world at rest.
    pub world_from_mesh: HashMap<usize, DAffine3>,
    /// `B_j D⁻¹`, one per joint.
    pub binds: Vec<DAffine3>,
    /// What was noticed.
    pub problems: Vec<Problem>,
}

/// The rig of every skin, and the nearest joint at or above every node.
pub(super) struct Rigs {
    pub of_skin: Vec<usize>,
    /// `(node of the joint, rig)`.
    pub nearest: Vec<Option<(usize, usize)>>,
    pub count: usize,
}

impl Rigs {
    /// Groups skins that share a joint or whose joints are above one another's.
    pub fn new(doc: &Document, nodes: &Nodes) -> Result<Self> {
        let skins = &doc.json.skins;
        let mut group: Vec<usize> = (0..skins.len()).collect();
        fn find(group: &mut [usize], mut s: usize) -> usize {
            while group[s] != s {
                group[s] = group[group[s]];
                s = group[s];
            }
            s
        }
        let mut owner: Vec<Option<usize>> = vec![None; nodes.parent.len()];
        for (s, skin) in skins.iter().enumerate() {
            let place = format!("skin {s}");
            if skin.joints.is_empty() {
                return Err(doc.bad(place, "has no joints"));
            }
            for &j in &skin.joints {
                let Some(slot) = owner.get_mut(j) else {
                    let what = format!("names node {j}, there are {}", nodes.parent.len());
                    return Err(doc.bad(place, what));
                };
                match *slot {
                    None => *slot = Some(s),
                    Some(other) => {
                        let (a, b) = (find(&mut group, other), find(&mut group, s));
                        group[a.max(b)] = a.min(b);
                    }
                }
            }
        }
        let mut above: Vec<Option<(usize, usize)>> = vec![None; nodes.parent.len()];
        for &n in &nodes.order {
            let inherited = nodes.parent[n].and_then(|p| above[p]);
            above[n] = owner[n].map(|s| (n, s)).or(inherited);
            if let (Some(s), Some((_, other))) = (owner[n], inherited) {
                let (a, b) = (find(&mut group, other), find(&mut group, s));
                group[a.max(b)] = a.min(b);
            }
        }
        let mut number = HashMap::new();
        let of_skin: Vec<usize> = (0..skins.len())
            .map(|s| {
                let root = find(&mut group, s);
                let next = number.len();
                *number.entry(root).or_insert(next)
            })
            .collect();
        let nearest = above.into_iter().map(|a| a.map(|(n, s)| (n, of_skin[s]))).collect();
        Ok(Self { count: number.len(), of_skin, nearest })
    }

    /// The rig of a part: of its skin, or of the joint it hangs from.
    pub fn of_part(&self, part: &Part) -> Option<usize> {
        part.skin.map(|s| self.of_skin[s]).or_else(|| self.nearest[part.node].map(|(_, rig)| rig))
    }

    /// The one rig that `parts` belong to; an error that lists them when there are several or none.
    pub fn chosen(&self, doc: &Document, all: &[Part], wanted: &[Part]) -> Result<usize> {
        let mut found: Vec<usize> = wanted.iter().filter_map(|p| self.of_part(p)).collect();
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [one] => Ok(one),
            [] => {
                let what = format!("nothing here is skinned to a skeleton; there are {}", {
                    parts::listed(doc, all)
                });
                Err(doc.bad("skins", what))
            }
            _ => {
                // Enough to choose from; a scene of a thousand characters is not listed in full.
                let lists: Vec<String> = found
                    .iter()
                    .take(20)
                    .map(|&rig| {
                        let of: Vec<Part> =
                            all.iter().filter(|p| self.of_part(p) == Some(rig)).copied().collect();
                        parts::listed(doc, &of)
                    })
                    .collect();
                let what = format!(
                    "there are {} characters: {}; select one by the name of a node, mesh, material or skin",
                    found.len(),
                    lists.join(" | ")
                );
                Err(Error::bad(doc.path, "skins", what))
            }
        }
    }
}

impl Rig {
    /// Brings the skins of one rig together.
    pub fn new(doc: &Document, nodes: &Nodes, rigs: &Rigs, rig: usize) -> Result<Self> {
        let skins: Vec<usize> = (0..rigs.of_skin.len()).filter(|&s| rigs.of_skin[s] == rig).collect();
        let (joints, mut parents) = ordered(doc, nodes, &skins);
        let index: HashMap<usize, usize> = joints.iter().enumerate().map(|(j, &n)| (n, j)).collect();
        let mut this = Self {
            binds: vec![DAffine3::IDENTITY; joints.len()],
            joints,
            parents: Vec::new(),
            index,
            slots: HashMap::new(),
            world_from_mesh: HashMap::new(),
            problems: Vec::new(),
        };
        let inverse_binds =
            skins.iter().map(|&s| inverse_binds(doc, s)).collect::<Result<Vec<Vec<DAffine3>>>>()?;
        let spaces: Vec<Vec<DAffine3>> = skins
            .iter()
            .zip(&inverse_binds)
            .map(|(&s, b)| {
                doc.json.skins[s].joints.iter().zip(b).map(|(&n, b)| nodes.world[n] * *b).collect()
            })
            .collect();
        let (shared, _) = mesh_space(&spaces.concat());
        let mut bound = vec![false; this.joints.len()];
        let mut rebound = 0;
        for ((&s, inverse_binds), spaces) in skins.iter().zip(&inverse_binds).zip(&spaces) {
            // A skin that rests as it was bound speaks for itself; one that does not follows its rig.
            let (own, agreed) = mesh_space(spaces);
            let space = if agreed { own } else { shared };
            let mut slots = Vec::with_capacity(inverse_binds.len());
            for (&n, b) in doc.json.skins[s].joints.iter().zip(inverse_binds) {
                let bind = if space == DAffine3::IDENTITY { *b } else { *b * space.inverse() };
                let mut j = this.index[&n];
                if !bound[j] {
                    bound[j] = true;
                    this.binds[j] = bind;
                } else if !close(&this.binds[j], &bind, 1e-3) {
                    // Bound differently by two skins: a second joint that never leaves the first is exact.
                    rebound += 1;
                    parents.push(Some(j));
                    j = this.joints.len();
                    this.joints.push(n);
                    this.binds.push(bind);
                    bound.push(true);
                }
                slots.push(j as u16);
            }
            this.slots.insert(s, slots);
            this.world_from_mesh.insert(s, space);
        }
        if this.joints.len() > usize::from(u16::MAX) {
            return Err(doc.bad("skins", format!("{} joints are more than 65535", this.joints.len())));
        }
        if rebound > 0 {
            this.problems.push(Problem::new(
                "joints that several skins bind differently",
                rebound,
                "given a second joint each",
            ));
        }
        this.parents = parents;
        Ok(this)
    }
}

impl Rig {
    /// Nodes that animations turn or move, and those below them, as joints that nothing is bound to.
    pub fn of_moving_nodes(doc: &Document, nodes: &Nodes) -> Result<Self> {
        let mut moving = vec![false; nodes.parent.len()];
        for target in doc.json.animations.iter().flat_map(|a| &a.channels).map(|c| &c.target) {
            if let Some(slot) = target.node.and_then(|n| moving.get_mut(n)) {
                *slot |= matches!(target.path.as_str(), "rotation" | "translation");
            }
        }
        let mut index = HashMap::new();
        let (mut joints, mut parents) = (Vec::new(), Vec::new());
        for &n in &nodes.order {
            let above = nodes.parent[n].and_then(|p| index.get(&p).copied());
            if doc.json.nodes[n].mesh.is_none() && (moving[n] || above.is_some()) {
                index.insert(n, joints.len());
                joints.push(n);
                parents.push(above);
            }
        }
        if joints.is_empty() {
            return Err(doc.bad("animations", "nothing is skinned and no node is moved"));
        }
        let binds = vec![DAffine3::IDENTITY; joints.len()];
        let (slots, world_from_mesh) = (HashMap::new(), HashMap::new());
        Ok(Self { joints, index, parents, slots, world_from_mesh, binds, problems: Vec::new() })
    }
}

/// Joints of several skins in the order in which the skins name them, moved behind their parents where needed.
fn ordered(doc: &Document, nodes: &Nodes, skins: &[usize]) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut is_joint = vec![false; nodes.parent.len()];
    for &s in skins {
        doc.json.skins[s].joints.iter().for_each(|&n| is_joint[n] = true);
    }
    // The joint above, found from the top so that deep hierarchies stay cheap.
    let mut above: Vec<Option<usize>> = vec![None; nodes.parent.len()];
    for &n in &nodes.order {
        above[n] = nodes.parent[n].and_then(|p| if is_joint[p] { Some(p) } else { above[p] });
    }
    let mut index: HashMap<usize, usize> = HashMap::new();
    let (mut joints, mut parents) = (Vec::new(), Vec::new());
    for &s in skins {
        for &n in &doc.json.skins[s].joints {
            let missing = |m: &usize| !index.contains_key(m);
            let chain: Vec<usize> =
                std::iter::successors(Some(n).filter(missing), |&m| above[m].filter(missing)).collect();
            for &m in chain.iter().rev() {
                index.insert(m, joints.len());
                parents.push(above[m].map(|p| index[&p]));
                joints.push(m);
            }
        }
    }
    (joints, parents)
}

/// The inverse bind matrices of a skin: identities where it has none.
fn inverse_binds(doc: &Document, s: usize) -> Result<Vec<DAffine3>> {
    let skin = &doc.json.skins[s];
    let Some(index) = skin.inverse_bind_matrices else {
        return Ok(vec![DAffine3::IDENTITY; skin.joints.len()]);
    };
    let place = format!("skin {s}, inverseBindMatrices");
    let matrices = doc.floats::<16>(index, &place)?;
    if matrices.len() < skin.joints.len() {
        let what = format!("has {} matrices for {} joints", matrices.len(), skin.joints.len());
        return Err(doc.bad(place, what));
    }
    let to = |m: &[f32; 16]| DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)));
    Ok(matrices[..skin.joints.len()].iter().map(to).collect())
}

/// Whether two matrices agree: relative to their scale for the linear part, in the same units for the rest.
fn close(a: &DAffine3, b: &DAffine3, tolerance: f64) -> bool {
    let size = a.matrix3.x_axis.length().max(a.matrix3.y_axis.length()).max(a.matrix3.z_axis.length());
    let d = a.matrix3 - b.matrix3;
    let linear = d.x_axis.abs().max(d.y_axis.abs()).max(d.z_axis.abs()).max_element();
    let far = (a.translation - b.translation).abs().max_element();
    let reach = 1.0 + a.translation.abs().max_element();
    linear <= tolerance * size.max(1e-12) && far <= tolerance * reach
}

/// The transform from a mesh's own space to the world at rest, given what each joint says about it, and
/// whether the joints agree. Where they do not, the body was bound in another pose than it rests in: what
/// most joints say is taken, or else the nearest turn by right angles and the common scale.
fn mesh_space(candidates: &[DAffine3]) -> (DAffine3, bool) {
    const TRIED: usize = 64;
    let usable: Vec<&DAffine3> =
        candidates.iter().filter(|m| m.is_finite() && m.matrix3.determinant().abs() > 1e-18).collect();
    let step = usable.len().div_ceil(TRIED).max(1);
    let tried: Vec<&DAffine3> = usable.iter().step_by(step).copied().collect();
    let votes = |m: &DAffine3| tried.iter().filter(|o| close(m, o, 1e-3)).count();
    // Ties go to the first, which is nearest to the root.
    let best = tried.iter().rev().max_by_key(|m| votes(m));
    let Some(best) = best else { return (DAffine3::IDENTITY, false) };
    if close(&DAffine3::IDENTITY, best, 1e-5) {
        return (DAffine3::IDENTITY, votes(best) == tried.len());
    }
    if 2 * votes(best) > tried.len() {
        return (**best, votes(best) == tried.len());
    }
    let mut scales: Vec<f64> = tried.iter().map(|m| m.matrix3.determinant().abs().cbrt()).collect();
    scales.sort_unstable_by(f64::total_cmp);
    let scale = scales[scales.len() / 2];
    (DAffine3::from_mat3(right_angles(&best.matrix3) * scale), false)
}

/// The nearest rotation that only swaps and flips axes.
fn right_angles(m: &DMat3) -> DMat3 {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    let mut best = (f64::NEG_INFINITY, DMat3::IDENTITY);
    for x in axes {
        for y in axes.into_iter().filter(|y| y.dot(x) == 0.0) {
            let turn = DMat3::from_cols(x, y, x.cross(y));
            let fit = m.x_axis.dot(turn.x_axis) + m.y_axis.dot(turn.y_axis) + m.z_axis.dot(turn.z_axis);
            if fit > best.0 + 1e-9 {
                best = (fit, turn);
            }
        }
    }
    best.1
}

/// Turns node transforms into poses of rigid joints.
pub(super) struct Folding<'a> {
    nodes: &'a Nodes,
    rig: &'a Rig,
    conversion: Conversion,
    /// Nodes at or above a joint, parents first.
    needed: Vec<usize>,
    /// Axes that the scale of a node and those above it flips: ±1 each.
    flips: Vec<DVec3>,
    /// `A_j` at rest.
    linear: Vec<DMat3>,
}

/// World matrices and rotations of nodes.
pub(super) struct Posed {
    world: Vec<DAffine3>,
    rotation: Vec<DQuat>,
}

impl<'a> Folding<'a> {
    /// Prepares for a rig; `conversion` is applied last.
    pub fn new(nodes: &'a Nodes, rig: &'a Rig, conversion: Conversion) -> Self {
        let mut need = vec![false; nodes.parent.len()];
        for &n in &rig.joints {
            let mut at = Some(n);
            while let Some(n) = at.filter(|&n| !need[n]) {
                need[n] = true;
                at = nodes.parent[n];
            }
        }
        let needed: Vec<usize> = nodes.order.iter().copied().filter(|&n| need[n]).collect();
        let mut flips = vec![DVec3::ONE; nodes.parent.len()];
        for &n in &needed {
            let sign = nodes.locals[n].scale.map(|s| if s < 0.0 { -1.0 } else { 1.0 });
            flips[n] = nodes.parent[n].map_or(DVec3::ONE, |p| flips[p]) * sign;
        }
        let mut this = Self { nodes, rig, conversion, needed, flips, linear: Vec::new() };
        let posed = this.posed(&nodes.locals);
        this.linear = rig.joints.iter().map(|&n| linear(&posed, n)).collect();
        this
    }

    /// Nodes at or above a joint, parents first.
    pub fn needed(&self) -> &[usize] {
        &self.needed
    }

    /// Matrices of all needed nodes for given locals.
    pub fn posed(&self, locals: &[Local]) -> Posed {
        let mut posed = Posed {
            world: vec![DAffine3::IDENTITY; locals.len()],
            rotation: vec![DQuat::IDENTITY; locals.len()],
        };
        self.pose(locals, &mut posed);
        posed
    }

    /// The same into existing memory.
    pub fn pose(&self, locals: &[Local], posed: &mut Posed) {
        for &n in &self.needed {
            let local = &locals[n];
            let (world, rotation, flip) = match self.nodes.parent[n] {
                Some(p) => (posed.world[p], posed.rotation[p], self.flips[p]),
                None => (DAffine3::IDENTITY, DQuat::IDENTITY, DVec3::ONE),
            };
            posed.world[n] = world * local.affine();
            // F R F, with F the flips above: the rotation as it looks in the mirror.
            let r = local.rotation;
            let v = r.xyz() * flip * (flip.x * flip.y * flip.z);
            posed.rotation[n] = (rotation * DQuat::from_xyzw(v.x, v.y, v.z, r.w)).normalize();
        }
    }

    /// `parent_from_joint` of every joint.
    pub fn locals(&self, posed: &Posed) -> Pose {
        let turn = self.conversion.rotation().as_dquat();
        let scale = self.conversion.metres_per_unit;
        let local = |j: usize| {
            let n = self.rig.joints[j];
            let (q, t) = (posed.rotation[n], posed.world[n].translation);
            let (rotation, translation) = match self.rig.parents[j] {
                Some(p) => {
                    let p = self.rig.joints[p];
                    let inverse = posed.rotation[p].inverse();
                    (inverse * q, inverse * (t - posed.world[p].translation) * scale)
                }
                None => (turn * q, turn * (t * scale)),
            };
            Transform { rotation: rotation.normalize().as_quat(), translation: translation.as_vec3() }
        };
        Pose { locals: (0..self.rig.joints.len()).map(local).collect() }
    }

    /// How far the scale of the worst joint is from what it is at rest, as a share of the latter, and how
    /// many joints are off by more than a thousandth.
    pub fn residual(&self, posed: &Posed, off: &mut [bool]) -> f64 {
        let mut worst = 0.0;
        for (j, &n) in self.rig.joints.iter().enumerate() {
            let (rest, now) = (self.linear[j], linear(posed, n));
            let size =
                |m: DMat3| m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared();
            let share = (size(now - rest) / size(rest).max(1e-30)).sqrt();
            off[j] |= share > 1e-3;
            worst = f64::max(worst, share);
        }
        worst
    }

    /// The skeleton at rest.
    pub fn skeleton(&self, doc: &Document) -> Result<Skeleton> {
        let rest = self.locals(&self.posed(&self.nodes.locals));
        let far = |t: &Transform| !(t.translation.is_finite() && t.rotation.is_finite());
        if let Some(j) = rest.locals.iter().position(far) {
            return Err(doc.bad(format!("node {}", self.rig.joints[j]), "is too far away"));
        }
        let joint = |(j, rest): (usize, &Transform)| {
            let name = doc.node_name(self.rig.joints[j]);
            Joint { name, parent: self.rig.parents[j], rest: *rest }
        };
        Skeleton::new(rest.locals.iter().enumerate().map(joint).collect())
    }

    /// `B'_j` of every joint.
    pub fn joint_from_bind(&self) -> Vec<Affine3A> {
        let scale = self.conversion.metres_per_unit;
        let bind_from_ours = DAffine3::from_scale_rotation_translation(
            DVec3::splat(1.0 / scale),
            self.conversion.rotation().as_dquat().inverse(),
            DVec3::ZERO,
        );
        let one = |(bind, linear): (&DAffine3, &DMat3)| {
            let m = DAffine3::from_mat3(*linear * scale) * *bind * bind_from_ours;
            Affine3A::from_mat3_translation(m.matrix3.as_mat3(), m.translation.as_vec3())
        };
        self.rig.binds.iter().zip(&self.linear).map(one).collect()
    }

    /// Joints whose scale at rest is not the same in all directions.
    pub fn uneven(&self) -> usize {
        let uneven = |m: &&DMat3| {
            let l = [m.x_axis.length(), m.y_axis.length(), m.z_axis.length()];
            let (lo, hi) = (l[0].min(l[1]).min(l[2]), l[0].max(l[1]).max(l[2]));
            hi - lo > 1e-3 * hi
        };
        self.linear.iter().filter(uneven).count()
    }
}

/// `Q⁻¹ linear(W)`.
fn linear(posed: &Posed, n: usize) -> DMat3 {
    DMat3::from_quat(posed.rotation[n].inverse()) * posed.world[n].matrix3
}
