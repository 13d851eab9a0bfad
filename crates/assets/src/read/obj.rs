//! Meshes from OBJ files, as tools write them and as people edit them.
//!
//! Faces of any number of corners, negative indices, groups, objects and materials, vertex colours, line
//! continuations, any line ending. Curves and free-form surfaces are left out and counted. Every fault
//! comes with its line, up to [`MOST_FAULTS`] of them; memory grows with the size of the file, never with
//! a number that stands in it.

use super::Loaded;
use crate::{Error, Mesh, Problem, Result};
use glam::{DVec2, DVec3, Vec2, Vec3};
use std::collections::HashMap;
use std::path::Path;

/// Faults reported before reading gives up.
pub const MOST_FAULTS: usize = 20;
/// Corners of one face. Concave faces with more than [`MOST_CONCAVE`] corners are cut as a fan.
const MOST_CORNERS: usize = 65_536;
const MOST_CONCAVE: usize = 512;

/// A mesh with what OBJ says beyond geometry.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Obj {
    /// One vertex per distinct position/texture pair, ordered by position, so that a file without texture
    /// seams keeps its own vertex order.
    pub mesh: Mesh,
    /// The file's position index (from 0) of each vertex.
    pub position_index: Vec<u32>,
    /// Names of the parts of the file: its groups, or its objects or materials where those tell more apart.
    pub parts: Vec<String>,
    /// Part of each triangle.
    pub part_of_triangle: Vec<u32>,
    /// Names of materials; the empty name stands for none.
    pub materials: Vec<String>,
    /// Material of each triangle.
    pub material_of_triangle: Vec<u32>,
}

/// Reads all faces of a file as one mesh with one vertex per distinct position/texture pair.
pub fn read_mesh(path: impl AsRef<Path>) -> Result<Loaded<Mesh>> {
    let path = path.as_ref();
    let Loaded { value, problems, notes } = read_obj(path)?;
    Ok(Loaded { value: value.mesh, problems, notes })
}

/// Reads all faces of a file with their groups.
pub fn read_obj(path: impl AsRef<Path>) -> Result<Loaded<Obj>> {
    let path = path.as_ref();
    let bytes = toile_model::disk::read(path).map_err(|e| Error::io(path, e))?;
    parse(path, &bytes, None)
}

/// Reads the faces of the group, object or material named `select`.
pub fn read_part(path: impl AsRef<Path>, select: &str) -> Result<Loaded<Obj>> {
    let path = path.as_ref();
    let bytes = toile_model::disk::read(path).map_err(|e| Error::io(path, e))?;
    parse(path, &bytes, Some(select))
}

/// A face's corner as the file has it, from 0; `NONE` for a missing texture coordinate.
type Corner = [u32; 2];
const NONE: u32 = u32::MAX;

/// A polygon: its corners in `Parsed::corners`, its names, its line.
struct Face {
    first: usize,
    count: usize,
    /// Group, object, material.
    names: [u32; 3],
    line: usize,
}

/// Everything the lines say, before it is put together.
#[derive(Default)]
struct Parsed {
    positions: Vec<Vec3>,
    uvs: Vec<Vec2>,
    corners: Vec<Corner>,
    faces: Vec<Face>,
    names: [Vec<String>; 3],
    name_index: [HashMap<String, u32>; 3],
    faults: Vec<String>,
    coloured: usize,
    short_faces: usize,
    left_out: usize,
    unknown: usize,
}

/// Parses the bytes of a file; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8], select: Option<&str>) -> Result<Loaded<Obj>> {
    let mut parsed = Parsed { names: std::array::from_fn(|_| vec![String::new()]), ..Parsed::default() };
    parsed.read_lines(bytes);
    if parsed.faults.is_empty() {
        parsed.check_indices();
    }
    if parsed.faults.is_empty() && parsed.faces.is_empty() {
        let what = "it has no faces; is it an OBJ file, and was the mesh exported with it?";
        return Err(Error::bad(path, "end", what));
    }
    match parsed.faults.len() {
        0 => parsed.put_together(path, select),
        1 => {
            let fault = parsed.faults.remove(0);
            let (place, what) = fault.split_once(": ").unwrap_or(("file", &fault));
            Err(Error::bad(path, place, what))
        }
        _ => Err(Error::many(path, parsed.faults)),
    }
}

