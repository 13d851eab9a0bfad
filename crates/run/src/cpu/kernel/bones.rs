//! Bones of several instances side by side: from rows in the frame of the root to lanes in the world.

use super::Isa;

/// Turns about the vertical and shifts of several instances.
pub(crate) struct Turns<const W: usize> {
    pub sin: [f32; W],
    pub cos: [f32; W],
    pub shift: [[f32; W]; 3],
}

/// Number r of row n becomes number n of column r of `out`, with its mean, turned and, where it is a place, shifted. Rows
/// are three columns and a translation a bone.
pub(crate) fn bones_to_lanes<const W: usize>(
    isa: Isa,
    rows: [&[f32]; W],
    mean: &[f32],
    turns: &Turns<W>,
    out: &mut [f32],
) {
    match (isa, W) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, _) => unsafe { lanes512(rows, mean, turns, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, _) => unsafe { lanes2(rows, mean, turns, out) },
        _ => {
            to_lanes(rows, 0, out);
            turn(mean, turns, out);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn lanes512<const W: usize>(rows: [&[f32]; W], mean: &[f32], turns: &Turns<W>, out: &mut [f32]) {
    let mut done = 0;
    if W == 16 {
        done = rows.iter().fold(out.len() / W, |least, row| least.min(row.len())) / 16 * 16;
        let rows: [*const f32; 16] = std::array::from_fn(|n| rows[n % W].as_ptr());
        // SAFETY: rows and columns are at least that long.
        unsafe { super::avx512::blocks_to_lanes(&rows, done, out) };
    }
    to_lanes(rows, done, out);
    turn(mean, turns, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn lanes2<const W: usize>(rows: [&[f32]; W], mean: &[f32], turns: &Turns<W>, out: &mut [f32]) {
    to_lanes(rows, 0, out);
    turn(mean, turns, out);
}

#[inline(always)]
fn to_lanes<const W: usize>(rows: [&[f32]; W], done: usize, out: &mut [f32]) {
    for (r, column) in out.as_chunks_mut::<W>().0.iter_mut().enumerate().skip(done) {
        for n in 0..W {
            column[n] = rows[n][r];
        }
    }
}

/// Products and sums are rounded apart, on every processor.
#[inline(always)]
fn turn<const W: usize>(mean: &[f32], turns: &Turns<W>, out: &mut [f32]) {
    let columns = out.as_chunks_mut::<W>().0.as_chunks_mut::<3>().0;
    for (at, (column, mean)) in columns.iter_mut().zip(mean.as_chunks::<3>().0).enumerate() {
        let mut v = *column;
        for k in 0..3 {
            for n in 0..W {
                v[k][n] += mean[k];
            }
        }
        for n in 0..W {
            let (x, z) = (v[0][n], v[2][n]);
            v[0][n] = turns.cos[n] * x + turns.sin[n] * z;
            v[2][n] = turns.cos[n] * z - turns.sin[n] * x;
        }
        if at % 4 == 3 {
            for k in 0..3 {
                for n in 0..W {
                    v[k][n] += turns.shift[k][n];
                }
            }
        }
        *column = v;
    }
}
