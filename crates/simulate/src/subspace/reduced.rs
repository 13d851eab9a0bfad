//! The reduced system `K q = −r` (eq. 7–9): put together plainly, or from products that are kept.

use super::basis::{Basis, Column};
use super::forces::Forces;
use super::kinematic::Kinematic;
use super::sampled::Sampled;
use super::stiffness::{Angles, LANES, Lanes3, Stiffness, add_product};
use crate::contact::constraint::Contact;
use crate::scene::Scene;
use glam::{DMat3, DVec3};
use toile_assets::adaptive::Database;

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

    /// The same from a matrix that may be of an earlier moment, sixteen directions at a time. Contacts come and go, so
    /// their part is always of this one. `scene` may be of some vertices, `stations`, while contacts are of all of them, `pinned`
    /// or not.
    pub fn assemble_kept(
        &mut self,
        (scene, stations): (&Scene, Option<&[u32]>),
        pinned: &[bool],
        database: &Database,
        kinematic: &Kinematic,
        basis: &Basis,
        kept: &mut Kept,
        pushes: &[(Contact, DMat3)],
    ) {
        self.clear(basis.columns.len());
        kept.pack(scene, database, basis, stations);
        let Kept { stiffness, packed, product, angles, .. } = kept;
        for j in 0..packed.len() {
            stiffness.apply(scene, &packed[j], product, angles);
            for i in 0..=j {
                let products = packed[i].iter().zip(&*product);
                self.add(i, j, products);
            }
        }
        let groups: Vec<Vec<&[[f32; 3]]>> = basis.groups(database);
        for j in 0..groups.len() {
            for i in 0..=j {
                let (moved, forces) =
                    kept.contacts(pinned, kinematic, pushes, &groups[i], &groups[j], i == j);
                self.add(i, j, moved.iter().zip(forces));
            }
        }
    }

    /// Adds `Σ aᵀ b` to the block of two groups of directions. Sums over runs are added up in double precision: a garment has tens of
    /// thousands of vertices.
    fn add<'a>(&mut self, i: usize, j: usize, pairs: impl Iterator<Item = (&'a Lanes3, &'a Lanes3)>) {
        const RUN: usize = 512;
        let mut sum = [[0.0f32; LANES]; LANES];
        let mut left = RUN;
        let mut take_in = |sum: &mut [[f32; LANES]; LANES]| {
            for (p, row) in sum.iter_mut().enumerate() {
                for (q, value) in row.iter_mut().enumerate() {
                    let (r, c) = (LANES * i + p, LANES * j + q);
                    if r <= c && c < self.size {
                        let so_far = self.k[r * self.size + c] + f64::from(*value);
                        self.set(r, c, so_far);
                    }
                    *value = 0.0;
                }
            }
        };
        for (a, b) in pairs {
            for axis in 0..3 {
                for (row, a) in sum.iter_mut().zip(&a[axis]) {
                    (0..LANES).for_each(|l| row[l] += a * b[axis][l]);
                }
            }
            left -= 1;
            if left == 0 {
                take_in(&mut sum);
                left = RUN;
            }
        }
        take_in(&mut sum);
    }

    /// `q` with `K q = −r`. Directions that others make up already are left out: the basis is not orthogonal, and need not be.
    /// A direction of which less than `least` is left, in energy, when the others are taken off says nothing of its own.
    pub fn solve(&self, derivative: &[f64], least: f64) -> Vec<f64> {
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
            if !(pivot > least) {
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

impl Reduced {
    /// `L` with `K = L Lᵀ`, row by row; directions that others make up get a little stiffness of their own.
    pub fn factor(&self) -> Vec<Vec<f64>> {
        let n = self.size;
        let mut l = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                let value = self.k[i * n + j] - known;
                l[i][j] = match i == j {
                    true => value.max(1e-6 * self.k[i * n + i]).max(1e-300).sqrt(),
                    false => value / l[j][j],
                };
            }
        }
        l
    }
}

