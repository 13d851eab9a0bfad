//! Layer 2 on limbs: every vertex on its own disc (their §6.1).
//!
//! A vertex falls on its disc to where the acceleration points and swings about it. The swing is a damped oscillator whose
//! solution is known, so a step of any length is exact for an acceleration that changes evenly within it. Discs are worked
//! in the bind pose: there normals and axes are constants, and the cloth turns with its limb. Eight are worked side by side.

use super::hung::{Hung, by_bones};
use super::tubes::{Riders, Tubes};
use super::wide::{Stored, Vectors};
use crate::cpu::kernel::{Lanes, WIDE, Wide};
use glam::{Affine3A, Vec3, Vec3A};
use toile_model::layers::{Disc, Layers};

/// Share of critical damping: cloth that rubs on skin swings once or twice.
const DAMPING: f32 = 0.35;

/// What is fixed of eight discs, as the step wants it.
struct Fixed {
    normal: Stored,
    axis: Stored,
    /// Where the vertex is added to: the centre of its disc in the bind pose.
    centre: Stored,
    /// Where the vertex is at rest, less the share of its disc that it has there.
    rest: Stored,
    drop_m: Wide,
    share: Wide,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Where it hung in the step before.
    hung: Stored,
    /// Where on its disc it is, and its velocity there.
    offset: Stored,
    velocity: Stored,
}

/// Discs in motion.
pub(super) struct Discs {
    vertices: Vec<u32>,
    fixed: Vec<Fixed>,
    /// Bones of each, in their order.
    hanging: Hung,
    riders: Riders,
    states: Vec<State>,
    /// Circular frequency of the swing, 1/s.
    frequency: f32,
    started: bool,
}

/// `(swing, velocity)` after a time is this matrix times what they were.
struct Propagator([f32; 4]);

impl Propagator {
    fn new(frequency: f32, dt: f32) -> Self {
        let decay = DAMPING * frequency;
        let damped = frequency * (1.0 - DAMPING * DAMPING).sqrt();
        let (sin, cos) = (damped * dt).sin_cos();
        let fade = (-decay * dt).exp();
        let s = sin / damped;
        Self([
            fade * (cos + decay * s),
            fade * s,
            -fade * frequency * frequency * s,
            fade * (cos - decay * s),
        ])
    }
}

impl Discs {
    pub fn new(layers: &Layers, tubes: &Tubes) -> Self {
        let (discs, attachment) = (&layers.discs, &layers.attachment);
        let mut drops: Vec<f32> = discs.iter().map(|d| d.drop_m).collect();
        drops.sort_by(f32::total_cmp);
        let typical = drops.get(drops.len() / 2).copied().unwrap_or(0.02).clamp(0.008, 0.1);
        let mut numbers = vec![0usize; attachment.rest.len()];
        discs.iter().enumerate().for_each(|(k, d)| numbers[d.vertex as usize] = k);
        let vertices = by_bones(&attachment.skin, discs.iter().map(|d| d.vertex));
        let fixed = |eight: &[u32]| {
            let own = || eight.iter().map(|v| &discs[numbers[*v as usize]]);
            let all = |f: &dyn Fn(&Disc) -> Vec3| Stored::of(own().map(|d| Vec3A::from(f(d))));
            let one = |f: &dyn Fn(&Disc) -> f32| {
                let mut wide = Wide::default();
                own().zip(&mut wide.0).for_each(|(d, to)| *to = f(d));
                wide
            };
            let rest = |d: &Disc| attachment.rest[d.vertex as usize];
            Fixed {
                normal: all(&|d| d.normal),
                axis: all(&|d| d.axis),
                centre: all(&|d| rest(d) - d.settled),
                rest: all(&|d| rest(d) - d.share * d.settled),
                drop_m: one(&|d| d.drop_m),
                share: one(&|d| d.share),
            }
        };
        let fixed: Vec<Fixed> = vertices.chunks(WIDE).map(fixed).collect();
        Self {
            hanging: Hung::new(&attachment.skin, &vertices),
            riders: tubes.riders(&layers.rides, &vertices),
            states: vec![State::default(); fixed.len()],
            vertices,
            fixed,
            // A pendulum as long as the cloth hangs deep.
            frequency: (9.81 / typical).sqrt(),
            started: false,
        }
    }

