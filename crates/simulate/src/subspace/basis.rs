//! Which directions cloth may move in: those of the database that fit pose and gradient, the gradient itself, and back
//! (§5.2).

use super::kinematic::Kinematic;
use super::stiffness::LANES;
use glam::DVec3;
use toile_assets::adaptive::Database;

/// What stands for the full-space gradient in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientVector {
    /// `Bᵀ g`, the gradient by the places in the bind pose.
    Transposed,
    /// `B⁻¹ g`, which moves cloth in the world along `g`.
    Inverse,
    /// `D⁻¹ Bᵀ g` with `D` the blocks on the diagonal of the matrix in the bind pose: how every vertex would move if the
    /// others were held. The plain gradient is mostly contacts and short waves, which are stiff.
    Relaxed,
    /// It is left out.
    None,
}

/// One direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// A vector of the database.
    Stored(u32),
    Gradient,
    Undo,
}

/// The directions of an iteration, in the bind pose.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    pub columns: Vec<Column>,
    /// `Bᵀ g`.
    pub slope: Vec<f32>,
    /// What moves along the gradient.
    gradient: Vec<f32>,
    /// `x̄ − X̄`.
    undo: Vec<f32>,
    /// Derivative of the energy along each direction.
    pub derivative: Vec<f64>,
    /// Length of each direction.
    pub length: Vec<f64>,
    /// How many vectors of the database were asked.
    pub pool: usize,
    scores: Vec<(f64, u32)>,
}

/// A site is no nearer than this share of the search radius: on top of one, its score would be infinite and nothing else
/// would count.
const NEAREST: f32 = 0.05;

impl Basis {
    /// Takes in gradient and place; the directions are chosen by [`Basis::choose`].
    pub fn look(
        &mut self,
        kinematic: &Kinematic,
        gradient: &[DVec3],
        bind: &[DVec3],
        database: &Database,
        pinned: &[bool],
    ) {
        fill(&mut self.slope, gradient.len(), |i| kinematic.linear[i].transpose() * gradient[i]);
        fill(&mut self.undo, bind.len(), |i| match pinned[i] {
            true => DVec3::ZERO,
            false => bind[i] - database.attachment.rest[i].as_dvec3(),
        });
    }

    /// Takes in the gradient at another place, for the directions that were chosen before.
    pub fn look_again(&mut self, kinematic: &Kinematic, gradient: &[DVec3], database: &Database) {
        fill(&mut self.slope, gradient.len(), |i| kinematic.linear[i].transpose() * gradient[i]);
        self.derivative.clear();
        for column in &self.columns {
            let vector = match *column {
                Column::Stored(k) => database.vector(k as usize),
                Column::Gradient => &self.gradient,
                Column::Undo => &self.undo,
            };
            self.derivative.push(dot_and_square(vector, &self.slope).0);
        }
    }

    /// Chooses up to `most` vectors of the sites within `radius` of the pose, and adds gradient and undo vector.
    pub fn choose(
        &mut self,
        database: &Database,
        distances: &[f32],
        most: usize,
        radius: f32,
        kinematic: &Kinematic,
        gradient: &[DVec3],
        how: GradientVector,
        undo: bool,
        relax: impl Fn(usize, DVec3) -> DVec3,
    ) {
        self.scores.clear();
        for (site, distance) in database.sites.iter().zip(distances) {
            if *distance > radius {
                continue;
            }
            let nearness = 1.0 / f64::from(distance.max(NEAREST * radius.min(1e6)));
            for k in site.vectors() {
                let (along, square) = sampled_dot_and_square(database.vector(k), &self.slope);
                self.scores.push((along.abs() / square.sqrt().max(1e-30) * nearness, k as u32));
            }
        }
        self.pool = self.scores.len();
        // Equal scores in the order of the database: nothing may depend on how a sort treats them.
        self.scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.scores.truncate(most);
        self.columns.clear();
        self.derivative.clear();
        self.length.clear();
        for &(_, k) in &self.scores {
            let (along, square) = dot_and_square(database.vector(k as usize), &self.slope);
            self.columns.push(Column::Stored(k));
            self.derivative.push(along);
            self.length.push(square.sqrt().max(1e-30));
        }
        match how {
            GradientVector::Transposed => self.gradient.clone_from(&self.slope),
            GradientVector::Inverse => {
                fill(&mut self.gradient, gradient.len(), |i| kinematic.inverse(i) * gradient[i]);
            }
            GradientVector::Relaxed => {
                let slope = self.slope.as_chunks::<3>().0;
                fill(&mut self.gradient, gradient.len(), |i| {
                    relax(i, DVec3::from_array(slope[i].map(f64::from)))
                });
            }
            GradientVector::None => {}
        }
        if how != GradientVector::None {
            self.add(Column::Gradient);
        }
        if undo {
            self.add(Column::Undo);
        }
    }

