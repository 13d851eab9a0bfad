//! The most hostile motion: the inputs that push one vertex as far as the certified bound allows.
//!
//! The response of a vertex along a direction is a sum over past inputs, so the worst input has, at every lag, the
//! sign of its own coefficient. Running it through the shipped code shows how tight the bound is.

use crate::Error;
use crate::certificate::bound::directions;
use crate::certificate::response::{Channel, Responses};
use faer::Mat;
use glam::DVec3;
use std::sync::Arc;
use toile_assets::{Model, RootFrame};
use toile_run::{Crowd, CrowdSettings};

/// A motion that no one can make, and what it does.
pub struct WorstCase {
    /// The vertex that is pushed.
    pub vertex: usize,
    /// Body coefficients, frame by frame: no bones need exist for them.
    pub bodies: Vec<Vec<f32>>,
    /// Roots, frame by frame.
    pub roots: Vec<RootFrame>,
    /// The bound of that vertex, m.
    pub bound_m: f64,
    /// How far the shipped code carries it, m.
    pub attained_m: f64,
    /// The largest share of its own bound that any vertex reached on the way.
    pub largest_share: f64,
}

/// Finds the input that pushes the vertex with the largest bound and runs it through the shipped code.
pub fn worst_case(model: &Arc<Model>) -> Result<WorstCase, Error> {
    let bounds = &model.certificate.travel_bound_m;
    let vertex = (0..bounds.len()).max_by(|a, b| bounds[*a].total_cmp(&bounds[*b])).unwrap_or(0);
    let r = Responses::new(model);
    let (d, order) = (model.cloth_dims, model.order);
    let rows = Mat::from_fn(3, d, |a, k| f64::from(model.cloth_basis[(3 * vertex + a) * d + k]));
    // Enough steps that what is left out is under a percent.
    let decay = (1.0 - model.certificate.rho).max(1e-3);
    let windows = if order == 0 { 0 } else { ((7.0 / decay).ceil() as usize).clamp(60, 6000) };
    // The start alone, and some numbers of windows after it: where memory is short the start decides.
    let alone = Start {
        windows: 0,
        pushed: &rows * &r.a0,
        half: &r.body_half,
        still: vector(&rows, &r.start_centre),
    };
    let mut starts = vec![alone];
    let mut course = r.begin();
    let mut driven: Vec<Mat<f64>> = Vec::with_capacity(windows);
    for k in 1..=windows {
        driven.push(&rows * r.driven(&course));
        r.advance(&mut course);
        if k <= 8 || k.is_power_of_two() || k == windows {
            let (pushed, still) = (&rows * r.started(&course), vector(&rows, &r.centre(&course)));
            starts.push(Start { windows: k, pushed, half: &r.start_half, still });
        }
    }
    // Slack channels follow from the moves; only the real inputs can be chosen.
    let chosen = &r.channels[..model.body_dims + if model.c.is_empty() { 0 } else { 3 }];
    let mut best = (0.0, DVec3::Y, &starts[0]);
    for start in &starts {
        let (reached, n) = farthest(start, &driven[..start.windows], chosen);
        if reached > best.0 {
            best = (reached, n, start);
        }
    }
    let (_, n, start) = best;
    let (driven, started) = (&driven[..start.windows], &start.pushed);
    let pick = |g: f64, half: f64| if g < 0.0 { -half } else { half };
    let mut bodies: Vec<Vec<f64>> = Vec::new();
    let mut moves: Vec<(DVec3, f64)> = Vec::new();
    let extreme = |w: &Mat<f64>, from: usize| -> Vec<f64> {
        (0..model.body_dims)
            .map(|k| r.body_centre[k] + pick(column(w, from + k).dot(n), r.body_half[k]))
            .collect()
    };
    // Frame 0 is the oldest of the start: block i of the memory is i frames before the latest start frame.
    let first = if start.windows == 0 { 1 } else { order };
    for f in 0..first {
        let block = (first - 1 - f) * model.body_dims;
        bodies.push(extreme(started, block));
        let edge = order * model.body_dims + 4 * f.saturating_sub(1);
        moves.push(match f > 0 && !model.c.is_empty() {
            true => root_move(started, edge, n, &r, model.body_dims),
            false => (DVec3::ZERO, 0.0),
        });
    }
    for w in driven.iter().rev() {
        bodies.push(extreme(w, 0));
        moves.push(match model.c.is_empty() {
            true => (DVec3::ZERO, 0.0),
            false => root_move(w, model.body_dims, n, &r, model.body_dims),
        });
    }
    let mut case = WorstCase {
        vertex,
        bodies: bodies.iter().map(|x| x.iter().map(|x| *x as f32).collect()).collect(),
        roots: way(&moves),
        bound_m: f64::from(bounds[vertex]),
        attained_m: 0.0,
        largest_share: 0.0,
    };
    case.run(model)?;
    Ok(case)
}

