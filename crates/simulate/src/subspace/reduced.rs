//! The reduced system `K q = −r` (eq. 7–9): put together plainly, or from products that are kept.

use super::basis::{Basis, Column, dot_and_square};
use super::forces::Forces;
use super::kinematic::Kinematic;
use super::stiffness::{Angles, Stiffness};
use crate::contact::constraint::Contact;
use crate::scene::Scene;
use glam::{DMat3, DVec3, Mat3A, Vec3A};
use toile_model::adaptive::Database;

/// A small symmetric matrix, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduced {
    pub size: usize,
    pub k: Vec<f64>,
}

impl Reduced {
    fn clear(&mut self, size: usize) {
        self.size = size;
        self.k.clear();
        self.k.resize(size * size, 0.0);
    }

    fn set(&mut self, i: usize, j: usize, value: f64) {
        self.k[i * self.size + j] = value;
        self.k[j * self.size + i] = value;
    }

    /// `K = Jᵀ H J` from the full-space matrix, and `r = Jᵀ g` into `derivative`, each product in double precision.
    pub fn assemble_plainly(
        &mut self,
        scene: &Scene,
        database: &Database,
        kinematic: &Kinematic,
        basis: &mut Basis,
        stiffness: &Stiffness,
        forces: &Forces,
        angles: &mut Angles,
    ) {
        self.clear(basis.columns.len());
        let world = |c: &Column| -> Vec<DVec3> {
            let vector = basis.vector(database, *c).as_chunks::<3>().0;
            let one = |i: usize| {
                let v = vector[i].map(f64::from);
                kinematic.linear[i] * DVec3::from_array(if scene.pinned[i] { [0.0; 3] } else { v })
            };
            (0..scene.len()).map(one).collect()
        };
        let columns: Vec<Vec<DVec3>> = basis.columns.iter().map(world).collect();
        let mut product = vec![DVec3::ZERO; scene.len()];
        for (j, column) in columns.iter().enumerate() {
            stiffness.apply_exactly(scene, column, &mut product, angles);
            for (c, m) in &forces.pushes {
                let force = *m * c.point(column);
                (0..4).for_each(|k| product[c.v[k] as usize] += force * c.w[k]);
            }
            for (i, other) in columns[..=j].iter().enumerate() {
                self.set(i, j, other.iter().zip(&product).map(|(a, b)| a.dot(*b)).sum());
            }
        }
        let along = |c: &Vec<DVec3>| c.iter().zip(&forces.gradient).map(|(c, g)| c.dot(*g)).sum();
        basis.derivative = columns.iter().map(along).collect();
    }

    /// The same from the products of `kept`; contacts come and go, so their part is always of the moment.
    pub fn assemble_kept(
        &mut self,
        scene: &Scene,
        database: &Database,
        kinematic: &Kinematic,
        basis: &Basis,
        kept: &mut Kept,
        pushes: &[(Contact, DMat3)],
    ) {
        self.clear(basis.columns.len());
        for (j, column) in basis.columns.iter().enumerate() {
            kept.multiply(scene, database, basis, *column);
            for (i, other) in basis.columns[..=j].iter().enumerate() {
                let value = kept.entry(database, basis, *other, *column);
                self.set(i, j, value);
            }
        }
        self.add_contacts(scene, database, kinematic, basis, pushes);
    }

    fn add_contacts(
        &mut self,
        scene: &Scene,
        database: &Database,
        kinematic: &Kinematic,
        basis: &Basis,
        pushes: &[(Contact, DMat3)],
    ) {
        let r = self.size;
        let vectors: Vec<&[[f32; 3]]> =
            basis.columns.iter().map(|c| basis.vector(database, *c).as_chunks::<3>().0).collect();
        let mut sum = vec![0.0f32; r * r];
        let (mut moved, mut force) = (vec![Vec3A::ZERO; r], vec![Vec3A::ZERO; r]);
        for (run, pushes) in pushes.chunks(64).enumerate() {
            for (c, m) in pushes {
                let m = Mat3A::from(m.as_mat3());
                moved.fill(Vec3A::ZERO);
                for k in 0..4 {
                    let v = c.v[k] as usize;
                    if c.w[k] == 0.0 || scene.pinned[v] {
                        continue;
                    }
                    let b = Mat3A::from(kinematic.linear[v].as_mat3()) * c.w[k] as f32;
                    for (moved, vector) in moved.iter_mut().zip(&vectors) {
                        *moved += b * Vec3A::from_array(vector[v]);
                    }
                }
                for (force, moved) in force.iter_mut().zip(&moved) {
                    *force = m * *moved;
                }
                for i in 0..r {
                    for j in i..r {
                        sum[i * r + j] += moved[i].dot(force[j]);
                    }
                }
            }
            // Runs are added up in double precision: a garment has tens of thousands of contacts.
            if run % 16 == 15 {
                self.take_in(&mut sum);
            }
        }
        self.take_in(&mut sum);
    }

    fn take_in(&mut self, sum: &mut [f32]) {
        for i in 0..self.size {
            for j in i..self.size {
                let value = self.k[i * self.size + j] + f64::from(sum[i * self.size + j]);
                self.set(i, j, value);
            }
        }
        sum.fill(0.0);
    }

