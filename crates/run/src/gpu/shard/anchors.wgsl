// Nearness of a model D to its anchors: sixteen threads an instance.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
// Where the instance is along the directions, and ‖a‖² − 2 a·p of every anchor.
@group(0) @binding(3) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> products: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> inputs: array<vec4<f32>>;

@compute @workgroup_size(64)
fn anchors(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let i = 4u * group.x + thread / 16u;
    if (!takes_part(i)) {
        return;
    }
    var length_sq = 0.0;
    for (var q = 0u; q < DIRECTIONS; q++) {
        let p = places[i * DIRECTIONS + q];
        length_sq += dot(p, p);
    }
    for (var q = thread % 16u; q < ANCHORS; q += 16u) {
        let apart = max(products[i * ANCHORS + q] + length_sq, vec4<f32>());
        inputs[i * WIDTH + HELD + FILTERED + NEAR + q] = ANCHOR_WIDTH_SQ / (ANCHOR_WIDTH_SQ + apart);
    }
}
