//! What is written is read back by something that shares no code with the writer.

use glam::{Vec2, Vec3};
use std::path::{Path, PathBuf};
use std::process::Command;
use toile_assets::Mesh;
use toile_assets::read::obj::read_mesh;
use toile_assets::write::abc::AbcWriter;
use toile_assets::write::obj::{ObjSequence, write_groups, write_mesh};
use toile_assets::write::pc2::{Pc2Writer, write_pc2};
use toile_assets::write::usd::{UsdSettings, write_usd};

/// An empty folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn sheet() -> Mesh {
    let mut mesh = Mesh::default();
    for k in 0..12 {
        let (x, y) = ((k % 4) as f32, (k / 4) as f32);
        mesh.positions.push(Vec3::new(0.1 * x, 1.0 - 0.1 * y, (0.7 * x + y).sin() / 3.0));
        mesh.uvs.push(Vec2::new(x / 3.0, y / 2.0));
    }
    for y in 0..2 {
        for x in 0..3 {
            let i = 4 * y + x;
            mesh.triangles.extend([[i, i + 4, i + 5], [i, i + 5, i + 1]]);
        }
    }
    mesh
}

fn frames(mesh: &Mesh, n: usize) -> Vec<Vec<Vec3>> {
    let moved =
        |f: usize| mesh.positions.iter().map(move |p| *p + Vec3::new(0.0, -0.01 * f as f32, p.x * f as f32));
    (0..n).map(|f| moved(f).collect()).collect()
}

#[test]
fn obj_round_trip_is_exact() {
    let folder = folder("obj_round_trip");
    let mesh = sheet();
    write_mesh(folder.join("a.obj"), &mesh).unwrap();
    assert_eq!(read_mesh(folder.join("a.obj")).unwrap().value, mesh);
    let bare = Mesh { uvs: vec![], ..mesh.clone() };
    write_mesh(folder.join("b.obj"), &bare).unwrap();
    assert_eq!(read_mesh(folder.join("b.obj")).unwrap().value, bare);
    write_groups(folder.join("c.obj"), &mesh, &[("front".into(), 0..4), ("back".into(), 4..12)]).unwrap();
    let grouped = toile_assets::read::obj::read_obj(folder.join("c.obj")).unwrap().value;
    assert_eq!(grouped.mesh, mesh);
    assert_eq!(grouped.parts, ["front", "back"]);
    assert_eq!(grouped.part_of_triangle.iter().filter(|p| **p == 0).count(), 4);

    let mut sequence = ObjSequence::new(folder.join("dress.obj"), &mesh);
    for frame in frames(&mesh, 3) {
        let path = sequence.push(&frame).unwrap();
        assert_eq!(read_mesh(&path).unwrap().value.positions, frame);
    }
    assert!(folder.join("dress_0003.obj").is_file());
    let bad = [Vec3::NAN; 12];
    assert!(sequence.push(&bad).unwrap_err().to_string().contains("not finite"));
    assert!(sequence.push(&bad[..3]).is_err());
    assert!(!folder.join("dress_0004.obj").exists());
}

#[test]
fn a_point_cache_holds_every_frame_in_the_order_of_its_partner() {
    let folder = folder("pc2");
    let mesh = sheet();
    let frames = frames(&mesh, 5);
    let path = folder.join("dress.pc2");
    write_pc2(&path, &mesh, frames.iter().map(Vec::as_slice), 30.0, 24.0, 7.0).unwrap();

    let bytes = std::fs::read(&path).unwrap();
    let i32_at = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let f32_at = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    assert_eq!([i32_at(12), i32_at(16), i32_at(28)], [1, 12, 5]);
    assert_eq!([f32_at(20), f32_at(24)], [7.0, 0.8]);
    assert_eq!(bytes.len(), 32 + 5 * 12 * 12);
    for (f, frame) in frames.iter().enumerate() {
        for (v, p) in frame.iter().enumerate() {
            let at = 32 + (f * 12 + v) * 12;
            assert_eq!([f32_at(at), f32_at(at + 4), f32_at(at + 8)], p.to_array());
        }
    }
    assert_eq!(read_mesh(folder.join("dress.obj")).unwrap().value, mesh);
}

#[test]
fn an_unfinished_cache_leaves_the_old_file_and_no_litter() {
    let folder = folder("pc2_unfinished");
    let path = folder.join("dress.pc2");
    std::fs::write(&path, b"old").unwrap();
    let mesh = sheet();
    let mut writer = Pc2Writer::new(&path, &mesh, 1.0).unwrap();
    writer.push(&mesh.positions).unwrap();
    assert!(writer.push(&mesh.positions[1..]).is_err());
    let fault = writer.push(&[Vec3::INFINITY; 12]).unwrap_err().to_string();
    assert!(fault.contains("frame 1, vertex 0"), "{fault}");
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let mut left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["dress.obj", "dress.pc2"]);
    assert!(Pc2Writer::new(folder.join("no/such/folder/a.pc2"), &mesh, 1.0).is_err());
}

/// A Python with OpenUSD, from a virtual environment kept under the target folder.
fn python_with_usd() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("usd-python");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let has_usd = || {
        let found = Command::new(&python).args(["-c", "import pxr.Usd"]).output();
        found.is_ok_and(|o| o.status.success())
    };
    if has_usd() {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&venv).output();
    if !made.is_ok_and(|o| o.status.success()) {
        return None;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--retries", "0", "--timeout", "10", "usd-core"];
    let _ = Command::new(&python).args(pip).output();
    has_usd().then_some(python)
}

