//! A look at meshes: `look [-o look.png] [--size 640] [--views front,side,back,three,135] [--wire] [--slack 0.01]
//! [--smooth] [--repeat 1] NAME…`
//!
//! Each name is an OBJ file, a built-in body such as `mannequin:female` or a built-in garment such as `dress`. All go
//! into one scene, the first as a body and the others as cloth, drawn once from each side. `--smooth` draws
//! at twice the size and halves. Without names it draws the mannequin.

#![allow(clippy::disallowed_methods, reason = "the time a frame takes is what is reported")]

use glam::Vec3;
use toile_assets::builtin;
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
    let (mut wire, mut smooth, mut slack, mut names) = (false, false, 0.01, Vec::new());
    let mut repeat = 1;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "-o" => out = value()?,
            "--size" => size = value()?.parse()?,
            "--views" => views = value()?,
            "--slack" => slack = value()?.parse()?,
            "--repeat" => repeat = value()?.parse()?,
            "--smooth" => smooth = true,
            "--wire" => wire = true,
            _ => names.push(arg),
        }
    }
    if names.is_empty() {
        names.push("mannequin:female".to_string());
    }
    let mut meshes = Vec::new();
    let mut worn_by = None;
    for name in &names {
        if name.ends_with(".obj") {
            meshes.push(read_obj(name)?);
        } else if name.starts_with("mannequin") {
            let body = builtin::body(name)?;
            meshes.push((body.mesh.positions.clone(), body.mesh.triangles.clone()));
            worn_by = Some(body);
        } else {
            let body = worn_by.as_ref().ok_or("name a mannequin before its garments")?;
            let garment = builtin::garment(name, body)?;
            meshes.push((garment.sim.positions, garment.sim.triangles));
        }
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
        let camera = Camera::framing_scene(&scene, view, 1.0);
        let drawn = if smooth { 2 * size } else { size };
        let mut image = renderer.draw(&scene, &camera, drawn, drawn)?;
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..repeat {
            let start = std::time::Instant::now();
            image = renderer.draw(&scene, &camera, drawn, drawn)?;
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        println!("{view:?}: {:.0} ms (median of {repeat})", times.get(repeat / 2).copied().unwrap_or(0.0));
        if smooth {
            image = image.halved();
        }
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
