// Inputs of a model D held between −1 and 1: body coefficients, their change since the tick before, what the root did.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
@group(0) @binding(3) var<storage, read> body: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> metas: array<vec4<f32>>;
// What changes are multiplied with; mean of the root's terms; what they are multiplied with.
@group(0) @binding(5) var<storage, read> scales: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> before: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> inputs: array<vec4<f32>>;

fn hold(v: vec4<f32>) -> vec4<f32> {
    // Beyond, the square would overflow.
    let x = clamp(v, vec4<f32>(-1e18), vec4<f32>(1e18));
    return x * inverseSqrt(1.0 + x * x);
}

@compute @workgroup_size(64)
fn held(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x / (BODY + META) + id.y * ROWS_EACH;
    let q = id.x % (BODY + META);
    if (id.x >= ROWS_EACH * (BODY + META) || !takes_part(i)) {
        return;
    }
    if (q >= BODY) {
        let t = q - BODY;
        inputs[i * WIDTH + BODY + q] = hold((metas[i * META + t] - scales[q]) * scales[q + META]);
        return;
    }
    var x = body[(step.body * step.room + i) * BODY + q];
    if (step.share < 1.0 && (modes[i] & JUMPED) == 0u) {
        let old = body[((1u - step.body) * step.room + i) * BODY + q];
        x = old + step.share * (x - old);
    }
    let was = select(before[i * BODY + q], x, (modes[i] & STARTING) != 0u);
    before[i * BODY + q] = x;
    inputs[i * WIDTH + q] = hold(x);
    inputs[i * WIDTH + BODY + q] = hold((x - was) * scales[q]);
}
