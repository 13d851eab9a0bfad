//! Databases for the tier adaptive: training them, reading them for a garment, and the tier itself.

use crate::progress;
use crate::resolve::{self, BadRequest};
use crate::tiers;
use crate::train::bad_takes;
use anyhow::{Context, Result};
use clap::Args;
use glam::Affine3A;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Body, Fabric, Garment, Lineage, Take};
use toile_learn::{AdaptiveSettings, AdaptiveTraining, LeftOut, TakeFiles, TakeSource, train_adaptive};
use toile_model::adaptive::Database;
use toile_run::Adaptive;
use toile_simulate::{Assembly, CubatureFit, CubatureSettings, Settings, Subspace, SubspaceSettings, World};

/// What a database may be told.
#[derive(Args)]
#[command(next_help_heading = "With --kind adaptive")]
pub struct TrainArgs {
    /// Places in the space of poses with a basis of their own; two or three a clip when not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    sites: Option<u16>,
    /// Basis vectors a site, at most
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1000))]
    site_vectors: u16,
    /// A site's basis ends where a singular value is less than this share of its largest
    #[arg(long, default_value_t = 0.01, value_parser = share)]
    significance: f64,
    /// Seed of the first places of the sites
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep basis vectors in single precision: twice the bytes
    #[arg(long)]
    single: bool,
    /// Triangles that stand for all of them when stiffness is summed up, at most; 0 for all triangles
    #[arg(long, default_value_t = CUBATURE)]
    cubature: usize,
    /// The garment of the takes, whose cut cubature needs; the built-in one that they name when not given
    #[arg(long)]
    garment: Option<String>,
    /// Its fabric; the one that the takes name when not given
    #[arg(long)]
    fabric: Option<String>,
}

/// Triangles of cubature unless told.
pub const CUBATURE: usize = 600;

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("wants a number from 0 to 1".into()),
    }
}

impl TrainArgs {
    fn settings(&self) -> AdaptiveSettings {
        AdaptiveSettings::default().with(|s| {
            s.sites = self.sites.map_or(0, usize::from);
            s.vectors = self.site_vectors.into();
            s.least_significance = self.significance;
            s.seed = self.seed;
            s.half = !self.single;
        })
    }
}

/// Trains a database and says how it came about.
pub fn train(
    body: &Body,
    takes: &TakeFiles,
    args: &TrainArgs,
    out: &Path,
    left_out: &[LeftOut],
    as_json: bool,
) -> Result<()> {
    let bar = progress::bar(100, "learning");
    let watch = |done: f64| bar.set_position((100.0 * done) as u64);
    let mut training = train_adaptive(body, takes, &args.settings(), &watch).map_err(bad_takes)?;
    bar.finish_and_clear();
    let sampled = sample(body, takes, args, &mut training)?;
    training.database.write(out)?;
    for remark in &training.remarks {
        eprintln!("{remark}");
    }
    let bytes = std::fs::metadata(out).map_or(0, |m| m.len());
    let AdaptiveTraining { database: d, frames, clamped, displacement_m, left_m, .. } = &training;
    if as_json {
        let left_out: Vec<_> = left_out.iter().map(|l| json!({"file": l.path, "faults": l.faults})).collect();
        let value = json!({
            "out": out, "kind": "adaptive", "frames": frames, "sites": d.sites.len(), "vectors": d.vector_count(),
            "pose_dims": d.pose_dims(), "search_radius": d.search_radius(), "clamped": clamped,
            "displacement_cm": 100.0 * displacement_m, "left_cm": 100.0 * left_m, "bytes": bytes,
            "cubature": sampled.as_ref().map(|s| json!({
                "triangles": s.cubature.triangles.len(), "fitted": s.fitted, "held_out": s.held_out, "frames": s.frames,
            })),
            "left_out": left_out, "remarks": training.remarks,
        });
        println!("{value}");
        return Ok(());
    }
    println!(
        "{}: {frames} frames, {} sites with {} vectors in {} pose dims, {:.1} MB\n  displacements {:.2} cm, what the bases \
         leave of them {:.2} cm (root mean square); {clamped} vertices too flat to be taken back whole",
        out.display(),
        d.sites.len(),
        d.vector_count(),
        d.pose_dims(),
        bytes as f64 / 1e6,
        100.0 * displacement_m,
        100.0 * left_m,
    );
    if let Some(CubatureFit { cubature, fitted, held_out, frames, .. }) = &sampled {
        println!(
            "  {} of {} triangles stand for all: {:.1} % of elastic forces is left, {:.1} % in frames held out ({frames} frames)",
            cubature.triangles.len(),
            d.triangles.len(),
            100.0 * fitted,
            100.0 * held_out,
        );
    }
    Ok(())
}

const NO_CUBATURE: &str =
    "without cubature every triangle is summed up, which is slower: name the takes' garment with --garment";

