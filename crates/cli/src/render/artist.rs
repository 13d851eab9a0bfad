//! Panes drawn side by side, as pictures or as a film.

use super::worn::{PosedFrames, Worn};
use super::{Args, Pane};
use crate::driver;
use crate::interrupt;
use crate::picture::{Cloth, Studio};
use crate::resolve;
use anyhow::Result;
use glam::Vec3;
use indicatif::ProgressBar;
use toile_assets::Body;
use toile_show::{Film, FilmFormat, Image, Material, beside, heat_colours, srgb, write_legend};

/// Draws all panes of a frame.
pub(super) struct Artist<'a> {
    pub args: &'a Args,
    pub body: &'a Body,
    pub shot: &'a PosedFrames,
    pub clothes: &'a [Worn],
    pub panes: &'a [Pane],
    pub heat_cm: f32,
    pub studio: Studio,
}

impl Artist<'_> {
    pub fn draw(&mut self, f: usize, timed: bool) -> Result<Image> {
        let skin = self.body.skinned_positions(&self.shot.bones[f]);
        let turned = self.args.orbit * f as f32 / (self.shot.bones.len() - 1).max(1) as f32;
        let root = (!self.args.still).then(|| &self.shot.roots.frames[f]);
        let mut panes = Vec::new();
        for (k, &pane) in self.panes.iter().enumerate() {
            let mut label = if self.panes.len() > 1 || self.args.panes.len() == 1 {
                pane.label().to_string()
            } else {
                String::new()
            };
            if timed && k == 0 {
                let secs = format!("{:.2} s", f as f64 / self.shot.fps);
                label = if label.is_empty() { secs } else { format!("{label}\n{secs}") };
            }
            panes.push(self.draw_pane(pane, f, &skin, root, turned, &label)?);
        }
        if panes.len() == 1 {
            return Ok(panes.remove(0));
        }
        Ok(beside(&panes)?)
    }

    fn draw_pane(
        &mut self,
        pane: Pane,
        f: usize,
        skin: &[Vec3],
        root: Option<&toile_assets::RootFrame>,
        turned: f32,
        label: &str,
    ) -> Result<Image> {
        let mut looks: Vec<(Cloth, &[Vec3], Option<Vec<Vec3>>)> = Vec::new();
        for worn in self.clothes {
            let plain = || Cloth { mesh: worn.cloth.mesh.clone(), material: worn.cloth.material };
            let learned = worn.learned.as_ref().or(worn.skinned.as_ref()).map(|p| p[f].as_slice());
            let simulated = worn.simulated.as_ref().or(worn.skinned.as_ref()).map(|p| p[f].as_slice());
            let skinned = worn.skinned.as_ref().map(|p| p[f].as_slice());
            match (pane, learned, simulated, skinned) {
                (Pane::Simulated, _, Some(p), _) => looks.push((plain(), p, None)),
                (Pane::Learned, Some(p), ..) => looks.push((plain(), p, None)),
                (Pane::Skinned, .., Some(p)) => looks.push((plain(), p, None)),
                (Pane::Layered | Pane::Layers, ..) => {
                    let Some(layered) = &worn.layered else { continue };
                    let colours = (pane == Pane::Layers).then(|| layered.colours.clone());
                    let mut cloth = plain();
                    if let Some(mesh) = &layered.mesh {
                        cloth.mesh = mesh.clone();
                    }
                    if colours.is_some() {
                        cloth.material =
                            Material { flatness: 0.65, hem_m: 0.0, ..Material::cloth(Vec3::ONE) };
                    }
                    looks.push((cloth, &layered.frames[f], colours));
                }
                (Pane::Heat, Some(p), Some(truth), _) => {
                    let errors_cm: Vec<f32> =
                        p.iter().zip(truth).map(|(a, b)| 100.0 * a.distance(*b)).collect();
                    let material = Material { flatness: 0.65, hem_m: 0.0, ..Material::cloth(Vec3::ONE) };
                    let colours = heat_colours(&errors_cm, self.heat_cm);
                    looks.push((Cloth { material, ..plain() }, p, Some(colours)));
                }
                (Pane::Ghost, Some(p), Some(truth), _) => {
                    looks.push((plain(), p, None));
                    let material =
                        Material { opacity: 0.35, hem_m: 0.0, ..Material::cloth(srgb(0xe0, 0x9a, 0x2b)) };
                    looks.push((Cloth { material, ..plain() }, truth, None));
                }
                _ => {}
            }
        }
        let items: Vec<(&Cloth, &[Vec3], Option<&[Vec3]>)> =
            looks.iter().map(|(cloth, p, colours)| (cloth, *p, colours.as_deref())).collect();
        let mut picture = self.studio.draw_turned(Some(skin), &items, root, turned, label)?;
        if pane == Pane::Heat {
            write_legend(&mut picture, self.heat_cm, "cm");
        }
        Ok(picture)
    }
}

