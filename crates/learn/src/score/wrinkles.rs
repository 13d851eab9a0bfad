//! How much of a surface is wrinkled, and how finely.
//!
//! A surface is smoothed again and again; what each doubling of the smoothing takes away is one band of wavelengths. Its energy
//! is the mean square of that difference along the smoothed normal: folds of the band's size, and no sliding within
//! the surface.

use glam::Vec3;
use toile_geometry::vertex_normals;

/// Bands, from fine to coarse.
pub const BANDS: usize = 6;

/// The neighbours of every vertex, for [`Wrinkles::energy`].
pub struct Wrinkles {
    first: Vec<u32>,
    beside: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// Middle wavelength of each band in m.
    wavelengths_m: [f64; BANDS],
}

impl Wrinkles {
    /// Of a mesh; its edges at `rest` say how long the waves are.
    pub fn new(triangles: &[[u32; 3]], rest: &[Vec3]) -> Self {
        let mut pairs: Vec<(u32, u32)> = triangles
            .iter()
            .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])])
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0u32; rest.len() + 1];
        pairs.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
        (0..rest.len()).for_each(|v| first[v + 1] += first[v]);
        let length = |(a, b): &(u32, u32)| f64::from(rest[*a as usize].distance(rest[*b as usize]));
        let edge = pairs.iter().map(length).sum::<f64>() / pairs.len().max(1) as f64;
        // A pass is diffusion over a quarter of the squared edge; half of a wave is left when 2π²·passes/2 = (λ/edge)².
        let wavelength = |passes: f64| edge * std::f64::consts::TAU * (0.25 * 1.5 * passes).sqrt();
        Self {
            first,
            beside: pairs.into_iter().map(|p| p.1).collect(),
            triangles: triangles.to_vec(),
            wavelengths_m: std::array::from_fn(|k| wavelength(f64::from(1u32 << k))),
        }
    }

    /// About how long the waves of each band are, m.
    pub fn wavelengths_m(&self) -> [f64; BANDS] {
        self.wavelengths_m
    }

    /// Mean square height of the waves of each band, m².
    pub fn energy(&self, positions: &[Vec3]) -> [f64; BANDS] {
        let (mut now, mut energy) = (positions.to_vec(), [0.0; BANDS]);
        let mut next = now.clone();
        let mut done = 0u32;
        for (band, energy) in energy.iter_mut().enumerate() {
            let before = now.clone();
            while done < 1 << band {
                self.smooth(&now, &mut next);
                std::mem::swap(&mut now, &mut next);
                done += 1;
            }
            let normals = vertex_normals(&now, &self.triangles);
            let height = |v: usize| f64::from((before[v] - now[v]).dot(normals[v]));
            *energy = (0..now.len()).map(|v| height(v).powi(2)).sum::<f64>() / now.len().max(1) as f64;
        }
        energy
    }

    /// Half of each vertex, half of the mean about it.
    fn smooth(&self, from: &[Vec3], to: &mut [Vec3]) {
        for (v, to) in to.iter_mut().enumerate() {
            let about = &self.beside[self.first[v] as usize..self.first[v + 1] as usize];
            let sum: Vec3 = about.iter().map(|&u| from[u as usize]).sum();
            *to = if about.is_empty() { from[v] } else { from[v].midpoint(sum / about.len() as f32) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of 41 × 41 vertices 1 cm apart with waves of a length and height.
    fn sheet(length: f32, height: f32) -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let place = |i: usize| {
            let (x, z) = ((i % 41) as f32 * 0.01, (i / 41) as f32 * 0.01);
            Vec3::new(x, height * (std::f32::consts::TAU * x / length).sin(), z)
        };
        let quads = (0..40).flat_map(|r| (0..40).map(move |c| 41 * r + c));
        let triangles = quads.flat_map(|i: u32| [[i, i + 41, i + 1], [i + 1, i + 41, i + 42]]).collect();
        (triangles, (0..41 * 41).map(place).collect())
    }

    #[test]
    fn waves_are_found_in_the_band_of_their_length_and_grow_with_the_square_of_their_height() {
        let flat = sheet(1.0, 0.0);
        let wrinkles = Wrinkles::new(&flat.0, &flat.1);
        let found = |length: f32, height: f32| wrinkles.energy(&sheet(length, height).1);
        let strongest = |e: [f64; BANDS]| (0..BANDS).max_by(|a, b| e[*a].total_cmp(&e[*b])).unwrap();
        let (short, long) = (strongest(found(0.03, 1e-3)), strongest(found(0.16, 1e-3)));
        assert!(short < long, "{short} and {long}");
        let (once, twice) = (found(0.08, 1e-3), found(0.08, 2e-3));
        let ratio = twice.iter().sum::<f64>() / once.iter().sum::<f64>();
        assert!((3.6..4.4).contains(&ratio), "{ratio}");
        assert!(wrinkles.energy(&flat.1)[0] < 1e-12, "a flat sheet has none");
    }
}
