//! A garment taken apart for the tier `layered`, with no training and no simulation of its motion (Cordier and
//! Magnenat-Thalmann 2002): from the garment as it hangs on the bind pose to [`Layers`].

mod discs;
mod floating;
mod limbs;
mod segmentation;
mod segments;
mod trunk;
mod tubes;

pub use segments::{Segment, segments};

use crate::{
    Attachment, AttachmentSettings, Body, Error, Fabric, Garment, Mesh, Result, Skin, attach, skirt_share,
};
use glam::Vec3;
use segments::{Anatomy, Region};
use toile_model::layers::{Layer, Layers};

/// Distances from the skin that part the layers, for a wearer of 1.7 m; others by their height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerLimits {
    /// Cloth nearer than this sticks, m.
    pub stretch_m: f32,
    /// Cloth farther than this floats, m.
    pub loose_m: f32,
}

/// How a garment is taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSettings {
    /// On the trunk and head. A shirt that stands off the waist by a hand's width still follows it.
    pub trunk: LayerLimits,
    /// On arms.
    pub arms: LayerLimits,
    /// On legs.
    pub legs: LayerLimits,
    /// How deep sleeves and trouser legs hang, against a tube without stiffness.
    pub hang: f32,
}

impl Default for LayerSettings {
    fn default() -> Self {
        Self {
            trunk: LayerLimits { stretch_m: 0.006, loose_m: 0.12 },
            arms: LayerLimits { stretch_m: 0.004, loose_m: 0.12 },
            legs: LayerLimits { stretch_m: 0.004, loose_m: 0.12 },
            // Cloth that bends stiffly keeps its tube rounder than a catenary.
            hang: 0.5,
        }
    }
}

impl LayerSettings {
    fn limits(&self, region: Region) -> &LayerLimits {
        match region {
            Region::Trunk | Region::Head => &self.trunk,
            Region::Arm(_) => &self.arms,
            Region::Leg(_) => &self.legs,
        }
    }

    fn check(&self) -> Result<()> {
        for (name, l) in [("trunk", self.trunk), ("arms", self.arms), ("legs", self.legs)] {
            if !(l.stretch_m >= 0.0 && l.loose_m > l.stretch_m && l.loose_m.is_finite()) {
                return Err(Error::Invalid(format!(
                    "layers on the {name}: cloth cannot stick below {} m and float above {} m",
                    l.stretch_m, l.loose_m
                )));
            }
        }
        if !(0.0..=2.0).contains(&self.hang) {
            return Err(Error::Invalid(format!("a hang of {} is not between 0 and 2", self.hang)));
        }
        Ok(())
    }
}

