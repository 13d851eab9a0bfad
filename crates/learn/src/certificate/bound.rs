//! How far any vertex can ever be from its mean: the travel bound of the certificate.
//!
//! Along a direction `n` the farthest a vertex can be pushed is exactly `Σ_l Σ_u |nᵀ Λ_v F_l g_u| h_u` (signs chosen to add
//! up), so its farthest distance is the maximum of that over directions. A finite set of directions that leaves no gap
//! wider than θ gives the maximum within `1/cos θ`. What lies beyond the last lag is bounded through `P`: with
//! `σ = ‖M^K‖_P` the rest of every sum is at most `σ/(1−σ)` of what `P` measured so far.

use crate::Error;
use crate::certificate::response::{Channel, Course, Responses, from_rows, times};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Llt;
use faer::{Accum, Mat, MatRef, Par};
use toile_assets::Model;

/// Lags handled at once.
const LAGS: usize = 64;
/// Past this the tail is taken as it is.
const MOST_LAGS: usize = 4096;
/// Where the tail is no more than this share of the largest sum, the sum is long enough.
const TAIL_SHARE: f64 = 0.003;
/// f32 arithmetic of the shipped code and of the sums below, with room to spare.
const ROUNDING: f64 = 1.0 + 1e-3;
/// Directions of the coarse look at every vertex.
const COARSE: usize = 13;
/// Chunks in which the start is followed column by column; later it is small, and one norm bounds it.
const EXACT_CHUNKS: usize = 8;
/// Vertices whose responses are one matrix product.
const GROUP: usize = 8;
/// Looks at the vertices that decide: directions to an edge of the cube, and at most so many groups of vertices.
const FINER: [(usize, usize); 2] = [(5, 12), (13, 8)];
/// Steps over which a rate-limited input is taken as nearly constant.
const BLOCK: usize = 4;

/// Bounds of every vertex, m.
pub(crate) struct Travel {
    /// For all inputs of the box.
    pub boxed: Vec<f32>,
    /// For inputs that also keep the rate limits and whose body is no farther from the mean than the farthest of training.
    pub rated: Vec<f32>,
}

/// Half a sphere of directions on the faces of a cube, `grid` to an edge, and the cosine of the largest gap.
pub(crate) fn directions(grid: usize) -> (Vec<[f64; 3]>, f64) {
    let at = |k: usize| 2.0 * k as f64 / (grid - 1) as f64 - 1.0;
    let mut all: Vec<[f64; 3]> = Vec::new();
    for face in 0..3 {
        for i in 0..grid {
            for j in 0..grid {
                let mut n = [0.0; 3];
                (n[face], n[(face + 1) % 3], n[(face + 2) % 3]) = (1.0, at(i), at(j));
                let length = n.iter().map(|v| v * v).sum::<f64>().sqrt();
                let n = n.map(|v| v / length);
                let same =
                    |m: &[f64; 3]| m.iter().zip(&n).map(|(a, b)| a * b).sum::<f64>().abs() > 1.0 - 1e-12;
                if !all.iter().any(same) {
                    all.push(n);
                }
            }
        }
    }
    // The nearest grid point of a face is at most half a cell's diagonal away, seen from a distance of at least 1. For
    // the coarsest grid the exact gap is known: the point as far from an axis as from both kinds of diagonals.
    let cosine = if grid == 3 { 0.8864 } else { 1.0 / (1.0 + 2.0 / ((grid - 1) as f64).powi(2)).sqrt() };
    (all, cosine)
}

