//! `toile render`: pictures of a body, dressed and in motion.

use crate::ask::{self, BadRequest, ending};
use crate::convert::Rest;
use crate::picture::{Cloth, Studio, sheet};
use crate::progress;
use anyhow::Result;
use clap::Parser;
use glam::{Affine3A, Vec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toile_assets::{Attachment, AttachmentSettings, Model, Motion, RootTrack, Take};
use toile_run::{Stable, Tier};
use toile_show::{Image, Material, MeshHandle, View};

/// Draw a body, its clothes and its motion into a PNG, contact sheet or film
#[derive(Parser)]
#[command(after_help = "Without --take or --model a garment follows the bones (skinned).\n\nExamples:\n  \
    toile render --garment dress --out dressed.png\n  \
    toile render --body hero.glb --motion walk.bvh --frames 12 --out walk.png\n  \
    toile render --take out/takes/walk.take --frames 0 --out walk.gif\n  \
    toile render --model dress.toile --motion walk-stop --frames 8 --out learned.png")]
pub struct Args {
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// Garments to put on
    #[arg(long)]
    garment: Vec<String>,
    /// Where a garment's flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// A motion file or a built-in motion
    #[arg(long, conflicts_with = "take")]
    motion: Option<String>,
    /// Which animation of a file with several
    #[arg(long, requires = "motion")]
    clip: Option<String>,
    /// A recorded simulation
    #[arg(long, conflicts_with_all = ["motion", "model", "garment"])]
    take: Option<PathBuf>,
    /// A learned garment
    #[arg(long, requires = "motion")]
    model: Option<PathBuf>,
    /// Pictures, evenly over the motion; 0 is every frame at 30 Hz (for films)
    #[arg(long, default_value_t = 1)]
    frames: usize,
    /// Width and height of each picture
    #[arg(long, default_value = "480x640", value_parser = size)]
    size: (u32, u32),
    /// front, side, back, three-quarter, or degrees around the vertical
    #[arg(long, default_value = "three-quarter", value_parser = view)]
    view: View,
    /// Where to: .png (a sheet when there are several pictures) or .gif
    #[arg(long)]
    out: PathBuf,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once(['x', '×']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w, h)) if (1..=8192).contains(&w) && (1..=8192).contains(&h) => Ok((w, h)),
        _ => Err("wants WIDTHxHEIGHT, each from 1 to 8192".into()),
    }
}

fn view(text: &str) -> Result<View, String> {
    Ok(match text {
        "front" => View::Front,
        "side" => View::Side,
        "back" => View::Back,
        "three-quarter" => View::ThreeQuarter,
        other => match other.parse::<f32>() {
            Ok(azimuth) if azimuth.is_finite() => View::Angle { azimuth, elevation: 8.0 },
            _ => return Err("wants front, side, back, three-quarter or degrees".into()),
        },
    })
}

/// What moves, frame by frame.
struct Shot {
    bones: Vec<Vec<Affine3A>>,
    roots: RootTrack,
    fps: f64,
}

