//! Sine and cosine that are the same bits on every machine; the C library's are not.

/// Sine and cosine of an angle in radians, to within 1e-15.
pub(crate) fn sin_cos(angle: f64) -> (f64, f64) {
    // Cody and Waite: π/2 in two parts, the first with 33 bits, so that its multiples are exact.
    const HIGH: f64 = 1.570_796_326_734_125_614_17;
    const LOW: f64 = 6.077_100_506_506_192_249_32e-11;
    let quarter = (angle / std::f64::consts::FRAC_PI_2).round();
    let r = (angle - quarter * HIGH) - quarter * LOW;
    let r2 = r * r;
    // Taylor: on ±π/4 the first term left out is below 1e-17.
    let mut sin = 0.0;
    for n in [16.0, 14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0] {
        sin = r2 / (-n * (n + 1.0)) * (1.0 + sin);
    }
    let mut cos = 0.0;
    for n in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        cos = r2 / (-n * (n + 1.0)) * (1.0 + cos);
    }
    let (sin, cos) = (r + r * sin, 1.0 + cos);
    match quarter.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

#[cfg(test)]
mod tests {
    use super::sin_cos;

    #[test]
    fn agrees_with_the_library_within_rounding() {
        for i in -4000..4000 {
            let angle = f64::from(i) * 0.0173;
            let (s, c) = sin_cos(angle);
            let (ls, lc) = angle.sin_cos();
            assert!((s - ls).abs() < 2e-15 && (c - lc).abs() < 2e-15, "{angle}: {s} {c}, not {ls} {lc}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }
}
