//! What is worn in the pictures: the wearer's motion, and garments in each way they are known.

use super::{Args, Pane, finish};
use crate::pacing::Pacing;
use crate::picture::Cloth;
use crate::resolve::{self, BadRequest};
use crate::tiers::{self, one_motion};
use anyhow::{Context, Result};
use glam::{Affine3A, Vec3};
use std::path::Path;
use std::sync::Arc;
use toile_assets::{
    Attachment, AttachmentSettings, Body, Garment, Mesh, Model, Motion, RootTrack, Surroundings, Take, attach,
};
use toile_run::{Layer, Layered, LayeredSettings, Stable, Tier};
use toile_show::{Material, MeshHandle, srgb};

/// Colours of the second garment and those after it.
const OTHERS: [[u8; 3]; 4] = [[0x5f, 0x7f, 0x57], [0x3b, 0x45, 0x5c], [0x9c, 0x2f, 0x4a], [0x6b, 0x55, 0x86]];

/// What moves, frame by frame.
pub(super) struct PosedFrames {
    pub bones: Vec<Vec<Affine3A>>,
    pub roots: RootTrack,
    pub fps: f64,
}

/// One garment in every frame, in each of the ways it is known.
pub(super) struct Worn {
    pub cloth: Cloth,
    pub simulated: Option<Vec<Vec<Vec3>>>,
    pub learned: Option<Vec<Vec<Vec3>>>,
    pub skinned: Option<Vec<Vec<Vec3>>>,
    pub layered: Option<InLayers>,
}

/// A garment in layers: its vertices in every frame, and the colour of each one's layer.
pub(super) struct InLayers {
    pub frames: Vec<Vec<Vec3>>,
    pub colours: Vec<Vec3>,
    /// Where it is drawn with other triangles than it moves with.
    pub mesh: Option<MeshHandle>,
}

