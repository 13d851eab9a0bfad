//! Layer 3: masses and springs, held along their border, kept out of the legs (their §7).

use super::limbs::Posed;
use super::springs::Springs;
use glam::{Affine3A, Vec3, Vec3A};
use toile_model::layers::Floating;

const GRAVITY: Vec3A = Vec3A::new(0.0, -9.81, 0.0);
/// Distance that cloth keeps from the measured limbs, m: the sagitta of its triangles, and its thickness.
const GAP_M: f32 = 0.004;
/// Velocity along the skin that is left in touch with it after a step of 1/30 s.
const SLIDES: f32 = 0.6;
/// How fast air slows cloth against its wearer, 1/s: between 4 and 40 a dress comes nearest to the simulated one on five
/// clips with this; more takes the swing out of it.
const AIR: f32 = 8.0;

/// How far from a limb cloth is looked at in a frame, m, and m/s: what it can come nearer by until the next.
const REACH_M: f32 = 0.02;
const REACH_M_PER_S: f32 = 2.0;

/// Floating cloth in motion.
pub(super) struct Cloth {
    springs: Springs,
    /// Free vertices, then those that are held.
    x: Vec<Vec3A>,
    v: Vec<Vec3A>,
    held: Vec<Vec3A>,
    held_before: Vec<Vec3A>,
    before: Vec<Affine3A>,
    /// Direction of contact of each free vertex in the present part of a step, and with which limb.
    touched: Vec<(u32, u16, Vec3A)>,
    /// Acceleration of each free vertex in the present frame.
    falls: Vec<Vec3A>,
    /// What is near each limb in the present frame.
    near: Vec<Vec<u32>>,
    started: bool,
    /// Velocity of the air beside that of the wearer, m/s.
    pub wind: Vec3A,
}

impl Cloth {
    pub fn new(floating: &Floating) -> Self {
        let (n, held) = (floating.free.len(), floating.held.len());
        Self {
            springs: Springs::new(&floating.mass, floating.edges.iter().chain(&floating.bends)),
            x: vec![Vec3A::ZERO; n + held],
            v: vec![Vec3A::ZERO; n],
            held: vec![Vec3A::ZERO; held],
            held_before: vec![Vec3A::ZERO; held],
            before: Vec::new(),
            touched: Vec::with_capacity(n * floating.limbs.len()),
            falls: vec![GRAVITY; n],
            near: floating.limbs.iter().map(|l| Vec::with_capacity(l.candidates.len())).collect(),
            started: false,
            wind: Vec3A::ZERO,
        }
    }

    pub fn has_started(&self) -> bool {
        self.started
    }

    pub fn forget(&mut self) {
        self.started = false;
    }

    /// Carries the cloth along with its wearer to another place, at rest there.
    pub fn carry(&mut self, world_from_before: &Affine3A) {
        let moved = |p: &mut Vec3A| *p = world_from_before.transform_point3a(*p);
        self.x.iter_mut().for_each(moved);
        self.held.iter_mut().for_each(moved);
        self.v.fill(Vec3A::ZERO);
        self.before.clear();
    }

    /// Takes most of its speed.
    pub fn slow_down(&mut self) {
        self.v.iter_mut().for_each(|v| *v *= 0.7);
    }

    /// Puts the cloth where these positions are.
    pub fn start(&mut self, floating: &Floating, positions: &[Vec3]) {
        for (x, v) in self.x.iter_mut().zip(floating.free.iter().chain(&floating.held)) {
            *x = positions[*v as usize].into();
        }
        for (held, v) in self.held.iter_mut().zip(&floating.held) {
            *held = positions[*v as usize].into();
        }
        self.v.fill(Vec3A::ZERO);
        self.before.clear();
        self.started = true;
    }

    /// Takes from its velocity against the wearer's.
    pub fn calm(&mut self, wearer: Vec3, keeps: f32) {
        let wearer = Vec3A::from(wearer);
        self.v.iter_mut().for_each(|v| *v = wearer + (*v - wearer) * keeps);
    }

