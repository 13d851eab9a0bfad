//! Travel of the root: speed, heading, place and gait phase over time, sampled finely with room before and after.

use super::gait::{self, Style};
use glam::DVec3;

/// Samples per second of all inner tracks, and of the motions that come out.
pub(super) const RATE: f64 = 120.0;
/// Seconds known before the first frame and after the last, so that feet and filters need no special ends.
pub(super) const ROOM: f64 = 2.0;

/// What a travel is made from, each over time in seconds.
pub(super) struct Route<'a> {
    /// Seconds.
    pub duration: f64,
    /// Gait cycles at time 0.
    pub phase: f64,
    /// Ahead and to the left of where the root faces, metres per second.
    pub velocity: &'a dyn Fn(f64) -> [f64; 2],
    /// Radians per second to the left.
    pub turning: &'a dyn Fn(f64) -> f64,
    /// 0 walks, 1 runs.
    pub running: &'a dyn Fn(f64) -> f64,
    /// Steps per time over those that people take at the speed.
    pub tempo: &'a dyn Fn(f64) -> f64,
}

impl Route<'_> {
    /// Standing.
    pub const STILL: Self = Self {
        duration: 0.0,
        phase: 0.0,
        velocity: &|_| [0.0; 2],
        turning: &|_| 0.0,
        running: &|_| 0.0,
        tempo: &|_| 1.0,
    };
}

/// Travel over ground.
#[derive(Clone, Debug)]
pub(super) struct Travel {
    /// Seconds from the first frame to the last.
    pub duration: f64,
    /// Metres per second.
    pub speed: Vec<f64>,
    /// The part of it to the left of where the root faces.
    pub aside: Vec<f64>,
    /// The way it goes: 1 ahead, −1 backwards, 0 sideways.
    pub ahead: Vec<f64>,
    /// 0 walks, 1 runs.
    pub running: Vec<f64>,
    /// Radians about +Y, left positive.
    pub heading: Vec<f64>,
    /// On the ground.
    pub place: Vec<DVec3>,
    /// Gait cycles; the left foot strikes at whole numbers, the right half-way between.
    pub phase: Vec<f64>,
}

impl Travel {
    /// Integrates speed and turning rate. At time 0 the root is at the origin, faces +Z, and has `phase`.
    pub fn new(
        duration: f64,
        phase: f64,
        speed: impl Fn(f64) -> f64,
        turning: impl Fn(f64) -> f64,
        running: impl Fn(f64) -> f64,
    ) -> Self {
        let velocity = |t: f64| [speed(t), 0.0];
        Self::along(&Route {
            duration,
            phase,
            velocity: &velocity,
            turning: &turning,
            running: &running,
            ..Route::STILL
        })
    }

    /// Integrates a route. At time 0 the root is at the origin, faces +Z, and has the route's phase.
    pub fn along(route: &Route) -> Self {
        let n = ((route.duration + 2.0 * ROOM) * RATE).round() as usize + 1;
        let dt = 1.0 / RATE;
        let time = |i: usize| i as f64 * dt - ROOM;
        let sampled = |track: &dyn Fn(f64) -> f64| (0..n).map(|i| track(time(i))).collect::<Vec<f64>>();
        let speed = |t: f64| {
            let [ahead, aside] = (route.velocity)(t);
            // Plain walks keep their exact speed.
            if aside == 0.0 && ahead >= 0.0 { ahead } else { ahead.hypot(aside) }
        };
        // Without direction when standing, so that it does not flip where speed passes through zero.
        let ahead = |t: f64| {
            let [ahead, aside] = (route.velocity)(t);
            if aside == 0.0 && ahead >= 0.0 { 1.0 } else { ahead / (ahead.hypot(aside) + 0.1) }
        };
        let mut travel = Self {
            duration: route.duration,
            speed: sampled(&speed),
            aside: sampled(&|t| (route.velocity)(t)[1]),
            ahead: sampled(&ahead),
            running: sampled(route.running),
            heading: vec![0.0; n],
            place: vec![DVec3::ZERO; n],
            phase: vec![0.0; n],
        };
        for i in 1..n {
            let middle = 0.5 * (time(i - 1) + time(i));
            travel.heading[i] = travel.heading[i - 1] + dt * (route.turning)(middle);
            let along = 0.5 * (travel.heading[i - 1] + travel.heading[i]);
            let [ahead, aside] = (route.velocity)(middle);
            let (sin, cos) = along.sin_cos();
            let step = ahead * DVec3::new(sin, 0.0, cos) + aside * DVec3::new(cos, 0.0, -sin);
            travel.place[i] = travel.place[i - 1] + dt * step;
            let cadence = gait::cadence(speed(middle), (route.running)(middle));
            travel.phase[i] = travel.phase[i - 1] + dt * cadence * (route.tempo)(middle);
        }
        let zero = (ROOM * RATE).round() as usize;
        let (h0, p0, f0) = (travel.heading[zero], travel.place[zero], travel.phase[zero]);
        let back = glam::DQuat::from_rotation_y(-h0);
        for i in 0..n {
            travel.heading[i] -= h0;
            travel.place[i] = back * (travel.place[i] - p0);
            travel.phase[i] += route.phase - f0;
        }
        travel
    }