/// Takes a garment apart that hangs on the body's bind pose at `rest`, one position a simulation vertex.
pub fn layers(
    body: &Body,
    garment: &Garment,
    rest: &[Vec3],
    fabric: &Fabric,
    settings: &LayerSettings,
) -> Result<Layers> {
    settings.check()?;
    if rest.len() != garment.sim.positions.len() {
        return Err(Error::Invalid(format!(
            "garment `{}` has {} vertices, {} were given for its rest",
            garment.name,
            garment.sim.positions.len(),
            rest.len()
        )));
    }
    let anatomy = Anatomy::of(body)?;
    let mesh = Mesh { positions: rest.to_vec(), triangles: garment.sim.triangles.clone(), uvs: Vec::new() };
    let topology = mesh.topology();
    let attachment = lean(&attach(body, &mesh, &AttachmentSettings::default())?)?;
    let over = segments::over(&anatomy, &attachment);
    segmentation::check_worn(&anatomy, garment, &over)?;
    let ring_gaps = segmentation::ring_gaps(&anatomy, &attachment, &over);
    let skirt = skirt_share(body, &mesh);
    let layer =
        segmentation::segment(&anatomy, garment, &topology, (&over, &ring_gaps), &skirt, settings, rest);
    let mut held = vec![false; layer.len()];
    garment.pins.iter().flat_map(|p| &p.vertices).for_each(|v| held[*v as usize] = true);
    let loose = segmentation::loose_share(&layer, &topology, &held);
    let discs =
        discs::discs(&anatomy, &attachment, &topology, &over, &ring_gaps, &layer, &loose, settings.hang);
    let of_trunk: Vec<f32> = (0..layer.len())
        .map(|v| match layer[v] {
            Layer::Floating => 0.0,
            _ => loose[v] * (1.0 - anatomy.limb_share(&attachment, v)),
        })
        .collect();
    let area: f32 = (0..garment.sim.triangles.len())
        .map(|t| {
            let share: f32 = garment.sim.triangles[t].iter().map(|v| of_trunk[*v as usize]).sum();
            garment.rest_area(t) * share / 3.0
        })
        .sum();
    let trunk = trunk::trunk(&anatomy, &mesh, &of_trunk, (area * fabric.density as f32).max(1e-3))?;
    let floating = floating::floating(&anatomy, garment, &mesh, &topology, &layer, fabric)?;
    let (tubes, rides) = tubes::tubes(&anatomy, garment, &mesh, &topology, (&attachment, &over), &layer);
    let hips = anatomy.joint(crate::Role::Hips).unwrap_or(0);
    let hips = (hips as u16, anatomy.at[hips]);
    let (rigid, kinematic) = rigid_parts(&attachment, &layer, &discs, trunk.as_ref());
    Ok(Layers {
        attachment,
        layer,
        rigid,
        kinematic,
        discs,
        trunk,
        tubes,
        rides,
        floating,
        joints: body.skeleton.len(),
        hips,
        height_m: anatomy.height_m,
    })
}

/// Most bones that a vertex hangs on, and the least weight of one.
const MOST_BONES: usize = 4;
const LEAST_WEIGHT: f32 = 0.02;

/// An attachment without the crumbs that smoothing leaves: half the time of a step is bones times vertices.
fn lean(attachment: &Attachment) -> Result<Attachment> {
    let row = |v: usize| {
        let mut row: Vec<(u16, f32)> = attachment.skin.row(v).collect();
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        row.truncate(MOST_BONES);
        row.retain(|(_, w)| *w >= LEAST_WEIGHT);
        row
    };
    let rows: Vec<Vec<(u16, f32)>> = (0..attachment.skin.len()).map(row).collect();
    Ok(Attachment { skin: Skin::from_rows(rows)?, rest: attachment.rest.clone() })
}

/// Vertices that go with one joint alone, and those left that are neither on a disc nor floating.
fn rigid_parts(
    attachment: &Attachment,
    layer: &[Layer],
    discs: &[toile_model::layers::Disc],
    trunk: Option<&toile_model::layers::Trunk>,
) -> (Vec<(u16, Vec<u32>)>, Vec<u32>) {
    let mut moving = vec![false; layer.len()];
    let followers = trunk.map_or(&[][..], |t| &t.followers[..]);
    discs.iter().map(|d| &d.vertex).chain(followers).for_each(|v| moving[*v as usize] = true);
    let mut on_disc = vec![false; layer.len()];
    discs.iter().for_each(|d| on_disc[d.vertex as usize] = true);
    let mut rigid: Vec<(u16, Vec<u32>)> = Vec::new();
    let mut kinematic = Vec::new();
    for v in (0..layer.len()).filter(|v| layer[*v] != Layer::Floating && !on_disc[*v]) {
        let mut row = attachment.skin.row(v);
        match (row.next(), row.next()) {
            (Some((joint, _)), None) if !moving[v] => match rigid.iter_mut().find(|(j, _)| *j == joint) {
                Some((_, part)) => part.push(v as u32),
                None => rigid.push((joint, vec![v as u32])),
            },
            _ => kinematic.push(v as u32),
        }
    }
    (rigid, kinematic)
}
