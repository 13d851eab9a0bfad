//! Fewer triangles for what is far away.

use glam::Vec3;
use std::collections::HashMap;

/// A coarser mesh of a body or garment: the vertices it keeps, by their numbers in the mesh, and its triangles in terms
/// of those that are kept. One vertex stays in each cell of `cell_m` metres, the one nearest to the middle of those in it
/// (vertex clustering, Rossignac and Borrel 1993, with vertices that exist, so that they still have their bones).
pub fn decimate(positions: &[Vec3], triangles: &[[u32; 3]], cell_m: f32) -> (Vec<u32>, Vec<[u32; 3]>) {
    let cell = |p: Vec3| (p / cell_m.max(1e-6)).floor().to_array().map(|c| c as i32);
    let mut sums: HashMap<[i32; 3], (Vec3, f32)> = HashMap::new();
    for p in positions {
        let sum = sums.entry(cell(*p)).or_default();
        *sum = (sum.0 + *p, sum.1 + 1.0);
    }
    let mut nearest: HashMap<[i32; 3], (f32, u32)> = HashMap::new();
    for (v, p) in positions.iter().enumerate() {
        let (sum, count) = sums[&cell(*p)];
        let off = p.distance_squared(sum / count);
        let best = nearest.entry(cell(*p)).or_insert((off, v as u32));
        if off < best.0 {
            *best = (off, v as u32);
        }
    }
    let mut kept: Vec<u32> = nearest.values().map(|(_, v)| *v).collect();
    kept.sort_unstable();
    let number: HashMap<u32, u32> = kept.iter().zip(0..).map(|(v, n)| (*v, n)).collect();
    let of = |v: u32| number[&nearest[&cell(positions[v as usize])].1];
    let mut thin: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| t.map(of))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        // The same triangle from several: turned so that equal ones look equal.
        .map(|t| {
            let first = (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
            [t[first], t[(first + 1) % 3], t[(first + 2) % 3]]
        })
        .collect();
    thin.sort_unstable();
    thin.dedup();
    (kept, thin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_thinned_body_has_far_fewer_triangles_and_nearly_the_same_surface() {
        let mesh = builtin::body("mannequin:female").unwrap().mesh;
        let (kept, triangles) = decimate(&mesh.positions, &mesh.triangles, 0.04);
        assert!(
            4 * triangles.len() < mesh.triangles.len(),
            "{} of {}",
            triangles.len(),
            mesh.triangles.len()
        );
        assert!(triangles.iter().flatten().all(|v| (*v as usize) < kept.len()));
        let area = |positions: &[Vec3], triangles: &[[u32; 3]]| -> f32 {
            let at = |v: u32| positions[v as usize];
            let twice = |t: &[u32; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).length();
            0.5 * triangles.iter().map(twice).sum::<f32>()
        };
        let thin: Vec<Vec3> = kept.iter().map(|v| mesh.positions[*v as usize]).collect();
        let ratio = area(&thin, &triangles) / area(&mesh.positions, &mesh.triangles);
        assert!((0.85..1.02).contains(&ratio), "{ratio}");
    }
}
