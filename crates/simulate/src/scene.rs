//! What does not change: mesh, rest shapes, masses, stiffness and what is held.

use crate::energy::{bending, membrane};
use crate::settings::{Bending, Settings};
use crate::{Error, Result};
use glam::{DMat2, DVec2, DVec3, Vec3};
use toile_assets::{Edge, Fabric, Garment, Mesh};

/// A point of the cloth that is tested against bodies: corners and their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Corners; repeated where there are fewer than three.
    pub v: [u32; 3],
    /// Their weights, zero where repeated.
    pub w: [f64; 3],
    /// Area it stands for, m².
    pub area: f64,
}

impl Sample {
    /// Where it is.
    #[inline]
    pub fn point(&self, x: &[DVec3]) -> DVec3 {
        let [a, b, c] = self.v.map(|i| x[i as usize]);
        a * self.w[0] + b * self.w[1] + c * self.w[2]
    }
}

/// The cloth to be simulated.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Edges, each once.
    pub edges: Vec<[u32; 2]>,
    /// Flat length of each edge, m (the mean of its two sides).
    pub edge_lengths: Vec<f64>,
    /// Edge from corner i to corner i+1 of each triangle, and whether the edge runs the other way.
    pub triangle_edges: Vec<[(u32, bool); 3]>,
    /// kg per vertex.
    pub mass: Vec<f64>,
    /// m² per vertex.
    pub area: Vec<f64>,
    /// Stretch and shear.
    pub membrane: Vec<membrane::Element>,
    /// Inner edges.
    pub hinges: Vec<bending::Hinge>,
    /// Bending as a function of the angles.
    pub bending: bending::Operator,
    /// Rest angle per hinge, zero for cloth cut flat.
    pub rest_angles: Vec<f64>,
    /// Points tested against bodies: first one per vertex, in order, then edge middles and centres.
    pub samples: Vec<Sample>,
    /// Vertices whose place is prescribed.
    pub pinned: Vec<bool>,
    /// What it is made of.
    pub fabric: Fabric,
    /// Garments of an outfit, in the order of their vertices; empty where there is one.
    pub parts: Vec<Part>,
}

/// One garment of several.
#[derive(Clone, Debug)]
pub struct Part {
    /// The first of its vertices.
    pub first_vertex: u32,
    /// What it is made of.
    pub fabric: Fabric,
}

/// Ranges in which the solver is known to work, and what they are called in a fabric's file.
fn check_fabric(f: &Fabric) -> Result<()> {
    let ranges = [
        ("density", f.density, 0.005, 5.0),
        ("stretch_warp", f.stretch_warp, 1.0, 1e6),
        ("stretch_weft", f.stretch_weft, 1.0, 1e6),
        ("shear", f.shear, 0.0, 1e5),
        ("poisson", f.poisson, 0.0, 0.5),
        ("bend_warp", f.bend_warp, 0.0, 1.0),
        ("bend_weft", f.bend_weft, 0.0, 1.0),
        ("damping_secs", f.damping_secs, 0.0, 1.0),
        ("thickness", f.thickness, 1e-5, 0.05),
        ("friction", f.friction, 0.0, 10.0),
        ("drag", f.drag, 0.0, 10.0),
    ];
    let faults: Vec<String> = ranges
        .iter()
        .filter(|(_, value, lo, hi)| !(value >= lo && value <= hi))
        .map(|(name, value, lo, hi)| format!("{name} = {value}, allowed {lo} to {hi}"))
        .collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Error::Scene(format!("fabric `{}`: {}", f.name, faults.join("; "))))
    }
}

impl Scene {
    /// The scene of a garment; pins are marked but their targets belong to the world.
    pub fn from_garment(garment: &Garment, fabric: &Fabric, settings: &Settings) -> Result<Self> {
        let rest: Vec<[DVec2; 3]> = garment.rest.iter().map(|r| r.map(|p| p.as_dvec2())).collect();
        let mut scene = Self::new(&garment.sim, &rest, fabric, settings)?;
        for pin in &garment.pins {
            for &v in &pin.vertices {
                let Some(held) = scene.pinned.get_mut(v as usize) else {
                    return Err(Error::Scene(format!(
                        "pin `{}` names vertex {v}, which does not exist",
                        pin.name
                    )));
                };
                *held = true;
            }
        }
        Ok(scene)
    }