/// The farthest every vertex can be from its mean. `p` is the certificate's matrix, factored.
pub(crate) fn travel_bound(model: &Model, p: Option<&Llt<f64>>) -> Result<Travel, Error> {
    let responses = Responses::new(model);
    let all: Vec<usize> = (0..model.vertices).collect();
    let (coarse, coarse_cosine) = directions(3);
    let mut chunks = Chunks::new(&responses, p);
    let sums = sums(&mut chunks, &all, &coarse, coarse_cosine)?;
    let mut bounds: [Vec<f64>; 2] = [sums.iter().map(|s| s.0).collect(), sums.iter().map(|s| s.1).collect()];
    // The worst vertices decide what is said about the model: they are looked at from more and more sides, until no other
    // could be worse.
    for (grid, groups) in FINER {
        let (finer, cosine) = directions(grid);
        let mut looked = vec![false; model.vertices];
        for which in 0..2 {
            for _ in 0..groups {
                let worst = |among: bool| {
                    let open = (0..model.vertices).filter(|&v| looked[v] == among);
                    open.max_by(|a, b| bounds[which][*a].total_cmp(&bounds[which][*b]))
                };
                let bound = |v: Option<usize>| v.map_or(0.0, |v| bounds[which][v]);
                if bound(worst(false)) <= bound(worst(true)) {
                    break;
                }
                let mut order: Vec<usize> = (0..model.vertices).filter(|&v| !looked[v]).collect();
                order.sort_by(|a, b| bounds[which][*b].total_cmp(&bounds[which][*a]));
                order.truncate(GROUP);
                for (v, sum) in order.iter().zip(self::sums(&mut chunks, &order, &finer, cosine)?) {
                    looked[*v] = true;
                    bounds[0][*v] = bounds[0][*v].min(sum.0);
                    bounds[1][*v] = bounds[1][*v].min(sum.1);
                }
            }
        }
    }
    let [boxed, rated] = bounds;
    let finish = |v: Vec<f64>| v.into_iter().map(|b| (b * ROUNDING + 1e-5) as f32).collect();
    Ok(Travel { boxed: finish(boxed), rated: finish(rated) })
}

/// One vertex's sums along every direction.
struct Sums {
    vertex: usize,
    /// Rows of the basis, times directions later.
    rows: Mat<f32>,
    norm: f64,
    /// Per direction: sum so far, and the largest of sum, start and centre over the number of windows so far.
    along: Vec<(f64, f64)>,
    /// Per direction: the same with rate limits.
    rated: Vec<f64>,
    /// Per direction and rate-limited channel: totals step by step, and in blocks.
    blocks: Vec<[f64; 2]>,
    /// Per direction: the same as `along` for bodies within training's reach.
    reached: Vec<(f64, f64)>,
}

fn sums(
    chunks: &mut Chunks<'_>,
    vertices: &[usize],
    directions: &[[f64; 3]],
    cosine: f64,
) -> Result<Vec<(f64, f64)>, Error> {
    let r = chunks.r;
    let limited = r.channels.iter().filter(|(_, c)| matches!(c, Channel::Box { body: Some(_), .. })).count();
    let mut all: Vec<Sums> = vertices.iter().map(|&v| Sums::begin(r, v, directions, limited)).collect();
    if chunks.p.is_none() || r.model.order == 0 {
        let worst = |s: &Sums| s.along.iter().map(|a| a.1).fold(0.0, f64::max) / cosine;
        return Ok(all.iter().map(|s| (worst(s), worst(s))).collect());
    }
    let mut lags = 0;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    loop {
        let chunk = chunks.get(lags / LAGS)?;
        lags += LAGS;
        let share = all.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            for part in all.chunks_mut(share) {
                scope.spawn(move || {
                    for group in part.chunks_mut(GROUP) {
                        add_group(group, r, chunk, directions);
                    }
                });
            }
        });
        let rest = chunk.rest;
        let largest = all.iter().flat_map(|s| &s.along).map(|a| a.0).fold(0.0, f64::max);
        let reach = all.iter().map(|s| s.norm).fold(0.0, f64::max);
        let short = rest.is_none_or(|(driven, started)| {
            reach * driven > TAIL_SHARE * largest || reach * started > 3.0 * TAIL_SHARE * largest
        });
        if short && lags < MOST_LAGS {
            continue;
        }
        let Some((driven, started)) = rest else {
            return Err(Error::Numerical(format!("the memory does not decay within {MOST_LAGS} steps")));
        };
        let bounds = all.iter().map(|s| s.bounds(r, directions, driven + started));
        return Ok(bounds.map(|(boxed, rated)| (boxed / cosine, rated / cosine)).collect());
    }
}