    /// One step to the present bones, of which one is the hips', in parts of at most `longest` seconds. `positions` holds
    /// the other layers', and takes this one's.
    pub fn step(
        &mut self,
        floating: &Floating,
        bones: &[Affine3A],
        hips: usize,
        dt: f32,
        longest: f32,
        positions: &mut [Vec3],
    ) {
        let n = floating.free.len();
        std::mem::swap(&mut self.held, &mut self.held_before);
        for (held, v) in self.held.iter_mut().zip(&floating.held) {
            *held = positions[*v as usize].into();
        }
        let no_history = self.before.len() != bones.len();
        if no_history {
            self.held_before.copy_from_slice(&self.held);
            self.before.clear();
            self.before.extend_from_slice(bones);
        }
        let wearer = (self.held.iter().zip(&self.held_before).map(|(a, b)| *a - *b).sum::<Vec3A>())
            / (self.held.len().max(1) as f32 * dt);
        let air = wearer + self.wind;
        let parts = (dt / longest).ceil().max(1.0);
        let h = dt / parts;
        for (falls, eased) in self.falls.iter_mut().zip(&floating.eased) {
            *falls = GRAVITY + bones[hips].matrix3 * Vec3A::from(*eased);
        }
        for (limb, near) in floating.limbs.iter().zip(&mut self.near) {
            let bone = between(&self.before[limb.joint as usize], &bones[limb.joint as usize], 0.5);
            Posed::new(limb, &bone).near(&self.x, REACH_M + REACH_M_PER_S * dt, near);
        }
        let (still, slides) = ((-AIR * h).exp(), SLIDES.powf(30.0 * h));
        for part in 1..=parts as usize {
            let (t0, t1) = ((part - 1) as f32 / parts, part as f32 / parts);
            for (k, held) in self.held.iter().enumerate() {
                self.x[n + k] = self.held_before[k].lerp(*held, t1);
            }
            for v in &mut self.v {
                *v = air + (*v - air) * still;
            }
            let posed: [Option<Posed<'_>>; MOST_LIMBS] = std::array::from_fn(|k| {
                let limb = floating.limbs.get(k)?;
                let joint = limb.joint as usize;
                Some(Posed::new(limb, &between(&self.before[joint], &bones[joint], t1)))
            });
            let (outward, near, touched) = (&floating.outward, &self.near, &mut self.touched);
            let falls = &self.falls;
            self.springs.step(
                &mut self.x,
                &mut self.v,
                |i| falls[i],
                h,
                |x| {
                    touched.clear();
                    for (k, posed) in posed.iter().flatten().enumerate() {
                        posed.push(x, &near[k], outward, GAP_M, |c, out| {
                            touched.push((c as u32, k as u16, out))
                        });
                    }
                },
            );
            for &(c, k, out) in &self.touched {
                let (c, k) = (c as usize, k as usize);
                let Some(posed) = &posed[k] else { continue };
                let joint = floating.limbs[k].joint as usize;
                let before = between(&self.before[joint], &bones[joint], t0);
                let skin = (self.x[c] - posed.came_from(self.x[c], &before)) / h;
                let relative = self.v[c] - skin;
                // It goes with the skin: not faster outwards than that, and slowed along it.
                let along = relative - out * relative.dot(out);
                self.v[c] = skin + along * slides;
            }
        }
        self.before.copy_from_slice(bones);
        for (x, v) in self.x[..n].iter().zip(&floating.free) {
            positions[*v as usize] = (*x).into();
        }
    }

    pub fn is_finite(&self) -> bool {
        self.x.iter().all(|x| x.is_finite()) && self.v.iter().all(|v| v.is_finite())
    }
}

/// Most limbs that one garment meets: legs, trunk, arms.
pub(super) const MOST_LIMBS: usize = 12;

/// A bone between two poses, straight in its entries: parts of a step are short.
pub(super) fn between(a: &Affine3A, b: &Affine3A, t: f32) -> Affine3A {
    let mut m = *b;
    m.matrix3 = a.matrix3 * (1.0 - t) + b.matrix3 * t;
    m.translation = a.translation.lerp(b.translation, t);
    m
}
