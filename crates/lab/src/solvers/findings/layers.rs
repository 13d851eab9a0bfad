//! Sheets thrown at each other: repulsions, impulses and rigid zones.

use crate::check;
use crate::cloths::{Pattern, plain, rectangle};
use crate::row::{Findings, Row};
use crate::solvers::Method;
use crate::solvers::bridson::Bridson;
use crate::solvers::scenes;
use crate::solvers::stage::{Obstacles, Stage, Track};
use glam::DVec3;
use toile_assets::Fabric;
use toile_simulate::{Result, Scene, World};

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

/// What a stack of sheets went through.
struct Thrown {
    crossings: usize,
    impulses: u32,
    rigid: u32,
}

/// Throws the sheets with so many rounds of impulses; none leaves cloth to pass through cloth.
fn throw(stage: &Stage, rounds: Option<u32>) -> Thrown {
    let mut method = Bridson::new(stage, rounds.is_some());
    if let (Some(impacts), Some(rounds)) = (&mut method.impacts, rounds) {
        impacts.rounds = rounds;
    }
    let mut obstacles = Obstacles::new(stage);
    let mut state = stage.start();
    let mut seen = Thrown { crossings: 0, impulses: 0, rigid: 0 };
    for _ in 0..100 {
        method.step(stage, &mut obstacles, &mut state, 1.0 / 500.0);
        let crossings = check::crossings(&stage.cloth().triangles, &stage.cloth().edges, &state.x);
        seen.crossings = seen.crossings.max(crossings);
        seen.impulses += method.treated.impulses;
        seen.rigid = seen.rigid.max(method.treated.rigid);
    }
    seen
}

/// Impulses keep sheets apart, rigid zones do so alone, and without either they pass through each other.
pub(super) fn layers() -> Result<Findings> {
    let stage = stack(8)?;
    let (all, zones, none) = (throw(&stage, Some(8)), throw(&stage, Some(0)), throw(&stage, None));
    let name = |what: &str| format!("bridson: four sheets thrown together, {what}");
    Ok(vec![
        Row::absolute(name("crossings"), all.crossings as f64, 0.0, 0.0),
        Row::band(name("impulses"), f64::from(all.impulses), 1.0, 1e9),
        Row::absolute(name("crossings with rigid zones alone"), zones.crossings as f64, 0.0, 0.0),
        Row::band(name("vertices in rigid zones then"), f64::from(zones.rigid), 1.0, 1e9),
        Row::band(name("crossings without the treatment"), none.crossings as f64, 1.0, 1e9),
    ]
    .into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn sheets_do_not_pass_through_each_other() {
        let rows = super::layers().unwrap().rows;
        assert!(rows.iter().all(|r| r.pass), "{rows:#?}");
    }
}
