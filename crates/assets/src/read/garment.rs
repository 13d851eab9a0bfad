//! Garments from mesh files: welded for simulation, render vertices kept, rest shape found.

use super::{Loaded, gltf, obj};
use crate::axes::{self, Conversion};
use crate::repair::{self, RepairSettings, Repaired};
use crate::{
    Body, Error, Garment, MaterialPart, Mesh, Paint, Panel, Pin, PinTarget, Problem, RestSource, Result, Seam,
};
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::path::Path;

/// Where the flat rest shape is to be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RestChoice {
    /// Texture coordinates if their areas agree with the mesh within 10 %, else the mesh.
    #[default]
    Auto,
    /// Texture coordinates in metres.
    Uv,
    /// The mesh itself.
    Mesh,
}

/// Reads a garment from `.obj`, `.gltf` or `.glb`. `select` names a node or material of a glTF file, or a
/// group, object or material of an OBJ file. Vertex sets of a `.json` beside an OBJ file become pins.
pub fn read_garment(
    path: impl AsRef<Path>,
    rest: RestChoice,
    select: Option<&str>,
) -> Result<Loaded<Garment>> {
    let path = path.as_ref();
    read_garment_for(path, rest, select, None)
}

/// Reads a garment that is worn on `body`, which tells its units and axes more surely.
pub fn read_garment_for(
    path: impl AsRef<Path>,
    rest: RestChoice,
    select: Option<&str>,
    body: Option<&Body>,
) -> Result<Loaded<Garment>> {
    let path = path.as_ref();
    let source = Source::read(path, select)?;
    let Loaded { value: source, mut problems, mut notes } = source;
    let (lo, hi) = used_bounds(&source.mesh);
    let wearer = body.map(|b| b.mesh.bounds());
    let guess = if is_gltf(path) { axes::gltf_garment } else { axes::guess_garment };
    let (conversion, said) = guess(lo, hi, wearer);
    notes.extend(said);
    if !axes::is_usual_unit(conversion.metres_per_unit) {
        let action = format!("scaled by {:.4}, a guess", conversion.metres_per_unit);
        problems.push(Problem::new(axes::UNKNOWN_UNITS, 1, action));
    }
    let mut mesh = source.mesh;
    mesh.positions.iter_mut().for_each(|p| *p = conversion.point(*p));

    let clean = repair::repair(&mesh, &RepairSettings::default())
        .map_err(|e| Error::bad(path, "mesh", e.to_string()))?;
    problems.extend(clean.problems.iter().cloned());
    let (uvs, said) = flat_scale(path, rest, &clean, &conversion)?;
    notes.push(said);
    let Ordered { triangles, panels } = Ordered::new(&clean, &source.parts, &source.part_of_triangle);
    let (rest, borrowed) = rest_shapes(&clean, &triangles, uvs);
    if borrowed > 0 {
        let what = "triangles without area in texture space";
        problems.push(Problem::new(what, borrowed, "rest shape from the mesh"));
    }

    let corners: Vec<[u32; 3]> = triangles.iter().map(|&t| clean.render.triangles[t as usize]).collect();
    let sim = Mesh {
        triangles: triangles.iter().map(|&t| clean.sim.triangles[t as usize]).collect(),
        ..clean.sim.clone()
    };
    let seams = if clean.render.components().1 * 8 > corners.len() {
        Vec::new()
    } else {
        find_seams(&sim, &corners, &rest, &panels)
    };
    let (pins, openings, paint) = read_pins(path, select, &source.position_index, &clean, &mut notes)?;
    let name = path.file_stem().map_or_else(|| "garment".to_string(), |s| s.to_string_lossy().into_owned());
    let materials = material_parts(&source.materials, &source.material_of_triangle, &clean.given_triangle);
    let garment = Garment {
        name,
        materials,
        render: clean.render,
        sim_from_render: clean.sim_from_render,
        sim,
        rest,
        rest_source: if uvs.is_some() { RestSource::Uv } else { RestSource::Mesh },
        panels,
        seams,
        pins,
        openings,
        paint,
        fabric: "cotton".to_string(),
    };
    garment.check().map_err(|e| Error::bad(path, "mesh", e.to_string()))?;
    Ok(Loaded { value: garment, problems, notes })
}

