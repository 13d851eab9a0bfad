//! A look at meshes: `look [-o look.png] [--size 640] [--views front,side,back,three] [--wire] [--slack 0.01] FILE.obj …`
//!
//! Draws all files into one scene, the first as a body and the others as cloth, once from each side. Without files
//! it draws the built-in mannequin if there is one.

use glam::Vec3;
use toile_show::{Camera, Image, Item, Material, MeshHandle, Renderer, Scene, View, srgb};

fn main() {
    if let Err(e) = run() {
        eprintln!("look: {e}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = "look.png".to_string();
    let mut size = 640;
    let mut views = "front,side,back,three".to_string();
    let (mut wire, mut slack, mut files) = (false, 0.0, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "-o" => out = value()?,
            "--size" => size = value()?.parse()?,
            "--views" => views = value()?,
            "--slack" => slack = value()?.parse()?,
            "--wire" => wire = true,
            _ => files.push(arg),
        }
    }
    let mut meshes = Vec::new();
    for file in &files {
        meshes.push(read_obj(file)?);
    }
    if meshes.is_empty() {
        let mesh = toile_assets::builtin::body("mannequin:female")?.mesh;
        meshes.push((mesh.positions, mesh.triangles));
    }
    let handles: Vec<_> = meshes.iter().map(|(_, t)| MeshHandle::new(t)).collect();
    let colours =
        [srgb(0x3f, 0x7c, 0x93), srgb(0x9c, 0x2f, 0x4a), srgb(0x8a, 0x6a, 0x3c), srgb(0x4d, 0x6b, 0x4a)];
    let mut scene = Scene::new();
    for (k, (positions, _)) in meshes.iter().enumerate() {
        let mut material = Material::body();
        if k > 0 {
            material = Material::cloth(colours[(k - 1) % colours.len()]);
            material.depth_slack_m = slack;
        }
        material.wireframe = wire;
        scene = scene.with(Item::new(&handles[k], positions, material));
    }
    let (lo, hi) = scene.bounds();
    let mut renderer = Renderer::new()?;
    println!("{}; {} to {}", renderer.adapter(), lo, hi);
    let views: Vec<&str> = views.split(',').collect();
    let mut sheet = Image::new(size * views.len() as u32, size, [255; 4]);
    for (k, view) in views.iter().enumerate() {
        let view = match *view {
            "front" => View::Front,
            "side" => View::Side,
            "back" => View::Back,
            "three" => View::ThreeQuarter,
            other => View::Angle { azimuth: other.parse()?, elevation: 10.0 },
        };
        let camera = Camera::framing(lo, hi, view, 1.0);
        let start = std::time::Instant::now();
        let image = renderer.draw(&scene, &camera, size, size)?;
        println!("{view:?}: {:.0} ms", 1e3 * start.elapsed().as_secs_f64());
        sheet.paste(&image, k as u32 * size, 0);
    }
    sheet.write_png(&out)?;
    println!("{out}");
    Ok(())
}

/// Positions and fans of faces; everything else in the file is passed over.
fn read_obj(path: &str) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let bad = || format!("{path}: line {}: {line}", number + 1);
        match words.next() {
            Some("v") => {
                let mut next = || words.next().and_then(|w| w.parse::<f32>().ok()).ok_or_else(bad);
                positions.push(Vec3::new(next()?, next()?, next()?));
            }
            Some("f") => {
                let mut face = Vec::new();
                for word in words {
                    let index: i64 = word.split('/').next().and_then(|w| w.parse().ok()).ok_or_else(bad)?;
                    let v = if index < 0 { positions.len() as i64 + index } else { index - 1 };
                    face.push(u32::try_from(v).map_err(|_| bad())?);
                }
                for k in 2..face.len() {
                    triangles.push([face[0], face[k - 1], face[k]]);
                }
            }
            _ => {}
        }
    }
    Ok((positions, triangles))
}