    /// A scene from a mesh whose own shape is the rest shape, each triangle laid flat.
    pub fn from_mesh(mesh: &Mesh, fabric: &Fabric, settings: &Settings) -> Result<Self> {
        let rest: Vec<[DVec2; 3]> = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| mesh.positions[i as usize].as_dvec3());
                let e = b - a;
                let u = e.normalize_or_zero();
                let d = c - a;
                [DVec2::ZERO, DVec2::new(e.length(), 0.0), DVec2::new(d.dot(u), (d - u * d.dot(u)).length())]
            })
            .collect();
        Self::new(mesh, &rest, fabric, settings)
    }

    /// A scene from a mesh and the flat corners of each triangle (+X weft, +Y warp).
    pub fn new(mesh: &Mesh, rest: &[[DVec2; 3]], fabric: &Fabric, settings: &Settings) -> Result<Self> {
        check_fabric(fabric)?;
        let n = mesh.positions.len();
        if rest.len() != mesh.triangles.len() {
            return Err(Error::Scene(format!(
                "{} triangles have {} rest shapes",
                mesh.triangles.len(),
                rest.len()
            )));
        }
        if let Some(t) = mesh.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= n)) {
            return Err(Error::Scene(format!("triangle {t} names a vertex that does not exist")));
        }
        let rest = unmirrored(rest);
        let topology = mesh.topology();
        let mut edge_of = std::collections::HashMap::new();
        for (e, edge) in topology.edges.iter().enumerate() {
            edge_of.insert(edge.ends, e as u32);
        }
        let edges: Vec<[u32; 2]> = topology.edges.iter().map(|e| e.ends).collect();
        let triangle_edges: Vec<[(u32, bool); 3]> = mesh
            .triangles
            .iter()
            .map(|t| {
                [0, 1, 2].map(|k| {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    (edge_of[&[a.min(b), a.max(b)]], a > b)
                })
            })
            .collect();

        let membrane = membrane_elements(mesh, &rest, fabric, settings)?;
        let (mut mass, mut area) = (vec![0.0; n], vec![0.0; n]);
        for (tri, el) in mesh.triangles.iter().zip(&membrane) {
            for &i in tri {
                area[i as usize] += el.area / 3.0;
                mass[i as usize] += el.area / 3.0 * fabric.density;
            }
        }
        if let Some(v) = mass.iter().position(|m| *m <= 0.0) {
            return Err(Error::Scene(format!(
                "vertex {v} belongs to no triangle; remove it before simulating"
            )));
        }

        let edge_lengths = edge_lengths(edges.len(), &triangle_edges, &rest);
        let (hinges, bent) =
            bending_elements(mesh, &rest, &topology, &triangle_edges, fabric, settings.bending);
        let bent: Vec<bending::Element> = bent.into_iter().map(|b| b.0).collect();
        let bending = bending::Operator::new(hinges.len(), &bent);
        let samples = samples(&mesh.triangles, &edges, &edge_lengths, &area, &membrane, settings);
        let rest_angles = vec![0.0; hinges.len()];
        Ok(Self {
            triangles: mesh.triangles.clone(),
            edges,
            edge_lengths,
            triangle_edges,
            mass,
            area,
            membrane,
            rest_angles,
            hinges,
            bending,
            samples,
            pinned: vec![false; n],
            fabric: fabric.clone(),
            parts: Vec::new(),
        })
    }

    /// What the cloth at a vertex is made of.
    #[inline]
    pub fn fabric_of(&self, vertex: u32) -> &Fabric {
        let after = self.parts.partition_point(|p| p.first_vertex <= vertex);
        if after == 0 { &self.fabric } else { &self.parts[after - 1].fabric }
    }

    /// The bending energy piece by piece, for those who want less than all of it.
    pub(crate) fn bent(&self, kind: Bending) -> Vec<Bent> {
        let mesh =
            Mesh { positions: vec![Vec3::ZERO; self.len()], triangles: self.triangles.clone(), uvs: vec![] };
        // The gradients of the shape functions are the inverse of the flat edges.
        let flat = |el: &membrane::Element| {
            let edges = DMat2::from_cols(el.g[1], el.g[2]).transpose().inverse();
            [DVec2::ZERO, edges.x_axis, edges.y_axis]
        };
        let rest: Vec<[DVec2; 3]> = self.membrane.iter().map(flat).collect();
        bending_elements(&mesh, &rest, &mesh.topology(), &self.triangle_edges, &self.fabric, kind).1
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Whether there is no cloth.
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// Largest edge stretch of `x` as a share of the flat length: 0.02 is 2 %.
    pub fn max_stretch(&self, x: &[DVec3]) -> f64 {
        let stretch = self
            .edges
            .iter()
            .zip(&self.edge_lengths)
            .map(|(e, l)| x[e[0] as usize].distance(x[e[1] as usize]) / l - 1.0);
        stretch.fold(0.0, f64::max)
    }
}

