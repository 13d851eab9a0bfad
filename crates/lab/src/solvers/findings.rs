//! What the papers claim, each as a row that can fail, and pictures to be looked at.

use super::breen::{Breen, WEAVES, read_back};
use super::bridson::Bridson;
use super::conditions::{Conditions, Scaling, Which};
use super::eberhardt::{Eberhardt, KNITS};
use super::goldenthal::{Goldenthal, STRAIN, Way, threads};
use super::implicit::{Implicit, Scheme};
use super::mixed::Mixed;
use super::scenes::{self, mode_frequency};
use super::springs::Springs;
use super::stage::{Obstacles, Stage, State, Track};
use super::weil::{Catenary, hung_from_corners};
use super::{Method, find, holding, measure};
use crate::check;
use crate::cloths::{Pattern, plain, rectangle};
use crate::row::{Findings, Piece, Plot, Row, Snapshot};
use glam::{DAffine3, DVec3};
use toile_assets::Fabric;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

/// A claim: its name and what finds it out.
pub type Claim = (&'static str, fn() -> Result<Findings>);

/// All of them.
pub const CLAIMS: &[Claim] = &[
    ("weil", weil),
    ("haumann", haumann),
    ("breen", weaves),
    ("baraff-witkin", printed),
    ("holding", || Ok(holding::rows()?.into())),
    ("bdf2", orders),
    ("choi-ko", buckling),
    ("eberhardt", knits),
    ("bridson", layers),
    ("goldenthal", inextensible),
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

fn shot(
    scene: &str,
    name: &str,
    stage: &Stage,
    x: &[DVec3],
    view: (f32, f32),
    others: Vec<Piece>,
) -> Snapshot {
    let mut pieces = vec![Piece::cloth(&stage.cloth().triangles, x)];
    pieces.extend(others);
    Snapshot { name: name.into(), scene: scene.into(), view, pieces }
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
        found.shots.push(shot("weil: hung from four corners", name, &stage, &x, (30.0, 20.0), vec![]));
    }
    Ok(found)
}

/// Explicit Euler explodes, however short its steps.
fn haumann() -> Result<Findings> {
    let stage = scenes::hanging(16)?;
    let mut curve = Vec::new();
    for rate in [100.0, 400.0, 1600.0, 6400.0] {
        let Ok(entry) = find("haumann") else { break };
        let (_, flew) = play((entry.make)(&stage).as_mut(), &stage, 1.0 / rate, stage.secs);
        curve.push((rate, flew.unwrap_or(f64::INFINITY)));
    }
    let lasted = curve.iter().map(|c| c.1).fold(0.0, f64::max);
    Ok(vec![Row::at_most("haumann: hanging square at 1/6400 s, s until it explodes", lasted, stage.secs)]
        .into())
}

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
fn weaves() -> Result<Findings> {
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
        found.shots.push(shot(
            "breen: three weaves over a round table",
            weave.name,
            &stage,
            &state.x,
            (35.0, 22.0),
            others,
        ));
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
    let subject = measure::subject("skirt on a walk")?;
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

/// A sheet on a table pushed together by a quarter from two sides: Choi and Ko's own demonstration.
pub fn pushed(n: usize, noise_m: f64) -> Result<Stage> {
    let (width, depth) = (0.4, 0.3);
    let fabric = Fabric {
        stretch_warp: 2000.0,
        stretch_weft: 2000.0,
        shear: 200.0,
        damping_secs: 0.02,
        bend_warp: 1e-4,
        bend_weft: 1e-4,
        ..plain()
    };
    let rows = n * 3 / 4;
    let (mesh, rest) = rectangle(width, depth, n, rows, Pattern::Alternating);
    let mut scene = Scene::new(&mesh, &rest, &fabric, &scenes::bare())?;
    let mut random = toile_geometry::Random::new(5);
    let lowest = 0.5 * fabric.thickness + scenes::bare().skin_m;
    let x: Vec<DVec3> =
        crate::cloths::lay(&mesh, lowest).iter().map(|p| *p + DVec3::Y * noise_m * random.unit()).collect();
    let held: Vec<u32> = (0..x.len() as u32).filter(|v| *v as usize % (n + 1) % n == 0).collect();
    held.iter().for_each(|&v| scene.pinned[v as usize] = true);
    let secs = 1.0;
    let keys = (0..=240).map(|k| {
        let t = (f64::from(k) / 180.0).min(1.0);
        let nearer = 1.0 - 0.25 * t * t * (3.0 - 2.0 * t);
        held.iter().map(|&v| DVec3::new(x[v as usize].x * nearer, x[v as usize].y, x[v as usize].z)).collect()
    });
    let pins = Track { vertices: held.clone(), keys: keys.collect() };
    let mut world = World::new(scene, x, scenes::bare())?;
    world.state.colliders.push(Collider::fixed(Shape::Plane, DAffine3::IDENTITY));
    let cell = width / n as f64;
    let lattice = super::stage::Lattice {
        across: n + 1,
        along: rows + 1,
        wraps: false,
        spacing: [cell, depth / rows as f64],
    };
    let friction = 0.1;
    Ok(Stage {
        name: "pushed together",
        world,
        lattice: Some(lattice),
        pins,
        bones: vec![],
        worn: false,
        secs,
        friction,
    })
}

/// Folds where the plain spring model explodes or stays flat.
fn buckling() -> Result<Findings> {
    let stage = pushed(32, 5e-4)?;
    let mut found = Findings::default();
    let mut heights = Vec::new();
    let made = |name: &str| find(name).map(|entry| (entry.make)(&stage)).ok();
    let whole = || {
        let model = Springs::new(&stage, 1.0).indefinite();
        Box::new(Implicit::new(&stage, model, Scheme::Euler)) as Box<dyn Method>
    };
    for (name, label, method, rate) in [
        ("haumann", "explicit springs", made("haumann"), 800.0),
        ("whole", "implicit, whole Jacobian", Some(whole()), 50.0),
        ("provot", "soft springs", made("provot"), 800.0),
        ("implicit-springs", "implicit, definite part", made("implicit-springs"), 50.0),
        ("choi-ko", "Choi and Ko", made("choi-ko"), 50.0),
    ] {
        let Some(mut method) = method else { continue };
        let (state, flew) = play(method.as_mut(), &stage, 1.0 / rate, stage.secs);
        let high = state.x.iter().map(|p| p.y).fold(0.0, f64::max);
        heights.push((name, high, flew));
        let label = flew.map_or_else(|| label.to_string(), |_| format!("{label}: explodes"));
        found.shots.push(shot(
            "choi-ko: a sheet pushed together by a quarter",
            &label,
            &stage,
            &state.x,
            (25.0, 25.0),
            vec![],
        ));
    }
    let of = |name: &str| heights.iter().find(|h| h.0 == name).map_or((f64::NAN, None), |h| (h.1, h.2));
    let exploded = f64::from(u8::from(of("haumann").1.is_some()));
    found.rows.push(Row::absolute("choi-ko: pushed sheet, plain springs explode", exploded, 1.0, 0.0));
    found.rows.push(Row::at_most(
        "choi-ko: pushed sheet, implicit springs, height of folds, cm",
        100.0 * of("implicit-springs").0,
        20.0,
    ));
    found.rows.push(Row::band(
        "choi-ko: pushed sheet, height of folds, cm",
        100.0 * of("choi-ko").0,
        2.0,
        20.0,
    ));
    Ok(found)
}

/// Knits give their measured figures back, and hang as soft cloth does.
fn knits() -> Result<Findings> {
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
        found.shots.push(shot(
            "eberhardt: knits on a ball",
            knit.name,
            &stage,
            &state.x,
            (35.0, 15.0),
            vec![ball],
        ));
    }
    Ok(found)
}

/// Three sheets thrown at each other and a fourth that flies through them if nothing stops it.
fn stack(n: usize) -> Result<Stage> {
    let (mut mesh, flat) = rectangle(0.3, 0.3, n, n, Pattern::Alternating);
    let (count, triangles, mut rest) = (mesh.positions.len() as u32, mesh.triangles.clone(), flat.clone());
    let mut positions = Vec::new();
    let mut random = toile_geometry::Random::new(2);
    let mut speeds = Vec::new();
    mesh.triangles.clear();
    rest.clear();
    for (k, speed) in [2.0, 0.0, 0.0, -3.0].into_iter().enumerate() {
        for p in &mesh.positions {
            let aside = (0.02 * random.vector()).as_vec3() * 0.1;
            positions.push(*p + glam::Vec3::Y * (0.02 * k as f32) + aside);
            speeds.push(DVec3::Y * speed);
        }
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|i| i + count * k as u32)));
        rest.extend(flat.iter().copied());
    }
    mesh.positions = positions;
    let fabric = Fabric { stretch_warp: 500.0, stretch_weft: 500.0, damping_secs: 0.01, ..plain() };
    let scene = Scene::new(&mesh, &rest, &fabric, &scenes::bare())?;
    let x = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let mut world = World::new(scene, x, scenes::bare())?;
    world.state.v = speeds;
    let pins = Track { vertices: vec![], keys: vec![vec![]] };
    Ok(Stage {
        name: "stack",
        world,
        lattice: None,
        pins,
        bones: vec![],
        worn: false,
        secs: 0.2,
        friction: 0.2,
    })
}

