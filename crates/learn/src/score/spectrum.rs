//! Where a garment's motion has its power: learned cloth that is too stiff lacks it, nervous cloth has it too high up.

use glam::{DVec3, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;
use toile_assets::{Attachment, Model, Take};
use toile_run::{Skinned, Stable, Tier};

/// Power spectra of the hem's motion about the wearer, cm² per hertz, averaged over vertices and summed over axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Frequencies, Hz; 0 is left out, it is where the hem hangs and not how it moves.
    pub hz: Vec<f64>,
    /// Of the simulation.
    pub truth: Vec<f64>,
    /// Of the model, running freely.
    pub model: Vec<f64>,
    /// Of skinned cloth.
    pub skin: Vec<f64>,
}

/// Frames of a window: 2.1 s at 30 Hz, two swings of a skirt.
const WINDOW: usize = 64;
/// The hem: this share of all vertices, the lowest.
const HEM: f64 = 0.25;

/// Spectra over all takes that run through (stops are left out: what settles has no stationary spectrum). `None` where
/// no take is as long as a window.
pub fn spectrum(model: &Arc<Model>, takes: &[Take], attachment: &Attachment) -> Option<Spectrum> {
    let hem = hem(model);
    let mut sums = [Welch::new(), Welch::new(), Welch::new()];
    let mut out = vec![Vec3::ZERO; model.vertices];
    let mut rate = 0.0;
    for take in takes.iter().filter(|t| t.stop_frame.is_none() && t.len() >= WINDOW) {
        let (mut learned, mut skinned) = (Stable::new(model.clone()), Skinned::new(attachment.clone()));
        let mut paths: [Vec<Vec<DVec3>>; 3] = Default::default();
        for f in 0..take.len() {
            let seen = |positions: &[Vec3]| -> Vec<DVec3> {
                let at = |v: &usize| take.roots[f].canonical_from_world(positions[*v].as_dvec3());
                hem.iter().map(at).collect()
            };
            paths[0].push(seen(take.frame(f)));
            // A pose that is refused leaves the garment where it was.
            let _ = learned.step_with_root(take.frame_bones(f), &take.roots[f], 1.0 / take.fps);
            learned.positions(&mut out);
            paths[1].push(seen(&out));
            let _ = skinned.step(take.frame_bones(f), 1.0 / take.fps);
            skinned.positions(&mut out);
            paths[2].push(seen(&out));
        }
        for (sum, path) in sums.iter_mut().zip(&paths) {
            sum.add(path);
        }
        rate = take.fps;
    }
    let [truth, model, skin] = sums.map(|s| s.density(rate));
    let hz = (1..=WINDOW / 2).map(|k| k as f64 * rate / WINDOW as f64).collect();
    Some(Spectrum { hz, truth: truth?, model: model?, skin: skin? })
}

/// The lowest vertices of the mean garment.
fn hem(model: &Model) -> Vec<usize> {
    let mut order: Vec<usize> = (0..model.cloth_mean.len()).collect();
    order.sort_by(|a, b| model.cloth_mean[*a].y.total_cmp(&model.cloth_mean[*b].y).then(a.cmp(b)));
    order.truncate(((HEM * order.len() as f64).ceil() as usize).max(1));
    order
}

/// Averaged periodograms of overlapping windows (Welch 1967), each freed of its mean and faded out at both ends.
struct Welch {
    power: Vec<f64>,
    signals: usize,
}

impl Welch {
    fn new() -> Self {
        Self { power: vec![0.0; WINDOW / 2], signals: 0 }
    }

    /// Frames of vertices.
    fn add(&mut self, path: &[Vec<DVec3>]) {
        let fade: Vec<f64> = (0..WINDOW).map(faded).collect();
        let waves: Vec<(f64, f64)> =
            (0..WINDOW).map(|i| (TAU * i as f64 / WINDOW as f64).sin_cos()).collect();
        let mut from = 0;
        while from + WINDOW <= path.len() {
            let window = &path[from..from + WINDOW];
            for v in 0..window[0].len() {
                let mean = window.iter().map(|f| f[v]).sum::<DVec3>() / WINDOW as f64;
                let signal: Vec<DVec3> = window.iter().zip(&fade).map(|(f, w)| *w * (f[v] - mean)).collect();
                for (k, power) in self.power.iter_mut().enumerate() {
                    let (mut re, mut im) = (DVec3::ZERO, DVec3::ZERO);
                    for (i, s) in signal.iter().enumerate() {
                        let (sin, cos) = waves[(k + 1) * i % WINDOW];
                        re += cos * *s;
                        im -= sin * *s;
                    }
                    *power += re.length_squared() + im.length_squared();
                }
                self.signals += 1;
            }
            from += WINDOW / 2;
        }
    }

    /// One-sided, per hertz, metres turned to centimetres.
    fn density(&self, rate: f64) -> Option<Vec<f64>> {
        if self.signals == 0 {
            return None;
        }
        let energy: f64 = (0..WINDOW).map(|i| faded(i).powi(2)).sum();
        let scale = 2.0 * 1e4 / (rate * energy * self.signals as f64);
        Some(self.power.iter().map(|p| scale * p).collect())
    }
}

/// Hann's window.
fn faded(i: usize) -> f64 {
    0.5 - 0.5 * (TAU * i as f64 / WINDOW as f64).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_has_its_power_at_its_frequency_and_all_of_it() {
        let (rate, hz, size) = (30.0, 30.0 * 4.0 / WINDOW as f64, 0.03);
        let at = |f: usize| DVec3::new(0.4, 0.0, size * (TAU * hz * f as f64 / rate).cos());
        let path: Vec<Vec<DVec3>> = (0..160).map(|f| vec![at(f), at(f)]).collect();
        let mut welch = Welch::new();
        welch.add(&path);
        let density = welch.density(rate).unwrap();
        let most = (0..density.len()).max_by(|a, b| density[*a].total_cmp(&density[*b])).unwrap();
        assert_eq!(most, 3, "bins begin at the first above zero");
        // Parseval: the variance of a cosine of 3 cm is 4.5 cm².
        let power: f64 = density.iter().sum::<f64>() * rate / WINDOW as f64;
        assert!((power / 4.5 - 1.0).abs() < 0.01, "{power}");
        assert!(Welch::new().density(rate).is_none());
    }
}