impl Parsed {
    fn fault(&mut self, line: usize, what: impl std::fmt::Display) {
        self.faults.push(format!("line {line}: {what}"));
    }

    fn full(&self) -> bool {
        self.faults.len() >= MOST_FAULTS
    }

    fn read_lines(&mut self, bytes: &[u8]) {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut joined = String::new();
        let mut now = [0u32; 3];
        let mut start = 1;
        for (n, raw) in bytes.split(|&b| b == b'\n').enumerate() {
            let text = String::from_utf8_lossy(raw);
            let text = text.trim_end();
            if joined.is_empty() {
                start = n + 1;
            }
            if let Some(head) = text.strip_suffix('\\') {
                joined.push_str(head);
                joined.push(' ');
                continue;
            }
            if joined.is_empty() {
                self.read_line(start, text, &mut now);
            } else {
                joined.push_str(text);
                self.read_line(start, &std::mem::take(&mut joined), &mut now);
            }
            if self.full() {
                self.faults.push(format!("and maybe more: reading stopped at line {}", n + 1));
                return;
            }
        }
        if !joined.is_empty() {
            self.read_line(start, &joined, &mut now);
        }
    }

    fn read_line(&mut self, line: usize, text: &str, now: &mut [u32; 3]) {
        // Inside a word `#` is a part of a name: `Material#25`.
        let comment =
            text.match_indices('#').find(|&(i, _)| text[..i].chars().last().is_none_or(char::is_whitespace));
        let text = comment.map_or(text, |(i, _)| &text[..i]);
        let mut words = text.split_whitespace();
        let Some(keyword) = words.next() else { return };
        match keyword {
            "v" => {
                let (numbers, count) = self.numbers::<7>(line, "v", words, 3);
                self.positions.push(Vec3::new(numbers[0], numbers[1], numbers[2]));
                self.coloured += usize::from(count >= 6);
            }
            "vt" => {
                let (numbers, _) = self.numbers::<3>(line, "vt", words, 1);
                self.uvs.push(Vec2::new(numbers[0], numbers[1]));
            }
            "f" | "fo" => self.face(line, words, *now),
            "g" | "o" | "usemtl" => {
                let kind = ["g", "o", "usemtl"].iter().position(|k| *k == keyword).unwrap_or(0);
                // Kept to the end of the line: names hold spaces.
                let name = text.trim_start()[keyword.len()..].trim();
                now[kind] = self.name(kind, name);
            }
            "vn" | "mtllib" | "s" | "mg" | "bevel" | "c_interp" | "d_interp" | "lod" | "usemap"
            | "maplib" | "shadow_obj" | "trace_obj" => {}
            "l" | "p" | "vp" | "cstype" | "deg" | "bmat" | "step" | "curv" | "curv2" | "surf" | "parm"
            | "trim" | "hole" | "scrv" | "sp" | "end" | "con" => self.left_out += 1,
            _ => self.unknown += 1,
        }
    }