/// Responses of several vertices, three columns each.
struct GroupResponses {
    driven: Mat<f32>,
    started: Option<Mat<f32>>,
    centre: Mat<f32>,
    centre_mean: Mat<f32>,
}

/// Adds a chunk to some vertices: one product for all of them, then each along every direction.
fn add_group(group: &mut [Sums], r: &Responses<'_>, chunk: &Chunk, directions: &[[f64; 3]]) {
    let rows = Mat::from_fn(r.model.cloth_dims, 3 * group.len(), |k, c| group[c / 3].rows[(c % 3, k)]);
    let times = |m: &Mat<f32>| {
        let mut w = Mat::<f32>::zeros(m.ncols(), rows.ncols());
        matmul(w.as_mut(), Accum::Replace, m.transpose(), &rows, 1.0, Par::Seq);
        w
    };
    let seen = GroupResponses {
        driven: times(&chunk.driven),
        started: chunk.started.as_ref().map(times),
        centre: times(&chunk.centre),
        centre_mean: times(&chunk.centre_mean),
    };
    for (i, sums) in group.iter_mut().enumerate() {
        sums.add(r, chunk, &seen, 3 * i, directions);
    }
}

/// What the start does along `n` at every lag: for all bodies of the box, for bodies that change by their rates only (one
/// body and small changes: no jerk to start with), and for such bodies within training's reach of the mean.
fn start_along(r: &Responses<'_>, started: &Mat<f32>, at: usize, n: [f32; 3]) -> [[f32; LAGS]; 3] {
    let (m, order) = (r.model.body_dims, r.model.order);
    let reach = r.model.inputs.body_reach * (m as f32).sqrt();
    let columns: [&[f32]; 3] = std::array::from_fn(|a| started.col_as_slice(at + a));
    let along = |c: usize| -> [f32; LAGS] {
        let mut g = [0.0f32; LAGS];
        for (n, w) in n.iter().zip(columns) {
            g.iter_mut().zip(&w[c * LAGS..(c + 1) * LAGS]).for_each(|(g, w)| *g += n * w);
        }
        g
    };
    let [mut boxed, mut rated, mut from_mean] = [[0.0f32; LAGS]; 3];
    let (mut by_box, mut squares) = ([0.0f32; LAGS], [0.0f32; LAGS]);
    for k in 0..m {
        let (half, centre) = (r.body_half[k] as f32, r.body_centre[k].abs() as f32);
        let (rate, std) = (r.model.inputs.body_rate[k], r.model.inputs.body_std[k]);
        let mut sum = [0.0f32; LAGS];
        for i in (0..order).rev() {
            let g = along(i * m + k);
            for l in 0..LAGS {
                boxed[l] += half * g[l].abs();
                sum[l] += g[l];
                if i > 0 {
                    rated[l] += rate * sum[l].abs();
                    from_mean[l] += rate * sum[l].abs();
                }
            }
        }
        for l in 0..LAGS {
            rated[l] += half * sum[l].abs();
            by_box[l] += (half + centre) * sum[l].abs();
            squares[l] += (std * sum[l]).powi(2);
        }
    }
    for (c, half) in r.start_half.iter().enumerate().skip(order * m) {
        let g = along(c);
        for l in 0..LAGS {
            let pushed = *half as f32 * g[l].abs();
            boxed[l] += pushed;
            rated[l] += pushed;
            from_mean[l] += pushed;
        }
    }
    // A body within reach is within an ellipsoid and within the box: the smaller of the two holds.
    for l in 0..LAGS {
        from_mean[l] += by_box[l].min(reach * squares[l].sqrt());
    }
    [boxed, rated, from_mean]
}

/// What the start does along a direction at most, from what it does along the axes.
fn between_axes(axes: &[[[f32; LAGS]; 3]; 3], n: [f32; 3]) -> [[f32; LAGS]; 3] {
    std::array::from_fn(|which| std::array::from_fn(|l| (0..3).map(|a| n[a].abs() * axes[a][which][l]).sum()))
}