    /// Velocities of before mean nothing any more; the shape stays.
    pub fn forget(&mut self) {
        self.started = false;
    }

    /// Joints that shake any disc.
    pub fn joints(&self) -> Vec<u32> {
        self.hanging.joints()
    }

    /// One step. `applied` gives, bone by bone, the acceleration that cloth feels at a place of the bind pose.
    #[inline(always)]
    pub fn step<L: Lanes>(
        &mut self,
        bones: &[Affine3A],
        applied: &[Affine3A],
        dt: f32,
        tubes: &Tubes,
        positions: &mut [Vec3],
    ) {
        let propagator = Propagator::new(self.frequency, dt).0;
        for (i, vertices) in self.vertices.chunks(WIDE).enumerate() {
            let (disc, state) = (&self.fixed[i], &mut self.states[i]);
            let (radius, hung) = disc.hang(self.hanging.carry::<L>(i, applied, disc.centre.load()));
            if !self.started {
                let hung = hung.store();
                *state = State { hung, offset: hung, velocity: Stored::default() };
            }
            let offset = state.swing(disc.normal.load(), radius, hung, propagator, 1.0 / dt);
            let at = disc.rest.load() + offset * L::load(&disc.share) + tubes.slid(&self.riders, i);
            let at = self.hanging.carry(i, bones, at).store();
            for (k, v) in vertices.iter().enumerate() {
                positions[*v as usize] = at.lane(k).into();
            }
        }
        self.started = true;
    }
}

impl State {
    /// One step of the swing about where the vertices hang now; returns where on their discs they are.
    #[inline(always)]
    fn swing<L: Lanes>(
        &mut self,
        normal: Vectors<L>,
        radius: L,
        hung: Vectors<L>,
        propagator: [f32; 4],
        per_second: f32,
    ) -> Vectors<L> {
        let ([a, b, c, d], zero, one) = (propagator.map(L::splat), L::splat(0.0), L::splat(1.0));
        let before = self.hung.load();
        let hung_velocity = (hung - before) * L::splat(per_second);
        let (swing, speed) = (self.offset.load() - before, self.velocity.load() - hung_velocity);
        let offset = hung + swing * a + speed * b;
        let speed = swing * c + speed * d;
        // Back onto the disc, and never below the skin.
        let inward = offset.dot(normal).min(zero);
        let offset = offset - normal * inward;
        let sinks = zero.above(inward, speed.dot(normal).min(zero), zero);
        let speed = speed - normal * sinks;
        let size = offset.length();
        let beyond = size.above(radius, one / size, zero);
        let leaves = (speed.dot(offset) * beyond).max(zero) * beyond;
        let speed = speed - offset * leaves;
        let offset = offset * size.above(radius, radius * beyond, one);
        *self =
            Self { hung: hung.store(), offset: offset.store(), velocity: (speed + hung_velocity).store() };
        offset
    }
}

