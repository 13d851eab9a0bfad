//! A crowd whose garments may each be moved in another way: most by the learned garments of a [`Crowd`], drawn with as many
//! dims as they are worth, some by tiers of their own.

use super::HandOverSettings;
use super::soloist::{Cue, Soloist};
use crate::cpu::pool::Pool;
use crate::{Actor, Crowd, CrowdReport, CrowdSettings, Error, Instance, ModelId, Result, Tier};
use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile_model::{Attachment, Limits, Model};

/// Makes a tier of one garment when it is needed.
pub type MakeTier = Arc<dyn Fn() -> Result<Box<dyn Tier + Send>> + Send + Sync>;

/// How a garment is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Learned, drawn with so many dims; with none it is skinned.
    Crowd {
        /// How many.
        dims: usize,
    },
    /// By the tier of its kind with this number.
    Solo(usize),
}

struct Kind {
    id: ModelId,
    model: Arc<Model>,
    makers: Vec<MakeTier>,
}

struct Member {
    kind: usize,
    instance: Instance,
    way: Way,
    soloist: Option<usize>,
    actor: Actor,
}

type Players = Pool<Box<Soloist>, f64, ()>;

/// Many garments, each with a way of its own to be moved.
pub struct Troupe {
    crowd: Crowd,
    kinds: Vec<Kind>,
    members: Vec<Member>,
    #[allow(clippy::vec_box)] // the pool hands boxes to its threads and takes them back
    soloists: Vec<Box<Soloist>>,
    pool: Players,
    settings: HandOverSettings,
    failures: Vec<(usize, String)>,
}

impl Troupe {
    /// Nobody yet.
    pub fn new(crowd: CrowdSettings, settings: HandOverSettings) -> Self {
        let crowd = Crowd::new(crowd);
        let pool =
            Pool::new(crowd.settings().threads, |soloist: &mut Box<Soloist>, dt: &f64, (): &mut ()| {
                soloist.step(*dt);
            });
        Self {
            crowd,
            kinds: Vec::new(),
            members: Vec::new(),
            soloists: Vec::new(),
            pool,
            settings,
            failures: Vec::new(),
        }
    }

    /// A kind of garment: its model, room for so many of it, and its tiers beside the learned one.
    pub fn add_kind(&mut self, model: Arc<Model>, reserve: usize, tiers: Vec<MakeTier>) -> Result<usize> {
        let id = self.crowd.add_model(model.clone(), reserve)?;
        self.kinds.push(Kind { id, model, makers: tiers });
        Ok(self.kinds.len() - 1)
    }

    /// Keeps learned garments of a kind within painted limits: see [`Crowd::set_limits`]. Tiers of their own keep theirs
    /// ([`crate::Leashed`]).
    pub fn set_limits(&mut self, kind: usize, limits: Limits, attachment: Attachment) -> Result<()> {
        let id = self.kinds.get(kind).ok_or(Error::Gone)?.id;
        self.crowd.set_limits(id, limits, attachment)
    }

    /// A garment that waits for its first pose, learned and with all dims.
    pub fn add(&mut self, kind: usize) -> Result<usize> {
        let made = self.kinds.get(kind).ok_or(Error::Gone)?;
        let instance = self.crowd.add(made.id)?;
        let way = Way::Crowd { dims: made.model.cloth_dims };
        self.members.push(Member { kind, instance, way, soloist: None, actor: Actor::IDENTITY });
        Ok(self.members.len() - 1)
    }

    /// How many garments there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The pose to step to, as [`Crowd::set_pose`] takes it.
    pub fn set_pose(&mut self, member: usize, actor: &Actor, bones: &[Affine3A]) -> Result<()> {
        let m = self.members.get_mut(member).ok_or(Error::Gone)?;
        self.crowd.set_pose(m.instance, actor, bones)?;
        m.actor = *actor;
        if let Some(s) = m.soloist {
            let placed = Affine3A::from_rotation_translation(actor.rotation, actor.position.as_vec3());
            let own = &mut self.soloists[s].bones;
            own.clear();
            own.extend(bones.iter().map(|b| placed * *b));
        }
        Ok(())
    }

    /// The wearer is somewhere else: a tier of its own is left, and the learned garment keeps its shape.
    pub fn teleport(&mut self, member: usize) -> Result<()> {
        let m = self.members.get_mut(member).ok_or(Error::Gone)?;
        self.crowd.teleport(m.instance)?;
        if let Some(s) = m.soloist.take() {
            self.release(s);
        }
        let m = &mut self.members[member];
        if let Way::Solo(_) = m.way {
            m.way = Way::Crowd { dims: self.kinds[m.kind].model.cloth_dims };
        }
        Ok(())
    }

