//! Who and what is on the stage: a body, the clip it moves by, and what is known of its garment.

use super::simulation::Adapt;
use super::way::Way;
use crate::Figure;
use glam::{Affine3A, Vec3};
use std::cell::RefCell;
use std::sync::Arc;
use toile_assets::adaptive::Database;
use toile_assets::layers::{LayerSettings, layers};
use toile_assets::retarget::{RetargetSettings, retarget};
use toile_assets::{
    Attachment, AttachmentSettings, Body, Garment, Layers, Lineage, Mesh, Model, Motion, RootFrame,
    RootTrack, Take, attach, builtin,
};
use toile_run::{LayeredSettings, Tier, balance};

/// Frames per second of clips unless a model or a take has a rate of its own.
const FPS: f64 = 30.0;
/// A clip is cut where its frames would take more memory than this, bytes.
const MOST_BYTES: usize = 512 << 20;

/// What moves, frame by frame.
pub struct Shot {
    /// The clip's name.
    pub name: String,
    /// Bone matrices `world_from_bind` of each frame.
    pub bones: Vec<Vec<Affine3A>>,
    /// Where the wearer stands in each frame.
    pub roots: Vec<RootFrame>,
    /// Frames per second.
    pub fps: f64,
    /// The motion it was made from, on the body's skeleton; none where a take brought its own bones.
    pub motion: Option<Motion>,
}

/// Everything that is shown.
pub struct Cast {
    pub body: Arc<Body>,
    pub figure: Figure,
    /// Motions to choose from, on the skeletons they came with.
    pub clips: Vec<Motion>,
    pub clip: usize,
    pub shot: Shot,
    pub garment: Option<Arc<Garment>>,
    /// The name by which a built-in garment can be cut again for another body.
    pub cut_as: Option<String>,
    pub model: Option<Arc<Model>>,
    /// Of the tier adaptive, and who plays it.
    pub database: Option<Arc<Database>>,
    pub adapt: Option<Adapt>,
    /// The truth of the shot, recorded or simulated here.
    pub take: Option<Arc<Take>>,
    /// Made from all this when first asked for.
    attached: RefCell<Option<Attachment>>,
    layered: RefCell<Option<Arc<Layers>>>,
}

impl Cast {
    /// The scene that needs no file.
    pub fn built_in(body: &str, garment: &str, motion: &str) -> Result<Self, String> {
        let said = |e: toile_assets::Error| e.to_string();
        let body = builtin::body(body).map_err(said)?;
        let worn = builtin::garment(garment, &body).map_err(said)?;
        let clip = builtin::motion(motion, &body.skeleton).map_err(said)?;
        Ok(Self {
            figure: Figure::plain(&body),
            shot: shot(&body, &clip, FPS)?,
            body: Arc::new(body),
            clips: vec![clip],
            clip: 0,
            garment: Some(Arc::new(worn)),
            cut_as: Some(garment.into()),
            model: None,
            database: None,
            adapt: None,
            take: None,
            attached: RefCell::default(),
            layered: RefCell::default(),
        })
    }

    fn forget_made(&self) {
        self.attached.take();
        self.layered.take();
    }

    /// The truth of the present shot.
    pub fn set_truth(&mut self, take: Take) {
        self.forget_made();
        self.take = Some(Arc::new(take));
    }

