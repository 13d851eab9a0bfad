//! From takes to a model: spaces, fit, stability, certificate.

use crate::body_space::BodySpace;
use crate::certify::{certify, enforce};
use crate::cloth_space::ClothSpace;
use crate::fit::{Fit, Layout, Normal};
use crate::sequence::{Sequence, root_change};
use crate::{Error, Settings};
use faer::Mat;
use std::sync::Arc;
use toile_assets::{Body, Certificate, HipLine, InputSet, Model, Take};
use toile_run::{Stable, Tier};

/// A trained model and how it came about.
pub struct Training {
    /// The model, certified.
    pub model: Model,
    /// The ridge strength that free-ran best on clips held out of training.
    pub ridge: f64,
    /// Each strength tried and its held-out error, cm per vertex (root mean square).
    pub tried: Vec<(f64, f64)>,
    /// Spectral radius before stability was enforced.
    pub rho_before: f64,
    /// Windows the motion was fitted to.
    pub windows: usize,
    /// What was reduced or noticed.
    pub remarks: Vec<String>,
}

/// Learns a garment from its takes on `body`.
pub fn train(body: &Body, takes: &[Take], settings: &Settings) -> Result<Training, Error> {
    check(body, takes)?;
    let mut remarks = Vec::new();
    // Spaces come from the plain takes, motion from all of them (§7, two-step training).
    let mut plain: Vec<&Take> = takes.iter().filter(|t| t.stop_frame.is_none()).collect();
    if plain.is_empty() {
        plain = takes.iter().collect();
    }
    let cloth = ClothSpace::new(&plain, settings.cloth_dims, settings.pca_frames)?;
    let pose = BodySpace::new(body, &plain, settings.body_dims, settings.pca_frames)?;
    let (d, m) = (cloth.basis.ncols(), pose.from_bones.nrows());
    if d == 0 || m == 0 {
        return Err(Error::Empty("nothing moves in these takes".into()));
    }
    for (name, got, asked) in [("cloth", d, settings.cloth_dims), ("body", m, settings.body_dims)] {
        if got < asked {
            remarks.push(format!("{name} dims reduced from {asked} to {got}: the frames span no more"));
        }
    }
    let sequences: Vec<Sequence> = takes
        .iter()
        .map(|t| Sequence { y: cloth.project(t), x: pose.project(t), roots: t.roots.clone() })
        .collect();
    let layout = Layout::new(settings, m, d);
    let template =
        Template { body, takes, settings, layout, cloth: &cloth, pose: &pose, sequences: &sequences };

    let (ridge, tried) = template.choose_ridge()?;
    let all: Vec<usize> = (0..takes.len()).collect();
    let (mut model, rho_before, windows) = template.fit(&all, ridge)?;
    model.certificate = certify(&model)?;
    model.verify_certificate().map_err(Error::Numerical)?;
    model.notes = vec![
        ("takes".into(), takes.len().to_string()),
        ("windows".into(), windows.to_string()),
        ("ridge".into(), ridge.to_string()),
        ("rho_before".into(), rho_before.to_string()),
    ];
    Ok(Training { model, ridge, tried, rho_before, windows, remarks })
}

/// All mismatches at once.
fn check(body: &Body, takes: &[Take]) -> Result<(), Error> {
    let Some(first) = takes.first() else { return Err(Error::Empty("no takes were given".into())) };
    let mut faults = Vec::new();
    for t in takes {
        let name = &t.clip;
        if t.vertices != first.vertices || t.triangles != first.triangles {
            faults.push(format!("`{name}` has another garment than `{}`", first.clip));
        }
        if t.joints != body.skeleton.len() {
            faults.push(format!("`{name}` has {} joints, the body {}", t.joints, body.skeleton.len()));
        }
        if t.fps != first.fps {
            faults.push(format!(
                "`{name}` runs at {} frames per second, `{}` at {}",
                t.fps, first.clip, first.fps
            ));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Mixed(faults)) }
}

/// Everything a fit needs except which takes and how much ridge.
struct Template<'a> {
    body: &'a Body,
    takes: &'a [Take],
    settings: &'a Settings,
    layout: Layout,
    cloth: &'a ClothSpace,
    pose: &'a BodySpace,
    sequences: &'a [Sequence],
}

