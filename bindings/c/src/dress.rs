//! One garment with every tier, from the files of a character and its clothes. This brings the simulation along: it is in
//! libraries built with the feature `simulate`.

use crate::ladder::Ladder;
use crate::model::Model;
use crate::status::{Failure, Status, border, null, run_error};
use glam::Vec3;
use std::ffi::{CStr, c_char};
use std::path::Path;
use std::sync::Arc;
use toile_assets::layers::{LayerSettings, layers};
use toile_assets::read::garment::{RestChoice, read_garment_for};
use toile_assets::{Body, Fabric, Garment, Role, builtin};
use toile_model::adaptive::Database;
use toile_run::{
    Adaptive, Full, HandOverSettings, Layered, LayeredSettings, Leashed, Skinned, Stable, Tier, balance,
};
use toile_simulate::{Recorder, Settings, Subspace, SubspaceSettings, World};

/// Numbers of the tiers of toile_ladder_dress.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierKind {
    /// Follows the bones.
    Skin = 0,
    /// In layers, with nothing trained.
    Layered = 1,
    /// Learned.
    Stable = 2,
    /// Simulated along the directions of a database.
    Adaptive = 3,
    /// Simulated.
    Full = 4,
}

/// # Safety
/// `text` is null or a string that ends in a zero.
unsafe fn string<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| (Status::Model, format!("`{what}` is not UTF-8")))
}

fn bad(error: impl std::fmt::Display) -> Failure {
    (Status::Model, error.to_string())
}

/// What is dressed.
struct Dressing {
    body: Body,
    garment: Garment,
    fabric: Fabric,
    draped: World,
    rest: Vec<Vec3>,
}

impl Dressing {
    fn new(body: &str, garment: &str) -> Result<Self, Failure> {
        let is_file = |name: &str| Path::new(name).exists();
        let body = match is_file(body) {
            true => toile_assets::read::gltf::read_body(Path::new(body), None).map_err(bad)?.value,
            false => builtin::body(body).map_err(bad)?,
        };
        let garment = match is_file(garment) {
            true => {
                let path = Path::new(garment);
                read_garment_for(path, RestChoice::Auto, None, Some(&body)).map_err(bad)?.value
            }
            false => builtin::garment(garment, &body).map_err(bad)?,
        };
        let fabric = builtin::fabric(&garment.fabric).map_err(bad)?;
        let draped = Recorder::new(&body, &garment).drape(&fabric).map_err(bad)?;
        let rest = draped.state.x.iter().map(|p| p.as_vec3()).collect();
        Ok(Self { body, garment, fabric, draped, rest })
    }

    fn adaptive(&self, path: &str) -> Result<Adaptive, Failure> {
        let database = Database::read(Path::new(path)).map_err(bad)?;
        let (own, vertices) = (database.vertices(), self.garment.sim.positions.len());
        if own != vertices || database.joints != self.body.skeleton.len() {
            let what = format!("{path}: a database of {own} vertices and {} joints", database.joints);
            let (garment, joints) = (&self.garment.name, self.body.skeleton.len());
            return Err((
                Status::Count,
                format!("{what} for garment `{garment}` of {vertices} on {joints} joints"),
            ));
        }
        let mut world =
            World::with_body(&self.body, &self.garment, &self.fabric, Settings::worn()).map_err(bad)?;
        for (x, rest) in world.state.x.iter_mut().zip(&database.attachment.rest) {
            *x = rest.as_dvec3();
        }
        world.state.halt();
        let subspace = Subspace::new(world, Arc::new(database), SubspaceSettings::default()).map_err(bad)?;
        Ok(Adaptive::new(subspace))
    }