    /// Puts another body on the stage. What does not fit it is taken away, and that is said.
    pub fn set_body(&mut self, body: Body, figure: Figure, said: &mut Vec<String>) -> Result<(), String> {
        let clip = self.clips.get(self.clip);
        let shot = match clip.map(|clip| shot(&body, clip, FPS)) {
            Some(Ok(shot)) => shot,
            Some(Err(why)) => {
                said.push(format!("the motion does not fit the new body: {why}"));
                standing(&body)?
            }
            None => standing(&body)?,
        };
        if let Some(name) = &self.cut_as {
            match builtin::garment(name, &body) {
                Ok(garment) => self.garment = Some(Arc::new(garment)),
                Err(why) => {
                    said.push(format!("no garment: {why}"));
                    self.garment = None;
                }
            }
        }
        if self.model.as_ref().is_some_and(|m| of_body(m.joints, &m.name, &m.notes, &body).is_some()) {
            said.push("the learned garment was learned on another body and is put away".into());
            self.model = None;
        }
        if self.database.as_ref().is_some_and(|d| of_body(d.joints, &d.name, &d.notes, &body).is_some()) {
            said.push("the database was learned on another body and is put away".into());
            self.database = None;
        }
        if self.take.take().is_some() {
            said.push("the take is of another body and is put away".into());
        }
        (self.body, self.figure, self.shot) = (Arc::new(body), figure, shot);
        self.forget_made();
        Ok(())
    }

    /// Another of the clips.
    pub fn choose_clip(&mut self, clip: usize) -> Result<(), String> {
        let Some(motion) = self.clips.get(clip) else { return Ok(()) };
        let fps = self.model.as_ref().map_or(FPS, |m| m.fps);
        self.shot = shot(&self.body, motion, fps)?;
        (self.clip, self.take) = (clip, None);
        self.forget_made();
        Ok(())
    }

    /// A garment in place of the one that is worn.
    pub fn set_garment(&mut self, garment: Garment, cut_as: Option<String>) {
        (self.garment, self.cut_as) = (Some(Arc::new(garment)), cut_as);
        (self.model, self.database, self.take) = (None, None, None);
        self.forget_made();
    }

    /// A learned garment.
    pub fn set_model(&mut self, model: Model, said: &mut Vec<String>) -> Result<(), String> {
        self.dress_for(model.joints, &model.name, &model.notes, &model.triangles, said)?;
        if self.database.as_ref().is_some_and(|d| d.triangles != model.triangles) {
            self.database = None;
            said.push("the database is of another garment and is put away".into());
        }
        if self.take.as_ref().is_some_and(|t| t.triangles != model.triangles) {
            self.take = None;
            said.push("the take is of another garment and is put away".into());
        }
        let model = Arc::new(model);
        if self.take.is_none()
            && let Some(clip) = self.clips.get(self.clip)
        {
            self.shot = shot(&self.body, clip, model.fps)?;
        }
        self.model = Some(model);
        self.forget_made();
        Ok(())
    }

    /// Puts on the stage who wears what was learned, and the garment, as far as both can be had without a file.
    fn dress_for(
        &mut self,
        joints: usize,
        wearer: &str,
        notes: &[(String, String)],
        triangles: &[[u32; 3]],
        said: &mut Vec<String>,
    ) -> Result<(), String> {
        if of_body(joints, wearer, notes, &self.body).is_some() {
            for name in ["mannequin:female", "mannequin:male"] {
                let body = builtin::body(name).map_err(|e| e.to_string())?;
                if of_body(joints, wearer, notes, &body).is_none() {
                    let figure = Figure::plain(&body);
                    self.set_body(body, figure, said)?;
                    said.push(format!("worn by {name}, on which it was learned"));
                    break;
                }
            }
        }
        if let Some(why) = of_body(joints, wearer, notes, &self.body) {
            return Err(why);
        }
        if self.garment.as_ref().is_none_or(|g| g.sim.triangles != triangles) {
            let named = notes.iter().find(|(k, _)| k == "garment").map(|(_, v)| v.clone());
            let garment = named.as_ref().and_then(|n| builtin::garment(n, &self.body).ok());
            let garment = garment.filter(|g| g.sim.triangles == triangles);
            (self.cut_as, self.garment) =
                (garment.is_some().then_some(named).flatten(), garment.map(Arc::new));
        }
        Ok(())
    }

