//! Pictures and films of the panes.

use super::Viewer;
use crate::{Image, Result};

/// More frames than this are not kept in memory for one film.
const MOST_FRAMES: usize = 900;

/// What is to be kept, and what has been.
#[derive(Default)]
pub(crate) struct Wanted {
    /// A picture of the present frame.
    pub picture: bool,
    /// A film in the making.
    pub film: Option<FilmPlan>,
}

/// A film of the clip from its first frame to its last, whatever time drawing takes.
#[derive(Default)]
pub(crate) struct FilmPlan {
    pub next: usize,
    pub frames: Vec<Image>,
    /// Whether the present frame is `next` and still has to be taken.
    pub due: bool,
}

impl Wanted {
    pub fn any(&self) -> bool {
        self.picture || self.film.is_some()
    }
}

impl Viewer {
    /// Begins a film from the first frame, or ends it with what there is.
    pub(super) fn record(&mut self) {
        match &mut self.wanted.film {
            Some(film) => film.next = usize::MAX,
            None => {
                self.wanted.film = Some(FilmPlan::default());
                self.messages.say("recording the clip from its beginning; R ends it");
            }
        }
    }

    /// While recording, goes to the frame that is next once it is there; whether recording decides over time.
    pub(super) fn record_on(&mut self, ready: usize) -> bool {
        let Some(film) = &mut self.wanted.film else { return false };
        film.due = film.next < ready.min(self.playback.frames);
        if film.due {
            self.playback.frame = film.next as f64;
        }
        true
    }

    /// Takes a drawn frame for the film; all frames once the film is complete.
    pub(crate) fn film_frame(
        &mut self,
        picture: impl FnOnce() -> Result<Image>,
    ) -> Option<(Vec<Image>, f32)> {
        let film = self.wanted.film.as_mut()?;
        if film.due {
            match picture() {
                Ok(picture) => {
                    let same = film
                        .frames
                        .first()
                        .is_none_or(|f| (f.width(), f.height()) == (picture.width(), picture.height()));
                    if same {
                        film.frames.push(picture);
                    } else {
                        self.messages.fault("the window changed its size: the film ends here");
                        film.next = usize::MAX - 1;
                    }
                }
                Err(why) => {
                    self.messages.fault(format!("the film ends here: {why}"));
                    film.next = usize::MAX - 1;
                }
            }
            (film.due, film.next) = (false, film.next.saturating_add(1));
        }
        if film.next < self.playback.frames && film.frames.len() < MOST_FRAMES {
            return None;
        }
        let film = self.wanted.film.take()?;
        (!film.frames.is_empty()).then_some((film.frames, self.playback.fps as f32))
    }

    /// Frames of the film so far and in all, while one is made.
    pub fn recording(&self) -> Option<(usize, usize)> {
        let film = self.wanted.film.as_ref()?;
        Some((film.frames.len(), self.playback.frames.min(MOST_FRAMES)))
    }
}
