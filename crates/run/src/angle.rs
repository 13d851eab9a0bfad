//! Sine and cosine that are the same bits on every machine; the C library's are not.

/// Sine and cosine of an angle in radians, to within 3e-10: more than `f32` can tell apart.
pub(crate) fn sin_cos(angle: f64) -> (f64, f64) {
    // Cody and Waite: π/2 in two parts, the first with 33 bits, so that its multiples are exact.
    const HIGH: f64 = 1.570_796_326_734_125_614_17;
    const LOW: f64 = 6.077_100_506_506_192_249_32e-11;
    // By conversion: without SSE4.1, which baseline code may not assume, rounding is a call.
    let quarters = angle * std::f64::consts::FRAC_2_PI;
    let quarters = (quarters + 0.5f64.copysign(quarters)) as i64;
    let r = (angle - quarters as f64 * HIGH) - quarters as f64 * LOW;
    let r2 = r * r;
    // Taylor on ±π/4, by Horner; the first terms left out are below 3e-10.
    let sin = r + r * r2 * (S[0] + r2 * (S[1] + r2 * (S[2] + r2 * (S[3] + r2 * S[4]))));
    let cos = 1.0 + r2 * (-0.5 + r2 * (C[0] + r2 * (C[1] + r2 * (C[2] + r2 * C[3]))));
    match quarters & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// −1/3!, 1/5!, −1/7! …
const S: [f64; 5] = [-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0];
/// 1/4!, −1/6!, 1/8! …
const C: [f64; 4] = [1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0];

#[cfg(test)]
mod tests {
    use super::sin_cos;

    #[test]
    fn agrees_with_the_library_within_rounding() {
        for i in -4000..4000 {
            let angle = f64::from(i) * 0.0173;
            let (s, c) = sin_cos(angle);
            let (ls, lc) = angle.sin_cos();
            assert!((s - ls).abs() < 3e-10 && (c - lc).abs() < 3e-10, "{angle}: {s} {c}, not {ls} {lc}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }
}
