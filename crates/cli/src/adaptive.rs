//! Databases for the tier adaptive: training them, reading them for a garment, and the tier itself.

use crate::progress;
use crate::resolve::BadRequest;
use crate::train::bad_takes;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use toile_assets::{Body, Fabric, Garment, Lineage};
use toile_learn::{AdaptiveSettings, AdaptiveTraining, LeftOut, TakeFiles, train_adaptive};
use toile_model::adaptive::Database;
use toile_run::Adaptive;
use toile_simulate::{Settings, Subspace, SubspaceSettings, World};

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
}

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
    let training = train_adaptive(body, takes, &args.settings(), &watch).map_err(bad_takes)?;
    bar.finish_and_clear();
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
    Ok(())
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
            "{place}: the database has {} vertices, garment `{}` has {}; name its garment with --garment",
            database.vertices(),
            garment.name,
            garment.sim.positions.len()
        ));
    } else if database.triangles != garment.sim.triangles {
        faults.push(format!("{place}: garment `{}` has other triangles than the database", garment.name));
    }
    if faults.is_empty() { Ok(Arc::new(database)) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// The tier adaptive without what it needs.
pub fn no_database() -> BadRequest {
    BadRequest("the tier adaptive needs --model FILE.toile (see `toile train --kind adaptive`)".into())
}

/// The tier, put on with its first step.
pub fn tier(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    database: &Arc<Database>,
    settings: SubspaceSettings,
) -> Result<Adaptive> {
    let mut world = World::with_body(body, garment, fabric, Settings::worn())
        .with_context(|| format!("garment `{}`", garment.name))?;
    // Where training draped it: which limb a vertex lies on is decided there.
    for (x, rest) in world.state.x.iter_mut().zip(&database.attachment.rest) {
        *x = rest.as_dvec3();
    }
    world.state.halt();
    Ok(Adaptive::new(Subspace::new(world, database.clone(), settings)?))
}
