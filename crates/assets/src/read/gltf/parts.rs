//! Which primitives of a file are meant, and their vertices, triangles and weights.

use super::document::{Document, Primitive};
use super::nodes::Nodes;
use crate::{Problem, Result};
use glam::{DAffine3, Vec2, Vec3};
use std::collections::{BTreeMap, HashMap};

/// A primitive at a node. One mesh used by several nodes gives several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub node: usize,
    pub mesh: usize,
    pub primitive: usize,
    pub skin: Option<usize>,
}

impl Part {
    /// The primitive itself; parts are only made of primitives that exist.
    pub fn primitive<'d>(&self, doc: &'d Document) -> &'d Primitive {
        &doc.json.meshes[self.mesh].primitives[self.primitive]
    }

    /// Where it is, for errors.
    pub fn place(&self, doc: &Document) -> String {
        format!("mesh {} `{}`, primitive {}", self.mesh, doc.mesh_name(self.mesh), self.primitive)
    }
}

/// Everything in the file that has triangles, in the order of nodes.
pub(super) fn all(doc: &Document) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (n, node) in doc.json.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh else { continue };
        let place = || format!("node {n} `{}`", doc.node_name(n));
        let Some(m) = doc.json.meshes.get(mesh) else {
            let what = format!("names mesh {mesh}, there are {}", doc.json.meshes.len());
            return Err(doc.bad(place(), what));
        };
        if let Some(skin) = node.skin.filter(|&s| s >= doc.json.skins.len()) {
            let what = format!("names skin {skin}, there are {}", doc.json.skins.len());
            return Err(doc.bad(place(), what));
        }
        // Nodes times primitives may be far more than either.
        doc.spend((m.primitives.len() * size_of::<Part>()) as u64, &place())?;
        // Points and lines cover nothing.
        let surfaces = (0..m.primitives.len()).filter(|&p| m.primitives[p].mode >= 4);
        parts.extend(surfaces.map(|primitive| Part { node: n, mesh, primitive, skin: node.skin }));
    }
    Ok(parts)
}

/// The parts that `select` means. Names of nodes, meshes and materials come first, then names of skins, then
/// names of nodes further up, which stand for all below them; first as written, then regardless of case.
/// Several names are separated by commas. Nothing found is an error that lists what there is.
pub(super) fn selected(doc: &Document, nodes: &Nodes, parts: &[Part], select: &str) -> Result<Vec<Part>> {
    let mut keep = vec![false; parts.len()];
    let whole = matching(doc, nodes, parts, select);
    let names: Vec<&str> = if whole.is_empty() { select.split(',').map(str::trim).collect() } else { vec![] };
    whole.into_iter().for_each(|p| keep[p] = true);
    for name in names {
        let found = matching(doc, nodes, parts, name);
        if found.is_empty() {
            let what = format!("nothing is named `{name}`; there are {}", listed(doc, parts));
            return Err(doc.bad("select", what));
        }
        found.into_iter().for_each(|p| keep[p] = true);
    }
    Ok(parts.iter().zip(keep).filter(|(_, k)| *k).map(|(p, _)| *p).collect())
}