/// The file's materials by the triangles that are left of them.
fn material_parts(names: &[String], of_given: &[u32], given: &[u32]) -> Vec<MaterialPart> {
    let mut parts: Vec<MaterialPart> =
        names.iter().map(|name| MaterialPart { name: name.clone(), triangles: Vec::new() }).collect();
    for (t, &g) in given.iter().enumerate() {
        if let Some(part) = of_given.get(g as usize).and_then(|&m| parts.get_mut(m as usize)) {
            part.triangles.push(t as u32);
        }
    }
    parts.retain(|p| !p.name.is_empty() && !p.triangles.is_empty());
    parts
}

/// What any format gives.
struct Source {
    mesh: Mesh,
    /// The file's own vertex number of each vertex, which side-car files speak of.
    position_index: Vec<u32>,
    parts: Vec<String>,
    part_of_triangle: Vec<u32>,
    materials: Vec<String>,
    material_of_triangle: Vec<u32>,
}

impl Source {
    fn read(path: &Path, select: Option<&str>) -> Result<Loaded<Self>> {
        let extension =
            path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "obj" => {
                let Loaded { value, problems, notes } =
                    select.map_or_else(|| obj::read_obj(path), |part| obj::read_part(path, part))?;
                let obj::Obj {
                    mesh,
                    position_index,
                    parts,
                    part_of_triangle,
                    materials,
                    material_of_triangle,
                } = value;
                let value =
                    Self { mesh, position_index, parts, part_of_triangle, materials, material_of_triangle };
                Ok(Loaded { value, problems, notes })
            }
            "gltf" | "glb" | "vrm" => {
                let Loaded { value, problems, notes } =
                    gltf::read_mesh_and_materials(path, &gltf::Options::select(select))?;
                let (mesh, materials, material_of_triangle) = value;
                let position_index = (0..mesh.positions.len() as u32).collect();
                let part_of_triangle = vec![0; mesh.triangles.len()];
                let parts = vec![String::new()];
                let value =
                    Self { mesh, position_index, parts, part_of_triangle, materials, material_of_triangle };
                Ok(Loaded { value, problems, notes })
            }
            _ => Err(Error::bad(path, "name", "garments are read from .obj, .gltf and .glb")),
        }
    }
}

fn is_gltf(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["gltf", "glb", "vrm"].iter().any(|x| e.eq_ignore_ascii_case(x)))
}

/// The box around the vertices that triangles use: a stray vertex must not decide the units.
fn used_bounds(mesh: &Mesh) -> (Vec3, Vec3) {
    let used = mesh.triangles.iter().flatten().filter_map(|&i| mesh.positions.get(i as usize));
    let (lo, hi) = used.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
    if lo.is_finite() && hi.is_finite() { (lo, hi) } else { (Vec3::ZERO, Vec3::ZERO) }
}

/// Metres per unit of the texture coordinates where they are the rest shape, and what to say.
fn flat_scale(
    path: &Path,
    choice: RestChoice,
    clean: &Repaired,
    conversion: &Conversion,
) -> Result<(Option<f32>, String)> {
    let from_mesh = |why: &str| (None, format!("rest shape from the mesh: {why}"));
    if choice == RestChoice::Mesh {
        return Ok(from_mesh("asked for"));
    }
    if clean.render.uvs.is_empty() {
        if choice == RestChoice::Uv {
            let what = "there are no texture coordinates to take the rest shape from; use the mesh instead";
            return Err(Error::bad(path, "mesh", what));
        }
        return Ok(from_mesh("there are no texture coordinates"));
    }
    let render = &clean.render;
    let mesh_area = f64::from(render.area());
    let flat = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| render.uvs[i as usize].as_dvec2());
        0.5 * (b - a).perp_dot(c - a).abs()
    };
    let uv_area: f64 = render.triangles.iter().map(flat).sum();
    // Drawn in metres, or in whatever unit the mesh was drawn in.
    let ratio = |scale: f64| uv_area * scale * scale / mesh_area;
    let scales = [1.0, conversion.metres_per_unit];
    let fits = scales.into_iter().find(|s| (0.9..=1.1).contains(&ratio(*s)));
    match (choice, fits) {
        (_, Some(scale)) => {
            let said = format!(
                "rest shape from texture coordinates: their area is {:.1} % of the mesh's",
                100.0 * ratio(scale)
            );
            Ok((Some(scale as f32), said))
        }
        (RestChoice::Uv, None) => {
            let said = format!(
                "rest shape from texture coordinates, as asked, though their area is {:.1} % of the mesh's",
                100.0 * ratio(1.0)
            );
            Ok((Some(1.0), said))
        }
        _ => Ok(from_mesh(&format!(
            "texture coordinates have {:.1} % of its area, so they are not a pattern in metres",
            100.0 * ratio(1.0)
        ))),
    }
}