/// Repulsions, impulses and zones keep sheets apart; without them they pass through each other.
pub fn layers() -> Result<Findings> {
    let stage = stack(8)?;
    let mut rows = Vec::new();
    for (on, what) in [(true, "with"), (false, "without")] {
        let mut method = Bridson::new(&stage, on);
        let mut obstacles = Obstacles::new(&stage);
        let mut state = stage.start();
        let (mut crossed, mut impulses, mut rigid) = (0, 0, 0);
        for _ in 0..100 {
            method.step(&stage, &mut obstacles, &mut state, 1.0 / 500.0);
            crossed = crossed.max(check::crossings(&stage.cloth().triangles, &stage.cloth().edges, &state.x));
            impulses += method.treated.impulses;
            rigid = rigid.max(method.treated.rigid);
        }
        let name = format!("bridson: four sheets thrown together, crossings {what} the treatment");
        if on {
            rows.push(Row::absolute(name, crossed as f64, 0.0, 0.0));
            rows.push(Row::band(
                "bridson: four sheets thrown together, impulses",
                f64::from(impulses),
                1.0,
                1e9,
            ));
            rows.push(Row::band(
                "bridson: four sheets thrown together, vertices in rigid zones",
                f64::from(rigid),
                0.0,
                1e9,
            ));
        } else {
            rows.push(Row::band(name, crossed as f64, 1.0, 1e9));
        }
    }
    Ok(rows.into())
}

