//! A mixed crowd as a film, each garment in the colour of its tier.

use super::Args;
use super::budget::{Show, TIERS};
use crate::driver;
use crate::progress;
use crate::resolve::ending;
use anyhow::{Context, Result};
use glam::Vec3;
use std::path::Path;
use toile_assets::Body;
use toile_show::{
    Camera, Film, FilmFormat, Flock, Label, Material, Member, MeshHandle, Scene, decimate, smooth_normals,
    srgb,
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
    for f in 0..frames {
        show.frame(f)?;
        if f % every != 0 {
            continue;
        }
        let skins: Vec<(Vec<Vec3>, Vec<Vec3>)> =
            show.people.iter().map(|p| p.skinned_at(body, &normals, &kept, f)).collect();
        let grey = srgb(0xcf, 0xc6, 0xbd);
        let bodies = skins.iter().map(|(p, n)| Member { positions: p, normals: n, colour: grey }).collect();
        let mut scene = Scene::new().with_flock(Flock {
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
        for (k, kind) in show.kinds.iter().enumerate() {
            let mut members = Vec::new();
            for i in (k..show.people.len()).step_by(show.kinds.len()) {
                if show.dense.which.contains(&i) {
                    continue;
                }
                let [r, g, b] = TIERS[show.tier(i)].1;
                members.push(Member {
                    positions: show.troupe.vertices(i)?,
                    normals: &cloth_normals[i],
                    colour: srgb(r, g, b),
                });
            }
            let material = Material { depth_slack_m: 0.03, ..Material::cloth(srgb(0x80, 0x80, 0x80)) };
            scene = scene.with_flock(Flock { mesh: kind.mesh.clone(), material, members, leads_m: None });
        }
        let dense: Vec<Vec<Vec3>> = show
            .dense
            .which
            .iter()
            .enumerate()
            .map(|(n, i)| {
                let kind = i % show.kinds.len();
                let mut normals = vec![Vec3::ZERO; show.dense.places[n].len()];
                if let Some(driven) = &show.dense.driven[kind] {
                    driven.normals(&show.dense.places[n], &mut normals);
                }
                normals
            })
            .collect();
        for (n, &i) in show.dense.which.iter().enumerate() {
            let Some((_, mesh)) = &show.kinds[i % show.kinds.len()].dense else { continue };
            let [r, g, b] = TIERS[show.tier(i)].1;
            let member =
                Member { positions: &show.dense.places[n], normals: &dense[n], colour: srgb(r, g, b) };
            let material = Material { depth_slack_m: 0.03, ..Material::cloth(srgb(0x80, 0x80, 0x80)) };
            let members = vec![member];
            scene = scene.with_flock(Flock { mesh: mesh.clone(), material, members, leads_m: None });
        }
        let mut counts = [0; TIERS.len()];
        (0..show.people.len()).for_each(|i| counts[show.tier(i)] += 1);
        let said: Vec<String> =
            TIERS.iter().zip(counts).map(|((name, _), n)| format!("{name} {n}")).collect();
        let label = format!("{}\nbudget {:.1} ms", said.join("   "), show.budget_us / 1e3);
        let eye = show.eye(f);
        let camera = Camera {
            eye,
            target: eye + Vec3::new(0.0, -2.6, -12.0),
            fov_y_degrees: 32.0,
            ..Camera::default()
        };
        let (width, height) = args.size;
        let picture = renderer.draw(&scene.labelled(Label::new(&label)), &camera, width, height)?;
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
