//! Whether learned cloth moves as much as the truth: mean distance alone rewards stiff cloth.

use glam::Vec3;

/// RMS speed of the model over that of the truth, and how their velocities correlate, both on what is left after
/// the order-0 prediction is taken away and the band of 0.3 to 5 Hz is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveliness {
    truth_energy: f64,
    model_energy: f64,
    product: f64,
}

impl Liveliness {
    /// Adds one coefficient's residuals over a clip.
    pub fn add(&mut self, truth: &[f64], model: &[f64], fps: f64) {
        let (truth, model) = (band(truth, fps), band(model, fps));
        for (t, m) in truth.windows(2).zip(model.windows(2)) {
            let (t, m) = (t[1] - t[0], m[1] - m[0]);
            self.truth_energy += t * t;
            self.model_energy += m * m;
            self.product += t * m;
        }
    }

    /// 1 is right; less is too stiff, more is too nervous.
    pub fn ratio(&self) -> f64 {
        (self.model_energy / self.truth_energy.max(1e-300)).sqrt()
    }

    /// 1 is right.
    pub fn correlation(&self) -> f64 {
        self.product / (self.truth_energy * self.model_energy).max(1e-300).sqrt()
    }
}

/// Liveliness and correlation of frames against the truth, on what each adds to a third that both go along with.
pub fn liveliness_beyond(
    common: &[Vec<Vec3>],
    truth: &[&[Vec3]],
    ours: &[Vec<Vec3>],
    fps: f64,
) -> (f64, f64) {
    let mut lively = Liveliness::default();
    for v in 0..common.first().map_or(0, Vec::len) {
        for axis in 0..3 {
            let beyond = |p: &[Vec3], f: usize| f64::from(p[v][axis] - common[f][v][axis]);
            let of_truth: Vec<f64> = (0..common.len()).map(|f| beyond(truth[f], f)).collect();
            let of_ours: Vec<f64> = (0..common.len()).map(|f| beyond(&ours[f], f)).collect();
            lively.add(&of_truth, &of_ours, fps);
        }
    }
    (lively.ratio(), lively.correlation())
}

/// Keeps 0.3 to 5 Hz, forwards and backwards so that nothing is delayed.
fn band(signal: &[f64], fps: f64) -> Vec<f64> {
    let mut s = signal.to_vec();
    let mean = s.iter().sum::<f64>() / s.len().max(1) as f64;
    s.iter_mut().for_each(|v| *v -= mean);
    for _ in 0..2 {
        one_pole(&mut s, fps, 5.0, false);
        one_pole(&mut s, fps, 0.3, true);
        s.reverse();
    }
    s
}

/// First-order low-pass or high-pass at `hertz`.
fn one_pole(s: &mut [f64], fps: f64, hertz: f64, high: bool) {
    let keep = (-std::f64::consts::TAU * hertz / fps).exp();
    let mut low = s.first().copied().unwrap_or(0.0);
    for v in s {
        low = keep * low + (1.0 - keep) * *v;
        *v = if high { *v - low } else { low };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_swing_is_half_the_liveliness() {
        let truth: Vec<f64> = (0..300).map(|f| (f as f64 * 0.2).sin()).collect();
        let half: Vec<f64> = truth.iter().map(|v| 0.5 * v).collect();
        let mut l = Liveliness::default();
        l.add(&truth, &half, 30.0);
        assert!((l.ratio() - 0.5).abs() < 1e-9 && (l.correlation() - 1.0).abs() < 1e-9);
        // The same of frames, whatever they go along with.
        let at = |f: usize| Vec3::new(3.0 * (f as f32 * 0.3).cos(), f as f32, 0.0);
        let common: Vec<Vec<Vec3>> = (0..300).map(|f| vec![at(f)]).collect();
        let full: Vec<Vec<Vec3>> = (0..300).map(|f| vec![at(f) + Vec3::X * truth[f] as f32]).collect();
        let ours: Vec<Vec<Vec3>> = (0..300).map(|f| vec![at(f) + Vec3::X * half[f] as f32]).collect();
        let full: Vec<&[Vec3]> = full.iter().map(Vec::as_slice).collect();
        let (ratio, correlation) = liveliness_beyond(&common, &full, &ours, 30.0);
        assert!((ratio - 0.5).abs() < 1e-3 && (correlation - 1.0).abs() < 1e-3, "{ratio} {correlation}");
    }
}