/// A mirrored panel has clockwise corners; stiffness along the threads is the same mirrored back.
fn unmirrored(rest: &[[DVec2; 3]]) -> Vec<[DVec2; 3]> {
    let turned = |r: &[DVec2; 3]| {
        let flip = if (r[1] - r[0]).perp_dot(r[2] - r[0]) < 0.0 { -1.0 } else { 1.0 };
        r.map(|p| DVec2::new(p.x * flip, p.y))
    };
    rest.iter().map(turned).collect()
}

/// Stretch and shear of every triangle.
fn membrane_elements(
    mesh: &Mesh,
    rest: &[[DVec2; 3]],
    fabric: &Fabric,
    settings: &Settings,
) -> Result<Vec<membrane::Element>> {
    let element = |(t, tri): (usize, &[u32; 3])| {
        let (weft, warp) = (fabric.stretch_weft, fabric.stretch_warp);
        let el = membrane::Element::new(*tri, rest[t], weft, warp, fabric.shear, fabric.poisson).ok_or_else(
            || Error::Scene(format!("triangle {t} has no area at rest; repair the mesh before simulating")),
        )?;
        Ok(membrane::Element {
            compression: settings.compression.clamp(1e-3, 1.0),
            limit: settings.strain_limit.map_or(f64::INFINITY, |l| l.max(0.0)),
            ..el
        })
    };
    let mut elements: Vec<membrane::Element> =
        mesh.triangles.iter().enumerate().map(element).collect::<Result<_>>()?;
    elements.shrink_to_fit();
    Ok(elements)
}

/// Flat length of each edge, the mean of its sides.
fn edge_lengths(edges: usize, triangle_edges: &[[(u32, bool); 3]], rest: &[[DVec2; 3]]) -> Vec<f64> {
    let mut lengths = vec![(0.0, 0.0); edges];
    for (t, te) in triangle_edges.iter().enumerate() {
        for k in 0..3 {
            let l = &mut lengths[te[k].0 as usize];
            l.0 += rest[t][k].distance(rest[t][(k + 1) % 3]);
            l.1 += 1.0;
        }
    }
    lengths.iter().map(|(sum, count)| sum / count).collect()
}

/// A piece of the bending energy and the two triangles that it is shared out to, half and half; one of them twice where it is
/// that triangle's own.
pub(crate) type Bent = (bending::Element, [u32; 2]);