pub fn run(args: &Args) -> Result<()> {
    ask::writable(&args.out)?;
    let format = ending(&args.out.to_string_lossy());
    if !["png", "gif"].contains(&format.as_str()) {
        return Err(
            BadRequest(format!("{}: pictures are written as .png or .gif", args.out.display())).into()
        );
    }
    let body = ask::body(&args.body, None)?;
    let (w, h) = args.size;
    let take = args.take.as_deref().map(Take::read).transpose()?;
    if let Some(take) = &take
        && take.joints != body.skeleton.len()
    {
        return Err(BadRequest(format!(
            "the take's body has {} joints, `{}` has {}; name its body with --body",
            take.joints,
            body.name,
            body.skeleton.len()
        ))
        .into());
    }
    let shot = shot(args, &body, take.as_ref())?;
    let count = shot.bones.len();
    let wanted: Vec<usize> = match args.frames {
        0 => (0..count).collect(),
        1 => vec![if take.is_some() || args.motion.is_some() { count / 2 } else { 0 }],
        n => (0..n).map(|k| k * (count - 1) / (n - 1).max(1)).collect(),
    };
    let clothes = clothes(args, &body, &shot, take.as_ref())?;
    let start = shot.roots.frames[0].position.y;
    let highest = shot.roots.frames.iter().map(|r| r.position.y - start).fold(0.0, f64::max);
    // A gait's bob needs no room; a leap does.
    let headroom = if highest > 0.15 { highest as f32 } else { 0.0 };
    let mut studio = Studio::new(&body, args.view, w, h, headroom)?;
    let bar = progress::bar(wanted.len() as u64, "drawing");
    let mut pictures: Vec<Image> = Vec::new();
    for &f in &wanted {
        let skinned = body.skinned_positions(&shot.bones[f]);
        let items: Vec<(&Cloth, &[Vec3], Option<&[Vec3]>)> =
            clothes.iter().map(|(cloth, frames)| (cloth, frames[f].as_slice(), None)).collect();
        let label = if wanted.len() > 1 { format!("{:.2} s", f as f64 / shot.fps) } else { String::new() };
        pictures.push(studio.draw(Some(&skinned), &items, Some(&shot.roots.frames[f]), &label)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    match format.as_str() {
        "gif" => toile_show::write_gif(&args.out, &pictures, shot.fps as f32)?,
        _ => sheet(&pictures, columns(pictures.len())).write_png(&args.out)?,
    }
    println!("{} ({} pictures, {})", args.out.display(), pictures.len(), studio.adapter());
    Ok(())
}

fn columns(pictures: usize) -> usize {
    match pictures {
        0..=6 => pictures.max(1),
        7..=16 => pictures.div_ceil(2),
        _ => 10,
    }
}

fn shot(args: &Args, body: &toile_assets::Body, take: Option<&Take>) -> Result<Shot> {
    if let Some(take) = take {
        let bones = (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect();
        return Ok(Shot { bones, roots: RootTrack { frames: take.roots.clone(), held: 0 }, fps: take.fps });
    }
    let motion = match &args.motion {
        None => Motion::new("rest", 30.0, body.skeleton.clone(), vec![body.skeleton.rest_pose()])?,
        Some(name) => {
            let mut motions = ask::raw_motions(name)?;
            if let Some(clip) = &args.clip {
                motions.retain(|m| &m.name == clip);
            }
            if motions.len() != 1 {
                return Err(BadRequest(format!(
                    "{name} holds {} animations of that name; choose one with --clip",
                    motions.len()
                ))
                .into());
            }
            ask::onto(motions.remove(0), body)?
        }
    };
    let motion = motion.resampled(30.0);
    Ok(Shot {
        bones: motion.poses.iter().map(|p| body.bones(p)).collect(),
        roots: RootTrack::new(&body.skeleton, &motion.poses),
        fps: motion.fps,
    })
}

/// Every garment with its vertices in every frame.
fn clothes(
    args: &Args,
    body: &toile_assets::Body,
    shot: &Shot,
    take: Option<&Take>,
) -> Result<Vec<(Cloth, Vec<Vec<Vec3>>)>> {
    let mut all = Vec::new();
    let cloth = |triangles: &[[u32; 3]], fabric: &str| Cloth {
        mesh: MeshHandle::new(triangles),
        material: Material::fabric(fabric),
    };
    if let Some(take) = take {
        let fabric = take.notes.iter().find(|(k, _)| k == "fabric").map_or("cotton", |(_, v)| v.as_str());
        let frames = (0..take.len()).map(|f| take.frame(f).to_vec()).collect();
        all.push((cloth(&take.triangles, fabric), frames));
    }
    if let Some(path) = &args.model {
        let model = Arc::new(Model::read(Path::new(path))?);
        if model.joints != body.skeleton.len() {
            return Err(BadRequest(format!(
                "the model's body has {} joints, `{}` has {}",
                model.joints,
                body.name,
                body.skeleton.len()
            ))
            .into());
        }
        let mut garment = Stable::new(model.clone());
        let mut frames = Vec::new();
        for (bones, root) in shot.bones.iter().zip(&shot.roots.frames) {
            garment.step(bones, root, 1.0 / shot.fps);
            let mut out = vec![Vec3::ZERO; model.vertices];
            garment.positions(&mut out);
            frames.push(out);
        }
        all.push((cloth(&model.triangles, "cotton"), frames));
    }
    for name in &args.garment {
        let garment = ask::garment(name, body, args.rest.into(), None)?;
        let attachment = Attachment::new(body, &garment.sim, &AttachmentSettings::default())?;
        let frames = shot.bones.iter().map(|bones| attachment.posed(bones)).collect();
        all.push((cloth(&garment.sim.triangles, &garment.fabric), frames));
    }
    Ok(all)
}