    /// Up to `N` finite numbers, at least `least`; faults are recorded and read as zero.
    fn numbers<'a, const N: usize>(
        &mut self,
        line: usize,
        keyword: &str,
        words: impl Iterator<Item = &'a str>,
        least: usize,
    ) -> ([f32; N], usize) {
        let mut out = [0.0; N];
        let mut count = 0;
        for word in words.take(N) {
            match word.parse::<f32>() {
                Ok(x) if x.is_finite() => out[count] = x,
                Ok(_) => self.fault(line, format!("`{keyword}` has the value {}", clip(word))),
                Err(_) => self.fault(line, format!("`{keyword}` needs numbers, `{}` is none", clip(word))),
            }
            count += 1;
        }
        if count < least {
            self.fault(line, format!("`{keyword}` needs {least} numbers and has {count}"));
        }
        (out, count)
    }

    fn face<'a>(&mut self, line: usize, words: impl Iterator<Item = &'a str>, names: [u32; 3]) {
        let first = self.corners.len();
        for word in words {
            match self.corner(word) {
                Ok(corner) => self.corners.push(corner),
                Err(what) => {
                    self.fault(line, what);
                    self.corners.truncate(first);
                    return;
                }
            }
        }
        // The same corner twice in a row is an edge of no length.
        let mut kept = first;
        for at in first..self.corners.len() {
            if kept == first || self.corners[kept - 1][0] != self.corners[at][0] {
                self.corners[kept] = self.corners[at];
                kept += 1;
            }
        }
        if kept > first + 1 && self.corners[kept - 1][0] == self.corners[first][0] {
            kept -= 1;
        }
        self.corners.truncate(kept);
        let count = kept - first;
        if count > MOST_CORNERS {
            self.fault(line, format!("a face of {count} corners; at most {MOST_CORNERS} are read"));
        } else if count < 3 {
            self.short_faces += 1;
            self.corners.truncate(first);
        } else {
            self.faces.push(Face { first, count, names, line });
        }
    }

    /// `7`, `7/3`, `7//2`, `7/3/2`; negative numbers count back from the latest.
    fn corner(&self, word: &str) -> std::result::Result<Corner, String> {
        let mut parts = word.split('/');
        let index = |text: Option<&str>, have: usize, what: &str| -> std::result::Result<u32, String> {
            let text = text.unwrap_or_default();
            if text.is_empty() {
                return Ok(NONE);
            }
            let bad = || format!("`{}` is not a {what} index", clip(text));
            let i: i64 = text.parse().map_err(|_| bad())?;
            match i {
                1.. => u32::try_from(i - 1).ok().filter(|&i| i != NONE).ok_or_else(bad),
                0 => Err(format!("{what} index 0: OBJ counts from 1")),
                _ => have.checked_sub(i.unsigned_abs() as usize).map(|i| i as u32).ok_or_else(|| {
                    format!("{what} index {i} counts back past the first; {have} come before it")
                }),
            }
        };
        let position = index(parts.next(), self.positions.len(), "vertex")?;
        if position == NONE {
            return Err(format!("the corner `{}` names no vertex", clip(word)));
        }
        let uv = index(parts.next(), self.uvs.len(), "texture")?;
        Ok([position, uv])
    }

    fn name(&mut self, kind: usize, name: &str) -> u32 {
        if let Some(&known) = self.name_index[kind].get(name) {
            return known;
        }
        let new = self.names[kind].len() as u32;
        self.names[kind].push(name.to_string());
        self.name_index[kind].insert(name.to_string(), new);
        new
    }

    /// Faces may come before their vertices, so indices are checked at the end.
    fn check_indices(&mut self) {
        let (positions, uvs) = (self.positions.len(), self.uvs.len());
        for f in 0..self.faces.len() {
            let Face { first, count, line, .. } = self.faces[f];
            let bad = self.corners[first..first + count].iter().find_map(|&[v, t]| {
                if v as usize >= positions {
                    Some(format!("vertex index {} but the file has {positions} vertices", u64::from(v) + 1))
                } else if t != NONE && t as usize >= uvs {
                    Some(format!(
                        "texture index {} but the file has {uvs} texture coordinates",
                        u64::from(t) + 1
                    ))
                } else {
                    None
                }
            });
            if let Some(what) = bad {
                self.fault(line, what);
                if self.full() {
                    self.faults.push("and maybe more".to_string());
                    return;
                }
            }
        }
    }

    fn put_together(self, path: &Path, select: Option<&str>) -> Result<Loaded<Obj>> {
        let mut problems = Vec::new();
        let mut note = |what: &str, count: usize, action: &str| {
            if count > 0 {
                problems.push(Problem::new(what, count, action));
            }
        };
        let mut faces: Vec<&Face> = self.faces.iter().collect();
        if let Some(select) = select {
            let named = |f: &&Face| (0..3).any(|k| self.names[k][f.names[k] as usize] == select);
            faces.retain(named);
            if faces.is_empty() {
                let mut known: Vec<&str> = self.names.iter().flatten().map(String::as_str).collect();
                known.retain(|n| !n.is_empty());
                known.truncate(20);
                let what = format!(
                    "no group, object or material is named `{select}`; there are: {}",
                    known.join(", ")
                );
                return Err(Error::bad(path, "groups", what));
            }
        }
        // Whichever kind of name tells most apart; groups before objects before materials.
        let distinct = |kind: usize| {
            let mut seen: Vec<u32> = faces.iter().map(|f| f.names[kind]).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        let kind = (0..3).find(|&k| distinct(k) > 1).unwrap_or(0);

        let with_uv = faces
            .iter()
            .flat_map(|f| &self.corners[f.first..f.first + f.count])
            .filter(|c| c[1] != NONE)
            .count();
        let (vertices, vertex_of) = self.split_vertices(&faces, with_uv > 0, select.is_some());
        let mut obj = Obj::default();
        let (mut fanned, mut without_uv) = (0, 0);
        let mut part: HashMap<u32, u32> = HashMap::new();
        for face in &faces {
            let corners = &self.corners[face.first..face.first + face.count];
            without_uv += usize::from(with_uv > 0 && corners.iter().any(|c| c[1] == NONE));
            let points: Vec<DVec3> =
                corners.iter().map(|c| self.positions[c[0] as usize].as_dvec3()).collect();
            let (triangles, exact) = triangulate(&points);
            fanned += usize::from(!exact);
            let name = face.names[kind];
            let p = *part.entry(name).or_insert_with(|| {
                obj.parts.push(self.names[kind][name as usize].clone());
                obj.parts.len() as u32 - 1
            });
            for tri in triangles {
                obj.mesh.triangles.push(tri.map(|k| vertex_of[&key(corners[k as usize], with_uv > 0)]));
                obj.part_of_triangle.push(p);
                obj.material_of_triangle.push(face.names[2]);
            }
        }
        obj.mesh.positions = vertices.iter().map(|c| self.positions[c[0] as usize]).collect();
        obj.position_index = vertices.iter().map(|c| c[0]).collect();
        obj.materials = self.names[2].clone();
        if with_uv > 0 {
            let uv = |c: &Corner| self.uvs.get(c[1] as usize).copied().unwrap_or(Vec2::ZERO);
            obj.mesh.uvs = vertices.iter().map(uv).collect();
        }
        note("faces with fewer than three corners", self.short_faces, "left out");
        note("large concave faces", fanned, "cut as a fan, which may fold them");
        note("faces without texture coordinates", without_uv, "read as (0, 0)");
        note("points, lines, curves and surfaces", self.left_out, "left out");
        note("lines that are not OBJ", self.unknown, "left out");
        note("vertices with colours", self.coloured, "colours left out");
        Ok(Loaded { value: obj, problems, notes: Vec::new() })
    }

    /// One vertex per distinct corner, in the order of the file's positions. Positions that no face uses
    /// stay, so that indices into the file keep their meaning, unless a part was selected.
    fn split_vertices(
        &self,
        faces: &[&Face],
        with_uv: bool,
        selected: bool,
    ) -> (Vec<Corner>, HashMap<Corner, u32>) {
        let mut vertices: Vec<Corner> = faces
            .iter()
            .flat_map(|f| &self.corners[f.first..f.first + f.count])
            .map(|&c| key(c, with_uv))
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        if !selected {
            let mut used = vec![false; self.positions.len()];
            vertices.iter().for_each(|c| used[c[0] as usize] = true);
            let unused = (0..used.len()).filter(|&v| !used[v]).map(|v| [v as u32, NONE]);
            vertices.extend(unused);
            vertices.sort_unstable();
        }
        let index = vertices.iter().enumerate().map(|(i, &c)| (c, i as u32)).collect();
        (vertices, index)
    }
}