/// Largest strain of a thread after any of `steps` steps of 1/30 s.
fn worst_strain(stage: &Stage, way: Way, steps: usize) -> f64 {
    let mut method = Goldenthal::new(stage, way);
    let mut obstacles = Obstacles::new(stage);
    let mut state = stage.start();
    let strains = (0..steps).map(|_| {
        method.step(stage, &mut obstacles, &mut state, 1.0 / 30.0);
        method.strain(&state.x)
    });
    strains.fold(0.0, f64::max)
}

/// Threads keep their length at 1/30 s, and a strip hangs as a catenary.
fn inextensible() -> Result<Findings> {
    let mut rows = Vec::new();
    for (way, what) in
        [(Way::FastProjection, "step and project"), (Way::Icd, "implicit constraint direction")]
    {
        for stage in [scenes::hanging(16)?, scenes::sphere(20)?] {
            let worst = worst_strain(&stage, way, 30);
            let name = format!("goldenthal: {what}, {} at 1/30 s, largest strain of any step", stage.name);
            rows.push(Row::at_most(name, worst, STRAIN));
        }
    }
    // Fast projection goes along gradients of the way, so that its rest is off by what a step falls; ICD's is not.
    rows.push(hanging_strip(Way::FastProjection, "step and project", 0.01)?);
    rows.push(hanging_strip(Way::Icd, "implicit constraint direction", 0.002)?);
    Ok(rows.into())
}

/// A narrow strip of length 1 hung at a span of 0.8, 40 cells.
fn hanging_strip(way: Way, what: &str, share: f64) -> Result<Row> {
    let (n, span, width) = (40, 0.8, 0.05);
    let (mesh, rest) = rectangle(1.0, width, n, 2, Pattern::Alternating);
    let fabric = Fabric { bend_warp: 1e-7, bend_weft: 1e-7, ..plain() };
    let mut scene = Scene::new(&mesh, &rest, &fabric, &scenes::bare())?;
    let thread = Catenary::new(DVec3::new(-0.5 * span, 0.0, 0.0), DVec3::new(0.5 * span, 0.0, 0.0), 1.0);
    let at = |p: glam::Vec3| {
        let s = f64::from(p.x) + 0.5;
        // From a shape that it is not.
        let hung = thread.map_or(DVec3::ZERO, |t| t.at(s)) * DVec3::new(1.0, 0.9, 1.0);
        DVec3::new(hung.x, hung.y, f64::from(p.z))
    };
    let x: Vec<DVec3> = mesh.positions.iter().map(|p| at(*p)).collect();
    let held: Vec<u32> = (0..x.len() as u32).filter(|v| *v as usize % (n + 1) % n == 0).collect();
    held.iter().for_each(|&v| scene.pinned[v as usize] = true);
    let pins = Track { keys: vec![held.iter().map(|&v| x[v as usize]).collect()], vertices: held };
    let world = World::new(scene, x, scenes::bare())?;
    let stage = Stage {
        name: "strip",
        world,
        lattice: None,
        pins,
        bones: vec![],
        worn: false,
        secs: 8.0,
        friction: 0.0,
    };
    let mut method = Goldenthal::new(&stage, way);
    let (state, _) = play(&mut method, &stage, 1.0 / 30.0, stage.secs);
    let middle = |row: usize| -state.x[row * (n + 1) + n / 2].y;
    let sag = (middle(0) + middle(1) + middle(2)) / 3.0;
    Ok(Row::relative(format!("goldenthal: {what}, strip of length 1, sag at span 0.8"), sag, 0.26544, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(found: Findings) {
        let failed: Vec<&Row> = found.rows.iter().filter(|r| !r.pass).collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn catenaries_sag_and_explicit_euler_explodes() {
        hold(weil().unwrap());
        hold(haumann().unwrap());
    }

    #[test]
    fn sheets_do_not_pass_through_each_other() {
        hold(layers().unwrap());
    }

    #[test]
    fn threads_keep_their_length_at_a_thirtieth_of_a_second() {
        for way in [Way::FastProjection, Way::Icd] {
            for stage in [scenes::hanging(8).unwrap(), scenes::sphere(10).unwrap()] {
                let worst = worst_strain(&stage, way, 12);
                assert!(worst <= STRAIN, "{way:?} {}: {worst}", stage.name);
            }
        }
    }
}