/// Triangles ordered by panel.
struct Ordered {
    /// Indices into the repaired triangles.
    triangles: Vec<u32>,
    panels: Vec<Panel>,
}

impl Ordered {
    /// The file's groups are the panels; in a file without groups the pieces of the texture are.
    fn new(clean: &Repaired, parts: &[String], part_of_triangle: &[u32]) -> Self {
        let count = clean.render.triangles.len();
        let (names, of): (Vec<String>, Vec<u32>) = if parts.len() > 1 {
            let of = clean.given_triangle.iter().map(|&t| part_of_triangle[t as usize]).collect();
            (parts.to_vec(), of)
        } else {
            let (label, pieces) = clean.render.components();
            // A file in which every face has its own vertices has no pieces to speak of.
            let (label, pieces) =
                if pieces * 8 > count { (vec![0; label.len()], 1) } else { (label, pieces) };
            let of = clean.render.triangles.iter().map(|t| label[t[0] as usize]).collect();
            let only = parts.first().filter(|n| pieces == 1 && !n.is_empty()).cloned();
            let name = |k: usize| only.clone().unwrap_or_else(|| format!("panel {}", k + 1));
            ((0..pieces).map(name).collect(), of)
        };
        let mut triangles: Vec<u32> = (0..count as u32).collect();
        triangles.sort_by_key(|&t| of[t as usize]);
        let mut panels: Vec<Panel> = Vec::new();
        let mut last = None;
        for (at, &t) in triangles.iter().enumerate() {
            let part = of[t as usize];
            if last != Some(part) {
                last = Some(part);
                panels.push(Panel { name: names[part as usize].clone(), first: at as u32, count: 0 });
            }
            if let Some(panel) = panels.last_mut() {
                panel.count += 1;
            }
        }
        Self { triangles, panels }
    }
}

/// Flat shapes in the given order, and how many had to come from the mesh although texture coordinates
/// were wanted.
fn rest_shapes(clean: &Repaired, order: &[u32], uv_scale: Option<f32>) -> (Vec<[Vec2; 3]>, usize) {
    let mut borrowed = 0;
    let shapes = order
        .iter()
        .map(|&t| {
            let corners = clean.render.triangles[t as usize];
            let [a, b, c] = corners.map(|i| clean.render.positions[i as usize]);
            let Some(scale) = uv_scale else { return lay_flat(a, b, c) };
            let mut flat = corners.map(|i| clean.render.uvs[i as usize] * scale);
            let doubled = (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]);
            if doubled.abs() < 0.02 * (b - a).cross(c - a).length() {
                borrowed += 1;
                return lay_flat(a, b, c);
            }
            if doubled < 0.0 {
                // A panel drawn from its wrong side: mirrored across the grain, which stays where it was.
                flat.iter_mut().for_each(|p| p.x = -p.x);
            }
            flat
        })
        .collect();
    (shapes, borrowed)
}

/// A triangle in its own plane, counter-clockwise, with the grain as near to the vertical as it goes.
pub(crate) fn lay_flat(a: Vec3, b: Vec3, c: Vec3) -> [Vec2; 3] {
    let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
    // Lying flat, the vertical says nothing; front to back does.
    let grain = if normal.y.abs() < 0.95 { Vec3::Y } else { Vec3::NEG_Z };
    let y = (grain - normal * grain.dot(normal)).normalize_or(Vec3::Y);
    let x = y.cross(normal);
    [a, b, c].map(|p| Vec2::new((p - a).dot(x), (p - a).dot(y)))
}

/// An edge of the simulation mesh where the render mesh is open.
struct OpenEdge {
    ends: [u32; 2],
    /// Flat lengths on its two sides.
    lengths: [f32; 2],
    /// Whether the first length is that of the triangle that runs along `ends`, as in a dart, rather than
    /// that of the panel that comes first.
    by_direction: bool,
}