impl Template<'_> {
    /// Free runs on clips held out of the fit decide. Stop takes go with the clip they branch from.
    fn choose_ridge(&self) -> Result<(f64, Vec<(f64, f64)>), Error> {
        let mut clips: Vec<&str> = self.takes.iter().map(|t| t.clip.as_str()).collect();
        clips.sort_unstable();
        clips.dedup();
        let held: Vec<&str> = clips.iter().copied().skip(1).step_by(4).collect();
        let middle = self.settings.ridges[self.settings.ridges.len() / 2];
        if held.is_empty() || clips.len() < 3 || self.settings.ridges.len() == 1 {
            return Ok((middle, Vec::new()));
        }
        let is_held = |i: &usize| held.contains(&self.takes[*i].clip.as_str());
        let kept: Vec<usize> = (0..self.takes.len()).filter(|i| !is_held(i)).collect();
        let held: Vec<usize> = (0..self.takes.len()).filter(is_held).collect();
        let mut tried = Vec::new();
        for &ridge in &self.settings.ridges {
            let (model, _, _) = self.fit(&kept, ridge)?;
            tried.push((ridge, self.free_run_cm(model, &held)));
        }
        let best = tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(middle, |t| t.0);
        Ok((best, tried))
    }

    /// Root mean square vertex error of free runs, cm, without the part no model of this space could have.
    fn free_run_cm(&self, model: Model, takes: &[usize]) -> f64 {
        let vertices = model.vertices as f64;
        let mut garment = Stable::new(Arc::new(model));
        let (mut sum, mut frames) = (0.0, 0usize);
        for &i in takes {
            let (take, sequence) = (&self.takes[i], &self.sequences[i]);
            garment.reset();
            for f in 0..take.len() {
                garment.step(take.frame_bones(f), &take.roots[f], 1.0 / take.fps);
                let y = garment.coefficients();
                sum += (0..y.len()).map(|k| (f64::from(y[k]) - sequence.y[(k, f)]).powi(2)).sum::<f64>();
                frames += 1;
            }
        }
        100.0 * (sum / (frames.max(1) as f64 * vertices)).sqrt()
    }

    /// Fits the given takes; the result has no certificate yet but is stable.
    fn fit(&self, takes: &[usize], ridge: f64) -> Result<(Model, f64, usize), Error> {
        let mut normal = Normal::new(self.layout);
        let mut start = Normal::new(self.layout.bootstrap());
        for &i in takes {
            normal.add(&self.sequences[i]);
            start.add(&self.sequences[i]);
        }
        if normal.windows() == 0 {
            return Err(Error::Empty(format!("no take is longer than {} frames", self.layout.order)));
        }
        let mut fit = normal.fit(ridge)?;
        let rho_before = enforce(&mut fit, &self.layout, self.settings.max_rho)?;
        if rho_before > self.settings.max_rho {
            fit = normal.refit(ridge, &fit)?;
        }
        let model = self.assemble(&fit, &start.fit(ridge)?);
        Ok((model, rho_before, normal.windows()))
    }

    fn assemble(&self, fit: &Fit, start: &Fit) -> Model {
        let Layout { body: m, cloth: d, order, metas } = self.layout;
        let first = self.takes.first().expect("takes were checked");
        let part = |w: &Mat<f64>, from: usize, count: usize| -> Vec<f32> {
            (0..d).flat_map(|r| (from..from + count).map(move |c| w[(r, c)] as f32)).collect()
        };
        let rows = |m: &Mat<f64>| -> Vec<f32> {
            (0..m.nrows()).flat_map(|r| (0..m.ncols()).map(move |c| m[(r, c)] as f32)).collect()
        };
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|x| *x as f32).collect() };
        let mean = narrow(&self.cloth.mean);
        Model {
            name: self.body.name.clone(),
            kind: self.settings.kind,
            order,
            fps: first.fps,
            vertices: first.vertices,
            triangles: first.triangles.clone(),
            cloth_dims: d,
            body_dims: m,
            joints: first.joints,
            cloth_mean: mean.as_chunks::<3>().0.iter().map(|p| (*p).into()).collect(),
            cloth_basis: rows(&self.cloth.basis),
            bones_mean: narrow(&self.pose.mean),
            body_from_bones: rows(&self.pose.from_bones),
            a: part(&fit.weights, 0, m),
            b: (0..order).map(|i| part(&fit.weights, m + i * d, d)).collect(),
            c: (0..metas).map(|i| part(&fit.weights, m + order * d + 5 * i, 5)).collect(),
            bias: narrow(&fit.bias),
            a0: part(&start.weights, 0, m),
            bias0: narrow(&start.bias),
            hips: Some(HipLine::of(self.body)),
            inputs: self.input_set(),
            certificate: Certificate { rho: 0.0, gamma: 0.0, p: Vec::new(), travel_bound_m: Vec::new() },
            notes: Vec::new(),
        }
    }

    /// What training saw, widened by the margin.
    fn input_set(&self) -> InputSet {
        let m = self.layout.body;
        let (mut lo, mut hi) = (vec![f64::INFINITY; m], vec![f64::NEG_INFINITY; m]);
        let mut largest = [0.0f64; 3];
        for s in self.sequences {
            for f in 0..s.len() {
                for k in 0..m {
                    lo[k] = lo[k].min(s.x[(k, f)]);
                    hi[k] = hi[k].max(s.x[(k, f)]);
                }
                if f > 0 {
                    let z = root_change(&s.roots[f], &s.roots[f - 1]);
                    let turn = (s.roots[f].heading - s.roots[f - 1].heading).abs();
                    for (l, v) in largest.iter_mut().zip([z[0].hypot(z[2]), z[1].abs(), turn]) {
                        *l = l.max(v);
                    }
                }
            }
        }
        let margin = self.settings.input_margin;
        let widen = 1.0 + 2.0 * margin;
        InputSet {
            body_min: lo.iter().zip(&hi).map(|(l, h)| (l - margin * (h - l)) as f32).collect(),
            body_max: lo.iter().zip(&hi).map(|(l, h)| (h + margin * (h - l)) as f32).collect(),
            max_horizontal_m: (largest[0] * widen) as f32,
            max_vertical_m: (largest[1] * widen) as f32,
            max_turn: (largest[2] * widen) as f32,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use glam::{Affine3A, DVec3, Mat3A, Quat, Vec3};
    use toile_assets::{FrameReport, Joint, Mesh, RootFrame, Skeleton, Skin, Transform};

    /// Two joints, and a column of vertices shared between them.
    pub(crate) fn tube_body() -> Body {
        let joints = vec![
            Joint { name: "Hips".into(), parent: None, rest: Transform::IDENTITY },
            Joint { name: "Chest".into(), parent: Some(0), rest: Transform::from_translation(Vec3::Y) },
        ];
        let ring = |i: usize| {
            let (angle, height) = ((i % 6) as f32, (i / 6) as f32 * 0.2);
            Vec3::new(0.2 * angle.cos(), height, 0.2 * angle.sin())
        };
        let positions: Vec<Vec3> = (0..60).map(ring).collect();
        let rows: Vec<[(u16, f32); 2]> =
            positions.iter().map(|p| [(0, 2.0 - p.y.min(1.99)), (1, p.y + 0.01)]).collect();
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2]], uvs: vec![] };
        let skin = Skin::from_rows(rows).unwrap();
        Body::bound_at_rest("tube", Skeleton::new(joints).unwrap(), mesh, skin).unwrap()
    }

    /// Clips in which four cloth vertices follow a damped oscillator driven by the pose and the root's motion,
    /// so a second-order model can learn them exactly.
    pub(crate) fn swaying_takes(body: &Body, clips: usize, frames: usize) -> Vec<Take> {
        (0..clips)
            .map(|clip| {
                let mut take = Take {
                    clip: format!("clip{clip}"),
                    fps: 30.0,
                    triangles: vec![[0, 1, 2], [1, 3, 2]],
                    positions: vec![],
                    vertices: 4,
                    bones: vec![],
                    joints: body.skeleton.len(),
                    roots: vec![],
                    reports: vec![],
                    draped: vec![],
                    stop_frame: None,
                    notes: vec![],
                };
                let (mut swing, mut before) = ([0.0f64; 2], [0.0f64; 2]);
                for f in 0..frames {
                    let t = f as f64 / 30.0 + clip as f64;
                    let lean = [0.4 * (1.3 * t).sin(), 0.3 * (2.1 * t + 1.0).cos()];
                    let root = RootFrame {
                        position: DVec3::new(0.5 * (0.7 * t).sin(), 0.02 * (5.0 * t).sin(), t),
                        heading: 0.8 * (0.9 * t).sin(),
                    };
                    let bend = Quat::from_rotation_x(lean[0] as f32) * Quat::from_rotation_z(lean[1] as f32);
                    let world = Affine3A::from_rotation_translation(
                        Quat::from_rotation_y(root.heading as f32),
                        root.position.as_vec3(),
                    );
                    let joint = world * Affine3A::from_rotation_translation(bend, Vec3::Y);
                    take.bones.extend([world, joint * body.joint_from_bind[1]]);
                    for k in 0..2 {
                        let next = 1.7 * swing[k] - 0.8 * before[k] + 0.1 * lean[k];
                        before[k] = swing[k];
                        swing[k] = next;
                    }
                    for v in 0..4 {
                        let corner = DVec3::new((v % 2) as f64, (v / 2) as f64, 0.0);
                        let moved =
                            corner + DVec3::new(0.2 * swing[0], 0.0, 0.1 * swing[1]) * (1.0 + corner.x);
                        take.positions.push(root.world_from_canonical(moved).as_vec3());
                    }
                    take.roots.push(root);
                    take.reports.push(FrameReport::default());
                }
                take
            })
            .collect()
    }

    #[test]
    fn a_known_oscillator_is_learned_and_free_runs() {
        let body = tube_body();
        let takes = swaying_takes(&body, 6, 200);
        let settings = Settings { cloth_dims: 2, body_dims: 12, ridges: vec![1e-9], ..Settings::default() };
        let training = train(&body, &takes[..5], &settings).unwrap();
        // The oscillator's own spectral radius is √0.8.
        assert!(
            (training.model.certificate.rho - 0.8f64.sqrt()).abs() < 0.01,
            "{}",
            training.model.certificate.rho
        );
        let mut garment = Stable::new(Arc::new(training.model));
        let mut out = vec![Vec3::ZERO; 4];
        let mut worst = 0.0f32;
        for f in 0..takes[5].len() {
            garment.step(takes[5].frame_bones(f), &takes[5].roots[f], 1.0 / takes[5].fps);
            garment.positions(&mut out);
            if f > 60 {
                let apart = out.iter().zip(takes[5].frame(f)).map(|(a, b)| a.distance(*b));
                worst = apart.fold(worst, f32::max);
            }
        }
        assert!(worst < 0.01, "free run is {worst} m off");
    }

    #[test]
    fn hostile_input_stays_within_the_certified_travel() {
        let body = tube_body();
        let takes = swaying_takes(&body, 4, 120);
        let settings = Settings { cloth_dims: 3, body_dims: 8, ..Settings::default() };
        let model = Arc::new(train(&body, &takes, &settings).unwrap().model);
        let mut garment = Stable::new(model.clone());
        let mut out = vec![Vec3::ZERO; model.vertices];
        let mut seed = 7u64;
        let mut noise = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % 20_001) as f32 / 1000.0 - 10.0
        };
        for step in 0..20_000 {
            let mut root = RootFrame { position: DVec3::ZERO, heading: f64::from(noise()) };
            root.position.x = f64::from(noise());
            let bones: Vec<Affine3A> = (0..2)
                .map(|_| Affine3A {
                    matrix3: Mat3A::from_quat(
                        Quat::from_xyzw(noise(), noise(), noise(), 1.0 + noise()).normalize(),
                    ),
                    translation: Vec3::new(noise(), noise(), noise()).into(),
                })
                .collect();
            garment.step(&bones, &root, 1.0 / model.fps);
            garment.positions(&mut out);
            for (v, p) in out.iter().enumerate() {
                let canonical = root.canonical_from_world(p.as_dvec3()).as_vec3();
                let travel = canonical.distance(model.cloth_mean[v]);
                let bound = model.certificate.travel_bound_m[v];
                assert!(travel <= bound * 1.0001, "step {step}, vertex {v}: {travel} m, certified {bound} m");
            }
        }
    }

    #[test]
    fn an_unstable_fit_is_repaired() {
        let body = tube_body();
        let mut takes = swaying_takes(&body, 3, 120);
        // Growth by 3 % a frame: least squares finds a spectral radius above one.
        for take in &mut takes {
            for f in 0..take.len() {
                let root = take.roots[f];
                let grown = 1.03f64.powi(f as i32) * 0.01;
                for p in &mut take.positions[4 * f..4 * f + 4] {
                    let c = root.canonical_from_world(p.as_dvec3()) + DVec3::X * grown;
                    *p = root.world_from_canonical(c).as_vec3();
                }
            }
        }
        let settings = Settings { cloth_dims: 3, body_dims: 8, ridges: vec![1e-9], ..Settings::default() };
        let training = train(&body, &takes, &settings).unwrap();
        assert!(training.rho_before > 1.0, "the test's own premise: {}", training.rho_before);
        assert!(training.model.certificate.rho < 1.0);
        let mut broken = training.model.clone();
        broken.b[0].iter_mut().for_each(|b| *b *= 1.2);
        assert!(broken.verify_certificate().is_err(), "a changed matrix must void the certificate");
    }
}
