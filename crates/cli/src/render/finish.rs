//! What is done to clothes before they are drawn: covered triangles left out, flat ones curved.

use super::worn::{InLayers, PosedFrames, Worn};
use anyhow::{Context, Result};
use clap::ValueEnum;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Body, Garment, embed};
use toile_geometry::{Curved, Split, TriangleTree};
use toile_run::{Driven, Layer, WornOver};
use toile_show::MeshHandle;

/// Which cloth is drawn curved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Region {
    /// Cloth that floats
    Floating,
    /// Cloth that moves near the skin
    Loose,
    /// Cloth that sticks to it
    Stretch,
    /// All of it
    All,
}

/// How triangles are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SplitName {
    /// At their middle
    Three,
    /// At the middles of their edges
    Four,
}

/// Frames in which covered triangles are looked for.
const LOOKED_AT: usize = 24;

impl InLayers {
    /// Splits triangles of the asked layer into curved ones.
    pub fn curve(&mut self, triangles: &[[u32; 3]], layer: &[Layer], region: Region, split: SplitName) {
        let wanted = |l: Layer| match region {
            Region::Floating => l == Layer::Floating,
            Region::Loose => l == Layer::Loose,
            Region::Stretch => l == Layer::Stretch,
            Region::All => true,
        };
        let asked = |t: usize| triangles[t].iter().any(|v| wanted(layer[*v as usize]));
        let split = match split {
            SplitName::Three => Split::Three,
            SplitName::Four => Split::Four,
        };
        let curved = Curved::new(triangles, layer.len(), asked, split);
        self.frames.iter_mut().for_each(|p| *p = curved.place(p));
        self.colours = curved.spread(&self.colours);
        self.mesh = Some(MeshHandle::new(curved.triangles()));
    }
}

impl Worn {
    /// How it is first known, with its triangles.
    fn drawn(&self) -> Option<(&MeshHandle, &[Vec<Vec3>])> {
        if let Some(layered) = &self.layered {
            return Some((layered.mesh.as_ref().unwrap_or(&self.cloth.mesh), &layered.frames));
        }
        let frames = self.learned.as_ref().or(self.simulated.as_ref()).or(self.skinned.as_ref())?;
        Some((&self.cloth.mesh, frames))
    }

    fn leave_out(&mut self, triangles: &[u32]) {
        let hide = |mesh: &MeshHandle| mesh.without(&flags(triangles, mesh.triangles().len()));
        match self.layered.as_mut().and_then(|l| l.mesh.as_mut()) {
            Some(mesh) => *mesh = hide(mesh),
            None => self.cloth.mesh = hide(&self.cloth.mesh),
        }
    }
}

fn flags(triangles: &[u32], count: usize) -> Vec<bool> {
    let mut flags = vec![false; count];
    triangles.iter().for_each(|t| flags[*t as usize] = true);
    flags
}

/// Leaves out of each garment what those worn over it (named after it) cover in every frame looked at, and says which
/// triangles of the body all of them cover.
pub fn hide_covered(clothes: &mut [Worn], body: &Body, shot: &PosedFrames) -> Vec<u32> {
    let stride = shot.bones.len().div_ceil(LOOKED_AT).max(1);
    let frames: Vec<usize> = (0..shot.bones.len()).step_by(stride).collect();
    for k in 0..clothes.len() {
        let Some((mesh, own)) = clothes[k].drawn() else { continue };
        let (cover, over) = together(&clothes[k + 1..], &frames);
        let own = frames.iter().map(|f| own[*f].clone());
        let hidden = match cover.is_empty() {
            true => Vec::new(),
            false => toile_learn::hidden_under(mesh.triangles(), &cover, own.zip(over)),
        };
        clothes[k].leave_out(&hidden);
    }
    let (cover, over) = together(clothes, &frames);
    if cover.is_empty() {
        return Vec::new();
    }
    let skin = frames.iter().map(|f| body.skinned_positions(&shot.bones[*f]));
    toile_learn::hidden_under(&body.mesh.triangles, &cover, skin.zip(over))
}

