// Filters, nearness to poses of the training set, and the gate of a model D: sixteen threads an instance.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
@group(0) @binding(3) var<storage, read> products: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> inputs: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> gates: array<f32>;
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> parts: array<f32, 64>;

@compute @workgroup_size(64)
fn settle(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let i = 4u * group.x + thread / 16u;
    let lane = thread % 16u;
    let first = thread - lane;
    let takes = takes_part(i);
    var sum = 0.0;
    if (takes) {
        for (var q = lane; q < BODY; q += 16u) {
            let x = inputs[i * WIDTH + q];
            sum += dot(x, x);
        }
    }
    parts[thread] = sum;
    workgroupBarrier();
    var length_sq = 0.0;
    for (var k = 0u; k < 16u; k++) {
        length_sq += parts[first + k];
    }
    workgroupBarrier();
    let is_starting = takes && (modes[i] & STARTING) != 0u;
    var least = 1e38;
    if (takes) {
        let row = i * (DRIVE + NEAR);
        for (var q = lane; q < DRIVE; q += 16u) {
            filters(i * WIDTH + HELD + q, products[row + q], is_starting);
        }
        for (var q = lane; q < NEAR; q += 16u) {
            let apart = max(products[row + DRIVE + q] + length_sq, vec4<f32>());
            least = min(least, min(min(apart.x, apart.y), min(apart.z, apart.w)));
            inputs[i * WIDTH + HELD + FILTERED + q] = WIDTH_SQ / (WIDTH_SQ + apart);
        }
    }
    parts[thread] = least;
    workgroupBarrier();
    if (!takes || lane > 0u) {
        return;
    }
    for (var k = 1u; k < 16u; k++) {
        least = min(least, parts[first + k]);
    }
    let t = clamp((GATE_FAR - least) / (GATE_FAR - GATE_NEAR), 0.0, 1.0);
    let aim = t * t * (3.0 - 2.0 * t);
    let was = gates[i];
    let gate = select(was + clamp(aim - was, -GATE_RATE, GATE_RATE), aim, is_starting);
    gates[i] = gate;
    if (gate < 1.0 && step.waits == 0u) {
        atomicAdd(&counts[0], 1u);
    }
}
