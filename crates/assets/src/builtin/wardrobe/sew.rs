//! From drawn panels to a sewn garment.

use super::panel::Outline;
use super::triangulate::{self, Filled};
use crate::{Error, Garment, Mesh, Panel, Pin, PinTarget, RestSource, Result, Seam};
use glam::{DVec2, DVec3, Vec3};

/// Two panel edges that are sewn together. On outlines that are all drawn counter-clockwise from
/// outside, partners always run against each other, so no direction needs to be given.
#[derive(Clone, Debug)]
pub struct Stitch {
    /// `side left`.
    pub name: String,
    /// Panel and edge, twice. A dart joins two edges of the same panel.
    pub sides: [(usize, usize); 2],
    /// Declared ratio of the first length to the second.
    pub gather: f64,
}

/// A sewing pattern: panels and how they are sewn.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Pieces of cloth.
    pub panels: Vec<Outline>,
    /// Where they are sewn.
    pub stitches: Vec<Stitch>,
}

/// Edges that do not move freely, by panel and edge name.
pub struct PinnedEdges {
    /// `waist`.
    pub name: &'static str,
    /// Panel and edge names.
    pub edges: Vec<(&'static str, &'static str)>,
    /// What they follow.
    pub target: PinTarget,
}

/// A pattern cut into triangles, with the vertices that sewing makes one.
pub struct Cut {
    /// Each panel's triangles.
    pub panels: Vec<Filled>,
    /// For each panel the boundary samples of each edge: first vertex and number of segments.
    edges: Vec<Vec<(usize, usize)>>,
    /// Simulation vertex of each panel's vertex.
    pub welded: Vec<Vec<u32>>,
    /// Number of simulation vertices.
    pub count: usize,
}

impl Pattern {
    /// Adds a panel and returns its number.
    pub fn add(&mut self, outline: Outline) -> usize {
        self.panels.push(outline);
        self.panels.len() - 1
    }

    /// Sews an edge of one panel to an edge of another (or the same), by name.
    pub fn sew(&mut self, name: impl Into<String>, a: (usize, &str), b: (usize, &str)) -> Result<()> {
        self.gather(name, a, b, 1.0)
    }

    /// Sews edges of different lengths: `ratio` declares the first over the second.
    pub fn gather(
        &mut self,
        name: impl Into<String>,
        a: (usize, &str),
        b: (usize, &str),
        ratio: f64,
    ) -> Result<()> {
        let name = name.into();
        let find = |(panel, edge): (usize, &str)| {
            self.panels[panel].edge(edge).map(|e| (panel, e)).ok_or_else(|| {
                Error::Invalid(format!("{name}: {} has no edge `{edge}`", self.panels[panel].name))
            })
        };
        let sides = [find(a)?, find(b)?];
        self.stitches.push(Stitch { name, sides, gather: ratio });
        Ok(())
    }

    /// The segments of every edge for triangles of edge length `h`.
    fn segments(&self, h: f64) -> Vec<Vec<usize>> {
        let ask = |length: f64| ((length / h).round() as usize).max(1);
        let mut segments: Vec<Vec<usize>> =
            self.panels.iter().map(|p| p.edges.iter().map(|e| ask(e.length())).collect()).collect();
        for s in &self.stitches {
            let [a, b] = s.sides.map(|(p, e)| self.panels[p].edges[e].length());
            // Two at least: with one, both ends of a dart or strap would be all there is of it.
            let n = ask(0.5 * (a + b)).max(2);
            for (p, e) in s.sides {
                segments[p][e] = n;
            }
        }
        segments
    }

    /// Boundary samples of every panel.
    fn boundaries(&self, segments: &[Vec<usize>]) -> Vec<Vec<DVec2>> {
        let samples = |(panel, counts): (&Outline, &Vec<usize>)| {
            let edges = panel.edges.iter().zip(counts);
            edges.flat_map(|(e, &n)| e.sample(n).into_iter().take(n)).collect()
        };
        self.panels.iter().zip(segments).map(samples).collect()
    }