/// Several garments as one mesh, with its vertices in some frames.
fn together(clothes: &[Worn], frames: &[usize]) -> (Vec<[u32; 3]>, Vec<Vec<Vec3>>) {
    let mut triangles = Vec::new();
    let mut positions = vec![Vec::new(); frames.len()];
    for (mesh, own) in clothes.iter().filter_map(Worn::drawn) {
        let first = positions.first().map_or(0, Vec::len) as u32;
        triangles.extend(mesh.triangles().iter().map(|t| t.map(|v| v + first)));
        positions.iter_mut().zip(frames).for_each(|(all, f)| all.extend_from_slice(&own[*f]));
    }
    (triangles, positions)
}

/// Distance that is kept between learned garments, m: what triangles between vertices need.
const BETWEEN_M: f32 = 0.004;

/// Cloth is covered by what lies within this before it, m.
const BEFORE_M: f32 = 0.08;
/// It shows through what lies within this behind it, m.
const BEHIND_M: f32 = 0.03;

/// Triangles of inner garments, over all frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShowThrough {
    /// That lie under an outer garment, or should.
    pub covered: usize,
    /// Of them, those that the outer one lies behind.
    pub before: usize,
    /// As many once it is pushed out.
    pub after: usize,
}

impl ShowThrough {
    /// Says it where anything is covered.
    pub fn say(&self) {
        if self.covered == 0 {
            return;
        }
        let percent = |n: usize| 100.0 * n as f64 / self.covered as f64;
        eprintln!(
            "outfit: {:.2} % of what is worn under another garment showed through, {:.2} % once that is pushed out",
            percent(self.before),
            percent(self.after)
        );
    }
}

/// How many triangles of an inner garment an outer one covers, and how many come out of it.
fn shows(inner: &[Vec3], triangles: &[[u32; 3]], outer: &TriangleTree) -> (usize, usize) {
    let (mut covered, mut shows) = (0, 0);
    for t in triangles {
        let [a, b, c] = t.map(|v| inner[v as usize]);
        let (middle, normal) = ((a + b + c) / 3.0, (b - a).cross(c - a).normalize_or_zero());
        let within =
            |way: Vec3, most: f32| outer.first_hit(middle, way).is_some_and(|hit| hit.distance_m < most);
        let (before, behind) = (within(normal, BEFORE_M), within(-normal, BEHIND_M));
        covered += usize::from(before || behind);
        shows += usize::from(behind && !before);
    }
    (covered, shows)
}

/// Pushes learned garments out of those worn under them, which were named before; `rest` is how each hangs. Says what
/// showed through.
pub fn keep_order(clothes: &mut [Worn], rest: &[(Vec<Vec3>, Vec<[u32; 3]>)]) -> ShowThrough {
    let mut said = ShowThrough::default();
    for outer in 1..rest.len().min(clothes.len()) {
        let (under, over) = clothes.split_at_mut(outer);
        let Some(frames) = &mut over[0].learned else { continue };
        for (inner, (places, triangles)) in under.iter().zip(rest) {
            let Some(under) = &inner.learned else { continue };
            let mut kept = WornOver::new(places, triangles, &rest[outer].0, BETWEEN_M);
            let mut tree = TriangleTree::new(&rest[outer].0, &rest[outer].1);
            for (inner, outer) in under.iter().zip(frames.iter_mut()) {
                tree.refit(outer);
                let (covered, before) = shows(inner, triangles, &tree);
                kept.keep(inner, outer);
                tree.refit(outer);
                said.covered += covered;
                said.before += before;
                said.after += shows(inner, triangles, &tree).1;
            }
        }
    }
    said
}

/// Frames in which orders of garments are tried.
const TRIED: usize = 6;
/// So many garments have few enough orders to try all of them.
const MOST_TRIED: usize = 5;
/// An order is worth mentioning where this share of what is covered shows through as garments were named, and less than half of that in it.
const WRONG: f64 = 0.1;