    /// A database of the tier adaptive.
    pub fn set_database(&mut self, database: Database, said: &mut Vec<String>) -> Result<(), String> {
        self.dress_for(database.joints, &database.name, &database.notes, &database.triangles, said)?;
        if self.model.as_ref().is_some_and(|m| m.triangles != database.triangles) {
            self.model = None;
            said.push("the learned garment is another than the database's and is put away".into());
        }
        if self.take.as_ref().is_some_and(|t| t.triangles != database.triangles) {
            self.take = None;
            said.push("the take is of another garment and is put away".into());
        }
        if self.garment.is_none() {
            said.push("a database needs the garment that it was learned from: open that as well".into());
        }
        self.database = Some(Arc::new(database));
        self.forget_made();
        Ok(())
    }

    /// The tier adaptive, where there is what it needs.
    pub fn adaptive(&self) -> Option<Result<Box<dyn Tier>, String>> {
        let (adapt, garment, database) =
            (self.adapt.as_ref()?, self.garment.as_ref()?, self.database.as_ref()?);
        Some(adapt(&self.body, garment, database))
    }

    /// A recorded simulation, with the motion it was recorded on.
    pub fn set_take(&mut self, take: Take, said: &mut Vec<String>) -> Result<(), String> {
        if take.joints != self.body.skeleton.len() {
            return Err(format!(
                "the take's body has {} joints, `{}` has {}; open the body that wore it first",
                take.joints,
                self.body.name,
                self.body.skeleton.len()
            ));
        }
        if let Some(why) = take.provenance.as_ref().and_then(|p| p.wrong_body(&self.body)) {
            said.push(why);
        }
        if self.model.as_ref().is_some_and(|m| m.triangles != take.triangles) {
            self.model = None;
            said.push("the learned garment is another than the take's and is put away".into());
        }
        if self.database.as_ref().is_some_and(|d| d.triangles != take.triangles) {
            self.database = None;
            said.push("the database is of another garment than the take and is put away".into());
        }
        if self.garment.as_ref().is_some_and(|g| g.sim.triangles != take.triangles) {
            (self.garment, self.cut_as) = (None, None);
        }
        self.shot = Shot {
            name: take.clip.clone(),
            bones: (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect(),
            roots: take.roots.clone(),
            fps: take.fps,
            motion: None,
        };
        self.set_truth(take);
        Ok(())
    }

    /// Why a garment cannot be seen to move in this way; `None` where it can.
    pub fn lacks(&self, way: Way, can_simulate: bool) -> Option<&'static str> {
        match way {
            Way::Skin if self.garment.is_none() && self.model.is_none() && self.take.is_none() => {
                Some("needs a garment")
            }
            Way::Layered if self.garment.is_none() => Some("needs a garment"),
            Way::Stable if self.model.is_none() => Some("needs a model (.toile)"),
            Way::Adaptive if self.database.is_none() => Some("needs a database (.toile)"),
            Way::Adaptive if self.garment.is_none() => Some("needs its garment"),
            Way::Adaptive if self.adapt.is_none() => Some("needs the program: nothing is simulated here"),
            Way::Full if self.take.is_some() => None,
            Way::Full if self.garment.is_none() || self.shot.motion.is_none() => Some("needs a take"),
            Way::Full if !can_simulate => Some("needs a take: nothing is simulated here"),
            _ => None,
        }
    }

    /// How the garment hangs on the bind pose, where that is known; else as it was put on.
    pub fn hanging(&self) -> Option<Vec<Vec3>> {
        let count = self.garment.as_ref().map(|g| g.sim.positions.len());
        let draped = self.take.as_ref().map(|t| t.draped.clone());
        let learned = self.model.as_ref().and_then(|m| m.attachment.as_ref()).map(|a| a.rest.clone());
        let placed = self.garment.as_ref().map(|g| g.sim.positions.clone());
        [draped, learned, placed]
            .into_iter()
            .flatten()
            .find(|p| count.is_none_or(|c| c == p.len()) && !p.is_empty())
    }

    /// The garment on its bones.
    pub fn attachment(&self) -> Option<Attachment> {
        if let Some(known) = self.model.as_ref().and_then(|m| m.attachment.clone()) {
            return Some(known);
        }
        if self.attached.borrow().is_none() {
            *self.attached.borrow_mut() = self.attach();
        }
        self.attached.borrow().clone()
    }