    /// Which panel vertices sewing makes one, for the given numbers of vertices per panel.
    fn weld(&self, segments: &[Vec<usize>], sizes: &[usize]) -> (Vec<Vec<u32>>, usize) {
        let first: Vec<usize> = sizes.iter().scan(0, |at, n| Some(std::mem::replace(at, *at + n))).collect();
        let mut parent: Vec<usize> = (0..sizes.iter().sum()).collect();
        fn find(parent: &mut [usize], mut v: usize) -> usize {
            while parent[v] != v {
                parent[v] = parent[parent[v]];
                v = parent[v];
            }
            v
        }
        let along = |(p, e): (usize, usize)| -> Vec<usize> {
            let start: usize = segments[p][..e].iter().sum();
            let around: usize = segments[p].iter().sum();
            (0..=segments[p][e]).map(|k| first[p] + (start + k) % around).collect()
        };
        for s in &self.stitches {
            let [a, b] = s.sides.map(along);
            for (&x, &y) in a.iter().zip(b.iter().rev()) {
                let (x, y) = (find(&mut parent, x), find(&mut parent, y));
                parent[x.max(y)] = x.min(y);
            }
        }
        let mut number = vec![u32::MAX; parent.len()];
        let mut count = 0;
        for v in 0..parent.len() {
            let root = find(&mut parent, v);
            if number[root] == u32::MAX {
                number[root] = count as u32;
                count += 1;
            }
            number[v] = number[root];
        }
        let welded = first.iter().zip(sizes).map(|(&f, &n)| number[f..f + n].to_vec()).collect();
        (welded, count)
    }

    /// Simulation vertices that triangles of edge length `h` would give.
    fn count(&self, h: f64) -> usize {
        let segments = self.segments(h);
        let boundaries = self.boundaries(&segments);
        let sizes: Vec<usize> =
            boundaries.iter().map(|b| b.len() + triangulate::interior(b, h).len()).collect();
        self.weld(&segments, &sizes).1
    }

    /// Cuts the panels so that the sewn garment has as nearly as possible `wanted` vertices.
    pub fn cut(&self, wanted: usize) -> Result<Cut> {
        let area: f64 = self.panels.iter().map(Outline::area).sum();
        // A vertex of a regular triangulation owns √3/2 h².
        let mut best_h = (area / (wanted.max(16) as f64) / 0.75f64.sqrt()).sqrt();
        let mut best = self.count(best_h);
        // The count falls with h only on the whole, so after two corrections by its square law the
        // neighbourhood is searched.
        for _ in 0..2 {
            best_h *= (best as f64 / wanted as f64).sqrt();
            best = self.count(best_h);
        }
        let middle = best_h;
        for k in 1..=40 {
            if best.abs_diff(wanted) * 500 <= wanted {
                break;
            }
            for sign in [-1.0, 1.0] {
                let h = middle * (1.0 + sign * 0.004 * f64::from(k));
                let count = self.count(h);
                if count.abs_diff(wanted) < best.abs_diff(wanted) {
                    (best, best_h) = (count, h);
                }
            }
        }
        self.cut_at(best_h)
    }

    /// Cuts the panels into triangles of edge length `h`.
    fn cut_at(&self, h: f64) -> Result<Cut> {
        let segments = self.segments(h);
        let boundaries = self.boundaries(&segments);
        let panels: Vec<Filled> = boundaries
            .iter()
            .zip(&self.panels)
            .map(|(b, p)| {
                triangulate::fill(b, h).map_err(|e| Error::Invalid(format!("panel `{}`: {e}", p.name)))
            })
            .collect::<Result<_>>()?;
        let sizes: Vec<usize> = panels.iter().map(|p| p.points.len()).collect();
        let (welded, count) = self.weld(&segments, &sizes);
        let edges = segments
            .iter()
            .map(|counts| counts.iter().scan(0, |at, &n| Some((std::mem::replace(at, *at + n), n))).collect())
            .collect();
        Ok(Cut { panels, edges, welded, count })
    }
}

impl Cut {
    /// Simulation vertices along one edge of a panel, in its direction.
    fn along(&self, panel: usize, edge: usize) -> Vec<u32> {
        let (first, n) = self.edges[panel][edge];
        let around: usize = self.edges[panel].iter().map(|e| e.1).sum();
        (0..=n).map(|k| self.welded[panel][(first + k) % around]).collect()
    }

    /// Simulation vertices along one edge of a panel and the flat lengths between them.
    pub fn edge(&self, panel: usize, edge: usize) -> (Vec<u32>, Vec<f64>) {
        let (first, n) = self.edges[panel][edge];
        // A panel's boundary comes first among its points.
        let around: usize = self.edges[panel].iter().map(|e| e.1).sum();
        let flat = |k: usize| self.panels[panel].points[(first + k) % around];
        (self.along(panel, edge), (0..n).map(|k| flat(k).distance(flat(k + 1))).collect())
    }

