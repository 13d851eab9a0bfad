//! Threads that keep their length, and how they then hang.

use super::play;
use crate::cloths::{Pattern, plain, rectangle};
use crate::row::{Findings, Row};
use crate::solvers::Method;
use crate::solvers::goldenthal::{Goldenthal, STRAIN, Way};
use crate::solvers::scenes;
use crate::solvers::stage::{Obstacles, Stage, Track};
use crate::solvers::weil::Catenary;
use glam::DVec3;
use toile_assets::Fabric;
use toile_simulate::{Result, Scene, World};

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
pub(super) fn inextensible() -> Result<Findings> {
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
    // Fast projection goes along gradients of the way, so that its rest is off by what a step falls, 0.5 % at 1/30 s; ICD's is not.
    rows.push(hanging_strip(Way::FastProjection, "step and project", 100.0)?);
    rows.push(hanging_strip(Way::Icd, "implicit constraint direction", 30.0)?);
    Ok(rows.into())
}

/// A narrow strip of length 1 hung at a span of 0.8, 40 cells: its sag is a catenary's within 0.2 %.
fn hanging_strip(way: Way, what: &str, rate: f64) -> Result<Row> {
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
    let held: Vec<u32> = (0..x.len() as u32).filter(|v| (*v as usize % (n + 1)).is_multiple_of(n)).collect();
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
    let (state, _) = play(&mut method, &stage, 1.0 / rate, stage.secs);
    let middle = |row: usize| -state.x[row * (n + 1) + n / 2].y;
    let sag = (middle(0) + middle(1) + middle(2)) / 3.0;
    let name = format!("goldenthal: {what}, strip of length 1 at 1/{rate:.0} s, sag at span 0.8");
    Ok(Row::relative(name, sag, 0.26544, 0.002))
}

#[cfg(test)]
mod tests {
    use super::*;

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
