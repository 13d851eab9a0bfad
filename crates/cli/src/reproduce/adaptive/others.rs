//! Trousers, and a database whose garment is cut from another fabric at run time (§7).

use super::play::{Run, Stage, Start, compare};
use crate::adaptive::{CUBATURE, bones_of, learn_cubature};
use crate::reproduce::Wardrobe;
use crate::resolve;
use anyhow::{Context, Result};
use glam::Vec3;
use std::sync::Arc;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Fabric, Garment, Take};
use toile_learn::{AdaptiveSettings, train_adaptive};
use toile_model::adaptive::Database;
use toile_simulate::SubspaceSettings;

/// Trousers on one clip.
pub struct Trousers {
    pub garment: Garment,
    pub take: Take,
    pub run: Run,
    pub skin: Run,
}

/// Learns from legs-bend and plays it.
pub fn trousers(dressed: &Wardrobe<'_>, name: &str) -> Result<Trousers> {
    let body = dressed.body;
    let garment = resolve::garment(name, body, RestChoice::Auto, None)?;
    let fabric = resolve::fabric(&garment.fabric)?;
    let motions = dressed.motions(&["legs-bend".into()])?;
    let takes = dressed.recorded(body, &garment, &fabric, &motions, "train", 0.0)?;
    let settings = AdaptiveSettings::default();
    let training = train_adaptive(body, &takes, &settings, &|_| ()).map_err(crate::train::bad_takes)?;
    let mut database = training.database;
    let clips: Vec<_> = takes.iter().map(bones_of).collect();
    learn_cubature(body, &garment, &fabric, &mut database, &clips, CUBATURE)?;
    let database = Arc::new(database);
    let take = takes.into_iter().next().context("no take of legs-bend")?;
    let stage = Stage { body, garment: &garment, fabric: &fabric };
    let run = stage.play(&database, &take, SubspaceSettings::default(), Start::Own)?;
    let skin = skinned(&database, &take).0;
    Ok(Trousers { garment, take, run, skin })
}

/// The garment where its bones carry it, and how far that is from the simulation.
pub fn skinned(database: &Database, take: &Take) -> (Run, Vec<Vec<Vec3>>) {
    let frames: Vec<_> = (0..take.len()).map(|f| database.attachment.posed(take.frame_bones(f))).collect();
    let mut run = Run::default();
    compare(&mut run, &frames, take, &database.attachment.rest);
    (run, frames)
}

/// Cloth of another fabric in the subspace of this one.
pub struct OtherFabric {
    pub fabric: String,
    pub clip: String,
    /// With the other fabric's values in the subspace, against a simulation of that fabric.
    pub told: Run,
    /// With the values that the database was learned with, against the same simulation.
    pub untold: Run,
    pub skin: Run,
}

/// Plays a clip in another fabric.
pub fn fabric(
    dressed: &Wardrobe<'_>,
    garment: &Garment,
    own: &Fabric,
    other: &str,
    clip: &str,
    database: &Arc<Database>,
) -> Result<OtherFabric> {
    let fabric = resolve::fabric(other)?;
    let motions = dressed.motions(&[clip.to_string()])?;
    let takes = dressed.recorded(dressed.body, garment, &fabric, &motions, "fabric", 0.0)?;
    let take = takes.first().context("no take in the other fabric")?;
    let play = |fabric: &Fabric| {
        let stage = Stage { body: dressed.body, garment, fabric };
        stage.play_or_break(database, take, SubspaceSettings::default(), Start::Own)
    };
    Ok(OtherFabric {
        fabric: fabric.name.clone(),
        clip: take.clip.clone(),
        told: play(&fabric),
        untold: play(own),
        skin: skinned(database, take).0,
    })
}
