// What every shader of the main pass shares: the frame, its light and its two shadow maps.
// Prepended to surface.wgsl and studio.wgsl. Metres; all directions are unit vectors towards the light.

struct Frame {
    clip_from_world: mat4x4f,
    key_from_world: mat4x4f,   // orthographic, uv in 0..1, depth in 0..1
    sky_from_world: mat4x4f,   // the same, from straight above
    eye: vec4f,
    key_direction: vec4f,      // w: tangent of the light's half angle, which makes the penumbra
    fill_direction: vec4f,
    rim_direction: vec4f,
    map_span_m: vec4f,         // x key uv, y key depth, z sky uv, w sky depth: metres per unit
    backdrop_top: vec4f,
    backdrop_bottom: vec4f,
    ground: vec4f,             // x height, y spacing of the lines, z radius that is lit, w cells a side
    lit_cells: vec4f,              // of the ground where shadows fall: least x and z, size of a cell, reach of the rest
    centre: vec4f,             // of what is drawn
    picture: vec4f,            // width, height, 1/width, 1/height
    texel_m: vec4f,            // x key map, y sky map
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var key_map: texture_depth_2d;
@group(0) @binding(2) var sky_map: texture_depth_2d;
@group(0) @binding(3) var compare: sampler_comparison;
@group(0) @binding(4) var nearest: sampler;

const GOLDEN_COS = -0.737368878;
const GOLDEN_SIN = 0.675490294;

fn turned(d: vec2f) -> vec2f {
    return vec2f(GOLDEN_COS * d.x - GOLDEN_SIN * d.y, GOLDEN_SIN * d.x + GOLDEN_COS * d.y);
}

// Share of the key light that arrives, with a penumbra that grows with the distance of what blocks it
// (percentage-closer soft shadows, Fernando 2005). `widest_m` bounds it: on a curved surface a wide
// filter would reach below the surface itself.
fn key_light(q: vec3f, sharpest_m: f32, widest_m: f32, search_taps: i32, taps: i32) -> f32 {
    let at = (frame.key_from_world * vec4f(q, 1.0)).xyz;
    if any(at < vec3f(0.0)) || any(at > vec3f(1.0)) {
        return 1.0;
    }
    let search = widest_m / frame.map_span_m.x;
    let nearer = at.z - max(0.002, 0.8 * frame.texel_m.x) / frame.map_span_m.y;
    // Four texels a look: a gather costs a software driver hardly more than one load.
    var blocked = 0.0;
    var blockers = 0.0;
    var d = vec2f(1.0, 0.0);
    for (var i = 0; i < search_taps; i++) {
        let uv = at.xy + search * sqrt((f32(i) + 0.5) / f32(search_taps)) * d;
        let z = textureGather(key_map, nearest, uv);
        let blocks = select(vec4f(0.0), vec4f(1.0), z < vec4f(nearer));
        blocked += dot(blocks, z);
        blockers += dot(blocks, vec4f(1.0));
        d = turned(d);
    }
    if blockers == 0.0 {
        return 1.0;
    }
    let gap_m = (at.z - blocked / blockers) * frame.map_span_m.y;
    let radius = clamp(gap_m * frame.key_direction.w, max(sharpest_m, frame.texel_m.x), max(widest_m, 1.5 * frame.texel_m.x)) / frame.map_span_m.x;
    var lit = 0.0;
    d = vec2f(1.0, 0.0);
    for (var i = 0; i < taps; i++) {
        let uv = at.xy + radius * sqrt((f32(i) + 0.5) / f32(taps)) * d;
        lit += textureSampleCompareLevel(key_map, compare, uv, nearer);
        d = turned(d);
    }
    return lit / f32(taps);
}

// Share of the sky that a point sees: what stands above it within `reach_m`, the nearer the darker. It stands in
// for ambient occlusion at the price of one small map: under the chin, inside a skirt, around the feet.
// Called per vertex, where many taps cost little and interpolation hides their grain.
fn sky_light(q: vec3f, reach_m: f32, taps: i32) -> f32 {
    let at = (frame.sky_from_world * vec4f(q, 1.0)).xyz;
    let radius = reach_m / frame.map_span_m.z;
    if any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0)) {
        return 1.0;
    }
    var covered = 0.0;
    var total = 0.0;
    var d = vec2f(1.0, 0.0);
    for (var i = 0; i < taps; i++) {
        let r = sqrt((f32(i) + 0.5) / f32(taps));
        let over_m = (at.z - textureGather(sky_map, nearest, at.xy + radius * r * d)) * frame.map_span_m.w;
        let weight = 1.0 - 0.7 * r;
        let cover = smoothstep(vec4f(0.004), vec4f(0.03), over_m)
            * (1.0 - 0.8 * smoothstep(vec4f(0.1), vec4f(1.5), over_m));
        covered += 0.25 * weight * dot(cover, vec4f(1.0));
        total += weight;
        d = turned(d);
    }
    return 1.0 - covered / total;
}

fn backdrop(uv: vec2f) -> vec3f {
    let wall = mix(frame.backdrop_top.rgb, frame.backdrop_bottom.rgb, smoothstep(0.05, 0.95, uv.y));
    let from_centre = (uv - vec2f(0.5, 0.5)) * vec2f(0.9, 0.8);
    return wall * (1.0 - 0.55 * dot(from_centre, from_centre));
}

// Linear light as sRGB (IEC 61966-2-1), to half a level of 255: three roots cost a software driver far less than a power.
fn encoded(light: vec3f) -> vec3f {
    let c = clamp(light, vec3f(0.0), vec3f(1.0));
    let r = sqrt(c);
    let q = sqrt(r);
    let o = sqrt(q);
    return max(12.92 * min(c, vec3f(0.0031308)), 0.585122381 * r + 0.783140355 * q - 0.368262736 * o);
}
