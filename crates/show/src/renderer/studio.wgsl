// The wall and the ground: one colour, so that no horizon shows; the ground only darkens it where light is kept off.

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) light: vec2f,   // share of the key light and of the sky that arrives
}

@vertex
fn vs_backdrop(@builtin(vertex_index) index: u32) -> Varying {
    var out: Varying;
    let corner = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    out.clip = vec4f(corner * 2.0 - 1.0, 0.0, 1.0);
    out.world = vec3f(0.0);
    out.light = vec2f(1.0);
    return out;
}

@fragment
fn fs_backdrop(in: Varying) -> @location(0) vec4f {
    return vec4f(encoded(backdrop(in.clip.xy * frame.picture.zw)), 1.0);
}

// A grid of cells fixed in the world, fine where shadows fall, its outermost ring stretched far away. Shadows are
// looked up per vertex: a few thousand vertices can afford the wide filter that a soft shadow needs, a
// screen full of fragments cannot, and between vertices it is interpolated without grain.
@vertex
fn vs_ground(@builtin(vertex_index) index: u32) -> Varying {
    let side = u32(frame.ground.w) + 1u;
    let cell = vec2u(index % side, index / side);
    var at = frame.lit_cells.xy + vec2f(cell) * frame.lit_cells.z;
    at = select(at, frame.centre.xz - frame.lit_cells.w, cell == vec2u(0u));
    at = select(at, frame.centre.xz + frame.lit_cells.w, cell == vec2u(side - 1u));
    var out: Varying;
    out.world = vec3f(at.x, frame.ground.x, at.y);
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    let p = out.world + vec3f(0.0, 0.004, 0.0);
    out.light = vec2f(key_light(p, 1.2 * frame.lit_cells.z, 0.14, 20, 32), sky_light(p, 0.26, 48));
    return out;
}

// Under a crowd cells are wider than the shadow of a leg: there each pixel has its own light (ground.wgsl).
@group(1) @binding(0) var arrives: texture_2d<f32>;

@vertex
fn vs_ground_wide(@builtin(vertex_index) index: u32) -> Varying {
    let corner = vec2f(f32(index % 2u), f32(index / 2u)) * 2.0 - 1.0;
    var out: Varying;
    let at = frame.centre.xz + corner * frame.lit_cells.w;
    out.world = vec3f(at.x, frame.ground.x, at.y);
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    out.light = vec2f(1.0);
    return out;
}

@fragment
fn fs_ground_wide(in: Varying) -> @location(0) vec4f {
    return floor_light(in, textureLoad(arrives, vec2i(in.clip.xy), 0).xy);
}

@fragment
fn fs_ground(in: Varying) -> @location(0) vec4f {
    return floor_light(in, in.light);
}

// `light`: share of the key light and of the sky that arrives.
fn floor_light(in: Varying, light: vec2f) -> vec4f {
    let wall = backdrop(in.clip.xy * frame.picture.zw);
    let from_centre = length(in.world.xz - frame.centre.xz) / frame.ground.z;
    let near = 1.0 - smoothstep(0.45, 1.0, from_centre);
    var shade = mix(0.56, 1.0, light.x) * mix(0.45, 1.0, light.y);
    // A pool of light around the subject.
    shade *= 1.0 + 0.05 * (1.0 - smoothstep(0.0, 0.8, from_centre));
    // Shadows are a little cooler than what the warm key light reaches.
    let tint = mix(vec3f(0.975, 0.985, 1.0), vec3f(1.0), light.x);
    var colour = wall * mix(vec3f(1.0), shade * tint, near);
    if frame.ground.y > 0.0 {
        let line_at = in.world.xz / frame.ground.y;
        let pixel = max(fwidth(line_at), vec2f(1e-6));
        let off = abs(fract(line_at + 0.5) - 0.5);
        let width = max(pixel, vec2f(0.006 / frame.ground.y));
        let lines = (1.0 - smoothstep(0.5 * width, 1.5 * width, off)) * clamp(0.25 / pixel, vec2f(0.0), vec2f(1.0));
        let far = 1.0 - smoothstep(0.5, 2.6, from_centre);
        colour *= 1.0 - 0.16 * max(lines.x, lines.y) * far;
    }
    return vec4f(encoded(colour), 1.0);
}
