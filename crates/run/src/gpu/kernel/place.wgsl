// Turn and shift of every instance that is drawn, relative to the origin; and latent vectors as they are shown.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> modes: array<u32>;
@group(0) @binding(3) var<storage, read> poses: array<vec4<f32>>;
// Two for each instance: sine, cosine and whether it is drawn; the shift.
// The last number is how many fours of coefficients are to be drawn.
@group(0) @binding(4) var<storage, read_write> places: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> latents: array<vec4<f32>>;
// The farthest that one unit of each coefficient moves any vertex, m.
@group(0) @binding(6) var<storage, read> reach: array<vec4<f32>>;

// Of the coefficients the last ones are left out as long as no vertex can be off by more than the tolerance.
fn depth(i: u32, tolerance: f32) -> f32 {
    var bound = 0.0;
    var q = DEPTH;
    while (q > 0u && tolerance > 0.0) {
        bound += dot(abs(latent(i, q - 1u)), reach[q - 1u]);
        if (!(bound <= tolerance)) {
            break;
        }
        q--;
    }
    return f32(q);
}

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
    let drawn = select(0.0, 1.0, is_drawn);
    let shift = high.xyz + low.xyz;
    let needed = depth(i, step.viewer.w * distance(shift, step.viewer.xyz));
    if (IS_HUNG) {
        // Its bones carry it into the world, later.
        places[2u * i] = vec4<f32>(0.0, 1.0, drawn, 0.0);
        places[2u * i + 1u] = vec4<f32>(0.0, 0.0, 0.0, needed);
        return;
    }
    places[2u * i] = vec4<f32>(poses[6u * i + 5u].xy, drawn, 0.0);
    places[2u * i + 1u] = vec4<f32>(shift, needed);
}
