//! What the papers claim, each as a row that can fail, and pictures to be looked at.

mod buckling;
mod drapes;
mod layers;
mod lengths;

use super::conditions::{Conditions, Scaling, Which};
use super::implicit::{Implicit, Scheme};
use super::mixed::Mixed;
use super::scenes::{self, mode_frequency};
use super::stage::{Obstacles, Stage, State};
use super::weil::{Catenary, hung_from_corners};
use super::{Method, Wanted, find, holding, measure};
use crate::row::{Findings, Piece, Row, Snapshot};
use glam::DVec3;
use toile_simulate::Result;

/// Something papers claim.
pub struct Claim {
    /// Solvers that it is about.
    pub of: &'static [&'static str],
    /// What its pictures are called, all in one sheet; nothing where there are none.
    pub sheet: Option<&'static str>,
    find: fn() -> Result<Findings>,
}

impl Claim {
    const fn new(of: &'static [&'static str], find: fn() -> Result<Findings>) -> Self {
        Self { of, sheet: None, find }
    }

    const fn shown(self, sheet: &'static str) -> Self {
        Self { sheet: Some(sheet), ..self }
    }

    /// Finds it out.
    pub fn found(&self) -> Result<Findings> {
        let mut found = (self.find)()?;
        // Pictures go where they were announced, and nowhere else.
        match self.sheet {
            Some(sheet) => found.shots.iter_mut().for_each(|s| s.scene = sheet.into()),
            None => found.shots.clear(),
        }
        Ok(found)
    }
}

/// All of them.
pub const CLAIMS: &[Claim] = &[
    Claim::new(&["weil"], weil).shown("weil: hung from four corners"),
    Claim::new(&["haumann"], haumann),
    Claim::new(&["breen"], drapes::weaves).shown("breen: three weaves over a round table"),
    Claim::new(&["baraff-witkin"], printed),
    Claim::new(&["baraff-witkin"], || Ok(holding::rows()?.into())),
    Claim::new(&["bdf2", "mixed"], orders),
    Claim::new(&["choi-ko", "implicit-springs"], buckling::buckling)
        .shown("choi-ko: a sheet pushed together by a quarter"),
    Claim::new(&["eberhardt"], drapes::knits).shown("eberhardt: knits on a ball"),
    Claim::new(&["bridson"], layers::layers),
    Claim::new(&["goldenthal", "icd"], lengths::inextensible),
];

/// Plays a method; where it flew apart, when.
fn play(method: &mut dyn Method, stage: &Stage, h: f64, secs: f64) -> (State, Option<f64>) {
    let mut obstacles = Obstacles::new(stage);
    let mut state = stage.start();
    for _ in 0..(secs / h).round() as usize {
        let before = state.clone();
        let work = method.step(stage, &mut obstacles, &mut state, h);
        if work.failed || measure::flew(stage, &state) {
            return (before, Some(state.secs));
        }
    }
    (state, None)
}

fn shot(name: &str, stage: &Stage, x: &[DVec3], view: (f32, f32), others: Vec<Piece>) -> Snapshot {
    let mut pieces = vec![Piece::cloth(&stage.cloth().triangles, x)];
    pieces.extend(others);
    Snapshot { name: name.into(), scene: String::new(), view, pieces }
}

/// Catenaries have their sag, and a square hung from four corners.
fn weil() -> Result<Findings> {
    let mut found = Findings::default();
    for (span, sag) in [(0.5, 0.39819), (0.8, 0.26544), (0.9, 0.19071), (0.95, 0.13590)] {
        let ours = Catenary::new(DVec3::ZERO, DVec3::X * span, 1.0).map_or(f64::NAN, |c| c.sag());
        found.rows.push(Row::relative(
            format!("weil: catenary of length 1, sag at span {span}"),
            ours,
            sag,
            0.002,
        ));
    }
    let n = 24;
    let corners = [(-0.4, -0.4), (0.4, -0.4), (0.4, 0.4), (-0.4, 0.4)].map(|(x, z)| DVec3::new(x, 0.6, z));
    let stage = scenes::hanging(n)?;
    for (name, passes) in [("catenaries", 0), ("catenaries, relaxed", 60)] {
        let x = hung_from_corners(corners, 1.0, n, passes);
        found.shots.push(shot(name, &stage, &x, (30.0, 20.0), vec![]));
    }
    Ok(found)
}

