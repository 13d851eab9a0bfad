//! The viewer: what is on the stage, how it answers, and the window or page around it.
//!
//! A [`Viewer`] knows no window, clock or disk of its own: it is told what happened ([`Viewer::act`], [`Viewer::open`]), how
//! much time went by ([`Viewer::advance`]), and gives a scene and a camera for each pane ([`Viewer::pane`]). So a test
//! plays it without a screen, and a window and a web page are two thin shells around the same thing. `panels` lays out its
//! controls with egui, `screen` draws panes and controls with one device, `shell` is the winit application.
//!
//! Garments are not stepped while they are looked at. Each pane has a track of the whole clip, made a few milliseconds a
//! frame ahead of the play; then one may scrub, step back and compare, and panes cannot drift apart. Time never goes
//! beyond what all panes have.

mod cast;
mod charts;
mod keys;
mod messages;
mod open;
mod orbit;
mod pane;
mod panels;
mod playback;
mod recording;
mod screen;
mod shell;
mod simulation;
mod track;
mod way;

pub use keys::{KEYS, Switch};
pub use messages::{Message, Messages};
pub use orbit::Orbit;
pub use pane::PaneFrame;
pub use playback::{Playback, SPEEDS};
pub use screen::Screen;
pub use shell::{Keep, Kept, Shell, Wake};
pub use simulation::{Adapt, Order, Simulate};
pub use track::{Conditions, Noted};
pub use way::Way;

use crate::View;
use cast::Cast;
use glam::{Vec2, Vec3};
use simulation::Job;
use std::sync::Arc;
use std::time::Duration;
use track::Track;
use web_time::Instant;

/// Time a frame may take from drawing to make tracks.
const MAKING: Duration = Duration::from_millis(8);

/// The longest that an answer may take without being noticed.
const NOTICED: Duration = Duration::from_millis(100);

/// What a user can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Play or pause.
    PlayPause,
    /// So many frames on.
    Step(i64),
    /// To a frame.
    Scrub(f64),
    /// Speed times this.
    Faster(f64),
    /// This speed.
    Speed(f64),
    /// One, two or four panes.
    Panes(usize),
    /// A tier for a pane.
    Choose(usize, Way),
    /// The next tier that can be had, in the first pane.
    NextWay,
    /// Another clip.
    Clip(usize),
    /// On or off.
    Switch(Switch),
    /// Turns the camera by a drag, in parts of the pane's height.
    Turn(Vec2),
    /// Moves it.
    Pan(Vec2),
    /// Comes nearer.
    Zoom(f32),
    /// Looks from a side.
    Look(View),
    /// The camera as at first.
    ResetCamera,
    /// Air, m/s.
    Wind(Vec3),
    /// Cloth dimensions to draw.
    Dims(Option<usize>),
    /// Keeps a picture.
    Screenshot,
    /// Begins or ends a film.
    Record,
}

/// What is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The body.
    pub body: bool,
    /// The garment.
    pub cloth: bool,
    /// Edges of triangles.
    pub wireframe: bool,
    /// Error as colour.
    pub heat: bool,
    /// The truth as a ghost.
    pub ghost: bool,
    /// Charts.
    pub charts: bool,
    /// Controls.
    pub panel: bool,
    /// Keys.
    pub help: bool,
}

impl Default for Showing {
    fn default() -> Self {
        Self {
            body: true,
            cloth: true,
            wireframe: false,
            heat: false,
            ghost: false,
            charts: true,
            panel: true,
            help: false,
        }
    }
}