/// Learns the cubature of a database where the garment of its takes is known.
fn sample(
    body: &Body,
    takes: &TakeFiles,
    args: &TrainArgs,
    training: &mut AdaptiveTraining,
) -> Result<Option<CubatureFit>> {
    if args.cubature == 0 {
        return Ok(None);
    }
    let first = takes.take(0).map_err(bad_takes)?;
    let note = |key: &str| first.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    let named = args.garment.clone().or_else(|| note("garment"));
    let garment = named.map(|name| resolve::garment(&name, body, RestChoice::Auto, None));
    let garment = match (garment, &args.garment) {
        (Some(Ok(garment)), _) => garment,
        (Some(Err(e)), Some(_)) => return Err(e),
        _ => {
            training.remarks.push(NO_CUBATURE.into());
            return Ok(None);
        }
    };
    let fabric = args.fabric.clone().or_else(|| note("fabric")).unwrap_or(garment.fabric.clone());
    let fabric = resolve::fabric(&fabric)?;
    let mut faults = Vec::new();
    let other_garment = garment.sim.triangles != first.triangles
        || first.provenance.is_some_and(|p| p.garment != garment.fingerprint());
    if other_garment && args.garment.is_none() {
        training.remarks.push(NO_CUBATURE.into());
        return Ok(None);
    }
    if other_garment {
        faults.push(format!(
            "garment `{}` is not the one of the takes; name theirs with --garment",
            garment.name
        ));
    }
    if first.provenance.is_some_and(|p| p.fabric != fabric.fingerprint()) {
        faults
            .push(format!("fabric `{}` is not the one of the takes; name theirs with --fabric", fabric.name));
    }
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    let mut clips = Vec::new();
    for t in 0..takes.count() {
        clips.push(bones_of(&*takes.take(t).map_err(bad_takes)?));
    }
    Ok(Some(learn_cubature(body, &garment, &fabric, &mut training.database, &clips, args.cubature)?))
}

/// The bones of a take, frame by frame.
pub fn bones_of(take: &Take) -> Vec<Vec<Affine3A>> {
    (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect()
}

/// Plays clips with all triangles and learns which stand for them.
pub fn learn_cubature(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    database: &mut Database,
    clips: &[Vec<Vec<Affine3A>>],
    triangles: usize,
) -> Result<CubatureFit> {
    let settings = CubatureSettings::default().with(|s| s.triangles = triangles);
    learn_cubature_with(body, garment, fabric, database, clips, &settings)
}

/// The same, told how.
pub fn learn_cubature_with(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    database: &mut Database,
    clips: &[Vec<Vec<Affine3A>>],
    settings: &CubatureSettings,
) -> Result<CubatureFit> {
    let kept = SubspaceSettings::default().with(|s| s.assembly = Assembly::Kept);
    let mut subspace = subspace(body, garment, fabric, &Arc::new(database.clone()), kept)?;
    let fit = subspace.learn_cubature(clips, settings)?;
    database.cubature = Some(fit.cubature.clone());
    Ok(fit)
}

/// Whether a file is a database; files that cannot be read are not.
pub fn is_database(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| Database::is_one(&bytes))
}

/// A database of this garment on this body; all that does not fit is named.
pub fn database_for(path: &Path, body: &Body, garment: &Garment) -> Result<Arc<Database>> {
    let database = Database::read(path)?;
    let mut faults = Vec::new();
    let place = path.display();
    if database.joints != body.skeleton.len() {
        faults.push(format!(
            "{place}: the database's body has {} joints, `{}` has {}; name its body with --body",
            database.joints,
            body.name,
            body.skeleton.len()
        ));
    }
    let lineage = Lineage::from_notes(&database.notes);
    if database.joints == body.skeleton.len()
        && lineage.as_ref().is_some_and(|l| l.body != body.fingerprint())
    {
        faults.push(format!(
            "{place}: the database was learned on another body than `{}`; name its own with --body",
            body.name
        ));
    }
    if database.vertices() != garment.sim.positions.len() {
        faults.push(format!(
            "{place}: the database{} has {} vertices, garment `{}` has {}; {}",
            tiers::made_for(&database.notes),
            database.vertices(),
            garment.name,
            garment.sim.positions.len(),
            tiers::own_garment(&database.notes, (database.vertices(), &database.triangles), body)
        ));
    } else if database.triangles != garment.sim.triangles {
        faults.push(format!("{place}: garment `{}` has other triangles than the database", garment.name));
    }
    if faults.is_empty() { Ok(Arc::new(database)) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// The tier adaptive without what it needs.
pub fn no_database() -> BadRequest {
    BadRequest(
        "the tier adaptive needs a database, which `toile train --kind adaptive` makes: --model FILE.toile, or --database FILE.toile \
         beside the --model of the tier stable"
            .into(),
    )
}

/// The tier, put on with its first step.
pub fn tier(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    database: &Arc<Database>,
    settings: SubspaceSettings,
) -> Result<Adaptive> {
    Ok(Adaptive::new(subspace(body, garment, fabric, database, settings)?))
}

/// What the tier simulates.
fn subspace(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    database: &Arc<Database>,
    settings: SubspaceSettings,
) -> Result<Subspace> {
    let mut world = World::with_body(body, garment, fabric, Settings::worn())
        .with_context(|| format!("garment `{}`", garment.name))?;
    // Where training draped it: which limb a vertex lies on is decided there.
    for (x, rest) in world.state.x.iter_mut().zip(&database.attachment.rest) {
        *x = rest.as_dvec3();
    }
    world.state.halt();
    Ok(Subspace::new(world, database.clone(), settings)?)
}
