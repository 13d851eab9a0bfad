//! Layer 3: particles and springs of the cloth that hangs free.

use super::limbs::limbs;
use super::segmentation::outer_side;
use super::segments::Anatomy;
use crate::{Error, Fabric, Garment, Mesh, Result, Topology};
use glam::Vec3;
use std::collections::HashMap;
use toile_model::layers::{Floating, Layer, Spring};

/// Stiffness of an edge, N/m. Beyond about m/h² (11 N/m for a vertex of a dress in parts of 1/240 s) a sweep over the
/// springs moves their ends all the way; more would only shake them.
const STIFFNESS: f32 = 40.0;
/// Of springs across edges, against the edges'.
const BENDING: f32 = 0.3;

/// The floating part of a garment that hangs at `rest`; `None` where nothing floats.
pub(super) fn floating(
    anatomy: &Anatomy<'_>,
    garment: &Garment,
    rest: &Mesh,
    topology: &Topology,
    layers: &[Layer],
    fabric: &Fabric,
) -> Result<Option<Floating>> {
    let is_free = |v: u32| layers[v as usize] == Layer::Floating;
    if !layers.contains(&Layer::Floating) {
        return Ok(None);
    }
    check_held(garment, topology, layers)?;
    let free = order(topology, layers);
    let mut local: HashMap<u32, u32> = free.iter().enumerate().map(|(i, v)| (*v, i as u32)).collect();
    let mut held = Vec::new();
    let mut index = |v: u32| {
        *local.entry(v).or_insert_with(|| {
            held.push(v);
            (free.len() + held.len() - 1) as u32
        })
    };
    let (mut edges, mut bends) = (Vec::new(), Vec::new());
    for edge in &topology.edges {
        let [a, b] = edge.ends;
        if is_free(a) || is_free(b) {
            let length_m = rest.positions[a as usize].distance(rest.positions[b as usize]);
            edges.push(Spring { ends: [index(a), index(b)], length_m, stiffness: STIFFNESS });
        }
        if let [Some(c), Some(d)] = edge.opposite
            && (is_free(c) || is_free(d))
        {
            let length_m = rest.positions[c as usize].distance(rest.positions[d as usize]);
            bends.push(Spring { ends: [index(c), index(d)], length_m, stiffness: BENDING * STIFFNESS });
        }
    }
    let level = |s: &Spring| s.ends[0].min(s.ends[1]);
    edges.sort_by_key(level);
    bends.sort_by_key(level);
    let mut mass = vec![0.0; free.len()];
    for (t, corners) in garment.sim.triangles.iter().enumerate() {
        let share = garment.rest_area(t) * fabric.density as f32 / 3.0;
        for v in corners.iter().filter(|v| is_free(**v)) {
            mass[local[v] as usize] += share;
        }
    }
    let least = 1e-3 * mass.iter().sum::<f32>() / mass.len() as f32;
    mass.iter_mut().for_each(|m| *m = m.max(least.max(1e-9)));
    let outer = outer_side(anatomy, rest);
    let outward: Vec<Vec3> = free.iter().map(|v| outer[*v as usize]).collect();
    let places: Vec<Vec3> = free.iter().map(|v| rest.positions[*v as usize]).collect();
    let limbs = limbs(anatomy, &places, &outward);
    let eased = vec![Vec3::ZERO; free.len()];
    Ok(Some(Floating { free, held, mass, edges, bends, eased, outward, limbs }))
}

/// Every floating piece must hang from something.
fn check_held(garment: &Garment, topology: &Topology, layers: &[Layer]) -> Result<()> {
    let (label, count) = garment.sim.components();
    let mut any = vec![false; count];
    let mut used = vec![false; layers.len()];
    topology.edges.iter().flat_map(|e| e.ends).for_each(|v| used[v as usize] = true);
    for (v, l) in label.iter().enumerate() {
        any[*l as usize] |= layers[v] != Layer::Floating || !used[v];
    }
    let loose = label.iter().filter(|l| !any[**l as usize]).count();
    if loose == 0 {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "garment `{}` cannot be put into layers: {loose} of its {} vertices float and nothing holds them; let part of it \
         lie on the body, pin a set of its vertices, or paint some as `loose` or `stretch`",
        garment.name,
        layers.len()
    )))
}

/// Free vertices level by level from where they are held: springs are taken in their order, so that a pull passes down
/// the cloth within one sweep.
fn order(topology: &Topology, layers: &[Layer]) -> Vec<u32> {
    let floats = |v: u32| layers[v as usize] == Layer::Floating;
    let beside_held = |v: &u32| topology.neighbours[*v as usize].iter().any(|n| !floats(*n));
    let mut order: Vec<u32> = (0..layers.len() as u32).filter(|v| floats(*v) && beside_held(v)).collect();
    let mut seen = vec![false; layers.len()];
    order.iter().for_each(|v| seen[*v as usize] = true);
    let mut at = 0;
    while at < order.len() {
        for &n in &topology.neighbours[order[at] as usize] {
            if floats(n) && !seen[n as usize] {
                seen[n as usize] = true;
                order.push(n);
            }
        }
        at += 1;
    }
    order
}