/// Chains of edges whose two triangles draw with different vertices, one chain per pair of panels and run.
fn find_seams(sim: &Mesh, render: &[[u32; 3]], rest: &[[Vec2; 3]], panels: &[Panel]) -> Vec<Seam> {
    let panel_of = |t: u32| panels.partition_point(|p| p.first + p.count <= t);
    let mut by_pair: HashMap<[usize; 2], Vec<OpenEdge>> = HashMap::new();
    for edge in sim.topology().edges {
        let [Some(t), Some(u)] = edge.triangles else { continue };
        let side = |t: u32| {
            let k = (0..3).find(|&k| {
                edge.ends.contains(&sim.triangles[t as usize][k])
                    && edge.ends.contains(&sim.triangles[t as usize][(k + 1) % 3])
            })?;
            let ends = [render[t as usize][k], render[t as usize][(k + 1) % 3]];
            let length = rest[t as usize][k].distance(rest[t as usize][(k + 1) % 3]);
            Some((sim.triangles[t as usize][k] == edge.ends[0], ends, length))
        };
        let (Some((forward, a, la)), Some((_, b, lb))) = (side(t), side(u)) else { continue };
        let same = (a[0] == b[1] && a[1] == b[0]) || a == b;
        if same {
            continue;
        }
        let pair = [panel_of(t), panel_of(u)];
        let by_direction = pair[0] == pair[1];
        // Triangles are in the order of their panels, so `t` is on the panel that comes first.
        let swap = by_direction && !forward;
        let lengths = if swap { [lb, la] } else { [la, lb] };
        by_pair.entry(pair).or_default().push(OpenEdge { ends: edge.ends, lengths, by_direction });
    }
    let mut pairs: Vec<_> = by_pair.into_iter().collect();
    pairs.sort_by_key(|(pair, _)| *pair);
    let mut seams = Vec::new();
    for (pair, edges) in pairs {
        let name = if pair[0] == pair[1] {
            format!("{} (dart)", panels[pair[0]].name)
        } else {
            format!("{} – {}", panels[pair[0]].name, panels[pair[1]].name)
        };
        for (vertices, lengths) in chains(&edges) {
            let ratio = lengths[0] / lengths[1];
            let gather = if (ratio - 1.0).abs() > 0.01 && ratio.is_finite() { ratio } else { 1.0 };
            seams.push(Seam { name: name.clone(), vertices, lengths, gather });
        }
    }
    seams
}

/// Joins edges end to end; chains stop where three or more meet.
fn chains(edges: &[OpenEdge]) -> Vec<(Vec<u32>, [f32; 2])> {
    let mut at: HashMap<u32, Vec<usize>> = HashMap::new();
    for (e, edge) in edges.iter().enumerate() {
        edge.ends.iter().for_each(|v| at.entry(*v).or_default().push(e));
    }
    let mut used = vec![false; edges.len()];
    let mut out = Vec::new();
    let mut walk = |start: u32, first: usize, used: &mut [bool]| {
        let (mut chain, mut lengths, mut e, mut v) = (vec![start], [0.0; 2], first, start);
        loop {
            used[e] = true;
            let OpenEdge { ends, lengths: [near, far], by_direction } = edges[e];
            let along = ends[0] == v;
            v = if along { ends[1] } else { ends[0] };
            chain.push(v);
            let swap = by_direction && !along;
            lengths[0] += if swap { far } else { near };
            lengths[1] += if swap { near } else { far };
            match at[&v][..] {
                [a, b] if !used[a] || !used[b] => e = if used[a] { b } else { a },
                _ => break,
            }
        }
        out.push((chain, lengths));
    };
    // Ends first, so that open chains start at one; what is left then are closed rings.
    for ends_only in [true, false] {
        for e in 0..edges.len() {
            for v in edges[e].ends {
                if !used[e] && (!ends_only || at[&v].len() != 2) {
                    walk(v, e, &mut used);
                }
            }
        }
    }
    out
}