#[test]
fn openusd_reads_what_was_written() {
    let folder = folder("usd");
    let mesh = sheet();
    let frames = frames(&mesh, 4);
    let slices: Vec<&[Vec3]> = frames.iter().map(Vec::as_slice).collect();
    let path = folder.join("dress.usda");
    let settings = UsdSettings::default().with(|s| {
        s.name = "3 dress é".into();
        s.fps = 24.0;
        s.start = 101.0;
        s.normals = true;
    });
    write_usd(&path, &mesh, &slices, settings).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("#usda 1.0\n") && text.matches('{').count() == text.matches('}').count());
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["dress.usda"]);
    let Some(python) = python_with_usd() else {
        eprintln!("skipped: usd-core could not be installed, so OpenUSD has not read the file");
        return;
    };
    let script = r#"
import sys
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])
mesh = UsdGeom.Mesh([p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)][0])
assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
assert stage.GetTimeCodesPerSecond() == 24 and stage.GetDefaultPrim().GetName() == "_3_dress__"
assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (101, 104)
assert mesh.GetPointsAttr().GetTimeSamples() == [101, 102, 103, 104]
assert UsdGeom.Mesh.ValidateTopology(mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), 12)[0]
assert mesh.GetNormalsInterpolation() == "vertex" and len(mesh.GetNormalsAttr().Get(102)) == 12
assert len(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st").Get()) == 12
lo, hi = mesh.GetExtentAttr().Get(104)
for code in mesh.GetPointsAttr().GetTimeSamples():
    print(*[x for p in mesh.GetPointsAttr().Get(code) for x in p])
points = mesh.GetPointsAttr().Get(104)
assert all(lo[k] == min(p[k] for p in points) and hi[k] == max(p[k] for p in points) for k in range(3))
"#;
    let out = Command::new(python).arg("-c").arg(script).arg(&path).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let read: Vec<f32> = text.split_whitespace().map(|w| w.parse::<f64>().unwrap() as f32).collect();
    let written: Vec<f32> = frames.iter().flatten().flat_map(|p| p.to_array()).collect();
    assert_eq!(read, written);
}

/// Enough of Alembic's container to find things in it again; shares nothing with the writer.
struct Alembic(Vec<u8>);

#[derive(Clone, Copy)]
enum Node {
    Group(usize),
    Bytes(usize),
}

impl Alembic {
    fn number(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }

    fn children(&self, node: Node) -> Vec<Node> {
        let Node::Group(at) = node else { panic!("not a group") };
        let child = |k: usize| {
            let place = self.number(at + 8 + 8 * k);
            let plain = (place & !(1 << 63)) as usize;
            if place >> 63 == 1 { Node::Bytes(plain) } else { Node::Group(plain) }
        };
        if at == 0 { Vec::new() } else { (0..self.number(at) as usize).map(child).collect() }
    }

    fn bytes(&self, node: Node) -> &[u8] {
        let Node::Bytes(at) = node else { panic!("not bytes") };
        if at == 0 { &[] } else { &self.0[at + 8..at + 8 + self.number(at) as usize] }
    }

    /// A sample without the key before it.
    fn floats(&self, node: Node) -> Vec<f32> {
        let words = self.bytes(node)[16..].chunks_exact(4);
        words.map(|w| f32::from_le_bytes(w.try_into().unwrap())).collect()
    }
}

#[test]
fn alembic_holds_every_frame_its_rate_and_faces_the_other_way_round() {
    let folder = folder("alembic");
    let mesh = sheet();
    let frames = frames(&mesh, 3);
    let path = folder.join("sheet.abc");
    let mut writer = AbcWriter::new(&path, &mesh, "a/sheet", 24.0).unwrap();
    frames.iter().for_each(|f| writer.push(f).unwrap());
    assert!(!path.exists(), "nothing appears before it is whole");
    writer.finish().unwrap();

    let file = Alembic(std::fs::read(&path).unwrap());
    assert_eq!(&file.0[..8], b"Ogawa\xff\0\x01");
    let root = file.children(Node::Group(file.number(8) as usize));
    assert_eq!(root.len(), 6);
    assert!(String::from_utf8_lossy(file.bytes(root[3])).contains("made by toile"));
    let second = &file.bytes(root[4])[24..];
    let step = f64::from_le_bytes(second[4..12].try_into().unwrap());
    assert_eq!(u32::from_le_bytes(second[..4].try_into().unwrap()), 3);
    assert_eq!(step, 1.0 / 24.0);
    // Top object, transform, mesh: properties first, then what is below, then their names.
    let transform = file.children(file.children(root[2])[1]);
    let names = String::from_utf8_lossy(file.bytes(transform[2])).into_owned();
    assert!(names.contains("a_sheetShape"), "{names}");
    let geometry = file.children(file.children(file.children(transform[1])[0])[0]);
    let points = file.children(geometry[1]);
    assert_eq!(points.len(), 2 * frames.len());
    for (f, frame) in frames.iter().enumerate() {
        let flat: Vec<f32> = frame.iter().flat_map(|p| p.to_array()).collect();
        assert_eq!(file.floats(points[2 * f]), flat);
    }
    assert_ne!(file.bytes(points[0])[..16], file.bytes(points[2])[..16], "keys tell frames apart");
    let faces = &file.bytes(file.children(geometry[2])[0])[16..];
    let [a, b, c] = mesh.triangles[0];
    assert_eq!(faces[..12], [c, b, a].map(u32::to_le_bytes).concat());

    let mut writer = AbcWriter::new(folder.join("none.abc"), &mesh, "", 24.0).unwrap();
    assert!(writer.push(&frames[0][1..]).is_err(), "a vertex is missing");
    assert!(writer.finish().is_err(), "no frame");
    assert!(AbcWriter::new(folder.join("none.abc"), &mesh, "", 0.0).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing half-written is left");
}
