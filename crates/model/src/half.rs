//! Half precision, for arrays that are large and need no more than three digits.

/// To the nearest half; beyond the largest it is held there, so that what was finite stays finite.
pub(crate) fn from_f32(value: f32) -> u16 {
    const LARGEST: f32 = 65504.0;
    let bits = value.clamp(-LARGEST, LARGEST).to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    if magnitude < 6.103_515_6e-5 {
        // Below the least normal half steps are 2⁻²⁴ wide.
        return sign | (magnitude * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = magnitude.to_bits();
    // The exponent loses 112; half of what is cut off, and the last bit that stays, round to even.
    let rounded = bits + 0x0fff + ((bits >> 13) & 1) - (112 << 23);
    sign | (rounded >> 13) as u16
}

/// Exactly.
pub(crate) fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10) & 0x1f, u32::from(half) & 0x3ff);
    let bits = match exponent {
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back_and_everything_else_goes_to_the_nearest() {
        for half in 0..=u16::MAX {
            let value = to_f32(half);
            if value.is_finite() {
                assert_eq!(from_f32(value), half, "{value}");
            }
        }
        for k in 0..20_000u32 {
            let value = (k as f32 * 0.37).sin() * 2f32.powi((k % 34) as i32 - 20);
            let near = to_f32(from_f32(value));
            let most = (value.abs() / 2048.0).max(1.0 / 33_554_432.0);
            assert!((near - value).abs() <= most, "{value} became {near}");
        }
        assert_eq!((to_f32(from_f32(1e9)), to_f32(from_f32(f32::MIN))), (65504.0, -65504.0));
    }
}