    fn attach(&self) -> Option<Attachment> {
        let triangles = self.triangles()?.to_vec();
        let mesh = Mesh { positions: self.hanging()?, triangles, ..Mesh::default() };
        attach(&self.body, &mesh, &AttachmentSettings::default()).ok()
    }

    /// The garment in layers.
    pub fn layers(&self) -> Result<Arc<Layers>, String> {
        if let Some(made) = &*self.layered.borrow() {
            return Ok(made.clone());
        }
        let (Some(garment), Some(rest)) = (&self.garment, self.hanging()) else {
            return Err("needs a garment".into());
        };
        let fabric = builtin::fabric(&garment.fabric).or_else(|_| builtin::fabric("cotton"));
        let fabric = fabric.map_err(|e| e.to_string())?;
        let made = layers(&self.body, garment, &rest, &fabric, &LayerSettings::default());
        let mut made = made.map_err(|e| e.to_string())?;
        balance(&mut made, &LayeredSettings::default());
        let made = Arc::new(made);
        *self.layered.borrow_mut() = Some(made.clone());
        Ok(made)
    }

    /// The triangles that are shown.
    pub fn triangles(&self) -> Option<&[[u32; 3]]> {
        let (model, take) = (self.model.as_ref(), self.take.as_ref());
        model
            .map(|m| m.triangles.as_slice())
            .or(take.map(|t| t.triangles.as_slice()))
            .or(self.garment.as_ref().map(|g| g.sim.triangles.as_slice()))
    }

    /// What the cloth is made of, as far as it says.
    pub fn fabric(&self) -> String {
        let noted =
            |notes: &[(String, String)]| notes.iter().find(|(k, _)| k == "fabric").map(|(_, v)| v.clone());
        self.garment
            .as_ref()
            .map(|g| g.fabric.clone())
            .or_else(|| noted(&self.model.as_ref()?.notes))
            .or_else(|| noted(&self.take.as_ref()?.notes))
            .unwrap_or_else(|| "cotton".into())
    }
}

/// Why a body cannot wear what was learned and says this of itself; `None` where it can.
fn of_body(joints: usize, wearer: &str, notes: &[(String, String)], body: &Body) -> Option<String> {
    let own = body.skeleton.len();
    if joints != own {
        return Some(format!("its body has {joints} joints, `{}` has {own}; open its body first", body.name));
    }
    // On a page sines differ in their last bits, and with them what is built in: there the name must do.
    let is_named = cfg!(target_arch = "wasm32") && wearer.starts_with("mannequin:") && wearer == body.name;
    let other = !is_named && Lineage::from_notes(notes).is_some_and(|l| l.body != body.fingerprint());
    other.then(|| format!("it was learned on another body than `{}`; open its own first", body.name))
}

/// A motion on the body.
fn shot(body: &Body, clip: &Motion, fps: f64) -> Result<Shot, String> {
    let carried = if clip.skeleton == body.skeleton {
        clip.clone()
    } else {
        retarget(clip, body, &RetargetSettings::default()).map_err(|e| e.to_string())?.0
    };
    let mut motion = carried.resampled(fps);
    let bytes = (body.skeleton.len() * size_of::<Affine3A>()).max(1);
    motion.poses.truncate((MOST_BYTES / bytes).max(1));
    Ok(Shot {
        name: motion.name.clone(),
        bones: motion.poses.iter().map(|p| body.bones(p)).collect(),
        roots: RootTrack::new(&body.skeleton, &motion.poses).frames,
        fps: motion.fps,
        motion: Some(motion),
    })
}

/// The rest pose, held for a second.
fn standing(body: &Body) -> Result<Shot, String> {
    let poses = vec![body.skeleton.rest_pose(); FPS as usize];
    let rest = Motion::new("rest", FPS, body.skeleton.clone(), poses).map_err(|e| e.to_string())?;
    shot(body, &rest, FPS)
}
