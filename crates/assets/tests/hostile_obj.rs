//! OBJ files that are broken, by accident or on purpose: an error with its line or a mesh, never a panic.

use std::fmt::Write;
use std::path::Path;
use toile_assets::read::obj::{Obj, parse};
use toile_assets::repair::{RepairSettings, repair};
use toile_assets::{Error, FileError, Result};
use toile_geometry::Random;

fn read(bytes: &[u8]) -> Result<Obj> {
    let obj = parse(Path::new("hostile.obj"), bytes, None)?.value;
    // Whatever is accepted must hold together.
    let n = obj.mesh.positions.len();
    assert!(obj.mesh.triangles.iter().flatten().all(|&i| (i as usize) < n));
    assert!(obj.mesh.positions.iter().all(|p| p.is_finite()) && obj.mesh.uvs.iter().all(|p| p.is_finite()));
    assert!(obj.mesh.uvs.is_empty() || obj.mesh.uvs.len() == n);
    assert_eq!(obj.position_index.len(), n);
    assert_eq!(obj.part_of_triangle.len(), obj.mesh.triangles.len());
    assert!(obj.part_of_triangle.iter().all(|&p| (p as usize) < obj.parts.len()));
    let _ = repair(&obj.mesh, &RepairSettings::default());
    Ok(obj)
}

fn good() -> String {
    let mut text = String::from("# a sheet\nmtllib a.mtl\no sheet\n");
    for k in 0..100 {
        let (x, y) = (k % 10, k / 10);
        writeln!(text, "v {}.25 {y}e-1 -0.{x}{y}\nvt 0.{x} 0.{y}\nvn 0 0 1", x).unwrap();
    }
    for y in 0..9 {
        writeln!(text, "g row{y}").unwrap();
        for x in 0..9 {
            let i = 10 * y + x + 1;
            writeln!(text, "f {i}/{i}/{i} {0}/{0}/{0} {1}/{1}/{1} {2}//{2}", i + 1, i + 11, i + 10).unwrap();
        }
    }
    text
}

#[test]
fn truncated_at_every_64th() {
    let text = good();
    assert_eq!(read(text.as_bytes()).unwrap().mesh.triangles.len(), 162);
    let mut errors = 0;
    for k in 0..64 {
        errors += usize::from(read(&text.as_bytes()[..text.len() * k / 64]).is_err());
    }
    assert!(errors > 30, "{errors}: half of the file has no faces");
}

#[test]
fn bytes_flipped_at_random() {
    let text = good();
    let mut random = Random::new(2024);
    let (mut errors, mut placed) = (0, 0);
    for round in 0..1000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + round % 8 {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        if let Err(e) = read(&bytes) {
            errors += 1;
            placed += usize::from(e.to_string().contains("line "));
        }
    }
    assert!(errors > 100, "{errors}");
    assert_eq!(errors, placed, "every fault names its line");
}

#[test]
fn numbers_that_are_not() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
    for (line, what) in [
        ("v nan 0 0", "nan"),
        ("v inf 0 0", "inf"),
        ("v 1e999 0 0", "1e999"),
        ("v 1,5 0 0", "1,5"),
        ("v 1 2", "3 numbers"),
        ("vt", "1 number"),
        ("f 1 2 0", "counts from 1"),
        ("f 1 2 4000000000", "4000000000"),
        ("f 1 2 99999999999999999999", "9999"),
        ("f 1 2 4294967296", "4294967296"),
        ("f 1 2 -4", "-4"),
        ("f 1 2 -9223372036854775808", "-9223372036854775808"),
        ("f 1 2 3/7", "texture index 7"),
        ("f 1 2 x", "`x`"),
        ("f / / /", "names no vertex"),
        ("f 1 2 1.5", "1.5"),
    ] {
        let fault = read(format!("{square}{line}\nf 1 2 3\n").as_bytes()).unwrap_err();
        assert!(matches!(fault, Error::File(FileError::Bad { .. })), "{line}: {fault}");
        let text = fault.to_string();
        assert!(text.contains("line 4") && text.contains(what), "{line}: {text}");
    }
}

#[test]
fn oddities_that_are_no_faults() {
    let tri = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for extra in [
        "f",
        "f 1",
        "f 1 2",
        "f 1 1 1",
        "l 1 2",
        "p 1",
        "blah 7",
        "\\",
        "\\\n\\\n",
        "#",
        "g",
        "o",
        "usemtl",
        "\0\0",
        "v 5 5 5",
        "vp 0",
        "s 1",
        "curv 0 1 1 2",
        "g \u{fffd}\u{1F457}",
        "vn nan nan nan",
    ] {
        for text in [format!("{extra}\n{tri}"), format!("{tri}{extra}")] {
            // A vertex in front shifts the others: still three corners.
            assert_eq!(read(text.as_bytes()).unwrap().mesh.triangles.len(), 1, "{text:?}");
        }
    }
    // Numbers at the ends of what f32 holds.
    for x in ["3e38", "-3e38", "1e-45"] {
        let text = format!("v {x} 0 0\nv 0 {x} 0\nv 0 0 {x}\nv {x} {x} {x}\nvt {x} {x}\nf 1/1 2/1 3/1 4/1\n");
        read(text.as_bytes()).unwrap();
    }
    let binary: Vec<u8> = (0..=255u8).cycle().take(100_000).collect();
    assert!(read(&binary).is_err());
    let endless = [b"v 0 0 0 \\\n".repeat(10_000), b"f 1 1 1".to_vec()].concat();
    assert!(read(&endless).is_err());
}

#[test]
fn a_face_of_many_corners_is_cut_in_reasonable_time() {
    // A star: as concave as it gets, below and above the limit for ears.
    for n in [510, 5000] {
        let mut text = String::new();
        for k in 0..n {
            let (a, r) = (k as f32 / n as f32 * std::f32::consts::TAU, if k % 2 == 0 { 1.0 } else { 0.5 });
            writeln!(text, "v {} {} 0", r * a.cos(), r * a.sin()).unwrap();
        }
        text.push('f');
        (1..=n).for_each(|k| write!(text, " {k}").unwrap());
        let obj = read(text.as_bytes()).unwrap();
        assert_eq!(obj.mesh.triangles.len(), n - 2);
        if n < 512 {
            let area = 0.5 * n as f32 * 0.5 * (std::f32::consts::TAU / n as f32).sin();
            assert!((obj.mesh.area() - area).abs() < 1e-3 * area, "{} {area}", obj.mesh.area());
        }
    }
    let wide = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf{}", " 1 2 3".repeat(30_000));
    assert!(read(wide.as_bytes()).unwrap_err().to_string().contains("corners"));
}
