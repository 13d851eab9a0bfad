//! Kinds of garments of a mixed crowd: the learned garment, its other tiers, what it carries and what is painted on it.

use super::Args;
use super::budget::{FULL, LAYERED};
use crate::resolve::{self, BadRequest};
use crate::schedule::Rungs;
use crate::tiers;
use anyhow::{Context, Result};
use std::sync::Arc;
use toile_assets::{Attachment, AttachmentSettings, Body, Limits, Mesh, Model, attach, embed};
use toile_geometry::TriangleTree;
use toile_run::{Beneath, Embedding, Full, Layered, LayeredSettings, Leashed, MakeTier, Tier};
use toile_show::MeshHandle;

/// Of so many vertices one is looked at for how deep it is in the body.
const LOOKED_AT: usize = 3;

/// What one kind of garment is drawn and moved with.
pub struct Kind {
    pub model: Arc<Model>,
    /// Its tiers beside the learned one, by number.
    pub makers: Vec<(u32, MakeTier)>,
    pub mesh: MeshHandle,
    /// The skin below the garment; none where the model does not say where it is worn.
    pub beneath: Option<Beneath>,
    /// The dense mesh that it carries where it is near.
    pub dense: Option<(Arc<Embedding>, MeshHandle)>,
    /// What is painted on it, and where it is measured from.
    pub limits: Option<(Limits, Attachment)>,
}

/// Models with the tiers that their garments have besides.
pub fn kinds(args: &Args, models: &[Arc<Model>], body: &Body) -> Result<Vec<Kind>> {
    if !args.garment.is_empty() && args.garment.len() != models.len() {
        let (garments, models) = (args.garment.len(), models.len());
        let what = format!(
            "{garments} garments for {models} models; name the garment of each model, in order, or none"
        );
        return Err(BadRequest(what).into());
    }
    if args.drive.len() > args.garment.len() {
        let (meshes, garments) = (args.drive.len(), args.garment.len());
        let what = format!("{meshes} dense meshes for {garments} garments; name one for each, in order");
        return Err(BadRequest(what).into());
    }
    let mut kinds = Vec::new();
    for (k, model) in models.iter().enumerate() {
        let mut makers: Vec<(u32, MakeTier)> = Vec::new();
        let (mut limits, mut dense) = (None, None);
        if let Some(name) = args.garment.get(k) {
            let garment = resolve::worn(name, body, crate::convert::Rest::Auto.into())?;
            tiers::model_for(&args.model[k], body, Some(&garment))?;
            let fabric = resolve::fabric(&garment.fabric)?;
            let rungs = Rungs::new(body, &garment, &fabric, Some(model))?;
            let layers = tiers::layers(body, &garment, rungs.rest(), &fabric)?;
            if let Some(name) = args.drive.get(k) {
                let mesh = resolve::worn(name, body, crate::convert::Rest::Auto.into())?.sim;
                let on = embed(&garment.sim, &mesh).with_context(|| format!("--drive {name}"))?;
                dense = Some((Arc::new(on), MeshHandle::new(&mesh.triangles)));
            }
            let painted = garment.limits(rungs.rest());
            if !painted.is_empty() {
                limits = Some((painted, tiers::attached(body, &garment, rungs.rest())?));
            }
            let kept = leash(limits.clone());
            makers.push((
                LAYERED,
                Arc::new(move || {
                    Ok(kept(Box::new(Layered::new(layers.clone(), LayeredSettings::default()))))
                }),
            ));
            let (world, kept) = (rungs.world(), leash(limits.clone()));
            makers.push((FULL, Arc::new(move || Ok(kept(Box::new(Full::new(world.clone())))))));
        }
        let mesh = MeshHandle::new(&model.triangles);
        let beneath = beneath(body, model)?;
        kinds.push(Kind { model: model.clone(), makers, mesh, beneath, dense, limits });
    }
    Ok(kinds)
}

/// A tier within what is painted.
fn leash(
    limits: Option<(Limits, Attachment)>,
) -> impl Fn(Box<dyn Tier + Send>) -> Box<dyn Tier + Send> + Send + Sync {
    move |tier| match &limits {
        Some((limits, attachment)) => Box::new(Leashed::new(tier, limits.clone(), attachment.clone())),
        None => tier,
    }
}

/// The skin below every few vertices of a model's garment.
fn beneath(body: &Body, model: &Model) -> Result<Option<Beneath>> {
    let Some(worn) = &model.attachment else { return Ok(None) };
    let skin = &body.mesh;
    let tree = TriangleTree::new(&skin.positions, &skin.triangles);
    let (mut points, mut normals, mut vertices) = (Vec::new(), Vec::new(), Vec::new());
    for v in (0..worn.rest.len()).step_by(LOOKED_AT) {
        let Some(near) = tree.closest(worn.rest[v]) else { continue };
        let [a, b, c] = skin.triangles[near.triangle as usize].map(|i| skin.positions[i as usize]);
        points.push(near.point);
        normals.push((b - a).cross(c - a).normalize_or_zero());
        vertices.push(v as u32);
    }
    let mesh = Mesh { positions: points, ..Mesh::default() };
    let how = AttachmentSettings::default().with(|s| (s.smoothing_passes, s.legs) = (0, false));
    Ok(Some(Beneath::new(attach(body, &mesh, &how)?, normals, vertices)?))
}
