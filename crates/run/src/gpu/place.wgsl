// Turn and shift of every instance that is drawn, relative to the origin; and latent vectors as they are shown.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
@group(0) @binding(3) var<storage, read> poses: array<vec4<f32>>;
// Two for each instance: sine, cosine and whether it is drawn; the shift.
@group(0) @binding(4) var<storage, read_write> places: array<vec4<f32>>;

@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= step.count) {
        return;
    }
    let flag = flags[i];
    // An instance that was never stepped in its present life has nothing to show.
    let is_drawn = (flag & (ACTIVE | DRAWN)) == (ACTIVE | DRAWN) && (modes[i] & LIFE) == (flag & LIFE);
    let high = poses[6u * i + 3u] - step.origin_high;
    let low = poses[6u * i + 4u] - step.origin_low;
    places[2u * i] = vec4<f32>(poses[6u * i + 5u].xy, select(0.0, 1.0, is_drawn), 0.0);
    places[2u * i + 1u] = vec4<f32>(high.xyz + low.xyz, 0.0);
}