/// Explicit Euler explodes, however short its steps.
fn haumann() -> Result<Findings> {
    let stage = scenes::hanging(16)?;
    let mut lasted = (0.0, f64::NAN);
    for rate in [100.0, 400.0, 1600.0, 6400.0] {
        let Ok(entry) = find("haumann") else { break };
        let (_, flew) = play((entry.make)(&stage).as_mut(), &stage, 1.0 / rate, stage.secs);
        let secs = flew.unwrap_or(f64::INFINITY);
        if secs > lasted.0 {
            lasted = (secs, rate);
        }
    }
    let name = format!(
        "haumann: hanging square at 1/100 to 1/6400 s, longest until it explodes, at 1/{:.0} s, s",
        lasted.1
    );
    Ok(Row::at_most(name, lasted.0, stage.secs).into())
}

/// Stretch of a hanging sheet over its analytic value, with conditions as they should be scaled and as they are printed.
fn printed() -> Result<Findings> {
    let mut rows = Vec::new();
    let coarse = 0.5 / 64.0;
    for n in [8, 16, 32] {
        let stage = scenes::hanging(n)?;
        let fabric = &stage.cloth().fabric;
        let right = 0.5 * 9.81 * fabric.density / fabric.stretch_warp;
        let softer = (n as f64 / 8.0).powi(2);
        for (scaling, what, expected) in
            [(Scaling::Root, "√a", 1.0), (Scaling::Printed(coarse), "a, as printed,", softer)]
        {
            let model = Conditions::new(&stage, Which::ALL, scaling);
            let mut method = Implicit::new(&stage, model, Scheme::Euler).tight();
            let (state, _) = play(&mut method, &stage, 0.1, 12.0);
            let lowest = state.x.iter().map(|p| -p.y).fold(0.0, f64::max);
            let name = format!("baraff-witkin: C with {what} at {n} cells, stretch over wL²/2Y");
            rows.push(Row::relative(name, (lowest - 1.0) / right, expected, 0.1));
        }
    }
    let subject = measure::subject("skirt on a walk", Wanted::default())?;
    if let Ok(entry) = find("baraff-witkin") {
        let run = measure::run(entry, &subject, 1.0 / 50.0);
        let failed = f64::from(u8::from(!run.stable));
        rows.push(Row::absolute("baraff-witkin: skirt on a walk at 1/50 s, failed", failed, 0.0, 0.0));
        let name = "baraff-witkin: skirt on a walk at 1/50 s, largest stretch, %";
        rows.push(Row::at_most(name, 100.0 * run.stretch, 10.0));
    }
    Ok(rows.into())
}

/// Orders of the integrators on the swing: how the change halves when the step does.
fn orders() -> Result<Findings> {
    let stage = scenes::hanging(4)?;
    let secs = 0.8 * std::f64::consts::TAU / mode_frequency(9.81);
    let conditions = |scheme| {
        let model = Conditions::new(&stage, Which::ALL, Scaling::Root);
        Box::new(Implicit::new(&stage, model, scheme).tight()) as Box<dyn Method>
    };
    let make: [(&str, &dyn Fn() -> Box<dyn Method>, f64, f64); 3] = [
        ("implicit Euler", &|| conditions(Scheme::Euler), 1.0, 160.0),
        ("BDF2", &|| conditions(Scheme::Bdf2), 2.0, 80.0),
        ("mixed explicit and implicit", &|| Box::new(Mixed::new(&stage)), 2.0, 9600.0),
    ];
    let mut rows = Vec::new();
    for (name, make, order, steps) in make {
        let end = |share: f64| {
            let (state, _) = play(make().as_mut(), &stage, secs / (steps * share), secs);
            state.x.last().map_or(0.0, |p| p.z)
        };
        let z = [end(1.0), end(2.0), end(4.0)];
        let observed = ((z[0] - z[1]) / (z[1] - z[2])).abs().log2();
        rows.push(Row::absolute(format!("second order: {name}, order on the swing"), observed, order, 0.3));
    }
    Ok(rows.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catenaries_sag_and_explicit_euler_explodes() {
        for found in [weil().unwrap(), haumann().unwrap()] {
            assert!(found.rows.iter().all(|r| r.pass), "{:#?}", found.rows);
        }
    }
}
