//! Vertex normals of many instances at once, lanes over instances.
//!
//! A garment's triangles name the same vertices in every instance, so with coordinates of `W` instances side by
//! side nothing has to be gathered. Each normal is the sum of its triangles' area vectors in the order of the
//! triangles, made unit length. Everything here is plain Rust that is inlined into functions compiled for an
//! instruction set; only the exchange of rows and lanes is written for each.

/// Adds every triangle's area vector to its corners: `2·area·n = (b − a) × (c − a)`.
#[inline(always)]
pub(super) fn add_areas<const W: usize>(triangles: &[[u32; 3]], vertices: &[[f32; W]], out: &mut [[f32; W]]) {
    out.fill([0.0; W]);
    let p = vertices.as_chunks::<3>().0;
    let n = out.as_chunks_mut::<3>().0;
    for corners in triangles {
        let [a, b, c] = corners.map(|i| i as usize);
        let (u, v) = (minus(&p[b], &p[a]), minus(&p[c], &p[a]));
        let mut area = [[0.0; W]; 3];
        for axis in 0..3 {
            let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
            for l in 0..W {
                area[axis][l] = u[i][l].mul_add(v[j][l], -(u[j][l] * v[i][l]));
            }
        }
        for corner in [a, b, c] {
            let n = &mut n[corner];
            for axis in 0..3 {
                for l in 0..W {
                    n[axis][l] += area[axis][l];
                }
            }
        }
    }
}

/// Makes sums of area vectors unit length.
#[inline(always)]
pub(super) fn make_unit<const W: usize>(normals: &mut [[f32; W]]) {
    for n in normals.as_chunks_mut::<3>().0 {
        let mut scale = [0.0; W];
        for l in 0..W {
            scale[l] = n[2][l].mul_add(n[2][l], n[1][l].mul_add(n[1][l], n[0][l] * n[0][l]));
            scale[l] = inverse_sqrt(scale[l]);
        }
        for axis in 0..3 {
            for l in 0..W {
                n[axis][l] *= scale[l];
            }
        }
    }
}

#[inline(always)]
fn minus<const W: usize>(a: &[[f32; W]; 3], b: &[[f32; W]; 3]) -> [[f32; W]; 3] {
    let mut out = [[0.0; W]; 3];
    for axis in 0..3 {
        for l in 0..W {
            out[axis][l] = a[axis][l] - b[axis][l];
        }
    }
    out
}

/// `1/√x` by the exponent trick and three Newton steps: within 2e-7, the same bits everywhere and several times
/// cheaper than root and division. Zero gives a large finite number, so vertices without triangles get a zero
/// normal.
#[inline(always)]
fn inverse_sqrt(x: f32) -> f32 {
    let half = 0.5 * x;
    let mut y = f32::from_bits(0x5f37_5a86 - (x.to_bits() >> 1));
    for _ in 0..3 {
        let error = (half * y).mul_add(-y, 0.5);
        y = y.mul_add(error, y);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_square_roots_are_within_rounding() {
        for i in 1..2000 {
            let x = 1e-12 * 1.03f32.powi(i);
            if x < 1e12 {
                let error = (f64::from(inverse_sqrt(x)) * f64::from(x).sqrt() - 1.0).abs();
                assert!(error < 2.5e-7, "{x}: {error}");
            }
        }
        assert!(inverse_sqrt(0.0).is_finite());
    }

    #[test]
    fn a_square_has_its_normal_and_a_lone_vertex_none() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [5.0, 5.0, 5.0]];
        let flat: Vec<[f32; 1]> = corners.iter().flatten().map(|v| [*v]).collect();
        let mut out = vec![[9.0]; 15];
        add_areas(&[[0, 1, 2], [1, 3, 2]], &flat, &mut out);
        make_unit(&mut out);
        for v in 0..4 {
            assert!(out[3 * v][0].abs() < 1e-6 && (out[3 * v + 2][0] - 1.0).abs() < 1e-6);
        }
        assert_eq!(out[12..], [[0.0]; 3]);
    }
}
