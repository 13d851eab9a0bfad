// Bodies and cloth.

struct Item {
    world_from_item: mat4x4f,
    base: vec4f,        // w: opacity
    sheen: vec4f,       // w: 1 when two-sided
    finish: vec4f,      // roughness, specular, flatness, 1 when colours come per vertex
    depth: vec4f,       // x: depth slack in metres, y: 1 for a ghost, w: opacity of the picture below which nothing is drawn
    cloth: vec4f,       // x: strength of folds, y: width of the hem in metres, z: 1 with a picture, w: vertices of a flock's member
}

@group(1) @binding(0) var<uniform> item: Item;
@group(1) @binding(1) var picture: texture_2d<f32>;
@group(1) @binding(2) var picture_sampler: sampler;

// For the wireframe the corners are fetched by hand: only then does each triangle have corners of its own.
@group(2) @binding(0) var<storage, read> corners: array<u32>;
@group(2) @binding(1) var<storage, read> vertices: array<f32>;

// A flock: its members' vertices one after another, their colours, what all share, and who is drawn.
@group(2) @binding(0) var<storage, read> member_positions: array<f32>;
@group(2) @binding(1) var<storage, read> member_normals: array<f32>;
@group(2) @binding(2) var<storage, read> member_colours: array<vec4f>;
@group(2) @binding(3) var<storage, read> member_leads: array<f32>;
@group(2) @binding(4) var<storage, read> member_list: array<u32>;

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
    @location(3) corner: vec3f,
    @location(4) sky: vec2f,    // light from above on the outside and on the inside
    @location(5) detail: vec2f, // depth of the fold, metres to the nearest open edge
    @location(6) uv: vec2f,     // place in the picture
}

fn outer_and_inner_sky(world: vec3f, n: vec3f, taps: i32) -> vec2f {
    let outer = sky_light(world + 0.015 * n, 0.10, taps);
    if item.sheen.w > 0.5 {
        return vec2f(outer, sky_light(world - 0.015 * n, 0.10, taps));
    }
    return vec2f(outer);
}

// `detail` is the lead in metres, the depth of the fold and the distance to the nearest open edge.
fn placed(
    position: vec3f,
    normal: vec3f,
    colour: vec3f,
    detail: vec3f,
    uv: vec2f,
    corner: vec3f,
    sky_taps: i32,
) -> Varying {
    var out: Varying;
    out.uv = uv;
    out.world = (item.world_from_item * vec4f(position, 1.0)).xyz;
    out.normal = (item.world_from_item * vec4f(normal, 0.0)).xyz;
    out.colour = mix(item.base.rgb, colour, item.finish.w);
    out.corner = corner;
    out.detail = detail.yz;
    let n = normalize(out.normal + vec3f(0.0, 1e-6, 0.0));
    out.sky = vec2f(0.94);
    if sky_taps > 0 {
        out.sky = outer_and_inner_sky(out.world, n, sky_taps);
    }
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    // Depth is near / w with w the view depth in metres. Dividing by w - slack instead moves the surface towards
    // the eye for the depth test alone: the test becomes "discard iff d_cloth - slack > d_body"
    // (de Aguiar et al. 2010, section 6.2). A lead does the same for one vertex: what leads by the slack is compared as it is.
    out.clip.z *= out.clip.w / max(out.clip.w - item.depth.x - detail.x, 0.5 * out.clip.w);
    return out;
}

@vertex
fn vs_surface(
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
    @location(3) detail: vec3f,
    @location(4) uv: vec2f,
) -> Varying {
    return placed(position, normal, colour, detail, uv, vec3f(1.0), 14);
}

@vertex
fn vs_wire(@builtin(vertex_index) index: u32) -> Varying {
    let v = 14u * corners[index];
    var corner = vec3f(0.0);
    corner[index % 3u] = 1.0;
    return placed(
        vec3f(vertices[v], vertices[v + 1u], vertices[v + 2u]),
        vec3f(vertices[v + 3u], vertices[v + 4u], vertices[v + 5u]),
        vec3f(vertices[v + 6u], vertices[v + 7u], vertices[v + 8u]),
        vec3f(vertices[v + 9u], vertices[v + 10u], vertices[v + 11u]),
        vec2f(vertices[v + 12u], vertices[v + 13u]),
        corner,
        14,
    );
}