    /// All tiers there are, each within what is painted.
    fn tiers(
        &self,
        model: Option<&Arc<toile_model::Model>>,
        database: Option<&str>,
    ) -> Result<Vec<(&'static str, Option<Box<dyn Tier + Send>>)>, Failure> {
        let settings = LayerSettings::default();
        let mut made = layers(&self.body, &self.garment, &self.rest, &self.fabric, &settings).map_err(bad)?;
        balance(&mut made, &LayeredSettings::default());
        let mesh = toile_assets::Mesh { positions: self.rest.clone(), ..self.garment.sim.clone() };
        let attachment = toile_assets::attach(&self.body, &mesh, &Default::default()).map_err(bad)?;
        if let Some(model) = model.filter(|m| m.vertices != self.rest.len()) {
            let (own, garment) = (model.vertices, &self.garment.name);
            let what = format!("a model of {own} vertices for garment `{garment}` of {}", self.rest.len());
            return Err((Status::Count, what));
        }
        let stable = model.map(|m| Box::new(Stable::new(m.clone())) as Box<dyn Tier + Send>);
        let adaptive = match database {
            Some(path) => Some(Box::new(self.adaptive(path)?) as Box<dyn Tier + Send>),
            None => None,
        };
        let limits = self.garment.limits(&self.rest);
        let layered = Layered::new(Arc::new(made), LayeredSettings::default());
        let all: [(&'static str, Option<Box<dyn Tier + Send>>); 5] = [
            ("skin", Some(Box::new(Skinned::new(attachment.clone())))),
            ("layered", Some(Box::new(layered))),
            ("stable", stable),
            ("adaptive", adaptive),
            ("full", Some(Box::new(Full::new(self.draped.clone())))),
        ];
        let leashed = |tier: Box<dyn Tier + Send>| -> Box<dyn Tier + Send> {
            match limits.is_empty() {
                true => tier,
                false => Box::new(Leashed::new(tier, limits.clone(), attachment.clone())),
            }
        };
        Ok(all.into_iter().map(|(name, tier)| (name, tier.map(leashed))).collect())
    }
}

/// Dresses a character: a garment with all tiers of ToileTierKind, which begins with skin. `body` and `garment` are files or
/// built-in names (`mannequin:female`, `dress`); `model` and the file `database` may be null, and their tiers are refused then.
/// Drapes the garment, which takes seconds. Step and hand over as with any ladder; what is painted on the garment is kept in
/// every tier. `vertices`, where it is not null, takes how many there are. Free it with toile_ladder_free.
///
/// # Safety
/// `body`, `garment` and `database` are strings that end in a zero, the last may be null; `model` was returned by this library and
/// has not been freed, or is null; `vertices` points to one number or is null; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_ladder_dress(
    body: *const c_char,
    garment: *const c_char,
    model: *const Model,
    database: *const c_char,
    vertices: *mut u32,
    out: *mut *mut Ladder,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let (body, garment, database) =
            unsafe { (string(body, "body")?, string(garment, "garment")?, string(database, "database")?) };
        let (Some(body), Some(garment)) = (body, garment) else { return Err(null("body or garment")) };
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: the caller promises a model or null.
        let model = unsafe { model.as_ref() }.map(|m| &m.inner);
        let dressing = Dressing::new(body, garment)?;
        let hips = dressing.body.humanoid().joint(Role::Hips).unwrap_or(0);
        let mut inner = toile_run::Ladder::new(HandOverSettings { hips, ..HandOverSettings::default() });
        let mut numbers = [None; 5];
        for (kind, (name, tier)) in dressing.tiers(model, database)?.into_iter().enumerate() {
            if let Some(tier) = tier {
                numbers[kind] = Some(inner.add(name, tier).map_err(run_error)?);
            }
        }
        let ladder = Ladder::new(inner, dressing.body.skeleton.len(), dressing.rest.len(), &numbers);
        // SAFETY: the caller promises room for a number and a pointer.
        unsafe {
            if !vertices.is_null() {
                vertices.write_unaligned(dressing.rest.len() as u32);
            }
            out.write(Box::into_raw(Box::new(ladder)));
        }
        Ok(())
    })
}