/// Hinges and the bending stiffness of each triangle, its neighbours unfolded into its own plane: across a seam
/// the neighbour comes from another panel, so only its shape is used.
fn bending_elements(
    mesh: &Mesh,
    rest: &[[DVec2; 3]],
    topology: &toile_assets::Topology,
    triangle_edges: &[[(u32, bool); 3]],
    fabric: &Fabric,
    kind: Bending,
) -> (Vec<bending::Hinge>, Vec<Bent>) {
    let mut hinges = Vec::new();
    let mut hinge_of_edge = vec![bending::NONE; topology.edges.len()];
    for (e, edge) in topology.edges.iter().enumerate() {
        let ([Some(t), Some(_)], [Some(c), Some(d)]) = (edge.triangles, edge.opposite) else { continue };
        let tri = mesh.triangles[t as usize];
        let Some(k) = (0..3).find(|&k| tri[k] == c) else { continue };
        hinge_of_edge[e] = hinges.len() as u32;
        hinges.push(bending::Hinge { v: [tri[(k + 1) % 3], tri[(k + 2) % 3], c, d] });
    }
    hinges.shrink_to_fit();
    let rigidity = bending::Rigidity { weft: fabric.bend_weft, warp: fabric.bend_warp };
    let flat = Unfolding { mesh, rest, topology, triangle_edges, hinge_of_edge: &hinge_of_edge };
    let elements = match kind {
        Bending::Curvature => {
            let guesses: Vec<Guess> = (0..rest.len()).map(|t| flat.guess(t)).collect();
            let bent = |t: usize| {
                let shares = flat.shares(t, &guesses);
                let stiffness = bending::stiffness(flat.area(t), guesses[t].shares, rigidity);
                let rows = shares
                    .iter()
                    .map(|(_, share)| stiffness.map(|row| (0..3).map(|k| row[k] * share[k]).sum::<f64>()));
                let rows = rows.collect();
                (bending::Element { rows, hinges: shares.iter().map(|s| s.0).collect() }, [t as u32; 2])
            };
            let jumps = topology.edges.iter().filter_map(|edge| {
                let [Some(s), Some(t)] = edge.triangles else { return None };
                Some((flat.jump(edge, &guesses, rigidity)?, [s, t]))
            });
            (0..rest.len()).map(bent).chain(jumps).collect()
        }
        Bending::Hinge => (0..rest.len())
            .map(|t| {
                let own = flat.own(t, &rest[t]);
                let k = bending::hinge_stiffness(flat.area(t), own.map(|s| s.map(|s| s.1)), rigidity);
                let some = (0..3).filter_map(|i| Some((i, own[i]?.0)));
                let (rows, hinges) = some
                    .map(|(i, hinge)| {
                        let mut row = [0.0; 3];
                        row[i] = k[i].sqrt();
                        (row, hinge)
                    })
                    .unzip();
                (bending::Element { hinges, rows }, [t as u32; 2])
            })
            .collect(),
    };
    (hinges, elements)
}

/// Weight of the jumps of curvature against the curvature itself, see docs/decisions/002: coarse cloth whose short folds are
/// no stiffer than they should be crumples, and its swing then depends on the step.
const CALM: f64 = 2.0;

/// A triangle's curvature as its own angles have it.
struct Guess {
    /// Up to three hinges, [`bending::NONE`] where there are fewer.
    hinges: [u32; 3],
    /// κ_xx, κ_xy, κ_yy from their angles.
    curvature: [[f64; 3]; 3],
    /// What curvature makes of the shares of the edges.
    shares: [[f64; 3]; 3],
}

impl Guess {
    /// The share of edge `i` by the angle of each hinge.
    fn share(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let by = |j: usize| (0..3).map(|c| self.shares[i][c] * self.curvature[c][j]).sum::<f64>();
        [0, 1, 2].map(|j| (self.hinges[j], by(j))).into_iter().filter(|s| s.0 != bending::NONE)
    }
}

/// A hinge and its four flat points: ends of the edge, the vertex on this side, the vertex beyond.
type Stencil = (u32, [DVec2; 4]);

/// Lays neighbours of a triangle flat beside it.
struct Unfolding<'a> {
    mesh: &'a Mesh,
    rest: &'a [[DVec2; 3]],
    topology: &'a toile_assets::Topology,
    triangle_edges: &'a [[(u32, bool); 3]],
    hinge_of_edge: &'a [u32],
}