    /// Adds a direction that is not of the database, where it leads anywhere.
    fn add(&mut self, column: Column) {
        let (along, square) = dot_and_square(
            match column {
                Column::Undo => &self.undo,
                _ => &self.gradient,
            },
            &self.slope,
        );
        if square > 1e-18 {
            self.columns.push(column);
            self.derivative.push(along);
            self.length.push(square.sqrt());
        }
    }

    /// The numbers of a direction.
    pub fn vector<'a>(&'a self, database: &'a Database, column: Column) -> &'a [f32] {
        match column {
            Column::Stored(k) => database.vector(k as usize),
            Column::Gradient => &self.gradient,
            Column::Undo => &self.undo,
        }
    }

    /// The numbers of all directions, sixteen at a time.
    pub fn groups<'a>(&'a self, database: &'a Database) -> Vec<Vec<&'a [[f32; 3]]>> {
        let one = |c: &Column| self.vector(database, *c).as_chunks::<3>().0;
        self.columns.chunks(LANES).map(|columns| columns.iter().map(one).collect()).collect()
    }

    /// How much the energy still falls along the directions, each of length one: N.
    pub fn residual(&self) -> f64 {
        let along = self.derivative.iter().zip(&self.length).map(|(d, l)| (d / l) * (d / l));
        along.sum::<f64>().sqrt()
    }

    /// Moves cloth in the bind pose by `q` along the directions; what is held stays.
    pub fn step(&self, database: &Database, q: &[f64], pinned: &[bool], bind: &mut [DVec3]) {
        for (column, q) in self.columns.iter().zip(q) {
            let vector = self.vector(database, *column).as_chunks::<3>().0;
            for ((x, v), held) in bind.iter_mut().zip(vector).zip(pinned) {
                if !held {
                    *x += DVec3::new(v[0].into(), v[1].into(), v[2].into()) * *q;
                }
            }
        }
    }
}

fn fill(out: &mut Vec<f32>, n: usize, value: impl Fn(usize) -> DVec3) {
    out.clear();
    out.extend((0..n).flat_map(|i| value(i).as_vec3().to_array()));
}

/// Numbers that are looked at in a row, the coordinates of 64 vertices.
const PATCH: usize = 192;
/// As many numbers are looked at if there are so many: of 3,000 vertices.
const ENOUGH: usize = 9_000;

/// [`dot_and_square`] of patches spread evenly over a fine garment, all of a coarse one. Which vectors fit is seen as well on a
/// tenth of a sweater of 29,514 vertices, and reading all of them is most of what choosing costs.
fn sampled_dot_and_square(a: &[f32], b: &[f32]) -> (f64, f64) {
    let every = a.len() / ENOUGH;
    if every < 2 {
        return dot_and_square(a, b);
    }
    let patches = a.chunks(PATCH).zip(b.chunks(PATCH)).step_by(every);
    patches.map(|(a, b)| dot_and_square(a, b)).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// `a·b` and `a·a`, in lanes of sixteen that are added up in double precision from run to run.
pub(super) fn dot_and_square(a: &[f32], b: &[f32]) -> (f64, f64) {
    const RUN: usize = 256;
    let (mut along, mut square) = (0.0, 0.0);
    for (a, b) in a.chunks(RUN).zip(b.chunks(RUN)) {
        let (mut d, mut s) = ([0.0f32; LANES], [0.0f32; LANES]);
        let (a16, a1) = a.as_chunks::<LANES>();
        let (b16, b1) = b.as_chunks::<LANES>();
        for (a, b) in a16.iter().zip(b16) {
            for k in 0..LANES {
                d[k] += a[k] * b[k];
                s[k] += a[k] * a[k];
            }
        }
        for (a, b) in a1.iter().zip(b1) {
            d[0] += a * b;
            s[0] += a * a;
        }
        along += d.iter().map(|v| f64::from(*v)).sum::<f64>();
        square += s.iter().map(|v| f64::from(*v)).sum::<f64>();
    }
    (along, square)
}
