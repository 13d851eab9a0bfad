//! A model's parts put together, and the inputs it is certified for.

use crate::Settings;
use crate::models::regression::{Layout, Regression};
use crate::spaces::body::BodySpace;
use crate::spaces::cloth::ClothSpace;
use crate::takes::sequences::InputStatistics;
use faer::Mat;
use toile_assets::{Body, Certificate, InputSet, Model, Take};

/// What a model is made of besides its fit.
pub(crate) struct Parts<'a> {
    pub body: &'a Body,
    pub first: &'a Take,
    pub settings: &'a Settings,
    pub cloth: &'a ClothSpace,
    pub pose: &'a BodySpace,
}

impl Parts<'_> {
    /// The model without certificate, weights and hidden triangles.
    pub fn model(
        &self,
        layout: &Layout,
        fit: &Regression,
        start: &Regression,
        seen: &InputStatistics,
        reach: f64,
    ) -> Model {
        let Layout { body: m, cloth: d, order, metas, paper } = *layout;
        let part = |w: &Mat<f64>, from: usize, count: usize| -> Vec<f32> {
            (0..d).flat_map(|r| (from..from + count).map(move |c| w[(r, c)] as f32)).collect()
        };
        let rows = |m: &Mat<f64>| -> Vec<f32> {
            (0..m.nrows()).flat_map(|r| (0..m.ncols()).map(move |c| m[(r, c)] as f32)).collect()
        };
        let narrow = |v: &[f64]| -> Vec<f32> { v.iter().map(|x| *x as f32).collect() };
        let mean = narrow(&self.cloth.mean);
        let mut bias = fit.bias.clone();
        if paper {
            // The printed cosine is `(cos − 1) + 1`: run time computes the bracket, the 1 is a bias in disguise.
            for i in 0..metas {
                (0..d).for_each(|r| bias[r] += fit.weights[(r, m + order * d + 5 * i + 4)]);
            }
        }
        Model {
            name: self.body.name.clone(),
            kind: self.settings.kind,
            order,
            fps: self.first.fps,
            vertices: self.first.vertices,
            triangles: self.first.triangles.clone(),
            cloth_dims: d,
            body_dims: m,
            joints: self.first.joints,
            cloth_mean: mean.as_chunks::<3>().0.iter().map(|p| (*p).into()).collect(),
            cloth_basis: rows(&self.cloth.basis),
            bones_mean: narrow(&self.pose.mean),
            body_from_bones: rows(&self.pose.from_bones),
            a: part(&fit.weights, 0, m),
            b: (0..order).map(|i| part(&fit.weights, m + i * d, d)).collect(),
            c: (0..metas).map(|i| part(&fit.weights, m + order * d + 5 * i, 5)).collect(),
            bias: narrow(&bias),
            a0: part(&start.weights, 0, m),
            bias0: narrow(&start.bias),
            hips: Some(self.body.hip_line()),
            inputs: self.input_set(m, seen, reach),
            certificate: Certificate {
                rho: 0.0,
                gamma: 0.0,
                p: Vec::new(),
                transient_gain: 0.0,
                travel_bound_m: Vec::new(),
                travel_bound_rate_m: Vec::new(),
                training_travel_m: Vec::new(),
            },
            correction: None,
            shield: None,
            attachment: None,
            hidden_triangles: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What training saw, widened by the margin.
    fn input_set(&self, m: usize, seen: &InputStatistics, reach: f64) -> InputSet {
        // A direction in which nothing ever moved is a column of zeros.
        let first = |v: &[f64]| -> Vec<f64> { (0..m).map(|k| v.get(k).copied().unwrap_or(0.0)).collect() };
        let (lo, hi) = (first(&seen.body_min), first(&seen.body_max));
        let (rate, std, largest) = (first(&seen.body_rate), first(&seen.body_std()), seen.moves);
        let margin = self.settings.input_margin;
        let widen = 1.0 + 2.0 * margin;
        let narrow =
            |v: Vec<f64>, factor: f64| -> Vec<f32> { v.iter().map(|x| (factor * x) as f32).collect() };
        InputSet {
            body_min: lo.iter().zip(&hi).map(|(l, h)| (l - margin * (h - l)) as f32).collect(),
            body_max: lo.iter().zip(&hi).map(|(l, h)| (h + margin * (h - l)) as f32).collect(),
            body_rate: narrow(rate, widen),
            body_std: narrow(std, 1.0),
            body_reach: reach as f32,
            max_horizontal_m: (largest[0] * widen) as f32,
            max_vertical_m: (largest[1] * widen) as f32,
            max_turn: (largest[2] * widen) as f32,
        }
    }
}
