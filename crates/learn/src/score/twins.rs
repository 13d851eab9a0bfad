//! How well the simulation repeats itself: what two takes of one motion differ by, no model can foretell.

use super::project::{order_zero, project_body, project_cloth};
use crate::score::histogram::Histogram;
use crate::score::liveliness::Liveliness;
use crate::settings::Error;
use toile_assets::{Model, Take};

/// Takes and their twins, scored as if the twin were a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twins {
    /// Mean vertex distance between take and twin, cm. The best foretelling, the mean of all twins, is off by about
    /// this over √2.
    pub mean_cm: f64,
    /// The same in the second after every stop.
    pub after_stops_cm: f64,
    /// RMS speed of the twin's dynamic residual over the take's.
    pub liveliness: f64,
    /// Correlation of those velocities: a model of the mean reaches about the square root of this.
    pub correlation: f64,
    /// Pairs compared.
    pub pairs: usize,
}

/// Compares takes with twins of the same clips (`toile simulate --nudge`); `model` gives the space and the order-0
/// prediction of the dynamic residual.
pub fn twins(model: &Model, takes: &[Take], others: &[Take]) -> Result<Twins, Error> {
    let mut lively = Liveliness::default();
    let (mut all, mut after) = (Histogram::default(), Histogram::default());
    let mut pairs = 0;
    for take in takes {
        let same =
            |t: &&Take| t.clip == take.clip && t.stop_frame == take.stop_frame && t.len() == take.len();
        let Some(twin) = others.iter().find(same) else { continue };
        if twin.vertices != take.vertices {
            let what = format!("`{}` has {} vertices, its twin {}", take.clip, take.vertices, twin.vertices);
            return Err(Error::Mixed(vec![what]));
        }
        pairs += 1;
        let second = if take.stop_frame.is_some() { take.fps.round() as usize } else { 0 };
        let mut residuals = [Vec::new(), Vec::new()];
        for f in 0..take.len() {
            for (a, b) in take.frame(f).iter().zip(twin.frame(f)) {
                let apart = a.distance(*b);
                if take.stop_frame.is_none() {
                    all.add(apart);
                }
                if (1..=second).contains(&f) {
                    after.add(apart);
                }
            }
            let start = order_zero(model, &project_body(model, take, f));
            for (to, from) in residuals.iter_mut().zip([take, twin]) {
                let y = project_cloth(model, from, f);
                to.push(y.iter().zip(&start).map(|(y, s)| f64::from(y - s)).collect::<Vec<f64>>());
            }
        }
        for k in 0..model.cloth_dims {
            let [truth, twin] =
                [0, 1].map(|which: usize| -> Vec<f64> { residuals[which].iter().map(|r| r[k]).collect() });
            lively.add(&truth, &twin, take.fps);
        }
    }
    if pairs == 0 {
        return Err(Error::Mixed(vec!["none of the twins is of the same clip and length as a take".into()]));
    }
    Ok(Twins {
        mean_cm: all.mean_cm(),
        after_stops_cm: after.mean_cm(),
        liveliness: lively.ratio(),
        correlation: lively.correlation(),
        pairs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::train::tests::{quick, swaying_takes, tube_body};
    use crate::{Settings, train};
    use glam::Vec3;

    #[test]
    fn a_twin_is_as_far_as_it_is_pushed_and_strangers_are_refused() {
        let body = tube_body();
        let takes = swaying_takes(&body, 4, 120);
        let settings = Settings { cloth_dims: 2, body_dims: 12, ridges: vec![1e-9], ..quick() };
        let model = train(&body, &takes[..3], &settings).unwrap().model;
        let same = twins(&model, &takes, &takes).unwrap();
        assert!(same.pairs == 4 && same.mean_cm == 0.0 && same.correlation > 0.999);
        let mut pushed = takes.clone();
        pushed.iter_mut().for_each(|t| t.positions.iter_mut().for_each(|p| *p += 0.03 * Vec3::X));
        let apart = twins(&model, &takes, &pushed).unwrap();
        assert!((apart.mean_cm - 3.0).abs() < 1e-3 && (apart.liveliness - 1.0).abs() < 0.3);
        assert!(twins(&model, &takes[..1], &takes[1..]).is_err());
    }
}