pub(super) fn shot(args: &Args, body: &Body, take: Option<&Take>) -> Result<PosedFrames> {
    if let Some(take) = take {
        let bones = (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect();
        return Ok(PosedFrames {
            bones,
            roots: RootTrack { frames: take.roots.clone(), held: 0 },
            fps: take.fps,
        });
    }
    let motion = match &args.motion {
        None => Motion::new("rest", 30.0, body.skeleton.clone(), vec![body.skeleton.rest_pose()])?,
        Some(name) => one_motion(name, args.clip.as_deref(), body, &Pacing::new(args.fps, args.trim))?,
    };
    let motion = motion.resampled(30.0);
    Ok(PosedFrames {
        bones: motion.poses.iter().map(|p| body.bones(p)).collect(),
        roots: RootTrack::new(&body.skeleton, &motion.poses),
        fps: motion.fps,
    })
}

impl PosedFrames {
    /// A garment that follows the bones, in every frame.
    fn skinned(&self, attachment: &Attachment) -> Vec<Vec<Vec3>> {
        self.bones.iter().map(|bones| attachment.posed(bones)).collect()
    }
}

/// Every garment with its vertices in every frame, and the triangles of the body that nobody sees under it.
pub(super) fn clothes(
    args: &Args,
    body: &Body,
    shot: &PosedFrames,
    takes: &[Take],
    panes: &[Pane],
) -> Result<(Vec<Worn>, Vec<u32>)> {
    let mut all: Vec<Worn> = Vec::new();
    let mut hidden = Vec::new();
    let skinned = panes.contains(&Pane::Skinned);
    let mut worn_over: Vec<(Vec<Vec3>, Vec<[u32; 3]>)> = Vec::new();
    for (k, path) in args.model.iter().enumerate() {
        let model = tiers::model_for(path, body, None)?;
        all.push(learned(args, body, shot, (path, &model), takes.get(k), skinned)?);
        hidden.extend_from_slice(&model.hidden_triangles);
        worn_over.push((model.cloth_mean.clone(), model.triangles.clone()));
    }
    if args.model.is_empty() {
        for take in takes {
            let attachment = if skinned { Some(draped(body, take)?) } else { None };
            all.push(Worn {
                cloth: cloth(args, &take.triangles, noted_fabric(&take.notes)),
                simulated: Some(simulated(take)),
                learned: None,
                skinned: attachment.as_ref().map(|a| shot.skinned(a)),
                layered: None,
            });
        }
    }
    for (k, worn) in all.iter_mut().enumerate().skip(1) {
        worn.cloth.material = dyed(worn.cloth.material, k);
    }
    let order = finish::better_order(&all, &worn_over);
    finish::keep_order(&mut all, &worn_over).say();
    if let Some((order, percent)) = order {
        let named: Vec<String> =
            order.iter().map(|k| format!("--model {}", args.model[*k].display())).collect();
        eprintln!(
            "outfit: garments are named from the innermost out; in the order {} only {percent:.2} % of what is worn under another \
             shows through before that is pushed out",
            named.join(" ")
        );
    }
    for (k, name) in args.garment.iter().enumerate() {
        let mut garment = resolve::garment(name, body, args.rest.into(), None)?;
        resolve::held_by(&mut garment, &args.pin)?;
        let attachment = attach(body, &garment.sim, &AttachmentSettings::default())?;
        let mut cloth = cloth(args, &garment.sim.triangles, &garment.fabric);
        if k > 0 || !all.is_empty() {
            cloth.material = dyed(cloth.material, all.len());
        }
        let layered = match panes.iter().any(|p| matches!(p, Pane::Layered | Pane::Layers)) {
            true => Some(in_layers(args, body, &garment, shot)?),
            false => None,
        };
        let skinned = Some(shot.skinned(&attachment));
        let mut worn = Worn { cloth, simulated: None, learned: None, skinned, layered };
        if let Some(dense) = args.drive.as_ref().filter(|_| k == 0) {
            finish::drive(
                &mut worn,
                &garment,
                dense,
                &resolve::garment(dense, body, args.rest.into(), None)?,
            )?;
        }
        all.push(worn);
    }
    Ok((all, hidden))
}

/// Of the same stuff or not, garments are told apart by their colour.
fn dyed(material: Material, garment: usize) -> Material {
    let [r, g, b] = OTHERS[garment % OTHERS.len()];
    Material { base: srgb(r, g, b), ..material }
}

/// A learned garment in every frame, beside the truth where there is a take, and skinned where that is asked for.
fn learned(
    args: &Args,
    body: &Body,
    shot: &PosedFrames,
    (path, model): (&Path, &Arc<Model>),
    take: Option<&Take>,
    skinned: bool,
) -> Result<Worn> {
    if let Some(take) = take.filter(|t| t.triangles != model.triangles) {
        return Err(BadRequest(format!(
            "{}: the model's garment has {} vertices and {} triangles, the take's has {} and {}, or they differ",
            path.display(),
            model.vertices,
            model.triangles.len(),
            take.vertices,
            take.triangles.len()
        ))
        .into());
    }
    let attachment = match (&model.attachment, take) {
        _ if !skinned => None,
        (Some(attachment), _) => Some(attachment.clone()),
        (None, Some(take)) => Some(draped(body, take)?),
        (None, None) => {
            let what = "the model has no attachment to bones; give a take beside it";
            return Err(BadRequest(format!("{}: {what}", path.display())).into());
        }
    };
    let mut garment = Stable::new(model.clone());
    let mut frames = Vec::with_capacity(shot.bones.len());
    let told = told(args, model, take)?;
    for (f, (bones, root)) in shot.bones.iter().zip(&shot.roots.frames).enumerate() {
        let share = f as f32 / (shot.bones.len().max(2) - 1) as f32;
        garment.set_surroundings(&told(f, share));
        let stepped = garment.step_with_root(bones, root, 1.0 / shot.fps);
        stepped.with_context(|| format!("frame {f}"))?;
        let mut out = vec![Vec3::ZERO; model.vertices];
        garment.positions(&mut out);
        frames.push(out);
    }
    Ok(Worn {
        cloth: cloth(args, &model.triangles, noted_fabric(&model.notes)),
        simulated: take.map(simulated),
        learned: Some(frames),
        skinned: attachment.as_ref().map(|a| shot.skinned(a)),
        layered: None,
    })
}

/// Wind, gravity and cloth of every frame and share of the frames: those of the take, unless others are asked for.
fn told<'a>(
    args: &Args,
    model: &Model,
    take: Option<&'a Take>,
) -> Result<impl Fn(usize, f32) -> Surroundings + 'a> {
    let hears = model.hears().is_some();
    let own = take.filter(|_| args.around.is_nothing() && args.to_fabric.is_none());
    let fabrics = args.fabric.iter().chain(&args.to_fabric).filter(|_| hears && own.is_none());
    let asked = args.around.told(model, &fabrics.cloned().collect::<Vec<_>>())?;
    let (first, last) = (asked[0], asked[asked.len() - 1]);
    Ok(move |frame: usize, share: f32| match own {
        Some(take) => take.surroundings(frame),
        None => {
            let slid = first
                .fabric
                .zip(last.fabric)
                .map(|(a, b)| std::array::from_fn(|k| a[k] + share * (b[k] - a[k])));
            Surroundings { fabric: slid, ..first }
        }
    })
}