impl Sums {
    /// Before any window: what the start alone does.
    fn begin(r: &Responses<'_>, vertex: usize, directions: &[[f64; 3]], limited: usize) -> Self {
        let (model, d) = (r.model, r.model.cloth_dims);
        let rows = Mat::from_fn(3, d, |axis, k| model.cloth_basis[(3 * vertex + axis) * d + k]);
        let norm = f64::from(rows.squared_norm_l2()).sqrt();
        let start = |n: &[f64; 3]| {
            // The order-0 frames: one affine map of the box.
            let gain = from_rows(3, d, &model.cloth_basis[3 * vertex * d..3 * (vertex + 1) * d]) * &r.a0;
            let pushed: f64 = (0..gain.ncols())
                .map(|c| (0..3).map(|a| n[a] * gain[(a, c)]).sum::<f64>().abs() * r.body_half[c])
                .sum();
            let wide = Mat::from_fn(3, d, |a, k| f64::from(rows[(a, k)]));
            let centre = times(wide.as_ref(), &r.start_centre);
            pushed + (0..3).map(|a| n[a] * centre[a]).sum::<f64>().abs()
        };
        let along: Vec<(f64, f64)> = directions.iter().map(|n| (0.0, start(n))).collect();
        let rated = along.iter().map(|a| a.1).collect();
        let blocks = vec![[0.0; 2]; directions.len() * limited];
        Self { vertex, norm, reached: along.clone(), along, rated, blocks, rows }
    }

    /// The farthest along any of the directions, for inputs anywhere in the box and for those within trained speeds or
    /// reach; `rest` bounds what all further windows could add.
    fn bounds(&self, r: &Responses<'_>, directions: &[[f64; 3]], rest: f64) -> (f64, f64) {
        let (model, d) = (r.model, r.model.cloth_dims);
        let rows = from_rows(3, d, &model.cloth_basis[3 * self.vertex * d..3 * (self.vertex + 1) * d]);
        let (steady, steady_mean) = (times(rows.as_ref(), &r.steady), times(rows.as_ref(), &r.steady_mean));
        let over = |sum: f64, n: &[f64; 3], steady: &[f64]| {
            let still = (0..3).map(|a| n[a] * steady[a]).sum::<f64>().abs();
            sum + still + self.norm * rest
        };
        let (mut boxed, mut rated) = (0.0f64, 0.0f64);
        for (k, n) in directions.iter().enumerate() {
            let (sum, most) = self.along[k];
            let limited_sum = self.limited_sum(k, sum);
            let (reached_sum, reached_most) = self.reached[k];
            boxed = boxed.max(most.max(over(sum, n, &steady)));
            let by_rate = self.rated[k].max(over(limited_sum, n, &steady));
            let by_reach = reached_most.max(over(reached_sum, n, &steady_mean));
            rated = rated.max(by_rate.min(by_reach));
        }
        (boxed, rated.min(boxed))
    }