/// Draws and encodes side by side: encoding has a thread of its own, and two frames may wait for it.
pub(super) fn film(
    artist: &mut Artist<'_>,
    format: FilmFormat,
    wanted: &[usize],
    bar: &ProgressBar,
) -> Result<()> {
    let labelled = wanted.len() > 1;
    // Colours of a GIF are chosen before it begins; other films need one picture to know their size.
    let samples = if format == FilmFormat::Gif { wanted.len().min(8) } else { 1 };
    let samples = (0..samples)
        .map(|k| artist.draw(wanted[k * (wanted.len() - 1) / (samples - 1).max(1)], labelled))
        .collect::<Result<Vec<_>>>()?;
    let (path, fps, count) = (&artist.args.out, artist.shot.fps as f32, wanted.len());
    // Ended between two frames, a film in the making is taken away again.
    let _frames = interrupt::Frames::begin();
    std::thread::scope(|scope| -> Result<()> {
        let (send, receive) = std::sync::mpsc::sync_channel::<Image>(2);
        let encoding = scope.spawn(move || -> toile_show::Result<()> {
            let mut film = Film::create(path, format, fps, count, &samples)?;
            for frame in receive {
                film.push(&frame)?;
            }
            film.finish()
        });
        let mut failed = None;
        for &f in wanted {
            if interrupt::wanted() {
                failed = Some(interrupt::Stopped.into());
                break;
            }
            let frame = match artist.draw(f, labelled) {
                Ok(frame) => frame,
                Err(e) => {
                    failed = Some(e);
                    break;
                }
            };
            if send.send(frame).is_err() {
                // Nobody takes it any more: the encoder's own error says why.
                break;
            }
            bar.inc(1);
        }
        drop(send);
        let encoded = encoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        failed.map_or(Ok(encoded?), Err)
    })
}

pub(super) fn studio(args: &Args, body: &Body, shot: &PosedFrames) -> Result<Studio> {
    let start = shot.roots.frames[0].position.y;
    let highest = shot.roots.frames.iter().map(|r| r.position.y - start).fold(0.0, f64::max);
    // A gait's bob needs no room; a leap does.
    let headroom = if highest > 0.15 { highest as f32 } else { 0.0 };
    let mut studio = Studio::new(driver::renderer()?, body, args.view, args.size, headroom);
    let front = shot.roots.frames[0].heading;
    studio.face(front);
    if !args.plain
        && let Some(figure) = resolve::figure(&args.body, body)?
    {
        studio.paint(figure);
    }
    studio.slack_m = 0.001 * args.slack_mm;
    studio.wireframe = args.wireframe;
    if args.still {
        let (lo, hi) = body.mesh.bounds();
        let around = Vec3::new(0.25, 0.0, 0.25) * (hi.y - lo.y);
        let places = || shot.roots.frames.iter().map(|r| r.position.as_vec3());
        let least = places().fold(Vec3::INFINITY, Vec3::min).with_y(lo.y) - around;
        let most = places().fold(Vec3::NEG_INFINITY, Vec3::max).with_y(hi.y + headroom) + around;
        studio.frame(least, most, args.view.turned(front.to_degrees() as f32));
    }
    Ok(studio)
}