    /// Lets another way move a garment from the next step on, over the time of a hand-over. A garment that goes over to a
    /// tier of its own watches the crowd for some poses first. Between two tiers of its own it goes through the crowd.
    pub fn set_way(&mut self, member: usize, way: Way) -> Result<()> {
        let m = self.members.get_mut(member).ok_or(Error::Gone)?;
        if m.way == way {
            return Ok(());
        }
        match way {
            Way::Crowd { dims } => {
                self.crowd.fade_dims(m.instance, dims, self.settings.secs)?;
                if let (Way::Solo(_), Some(s)) = (m.way, m.soloist) {
                    let soloist = &mut self.soloists[s];
                    soloist.cue = if soloist.has_tier() { Cue::Down } else { Cue::None };
                }
            }
            Way::Solo(tier) => {
                let kind = &self.kinds[m.kind];
                if tier >= kind.makers.len() {
                    return Err(Error::NoTier { tier, tiers: kind.makers.len() });
                }
                if m.soloist.is_none() {
                    m.soloist = Some(self.soloists.len());
                    self.soloists.push(Box::new(Soloist::new(member, kind.model.vertices, self.settings)));
                } else if let Some(s) = m.soloist
                    && self.soloists[s].has_tier()
                {
                    self.soloists[s].cue = Cue::Down;
                }
            }
        }
        m.way = way;
        Ok(())
    }

    /// How a garment is moved, or shall be once it can.
    pub fn way(&self, member: usize) -> Result<Way> {
        self.members.get(member).map(|m| m.way).ok_or(Error::Gone)
    }

    /// Whether a tier of its own moves it already.
    pub fn is_solo(&self, member: usize) -> bool {
        let soloist = self.members.get(member).and_then(|m| m.soloist);
        soloist.is_some_and(|s| self.soloists[s].is_solo())
    }

    /// How far the learned garment trusts itself.
    pub fn gate(&self, member: usize) -> Result<f32> {
        self.crowd.gate(self.members.get(member).ok_or(Error::Gone)?.instance)
    }

    /// Steps and draws everybody.
    pub fn step(&mut self, dt_secs: f64) -> Result<CrowdReport> {
        for s in 0..self.soloists.len() {
            let member = &self.members[self.soloists[s].member];
            let Way::Solo(tier) = member.way else { continue };
            let soloist = &mut self.soloists[s];
            if !soloist.has_tier() && soloist.is_ready() && matches!(soloist.cue, Cue::None) {
                match (self.kinds[member.kind].makers[tier])() {
                    Ok(tier) => soloist.cue = Cue::Up(tier),
                    Err(why) => soloist.failed = Some(why.to_string()),
                }
            }
        }
        let report = self.crowd.step(dt_secs)?;
        self.crowd.draw();
        for soloist in &mut self.soloists {
            soloist.feed(self.crowd.vertices(self.members[soloist.member].instance)?);
        }
        self.pool.run(&mut self.soloists, dt_secs);
        self.failures.clear();
        for s in (0..self.soloists.len()).rev() {
            let soloist = &mut self.soloists[s];
            let member = &mut self.members[soloist.member];
            if let Some(why) = soloist.failed.take() {
                member.way = Way::Crowd { dims: self.kinds[member.kind].model.cloth_dims };
                self.crowd.fade_dims(
                    member.instance,
                    self.kinds[member.kind].model.cloth_dims,
                    self.settings.secs,
                )?;
                self.failures.push((soloist.member, why));
            }
            if soloist.is_done() && matches!(member.way, Way::Crowd { .. }) {
                member.soloist = None;
                self.release(s);
            }
        }
        Ok(report)
    }

    /// Garments whose own tier could not start or failed in the last step, and why; the crowd moves them again.
    pub fn failures(&self) -> &[(usize, String)] {
        &self.failures
    }

    fn release(&mut self, s: usize) {
        self.soloists.swap_remove(s);
        if let Some(moved) = self.soloists.get(s) {
            self.members[moved.member].soloist = Some(s);
        }
    }

    /// World-space vertices of a garment after the last step.
    pub fn vertices(&self, member: usize) -> Result<&[Vec3]> {
        let m = self.members.get(member).ok_or(Error::Gone)?;
        match m.soloist {
            Some(s) => Ok(self.soloists[s].shown()),
            None => self.crowd.vertices(m.instance),
        }
    }

    /// The crowd of learned garments.
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }
}
