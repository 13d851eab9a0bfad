//! The film of a take: simulated, learned, skinned and the learned one's error, side by side in lock-step.

use super::Film;
use crate::interrupt;
use crate::picture::{Cloth, Studio, sheet};
use anyhow::Result;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Attachment, Body, Model, Take};
use toile_run::{Skinned, Stable, Tier};
use toile_show::{Image, Label, Material, MeshHandle, heat_colours, write_legend};

/// Draws every `every`th frame; what is `most_cm` off is red.
pub fn film(
    studio: &mut Studio,
    body: &Body,
    take: &Take,
    model: &Arc<Model>,
    attachment: &Attachment,
    every: usize,
    most_cm: f32,
) -> Result<Film> {
    let fabric = take.notes.iter().find(|(k, _)| k == "fabric").map_or("cotton", |(_, v)| v.as_str());
    let cloth = Cloth { mesh: MeshHandle::new(&take.triangles), material: Material::fabric(fabric) };
    let (mut learned, mut skinned) = (Stable::new(model.clone()), Skinned::new(attachment.clone()));
    let mut ours = vec![Vec3::ZERO; model.vertices];
    let mut bones_only = ours.clone();
    let mut frames = Vec::new();
    let bar = crate::progress::bar(take.len() as u64, "filming");
    let _frames = interrupt::Frames::begin();
    for f in 0..take.len() {
        learned.step_with_root(take.frame_bones(f), &take.roots[f], 1.0 / take.fps)?;
        skinned.step(take.frame_bones(f), 1.0 / take.fps)?;
        bar.inc(1);
        if interrupt::wanted() {
            return Err(interrupt::Stopped.into());
        }
        if f % every != 0 {
            continue;
        }
        learned.positions(&mut ours);
        skinned.positions(&mut bones_only);
        let truth = take.frame(f);
        let apart: Vec<f32> = ours.iter().zip(truth).map(|(a, b)| 100.0 * a.distance(*b)).collect();
        let colours = heat_colours(&apart, most_cm);
        let skin = body.skinned_positions(take.frame_bones(f));
        let mut draw = |positions: &[Vec3], colours: Option<&[Vec3]>, name: &str| -> Result<Image> {
            let worn = [(&cloth, positions, colours)];
            let mut pane = studio.draw(Some(&skin), &worn, Some(&take.roots[f]), "")?;
            Label::new(name).sized(0.03 * pane.height() as f32).write(&mut pane, None);
            Ok(pane)
        };
        let mut panes = vec![
            draw(truth, None, "simulated")?,
            draw(&ours, None, "learned")?,
            draw(&bones_only, None, "skinned")?,
            draw(&ours, Some(&colours), "error")?,
        ];
        write_legend(&mut panes[3], most_cm, "cm");
        frames.push(sheet(&panes, panes.len()));
    }
    bar.finish_and_clear();
    Ok(Film {
        frames,
        panes: 4,
        fps: take.fps as f32 / every as f32,
        red_cm: most_cm,
        clip: take.clip.clone(),
    })
}

/// What is red in pictures of errors whose mean is this: about twice it, as a round number, so that the middle of the
/// scale is the usual error and neither all is blue nor all red.
pub fn red_cm(mean_cm: f64) -> f32 {
    let wanted = 2.0 * mean_cm.max(0.05);
    let power = 10f64.powf(wanted.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|m| m * power);
    steps.into_iter().find(|s| *s >= wanted * 0.999).unwrap_or(wanted) as f32
}