impl Fixed {
    /// [`toile_model::layers::hang`], eight times.
    #[inline(always)]
    fn hang<L: Lanes>(&self, acceleration: Vectors<L>) -> (L, Vectors<L>) {
        let (normal, axis): (Vectors<L>, Vectors<L>) = (self.normal.load(), self.axis.load());
        let strength = acceleration.length();
        let weighs = (strength * L::splat(0.5)).min(L::splat(1.0));
        let facing = (acceleration.dot(normal) / (strength + L::splat(1e-3))).max(L::splat(0.0)) * weighs;
        let radius = L::load(&self.drop_m) * facing * facing;
        let along = acceleration + normal * (L::splat(0.1) * strength);
        let across = along - axis * axis.dot(along);
        let size = across.length().max(L::splat(1e-12));
        (radius, across * (radius / size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::kernel::Halves;
    use toile_model::layers::hang;

    #[test]
    fn two_half_steps_swing_as_far_as_a_whole_one() {
        let (whole, half) = (Propagator::new(18.0, 1.0 / 30.0).0, Propagator::new(18.0, 1.0 / 60.0).0);
        let step = |m: [f32; 4], (x, v): (f32, f32)| (m[0] * x + m[1] * v, m[2] * x + m[3] * v);
        let one = step(whole, (0.01, 0.3));
        let two = step(half, step(half, (0.01, 0.3)));
        assert!((one.0 - two.0).abs() < 1e-6 && (one.1 - two.1).abs() < 1e-5);
    }

    #[test]
    fn eight_discs_hang_as_one_does() {
        let axis = Vec3A::new(0.2, -0.9, 0.1).normalize();
        let normals: Vec<Vec3A> = (0..8)
            .map(|k| Vec3A::new((k as f32).cos(), 0.1 * k as f32, (k as f32).sin()).normalize())
            .collect();
        let fixed = Fixed {
            normal: Stored::of(normals.iter().copied()),
            axis: Stored::of([axis; 8].into_iter()),
            centre: Stored::default(),
            rest: Stored::default(),
            drop_m: Wide([0.03; 8]),
            share: Wide([1.0; 8]),
        };
        for a in [Vec3A::ZERO, Vec3A::NEG_Y * 9.81, Vec3A::new(3.0, -9.0, 4.0), axis * 5.0] {
            let (radius, at) = fixed.hang(Stored::of([a; 8].into_iter()).load::<Halves>());
            let (radius, at) = (radius.store(), at.store());
            for (k, normal) in normals.iter().enumerate() {
                let (r, alone) = hang(a, *normal, axis, 0.03);
                assert!((radius.0[k] - r).abs() < 1e-7 && at.lane(k).distance(alone) < 1e-7);
            }
        }
    }

    /// On its disc, above the skin, and where the plain way brings it.
    #[test]
    fn eight_discs_swing_as_one_does() {
        let normal = Vec3A::new(0.6, -0.8, 0.0);
        let fixed = Fixed {
            normal: Stored::of([normal; 8].into_iter()),
            axis: Stored::of([Vec3A::Z; 8].into_iter()),
            centre: Stored::default(),
            rest: Stored::default(),
            drop_m: Wide([0.03; 8]),
            share: Wide([1.0; 8]),
        };
        let dt = 1.0 / 30.0;
        let matrix = Propagator::new(18.0, dt).0;
        let mut state = State::default();
        let mut plain = [(Vec3A::ZERO, Vec3A::ZERO, Vec3A::ZERO); 8];
        for step in 0..40 {
            let pulls = std::array::from_fn::<Vec3A, 8, _>(|k| {
                let t = 0.5 * step as f32 + k as f32;
                Vec3A::new(4.0 * t.sin(), -9.81, 3.0 * t.cos())
            });
            let (radius, hung) = fixed.hang(Stored::of(pulls.into_iter()).load::<Halves>());
            let inner = fixed.normal.load();
            state.swing(inner, radius, hung, matrix, 1.0 / dt);
            for (k, (before, offset, velocity)) in plain.iter_mut().enumerate() {
                let (radius, hung) = hang(pulls[k], normal, Vec3A::Z, 0.03);
                let moves = (hung - *before) / dt;
                let (swing, speed) = (*offset - *before, *velocity - moves);
                let mut to = hung + swing * matrix[0] + speed * matrix[1];
                let mut speed = swing * matrix[2] + speed * matrix[3];
                if to.dot(normal) < 0.0 {
                    to -= normal * to.dot(normal);
                    speed -= normal * speed.dot(normal).min(0.0);
                }
                if to.length() > radius {
                    let out = to / to.length();
                    to = out * radius;
                    speed -= out * speed.dot(out).max(0.0);
                }
                (*before, *offset, *velocity) = (hung, to, speed + moves);
                assert!(state.offset.lane(k).distance(to) < 1e-5, "{step} {k}");
                assert!(state.offset.lane(k).dot(normal) > -1e-6);
                assert!(state.offset.lane(k).length() <= radius.max(1e-7) * 1.0001);
            }
        }
    }
}
