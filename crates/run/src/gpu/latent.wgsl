// The next latent vector of every instance: [A B₁ … B_N C₁ … C_N]·[x y_{t−1} … y_{t−N} z₁ … z_N] + bias, and for
// those who begin the order-0 model.
//
// Tiles as in the features' pass; sixteen inputs at a time go through workgroup memory.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
@group(0) @binding(3) var<storage, read> body: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> metas: array<vec4<f32>>;
// Weights in tiles of 64 rows, and after them the bias, least and greatest body coefficients.
@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> latents: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> counts: array<atomic<u32>>;

const STEP = 16u;
const WEIGHTS = STEP * 16u;
const TILES = (DEPTH + 15u) / 16u;
const BIAS = TILES * INPUTS * 64u;
const LEAST = BIAS + TILES * 16u;
const GREATEST = LEAST + BODY;
var<workgroup> weight_tile: array<vec4<f32>, WEIGHTS>;
// A row of four instances at a time for each input, one longer than it must be: fewer banks meet.
const ROW = TILE / 4u + 1u;
var<workgroup> input_tile: array<vec4<f32>, STEP * ROW>;

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
        let held = clamp(x, weights[LEAST + q], weights[GREATEST + q]);
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

@compute @workgroup_size(8, TILE / 8u)
fn latent(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = group.y * TILE;
    //: repeat i 8
    var low$i = vec4<f32>();
    var high$i = vec4<f32>();
    //: end
    // Each thread turns a block of four inputs of four instances.
    let block = thread / 4u;
    let quad = thread % 4u;
    for (var q = 0u; q < INPUTS; q += 4u) {
        workgroupBarrier();
        for (var e = thread; e < WEIGHTS; e += TILE) {
            weight_tile[e] = weights[(group.x * INPUTS + q) * 64u + e];
        }
        let i = first + 4u * block;
        let turned = transpose(mat4x4<f32>(
            input(i, q + quad), input(i + 1u, q + quad), input(i + 2u, q + quad), input(i + 3u, q + quad)
        ));
        //: repeat k 4
        input_tile[(4u * quad + $ku) * ROW + block] = turned[$k];
        //: end
        workgroupBarrier();
        //: repeat k 16
        {
            let w0 = weight_tile[$ku * 16u + 2u * local.x];
            let w1 = weight_tile[$ku * 16u + 2u * local.x + 1u];
            //: repeat j 2
            let v$j = input_tile[$ku * ROW + 2u * local.y + $ju];
            //: end
            //: repeat c 4
            low$c = fma(w0, vec4<f32>(v0[$c]), low$c);
            high$c = fma(w1, vec4<f32>(v0[$c]), high$c);
            //: end
            //: repeat c 4
            low$+c = fma(w0, vec4<f32>(v1[$c]), low$+c);
            high$+c = fma(w1, vec4<f32>(v1[$c]), high$+c);
            //: end
        }
        //: end
    }
    // Every row of tiles holds the same inputs: one counts.
    if (!STARTS && group.x == 0u && clamped > 0u) {
        atomicAdd(&counts[0], clamped);
    }
    let column = group.x * 16u + 2u * local.x;
    if (column >= DEPTH) {
        return;
    }
    let bias_low = weights[BIAS + column];
    let bias_high = weights[BIAS + column + 1u];
    //: repeat n 8
    {
        let i = first + 8u * local.y + $nu;
        let is_starting = (modes[i] & STARTING) != 0u;
        if (i < step.count && (flags[i] & ACTIVE) != 0u && is_starting == STARTS) {
            let at = (step.ring * step.room + i) * DEPTH + column;
            latents[at] = low$n + bias_low;
            latents[at + 1u] = high$n + bias_high;
        }
    }
    //: end
}