    /// How the feet go at a time.
    pub fn style(&self, time: f64) -> Style {
        let at = |track: &[f64]| self.sample(track, time);
        Style::at(at(&self.speed), at(&self.running)).going(at(&self.ahead), at(&self.aside))
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.speed.len()
    }

    /// Time of sample `i`.
    pub fn time(&self, i: usize) -> f64 {
        i as f64 / RATE - ROOM
    }

    /// A track at a time, between samples and held at the ends.
    pub fn sample<T>(&self, track: &[T], time: f64) -> T
    where
        T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
    {
        let x = ((time + ROOM) * RATE).clamp(0.0, (track.len() - 1) as f64);
        let i = (x.floor() as usize).min(track.len() - 2);
        let u = x - i as f64;
        track[i] * (1.0 - u) + track[i + 1] * u
    }

    /// When the phase first reaches a value, if it does.
    pub fn when(&self, phase: f64) -> Option<f64> {
        let i = self.phase.partition_point(|&p| p < phase);
        if i == 0 || i == self.phase.len() {
            return None;
        }
        let (a, b) = (self.phase[i - 1], self.phase[i]);
        let u = if b > a { (phase - a) / (b - a) } else { 1.0 };
        Some(self.time(i - 1) + u / RATE)
    }
}

/// A ramp from 0 to 1 whose value, slope and curvature are continuous.
pub(super) fn ramp(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (x * (6.0 * x - 15.0) + 10.0)
}

/// A track through knots (seconds, value, slope), held before the first and after the last.
pub(super) fn through(travel: &Travel, knots: &[(f64, f64, f64)]) -> Vec<f64> {
    let at = |t: f64| {
        let next = knots.partition_point(|k| k.0 <= t);
        if next == 0 {
            return knots[0].1;
        }
        let (t0, y0, v0) = knots[next - 1];
        let Some(&(t1, y1, v1)) = knots.get(next) else { return y0 };
        hermite((t - t0) / (t1 - t0), y0, v0 * (t1 - t0), y1, v1 * (t1 - t0))
    };
    (0..travel.len()).map(|i| at(travel.time(i))).collect()
}

/// The cubic with these values and slopes at 0 and 1.
pub(super) fn hermite<T>(u: f64, a: T, da: T, b: T, db: T) -> T
where
    T: std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let (u2, u3) = (u * u, u * u * u);
    a * (2.0 * u3 - 3.0 * u2 + 1.0) + da * (u3 - 2.0 * u2 + u) + b * (3.0 * u2 - 2.0 * u3) + db * (u3 - u2)
}

/// A track passed through a Gaussian of `sigma` seconds, held at the ends.
pub(super) fn smoothed(track: &[f64], sigma: f64) -> Vec<f64> {
    let s = sigma * RATE;
    let reach = (3.5 * s).ceil() as isize;
    let weights: Vec<f64> = (-reach..=reach).map(|k| (-0.5 * (k as f64 / s).powi(2)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let last = track.len() as isize - 1;
    (0..=last)
        .map(|i| {
            let sum: f64 =
                (-reach..=reach).zip(&weights).map(|(k, w)| w * track[(i + k).clamp(0, last) as usize]).sum();
            sum / total
        })
        .collect()
}

/// A smooth track that is nowhere under `track`: the greatest value within `sigma`·3 on either side, smoothed.
pub(super) fn envelope(track: &[f64], sigma: f64) -> Vec<f64> {
    let reach = (3.5 * sigma * RATE).ceil() as usize;
    let greatest: Vec<f64> = (0..track.len())
        .map(|i| {
            let window = &track[i.saturating_sub(reach)..(i + reach + 1).min(track.len())];
            window.iter().copied().fold(f64::MIN, f64::max)
        })
        .collect();
    smoothed(&greatest, sigma)
}