/// Labelled vertex sets of `name.json` beside the mesh, `{"labels": {"waist": [0, 1, …]}}`, and what is painted there.
fn read_pins(
    path: &Path,
    select: Option<&str>,
    position_index: &[u32],
    clean: &Repaired,
    notes: &mut Vec<String>,
) -> Result<(Vec<Pin>, Vec<Pin>, Paint)> {
    let beside = path.with_extension("json");
    if !toile_model::disk::is_plain_file(&beside).unwrap_or(false) {
        return Ok(Default::default());
    }
    let bytes = toile_model::disk::read(&beside).map_err(|e| Error::io(&beside, e))?;
    let json: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|e| Error::bad(&beside, format!("line {}", e.line()), e.to_string()))?;
    super::paint::check_names(&beside, &json)?;
    let colours = match json.get("vertex_colours") {
        Some(_) if !is_gltf(path) => {
            let what =
                format!("{} has no vertex colours; paint a .glb, or list the values here", path.display());
            return Err(Error::bad(&beside, "vertex_colours", what));
        }
        Some(scales) => Some((scales, gltf::read_colours(path, select)?)),
        None => None,
    };
    // Vertex numbers are those of an OBJ file; another format has them only where it has the same vertices.
    let is_obj = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("obj"));
    let same = json.get("vertices").and_then(|n| n.as_u64()) == Some(position_index.len() as u64);
    if !is_obj && !same && colours.is_none() {
        if super::paint::is_said(&json) {
            notes.push(format!(
                "sets and paint of {} are not read: they go by vertex numbers, and this file has {} vertices; \
                 `\"vertices\": {}` in it says that the numbers are those of this file",
                beside.file_name().unwrap_or_default().to_string_lossy(),
                position_index.len(),
                position_index.len()
            ));
        }
        return Ok(Default::default());
    }
    // The file's vertex number to the simulation's.
    let mut sim: HashMap<u32, u32> = HashMap::new();
    for (r, &given) in clean.given_from_render.iter().enumerate() {
        sim.insert(position_index[given as usize], clean.sim_from_render[r]);
    }
    let most = position_index.iter().max().map_or(0, |m| u64::from(*m) + 1);
    let counts = (most as usize, clean.sim.positions.len());
    let paint = match &colours {
        Some((scales, colours)) => {
            let sim_of = |v: u32| sim.get(&v).copied();
            super::paint::paint_of_colours(&beside, scales, colours, counts.1, sim_of)?
        }
        None => super::paint::read_paint(&beside, &json, counts, |v| sim.get(&v).copied())?,
    };
    let mut pins: Vec<Pin> = Vec::new();
    if !is_obj && !same {
        // Only the colours are meant: numbers of vertices would be those of another file.
        return Ok((painted_pins(&paint), Vec::new(), paint));
    }
    let none = serde_json::Value::Object(Default::default());
    let Some(labels) = json.get("labels").unwrap_or(&none).as_object() else {
        return Err(Error::bad(&beside, "labels", "wants sets of vertices by name, {\"waist\": [0, 1, 2]}"));
    };
    for (name, list) in labels {
        let bad = |what: String| Error::bad(&beside, format!("labels.{name}"), what);
        let list = list.as_array().ok_or_else(|| bad("is not a list of vertex numbers".to_string()))?;
        let mut vertices = Vec::with_capacity(list.len());
        for value in list {
            let index = value.as_u64().filter(|i| *i < most).ok_or_else(|| {
                bad(format!("{value} is not a vertex number; the mesh has {most}, counted from 0"))
            })?;
            vertices.extend(sim.get(&(index as u32)));
        }
        vertices.sort_unstable();
        vertices.dedup();
        if !vertices.is_empty() {
            pins.push(Pin { name: name.clone(), vertices, target: PinTarget::Body });
        }
    }
    let (openings, mut pins): (Vec<Pin>, Vec<Pin>) = pins.into_iter().partition(|p| is_opening(&p.name));
    let file = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = |pins: &[Pin]| {
        let one = |p: &Pin| format!("{} ({})", p.name, p.vertices.len());
        pins.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    if !pins.is_empty() {
        notes.push(format!("pinned to the body by {file}: {}", names(&pins)));
    }
    if !openings.is_empty() {
        notes.push(format!("hangs by {}; `--pin NAME` would pin them to the skin", names(&openings)));
    }
    pins.extend(painted_pins(&paint));
    Ok((pins, openings, paint))
}

/// Collars and armholes lie on shoulders that carry the garment; a waistband or the neckline of a cape would slip.
fn is_opening(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("collar") || name.contains("armhole")
}

/// Held by paint is held, for the simulation too.
fn painted_pins(paint: &Paint) -> Vec<Pin> {
    let held = |v: &u32| paint.max_distance_m[*v as usize] == 0.0;
    let vertices: Vec<u32> = (0..paint.max_distance_m.len() as u32).filter(held).collect();
    match vertices.is_empty() {
        true => Vec::new(),
        false => vec![Pin { name: "painted".into(), vertices, target: PinTarget::Body }],
    }
}
