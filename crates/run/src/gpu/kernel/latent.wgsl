// The next latent vector of every instance: [A B₁ … B_N C₁ … C_N]·[x y_{t−1} … y_{t−N} z₁ … z_N] + bias, and for
// those who begin the order-0 model. The product itself is `product.wgsl`.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> flags: array<u32>;
@group(0) @binding(3) var<storage, read> modes: array<u32>;
@group(0) @binding(4) var<storage, read> body: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> metas: array<vec4<f32>>;
// The bias, least and greatest body coefficients.
@group(0) @binding(6) var<storage, read> limits: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> latents: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> counts: array<atomic<u32>>;

const LEAST = DEPTH;
const GREATEST = LEAST + BODY;

var<private> clamped: u32;

// Four inputs of an instance.
fn input(i: u32, q: u32) -> vec4<f32> {
    if (q < BODY) {
        let at = (step.body * step.room + i) * BODY + q;
        var x = body[at];
        if (step.share < 1.0 && (modes[i] & JUMPED) == 0u) {
            let old = body[((1u - step.body) * step.room + i) * BODY + q];
            x = old + step.share * (x - old);
        }
        let held = clamp(x, limits[LEAST + q], limits[GREATEST + q]);
        let changed = vec4<u32>(held != x);
        clamped += changed.x + changed.y + changed.z + changed.w;
        return held;
    }
    if (STARTS) {
        return vec4<f32>();
    }
    if (q < BODY + ORDER * DEPTH) {
        // The row before the one that is written is the latest.
        let back = (q - BODY) / DEPTH;
        let row = (step.ring + RING - 1u - back) % RING;
        return latents[(row * step.room + i) * DEPTH + (q - BODY) % DEPTH];
    }
    if (q < BODY + ORDER * DEPTH + META) {
        return metas[i * META + q - BODY - ORDER * DEPTH];
    }
    return vec4<f32>();
}

// Every row of tiles holds the same inputs: one counts.
fn finish(tile: u32) {
    if (!STARTS && tile == 0u && clamped > 0u) {
        atomicAdd(&counts[0], clamped);
    }
}

fn put(i: u32, column: u32, sum: vec4<f32>) {
    let is_starting = (modes[i] & STARTING) != 0u;
    if (i < step.count && (flags[i] & ACTIVE) != 0u && is_starting == STARTS) {
        latents[(step.ring * step.room + i) * DEPTH + column] = sum + limits[column];
    }
}
