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
    ground: vec4f,             // x height, y grid spacing, z radius that is lit, w 1 if there is one
    centre: vec4f,             // of what is drawn
    picture: vec4f,            // width, height, 1/width, 1/height
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var key_map: texture_depth_2d;
@group(0) @binding(2) var sky_map: texture_depth_2d;
@group(0) @binding(3) var compare: sampler_comparison;

const GOLDEN_COS = -0.737368878;
const GOLDEN_SIN = 0.675490294;

fn turned(d: vec2f) -> vec2f {
    return vec2f(GOLDEN_COS * d.x - GOLDEN_SIN * d.y, GOLDEN_SIN * d.x + GOLDEN_COS * d.y);
}

fn map_depth(map: texture_depth_2d, uv: vec2f) -> f32 {
    let size = vec2f(textureDimensions(map));
    let at = clamp(vec2i(uv * size), vec2i(0), vec2i(size) - 1);
    return textureLoad(map, at, 0);
}

// Share of the key light that arrives, with a penumbra that grows with the distance of what blocks it
// (percentage-closer soft shadows, Fernando 2005). `widest_m` bounds it: on a curved surface a wide
// filter would reach below the surface itself.
fn key_light(p: vec3f, n: vec3f, widest_m: f32, taps: i32) -> f32 {
    let slope = clamp(dot(n, frame.key_direction.xyz), 0.0, 1.0);
    let q = p + n * (0.004 + 0.010 * (1.0 - slope));
    let at = (frame.key_from_world * vec4f(q, 1.0)).xyz;
    if any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0)) {
        return 1.0;
    }
    let search = widest_m / frame.map_span_m.x;
    var blocked = 0.0;
    var blockers = 0.0;
    var d = vec2f(1.0, 0.0);
    for (var i = 0; i < 8; i++) {
        let z = map_depth(key_map, at.xy + search * sqrt((f32(i) + 0.5) / 8.0) * d);
        if z < at.z - 0.002 / frame.map_span_m.y {
            blocked += z;
            blockers += 1.0;
        }
        d = turned(d);
    }
    if blockers == 0.0 {
        return 1.0;
    }
    let gap_m = (at.z - blocked / blockers) * frame.map_span_m.y;
    let radius_m = clamp(gap_m * frame.key_direction.w, 0.006, widest_m);
    let radius = radius_m / frame.map_span_m.x;
    var lit = 0.0;
    d = vec2f(1.0, 0.0);
    for (var i = 0; i < taps; i++) {
        let uv = at.xy + radius * sqrt((f32(i) + 0.5) / f32(taps)) * d;
        lit += textureSampleCompareLevel(key_map, compare, uv, at.z - 0.0015 / frame.map_span_m.y);
        d = turned(d);
    }
    return lit / f32(taps);
}

// Share of the sky that a point sees: what stands above it within `reach_m`, the nearer the darker. It stands in
// for ambient occlusion at the price of one small map: under the chin, inside a skirt, around the feet.
fn sky_light(p: vec3f, n: vec3f, reach_m: f32) -> f32 {
    let at = (frame.sky_from_world * vec4f(p + 0.012 * n, 1.0)).xyz;
    let radius = reach_m / frame.map_span_m.z;
    var covered = 0.0;
    var d = vec2f(1.0, 0.0);
    for (var i = 0; i < 12; i++) {
        let r = sqrt((f32(i) + 0.5) / 12.0);
        let over_m = (at.z - map_depth(sky_map, at.xy + radius * r * d)) * frame.map_span_m.w;
        covered += smoothstep(0.004, 0.03, over_m) * (1.0 - 0.75 * smoothstep(0.1, 1.6, over_m)) * (1.2 - r * 0.4);
        d = turned(d);
    }
    return 1.0 - clamp(covered / 12.0, 0.0, 1.0);
}

fn backdrop(uv: vec2f) -> vec3f {
    let wall = mix(frame.backdrop_top.rgb, frame.backdrop_bottom.rgb, smoothstep(0.05, 0.95, uv.y));
    let from_centre = (uv - vec2f(0.5, 0.5)) * vec2f(0.9, 0.8);
    return wall * (1.0 - 0.55 * dot(from_centre, from_centre));
}