    /// Marks the simulation vertices that belong to these panels and to no other.
    pub fn only_in(&self, panels: &[usize]) -> Vec<bool> {
        let mut only = vec![true; self.count];
        for (p, welded) in self.welded.iter().enumerate().filter(|(p, _)| !panels.contains(p)) {
            debug_assert_eq!(welded.len(), self.panels[p].points.len());
            welded.iter().for_each(|&v| only[v as usize] = false);
        }
        only
    }

    /// Triangles of the simulation mesh, panel by panel.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let panel = |(p, w): (&Filled, &Vec<u32>)| -> Vec<[u32; 3]> {
            p.triangles.iter().map(|t| t.map(|i| w[i as usize])).collect()
        };
        self.panels.iter().zip(&self.welded).flat_map(panel).collect()
    }

    /// Flat corners of each triangle of the simulation mesh.
    pub fn rest(&self) -> Vec<[DVec2; 3]> {
        let panel = |p: &Filled| -> Vec<[DVec2; 3]> {
            p.triangles.iter().map(|t| t.map(|i| p.points[i as usize])).collect()
        };
        self.panels.iter().flat_map(panel).collect()
    }

    /// Places panel vertices by `place(panel, point)`; welded vertices take the mean of their places.
    pub fn place(&self, mut place: impl FnMut(usize, DVec2) -> DVec3) -> Vec<DVec3> {
        let mut sum = vec![(DVec3::ZERO, 0.0); self.count];
        for (p, (filled, welded)) in self.panels.iter().zip(&self.welded).enumerate() {
            for (&point, &v) in filled.points.iter().zip(welded) {
                let s = &mut sum[v as usize];
                s.0 += place(p, point);
                s.1 += 1.0;
            }
        }
        sum.into_iter().map(|(s, n)| s / n).collect()
    }

    /// The finished garment, with the simulation vertices at `positions`.
    pub fn sew(
        &self,
        pattern: &Pattern,
        name: &str,
        positions: &[DVec3],
        pinned: &[PinnedEdges],
    ) -> Result<Garment> {
        let positions: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
        let mut render = Mesh::default();
        let mut sim_from_render = Vec::new();
        let mut panels = Vec::new();
        let mut triangles = 0;
        for ((filled, welded), outline) in self.panels.iter().zip(&self.welded).zip(&pattern.panels) {
            let base = render.positions.len() as u32;
            render.positions.extend(welded.iter().map(|&v| positions[v as usize]));
            render.uvs.extend(filled.points.iter().map(|p| p.as_vec2()));
            render.triangles.extend(filled.triangles.iter().map(|t| t.map(|i| i + base)));
            sim_from_render.extend_from_slice(welded);
            let count = filled.triangles.len() as u32;
            panels.push(Panel { name: outline.name.clone(), first: triangles, count });
            triangles += count;
        }
        let seams = pattern
            .stitches
            .iter()
            .map(|s| Seam {
                name: s.name.clone(),
                vertices: self.along(s.sides[0].0, s.sides[0].1),
                lengths: s.sides.map(|(p, e)| pattern.panels[p].edges[e].length() as f32),
                gather: s.gather as f32,
            })
            .collect();
        let mut pins = Vec::new();
        for pin in pinned {
            let mut vertices = Vec::new();
            for &(panel, edge) in &pin.edges {
                let found = pattern.panels.iter().position(|p| p.name == panel);
                let found = found.and_then(|p| pattern.panels[p].edge(edge).map(|e| (p, e)));
                let (p, e) =
                    found.ok_or_else(|| Error::Invalid(format!("{name}: no edge `{edge}` on `{panel}`")))?;
                vertices.extend(self.along(p, e));
            }
            vertices.sort_unstable();
            vertices.dedup();
            pins.push(Pin { name: pin.name.into(), vertices, target: pin.target.clone() });
        }
        Ok(Garment {
            name: name.into(),
            render,
            materials: Vec::new(),
            sim_from_render,
            sim: Mesh { positions, triangles: self.triangles(), uvs: Vec::new() },
            rest: self.rest().iter().map(|t| t.map(|p| p.as_vec2())).collect(),
            rest_source: RestSource::Panels,
            panels,
            seams,
            pins,
            openings: Vec::new(),
            paint: crate::Paint::default(),
            fabric: "cotton".into(),
        })
    }
}
