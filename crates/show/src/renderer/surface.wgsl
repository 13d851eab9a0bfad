// Bodies and cloth.

struct Item {
    world_from_item: mat4x4f,
    base: vec4f,        // w: opacity
    sheen: vec4f,       // w: 1 when two-sided
    finish: vec4f,      // roughness, specular, flatness, 1 when colours come per vertex
    depth: vec4f,       // x: depth slack in metres, y: 1 for a ghost
}

@group(1) @binding(0) var<uniform> item: Item;

// For the wireframe the corners are fetched by hand: only then does each triangle have corners of its own.
@group(2) @binding(0) var<storage, read> corners: array<u32>;
@group(2) @binding(1) var<storage, read> vertices: array<f32>;

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
    @location(3) corner: vec3f,
}

fn placed(position: vec3f, normal: vec3f, colour: vec3f, corner: vec3f) -> Varying {
    var out: Varying;
    out.world = (item.world_from_item * vec4f(position, 1.0)).xyz;
    out.normal = (item.world_from_item * vec4f(normal, 0.0)).xyz;
    out.colour = mix(item.base.rgb, colour, item.finish.w);
    out.corner = corner;
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    // Depth is near / w with w the view depth in metres. Dividing by w - slack instead moves the surface towards
    // the eye for the depth test alone: the test becomes "discard iff d_cloth - slack > d_body"
    // (de Aguiar et al. 2010, section 6.2).
    out.clip.z *= out.clip.w / max(out.clip.w - item.depth.x, 0.5 * out.clip.w);
    return out;
}

@vertex
fn vs_surface(
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
) -> Varying {
    return placed(position, normal, colour, vec3f(1.0));
}

@vertex
fn vs_wire(@builtin(vertex_index) index: u32) -> Varying {
    let v = 9u * corners[index];
    var corner = vec3f(0.0);
    corner[index % 3u] = 1.0;
    return placed(
        vec3f(vertices[v], vertices[v + 1u], vertices[v + 2u]),
        vec3f(vertices[v + 3u], vertices[v + 4u], vertices[v + 5u]),
        vec3f(vertices[v + 6u], vertices[v + 7u], vertices[v + 8u]),
        corner,
    );
}

const PI = 3.14159265;

// GGX with Schlick's Fresnel and Hammon's joint visibility.
fn highlight(n: vec3f, v: vec3f, l: vec3f, roughness: f32) -> f32 {
    let h = normalize(v + l);
    let nl = max(dot(n, l), 0.0);
    let nv = max(dot(n, v), 0.02);
    let nh = max(dot(n, h), 0.0);
    let a = roughness * roughness;
    let k = nh * nh * (a * a - 1.0) + 1.0;
    let d = a * a / (PI * k * k);
    let visible = 0.5 / mix(2.0 * nl * nv, nl + nv, a);
    let fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(v, h), 0.0), 5.0);
    return d * visible * fresnel * nl;
}

// Fuzz: the inverted Gaussian of Estevez and Kulla 2017 with Neubelt's visibility.
fn fuzz(n: vec3f, v: vec3f, l: vec3f) -> f32 {
    let h = normalize(v + l);
    let nl = max(dot(n, l), 0.0);
    let nv = max(dot(n, v), 0.02);
    let nh = dot(n, h);
    let sin_h = sqrt(max(1.0 - nh * nh, 0.0));
    let inverse = 1.0 / 0.45;
    let d = (2.0 + inverse) * pow(sin_h, inverse) / (2.0 * PI);
    return d * nl / (4.0 * (nl + nv - nl * nv));
}

// Keeps colours as painted up to 0.8 and rolls off above (Khronos PBR Neutral, 2024).
fn tone(light: vec3f) -> vec3f {
    let least = min(light.r, min(light.g, light.b));
    let offset = select(0.04, least - 6.25 * least * least, least < 0.08);
    let c = light - offset;
    let peak = max(c.r, max(c.g, c.b));
    let start = 0.76;
    if peak < start {
        return c;
    }
    let d = 1.0 - start;
    let rolled = 1.0 - d * d / (peak + d - start);
    let bleach = 1.0 - 1.0 / (0.15 * (peak - rolled) + 1.0);
    return mix(c * rolled / peak, vec3f(rolled), bleach);
}