    /// `q` with `K q = −r`. Directions that others make up already are left out: the basis is not orthogonal, and need not be.
    pub fn solve(&self, derivative: &[f64]) -> Vec<f64> {
        let n = self.size;
        let scale: Vec<f64> = (0..n).map(|i| 1.0 / self.k[i * n + i].max(1e-300).sqrt()).collect();
        let mut a: Vec<f64> = (0..n * n).map(|at| self.k[at] * scale[at / n] * scale[at % n]).collect();
        let mut left: Vec<usize> = (0..n).collect();
        let mut chosen: Vec<usize> = Vec::new();
        // Cholesky with the largest pivot first; what is left of a direction when the others are taken off is its pivot.
        let mut factor = vec![0.0; n * n];
        while let Some(at) = (0..left.len()).max_by(|p, q| {
            let pivot = |i: usize| a[left[i] * n + left[i]];
            pivot(*p).total_cmp(&pivot(*q)).then(q.cmp(p))
        }) {
            let p = left[at];
            let pivot = a[p * n + p];
            if pivot < DEPENDENT {
                break;
            }
            left.swap_remove(at);
            let root = pivot.sqrt();
            factor[p * n + p] = root;
            for &i in &left {
                factor[i * n + p] = a[i * n + p] / root;
            }
            for &i in &left {
                for &j in &left {
                    a[i * n + j] -= factor[i * n + p] * factor[j * n + p];
                }
            }
            chosen.push(p);
        }
        let mut y = vec![0.0; n];
        for (at, &i) in chosen.iter().enumerate() {
            let known: f64 = chosen[..at].iter().map(|&p| factor[i * n + p] * y[p]).sum();
            y[i] = (-derivative[i] * scale[i] - known) / factor[i * n + i];
        }
        let mut q = vec![0.0; n];
        for (at, &i) in chosen.iter().enumerate().rev() {
            let known: f64 = chosen[at + 1..].iter().map(|&p| factor[p * n + i] * q[p]).sum();
            q[i] = (y[i] - known) / factor[i * n + i];
        }
        q.iter().zip(&scale).map(|(q, s)| q * s).collect()
    }
}

/// A direction of which less than this share is left, in energy, says nothing of its own.
const DEPENDENT: f64 = 1e-9;

/// `H̄ b` of stored vectors since `H̄` was last found, and the entries of `K` between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub stiffness: Stiffness,
    products: Vec<Vec<f32>>,
    known: Vec<bool>,
    entries: Vec<f32>,
    /// Of the gradient and the undo vector, which are new every time.
    passing: [Vec<f32>; 2],
    input: Vec<Vec3A>,
    output: Vec<Vec3A>,
    angles: Angles,
}

impl Kept {
    /// Finds the stiffness anew and forgets all products.
    pub fn refresh(
        &mut self,
        scene: &Scene,
        database: &Database,
        kinematic: &Kinematic,
        forces: &Forces,
        x: &[DVec3],
    ) {
        self.stiffness.set(scene, forces, x);
        self.stiffness.carry_back(scene, &kinematic.linear);
        let count = database.vector_count();
        self.products.resize(count, Vec::new());
        self.known.clear();
        self.known.resize(count, false);
        self.entries.clear();
        self.entries.resize(count * count, f32::NAN);
    }

    /// Makes sure that `H̄ b` of a direction is there.
    fn multiply(&mut self, scene: &Scene, database: &Database, basis: &Basis, column: Column) {
        if let Column::Stored(k) = column
            && self.known[k as usize]
        {
            return;
        }
        let vector = basis.vector(database, column).as_chunks::<3>().0;
        self.input.clear();
        self.input.extend(vector.iter().zip(&scene.pinned).map(|(v, held)| match held {
            true => Vec3A::ZERO,
            false => Vec3A::from_array(*v),
        }));
        self.output.resize(scene.len(), Vec3A::ZERO);
        self.stiffness.apply(scene, &self.input, &mut self.output, &mut self.angles);
        for (out, held) in self.output.iter_mut().zip(&scene.pinned) {
            if *held {
                *out = Vec3A::ZERO;
            }
        }
        let product = match column {
            Column::Stored(k) => {
                self.known[k as usize] = true;
                &mut self.products[k as usize]
            }
            Column::Gradient => &mut self.passing[0],
            Column::Undo => &mut self.passing[1],
        };
        product.clear();
        product.extend(self.output.iter().flat_map(|v| v.to_array()));
    }

    /// An entry of `K` between two directions, the second of which was multiplied.
    fn entry(&mut self, database: &Database, basis: &Basis, a: Column, b: Column) -> f64 {
        let product = |column: Column| match column {
            Column::Stored(k) => &self.products[k as usize],
            Column::Gradient => &self.passing[0],
            Column::Undo => &self.passing[1],
        };
        match (a, b) {
            (Column::Stored(i), Column::Stored(j)) => {
                let at = (i.min(j) as usize) * self.known.len() + i.max(j) as usize;
                if self.entries[at].is_nan() {
                    let value = dot_and_square(database.vector(i as usize), product(b)).0;
                    self.entries[at] = value as f32;
                }
                f64::from(self.entries[at])
            }
            _ => dot_and_square(basis.vector(database, a), product(b)).0,
        }
    }
}
