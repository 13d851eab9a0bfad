//! Every energy's gradient and Hessian against finite differences, at random and at degenerate states.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::quiet;
use super::row::Row;
use glam::{DMat3, DQuat, DVec2, DVec3};
use toile_assets::Fabric;
use toile_geometry::Random;
use toile_simulate::contact::constraint::{self, Contact, NO_SAMPLE};
use toile_simulate::energy::{air, bending, membrane};
use toile_simulate::{Result, Scene};

/// Largest differences seen, relative to the size of what is compared.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    gradient: f64,
    hessian: f64,
}

/// States of a triangle or hinge: some at random, some folded, collapsed or turned inside out.
fn state(r: &mut Random, round: usize, flat: &[DVec3]) -> Vec<DVec3> {
    let size = 0.03;
    let mut x: Vec<DVec3> = flat.iter().map(|p| *p + r.vector() * size * [0.05, 0.6][round % 2]).collect();
    match round % 8 {
        // Collapsed to a line, almost: at the line itself the energies have no derivative.
        2 => x.iter_mut().for_each(|p| p.z *= 1e-3),
        3 => x.iter_mut().for_each(|p| p.x *= 1e-3),
        // Turned inside out.
        4 => x.iter_mut().for_each(|p| p.z = -p.z),
        // Shrunk, grown.
        5 => x.iter_mut().for_each(|p| *p *= 0.05),
        6 => x.iter_mut().for_each(|p| *p *= 4.0),
        // Just flat and at rest.
        7 => x.copy_from_slice(flat),
        _ => {}
    }
    x
}

/// Ratio of the difference of two vectors to the larger of them and a floor.
fn off(a: DVec3, b: DVec3, floor: f64) -> f64 {
    (a - b).length() / a.length().max(b.length()).max(floor)
}

/// The gradient at all states; the Newton matrix, which leaves out what compression and shear would take away from it,
/// at states in tension along both threads, where it is the second derivative.
fn membrane_rows(rounds: usize) -> Result<Vec<Row>> {
    let mut r = Random::new(21);
    let mut worst = Worst::default();
    let flat = [DVec3::ZERO, DVec3::new(0.03, 0.0, 0.002), DVec3::new(0.01, 0.0, 0.04)];
    for round in 0..rounds {
        let rest = flat.map(|p| DVec2::new(p.x, p.z));
        let Some(el) = membrane::Element::new([0, 1, 2], rest, 700.0, 400.0, 60.0, 0.25) else { continue };
        // The rest shape itself lies where slack begins, and differences there see both sides.
        let compression = if round % 8 == 7 { 1.0 } else { [0.1, 1.0][round / 8 % 2] };
        let limit = if round % 3 == 2 { 0.05 } else { f64::INFINITY };
        let el = membrane::Element { compression, limit, ..el };
        let before = [r.signed() * 0.1, r.signed() * 0.1, r.signed() * 0.1];
        let rate = r.unit();
        let x = state(&mut r, round, &flat);
        // As small as the shape allows and rounding tolerates.
        let eps = 1e-7 * if round % 8 == 5 { 0.1 } else { 1.0 };
        let g = membrane::gradient(&el, &x, before, rate);
        let force = g.iter().map(|g| g.length()).fold(1e-3 * 700.0 * 0.03, f64::max);
        for i in 0..3 {
            let mut slope = DVec3::ZERO;
            for k in 0..3 {
                let at = |d: f64| {
                    let mut y = x.clone();
                    y[i][k] += d;
                    membrane::energy(&el, &y, before, rate)
                };
                // Richardson: a collapsed triangle bends its energy within a step of any size.
                slope[k] = (8.0 * (at(eps) - at(-eps)) - (at(2.0 * eps) - at(-2.0 * eps))) / (12.0 * eps);
            }
            worst.gradient = worst.gradient.max(off(slope, g[i], force));
        }

        let turn = DQuat::from_scaled_axis(r.vector() * 3.0);
        let pulled = DVec3::new(1.01 + 0.2 * r.unit(), 1.0, 1.01 + 0.2 * r.unit());
        let x: Vec<DVec3> = flat.iter().map(|p| turn * (*p * pulled)).collect();
        let before = el.strain(&x).map(|e| 0.5 * e);
        let (_, _, h) = membrane::linearise(&el, &x, before, rate);
        let block = |i: usize, j: usize| match (i, j) {
            (0, 0) | (1, 1) | (2, 2) => h[i],
            (0, 1) => h[3],
            (1, 2) => h[4],
            (2, 0) => h[5],
            (1, 0) => h[3].transpose(),
            (2, 1) => h[4].transpose(),
            _ => h[5].transpose(),
        };
        let stiffness =
            h.iter().map(|h| f64::from(h.x_axis.length() + h.y_axis.length())).fold(1.0, f64::max);
        for i in 0..3 {
            for k in 0..3 {
                let at = |d: f64| {
                    let mut y = x.clone();
                    y[i][k] += d;
                    membrane::gradient(&el, &y, before, rate)
                };
                let (up, down) = (at(eps), at(-eps));
                for j in 0..3 {
                    let bend = (up[j] - down[j]) / (2.0 * eps);
                    let ours = glam::Vec3::from(block(j, i).col(k)).as_dvec3();
                    worst.hessian = worst.hessian.max(off(bend, ours, stiffness));
                }
            }
        }
    }
    Ok(vec![
        Row::at_most("membrane energy, gradient against differences", worst.gradient, 1e-6),
        Row::at_most("membrane energy, Hessian against differences", worst.hessian, 1e-4),
    ])
}

