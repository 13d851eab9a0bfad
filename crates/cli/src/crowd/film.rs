//! A mixed crowd as a film, each garment in the colour of its tier.

use super::Args;
use super::budget::{Show, TIERS};
use crate::driver;
use crate::interrupt;
use crate::progress;
use crate::resolve::ending;
use anyhow::{Context, Result};
use glam::Vec3;
use std::path::Path;
use toile_assets::Body;
use toile_show::{
    Anchor, Camera, Film, FilmFormat, Flock, Label, Material, Member, MeshHandle, Scene, decimate,
    smooth_normals, srgb,
};

/// Plays the crowd once more and draws it, each garment in the colour of its tier.
pub fn film(path: &Path, args: &Args, show: &mut Show<'_>, body: &Body, frames: usize) -> Result<()> {
    let Some(format) = FilmFormat::of(&ending(&path.to_string_lossy())) else { return Ok(()) };
    let mut renderer = driver::renderer()?;
    // Twelve pictures a second show who has which tier.
    let every = (show.rate / 12.0).round().max(1.0) as usize;
    show.filming = true;
    let count = frames.div_ceil(every);
    let normals = smooth_normals(&body.mesh.positions, &body.mesh.triangles);
    let (kept, triangles) = decimate(&body.mesh.positions, &body.mesh.triangles, 0.04);
    let far = MeshHandle::new(&triangles);
    let bar = progress::bar(count as u64, "filming");
    let mut film: Option<Film> = None;
    // Ended between two frames, a film in the making is taken away again.
    let _frames = interrupt::Frames::begin();
    for f in 0..frames {
        if interrupt::wanted() {
            return Err(interrupt::Stopped.into());
        }
        show.frame(f)?;
        if f % every != 0 {
            continue;
        }
        let skins: Vec<(Vec<Vec3>, Vec<Vec3>)> =
            show.people.iter().map(|p| p.skinned_at(body, &normals, &kept, f)).collect();
        let grey = srgb(0xcf, 0xc6, 0xbd);
        let bodies = skins.iter().map(|(p, n)| Member { positions: p, normals: n, colour: grey }).collect();
        let scene = Scene::new().with_flock(Flock {
            mesh: far.clone(),
            material: Material::body(),
            members: bodies,
            leads_m: None,
        });
        let cloth_normals: Vec<Vec<Vec3>> = (0..show.people.len())
            .map(|i| {
                Ok(smooth_normals(
                    show.troupe.vertices(i)?,
                    &show.kinds[i % show.kinds.len()].model.triangles,
                ))
            })
            .collect::<Result<_>>()?;
        let dense = dense_normals(show);
        let scene = with_dense(with_clothes(scene, show, &cloth_normals)?, show, &dense);
        let eye = show.eye(f);
        let camera = Camera {
            eye,
            target: eye + Vec3::new(0.0, -2.6, -12.0),
            fov_y_degrees: 32.0,
            ..Camera::default()
        };
        let (width, height) = args.size;
        let scene = who_has_what(show, height).into_iter().fold(scene, Scene::labelled);
        let picture = renderer.draw(&scene, &camera, width, height)?;
        if film.is_none() {
            let sample = std::slice::from_ref(&picture);
            film = Some(Film::create(path, format, (show.rate / every as f64) as f32, count, sample)?);
        }
        film.as_mut().context("the film was begun")?.push(&picture)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(film) = film {
        film.finish()?;
    }
    Ok(())
}

/// The garments as they are simulated, a flock a kind.
fn with_clothes<'a>(mut scene: Scene<'a>, show: &'a Show<'_>, normals: &'a [Vec<Vec3>]) -> Result<Scene<'a>> {
    for (k, kind) in show.kinds.iter().enumerate() {
        let mut members = Vec::new();
        for i in (k..show.people.len()).step_by(show.kinds.len()) {
            if !show.dense.which.contains(&i) {
                let positions = show.troupe.vertices(i)?;
                members.push(Member { positions, normals: &normals[i], colour: colour(show, i) });
            }
        }
        let (mesh, material) = (kind.mesh.clone(), cloth());
        scene = scene.with_flock(Flock { mesh, material, members, leads_m: None });
    }
    Ok(scene)
}

/// The dense meshes that some garments carry.
fn with_dense<'a>(mut scene: Scene<'a>, show: &'a Show<'_>, normals: &'a [Vec<Vec3>]) -> Scene<'a> {
    for (n, &i) in show.dense.which.iter().enumerate() {
        let Some((_, mesh)) = &show.kinds[i % show.kinds.len()].dense else { continue };
        let positions = &show.dense.places[n];
        let members = vec![Member { positions, normals: &normals[n], colour: colour(show, i) }];
        scene = scene.with_flock(Flock { mesh: mesh.clone(), material: cloth(), members, leads_m: None });
    }
    scene
}

fn dense_normals(show: &Show<'_>) -> Vec<Vec<Vec3>> {
    let of = |(n, i): (usize, &usize)| {
        let mut normals = vec![Vec3::ZERO; show.dense.places[n].len()];
        if let Some(driven) = &show.dense.driven[i % show.kinds.len()] {
            driven.normals(&show.dense.places[n], &mut normals);
        }
        normals
    };
    show.dense.which.iter().enumerate().map(of).collect()
}

fn cloth() -> Material {
    Material { depth_slack_m: 0.03, ..Material::cloth(srgb(0x80, 0x80, 0x80)) }
}

/// The colour of somebody's tier.
fn colour(show: &Show<'_>, who: usize) -> Vec3 {
    let [r, g, b] = TIERS[show.tier(who)].1;
    srgb(r, g, b)
}

/// How many have each tier, each line in the colour of its garments, and the budget below.
fn who_has_what(show: &Show<'_>, height: u32) -> Vec<Label> {
    let mut counts = [0; TIERS.len()];
    (0..show.people.len()).for_each(|i| counts[show.tier(i)] += 1);
    let size = (0.024 * height as f32).max(9.0);
    let place = |line: usize| Anchor::Pixel(1.5 * size, (1.5 + 1.8 * line as f32) * size);
    let tiers =
        TIERS.iter().zip(counts).filter(|(_, n)| *n > 0).enumerate().map(|(line, ((name, colour), n))| {
            Label::new(format!("{name} {n}")).at(place(line)).sized(size).coloured(*colour)
        });
    let mut labels: Vec<Label> = tiers.collect();
    let budget = format!("budget {:.1} ms", show.budget_us / 1e3);
    labels.push(Label::new(budget).at(place(labels.len())).sized(size));
    labels
}
