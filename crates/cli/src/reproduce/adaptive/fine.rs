//! Times at full size from takes of a coarser cut.
//!
//! A full simulation of tens of thousands of vertices takes hours a clip. What a step costs can be measured without: frames of
//! a coarser cut are carried onto the fine one, a database is learned from them, and both simulations are stepped from there.

use super::play::{Run, Stage, Start};
use crate::adaptive::{CUBATURE, bones_of, learn_cubature};
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use toile_assets::{Body, Fabric, Garment, Take};
use toile_geometry::TriangleTree;
use toile_learn::{AdaptiveSettings, train_adaptive};
use toile_model::adaptive::Database;
use toile_simulate::{Assembly, SubspaceSettings};

/// What a fine garment costs.
pub struct Fine {
    pub name: String,
    pub vertices: usize,
    pub vectors: usize,
    pub bytes: u64,
    pub load_ms: f64,
    pub full_ms: [f64; 2],
    /// Finding contacts once, of bodies and of cloth with itself.
    pub full_contact_ms: f64,
    pub plain: Run,
    pub kept: Run,
    pub sampled: Run,
    /// Triangles of the cubature, and all.
    pub triangles: [usize; 2],
}

/// Frames of a clip that are played.
const FRAMES: usize = 24;

/// Carries takes over and measures.
pub fn measure(
    body: &Body,
    coarse: &Garment,
    fine: &Garment,
    fabric: &Fabric,
    takes: &[Take],
    out: &Path,
) -> Result<Fine> {
    let takes: Vec<Take> = takes.iter().map(|t| carried(coarse, fine, t)).collect();
    // No more vectors than theirs.
    let sites = (18.0 / 7.0 * takes.len() as f64).round() as usize;
    let settings = AdaptiveSettings::default()
        .with(|s| (s.sites, s.vectors, s.least_significance) = (sites, 212 / sites.max(1), 0.0));
    let mut training = train_adaptive(body, &takes, &settings, &|_| ()).map_err(crate::train::bad_takes)?;
    let clips: Vec<_> = takes.iter().map(|t| bones_of(t).into_iter().step_by(2).collect()).collect();
    eprintln!("learning cubature of {}", fine.name);
    let fit = learn_cubature(body, fine, fabric, &mut training.database, &clips, CUBATURE)?;
    let file = out.join("fine.toile");
    training.database.write(&file)?;
    let begun = toile_lab::cpu_ms();
    let database = Arc::new(Database::read(&file)?);
    let load_ms = toile_lab::cpu_ms() - begun;
    let stage = Stage { body, garment: fine, fabric };
    let mut take = takes[0].clone();
    take.roots.truncate(FRAMES);
    let play = |settings| stage.play(&database, &take, settings, Start::Simulated);
    let with = |assembly| play(SubspaceSettings::default().with(|s| s.assembly = assembly));
    // The full simulation does not say what its contacts cost; this is one search for all of them, bodies and cloth.
    let searching = play(SubspaceSettings::default().with(|s| {
        (s.self_contact_every, s.body_contact_every) = (1, 1);
    }))?;
    Ok(Fine {
        name: fine.name.clone(),
        vertices: fine.sim.positions.len(),
        vectors: database.vector_count(),
        bytes: std::fs::metadata(&file).map_or(0, |m| m.len()),
        load_ms,
        sampled: with(Assembly::Sampled)?,
        kept: with(Assembly::Kept)?,
        plain: with(Assembly::Plain)?,
        full_ms: [stage.full_standing_ms(1.0 / 240.0)?, stage.full_standing_ms(1.0 / 30.0)?],
        full_contact_ms: searching.contact_ms,
        triangles: [fit.cubature.triangles.len(), fine.sim.triangles.len()],
    })
}

/// A take of the coarse cut on the fine one: every vertex goes with the point of the coarse garment that it is nearest to as
/// both are put on.
fn carried(coarse: &Garment, fine: &Garment, take: &Take) -> Take {
    let tree = TriangleTree::new(&coarse.sim.positions, &coarse.sim.triangles);
    let near: Vec<_> = fine.sim.positions.iter().filter_map(|p| tree.closest(*p)).collect();
    let carry = |frame: &[glam::Vec3]| -> Vec<glam::Vec3> {
        let place = |c: &toile_geometry::ClosestPoint| {
            let corners = coarse.sim.triangles[c.triangle as usize];
            (0..3).map(|k| frame[corners[k] as usize] * c.barycentric[k]).sum()
        };
        near.iter().map(place).collect()
    };
    Take {
        triangles: fine.sim.triangles.clone(),
        positions: (0..take.len()).flat_map(|f| carry(take.frame(f))).collect(),
        vertices: fine.sim.positions.len(),
        draped: carry(&take.draped),
        provenance: None,
        notes: Vec::new(),
        ..take.clone()
    }
}