/// Everything that is shown, and how.
pub struct Viewer {
    cast: Cast,
    tracks: Vec<Track>,
    ways: [Way; 4],
    panes: usize,
    conditions: Conditions,
    job: Option<Job>,
    simulate: Option<Simulate>,
    /// Asked for and not yet done: a picture, a film.
    pub(crate) wanted: recording::Wanted,
    /// Where in the clip.
    pub playback: Playback,
    /// The camera.
    pub orbit: Orbit,
    /// What is switched on.
    pub showing: Showing,
    /// What is said.
    pub messages: Messages,
    /// The body in the present frame, for all panes.
    posed: Option<pane::Posed>,
    /// Distance that is red in each pane's error map, cm.
    red_cm: [Option<f32>; 4],
    /// Times of the stages of a frame, µs.
    pub stages: Vec<(&'static str, f32)>,
}

impl Viewer {
    /// The built-in scene: a mannequin walks in a dress, dressed at once.
    pub fn new() -> Result<Self, String> {
        let cast = Cast::built_in("mannequin:female", "dress", "walk")?;
        let playback = Playback::new(cast.shot.bones.len(), cast.shot.fps);
        let mut viewer = Self {
            cast,
            tracks: Vec::new(),
            ways: [Way::Layered, Way::Skin, Way::Stable, Way::Full],
            panes: 1,
            conditions: Conditions::default(),
            job: None,
            simulate: None,
            wanted: recording::Wanted::default(),
            playback,
            orbit: Orbit::default(),
            showing: Showing::default(),
            messages: Messages::default(),
            posed: None,
            red_cm: [None; 4],
            stages: Vec::new(),
        };
        viewer.retrack();
        Ok(viewer)
    }

    /// Lets the tier `full` be simulated where no take is at hand.
    #[must_use]
    pub fn simulated_by(mut self, simulate: Simulate) -> Self {
        self.simulate = Some(simulate);
        self
    }

    /// Lets the tier `adaptive` be played where a database of it is opened.
    #[must_use]
    pub fn adapted_by(mut self, adapt: Adapt) -> Self {
        self.cast.adapt = Some(adapt);
        self
    }

    /// Opens files or built-in assets; what cannot be used is said and changes nothing. Whether all could.
    pub fn open(&mut self, names: &[String]) -> bool {
        if names.is_empty() {
            return true;
        }
        let mut all = true;
        for name in open::in_order(names) {
            match open::open(name, &mut self.cast) {
                Ok(opened) => {
                    self.messages.say(opened.what);
                    opened.said.into_iter().for_each(|text| self.messages.say(text));
                }
                Err(why) => {
                    self.messages.fault(why);
                    all = false;
                }
            }
        }
        let cast = &self.cast;
        // What was opened is what is looked at.
        if cast.model.is_some() && !self.shows(Way::Stable) {
            self.ways[0] = Way::Stable;
        } else if cast.database.is_some() && cast.model.is_none() && !self.shows(Way::Adaptive) {
            self.ways[0] = Way::Adaptive;
        } else if cast.take.is_some() && cast.model.is_none() && !self.shows(Way::Full) {
            self.ways[0] = Way::Full;
        }
        self.job = None;
        self.retrack();
        all
    }

    fn shows(&self, way: Way) -> bool {
        self.ways[..self.panes].contains(&way)
    }