    /// The next windows.
    fn add(
        &mut self,
        r: &Responses<'_>,
        chunk: &Chunk,
        seen: &GroupResponses,
        at: usize,
        directions: &[[f64; 3]],
    ) {
        let driven: [&[f32]; 3] = std::array::from_fn(|a| seen.driven.col_as_slice(at + a));
        let [centre, centre_mean] = [&seen.centre, &seen.centre_mean]
            .map(|m| -> [&[f32]; 3] { std::array::from_fn(|a| &m.col_as_slice(at + a)[..LAGS]) });
        // Along many directions only the few vertices that decide are looked at: there the start is exact. Elsewhere what
        // it does along the axes bounds what it does along any direction.
        let exact = directions.len() > COARSE;
        let axes: Option<[[[f32; LAGS]; 3]; 3]> =
            seen.started.as_ref().filter(|_| !exact).map(|s| {
                [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|n| start_along(r, s, at, n))
            });
        let reach = r.model.inputs.body_reach * (r.model.body_dims as f32).sqrt();
        let limited = self.blocks.len() / directions.len();
        for (k, n) in directions.iter().enumerate() {
            let n32 = n.map(|v| v as f32);
            let mut by_lag = [0.0f32; LAGS];
            let mut others = [0.0f32; LAGS];
            let mut squares = [0.0f32; LAGS];
            let mut next_limited = 0;
            for (at, channel) in &r.channels {
                let along = |column: usize| -> [f32; LAGS] {
                    let mut g = [0.0f32; LAGS];
                    for (a, n) in n32.iter().enumerate() {
                        let w = &driven[a][column * LAGS..(column + 1) * LAGS];
                        g.iter_mut().zip(w).for_each(|(g, w)| *g += n * w);
                    }
                    g
                };
                match *channel {
                    Channel::Box { half, body } => {
                        let g = along(*at);
                        let Some(body) = body else {
                            others.iter_mut().zip(&g).for_each(|(s, g)| *s += half as f32 * g.abs());
                            continue;
                        };
                        by_lag.iter_mut().zip(&g).for_each(|(s, g)| *s += half as f32 * g.abs());
                        squares.iter_mut().zip(&g).for_each(|(s, g)| *s += (body.std as f32 * g).powi(2));
                        add_blocks(&mut self.blocks[k * limited + next_limited], &g, half, body.rate);
                        next_limited += 1;
                    }
                    Channel::Disc { radius } => {
                        let (x, z) = (along(*at), along(at + 1));
                        for (s, (x, z)) in others.iter_mut().zip(x.iter().zip(&z)) {
                            *s += radius as f32 * x.hypot(*z);
                        }
                    }
                }
            }
            let start = match (&seen.started, &axes) {
                (Some(_), Some(axes)) => between_axes(axes, n32),
                (Some(started), None) => start_along(r, started, at, n32),
                (None, _) => [chunk.started_norm.map(|s| self.norm as f32 * s); 3],
            };
            let (mut sum, mut most) = self.along[k];
            let (mut reached_sum, mut reached_most) = self.reached[k];
            let mut rated_most = 0.0f64;
            for l in 0..LAGS {
                sum += f64::from(by_lag[l] + others[l]);
                reached_sum += f64::from(reach * squares[l].sqrt() + others[l]);
                let still: f32 = (0..3).map(|a| n32[a] * centre[a][l]).sum();
                let still_mean: f32 = (0..3).map(|a| n32[a] * centre_mean[a][l]).sum();
                let from_mean = f64::from(start[2][l] + still_mean.abs());
                let extra = f64::from(start[0][l] + still.abs());
                rated_most = rated_most.max(f64::from(start[1][l] + still.abs()));
                most = most.max(sum + extra);
                reached_most = reached_most.max(reached_sum + from_mean);
            }
            self.reached[k] = (reached_sum, reached_most);
            self.along[k] = (sum, most);
            // With rate limits the sum is known at the end of a chunk only.
            self.rated[k] = self.rated[k].max(self.limited_sum(k, sum) + rated_most).min(most);
        }
    }

    /// The sum along direction `k` with every rate-limited channel at its best block length.
    fn limited_sum(&self, k: usize, sum: f64) -> f64 {
        let limited = self.blocks.len() / self.along.len().max(1);
        let saved: f64 =
            self.blocks[k * limited..(k + 1) * limited].iter().map(|b| b[0] - b[0].min(b[1])).sum();
        sum - saved
    }
}

/// Over a block, an input that changes by at most `rate` a step is its middle value (within the box) and a rest that
/// grows from there: `|Σ g u| ≤ h |Σ g| + rate Σ |k − mid| |g|`.
fn add_blocks(totals: &mut [f64; 2], g: &[f32; LAGS], half: f64, rate: f64) {
    totals[0] += half * f64::from(g.iter().map(|g| g.abs()).sum::<f32>());
    let (mut whole, mut rest) = (0.0f32, 0.0f32);
    for [a, b, c, d] in g.as_chunks::<BLOCK>().0 {
        whole += (a + b + c + d).abs();
        rest += 1.5 * (a.abs() + d.abs()) + 0.5 * (b.abs() + c.abs());
    }
    totals[1] += half * f64::from(whole) + rate * f64::from(rest);
}