/// The whole bending energy of a small sheet, shaken and folded. Its Newton matrix leaves out the second derivatives of
/// the angles, so it is compared where those carry nothing: at the rest shape, which need not be flat.
fn bending_rows(rounds: usize) -> Result<Vec<Row>> {
    let mut r = Random::new(22);
    let (mesh, flat) = rectangle(0.12, 0.12, 4, 4, Pattern::Jittered);
    let fabric = Fabric { bend_weft: 2e-5, ..plain() };
    let scene = Scene::new(&mesh, &flat, &fabric, &quiet())?;
    let mut worst = Worst::default();
    for round in 0..rounds {
        let mut x: Vec<DVec3> =
            lay(&mesh, 0.0).iter().map(|p| *p + r.vector() * [0.001, 0.006][round % 2]).collect();
        match round % 4 {
            // A sharp fold.
            2 => x.iter_mut().for_each(|p| {
                if p.x > 0.0 {
                    *p = DVec3::new(p.x * -0.9, p.y + 0.3 * p.x, p.z);
                }
            }),
            3 => x.iter_mut().for_each(|p| p.z *= 0.1),
            _ => {}
        }
        let angles_at = |x: &[DVec3], near: &[f64]| -> Vec<f64> {
            scene.hinges.iter().zip(near).map(|(h, n)| bending::angle(h, x, *n)).collect()
        };
        let angles = angles_at(&x, &vec![0.0; scene.hinges.len()]);
        let before: Vec<f64> = angles.iter().map(|a| a + 0.1 * r.signed()).collect();
        let rate = r.unit();
        let gradient = |x: &[DVec3], rest: &[f64], before: &[f64]| {
            let theta = angles_at(x, &angles);
            let mut moments = vec![0.0; theta.len()];
            let mut datum = bending::Datum::default();
            datum.set(&scene.bending, rest, before, rate, &mut moments);
            datum.energy_and_moments(&scene.bending, &theta, &mut moments);
            let mut g = vec![DVec3::ZERO; x.len()];
            for (k, h) in scene.hinges.iter().enumerate() {
                let (_, slopes, _) = bending::angle_and_gradient(h, x, angles[k]);
                for c in 0..4 {
                    g[h.v[c] as usize] += slopes[c] * moments[k];
                }
            }
            g
        };
        let g = gradient(&x, &scene.rest_angles, &before);
        let size = g.iter().map(|g| g.length()).fold(1e-12, f64::max);
        let eps = 1e-6;
        for _ in 0..8 {
            let (i, k) = ((r.bits() % x.len() as u64) as usize, (r.bits() % 3) as usize);
            let at = |d: f64| {
                let mut y = x.clone();
                y[i][k] += d;
                let theta = angles_at(&y, &angles);
                bending::energy(&scene.bending, &theta, &scene.rest_angles, &before, rate)
            };
            let slope = (8.0 * (at(eps) - at(-eps)) - (at(2.0 * eps) - at(-2.0 * eps))) / (12.0 * eps);
            worst.gradient = worst.gradient.max((slope - g[i][k]).abs() / size);
        }
        // Gauss–Newton along a random direction, with the shape itself as the rest shape.
        let along: Vec<DVec3> = x.iter().map(|_| r.vector()).collect();
        let moved = |d: f64| x.iter().zip(&along).map(|(p, a)| *p + *a * d).collect::<Vec<_>>();
        let (up, down) = (gradient(&moved(eps), &angles, &angles), gradient(&moved(-eps), &angles, &angles));
        let bend: f64 = (0..x.len()).map(|i| (up[i] - down[i]).dot(along[i])).sum::<f64>() / (2.0 * eps);
        let turn: Vec<f64> = scene
            .hinges
            .iter()
            .zip(&angles)
            .map(|(h, a)| {
                let (_, slopes, _) = bending::angle_and_gradient(h, &x, *a);
                (0..4).map(|c| slopes[c].dot(along[h.v[c] as usize])).sum()
            })
            .collect();
        let zero = vec![0.0; turn.len()];
        let ours = 2.0 * (1.0 + rate) * bending::energy(&scene.bending, &turn, &zero, &zero, 0.0);
        worst.hessian = worst.hessian.max((bend - ours).abs() / ours.abs().max(1e-9));
    }
    Ok(vec![
        Row::at_most("bending energy, gradient against differences", worst.gradient, 1e-6),
        Row::at_most("bending energy, Hessian against differences at rest", worst.hessian, 1e-4),
    ])
}