/// What is left of a direction is told from rounding in double and in single precision from these shares on.
pub(super) const DEPENDENT: [f64; 2] = [1e-9, 3e-5];

/// A vertex along up to sixteen directions.
#[inline(always)]
fn lanes(vectors: &[&[[f32; 3]]], v: usize) -> Lanes3 {
    let mut lanes = [[0.0; LANES]; 3];
    for (l, vector) in vectors.iter().enumerate() {
        let [x, y, z] = vector[v];
        (lanes[0][l], lanes[1][l], lanes[2][l]) = (x, y, z);
    }
    lanes
}

/// The matrix carried back to the bind pose, and the directions side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub stiffness: Stiffness,
    /// Per sixteen directions their numbers by vertex.
    packed: Vec<Vec<Lanes3>>,
    product: Vec<Lanes3>,
    moved: Vec<Lanes3>,
    forces: Vec<Lanes3>,
    angles: Angles,
}

impl Kept {
    /// Finds the matrix anew.
    pub fn refresh(&mut self, scene: &Scene, kinematic: &Kinematic, forces: &Forces, x: &[DVec3]) {
        self.stiffness.set(scene, forces, x, (0..scene.len()).map(|i| forces.diagonal(scene, i)));
        self.stiffness.carry_back(scene, &kinematic.linear);
    }

    /// The same from sampled triangles.
    pub fn refresh_sampled(
        &mut self,
        sampled: &Sampled,
        kinematic: &Kinematic,
        forces: &Forces,
        x: &[DVec3],
    ) {
        let Sampled { scene, matrix, stations, shares, .. } = sampled;
        let places: Vec<DVec3> = stations.iter().map(|&v| x[v as usize]).collect();
        let linear: Vec<DMat3> = stations.iter().map(|&v| kinematic.linear[v as usize]).collect();
        let diagonal =
            stations.iter().zip(shares).map(|(&v, share)| forces.diagonal(scene, v as usize) * *share);
        self.stiffness.set(matrix, forces, &places, diagonal);
        self.stiffness.carry_back(matrix, &linear);
    }

    /// Lays the directions side by side, at some vertices or all; what is held does not move.
    fn pack(&mut self, scene: &Scene, database: &Database, basis: &Basis, stations: Option<&[u32]>) {
        let groups = basis.groups(database);
        self.packed.resize(groups.len(), Vec::new());
        for (packed, vectors) in self.packed.iter_mut().zip(&groups) {
            packed.clear();
            packed.extend((0..scene.len()).map(|i| match scene.pinned[i] {
                true => [[0.0; LANES]; 3],
                false => lanes(vectors, stations.map_or(i, |s| s[i] as usize)),
            }));
        }
    }

    /// How contacts move along one group of directions, and their forces when moved along another, or the `same`.
    fn contacts(
        &mut self,
        pinned: &[bool],
        kinematic: &Kinematic,
        pushes: &[(Contact, DMat3)],
        first: &[&[[f32; 3]]],
        second: &[&[[f32; 3]]],
        same: bool,
    ) -> (&[Lanes3], &[Lanes3]) {
        let moved = |group: &[&[[f32; 3]]], c: &Contact| {
            let mut sum = [[0.0; LANES]; 3];
            for k in 0..4 {
                let v = c.v[k] as usize;
                if c.w[k] != 0.0 && !pinned[v] {
                    let b = (kinematic.linear[v] * c.w[k]).as_mat3().to_cols_array_2d();
                    add_product(&b, &lanes(group, v), &mut sum);
                }
            }
            sum
        };
        self.moved.clear();
        self.forces.clear();
        for (c, m) in pushes {
            let own = moved(second, c);
            let mut force = [[0.0; LANES]; 3];
            add_product(&m.as_mat3().to_cols_array_2d(), &own, &mut force);
            self.moved.push(if same { own } else { moved(first, c) });
            self.forces.push(force);
        }
        (&self.moved, &self.forces)
    }
}