/// Responses of `LAGS` lags, lags innermost: column `c·LAGS + l`.
struct Chunk {
    driven: Mat<f32>,
    /// What the start does, in the first chunks.
    started: Option<Mat<f32>>,
    /// Per lag, how far the start can push the coefficients, from any centre.
    started_norm: [f32; LAGS],
    centre: Mat<f32>,
    centre_mean: Mat<f32>,
    /// What lies beyond this chunk.
    rest: Option<(f64, f64)>,
}

/// All chunks so far: every set of vertices and directions goes through the same ones.
struct Chunks<'a> {
    r: &'a Responses<'a>,
    p: Option<&'a Llt<f64>>,
    course: Course,
    tail: Tail,
    list: Vec<Chunk>,
}

impl<'a> Chunks<'a> {
    fn new(r: &'a Responses<'a>, p: Option<&'a Llt<f64>>) -> Self {
        Self { r, p, course: r.begin(), tail: Tail::new(r), list: Vec::new() }
    }

    fn get(&mut self, index: usize) -> Result<&Chunk, Error> {
        while self.list.len() <= index {
            let p = self.p.ok_or_else(|| Error::Numerical("a memory without a certificate".into()))?;
            let exact = self.list.len() < EXACT_CHUNKS;
            let mut chunk = Chunk::new(self.r, &mut self.course, &mut self.tail, p, exact);
            chunk.rest = self.tail.beyond(self.r, &self.course, p)?;
            self.list.push(chunk);
        }
        Ok(&self.list[index])
    }
}

impl Chunk {
    fn new(r: &Responses<'_>, course: &mut Course, tail: &mut Tail, p: &Llt<f64>, exact: bool) -> Self {
        let d = r.model.cloth_dims;
        let mut driven = Mat::<f32>::zeros(d, r.columns * LAGS);
        let mut started = exact.then(|| Mat::<f32>::zeros(d, r.start_half.len() * LAGS));
        let mut started_norm = [0.0f32; LAGS];
        // Bodies lie around the centre of their box, or around the mean: what holds for both holds.
        let far =
            |c: usize| r.start_half[c] + r.body_centre.get(c % r.model.body_dims).map_or(0.0, |v| v.abs());
        let mut centre = Mat::<f32>::zeros(d, LAGS);
        let mut centre_mean = Mat::<f32>::zeros(d, LAGS);
        let put = |to: &mut Mat<f32>, from: MatRef<'_, f64>, l: usize| {
            for c in 0..from.ncols() {
                for row in 0..d {
                    to[(row, c * LAGS + l)] = from[(row, c)] as f32;
                }
            }
        };
        for l in 0..LAGS {
            let now = r.driven(course);
            put(&mut driven, now.as_ref(), l);
            tail.add(r, now, p);
            r.advance(course);
            let start = r.started(course);
            started_norm[l] = (0..start.ncols()).map(|c| far(c) * start.col(c).norm_l2()).sum::<f64>() as f32;
            if let Some(started) = &mut started {
                put(started, start.as_ref(), l);
            }
            for (row, (v, mean)) in r.centre(course).iter().zip(r.centre_of_mean(course)).enumerate() {
                centre[(row, l)] = *v as f32;
                centre_mean[(row, l)] = mean as f32;
            }
        }
        Self { driven, started, started_norm, centre, centre_mean, rest: None }
    }
}

/// What `P` says about lags that were not added up.
struct Tail {
    /// Responses of the latest lags, newest first: the state an input has left behind.
    recent: Vec<Mat<f64>>,
    /// `Σ_l Σ_u h_u ‖Mˡ [I; 0] g_u‖_P` so far.
    measured: f64,
}

impl Tail {
    fn new(r: &Responses<'_>) -> Self {
        Self { recent: vec![Mat::zeros(r.model.cloth_dims, r.columns); r.model.order], measured: 0.0 }
    }

