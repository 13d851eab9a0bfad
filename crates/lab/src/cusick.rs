//! The Cusick drape test: a disc of cloth, 30 cm across, hangs over a disc of 18 cm, and a lamp above casts its shadow.

use super::row::{Findings, Piece, Plot, Row, Snapshot};
use glam::{DVec2, DVec3, Vec3};
use toile_assets::{Fabric, Mesh};
use toile_geometry::Random;
use toile_simulate::{Integrator, Settings};
use toile_simulate::{Result, Scene, World};

const CLOTH: f64 = 0.15;
const DISC: f64 = 0.09;

/// A flat disc of rings: ring k has 6k vertices. The plane is y = 0; x is weft, z is warp.
pub(super) fn disc(radius: f64, rings: usize) -> (Mesh, Vec<[DVec2; 3]>) {
    let mut flat = vec![DVec2::ZERO];
    let first = |k: usize| if k == 0 { 0 } else { 1 + 3 * k * (k - 1) };
    for k in 1..=rings {
        for s in 0..6 * k {
            let a = std::f64::consts::TAU * s as f64 / (6 * k) as f64;
            flat.push(DVec2::new(a.cos(), a.sin()) * (radius * k as f64 / rings as f64));
        }
    }
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for k in 1..=rings {
        let (inner, outer) = (6 * (k - 1), 6 * k);
        let at_inner = |s: usize| (first(k - 1) + if k == 1 { 0 } else { s % inner }) as u32;
        let at_outer = |s: usize| (first(k) + s % outer) as u32;
        for sector in 0..6 {
            for s in 0..k {
                let (o, i) = (sector * k + s, sector * (k - 1) + s);
                triangles.push([at_inner(i), at_outer(o + 1), at_outer(o)]);
                if s + 1 < k {
                    triangles.push([at_inner(i), at_inner(i + 1), at_outer(o + 1)]);
                }
            }
        }
    }
    let rest = triangles.iter().map(|t| t.map(|i| flat[i as usize])).collect();
    let positions = flat.iter().map(|p| Vec3::new(p.x as f32, 0.0, p.y as f32)).collect();
    (Mesh { positions, triangles, uvs: vec![] }, rest)
}

/// Area of the shadow straight down, m², and its outline as a picture of rows of `true`: triangles drawn on squares of
/// half a millimetre.
pub(super) fn shadow(triangles: &[[u32; 3]], x: &[DVec3]) -> (f64, Vec<Vec<bool>>) {
    const SIDE: usize = 640;
    let cell = 0.32 / SIDE as f64;
    let mut dark = vec![vec![false; SIDE]; SIDE];
    for t in triangles {
        let [a, b, c] = t.map(|i| DVec2::new(x[i as usize].x, x[i as usize].z) / cell + 0.5 * SIDE as f64);
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        let turn = (b - a).perp_dot(c - a).signum();
        for row in lo.y.max(0.0) as usize..=(hi.y as usize).min(SIDE - 1) {
            for column in lo.x.max(0.0) as usize..=(hi.x as usize).min(SIDE - 1) {
                let p = DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
                let inside = |a: DVec2, b: DVec2| (b - a).perp_dot(p - a) * turn >= 0.0;
                dark[row][column] |= inside(a, b) && inside(b, c) && inside(c, a);
            }
        }
    }
    let count: usize = dark.iter().map(|r| r.iter().filter(|d| **d).count()).sum();
    (count as f64 * cell * cell, dark)
}

/// A draped specimen.
#[derive(Clone, Debug)]
pub struct Drape {
    /// Share of the overhang that still shades, %.
    pub coefficient: f64,
    /// Folds around the rim.
    pub folds: usize,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
    /// Where it hangs.
    pub x: Vec<DVec3>,
    /// The rim.
    pub rim: Vec<u32>,
}

/// Folds of the start; a stiff cloth smooths some of them out.
const START_FOLDS: f64 = 7.0;

/// A place of the overhang folded down in waves, as long from the disc's edge as it was. The standards have the specimen
/// bounced before it is measured: laid down flat it may stay caught in a shape with too few folds, on a mesh for good.
fn folded(flat: DVec3, turn: f64) -> DVec3 {
    let (r, angle) = (flat.length(), flat.z.atan2(flat.x));
    let beyond = r - DISC;
    let out = beyond * (0.45 + 0.38 * (START_FOLDS * angle + turn).cos());
    let down = (beyond * beyond - out * out).max(0.0).sqrt();
    DVec3::new((DISC + out) * angle.cos(), -down, (DISC + out) * angle.sin())
}