@vertex
fn vs_flock(@builtin(vertex_index) vertex: u32, @builtin(instance_index) listed: u32) -> Varying {
    let member = member_list[listed];
    let v = 3u * (member * u32(item.cloth.w) + vertex);
    return placed(
        vec3f(member_positions[v], member_positions[v + 1u], member_positions[v + 2u]),
        vec3f(member_normals[v], member_normals[v + 1u], member_normals[v + 2u]),
        member_colours[member].rgb,
        vec3f(member_leads[vertex], 0.0, 1.0),
        vec2f(0.0),
        vec3f(1.0),
        0,
    );
}

const PI = 3.14159265;

// One light's highlight and fuzz, both without its colour. The highlight is GGX with Schlick's Fresnel and
// Hammon's joint visibility; the fuzz is the inverted Gaussian of Estevez and Kulla 2017 with Neubelt's visibility.
fn gloss(n: vec3f, v: vec3f, l: vec3f, roughness: f32) -> vec2f {
    let nl = dot(n, l);
    if nl <= 0.0 {
        return vec2f(0.0);
    }
    let h = normalize(v + l);
    let nv = max(dot(n, v), 0.02);
    let nh = clamp(dot(n, h), 0.0, 1.0);
    let a = roughness * roughness;
    let k = nh * nh * (a * a - 1.0) + 1.0;
    let d = a * a / (PI * k * k);
    let visible = 0.5 / mix(2.0 * nl * nv, nl + nv, a);
    let away = 1.0 - max(dot(v, h), 0.0);
    let away2 = away * away;
    let fresnel = 0.04 + 0.96 * away2 * away2 * away;
    // Exponent 2 is a roughness of 0.5, and needs no power.
    let fibres = 4.0 * (1.0 - nh * nh) / (2.0 * PI);
    return nl * vec2f(d * visible * fresnel, fibres / (4.0 * (nl + nv - nl * nv)));
}