/// Contact and friction: sticking, sliding, pressed hard and hardly.
fn contact_rows(rounds: usize) -> Vec<Row> {
    let mut r = Random::new(23);
    let mut worst = Worst::default();
    for round in 0..rounds {
        let n = r.vector().normalize_or(DVec3::Y);
        let x: Vec<DVec3> = (0..4).map(|_| r.vector() * 0.01).collect();
        let w = [[1.0, -0.2, -0.5, -0.3], [0.6, 0.4, -0.9, -0.1], [1.0, 0.0, 0.0, 0.0]][round % 3];
        let mut c = Contact {
            v: [0, 1, 2, 3],
            w,
            n,
            offset: 0.0,
            reach: 0.0,
            k: 300.0,
            anchor: r.vector() * 0.01,
            k_t: 200.0,
            friction: 0.5,
            limit: if round % 2 == 0 { 0.2 } else { 10.0 },
            sample: NO_SAMPLE,
        };
        c.offset = n.dot(c.point(&x)) + if round % 5 == 0 { 1e-5 } else { 2e-3 };
        let Some((g, m)) = constraint::linearise(&c, &x) else { continue };
        let eps = 1e-8;
        let slide = c.slide(c.point(&x));
        let sticks = c.k_t * slide.length() < c.limit;
        for i in 0..4 {
            let mut slope = DVec3::ZERO;
            for k in 0..3 {
                let at = |d: f64| {
                    let mut y = x.clone();
                    y[i][k] += d;
                    (constraint::energy(&c, &y), constraint::linearise(&c, &y))
                };
                let ((e1, g1), (e0, g0)) = (at(eps), at(-eps));
                slope[k] = (e1 - e0) / (2.0 * eps);
                let (Some((g1, _)), Some((g0, _))) = (g1, g0) else { continue };
                let (bend, ours) = ((g1 - g0) / (2.0 * eps), m.col(k) * w[i]);
                // Sliding friction majorises along the way it slides; across it, and sticking, it is the derivative.
                let along = if sticks { DVec3::ZERO } else { slide.normalize_or_zero() };
                let mut part = DVec3::ZERO;
                part[k] = 1.0;
                let across = 1.0 - along.dot(part).abs().min(1.0);
                if sticks || across > 0.999 {
                    worst.hessian = worst.hessian.max(off(bend, ours, c.k * w[i].abs().max(0.1)));
                }
            }
            worst.gradient = worst.gradient.max(off(slope, g * w[i], c.k * 1e-2));
        }
    }
    vec![
        Row::at_most("contact energy, gradient against differences", worst.gradient, 1e-6),
        Row::at_most("contact energy, Hessian against differences", worst.hessian, 1e-4),
    ]
}

/// The air's force is `½ρcA|v·n|(v·n)n` for triangles of any attitude, and nothing for those without area.
fn air_row(rounds: usize) -> Row {
    let mut r = Random::new(24);
    let mut worst = 0.0f64;
    for round in 0..rounds {
        let mut x: Vec<DVec3> = (0..3).map(|_| r.vector() * 0.05).collect();
        if round % 7 == 0 {
            x[2] = x[1];
        }
        let v = [r.vector() * 3.0; 3];
        let wind = r.vector() * 2.0;
        let half = 0.5 * 1.2 * 1.1;
        let mut damping = vec![DMat3::ZERO; 3];
        let through_air: Vec<DVec3> = v.iter().map(|v| *v - wind).collect();
        air::add_damping([0, 1, 2], &x, &through_air, half, &mut damping);
        let ours: DVec3 = (0..3).map(|i| damping[i] * through_air[i]).sum();
        let doubled = (x[1] - x[0]).cross(x[2] - x[0]);
        let n = doubled.normalize_or_zero();
        let through = (v[0] - wind).dot(n);
        let right = n * (half * 0.5 * doubled.length() * through.abs() * through);
        worst = worst.max((ours - right).length() / right.length().max(1e-6));
    }
    Row::at_most("air, force on a triangle against the formula", worst, 1e-9)
}

/// All of them.
pub fn derivatives(rounds: usize) -> Result<Vec<Row>> {
    let mut rows = membrane_rows(rounds)?;
    rows.extend(bending_rows(rounds / 4)?);
    rows.extend(contact_rows(rounds));
    rows.push(air_row(rounds));
    Ok(rows)
}
