//! Where in a clip we are, and how fast time goes.

/// The slowest and the fastest that a clip is played, times its own speed.
pub const SPEEDS: [f64; 2] = [0.05, 4.0];

/// Time within a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// The frame that is shown; between two of them while playing.
    pub frame: f64,
    /// Frames of the clip.
    pub frames: usize,
    /// Frames per second of the clip.
    pub fps: f64,
    /// Whether time goes on.
    pub playing: bool,
    /// Times the clip's own speed.
    pub speed: f64,
}

impl Playback {
    /// A clip that plays from its beginning.
    pub fn new(frames: usize, fps: f64) -> Self {
        Self { frame: 0.0, frames: frames.max(1), fps, playing: true, speed: 1.0 }
    }

    /// Another clip in place of this one, at the same speed.
    pub fn recut(&mut self, frames: usize, fps: f64) {
        *self = Self { playing: self.playing, speed: self.speed, ..Self::new(frames, fps) };
    }

    /// Lets time go on by so many seconds, over the end back to the beginning, but not beyond the `ready` frames that all
    /// panes have: they go in lock-step. A frame that is not there yet is waited for.
    pub fn advance(&mut self, secs: f64, ready: usize) {
        let (last, there) = ((self.frames - 1) as f64, ready.saturating_sub(1) as f64);
        if !self.playing || !(secs > 0.0) || !secs.is_finite() || self.frame > there {
            return;
        }
        // A window that was hidden for a minute does not skip a minute.
        let next = self.frame + secs.min(0.25) * self.fps * self.speed;
        self.frame = if next > last && ready >= self.frames { next % last.max(1.0) } else { next.min(there) };
    }

    /// Goes to a frame and stays there.
    pub fn scrub(&mut self, frame: f64) {
        self.playing = false;
        if frame.is_finite() {
            self.frame = frame.round().clamp(0.0, (self.frames - 1) as f64);
        }
    }

    /// One frame on or back, around the ends.
    pub fn step(&mut self, by: i64) {
        let at = self.frame.round() as i64 + by;
        self.scrub(at.rem_euclid(self.frames as i64) as f64);
    }

    /// Sets the speed, within [`SPEEDS`].
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.speed = speed.clamp(SPEEDS[0], SPEEDS[1]);
        }
    }

    /// The frame before, the one after, and how far between them.
    pub fn between(&self) -> (usize, usize, f32) {
        let first = self.frame.floor().clamp(0.0, (self.frames - 1) as f64);
        let next = (first as usize + 1).min(self.frames - 1);
        (first as usize, next, (self.frame - first) as f32)
    }

    /// Seconds from the clip's beginning.
    pub fn secs(&self) -> f64 {
        self.frame / self.fps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_around_and_waits_for_the_slowest_pane() {
        let mut p = Playback::new(30, 30.0);
        for _ in 0..10 {
            p.advance(0.1, 30);
        }
        assert!(p.frame < 3.0, "{}: past the end it begins again", p.frame);
        p.frame = 0.5;
        p.advance(0.2, 2);
        assert_eq!(p.frame, 1.0, "only two frames are there");
        p.frame = 9.0;
        p.advance(0.1, 2);
        assert_eq!(p.frame, 9.0, "it is waited for");
    }

    #[test]
    fn steps_go_around_and_stop_the_play() {
        let mut p = Playback::new(10, 30.0);
        p.step(-1);
        assert_eq!((p.frame, p.playing), (9.0, false));
        p.step(1);
        assert_eq!(p.frame, 0.0);
        p.scrub(f64::NAN);
        p.scrub(1e9);
        assert_eq!(p.between(), (9, 9, 0.0));
        p.set_speed(100.0);
        assert_eq!(p.speed, SPEEDS[1]);
        p.recut(0, 24.0);
        p.advance(1.0, 1);
        assert_eq!(p.between(), (0, 0, 0.0), "a clip of nothing is a picture");
    }
}
