//! Four ways of holding vertices in one implicit step: mass modification, which Baraff and Witkin 1998 §5 chose, and the three they
//! rejected: penalty springs, Lagrange multipliers, reduced coordinates. See docs/math/implicit.md.

use super::blocks::{Blocks, Filter, dense, modified_pcg, to_dense};
use super::conditions::{Conditions, Scaling, Which};
use super::implicit::{Linear, Model};
use super::scenes;
use crate::row::Row;
use glam::{DMat3, DVec3};
use toile_simulate::Result;

/// Length of the step that is solved four times, s.
const STEP_SECS: f64 = 0.02;
/// Penalty springs, N/m: as stiff as the cloth, and a thousand times that.
const PENALTIES: [f64; 2] = [2e3, 2e6];

/// One step's linear system on the hanging square.
struct System {
    matrix: Blocks,
    right: Vec<DVec3>,
    held: Vec<u32>,
}

impl System {
    fn new(n: usize) -> Result<Self> {
        let stage = scenes::hanging(n)?;
        let x = &stage.world.state.x;
        let model = Conditions::new(&stage, Which::ALL, Scaling::Root);
        let pattern = model.pattern(x.len());
        let force = stage.cloth().mass.iter().map(|m| stage.gravity() * *m).collect();
        let mut linear = Linear { force, stiffness: pattern.clone(), damping: pattern.clone() };
        model.linearise(x, &vec![DVec3::ZERO; x.len()], &mut linear);
        let mut matrix = pattern;
        matrix.add_scaled(&linear.stiffness, -STEP_SECS * STEP_SECS);
        for (i, m) in stage.cloth().mass.iter().enumerate() {
            matrix.add(i, i, DMat3::IDENTITY * *m);
        }
        let right = linear.force.iter().map(|f| *f * STEP_SECS).collect();
        Ok(Self { matrix, right, held: stage.pins.vertices })
    }

    fn filtered(&self, held: bool, tolerance: f64) -> (Vec<DVec3>, u32) {
        let n = self.right.len();
        let mut filter = Filter::free(n);
        if held {
            self.held.iter().for_each(|&v| filter.hold(v as usize, DVec3::ZERO));
        }
        let mut dv = vec![DVec3::ZERO; n];
        let count = modified_pcg(&self.matrix, &self.right, &filter, tolerance, 20_000, &mut dv);
        (dv, count)
    }

    /// Springs from held vertices to their places.
    fn penalty(&self, k: f64, tolerance: f64) -> (Vec<DVec3>, u32) {
        let mut stiff =
            Self { matrix: self.matrix.clone(), right: self.right.clone(), held: self.held.clone() };
        for &v in &self.held {
            stiff.matrix.add(v as usize, v as usize, DMat3::IDENTITY * (k * STEP_SECS * STEP_SECS));
        }
        stiff.filtered(false, tolerance)
    }

    /// `[A Jᵀ; J 0]`, indefinite, so by elimination.
    fn multipliers(&self) -> Vec<DVec3> {
        let n = 3 * self.right.len();
        let size = n + 3 * self.held.len();
        let mut full = to_dense(&self.matrix);
        full.iter_mut().for_each(|row| row.resize(size, 0.0));
        full.resize(size, vec![0.0; size]);
        for (k, &v) in self.held.iter().enumerate() {
            for c in 0..3 {
                full[3 * v as usize + c][n + 3 * k + c] = 1.0;
                full[n + 3 * k + c][3 * v as usize + c] = 1.0;
            }
        }
        let mut right: Vec<f64> = self.right.iter().flat_map(|r| r.to_array()).collect();
        right.resize(size, 0.0);
        let solved = dense(full, right);
        solved[..n].chunks(3).map(DVec3::from_slice).collect()
    }

    /// Held vertices are no unknowns at all: their rows and columns are gone.
    fn reduced(&self) -> Vec<DVec3> {
        let free: Vec<usize> = (0..self.right.len()).filter(|&v| !self.held.contains(&(v as u32))).collect();
        let full = to_dense(&self.matrix);
        let index: Vec<usize> = free.iter().flat_map(|v| [3 * v, 3 * v + 1, 3 * v + 2]).collect();
        let small = index.iter().map(|&i| index.iter().map(|&j| full[i][j]).collect()).collect();
        let right = free.iter().flat_map(|&v| self.right[v].to_array()).collect();
        let mut dv = vec![DVec3::ZERO; self.right.len()];
        free.iter().zip(dense(small, right).chunks(3)).for_each(|(&v, p)| dv[v] = DVec3::from_slice(p));
        dv
    }
}

/// How the four compare on one step of the hanging square.
pub fn rows() -> Result<Vec<Row>> {
    let system = System::new(10)?;
    let largest = |v: &[DVec3]| v.iter().map(|p| p.length()).fold(0.0, f64::max);
    let apart = |a: &[DVec3], b: &[DVec3]| {
        a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max) / largest(b)
    };
    let slip = |v: &[DVec3]| {
        1e3 * STEP_SECS * system.held.iter().map(|&i| v[i as usize].length()).fold(0.0, f64::max)
    };
    let (reduced, multiplied) = (system.reduced(), system.multipliers());
    let (filtered, _) = system.filtered(true, 1e-12);
    let (_, count) = system.filtered(true, 1e-3);
    let name = |what: &str| format!("holding: {what}");
    let mut rows = vec![
        Row::absolute(
            name("mass modification against reduced coordinates, share"),
            apart(&filtered, &reduced),
            0.0,
            1e-8,
        ),
        Row::absolute(
            name("multipliers against reduced coordinates, share"),
            apart(&multiplied, &reduced),
            0.0,
            1e-8,
        ),
        Row::absolute(name("mass modification, slip a step, mm"), slip(&filtered), 0.0, 1e-12),
        Row::at_most(name("mass modification, iterations"), f64::from(count), 200.0),
    ];
    // Stiff springs are on the diagonal, which the preconditioner divides by: they cost no iterations. Softer ones hold less.
    for k in PENALTIES {
        let (dv, iterations) = system.penalty(k, 1e-3);
        let what = format!("penalty of {k:.0e} N/m");
        let (soft, [low, high]) = if k < 1e5 { ("soft: ", [0.01, 1.0]) } else { ("stiff: ", [0.0, 1e-3]) };
        rows.push(Row::band(name(&format!("{soft}{what}, slip a step, mm")), slip(&dv), low, high));
        rows.push(Row::at_most(name(&format!("{soft}{what}, iterations")), f64::from(iterations), 2000.0));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #[test]
    fn exact_ways_agree_and_penalties_slip() {
        let rows = super::rows().unwrap();
        assert!(rows.iter().all(|r| r.pass), "{rows:#?}");
        let slip =
            |what: &str| rows.iter().find(|r| r.name.contains(what) && r.name.contains("slip")).unwrap().ours;
        assert!(slip("soft") > 10.0 * slip("stiff"));
    }
}
