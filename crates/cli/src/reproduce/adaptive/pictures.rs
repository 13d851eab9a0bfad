//! What the numbers look like.

use super::{Measured, Shown};
use crate::driver;
use crate::picture::{Cloth, Studio};
use anyhow::Result;
use glam::Vec3;
use std::path::Path;
use toile_assets::{Body, Garment, Take};
use toile_show::{Material, MeshHandle, View, contact_sheet};

/// One pane: what it is called, and the cloth.
type Pane<'a> = (String, &'a [Vec3], usize);

/// Width and height of a pane.
const SIZE: (u32, u32) = (420, 480);

/// The file of the sweater's strip, of the changes and of the tube.
pub const FILES: [&str; 3] = ["adaptive-bases.png", "adaptive-bases-changes.png", "adaptive-bases-tube.png"];

/// Draws all strips into a folder; says whether there is a driver to draw with.
pub fn write(folder: &Path, measured: &Measured) -> Result<bool> {
    let body = &measured.body;
    let garment = &measured.worn;
    let torso = (Vec3::new(-0.42, 0.78, -0.2), Vec3::new(0.42, 1.66, 0.2));
    let mut panes: Vec<(Pane<'_>, &Take)> = Vec::new();
    for Shown { take, ours, skinned, .. } in &measured.shown {
        for f in [take.len() / 2, 4 * take.len() / 5] {
            let name = |tier: &str| format!("{}, {:.1} s: {tier}", take.clip, f as f64 / take.fps);
            panes.push(((name("full"), take.frame(f), f), take));
            panes.push(((name("adaptive"), &ours[f], f), take));
            panes.push(((name("skin"), &skinned[f], f), take));
        }
    }
    if !draw(&folder.join(FILES[0]), body, garment, torso, &panes, 6)? {
        return Ok(false);
    }
    let mut panes = Vec::new();
    if let Some(Shown { take, skinned, .. }) = measured.shown.first() {
        let f = 3 * take.len() / 5;
        panes.push((("full".to_string(), take.frame(f), f), take));
        for a in measured.ablations.iter().filter(|a| a.drawn && a.run.frames.len() > f) {
            panes.push(((a.name.clone(), a.run.frames[f].as_slice(), f), take));
        }
        panes.push((("skin".to_string(), &skinned[f], f), take));
    }
    draw(&folder.join(FILES[1]), body, garment, torso, &panes, 4)?;
    if let Some(tube) = &measured.tube {
        let mut panes = Vec::new();
        for bent in &tube.bent {
            let f = bent.take.len() / 2;
            let name = |tier: &str| format!("bent {}: {tier}", bent.name);
            panes.push(((name("full"), bent.take.frame(f), f), &bent.take));
            panes.push(((name("adaptive"), bent.run.frames[f].as_slice(), f), &bent.take));
            panes.push(((name("skin"), bent.skinned[f].as_slice(), f), &bent.take));
        }
        let all = (Vec3::new(-0.36, 0.86, -0.12), Vec3::new(0.22, 1.3, 0.2));
        draw(&folder.join(FILES[2]), &tube.body, &tube.garment, all, &panes, 3)?;
    }
    Ok(true)
}

/// Panes in rows of `columns`, the camera on a box that goes with the wearer.
fn draw(
    file: &Path,
    body: &Body,
    garment: &Garment,
    (lo, hi): (Vec3, Vec3),
    panes: &[(Pane<'_>, &Take)],
    columns: usize,
) -> Result<bool> {
    let Some(renderer) = driver::renderer_if_any()? else { return Ok(false) };
    let mut studio = Studio::new(renderer, body, View::ThreeQuarter, SIZE, 0.0);
    studio.frame(lo, hi, View::ThreeQuarter);
    let cloth =
        Cloth { mesh: MeshHandle::new(&garment.sim.triangles), material: Material::fabric(&garment.fabric) };
    let mut pictures = Vec::new();
    for ((_, positions, f), take) in panes {
        let skinned = body.skinned_positions(take.frame_bones(*f));
        let items = [(&cloth, *positions, None)];
        let root = (body.name != "tube").then_some(&take.roots[*f]);
        pictures.push(studio.draw(Some(&skinned), &items, root, "")?);
    }
    let captions: Vec<&str> = panes.iter().map(|(p, _)| p.0.as_str()).collect();
    contact_sheet(&pictures, &captions, columns)?.write_png(file)?;
    Ok(true)
}
