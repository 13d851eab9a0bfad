//! Whether a take is true: how far its cloth was stretched, pushed into the body and through itself.

/// Edges may be stretched by this share of their flat length, and no more.
pub const MOST_STRAIN: f32 = 0.15;
/// Vertices may be this deep in the body, mm, and no deeper.
pub const MOST_DEPTH_MM: f32 = 5.0;

/// The largest of something over a take, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
pub struct Worst {
    /// How much.
    pub value: f32,
    /// The frame it was seen in.
    pub frame: u32,
}

impl Worst {
    /// Keeps the larger; of equals the earlier.
    pub fn see(&mut self, value: f32, frame: usize) {
        if value > self.value {
            *self = Self { value, frame: frame as u32 };
        }
    }
}

/// What was seen of a take, frame by frame, by eyes that share nothing with the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
pub struct Verdict {
    /// Largest stretch of an edge, as a share of its flat length.
    pub strain: Worst,
    /// 99th percentile of the edges' stretch, the largest of any frame.
    pub strain_p99: Worst,
    /// Deepest vertex in the body, mm, outside 5 cm of where the body crosses itself: between two limbs that have passed
    /// through each other no side is the right one.
    pub depth_mm: Worst,
    /// Pairs of an edge and a triangle of the cloth that cross, the most of any frame.
    pub crossings: Worst,
    /// 1 where the neckline or waist it hung by is around nothing of its wearer any more.
    #[cfg_attr(feature = "io", serde(default))]
    pub off: Worst,
    /// Frames in which the solver held cloth back.
    pub held_back_frames: u32,
}

impl Verdict {
    /// Whether nothing is over its limit.
    pub fn is_true(&self) -> bool {
        self.faults().is_empty()
    }

    /// What is over its limit, in words, with the frame.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        // `!(a <= b)`: what is not a number is a fault, too.
        if !(self.strain.value <= MOST_STRAIN) {
            faults.push(format!(
                "an edge stretched by {:.0} % at frame {} (at most {:.0} %)",
                100.0 * self.strain.value,
                self.strain.frame,
                100.0 * MOST_STRAIN
            ));
        }
        if !(self.depth_mm.value <= MOST_DEPTH_MM) {
            faults.push(format!(
                "cloth {:.1} mm inside the body at frame {} (at most {MOST_DEPTH_MM} mm)",
                self.depth_mm.value, self.depth_mm.frame
            ));
        }
        if !(self.crossings.value <= 0.0) {
            faults.push(format!(
                "cloth through cloth in {:.0} places at frame {}",
                self.crossings.value, self.crossings.frame
            ));
        }
        if !(self.off.value <= 0.0) {
            faults.push(format!("the garment has come off its wearer at frame {}", self.off.frame));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_say_what_where_and_the_limit() {
        let mut verdict = Verdict::default();
        verdict.strain.see(0.15, 3);
        verdict.depth_mm.see(5.0, 3);
        verdict.held_back_frames = 7;
        assert!(verdict.is_true(), "limits themselves are allowed, being held back is no fault");
        verdict.strain.see(1.94, 31);
        verdict.strain.see(0.3, 40);
        verdict.depth_mm.see(12.0, 5);
        verdict.crossings.see(2.0, 9);
        verdict.off.see(1.0, 12);
        let said = verdict.faults().join("; ");
        for part in [
            "194 % at frame 31",
            "15 %",
            "12.0 mm",
            "frame 5",
            "2 places at frame 9",
            "come off its wearer at frame 12",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let blind = Verdict { strain: Worst { value: f32::NAN, frame: 0 }, ..Verdict::default() };
        assert!(!blind.is_true());
    }
}