    fn add(&mut self, r: &Responses<'_>, now: Mat<f64>, p: &Llt<f64>) {
        self.recent.insert(0, now);
        self.recent.truncate(r.model.order);
        let d = r.model.cloth_dims;
        let state = Mat::from_fn(r.m.nrows(), r.columns, |row, c| self.recent[row / d][(row % d, c)]);
        let weighted = p.L().transpose() * state;
        for (at, channel) in &r.channels {
            let norm = |c: usize| weighted.col(c).norm_l2();
            self.measured += match *channel {
                Channel::Box { half, .. } => half * norm(*at),
                Channel::Disc { radius } => radius * norm(*at).hypot(norm(at + 1)),
            };
        }
    }

    /// A bound on `‖y‖` from everything later, and from the start; `None` while the memory has not decayed.
    fn beyond(&self, r: &Responses<'_>, course: &Course, p: &Llt<f64>) -> Result<Option<(f64, f64)>, Error> {
        let power = r.power(course)?;
        // ‖M^K‖_P = ‖Lᵀ M^K L⁻ᵀ‖₂, at most its Frobenius norm.
        let lt = p.L().transpose().to_owned();
        let weighted = &lt * &power;
        // X Lᵀ = W ⇔ L Xᵀ = Wᵀ.
        let mut x = weighted.transpose().to_owned();
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(p.L(), x.as_mut(), Par::Seq);
        let sigma = x.norm_l2();
        if sigma >= 0.5 {
            return Ok(None);
        }
        let d = r.model.cloth_dims;
        let offset: Vec<f64> = r.start_centre.iter().zip(&r.steady).map(|(s, y)| s - y).collect();
        let mut start = 0.0;
        for i in 0..r.model.order {
            let lift = |v: &dyn Fn(usize) -> f64| {
                Mat::from_fn(r.m.nrows(), 1, |row, _| if row / d == i { v(row % d) } else { 0.0 })
            };
            for (c, half) in r.body_half.iter().enumerate() {
                start += half * (&lt * lift(&|row| r.a0[(row, c)])).norm_l2();
            }
            start += (&lt * lift(&|row| offset[row])).norm_l2();
        }
        Ok(Some((sigma / (1.0 - sigma) * self.measured, sigma * (start + self.measured))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn directions_leave_no_wider_gap_than_they_say() {
        let mut random = Random::new(1);
        for (grid, count) in [(3, 13), (5, 49), (13, 433)] {
            let (all, cosine) = directions(grid);
            assert_eq!(all.len(), count);
            for _ in 0..20_000 {
                let p = random.vector().to_array();
                let length = p.iter().map(|v| v * v).sum::<f64>().sqrt();
                let dot = |n: &[f64; 3]| n.iter().zip(&p).map(|(a, b)| a * b).sum::<f64>().abs() / length;
                assert!(all.iter().map(dot).fold(0.0, f64::max) >= cosine, "{p:?} lies in a gap");
            }
        }
    }

    #[test]
    fn blocks_never_promise_less_than_an_input_within_its_rate_can_do() {
        let mut random = Random::new(3);
        for _ in 0..50 {
            let phase = random.signed() as f32;
            let g: [f32; LAGS] =
                std::array::from_fn(|l| (0.4 * l as f32 + phase).sin() * 0.97f32.powi(l as i32));
            let (half, rate) = (1.0, 0.15);
            let mut totals = [0.0; 2];
            add_blocks(&mut totals, &g, half, rate);
            let bound = totals.iter().copied().fold(f64::INFINITY, f64::min);
            // Follow the sign of the response as fast as the rate allows, looking ahead by some steps.
            for ahead in 0..8 {
                let mut u = 0.0f64;
                let mut sum = 0.0;
                for l in 0..LAGS {
                    let wanted = f64::from(g[(l + ahead).min(LAGS - 1)].signum());
                    u = (u + (wanted - u).clamp(-rate, rate)).clamp(-half, half);
                    sum += u * f64::from(g[l]);
                }
                assert!(sum <= bound, "{sum} against {bound}");
            }
            assert!(bound <= totals[0]);
        }
    }
}