fn shaded(in: Varying, front: bool) -> vec3f {
    let v = normalize(frame.eye.xyz - in.world);
    var n = normalize(in.normal + vec3f(0.0, 1e-6, 0.0));
    var inside = 1.0;
    if item.sheen.w > 0.5 && !front {
        n = -n;
        inside = 0.72;
    }
    let roughness = clamp(item.finish.x, 0.08, 1.0);
    let base = in.colour;
    let key = frame.key_direction.xyz;
    let fill = frame.fill_direction.xyz;
    let rim = frame.rim_direction.xyz;

    let lit = key_light(in.world, n, 0.03, 12);
    let sky = sky_light(in.world, n, 0.10);

    let key_colour = vec3f(1.0, 0.965, 0.92) * 2.35;
    let fill_colour = vec3f(0.86, 0.93, 1.0) * 0.42;
    let rim_colour = vec3f(0.95, 0.97, 1.0) * 1.25;

    // A little wrap keeps the terminator of skin and cloth from looking like a cut.
    let key_cos = max(dot(n, key) * 0.92 + 0.08, 0.0) * lit;
    let fill_cos = max(dot(n, fill) * 0.7 + 0.3, 0.0);
    let rim_cos = max(dot(n, rim), 0.0);
    let up = 0.5 + 0.5 * n.y;
    let ambient = mix(vec3f(0.34, 0.32, 0.30), vec3f(0.60, 0.63, 0.68), up) * mix(0.35, 1.0, sky);

    var out = base / PI * (key_colour * key_cos + fill_colour * fill_cos + 0.35 * rim_colour * rim_cos);
    out += base * ambient * 0.62;
    let shine = item.finish.y;
    out += shine * (key_colour * lit * highlight(n, v, key, roughness)
        + fill_colour * highlight(n, v, fill, roughness)
        + rim_colour * 0.6 * highlight(n, v, rim, max(roughness, 0.35)));
    out += item.sheen.rgb * (key_colour * lit * fuzz(n, v, key)
        + fill_colour * fuzz(n, v, fill) + rim_colour * fuzz(n, v, rim)
        + ambient * 0.9 * pow(1.0 - max(dot(n, v), 0.0), 4.0));
    let facing = 1.0 - max(dot(n, v), 0.0);
    out += rim_colour * 0.05 * facing * facing * facing * (0.4 + rim_cos) * sky;
    return mix(tone(out * inside), base * mix(0.55, 1.0, key_cos), item.finish.z);
}

// A ghost is more solid where it is seen edge-on, so that its outline reads.
fn opacity(in: Varying) -> f32 {
    let v = normalize(frame.eye.xyz - in.world);
    let facing = abs(dot(normalize(in.normal + vec3f(0.0, 1e-6, 0.0)), v));
    return select(1.0, mix(min(1.0, item.base.a + 0.45), item.base.a, smoothstep(0.0, 0.6, facing)), item.depth.y > 0.5);
}

@fragment
fn fs_surface(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    return vec4f(shaded(in, front), opacity(in));
}

@fragment
fn fs_wire(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let width = fwidth(in.corner);
    let edge = smoothstep(vec3f(0.35) * width, vec3f(1.25) * width, in.corner);
    // Where triangles are smaller than a few pixels the lines would paint everything dark.
    let room = 1.0 - smoothstep(0.12, 0.40, max(width.x, max(width.y, width.z)));
    let line = (1.0 - min(edge.x, min(edge.y, edge.z))) * room * 0.65;
    return vec4f(mix(shaded(in, front), vec3f(0.02, 0.025, 0.035), line), opacity(in));
}

// For the depth of a ghost.
@fragment
fn fs_nothing() -> @location(0) vec4f {
    return vec4f(0.0);
}
