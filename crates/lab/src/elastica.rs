//! The elastica by shooting: what a bent strip looks like if it is right.
//!
//! A strip of unit length and rigidity, clamped level at s = 0: `θ'' = −q(s) cos θ` with θ the slope below the
//! horizon, `θ(0) = 0` and `θ'(1) = 0`, where `q` is the load beyond `s`: `Γ(1 − s)` for its own weight
//! (Γ = wL³/B), `P` for a load at the tip (PL²/B).

/// Steps of the integration; the drop is right to 1e-9.
const STEPS: usize = 2000;

/// What bends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Its own weight, Γ.
    Weight(f64),
    /// A force at the tip, PL²/B.
    Tip(f64),
}

impl Load {
    fn beyond(self, s: f64) -> f64 {
        match self {
            Self::Weight(gamma) => gamma * (1.0 - s),
            Self::Tip(p) => p,
        }
    }
}

/// Points `(along, down)` from the clamp to the tip, over the length.
pub fn profile(load: Load) -> Vec<(f64, f64)> {
    // The curvature at the clamp is what shooting has to find: the curvature at the tip grows with it.
    let (mut low, mut high) = (0.0, load.beyond(0.0) + 1.0);
    for _ in 0..80 {
        let mid = 0.5 * (low + high);
        if shoot(load, mid).1 > 0.0 {
            high = mid;
        } else {
            low = mid;
        }
    }
    shoot(load, 0.5 * (low + high)).0
}

/// Tip of a profile: along, down.
pub fn tip(load: Load) -> (f64, f64) {
    profile(load).last().copied().unwrap_or_default()
}

/// Profile for a curvature at the clamp, and the curvature that it gives at the tip (Runge–Kutta of order 4).
fn shoot(load: Load, curvature: f64) -> (Vec<(f64, f64)>, f64) {
    let h = 1.0 / STEPS as f64;
    let (mut theta, mut kappa, mut x, mut y) = (0.0f64, curvature, 0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    let f = |s: f64, y: [f64; 4]| [y[1], -load.beyond(s) * y[0].cos(), y[0].cos(), y[0].sin()];
    for n in 0..STEPS {
        let (s, y0) = (n as f64 * h, [theta, kappa, x, y]);
        let ahead = |k: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| y0[i] + h * k[i]);
        let k1 = f(s, y0);
        let k2 = f(s + 0.5 * h, ahead(k1, 0.5 * h));
        let k3 = f(s + 0.5 * h, ahead(k2, 0.5 * h));
        let k4 = f(s + h, ahead(k3, h));
        let next = [0, 1, 2, 3].map(|i| y0[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        [theta, kappa, x, y] = next;
        points.push((x, y));
    }
    (points, kappa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_values() {
        for (gamma, drop) in [(1.0, 0.12347), (5.0, 0.49591), (10.0, 0.70020), (50.0, 0.90792)] {
            let (_, y) = tip(Load::Weight(gamma));
            assert!((y - drop).abs() < 1e-5, "Γ = {gamma}: {y}");
        }
        for (p, drop, shortening) in [(1.0, 0.30172, 0.05643), (10.0, 0.81061, 0.55500)] {
            let (x, y) = tip(Load::Tip(p));
            assert!((y - drop).abs() < 1e-5 && (1.0 - x - shortening).abs() < 1e-5, "{p}: {x} {y}");
        }
        // ASTM D1388: the chord is at 41.5° where Γ = 8.004.
        let (x, y) = tip(Load::Weight(8.004));
        assert!((y.atan2(x).to_degrees() - 41.5).abs() < 1e-3);
    }
}
