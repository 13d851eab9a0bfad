// The wall and the ground: one colour, so that no horizon shows; the ground only darkens it where light is kept off.

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
}

@vertex
fn vs_backdrop(@builtin(vertex_index) index: u32) -> Varying {
    var out: Varying;
    let corner = vec2f(f32((index << 1u) & 2u), f32(index & 2u));
    out.clip = vec4f(corner * 2.0 - 1.0, 0.0, 1.0);
    out.world = vec3f(0.0);
    return out;
}

@fragment
fn fs_backdrop(in: Varying) -> @location(0) vec4f {
    return vec4f(backdrop(in.clip.xy * frame.picture.zw), 1.0);
}

@vertex
fn vs_ground(@builtin(vertex_index) index: u32) -> Varying {
    // Two triangles, counter-clockwise from above.
    let corner = vec2f(f32(index == 1u || index == 2u || index == 4u), f32(index == 2u || index == 4u || index == 5u));
    var out: Varying;
    let reach = 4.0 * frame.ground.z;
    let at = (corner * 2.0 - 1.0) * reach;
    out.world = vec3f(frame.centre.x + at.x, frame.ground.x, frame.centre.z - at.y);
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    return out;
}

@fragment
fn fs_ground(in: Varying) -> @location(0) vec4f {
    let wall = backdrop(in.clip.xy * frame.picture.zw);
    let from_centre = length(in.world.xz - frame.centre.xz) / frame.ground.z;
    let near = 1.0 - smoothstep(0.45, 1.0, from_centre);
    let line_at = in.world.xz / max(frame.ground.y, 1e-3);
    let line_width = max(fwidth(line_at), vec2f(1e-6));
    if near <= 0.0 && frame.ground.y <= 0.0 {
        return vec4f(wall, 1.0);
    }
    let up = vec3f(0.0, 1.0, 0.0);
    let lit = key_light(in.world, up, 0.11, 24);
    let sky = sky_light(in.world, up, 0.22);
    var shade = mix(0.62, 1.0, lit) * mix(0.60, 1.0, sky);
    // A pool of light around the subject.
    shade *= 1.0 + 0.035 * (1.0 - smoothstep(0.0, 0.8, from_centre));
    var colour = wall * mix(1.0, shade, near) * mix(vec3f(1.0), vec3f(0.985, 0.99, 1.0), (1.0 - lit) * near);
    if frame.ground.y > 0.0 {
        let off = abs(fract(line_at + 0.5) - 0.5);
        let width = max(line_width, vec2f(0.006 / frame.ground.y));
        let lines = (1.0 - smoothstep(0.5 * width, 1.5 * width, off)) * clamp(0.25 / line_width, vec2f(0.0), vec2f(1.0));
        let far = 1.0 - smoothstep(0.5, 2.6, from_centre);
        colour *= 1.0 - 0.16 * max(lines.x, lines.y) * far;
    }
    return vec4f(colour, 1.0);
}