fn simulated(take: &Take) -> Vec<Vec<Vec3>> {
    (0..take.len()).map(|f| take.frame(f).to_vec()).collect()
}

/// A take's garment as it hangs on the rest pose, attached to the bones.
fn draped(body: &Body, take: &Take) -> Result<Attachment> {
    let mesh = Mesh { positions: take.draped.clone(), triangles: take.triangles.clone(), ..Mesh::default() };
    Ok(attach(body, &mesh, &AttachmentSettings::default())?)
}

/// A garment to draw, of its own fabric unless another is asked for.
fn cloth(args: &Args, triangles: &[[u32; 3]], fabric: &str) -> Cloth {
    let material = Material::fabric(args.fabric.as_deref().unwrap_or(fabric));
    Cloth { mesh: MeshHandle::new(triangles), material }
}

/// The fabric that a take or model says it is of.
fn noted_fabric(notes: &[(String, String)]) -> &str {
    notes.iter().find(|(k, _)| k == "fabric").map_or("cotton", |(_, v)| v)
}

/// A garment taken apart as it hangs, and played.
fn in_layers(args: &Args, body: &Body, garment: &Garment, shot: &PosedFrames) -> Result<InLayers> {
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let rest = tiers::draped_or_placed(body, garment, &fabric);
    let layers = tiers::layers(body, garment, &rest, &fabric)?;
    let leash = tiers::Leash::new(body, garment, &rest)?;
    let layer = layers.layer.clone();
    let colours = layer.iter().map(|layer| layer_colour(*layer)).collect();
    let mut tier = Layered::new(layers, LayeredSettings::default());
    let mut frames = Vec::with_capacity(shot.bones.len());
    for (f, bones) in shot.bones.iter().enumerate() {
        tier.step(bones, 1.0 / shot.fps).with_context(|| format!("frame {f}"))?;
        let mut out = vec![Vec3::ZERO; tier.vertices()];
        tier.positions(&mut out);
        frames.push(leash.kept(bones, &out));
    }
    let mut made = InLayers { frames, colours, mesh: None };
    if let Some(region) = args.curved {
        made.curve(&garment.sim.triangles, &layer, region, args.split);
    }
    Ok(made)
}

fn layer_colour(layer: Layer) -> Vec3 {
    match layer {
        Layer::Stretch => srgb(0xc8, 0x3c, 0x32),
        Layer::Loose => srgb(0x46, 0xa0, 0x4b),
        Layer::Floating => srgb(0x32, 0x6e, 0xc8),
    }
}

/// Mean distance of learned to simulated vertices over all frames.
pub(super) fn mean_error_cm(clothes: &[Worn]) -> f64 {
    let pairs = clothes.iter().filter_map(|w| Some((w.learned.as_ref()?, w.simulated.as_ref()?)));
    let frames = pairs.flat_map(|(learned, truth)| learned.iter().zip(truth));
    let (sum, count) = frames
        .flat_map(|(a, b)| a.iter().zip(b))
        .fold((0.0, 0usize), |(sum, count), (a, b)| (sum + f64::from(a.distance(*b)), count + 1));
    100.0 * sum / count.max(1) as f64
}
