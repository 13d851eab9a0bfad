//! A waistband keeps its length: where the skin it is held to stretches, it slides on it.
//!
//! Skin between hip and waist stretches by a fifth or more when its wearer bows. Cloth pinned to points of it would be
//! pulled as long; a real band stretches by a few per cent and slides. So the places of pins are the nearest ones to
//! their points of the skin that leave no edge of the band longer than it may be and none behind the skin: each edge that
//! is too long is drawn together by halves and each vertex put back in front of its point's plane, in turns
//! (projections onto constraints, as in Müller 2007). Where no edge is too long not a bit changes.

use glam::DVec3;

/// What a band bears, as a share of its flat length. Interfaced waistbands give 2 to 5 %; beyond 15 % a take is not true.
const BEARS: f64 = 0.05;
/// Rounds of projections: a ring of 36 edges, of which six are pulled by 30 %, is within a per cent after so many.
const ROUNDS: usize = 200;
/// An edge this much too long is left as it is, as a share of what it may be.
const LEFT: f64 = 1e-3;

/// Edges between vertices that are pinned to the skin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    edges: Vec<BandEdge>,
}

#[derive(Clone, Copy, Debug)]
struct BandEdge {
    /// Its ends, as places in the list of pins.
    ends: [usize; 2],
    /// The longest that it may be, m.
    longest_m: f64,
}

impl Band {
    /// The band of pins at `places`; `pin_of[v]` is a vertex's place in the list of pins where it is held to the skin. What is
    /// longer from the start may stay so.
    pub fn new(edges: &[[u32; 2]], flat_m: &[f64], pin_of: &[Option<usize>], places: &[DVec3]) -> Self {
        let held = |[a, b]: [u32; 2], flat: f64| {
            let ends = [pin_of[a as usize]?, pin_of[b as usize]?];
            let now = places[a as usize].distance(places[b as usize]);
            Some(BandEdge { ends, longest_m: now.max(flat * (1.0 + BEARS)) })
        };
        let mut band: Vec<BandEdge> =
            edges.iter().zip(flat_m).filter_map(|(edge, flat)| held(*edge, *flat)).collect();
        // In a seam between two rows of pins there may be a vertex that is not held: it is pulled as long by both.
        let mut about = vec![Vec::new(); pin_of.len()];
        for ([a, b], flat) in edges.iter().zip(flat_m) {
            for (free, pin) in [(*a, *b), (*b, *a)] {
                if pin_of[free as usize].is_none() && pin_of[pin as usize].is_some() {
                    about[free as usize].push((pin, *flat));
                }
            }
        }
        for pins in about {
            for (k, (a, one)) in pins.iter().enumerate() {
                band.extend(pins[..k].iter().filter_map(|(b, other)| held([*a, *b], one + other)));
            }
        }
        Self { edges: band }
    }

    /// Moves pins from their points of the skin to where the band keeps its length. `outward` is the skin's normal at each.
    pub fn keep(&self, pins: &mut [(u32, DVec3)], outward: &[DVec3]) {
        let too_long = |pins: &[(u32, DVec3)], e: &BandEdge| {
            pins[e.ends[0]].1.distance(pins[e.ends[1]].1) - e.longest_m > LEFT * e.longest_m
        };
        if !self.edges.iter().any(|e| too_long(pins, e)) {
            return;
        }
        let points: Vec<DVec3> = pins.iter().map(|(_, p)| *p).collect();
        for _ in 0..ROUNDS {
            let mut moved = false;
            for e in self.edges.iter() {
                if !too_long(pins, e) {
                    continue;
                }
                let [a, b] = e.ends;
                let apart = pins[b].1 - pins[a].1;
                let by = apart * (0.5 * (1.0 - e.longest_m / apart.length()));
                pins[a].1 += by;
                pins[b].1 -= by;
                moved = true;
            }
            if !moved {
                break;
            }
            for ((_, p), (point, n)) in pins.iter_mut().zip(points.iter().zip(outward)) {
                *p += *n * (*point - *p).dot(*n).max(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of 36 around a waist of 12 cm; skin on one side of it stretched by `stretch`.
    fn ring(stretch: f64) -> (Band, Vec<(u32, DVec3)>, Vec<DVec3>) {
        let at = |angle: f64| DVec3::new(0.12 * angle.cos(), 1.0, 0.12 * angle.sin());
        let turn = |k: usize| k as f64 / 36.0 * std::f64::consts::TAU;
        let edges: Vec<[u32; 2]> = (0..36).map(|k| [k, (k + 1) % 36]).collect();
        let rest: Vec<DVec3> = (0..36).map(|k| at(turn(k))).collect();
        let flat: Vec<f64> =
            edges.iter().map(|[a, b]| rest[*a as usize].distance(rest[*b as usize])).collect();
        let pin_of: Vec<Option<usize>> = (0..36).map(Some).collect();
        let band = Band::new(&edges, &flat, &pin_of, &rest);
        // The six at one side spread, the others drawn together.
        let spread = |k: usize| {
            let away = (turn(k) + std::f64::consts::PI) % std::f64::consts::TAU - std::f64::consts::PI;
            if away.abs() <= 0.53 {
                away * (1.0 + stretch)
            } else {
                away.signum()
                    * (0.53 * (1.0 + stretch)
                        + (away.abs() - 0.53) * (1.0 - 0.53 * stretch / (std::f64::consts::PI - 0.53)))
            }
        };
        let pins: Vec<(u32, DVec3)> = (0..36).map(|k| (k as u32, at(spread(k)))).collect();
        let outward = pins.iter().map(|(_, p)| DVec3::new(p.x, 0.0, p.z).normalize()).collect();
        (band, pins, outward)
    }

    #[test]
    fn a_band_on_skin_that_stretches_slides_and_is_not_pulled_long() {
        let (band, mut pins, outward) = ring(0.3);
        let before = pins.clone();
        let length = |pins: &[(u32, DVec3)]| {
            band.edges
                .iter()
                .map(|e| pins[e.ends[0]].1.distance(pins[e.ends[1]].1) / (e.longest_m / (1.0 + BEARS)))
                .fold(0.0, f64::max)
        };
        assert!(length(&before) > 1.25, "{}", length(&before));
        band.keep(&mut pins, &outward);
        assert!(length(&pins) < 1.06, "{}", length(&pins));
        for ((_, p), (_, point)) in pins.iter().zip(&before) {
            assert!(p.distance(*point) < 0.03 && p.x.hypot(p.z) > 0.1199, "{p} from {point}");
        }
    }

    #[test]
    fn a_vertex_between_two_rows_of_pins_is_not_pulled_long() {
        let edges = [[0, 1], [1, 2]];
        let at = |y: f64| DVec3::new(0.0, y, 0.0);
        let places = [at(0.0), at(0.02), at(0.04)];
        let band = Band::new(&edges, &[0.02, 0.02], &[Some(0), None, Some(1)], &places);
        let mut pins = vec![(0, at(0.0)), (2, at(0.05))];
        band.keep(&mut pins, &[DVec3::Z; 2]);
        let apart = pins[0].1.distance(pins[1].1);
        assert!((0.04..0.0421).contains(&apart), "{apart}");
    }

    #[test]
    fn a_band_that_is_not_pulled_keeps_its_bits() {
        let (band, mut pins, outward) = ring(0.03);
        let before = pins.clone();
        band.keep(&mut pins, &outward);
        assert_eq!(pins, before);
    }
}
