//! Cloth from measured figures: Breen's weaves over a round table, Eberhardt's knits on a ball.

use super::{play, shot};
use crate::cloths::plain;
use crate::row::{Findings, Piece, Plot, Row};
use crate::solvers::breen::{Breen, WEAVES, read_back};
use crate::solvers::eberhardt::{Eberhardt, KNITS};
use crate::solvers::goldenthal::threads;
use crate::solvers::scenes;
use glam::DVec3;
use toile_assets::Fabric;
use toile_simulate::Result;
use toile_simulate::contact::collider::Shape;

/// A ring of triangles as a round table.
fn table(radius: f64, height: f64) -> Piece {
    let sides = 64u32;
    let mut positions = vec![glam::Vec3::ZERO];
    let mut triangles = Vec::new();
    for s in 0..sides {
        let a = std::f64::consts::TAU * f64::from(s) / f64::from(sides);
        let p = DVec3::new(radius * a.sin(), 0.0, radius * a.cos());
        positions.extend([p.as_vec3(), (p - DVec3::Y * height).as_vec3()]);
        let (i, j) = (1 + 2 * s, 1 + 2 * ((s + 1) % sides));
        triangles.extend([[0, i, j], [i, i + 1, j + 1], [i, j + 1, j]]);
    }
    Piece { triangles, positions, cloth: false }
}

/// Three weaves over a round table, and whether the fitted plots give Kawabata's figures back.
pub(super) fn weaves() -> Result<Findings> {
    let mut found = Findings::default();
    let (radius, half) = (0.25, 0.3);
    let mut hems = Vec::new();
    for weave in &WEAVES {
        let shape = Shape::Cylinder { half_length: half, radius };
        let mut stage = scenes::over(30, 0.9, half + 0.004, weave.fabric(), shape, "table", 1.0)?;
        if let Some((bend, shear)) = read_back(weave, &stage) {
            let name = |what: &str| format!("breen: {} weave, {what} read back", weave.name);
            found.rows.push(Row::relative(name("B in gf cm²/cm"), bend, weave.bend, 0.05));
            found.rows.push(Row::relative(name("G in gf/(cm degree)"), shear, weave.shear, 0.05));
        }
        // A flat sheet does not know where to fold.
        let mut random = toile_geometry::Random::new(3);
        stage.world.state.x.iter_mut().for_each(|p| *p += DVec3::Y * 2e-3 * random.unit());
        let mut method = Breen::new(&stage, weave);
        let (state, _) = play(&mut method, &stage, 1.0 / 30.0, 450.0 / 30.0);
        let outer: Vec<f64> = state.x.iter().map(|p| p.x.hypot(p.z)).filter(|r| *r > radius + 0.01).collect();
        hems.push(outer.iter().sum::<f64>() / outer.len().max(1) as f64);
        // Contact is by vertices, three centimetres apart: drawn as it is, the rim would show between them.
        let drawn = table(radius - 0.015, 2.0 * half);
        let others = vec![Piece { positions: lifted(&drawn, half - 0.008), ..drawn }];
        found.shots.push(shot(weave.name, &stage, &state.x, (35.0, 22.0), others));
    }
    // Cotton stands out farthest, the blend hangs closest.
    found.rows.push(Row::band(
        "breen: cotton stands out farther than the blend, cm",
        100.0 * (hems[0] - hems[2]),
        0.05,
        20.0,
    ));
    Ok(found)
}

fn lifted(piece: &Piece, by: f64) -> Vec<glam::Vec3> {
    piece.positions.iter().map(|p| *p + glam::Vec3::Y * by as f32).collect()
}

/// Knits give their measured figures back, and hang as soft cloth does.
pub(super) fn knits() -> Result<Findings> {
    let mut found = Findings::default();
    for knit in &KNITS {
        let mut plot = Plot::new(format!("{}: load and unload", knit.name), "strain, %", "N/m");
        for (what, t) in [("course", knit.course), ("wale", knit.wale)] {
            let steps = 200;
            let e = |k: usize| t.strain * k as f64 / steps as f64;
            let work = |f: &dyn Fn(f64) -> f64| {
                (0..steps).map(|k| f(e(k) + 0.5 * t.strain / steps as f64)).sum::<f64>()
            };
            let back = work(&|e| t.down(e, t.strain).0) / work(&|e| t.up(e).0);
            found.rows.push(Row::relative(
                format!("eberhardt: {}, {what}, resilience RT", knit.name),
                back,
                t.resilience,
                0.01,
            ));
            let way = |k: usize| (100.0 * e(k), t.up(e(k)).0);
            let mut loop_: Vec<(f64, f64)> = (0..=steps).map(way).collect();
            loop_.extend((0..=steps).rev().map(|k| (100.0 * e(k), t.down(e(k), t.strain).0)));
            plot = plot.ours(what, loop_);
        }
        found.plots.push(plot);
        let radius = 0.2;
        let fabric = Fabric { damping_secs: 0.01, ..plain() };
        let stage = scenes::over(28, 0.8, radius + 0.005, fabric, Shape::Sphere { radius }, "knit", 1.2)?;
        let mut method = Eberhardt::new(&stage, knit);
        let (state, flew) = play(&mut method, &stage, 1.0 / 60.0, stage.secs);
        let reach = |axis: usize| {
            let (lo, hi) =
                state.x.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[axis]), h.max(p[axis])));
            hi - lo
        };
        let name = format!("eberhardt: {} on a ball, flew apart", knit.name);
        found.rows.push(Row::absolute(
            name,
            f64::from(u8::from(flew.is_some() || !reach(0).is_finite())),
            0.0,
            0.0,
        ));
        let long = |pairs: &dyn Fn(usize) -> bool| {
            let all = threads(&stage);
            let of: Vec<f64> = all
                .iter()
                .filter(|c| pairs(c.ends[1] - c.ends[0]))
                .map(|c| state.x[c.ends[0]].distance(state.x[c.ends[1]]) / c.length - 1.0)
                .collect();
            100.0 * of.iter().copied().fold(0.0, f64::max)
        };
        let (course, wale) = (long(&|d| d == 1), long(&|d| d > 1));
        // It gives where it is soft: along the courses.
        let name = format!("eberhardt: {} on a ball, stretch along courses over wales", knit.name);
        found.rows.push(Row::band(name, course / wale, 1.0, 10.0));
        let ball = crate::scenes::ball(DVec3::ZERO, radius);
        found.shots.push(shot(knit.name, &stage, &state.x, (35.0, 15.0), vec![ball]));
    }
    Ok(found)
}