fn matching(doc: &Document, nodes: &Nodes, parts: &[Part], name: &str) -> Vec<usize> {
    let json = &doc.json;
    for same in [|a: &str, b: &str| a == b, |a: &str, b: &str| a.eq_ignore_ascii_case(b)] {
        let is = |n: &Option<String>| n.as_deref().is_some_and(|n| same(n, name));
        let material = |p: &Part| p.primitive(doc).material.and_then(|m| json.materials.get(m));
        let own = |p: &Part| {
            is(&json.nodes[p.node].name)
                || is(&json.meshes[p.mesh].name)
                || material(p).is_some_and(|m| is(&m.name))
        };
        let skin = |p: &Part| p.skin.is_some_and(|s| is(&json.skins[s].name));
        let mut below = vec![false; json.nodes.len()];
        for &n in &nodes.order {
            below[n] = is(&json.nodes[n].name) || nodes.parent[n].is_some_and(|p| below[p]);
        }
        let levels: [&dyn Fn(&Part) -> bool; 3] = [&own, &skin, &|p: &Part| below[p.node]];
        for level in levels {
            let found: Vec<usize> = (0..parts.len()).filter(|&p| level(&parts[p])).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// Names of parts for errors: by node, with the material where a mesh has several.
pub(super) fn listed(doc: &Document, parts: &[Part]) -> String {
    let mut by_node: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for p in parts {
        let list = by_node.entry(p.node).or_default();
        let material = p.primitive(doc).material.and_then(|m| doc.json.materials.get(m));
        list.extend(material.and_then(|m| m.name.clone()));
    }
    if by_node.is_empty() {
        return "no meshes with triangles".into();
    }
    let one = |(n, materials): (usize, Vec<String>)| {
        let name = doc.node_name(n);
        match materials.len() {
            0 | 1 => format!("`{name}`"),
            _ => format!("`{name}` (materials {})", materials.join(", ")),
        }
    };
    by_node.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What several parts give together.
#[derive(Default)]
pub(super) struct Surface {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub uvs: Vec<Vec2>,
    /// The material of each triangle, by its number in the file.
    pub materials: Vec<Option<u32>>,
    /// Vertex colours, where they are asked for.
    pub colours: Option<Vec<[f32; 3]>>,
    /// Weights to the joints that `bind` names, one row per vertex.
    pub rows: Vec<Vec<(u16, f32)>>,
    pub problems: Vec<Problem>,
    /// Primitives may share their vertices and differ in triangles only; such vertices are read once.
    known: HashMap<(usize, Vec<(String, usize)>), u32>,
    with_uvs: bool,
    unbound: usize,
    unnormalised: usize,
    morphed: usize,
    ragged: usize,
}

/// How the vertices of a part follow joints.
pub(super) enum Binding<'a> {
    /// Not at all.
    None,
    /// By its own weights; body joint of each joint of the skin.
    Skin(&'a [u16]),
    /// Wholly with one joint.
    Rigid(u16),
}

impl Surface {
    /// Adds a part, its vertices carried by `place_from_mesh`.
    pub fn add(
        &mut self,
        doc: &Document,
        part: &Part,
        place_from_mesh: &DAffine3,
        binding: &Binding,
    ) -> Result<()> {
        let primitive = part.primitive(doc);
        let place = part.place(doc);
        self.morphed += usize::from(!primitive.targets.is_empty());
        let key = (part.node, primitive.attributes.iter().map(|(k, v)| (k.clone(), *v)).collect());
        let (base, count) = match self.known.get(&key) {
            Some(&base) => {
                let index = primitive.attributes.get("POSITION").copied().unwrap_or(0);
                (base, doc.claimed_count(index).unwrap_or(0) as usize)
            }
            None => {
                let base = self.positions.len() as u32;
                self.add_vertices(doc, primitive, &place, place_from_mesh, binding)?;
                self.known.insert(key, base);
                (base, self.positions.len() - base as usize)
            }
        };
        let mut triangles = self.triangles_of(doc, primitive, count, &place)?;
        let mirrored = place_from_mesh.matrix3.determinant() < 0.0;
        for t in &mut triangles {
            *t = t.map(|i| i + base);
            if mirrored {
                t.swap(1, 2);
            }
        }
        self.triangles.extend(triangles);
        let material = primitive.material.map(|m| m as u32);
        self.materials.resize(self.triangles.len(), material);
        Ok(())
    }

    fn add_vertices(
        &mut self,
        doc: &Document,
        primitive: &Primitive,
        place: &str,
        place_from_mesh: &DAffine3,
        binding: &Binding,
    ) -> Result<()> {
        let attribute = |name: &str| primitive.attributes.get(name).copied();
        let Some(index) = attribute("POSITION") else {
            return Err(doc.bad(place, "has no POSITION"));
        };
        let positions = doc.floats::<3>(index, &format!("{place}, POSITION"))?;
        let base = self.positions.len();
        if base + positions.len() >= u32::MAX as usize {
            return Err(doc.bad(place, "more vertices than can be counted"));
        }
        // Untouched where nothing is to be done, so that clean files stay bit-exact.
        if *place_from_mesh == DAffine3::IDENTITY {
            self.positions.extend(positions.iter().map(|p| Vec3::from_array(*p)));
        } else {
            let moved =
                |p: &[f32; 3]| place_from_mesh.transform_point3(Vec3::from_array(*p).as_dvec3()).as_vec3();
            self.positions.extend(positions.iter().map(moved));
            if let Some(v) = self.positions[base..].iter().position(|p| !p.is_finite()) {
                return Err(doc.bad(place, format!("vertex {v} is too far away")));
            }
        }
        let uvs = match attribute("TEXCOORD_0") {
            Some(index) => {
                self.with_uvs = true;
                let place = format!("{place}, TEXCOORD_0");
                let uvs = doc.floats::<2>(index, &place)?;
                self.same_length(doc, &place, uvs.len(), positions.len())?;
                uvs
            }
            None => vec![[0.0; 2]; positions.len()],
        };
        self.uvs.extend(uvs.iter().map(|uv| Vec2::from_array(*uv)));
        if self.colours.is_some() {
            let colours = colours_of(doc, primitive, place)?;
            self.same_length(doc, &format!("{place}, COLOR_0"), colours.len(), positions.len())?;
            self.colours.get_or_insert_default().extend(colours);
        }
        match binding {
            Binding::None => {}
            Binding::Rigid(joint) => {
                self.rows.resize(self.rows.len() + positions.len(), vec![(*joint, 1.0)]);
            }
            Binding::Skin(slots) => {
                let rows = self.weights_of(doc, primitive, slots, positions.len(), place)?;
                self.rows.extend(rows);
            }
        }
        Ok(())
    }

    /// Rows of weights from all JOINTS_n and WEIGHTS_n.
    fn weights_of(
        &mut self,
        doc: &Document,
        primitive: &Primitive,
        slots: &[u16],
        count: usize,
        place: &str,
    ) -> Result<Vec<Vec<(u16, f32)>>> {
        let mut rows: Vec<Vec<(u16, f32)>> = vec![Vec::new(); count];
        let mut sets = 0;
        for (name, &index) in primitive.attributes.iter() {
            let Some(set) = name.strip_prefix("JOINTS_") else { continue };
            sets += 1;
            let Some(&weights) = primitive.attributes.get(&format!("WEIGHTS_{set}")) else {
                return Err(doc.bad(place, format!("has {name} but no WEIGHTS_{set}")));
            };
            let (at, with) = (format!("{place}, {name}"), format!("{place}, WEIGHTS_{set}"));
            let joints = doc.integers::<4>(index, &at)?;
            let weights = doc.floats::<4>(weights, &with)?;
            self.same_length(doc, &at, joints.len(), count)?;
            self.same_length(doc, &with, weights.len(), count)?;
            for (v, (joints, weights)) in joints.iter().zip(&weights).enumerate() {
                for (&j, &w) in joints.iter().zip(weights) {
                    if w < 0.0 {
                        return Err(doc.bad(with, format!("vertex {v} has the negative weight {w}")));
                    }
                    if w == 0.0 {
                        continue;
                    }
                    let Some(&slot) = slots.get(j as usize) else {
                        let what = format!("vertex {v} names joint {j}, the skin has {}", slots.len());
                        return Err(doc.bad(at, what));
                    };
                    match rows[v].iter_mut().find(|(s, _)| *s == slot) {
                        Some((_, sum)) => *sum += w,
                        None => rows[v].push((slot, w)),
                    }
                }
            }
        }
        if sets == 0 {
            return Err(doc.bad(place, "is skinned but has no JOINTS_0"));
        }
        for row in &mut rows {
            let sum: f32 = row.iter().map(|(_, w)| w).sum();
            if sum <= 0.0 || !sum.is_finite() {
                *row = vec![(slots.first().copied().unwrap_or(0), 1.0)];
                self.unbound += 1;
            } else if (sum - 1.0).abs() > 0.01 {
                self.unnormalised += 1;
            }
        }
        Ok(rows)
    }

    fn triangles_of(
        &mut self,
        doc: &Document,
        primitive: &Primitive,
        count: usize,
        place: &str,
    ) -> Result<Vec<[u32; 3]>> {
        let place = format!("{place}, indices");
        let indices: Vec<u32> = match primitive.indices {
            Some(index) => doc.integers::<1>(index, &place)?.into_iter().map(|[i]| i).collect(),
            None => (0..count as u32).collect(),
        };
        if let Some(i) = indices.iter().position(|&i| i as usize >= count) {
            let what = format!("entry {i} names vertex {}, there are {count}", indices[i]);
            return Err(doc.bad(place, what));
        }
        doc.spend(indices.len() as u64 * 12, &place)?;
        let not_a_line = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        Ok(match primitive.mode {
            5 => indices
                .windows(3)
                .enumerate()
                .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
                .filter(not_a_line)
                .collect(),
            6 => indices
                .get(1..)
                .unwrap_or_default()
                .windows(2)
                .map(|w| [indices[0], w[0], w[1]])
                .filter(not_a_line)
                .collect(),
            4 => {
                self.ragged += usize::from(!indices.len().is_multiple_of(3));
                indices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
            }
            mode => return Err(doc.bad(place, format!("mode {mode} does not exist"))),
        })
    }

    /// Drops vertices that no triangle uses; the others keep their order.
    fn compact(&mut self) {
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|&i| used[i as usize] = true);
        let mut next = 0;
        let moved: Vec<u32> = used
            .iter()
            .map(|&u| {
                next += u32::from(u);
                next.wrapping_sub(1)
            })
            .collect();
        self.triangles.iter_mut().flatten().for_each(|i| *i = moved[*i as usize]);
        fn keep<T>(list: &mut Vec<T>, used: &[bool]) {
            let mut at = used.iter();
            list.retain(|_| at.next().copied().unwrap_or(false));
        }
        keep(&mut self.positions, &used);
        keep(&mut self.uvs, &used);
        keep(&mut self.rows, &used);
        if let Some(colours) = &mut self.colours {
            keep(colours, &used);
        }
    }

    fn same_length(&self, doc: &Document, place: &str, have: usize, need: usize) -> Result<()> {
        if have == need {
            return Ok(());
        }
        Err(doc.bad(place, format!("has {have} elements for {need} vertices")))
    }

    /// Ends the adding: drops texture coordinates that nobody gave and says what was noticed. `compact` also
    /// drops vertices without triangles: those of other primitives when a selection took one of several.
    pub fn finish(&mut self, compact: bool) {
        if compact {
            self.compact();
        }
        if !self.with_uvs {
            self.uvs.clear();
        }
        let mut say = |count: usize, what: &str, action: &str| {
            if count > 0 {
                self.problems.push(Problem::new(what, count, action));
            }
        };
        say(self.unbound, "vertices without weights", "bound to the first joint");
        say(self.unnormalised, "vertices whose weights do not sum to one", "renormalised");
        say(
            self.morphed,
            "primitives with morph targets: not pure linear blend skinning",
            "morph targets ignored",
        );
        say(self.ragged, "primitives whose last triangle is incomplete", "left it out");
    }
}

/// Red, green and blue of COLOR_0, with or without alpha.
fn colours_of(doc: &Document, primitive: &Primitive, place: &str) -> Result<Vec<[f32; 3]>> {
    let Some(&index) = primitive.attributes.get("COLOR_0") else {
        return Err(doc.bad(place, "has no vertex colours (COLOR_0), which are to be read as paint"));
    };
    let place = format!("{place}, COLOR_0");
    let with_alpha = doc.json.accessors.get(index).is_some_and(|a| a.shape == "VEC4");
    match with_alpha {
        true => Ok(doc.floats::<4>(index, &place)?.iter().map(|c| [c[0], c[1], c[2]]).collect()),
        false => doc.floats::<3>(index, &place),
    }
}