fn key(corner: Corner, with_uv: bool) -> Corner {
    [corner[0], if with_uv { corner[1] } else { NONE }]
}

/// The beginning of a word, for messages.
fn clip(word: &str) -> String {
    word.chars().take(24).collect()
}

/// Triangles of a polygon: a fan where it is convex, ears where it is not. The flag is false where neither
/// is exact.
fn triangulate(points: &[DVec3]) -> (Vec<[u32; 3]>, bool) {
    let n = points.len();
    let fan = || (1..n as u32 - 1).map(|k| [0, k, k + 1]).collect();
    if n == 3 {
        return (vec![[0, 1, 2]], true);
    }
    // Newell's normal: right for any planar polygon, the mean for others.
    let normal: DVec3 = (0..n).map(|k| (points[k] - points[0]).cross(points[(k + 1) % n] - points[0])).sum();
    let Some(normal) = normal.try_normalize() else { return (fan(), true) };
    let (x, y) = normal.any_orthonormal_pair();
    let flat: Vec<DVec2> = points.iter().map(|p| DVec2::new((*p).dot(x), (*p).dot(y))).collect();
    // `any_orthonormal_pair` gives a right-handed frame with the normal, so the polygon runs counter-clockwise.
    let turn = |a: usize, b: usize, c: usize| (flat[b] - flat[a]).perp_dot(flat[c] - flat[b]);
    if (0..n).all(|k| turn(k, (k + 1) % n, (k + 2) % n) >= 0.0) {
        return (fan(), true);
    }
    if n > MOST_CONCAVE {
        return (fan(), false);
    }
    let inside = |a: usize, b: usize, c: usize, p: usize| {
        let side = |i: usize, j: usize| (flat[j] - flat[i]).perp_dot(flat[p] - flat[i]);
        side(a, b) >= 0.0 && side(b, c) >= 0.0 && side(c, a) >= 0.0
    };
    let mut left: Vec<usize> = (0..n).collect();
    let mut triangles = Vec::with_capacity(n - 2);
    while left.len() > 3 {
        let m = left.len();
        let ear = (0..m).find(|&k| {
            let (a, b, c) = (left[(k + m - 1) % m], left[k], left[(k + 1) % m]);
            turn(a, b, c) > 0.0
                && left.iter().all(|&p| {
                    // A corner at the same place as one of the ear's is the far side of a slit.
                    p == a
                        || p == b
                        || p == c
                        || [a, b, c].iter().any(|&q| flat[q] == flat[p])
                        || !inside(a, b, c, p)
                })
        });
        // A polygon that crosses itself may have no ear left: take any corner rather than none.
        let k = ear.unwrap_or(0);
        let (a, b, c) = (left[(k + m - 1) % m], left[k], left[(k + 1) % m]);
        triangles.push([a, b, c].map(|i| i as u32));
        left.remove(k);
    }
    triangles.push([left[0], left[1], left[2]].map(|i| i as u32));
    (triangles, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileError;

    fn read(text: &str) -> Result<Loaded<Obj>> {
        parse(Path::new("a.obj"), text.as_bytes(), None)
    }

    fn area(obj: &Obj) -> f32 {
        obj.mesh.area()
    }

    #[test]
    fn a_texture_seam_splits_a_vertex_and_nothing_else() {
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 5 5\n\
                    g front\nf 1/1 2/2 3/3\ng back\nf 1/5/9 3/3 4/4\n";
        let obj = read(text).unwrap().value;
        assert_eq!(obj.position_index, [0, 0, 1, 2, 3]);
        assert_eq!(obj.mesh.uvs[1], Vec2::new(5.0, 5.0));
        assert_eq!(obj.mesh.triangles, [[0, 2, 3], [1, 3, 4]]);
        assert_eq!(obj.parts, ["front", "back"]);
        assert_eq!(read("v 0 0 0\nv 1 0 0\nv 0 1 0\ng M#2 b # c\nf 1 2 3").unwrap().value.parts, ["M#2 b"]);
        assert_eq!(obj.part_of_triangle, [0, 1]);
        let back = parse(Path::new("a.obj"), text.as_bytes(), Some("back")).unwrap().value;
        assert_eq!(back.mesh.positions.len(), 3);
        let none = parse(Path::new("a.obj"), text.as_bytes(), Some("side")).unwrap_err().to_string();
        assert!(none.contains("front, back"), "{none}");
    }

    #[test]
    fn spellings_of_the_same_square() {
        let plain = read("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n").unwrap().value;
        assert_eq!(plain.mesh.triangles.len(), 2);
        for text in [
            "\u{feff}# c\r\nv 0 0 0\r\nv 1 0 0\r\nv 1 1 0 # corner\r\nv 0 1 0\r\nf 1 2 3 4",
            "usemtl Material#25\nv 0 0 0\nv 1e0 0 0\nv +1.0E+0 1 0\nv 0 1 0\nf -4 -3 \\\n -2 -1",
            "f 1//1 2//1 3//1 4//1\nvn 0 0 1\nv 0 0 0 1\nv 1 0 0 .5 .5 .5\nv 1. 1 0\nv 0 1 0\n",
            "v\t0 0 0\nv 1 0 0\n\n  v 1 1 0\nv 0 1 0\nf 1 2 2 3 4 1\ns off\n",
        ] {
            let obj = read(text).unwrap().value;
            assert_eq!(obj.mesh, plain.mesh, "{text}");
        }
    }

    #[test]
    fn a_concave_face_keeps_its_area_and_its_side() {
        // An arrow head: a fan from the first corner would cover the notch twice.
        let arrow = read("v 2 1 0\nv 0 2 0\nv 1 1 0\nv 0 0 0\nf 4 1 2 3\n").unwrap().value;
        assert!((area(&arrow) - 1.0).abs() < 1e-6, "{}", area(&arrow));
        let comb = read(
            "v 0 0 0\nv 5 0 0\nv 5 3 0\nv 4 3 0\nv 4 1 0\nv 3 1 0\nv 3 3 0\nv 2 3 0\nv 2 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\n\
             f 1 2 3 4 5 6 7 8 9 10 11 12\n",
        )
        .unwrap()
        .value;
        assert!((area(&comb) - 11.0).abs() < 1e-5, "{}", area(&comb));
        assert!(comb.mesh.normals().iter().all(|n| n.z > 0.99));
    }

    #[test]
    fn all_faults_are_reported_with_their_lines() {
        let fault = read("v 0 0 nan\nv 1 0\nv 1 x 0\nf 1 2 0\nf 1 2 -9\n").unwrap_err().to_string();
        for place in ["line 1", "line 2", "line 3", "line 4", "line 5"] {
            assert!(fault.contains(place), "{fault}");
        }
        let far = read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4000000000\n").unwrap_err().to_string();
        assert!(far.contains("line 4") && far.contains("4000000000"), "{far}");
        let empty = read("").unwrap_err().to_string();
        assert!(empty.contains("no faces"), "{empty}");
        let many = "v x y z\n".repeat(1000);
        let Err(Error::File(FileError::Many { faults, .. })) = read(&many) else { panic!("must fail") };
        assert!(faults.len() <= MOST_FAULTS + 4);
    }
}