    /// Does what the user asked for.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::PlayPause => self.playback.playing = !self.playback.playing,
            Action::Step(by) => self.playback.step(by),
            Action::Scrub(frame) => self.playback.scrub(frame),
            Action::Faster(times) => self.playback.set_speed(self.playback.speed * times),
            Action::Speed(speed) => self.playback.set_speed(speed),
            Action::Panes(panes) => {
                let panes = if panes >= 4 { 4 } else { panes.clamp(1, 2) };
                if panes != self.panes {
                    self.panes = panes;
                    self.spread();
                    self.retrack();
                }
            }
            Action::Choose(pane, way) => self.choose(pane, way),
            Action::NextWay => {
                let mut way = keys::after(self.ways[0]);
                while self.lacks(way).is_some() && way != self.ways[0] {
                    way = keys::after(way);
                }
                self.choose(0, way);
            }
            Action::Clip(clip) => {
                if let Err(why) = self.cast.choose_clip(clip) {
                    self.messages.fault(why);
                }
                self.job = None;
                self.retrack();
            }
            Action::Switch(switch) => self.switch(switch),
            Action::Turn(drag) => self.orbit.turn(drag),
            Action::Pan(drag) => self.orbit.pan(drag, self.height_m()),
            Action::Zoom(factor) => self.orbit.zoom(factor),
            Action::Look(view) => self.orbit.look_from(view),
            Action::ResetCamera => self.orbit = Orbit { follows: self.orbit.follows, ..Orbit::default() },
            Action::Wind(wind) if wind.is_finite() && wind != self.conditions.wind => {
                self.conditions.wind = wind;
                self.remake();
            }
            Action::Wind(_) => {}
            Action::Dims(dims) => {
                self.conditions.dims = dims;
                self.remake();
            }
            Action::Screenshot => self.wanted.picture = true,
            Action::Record => self.record(),
        }
    }

    /// Different tiers in the panes, as far as there are any: to see the same twice tells nothing.
    fn spread(&mut self) {
        for pane in 1..self.panes {
            let taken = self.ways[..pane].to_vec();
            let free = Way::ALL.iter().rev().find(|w| !taken.contains(w) && self.lacks(**w).is_none());
            if taken.contains(&self.ways[pane]) || self.lacks(self.ways[pane]).is_some() {
                self.ways[pane] = free.copied().unwrap_or(self.ways[0]);
            }
        }
    }

    fn choose(&mut self, pane: usize, way: Way) {
        if pane >= self.panes {
            return;
        }
        if let Some(why) = self.lacks(way) {
            self.messages.fault(format!("{} {why}", way.name()));
            return;
        }
        self.ways[pane] = way;
        self.retrack();
    }

    fn switch(&mut self, switch: Switch) {
        let s = &mut self.showing;
        let on = match switch {
            Switch::Body => &mut s.body,
            Switch::Cloth => &mut s.cloth,
            Switch::Wireframe => &mut s.wireframe,
            Switch::Heat => &mut s.heat,
            Switch::Ghost => &mut s.ghost,
            Switch::Charts => &mut s.charts,
            Switch::Panel => &mut s.panel,
            Switch::Help => &mut s.help,
            Switch::Follow => &mut self.orbit.follows,
        };
        *on = !*on;
        let on = *on;
        if on && matches!(switch, Switch::Heat | Switch::Ghost) && self.cast.take.is_none() {
            let how = if self.lacks(Way::Full).is_none() { "choose the tier full" } else { "open a take" };
            self.messages.say(format!("there is no truth to compare with yet: {how}"));
        }
    }

    /// Why a tier cannot be had; `None` where it can.
    pub fn lacks(&self, way: Way) -> Option<&'static str> {
        self.cast.lacks(way, self.simulate.is_some())
    }

    /// Makes all tracks anew for what is on the stage now.
    fn retrack(&mut self) {
        for pane in 0..self.panes {
            if self.lacks(self.ways[pane]).is_some() {
                let order = [Way::Stable, Way::Adaptive, Way::Layered, Way::Full, Way::Skin];
                let other = order.into_iter().find(|w| self.lacks(*w).is_none());
                self.ways[pane] = other.unwrap_or(Way::Skin);
            }
        }
        let shot = &self.cast.shot;
        if (self.playback.frames, self.playback.fps) != (shot.bones.len().max(1), shot.fps) {
            self.playback.recut(shot.bones.len(), shot.fps);
        }
        self.remake();
    }

    fn remake(&mut self) {
        self.tracks.clear();
        self.posed = None;
        for pane in 0..self.panes {
            // A body alone is a picture as well.
            if self.cast.triangles().is_none() {
                break;
            }
            let mut track = Track::new(self.ways[pane], &self.cast, &self.conditions);
            if let Err(why) = &track {
                self.messages.fault(format!("{}: {why}", self.ways[pane].name()));
                self.ways[pane] = Way::Skin;
                track = Track::new(Way::Skin, &self.cast, &self.conditions);
            }
            self.tracks.extend(track.ok());
        }
        self.catch_up();
        if self.tracks.iter().any(Track::waits) && self.job.is_none() {
            self.start_simulation();
        }
    }

    /// Makes what is looked at now before it is looked at, as far as that takes no time that one would notice.
    #[allow(clippy::disallowed_methods)] // what one notices is a matter of the clock
    fn catch_up(&mut self) {
        let (now, until) = (self.playback.frame as usize, Instant::now() + NOTICED);
        for track in &mut self.tracks {
            while !track.waits() && track.ready() <= now && Instant::now() < until {
                // What fails is said when the track goes on.
                if track.make(&self.cast, Instant::now()).is_err() {
                    break;
                }
            }
        }
    }

    fn start_simulation(&mut self) {
        let (Some(simulate), Some(garment), Some(motion)) =
            (&self.simulate, &self.cast.garment, &self.cast.shot.motion)
        else {
            return;
        };
        let order = Order {
            body: self.cast.body.clone(),
            garment: garment.clone(),
            motion: motion.clone(),
            wind: self.conditions.wind,
            done: Arc::default(),
            stop: Arc::default(),
        };
        self.job = Some(Job::start(simulate, order));
        self.messages.say("simulating: the truth takes a while");
    }

    /// Lets so much time go by.
    #[allow(clippy::disallowed_methods)] // how long making may take is a matter of the clock
    pub fn advance(&mut self, secs: f64) {
        self.messages.advance(secs);
        if let Some(result) = self.job.as_ref().and_then(Job::finished) {
            self.job = None;
            match result {
                Ok(take) => {
                    self.cast.set_truth(take);
                    self.messages.say("simulated");
                    self.remake();
                }
                Err(why) => {
                    self.messages.fault(format!("not simulated: {why}"));
                    self.ways.iter_mut().filter(|w| **w == Way::Full).for_each(|w| *w = Way::Layered);
                    self.retrack();
                }
            }
        }
        let share = MAKING / self.tracks.len().max(1) as u32;
        let mut failed = Vec::new();
        for (k, track) in self.tracks.iter_mut().enumerate() {
            if let Err(why) = track.make(&self.cast, Instant::now() + share) {
                self.messages.fault(why);
                failed.push(k);
            }
        }
        failed.into_iter().rev().for_each(|k| drop(self.tracks.remove(k)));
        let ready = self.tracks.iter().filter(|t| !t.waits()).map(Track::ready).min();
        let ready = ready.unwrap_or(self.playback.frames);
        if !self.record_on(ready) {
            self.playback.advance(secs, ready);
        }
    }

    /// Whether something goes on by itself, so that there is a next frame to draw.
    pub fn is_moving(&self) -> bool {
        self.playback.playing
            || self.job.is_some()
            || self.wanted.any()
            || !self.messages.shown().is_empty()
            || self.tracks.iter().any(|t| !t.waits() && t.ready() < self.playback.frames)
    }

    /// Frames of a simulation done and in all, while one runs.
    pub fn simulating(&self) -> Option<(usize, usize)> {
        self.job.as_ref().map(Job::progress)
    }

    /// The tiers of the panes.
    pub fn ways(&self) -> &[Way] {
        &self.ways[..self.panes]
    }

    /// What each frame of a pane was noticed to be.
    pub fn notes(&self, pane: usize) -> &[Noted] {
        self.tracks.get(pane).map_or(&[], |t| &t.notes)
    }

    /// Name of the body, the garment and the clip.
    pub fn title(&self) -> String {
        let cast = &self.cast;
        let garment = cast.garment.as_ref().map(|g| g.name.clone());
        let learned = cast.model.as_ref().map(|m| m.name.clone()).filter(|n| !n.is_empty());
        let worn = garment.or(learned).unwrap_or_else(|| "no garment".into());
        format!("{}, {worn}, {}", cast.body.name, cast.shot.name)
    }

    /// Names of the clips to choose from, and which is played.
    pub fn clips(&self) -> (Vec<&str>, usize) {
        (self.cast.clips.iter().map(|c| c.name.as_str()).collect(), self.cast.clip)
    }

    /// The conditions, and the most cloth dimensions there are.
    pub fn conditions(&self) -> (Conditions, Option<usize>) {
        (self.conditions, self.cast.model.as_ref().map(|m| m.cloth_dims))
    }

    /// Distance that is red in a pane's error map, cm, where there is one.
    pub fn red_cm(&self, pane: usize) -> Option<f32> {
        self.red_cm.get(pane).copied().flatten()
    }

    pub(crate) fn set_red_cm(&mut self, pane: usize, cm: Option<f32>) {
        if let Some(red) = self.red_cm.get_mut(pane) {
            *red = cm;
        }
    }

    fn height_m(&self) -> f32 {
        let (lo, hi) = self.cast.body.mesh.bounds();
        (hi.y - lo.y).max(0.1)
    }
}

#[cfg(test)]
mod tests;
