// Latent vectors of a model D held within the ellipsoid and multiplied with the gate: sixteen threads an instance.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
// One over the half axes.
@group(0) @binding(3) var<storage, read> per_axis: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> gates: array<f32>;
@group(0) @binding(5) var<storage, read_write> latents: array<vec4<f32>>;

var<workgroup> parts: array<f32, 64>;

@compute @workgroup_size(64)
fn ellipsoid(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let i = 4u * group.x + thread / 16u;
    let lane = thread % 16u;
    let takes = takes_part(i);
    let row = (step.ring * step.room + i) * DEPTH;
    var sum = 0.0;
    if (takes) {
        for (var q = lane; q < DEPTH; q += 16u) {
            let y = latents[row + q] * per_axis[q];
            sum += dot(y, y);
        }
    }
    parts[thread] = sum;
    workgroupBarrier();
    if (!takes) {
        return;
    }
    var length_sq = 0.0;
    for (var k = 0u; k < 16u; k++) {
        length_sq += parts[thread - lane + k];
    }
    let keep = gates[i] * select(1.0, 1.0 / sqrt(length_sq), length_sq > 1.0);
    for (var q = lane; q < DEPTH; q += 16u) {
        latents[row + q] *= keep;
    }
}
