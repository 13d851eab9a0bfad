//! What to make of a motion file's time: another frame rate than it states, and only a part of it.

use anyhow::Result;
use toile_assets::{Motion, Pace};

/// `--fps` and `--trim` of a command that takes motions.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    /// Frames per second, whatever the file says.
    pub fps: Option<f64>,
    /// Seconds from and to.
    pub trim: Option<(f64, f64)>,
    /// What the option for the rate is called here.
    pub rate_flag: &'static str,
}

impl Pacing {
    /// As the file has it.
    pub const AS_IS: Self = Self { fps: None, trim: None, rate_flag: "--fps" };

    /// As most commands call them.
    pub fn new(fps: Option<f64>, trim: Option<(f64, f64)>) -> Self {
        Self { fps, trim, ..Self::AS_IS }
    }

    /// The motion as it is wanted. Says so where a file's is faster than anyone.
    pub fn apply(&self, mut motion: Motion, of_file: bool) -> Result<Motion> {
        if let Some(fps) = self.fps {
            motion.fps = fps;
        }
        if let Some((from, to)) = self.trim {
            motion = motion.trimmed(from, to.min(motion.duration_secs()))?;
        }
        if of_file
            && self.fps.is_none()
            && let Some(complaint) = Pace::of(&motion).complaint(motion.fps)
        {
            eprintln!("{}: {complaint} ({} N, --trim FROM:TO)", motion.name, self.rate_flag);
        }
        Ok(motion)
    }
}

/// For `--fps`.
pub fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fps) if (1.0..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("wants frames per second from 1 to 1000".into()),
    }
}

/// For `--trim`: `2:5.5`, `2:` or `:5.5`, in seconds.
pub fn span(text: &str) -> Result<(f64, f64), String> {
    let number = |part: &str, open: f64| if part.is_empty() { Some(open) } else { part.parse().ok() };
    let parts = text.split_once(':').and_then(|(a, b)| Some((number(a, 0.0)?, number(b, f64::MAX)?)));
    match parts {
        Some((from, to)) if from >= 0.0 && to > from => Ok((from, to)),
        _ => Err("wants FROM:TO in seconds, as 2:5.5, 2: or :5.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_nonsense_is_not() {
        assert_eq!(span("2:5.5"), Ok((2.0, 5.5)));
        assert_eq!(span("2:"), Ok((2.0, f64::MAX)));
        assert_eq!(span(":3"), Ok((0.0, 3.0)));
        for bad in ["", "2", "5:2", "-1:2", "a:b", "nan:2", "2:2"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
