//! What a model D reads its shape from, over a whole motion: the run-time's arithmetic in double precision.

use super::surroundings;
use crate::models::correction::motions::TakeMotion;
use faer::Mat;
use glam::DVec3;
use toile_assets::{Correction, RootFrame};
use toile_run::ROOT_TERMS;

/// Between −1 and 1.
pub(crate) fn hold(x: f64) -> f64 {
    x / (1.0 + x * x).sqrt()
}

/// The root's terms in every frame: see [`ROOT_TERMS`].
pub(crate) fn root_terms(roots: &[RootFrame], fps: f64) -> Vec<[f64; ROOT_TERMS]> {
    let mut out = Vec::with_capacity(roots.len());
    let mut before: Option<(DVec3, f64)> = None;
    for f in 0..roots.len() {
        let (v, w) = match f {
            0 => (DVec3::ZERO, 0.0),
            _ => {
                let heading = RootFrame { position: DVec3::ZERO, heading: roots[f - 1].heading };
                let moved = heading.canonical_from_world(roots[f].position - roots[f - 1].position);
                (moved * fps, (roots[f].heading - roots[f - 1].heading) * fps)
            }
        };
        let (a, alpha) = before.map_or((DVec3::ZERO, 0.0), |(was, turn)| ((v - was) * fps, (w - turn) * fps));
        before = (f > 0).then_some((v, w));
        let speed = v.length();
        let drag = v * speed;
        out.push([
            v.x,
            v.y,
            v.z,
            a.x,
            a.y,
            a.z,
            w,
            alpha,
            w * w,
            w * v.x,
            w * v.z,
            drag.x,
            drag.y,
            drag.z,
            speed,
        ]);
    }
    out
}

/// Held inputs, a column a frame: body inputs `x` (scaled, not held), their changes, the root's terms, those of the
/// surroundings where the model hears them.
pub(crate) fn held(c: &Correction, x: &Mat<f64>, motion: &TakeMotion, fps: f64) -> Mat<f64> {
    let m = x.nrows();
    let terms = root_terms(&motion.roots, fps);
    let around = c.hearing.as_ref().map(|h| (h, surroundings::terms(&motion.heard, &motion.roots, fps)));
    Mat::from_fn(c.held(), x.ncols(), |r, f| {
        if r < m {
            hold(x[(r, f)])
        } else if r < 2 * m {
            let k = r - m;
            hold((x[(k, f)] - x[(k, f.max(1) - 1)]) * f64::from(c.rate_scale[k]))
        } else if r < 2 * m + ROOT_TERMS {
            let k = r - 2 * m;
            hold((terms[f][k] - f64::from(c.root_mean[k])) * f64::from(c.root_scale[k]))
        } else {
            let k = r - 2 * m - ROOT_TERMS;
            around
                .as_ref()
                .map_or(0.0, |(h, terms)| hold((terms[f][k] - f64::from(h.mean[k])) * f64::from(h.scale[k])))
        }
    })
}

/// The filters' outputs, a column a frame, from drives.
pub(crate) fn filtered(poles: &[[f32; 2]], drives: &Mat<f64>) -> Mat<f64> {
    let (n, frames) = (drives.nrows(), drives.ncols());
    let rows = poles.iter().map(|p| if p[1] == 0.0 { n } else { 2 * n }).sum();
    let mut out = Mat::<f64>::zeros(rows, frames);
    let mut at = 0;
    for [re, im] in poles.iter().map(|p| p.map(f64::from)) {
        for k in 0..n {
            let mut z = (drives[(k, 0)], 0.0);
            for f in 0..frames {
                let u = drives[(k, f)];
                z = (re * z.0 - im * z.1 + (1.0 - re) * u, re * z.1 + im * z.0 - im * u);
                out[(at + k, f)] = z.0;
                if im != 0.0 {
                    out[(at + n + k, f)] = z.1;
                }
            }
        }
        at += if im == 0.0 { n } else { 2 * n };
    }
    out
}

/// Squared distances of held poses to centres: `centres × frames`.
pub(crate) fn distances_sq(centres: &Mat<f64>, held: &Mat<f64>) -> Mat<f64> {
    let m = centres.ncols();
    let poses = held.subrows(0, m);
    let mut out = centres * poses;
    let own: Vec<f64> = (0..centres.nrows()).map(|r| (0..m).map(|k| centres[(r, k)].powi(2)).sum()).collect();
    for f in 0..out.ncols() {
        let length: f64 = (0..m).map(|k| held[(k, f)].powi(2)).sum();
        for r in 0..out.nrows() {
            out[(r, f)] = (own[r] + length - 2.0 * out[(r, f)]).max(0.0);
        }
    }
    out
}

/// All features of a motion, a column a frame: those of one cloth, then for each number of the cloth that number and all of
/// them multiplied with it.
pub(crate) fn features(c: &Correction, held: &Mat<f64>, motion: &TakeMotion) -> Mat<f64> {
    let plain = plain_features(c, held);
    let cloth = cloth(c, motion);
    let width = plain.nrows() + 1;
    Mat::from_fn(plain.nrows() + cloth.len() * width, plain.ncols(), |r, f| {
        if r < plain.nrows() {
            return plain[(r, f)];
        }
        let (k, r) = ((r - plain.nrows()) / width, (r - plain.nrows()) % width);
        cloth[k] * if r == 0 { 1.0 } else { plain[(r - 1, f)] }
    })
}

/// The numbers of a motion's cloth; none where the model does not hear them.
fn cloth(c: &Correction, motion: &TakeMotion) -> Vec<f64> {
    let Some(hearing) = &c.hearing else { return Vec::new() };
    let mut basis = vec![0.0; hearing.basis()];
    hearing.fabric(motion.heard.first().and_then(|s| s.fabric).as_ref(), &mut basis);
    basis.into_iter().map(f64::from).collect()
}

fn plain_features(c: &Correction, held: &Mat<f64>) -> Mat<f64> {
    let (u, m) = (held.nrows(), c.rate_scale.len());
    let drive = Mat::from_fn(c.drives(), u, |r, k| f64::from(c.drive[r * u + k]));
    let centres = Mat::from_fn(c.centre_count(), m, |r, k| f64::from(c.centres[r * m + k]));
    let filtered = filtered(&c.poles, &(&drive * held));
    let apart = distances_sq(&centres, held);
    let width = f64::from(c.width_sq);
    let first = u + filtered.nrows();
    let followed =
        Mat::from_fn(first, held.ncols(), |r, f| if r < u { held[(r, f)] } else { filtered[(r - u, f)] });
    let directions = c.direction_count();
    let along = Mat::from_fn(directions, first, |r, k| f64::from(c.directions[r * first + k]));
    let anchors = Mat::from_fn(c.anchor_count(), directions, |r, k| f64::from(c.anchors[r * directions + k]));
    let anchored = distances_sq(&anchors, &(&along * &followed));
    let anchor_width = f64::from(c.anchor_width_sq);
    let last = first + apart.nrows();
    Mat::from_fn(last + anchored.nrows(), held.ncols(), |r, f| {
        if r < first {
            followed[(r, f)]
        } else if r < last {
            width / (width + apart[(r - first, f)])
        } else {
            anchor_width / (anchor_width + anchored[(r - last, f)])
        }
    })
}