// Keeps colours as painted up to 0.8 and rolls off above (Khronos PBR Neutral, 2024). Of what it takes off for the mirror of a
// smooth solid only a third: cloth has less of it, and its dyes would come out too pure.
fn tone(light: vec3f) -> vec3f {
    let least = min(light.r, min(light.g, light.b));
    let offset = 0.33 * select(0.04, least - 6.25 * least * least, least < 0.08);
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
    var sky = in.sky.x;
    var inside = 1.0;
    var fold = in.detail.x * item.cloth.x;
    if item.sheen.w > 0.5 && !front {
        n = -n;
        sky = in.sky.y;
        inside = 0.78;
        fold = -fold;
    }
    // The bottom of a fold sees less of the room, its crest a little more.
    let open = 1.0 - 0.42 * smoothstep(0.0, 1.0, fold) + 0.10 * smoothstep(0.0, 1.0, -fold);
    sky *= open;
    let roughness = clamp(item.finish.x, 0.08, 1.0);
    var base = in.colour;
    if item.cloth.z > 0.5 {
        base *= textureSample(picture, picture_sampler, in.uv).rgb;
    }
    if item.cloth.y > 0.0 {
        // A row of stitches where the hem ends: a dark groove, gone where it is finer than a pixel.
        let off = abs(in.detail.y - item.cloth.y);
        let pixel = max(fwidth(in.detail.y), 1e-6);
        let groove = 1.0 - smoothstep(0.0, max(0.0022, 1.2 * pixel), off);
        base *= 1.0 - 0.34 * groove * clamp(0.004 / pixel, 0.0, 1.0);
        // Turned-in cloth is double and catches more light.
        base *= 1.0 + 0.05 * (1.0 - smoothstep(item.cloth.y - pixel, item.cloth.y, in.detail.y));
    }
    let key = frame.key_direction.xyz;
    let fill = frame.fill_direction.xyz;
    let rim = frame.rim_direction.xyz;

    // A little wrap keeps the terminator of skin and cloth from looking like a cut.
    let towards_key = dot(n, key);
    var key_cos = max(towards_key * 0.9 + 0.1, 0.0);
    var lit = 0.0;
    if key_cos > 0.0 {
        let off = max(0.004, 1.2 * frame.texel_m.x) + 0.012 * (1.0 - clamp(towards_key, 0.0, 1.0));
        lit = key_light(in.world + off * n, 0.006, 0.022, 4, 10);
        key_cos *= lit * mix(1.0, open, 0.5);
    }

    let key_colour = vec3f(1.0, 0.965, 0.925) * 3.1;
    let fill_colour = vec3f(0.88, 0.94, 1.0) * 0.62;
    let rim_colour = vec3f(0.95, 0.97, 1.0) * 1.7;
    let fill_cos = max(dot(n, fill) * 0.75 + 0.25, 0.0) * mix(0.5, 1.0, sky);
    let rim_cos = max(dot(n, rim), 0.0);
    let up = 0.5 + 0.5 * n.y;
    let ambient = mix(vec3f(0.25, 0.235, 0.22), vec3f(0.40, 0.42, 0.45), up) * mix(0.25, 1.0, sky);

    var out = base / PI * (key_colour * key_cos + fill_colour * fill_cos + 0.5 * rim_colour * rim_cos);
    out += base * ambient;
    let key_gloss = gloss(n, v, key, roughness) * lit;
    let fill_gloss = gloss(n, v, fill, roughness);
    let rim_gloss = gloss(n, v, rim, max(roughness, 0.35)) * vec2f(0.6, 1.0);
    let facing = 1.0 - max(dot(n, v), 0.0);
    let facing2 = facing * facing;
    out += item.finish.y * (key_colour * key_gloss.x + fill_colour * fill_gloss.x + rim_colour * rim_gloss.x);
    out += item.sheen.rgb * (key_colour * key_gloss.y + fill_colour * fill_gloss.y + rim_colour * rim_gloss.y
        + 1.6 * ambient * facing2 * facing2);
    out += rim_colour * 0.06 * facing2 * facing * (0.4 + rim_cos) * sky;
    return mix(tone(out * inside), base * mix(0.5, 1.0, key_cos) * inside, item.finish.z);
}

// A ghost is more solid where it is seen edge-on, so that its outline reads.
fn opacity(in: Varying) -> f32 {
    let v = normalize(frame.eye.xyz - in.world);
    let facing = abs(dot(normalize(in.normal + vec3f(0.0, 1e-6, 0.0)), v));
    return select(1.0, mix(min(1.0, item.base.a + 0.45), item.base.a, smoothstep(0.0, 0.6, facing)), item.depth.y > 0.5);
}

@fragment
fn fs_surface(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    return vec4f(encoded(shaded(in, front)), opacity(in));
}

// Hair, lashes and lace: nothing where the picture has next to nothing.
@fragment
fn fs_cutout(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let colour = vec4f(encoded(shaded(in, front)), opacity(in));
    if textureSample(picture, picture_sampler, in.uv).a < item.depth.w {
        discard;
    }
    return colour;
}

@fragment
fn fs_wire(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let width = fwidth(in.corner);
    let edge = smoothstep(vec3f(0.35) * width, vec3f(1.25) * width, in.corner);
    // Where triangles are smaller than a few pixels the lines would paint everything dark.
    let room = 1.0 - smoothstep(0.20, 0.60, max(width.x, max(width.y, width.z)));
    let line = (1.0 - min(edge.x, min(edge.y, edge.z))) * room * 0.65;
    return vec4f(mix(encoded(shaded(in, front)), vec3f(0.12, 0.13, 0.15), line), opacity(in));
}

// For the depth of a ghost.
@fragment
fn fs_nothing() -> @location(0) vec4f {
    return vec4f(0.0);
}