impl Unfolding<'_> {
    /// The triangle beyond the edge opposite corner `i` of triangle `t`, which lies at `at`: its number and its
    /// corners in the same plane.
    fn beyond(&self, t: usize, at: &[DVec2; 3], i: usize) -> Option<(usize, [DVec2; 3])> {
        let e = self.triangle_edges[t][(i + 1) % 3].0 as usize;
        if self.hinge_of_edge[e] == bending::NONE {
            return None;
        }
        let edge = &self.topology.edges[e];
        let side = if edge.triangles[0] == Some(t as u32) { 1 } else { 0 };
        let other = edge.triangles[side]? as usize;
        let far = edge.opposite[side]?;
        let tri = self.mesh.triangles[other];
        let k = (0..3).find(|&k| tri[k] == far)?;
        let r = self.rest[other];
        let (a, b) = (at[(i + 1) % 3], at[(i + 2) % 3]);
        // In a well-oriented neighbour the edge runs the other way: its corner k+2 is our a.
        let straight = tri[(k + 2) % 3] == self.mesh.triangles[t][(i + 1) % 3];
        let (ia, ib) = if straight { ((k + 2) % 3, (k + 1) % 3) } else { ((k + 1) % 3, (k + 2) % 3) };
        let side = r[ib] - r[ia];
        let along = (r[k] - r[ia]).dot(side) / side.length_squared();
        let height = (side.perp_dot(r[k] - r[ia]) / side.length()).abs();
        // Beyond is the side of the edge on which our own corner is not.
        let normal = (b - a).perp().normalize();
        let outward = if normal.dot(at[i] - a) > 0.0 { -normal } else { normal };
        let mut corners = [DVec2::ZERO; 3];
        corners[ia] = a;
        corners[ib] = b;
        corners[k] = a + (b - a) * along + outward * height;
        Some((other, corners))
    }

    /// The hinges of triangle `t`, laid at `at`.
    fn own(&self, t: usize, at: &[DVec2; 3]) -> [Option<Stencil>; 3] {
        [0, 1, 2].map(|i| {
            let (other, corners) = self.beyond(t, at, i)?;
            let tri = self.mesh.triangles[other];
            let far = (0..3).find(|&k| !self.mesh.triangles[t].contains(&tri[k]))?;
            let hinge = self.hinge_of_edge[self.triangle_edges[t][(i + 1) % 3].0 as usize];
            Some((hinge, [at[(i + 1) % 3], at[(i + 2) % 3], at[i], corners[far]]))
        })
    }

    /// The curvature of triangle `t` from three angles.
    fn guess(&self, t: usize) -> Guess {
        let stencils = self.complete(t);
        Guess {
            hinges: stencils.map(|s| s.map_or(bending::NONE, |s| s.0)),
            curvature: bending::curvature_rows(stencils.map(|s| s.map(|s| s.1))),
            shares: bending::shares(&self.rest[t]),
        }
    }

    /// Flat area of a triangle, m².
    fn area(&self, t: usize) -> f64 {
        let [a, b, c] = self.rest[t];
        0.5 * (b - a).perp_dot(c - a)
    }

    /// Two neighbouring triangles of one panel whose curvatures should not differ much. The jump vanishes for sheets bent
    /// evenly and falls with the square of the mesh width otherwise.
    fn jump(&self, edge: &Edge, guesses: &[Guess], rigidity: bending::Rigidity) -> Option<bending::Element> {
        let [Some(s), Some(t)] = edge.triangles.map(|t| t.map(|t| t as usize)) else { return None };
        let along = |t: usize| {
            let corner = |v: u32| (0..3).find(|&k| self.mesh.triangles[t][k] == v).map(|k| self.rest[t][k]);
            Some(corner(edge.ends[1])? - corner(edge.ends[0])?)
        };
        // Across a seam the threads turn and the curvature may jump.
        let (a, b) = (along(s)?, along(t)?);
        if a.distance(b) > 1e-4 * a.length() {
            return None;
        }
        let weight = CALM * 0.5 * (self.area(s) + self.area(t));
        let scale = rigidity.by_component().map(|d| (weight * d).sqrt());
        let mut el = bending::Element { hinges: Vec::new(), rows: Vec::new() };
        for (t, sign) in [(s, 1.0), (t, -1.0)] {
            for k in 0..3 {
                let hinge = guesses[t].hinges[k];
                if hinge == bending::NONE {
                    continue;
                }
                let at = el.hinges.iter().position(|&h| h == hinge).unwrap_or_else(|| {
                    el.hinges.push(hinge);
                    el.rows.push([0.0; 3]);
                    el.hinges.len() - 1
                });
                for c in 0..3 {
                    el.rows[at][c] += sign * scale[c] * guesses[t].curvature[c][k];
                }
            }
        }
        Some(el)
    }

    /// The shares of the three edges of triangle `t` by hinge. The two sides of an edge guess it and the mean is taken; at
    /// the rim there is one side, which knows best.
    fn shares(&self, t: usize, guesses: &[Guess]) -> Vec<(u32, [f64; 3])> {
        let mut shares: Vec<(u32, [f64; 3])> = Vec::new();
        let mut add = |hinge: u32, edge: usize, value: f64| {
            let at = shares.iter().position(|s| s.0 == hinge).unwrap_or_else(|| {
                shares.push((hinge, [0.0; 3]));
                shares.len() - 1
            });
            shares[at].1[edge] += value;
        };
        for i in 0..3 {
            let edge = self.triangle_edges[t][(i + 1) % 3].0 as usize;
            let hinge = self.hinge_of_edge[edge];
            let side = usize::from(self.topology.edges[edge].triangles[0] == Some(t as u32));
            let beyond = (hinge != bending::NONE)
                .then(|| {
                    Some((
                        self.topology.edges[edge].triangles[side]?,
                        self.topology.edges[edge].opposite[side]?,
                    ))
                })
                .flatten();
            let own = if beyond.is_some() { 0.5 } else { 1.0 };
            guesses[t].share(i).for_each(|(h, v)| add(h, i, own * v));
            let Some((other, far)) = beyond else { continue };
            // What is left of the angle when the other side has turned its share.
            add(hinge, i, 0.5);
            let Some(k) = self.mesh.triangles[other as usize].iter().position(|v| *v == far) else {
                continue;
            };
            guesses[other as usize].share(k).for_each(|(h, v)| add(h, i, -0.5 * v));
        }
        shares
    }

    /// Three hinges that fix the curvature of triangle `t`. At the rim two angles do not, and the least curvature
    /// that agrees with them is too small; there the missing ones are borrowed from the neighbours.
    fn complete(&self, t: usize) -> [Option<Stencil>; 3] {
        let own = self.own(t, &self.rest[t]);
        let kept: Vec<Stencil> = own.iter().flatten().copied().collect();
        if kept.is_empty() || kept.len() == 3 {
            return own;
        }
        let mut spare: Vec<Stencil> = Vec::new();
        for i in 0..3 {
            let Some((other, corners)) = self.beyond(t, &self.rest[t], i) else { continue };
            spare.extend(self.own(other, &corners).into_iter().flatten());
        }
        spare.retain(|s| kept.iter().all(|k| k.0 != s.0));
        spare.sort_by_key(|s| s.0);
        spare.dedup_by_key(|s| s.0);
        // Of all ways to fill up, the one whose three angles tell curvatures apart best.
        let mut best: Option<(f64, [Stencil; 3])> = None;
        let mut consider = |three: [Stencil; 3]| {
            let quality = bending::resolution(three.map(|s| s.1));
            if quality > best.map_or(0.02, |b| b.0) {
                best = Some((quality, three));
            }
        };
        for (n, s) in spare.iter().enumerate() {
            if kept.len() == 2 {
                consider([kept[0], kept[1], *s]);
            } else {
                spare[n + 1..].iter().for_each(|r| consider([kept[0], *s, *r]));
            }
        }
        best.map_or(own, |(_, three)| three.map(Some))
    }
}

/// Contact points: every vertex, and the middles of edges and triangles that are longer than the spacing.
fn samples(
    triangles: &[[u32; 3]],
    edges: &[[u32; 2]],
    lengths: &[f64],
    area: &[f64],
    membrane: &[membrane::Element],
    settings: &Settings,
) -> Vec<Sample> {
    let vertex = |v: usize| Sample { v: [v as u32; 3], w: [1.0, 0.0, 0.0], area: area[v] };
    let mut samples: Vec<Sample> = (0..area.len()).map(vertex).collect();
    for (e, l) in edges.iter().zip(lengths) {
        if *l > settings.sample_spacing_m {
            let a = 0.5 * (area[e[0] as usize] + area[e[1] as usize]) / 3.0;
            samples.push(Sample { v: [e[0], e[1], e[1]], w: [0.5, 0.5, 0.0], area: a });
        }
    }
    for (t, el) in triangles.iter().zip(membrane) {
        // The middles of its edges are two thirds of a side apart; the centre adds little until they are far.
        if (2.0 * el.area).sqrt() > 3.0 * settings.sample_spacing_m {
            samples.push(Sample { v: *t, w: [1.0 / 3.0; 3], area: el.area / 2.0 });
        }
    }
    samples
}