/// An order of learned garments in which far less of the inner ones shows through than in the one they were named in, with the
/// percentage that does, before anything is pushed out.
pub fn better_order(clothes: &[Worn], rest: &[(Vec<Vec3>, Vec<[u32; 3]>)]) -> Option<(Vec<usize>, f64)> {
    let learned: Vec<&Vec<Vec<Vec3>>> = clothes.iter().filter_map(|w| w.learned.as_ref()).collect();
    let n = learned.len();
    if n != rest.len() || !(2..=MOST_TRIED).contains(&n) {
        return None;
    }
    // Of every pair, either way round: what is covered and what shows.
    let mut pairs = vec![(0usize, 0usize); n * n];
    for outer in 0..n {
        let mut tree = TriangleTree::new(&rest[outer].0, &rest[outer].1);
        let frames = learned[outer].len();
        for f in (0..frames).step_by(frames.div_ceil(TRIED).max(1)) {
            tree.refit(&learned[outer][f]);
            for inner in (0..n).filter(|inner| *inner != outer) {
                let (covered, shown) = shows(&learned[inner][f], &rest[inner].1, &tree);
                pairs[inner * n + outer].0 += covered;
                pairs[inner * n + outer].1 += shown;
            }
        }
    }
    let share = |order: &[usize]| {
        let (mut covered, mut shown) = (0, 0);
        for (k, inner) in order.iter().enumerate() {
            for outer in &order[k + 1..] {
                covered += pairs[inner * n + outer].0;
                shown += pairs[inner * n + outer].1;
            }
        }
        shown as f64 / covered.max(1) as f64
    };
    let named: Vec<usize> = (0..n).collect();
    let as_named = share(&named);
    let mut orders = vec![Vec::new()];
    for k in 0..n {
        let at =
            |order: Vec<usize>| (0..=order.len()).map(move |p| [&order[..p], &[k], &order[p..]].concat());
        orders = orders.into_iter().flat_map(at).collect();
    }
    let best = orders.into_iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let found = share(&best);
    (as_named > WRONG && found < 0.5 * as_named).then_some((best, 100.0 * found))
}

/// Draws a dense mesh that the garment carries instead of the garment.
pub fn drive(worn: &mut Worn, garment: &Garment, name: &str, dense: &Garment) -> Result<()> {
    let on = embed(&garment.sim, &dense.sim).with_context(|| format!("{name} on `{}`", garment.name))?;
    let mut driven = Driven::new(Arc::new(on));
    let mut carry = |frames: &mut Vec<Vec<Vec3>>| -> Result<()> {
        for frame in frames {
            let mut placed = vec![Vec3::ZERO; driven.vertices()];
            driven.place(frame, &mut placed)?;
            *frame = placed;
        }
        Ok(())
    };
    worn.skinned.as_mut().map_or(Ok(()), &mut carry)?;
    if let Some(layered) = &mut worn.layered {
        carry(&mut layered.frames)?;
        layered.mesh = None;
        let near = |v: &toile_run::Link| garment.sim.triangles[v.triangle as usize][0] as usize;
        layered.colours = driven.embedding().links.iter().map(|l| layered.colours[near(l)]).collect();
    }
    worn.cloth.mesh = MeshHandle::new(&dense.sim.triangles);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garments_named_in_a_wrong_order_are_told_apart() {
        let square = |y: f32| vec![Vec3::new(-1.0, y, -1.0), Vec3::new(0.0, y, 1.0), Vec3::new(1.0, y, -1.0)];
        let up = vec![[0u32, 1, 2]];
        let worn = |y: f32| Worn {
            cloth: crate::picture::Cloth {
                mesh: MeshHandle::new(&up),
                material: toile_show::Material::fabric("cotton"),
            },
            simulated: None,
            learned: Some(vec![square(y); 3]),
            skinned: None,
            layered: None,
        };
        let order = |heights: [f32; 3]| {
            let rest: Vec<_> = heights.iter().map(|y| (square(*y), up.clone())).collect();
            better_order(&heights.map(worn), &rest).map(|(order, _)| order)
        };
        assert_eq!(order([0.0, 0.01, 0.02]), None, "as they should be");
        assert_eq!(order([0.02, 0.01, 0.0]), Some(vec![2, 1, 0]));
        assert_eq!(order([0.01, 0.0, 0.02]), Some(vec![1, 0, 2]));
    }

    #[test]
    fn cloth_shows_through_what_lies_behind_it() {
        let square = |y: f32| [Vec3::new(-1.0, y, -1.0), Vec3::new(0.0, y, 1.0), Vec3::new(1.0, y, -1.0)];
        let up = [[0, 1, 2]];
        let under = |y: f32| shows(&square(0.0), &up, &TriangleTree::new(&square(y), &up));
        assert_eq!(under(0.01), (1, 0), "covered");
        assert_eq!(under(-0.01), (1, 1), "shows through");
        assert_eq!(under(-0.05), (0, 0), "has nothing to do with it");
    }
}