/// Where moves and turns from frame to frame lead.
fn way(moves: &[(DVec3, f64)]) -> Vec<RootFrame> {
    let mut at = RootFrame { position: DVec3::ZERO, heading: 0.0 };
    let step = |(delta, turn): &(DVec3, f64)| {
        let moved = RootFrame { position: DVec3::ZERO, ..at }.world_from_canonical(*delta);
        at = RootFrame { position: at.position + moved, heading: at.heading + turn };
        at
    };
    moves.iter().map(step).collect()
}

/// What the start does to the vertex after some windows.
struct Start<'a> {
    windows: usize,
    /// Columns of what acts once.
    pushed: Mat<f64>,
    half: &'a [f64],
    /// Where the vertex is with every input at its centre.
    still: DVec3,
}

/// The farthest point that inputs can reach, and its direction. From the best of many directions: push along n, look
/// where that went, push there.
fn farthest(start: &Start<'_>, driven: &[Mat<f64>], chosen: &[(usize, Channel)]) -> (f64, DVec3) {
    let push = |n: DVec3| -> DVec3 {
        let n = if start.still.dot(n) < 0.0 { -n } else { n };
        let mut reached = start.still;
        for w in driven {
            for (at, channel) in chosen {
                let g = column(w, *at);
                reached += match *channel {
                    Channel::Box { half, .. } => g * half * g.dot(n).signum(),
                    Channel::Disc { radius } => {
                        let (x, z) = (g.dot(n), column(w, at + 1).dot(n));
                        let length = x.hypot(z).max(1e-300);
                        (g * x + column(w, at + 1) * z) * (radius / length)
                    }
                };
            }
        }
        for (c, half) in start.half.iter().enumerate() {
            let g = column(&start.pushed, c);
            reached += g * *half * g.dot(n).signum();
        }
        reached
    };
    let mut seeds: Vec<DVec3> = directions(5).0.into_iter().map(|n| push(n.into())).collect();
    seeds.sort_by(|a, b| b.length().total_cmp(&a.length()));
    let mut best = (0.0, DVec3::Y);
    for seed in seeds.into_iter().take(4) {
        let mut n = seed.normalize_or_zero();
        for _ in 0..20 {
            let reached = push(n);
            let next = reached.normalize_or_zero();
            if reached.length() > best.0 {
                best = (reached.length(), next);
            }
            if next.dot(n) > 1.0 - 1e-12 {
                break;
            }
            n = next;
        }
    }
    best
}

impl WorstCase {
    fn run(&mut self, model: &Arc<Model>) -> Result<(), Error> {
        let failed = |e: toile_run::Error| Error::Numerical(format!("the worst input: {e}"));
        let mut crowd = Crowd::new(CrowdSettings::default().with(|s| s.threads = 1));
        let kind = crowd.add_model(model.clone(), 1).map_err(failed)?;
        let garment = crowd.add(kind).map_err(failed)?;
        for (x, root) in self.bodies.iter().zip(&self.roots) {
            // Vertices come as f32: near the origin they keep their digits.
            crowd.set_origin(root.position).map_err(failed)?;
            crowd.set_body(garment, x, root).map_err(failed)?;
            crowd.step(1.0 / model.fps).map_err(failed)?;
            crowd.draw();
            let here = RootFrame { position: DVec3::ZERO, ..*root };
            for (v, p) in crowd.vertices(garment).map_err(failed)?.iter().enumerate() {
                let canonical = here.canonical_from_world(p.as_dvec3());
                let travel = canonical.distance(model.cloth_mean[v].as_dvec3());
                if v == self.vertex {
                    self.attained_m = self.attained_m.max(travel);
                }
                let share = travel / f64::from(model.certificate.travel_bound_m[v]).max(1e-12);
                self.largest_share = self.largest_share.max(share);
            }
        }
        Ok(())
    }
}

fn column(w: &Mat<f64>, c: usize) -> DVec3 {
    DVec3::new(w[(0, c)], w[(1, c)], w[(2, c)])
}

fn vector(rows: &Mat<f64>, y: &[f64]) -> DVec3 {
    let v = crate::certificate::response::times(rows.as_ref(), y);
    DVec3::new(v[0], v[1], v[2])
}

/// Columns x, z, y, turn from `at` on, each pushed along `n`.
fn root_move(w: &Mat<f64>, at: usize, n: DVec3, r: &Responses<'_>, body: usize) -> (DVec3, f64) {
    let half = |k: usize| match r.channels[body + k].1 {
        Channel::Box { half, .. } => half,
        Channel::Disc { radius } => radius,
    };
    let g: [f64; 4] = std::array::from_fn(|k| column(w, at + k).dot(n));
    let flat = g[0].hypot(g[1]).max(1e-300);
    let delta = DVec3::new(g[0] / flat * half(0), g[2].signum() * half(1), g[1] / flat * half(0));
    (delta, g[3].signum() * half(2))
}