/// Drapes a specimen with `rings` rings (a multiple of five, so that one lies on the edge of the disc).
pub fn drape(fabric: &Fabric, rings: usize, seed: u64) -> Result<Drape> {
    // Cloth keeps away from itself by no more than half the size of a triangle.
    let fabric = Fabric { thickness: fabric.thickness.min(0.5 * CLOTH / rings as f64), ..fabric.clone() };
    // Tight, or it stops on the way: a fifth of a millimetre a step is a centimetre a second.
    let settings = Settings::default().with(|s| {
        s.integrator = Integrator::ImplicitEuler;
        s.max_step_secs = 1.0 / 60.0;
        s.tolerance_m = 2e-5;
        s.linear_tolerance = 0.02;
        s.max_linear = 2000;
        s.max_newton = 6;
    });
    let (mesh, flat) = disc(CLOTH, rings);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let mut random = Random::new(seed);
    let mut x: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let turn = std::f64::consts::TAU * random.unit();
    for (i, p) in x.iter_mut().enumerate() {
        scene.pinned[i] = p.length() < DISC + 1e-6;
        if !scene.pinned[i] {
            *p = folded(*p, turn) + random.vector() * 1e-4;
        }
    }
    let triangles = scene.triangles.clone();
    let mut world = World::new(scene, x, settings)?;
    for n in 0..150 {
        world.step(&[], 1.0 / 60.0)?;
        if n > 60 {
            world.state.v.iter_mut().for_each(|v| *v *= 0.9);
        }
    }
    let x = world.state.x;
    let (dark, _) = shadow(&triangles, &x);
    let area = |r: f64| std::f64::consts::PI * r * r;
    let first = 1 + 3 * rings * (rings - 1);
    let rim: Vec<u32> = (first as u32..(first + 6 * rings) as u32).collect();
    let radii: Vec<f64> =
        rim.iter().map(|i| DVec2::new(x[*i as usize].x, x[*i as usize].z).length()).collect();
    Ok(Drape {
        coefficient: 100.0 * (dark - area(DISC)) / (area(CLOTH) - area(DISC)),
        folds: folds(&radii),
        triangles,
        x,
        rim,
    })
}

/// Maxima of a closed curve that stand out by a tenth of its range.
fn folds(radii: &[f64]) -> usize {
    let (lo, hi) = radii.iter().fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let (up, down) = (lo + 0.55 * (hi - lo), lo + 0.45 * (hi - lo));
    let mut high = radii.last().is_some_and(|r| *r > up);
    let mut count = 0;
    for r in radii.iter().chain(radii) {
        if !high && *r > up {
            (high, count) = (true, count + 1);
        } else if high && *r < down {
            high = false;
        }
    }
    count / 2
}

/// Published bands of the drape coefficient, %.
pub const BANDS: [(&str, f64, f64); 5] = [
    ("silk", 20.0, 40.0),
    ("cotton", 60.0, 76.0),
    ("denim", 70.0, 90.0),
    ("wool-flannel", 40.0, 70.0),
    ("leather", 47.0, 70.0),
];

/// The first three of them, each on meshes of `rings`.
pub fn cusick(rings: &[usize]) -> Result<Findings> {
    let mut found = Findings::default();
    for &(name, low, high) in &BANDS[..3] {
        let fabric = toile_assets::builtin::fabric(name)?;
        let mut plot = Plot::new(format!("Cusick shadow of {name}"), "m", "m");
        for &r in rings {
            let d = drape(&fabric, r, 1)?;
            let vertices = d.x.len();
            found.rows.push(Row::band(
                format!("Cusick drape of {name}, {r} rings, %"),
                d.coefficient,
                low,
                high,
            ));
            let mut outline: Vec<(f64, f64)> =
                d.rim.iter().map(|i| d.x[*i as usize]).map(|p| (p.x, p.z)).collect();
            outline.push(outline[0]);
            plot =
                plot.ours(format!("{vertices} vertices, {:.0} %, {} folds", d.coefficient, d.folds), outline);
            found.shots.push(Snapshot {
                name: format!("{name}, {vertices} vertices, {:.0} %", d.coefficient),
                scene: "Cusick drape".into(),
                view: (20.0, 35.0),
                pieces: vec![Piece::cloth(&d.triangles, &d.x)],
            });
        }
        let circle = |radius: f64| {
            (0..=90)
                .map(|k| std::f64::consts::TAU * f64::from(k) / 90.0)
                .map(|a| (radius * a.cos(), radius * a.sin()))
                .collect::<Vec<_>>()
        };
        found.plots.push(plot.reference("disc", circle(DISC)).reference("cloth laid flat", circle(CLOTH)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_disc_shades_its_area_and_faces_up() {
        let (mesh, rest) = disc(0.15, 10);
        let x: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
        let (area, _) = shadow(&mesh.triangles, &x);
        // The rim is a polygon of sixty corners.
        assert!((area / (std::f64::consts::PI * 0.0225) - 1.0).abs() < 0.005, "{area}");
        let flat: f64 = rest.iter().map(|r| 0.5 * (r[1] - r[0]).perp_dot(r[2] - r[0]).abs()).sum();
        assert!((flat / area - 1.0).abs() < 0.004);
        let up = mesh.triangles.iter().all(|t| {
            let [a, b, c] = t.map(|i| x[i as usize]);
            (b - a).cross(c - a).y > 0.0
        });
        assert!(up);
    }
}
