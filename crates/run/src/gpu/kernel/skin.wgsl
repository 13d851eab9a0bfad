// Vertices of a model D from the bind pose to where their bones are, and out of the body: a workgroup an instance.
//
// The arithmetic is that of the processor's kernels (`skin.rs`, `push.rs`, `limbs.rs`). Bones, limbs and points of the skin are
// posed once, in workgroup memory, and as little of it as can be: what is there for one instance keeps others from
// running. A vertex a thread, in an order in which those that meet the same limbs go together: first those that lead, then those
// that are held only against what leaders beside them were in.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> bones: array<vec4<f32>>;
// BONES for each vertex, then BONES for each point of the skin: which, and the weight.
@group(0) @binding(4) var<storage, read> hung: array<vec2<u32>>;
// For each vertex limbs that it meets often and that it may meet, its number in the garment times eight and how many points it is
// near, the first two points; then the others; then its outward direction and the bone that turns it; then the leaders that it listens
// to, two in a number and counted from 1, and what it looks for all the same; then of every panel of leaders which limbs any of
// it may meet.
@group(0) @binding(5) var<storage, read> guards: array<vec4<u32>>;
// Eight for each limb, then two for each point of the skin.
@group(0) @binding(6) var<storage, read> shapes: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> vertices: array<f32>;

const PANELS = (LEADERS + PANEL - 1u) / PANEL;
// What is found, besides the limbs.
const SKIN = 1u << 31u;
const IN_TRUNK = select(0u, 1u << min(FIRST_OF_TRUNK, 31u), FIRST_OF_TRUNK < LIMBS);
const SHAPE = 8u;
// Four rows and one of nothing: at a stride of four all limbs would lie in the same two banks.
const LIMB = 5u;
// A divisor is never nothing.
const LIMB_ROWS = max(LIMBS, 1u);
var<workgroup> bone_world: array<vec4<f32>, 3u * JOINTS>;
// Middle; along; the two axes of its ellipse, each over its length.
var<workgroup> limb_world: array<vec4<f32>, LIMB * LIMBS + 1u>;
// A ball about all parts of the trunk: most vertices are beyond it.
var<workgroup> trunk: vec4<f32>;
// Place, and the normal in two halves.
var<workgroup> skin_world: array<vec4<f32>, POINTS + 1u>;
// Low and high corners of the boxes about panels.
var<workgroup> boxes: array<f32, BOXES>;
var<workgroup> near_panel: array<atomic<u32>, PANELS>;
// What leaders were in.
var<workgroup> told: array<u32, TOLD>;

struct Blend {
    x: vec3<f32>,
    y: vec3<f32>,
    z: vec3<f32>,
    at: vec3<f32>,
}

fn bone(j: u32) -> Blend {
    let a = bone_world[3u * j];
    let b = bone_world[3u * j + 1u];
    let c = bone_world[3u * j + 2u];
    return Blend(a.xyz, vec3<f32>(a.w, b.xy), vec3<f32>(b.zw, c.x), c.yzw);
}

fn turned(m: Blend, v: vec3<f32>, from_: vec3<f32>) -> vec3<f32> {
    return fma(m.x, vec3<f32>(v.x), fma(m.y, vec3<f32>(v.y), fma(m.z, vec3<f32>(v.z), from_)));
}

// The blended matrix of what hangs on BONES bones, from `first` on and `stride` apart.
fn blend(first: u32, stride: u32) -> Blend {
    var a = vec4<f32>();
    var b = vec4<f32>();
    var c = vec4<f32>();
    for (var k = 0u; k < BONES; k++) {
        let entry = hung[first + k * stride];
        let w = vec4<f32>(bitcast<f32>(entry.y));
        a = fma(bone_world[3u * entry.x], w, a);
        b = fma(bone_world[3u * entry.x + 1u], w, b);
        c = fma(bone_world[3u * entry.x + 2u], w, c);
    }
    return Blend(a.xyz, vec3<f32>(a.w, b.xy), vec3<f32>(b.zw, c.x), c.yzw);
}

// A unit vector as two numbers of 16 bits, on an octahedron folded flat.
fn fold(n: vec3<f32>) -> f32 {
    let flat = n.xy / max(abs(n.x) + abs(n.y) + abs(n.z), 1e-30);
    let signs = select(vec2<f32>(-1.0), vec2<f32>(1.0), flat >= vec2<f32>());
    let folded = select(flat, (1.0 - abs(flat.yx)) * signs, n.z < 0.0);
    return bitcast<f32>(pack2x16snorm(folded));
}

fn unfold(packed: f32) -> vec3<f32> {
    let flat = unpack2x16snorm(bitcast<u32>(packed));
    let z = 1.0 - abs(flat.x) - abs(flat.y);
    let over = max(-z, 0.0);
    let n = vec3<f32>(flat - over * select(vec2<f32>(-1.0), vec2<f32>(1.0), flat >= vec2<f32>()), z);
    return n * inverseSqrt(dot(n, n));
}

// The bones of the present pose in the world, relative to the origin.
fn pose_bones(i: u32, thread: u32) {
    let x = poses[6u * i];
    let y = poses[6u * i + 1u];
    let z = poses[6u * i + 2u];
    let canonical = mat3x3<f32>(x.xyz, y.xyz, z.xyz);
    let root = vec3<f32>(x.w, y.w, z.w);
    let s = poses[6u * i + 5u].x;
    let c = poses[6u * i + 5u].y;
    let heading = mat3x3<f32>(vec3<f32>(c, 0.0, -s), vec3<f32>(0.0, 1.0, 0.0), vec3<f32>(s, 0.0, c));
    let high = poses[6u * i + 3u] - step.origin_high;
    let low = poses[6u * i + 4u] - step.origin_low;
    let shift = high.xyz + low.xyz;
    for (var j = thread; j < JOINTS; j += THREADS) {
        let at = 3u * (i * JOINTS + j);
        let a = bones[at];
        let b = bones[at + 1u];
        let d = bones[at + 2u];
        let cx = heading * (canonical * a.xyz);
        let cy = heading * (canonical * vec3<f32>(a.w, b.xy));
        let cz = heading * (canonical * vec3<f32>(b.zw, d.x));
        let t = heading * (canonical * d.yzw - root) + shift;
        bone_world[3u * j] = vec4<f32>(cx, cy.x);
        bone_world[3u * j + 1u] = vec4<f32>(cy.yz, cz.xy);
        bone_world[3u * j + 2u] = vec4<f32>(cz.z, t);
    }
}

// From the limbs, once they are posed.
fn pose_trunk() {
    var middle = vec3<f32>();
    for (var k = FIRST_OF_TRUNK; k < LIMBS; k++) {
        middle += limb_world[LIMB * k].xyz / f32(LIMBS - FIRST_OF_TRUNK);
    }
    var far = 0.0;
    for (var k = FIRST_OF_TRUNK; k < LIMBS; k++) {
        far = max(far, distance(middle, limb_world[LIMB * k].xyz));
    }
    trunk = vec4<f32>(middle, (far + TRUNK_REACH) * (far + TRUNK_REACH));
}

// The matrix of a limb, or of what lies between two.
fn limb_bone(j: u32, other: u32) -> Blend {
    let a = bone(j);
    if (j == other) {
        return a;
    }
    let b = bone(other);
    return Blend(0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z), 0.5 * (a.at + b.at));
}

// Between two limbs that part directions get shorter.
fn unshortened(m: Blend, v: vec3<f32>, is_between: bool) -> vec3<f32> {
    let out = turned(m, v, vec3<f32>());
    if (!is_between) {
        return out;
    }
    return out * inverseSqrt((dot(out, out) + 1e-12) / dot(v, v));
}

fn pose_limbs(thread: u32) {
    for (var k = thread; k < LIMBS; k += THREADS) {
        let middle = shapes[SHAPE * k];
        let along = shapes[SHAPE * k + 1u];
        let long = shapes[SHAPE * k + 2u].xyz;
        let wide = shapes[SHAPE * k + 3u].xyz;
        let m = limb_bone(u32(middle.w), u32(along.w));
        let is_between = middle.w != along.w;
        limb_world[LIMB * k] = vec4<f32>(turned(m, middle.xyz, m.at), 0.0);
        limb_world[LIMB * k + 1u] = vec4<f32>(unshortened(m, along.xyz, is_between), 0.0);
        limb_world[LIMB * k + 2u] = vec4<f32>(unshortened(m, long, is_between), 0.0);
        limb_world[LIMB * k + 3u] = vec4<f32>(unshortened(m, wide, is_between), 0.0);
    }
}

fn pose_skin(thread: u32) {
    // The last thread has least to do.
    if (thread == THREADS - 1u) {
        pose_trunk();
    }
    for (var p = thread; p < POINTS; p += THREADS) {
        let m = blend(BONES * GARMENT + p, POINTS);
        let at = SHAPE * LIMBS + 2u * p;
        let normal = turned(m, shapes[at + 1u].xyz, vec3<f32>());
        skin_world[p] = vec4<f32>(turned(m, shapes[at].xyz, m.at), fold(normal));
    }
}

// How far a box is beyond `reach` in a direction of a limb.
fn gap(apart: vec3<f32>, half: vec3<f32>, way: vec3<f32>, reach: f32) -> f32 {
    return abs(dot(apart, way)) - (dot(half, abs(way)) + reach);
}

// The boxes about the panels of carried vertices: a thread a panel and axis.
fn make_boxes(i: u32, thread: u32) {
    for (var e = thread; e < 3u * PANELS; e += THREADS) {
        let panel = e / 3u;
        let axis = e % 3u;
        var low = 1e30;
        var high = -1e30;
        for (var s = panel * PANEL; s < min((panel + 1u) * PANEL, LEADERS); s++) {
            let at = vertices[3u * (i * VERTICES + (guards[s].z >> 3u)) + axis];
            low = min(low, at);
            high = max(high, at);
        }
        boxes[6u * panel + axis] = low;
        boxes[6u * panel + 3u + axis] = high;
    }
    for (var panel = thread; panel < PANELS; panel += THREADS) {
        atomicStore(&near_panel[panel], 0u);
    }
}

// Which of the limbs that a panel of vertices may meet are near it: a thread a panel and limb.
fn look_near(thread: u32) {
    for (var e = thread; e < PANELS * LIMBS; e += THREADS) {
        let panel = e / LIMB_ROWS;
        let k = e % LIMB_ROWS;
        if ((guards[4u * GARMENT + panel].x >> k & 1u) == 1u) {
            let low = vec3<f32>(boxes[6u * panel], boxes[6u * panel + 1u], boxes[6u * panel + 2u]);
            let high = vec3<f32>(boxes[6u * panel + 3u], boxes[6u * panel + 4u], boxes[6u * panel + 5u]);
            let half = 0.5 * (high - low);
            let apart = 0.5 * (low + high) - limb_world[LIMB * k].xyz;
            let beside = shapes[SHAPE * k + 7u].x;
            let along = gap(apart, half, limb_world[LIMB * k + 1u].xyz, shapes[SHAPE * k + 7u].y);
            let long = gap(apart, half, limb_world[LIMB * k + 2u].xyz, beside);
            let wide = gap(apart, half, limb_world[LIMB * k + 3u].xyz, beside);
            if (max(along, max(long, wide)) < 0.0) {
                atomicOr(&near_panel[panel], 1u << k);
            }
        }
    }
}

// Moves a vertex out of the limbs of `bits`: those that it was within, and whether it was within several.
fn clear(v: u32, bits_: u32, point: ptr<function, vec3<f32>>) -> vec2<u32> {
    var within = vec2<u32>(0u, 0u);
    var bits = bits_;
    while (bits != 0u) {
        let k = firstTrailingBit(bits);
        bits &= bits - 1u;
        let apart = *point - limb_world[LIMB * k].xyz;
        let place = dot(apart, limb_world[LIMB * k + 1u].xyz);
        let long = limb_world[LIMB * k + 2u].xyz;
        let wide = limb_world[LIMB * k + 3u].xyz;
        let powers = vec4<f32>(1.0, place, place * place, place * place * place);
        let middle_u = shapes[SHAPE * k + 4u];
        let middle_v = shapes[SHAPE * k + 5u];
        let middle = vec2<f32>(dot(middle_u.xyz, powers.xyz), dot(middle_v.xyz, powers.xyz));
        // In the ellipse's measure, in which it is round.
        let at = vec2<f32>(dot(apart, long), dot(apart, wide)) - middle;
        let at_sq = dot(at, at) + 1e-12;
        let reach = dot(shapes[SHAPE * k + 6u], powers);
        if (abs(place) >= 1.0 || at_sq >= reach * reach) {
            continue;
        }
        let missing = reach - at_sq * inverseSqrt(at_sq);
        // It goes straight away from the middle where it is hardly inside; the deeper it is, the more towards the side that
        // is out of the body for it. Which way that is, is the limb's affair.
        let sign = shapes[SHAPE * k + 7u].z;
        let outward = guards[2u * GARMENT + v];
        let m = bone(outward.w);
        let out = sign * turned(m, bitcast<vec3<f32>>(outward.xyz), vec3<f32>());
        let to = fma(vec2<f32>(dot(out, long), dot(out, wide)), vec2<f32>(missing), at);
        let fade = min((1.0 - abs(place)) * (1.0 / FADE), 1.0);
        let by = (to * (reach * inverseSqrt(dot(to, to) + 1e-12)) - at) * fade;
        *point += long * (by.x * middle_u.w) + wide * (by.y * middle_v.w);
        within.y |= u32(within.x != 0u);
        within.x |= 1u << k;
    }
    return within;
}

// Moves a vertex to the plane of the nearest point of the skin where it is behind it: whether it was, and whether it
// is near none.
fn off_the_skin(v: u32, count: u32, first: u32, point: ptr<function, vec3<f32>>) -> vec2<bool> {
    var nearest = NEAR_SQ;
    var from_ = vec3<f32>();
    var normal = 0.0;
    var pair = first;
    for (var k = 0u; k < count; k++) {
        if (k == 2u || k == 4u) {
            pair = guards[GARMENT + v][k / 2u - 1u];
        }
        let p = skin_world[pair & 0xffffu];
        pair = pair >> 16u;
        let apart = *point - p.xyz;
        let apart_sq = dot(apart, apart);
        if (apart_sq < nearest) {
            nearest = apart_sq;
            from_ = apart;
            normal = p.w;
        }
    }
    let is_far = nearest >= NEAR_SQ;
    if (is_far) {
        return vec2<bool>(false, true);
    }
    let way = unfold(normal);
    let moved = min(max(MARGIN - dot(from_, way), 0.0), LIMIT);
    *point += way * moved;
    return vec2<bool>(moved > 0.0, false);
}

// What a follower was told by the leaders beside it, or looks for all the same.
fn heard(v: u32) -> u32 {
    let listens = guards[3u * GARMENT + v];
    var bits = listens.z;
    for (var k = 0u; k < 4u; k++) {
        let leader = listens[k / 2u] >> (16u * (k % 2u)) & 0xffffu;
        if (leader != 0u) {
            bits |= told[leader - 1u];
        }
    }
    return bits;
}

// What it was in. One that leads looks at all limbs that it meets often and at those of `near` that it may meet, one that follows at
// those of `near` alone.
fn push_out(v: u32, near: u32, leads: bool, point: ptr<function, vec3<f32>>) -> u32 {
    let from_ = *point;
    let guard = guards[v];
    let bits = select((guard.x | guard.y) & near, guard.x | (guard.y & near), leads) & ~TRUNK;
    let met = clear(v, bits, point);
    let is_met = met.x != 0u;
    var found = met.x;
    let is_free = guard.x != 0u;
    var skin = vec2<bool>(false, leads);
    let points = guard.z & 7u;
    if (points > 0u && (leads || is_met || (near & SKIN) != 0u)) {
        skin = off_the_skin(v, points, guard.w, point);
        found |= select(0u, SKIN, skin.x);
    }
    // What lies on no skin that it knows may be in the trunk.
    var again = met.y != 0u || (skin.x && is_met);
    let at_trunk = !leads && (near & IN_TRUNK) != 0u;
    if (is_met || again || (skin.y && is_free) || at_trunk) {
        let all = guard.x | (guard.y & select(near | TRUNK, near, leads));
        // Out of a limb may be into the trunk, and from there, out of skin or out of one thigh into another.
        let apart = *point - trunk.xyz;
        if (dot(apart, apart) < trunk.w) {
            let in_trunk = clear(v, all & TRUNK, point).x != 0u;
            found |= select(0u, IN_TRUNK, in_trunk);
            again = again || in_trunk;
        }
        if (again) {
            clear(v, all & ~TRUNK & ~ABOVE, point);
        }
        let by = *point - from_;
        let length_sq = dot(by, by);
        if (length_sq > LIMIT * LIMIT) {
            *point = from_ + by * (LIMIT / sqrt(length_sq));
        }
    }
    return found;
}

// The same of one that leads, for its followers.
fn lead(s: u32, near: u32, point: ptr<function, vec3<f32>>) {
    let found = push_out(s, near, true, point);
    if (HAS_FOLLOWERS) {
        told[s] = found;
    }
}

@compute @workgroup_size(THREADS)
fn hang(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = group.x + group.y * groups.x;
    if (i >= step.count) {
        return;
    }
    if (places[2u * i].z < 0.5) {
        return;
    }
    pose_bones(i, thread);
    workgroupBarrier();
    pose_limbs(thread);
    workgroupBarrier();
    pose_skin(thread);
    workgroupBarrier();
    for (var s = thread; s < GARMENT; s += THREADS) {
        let at = 3u * (i * VERTICES + (guards[s].z >> 3u));
        let m = blend(s, GARMENT);
        var point = turned(m, vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]), m.at);
        if (IS_GUARDED && !HAS_RARE && s < LEADERS) {
            lead(s, 0xffffffffu, &point);
        }
        vertices[at] = point.x;
        vertices[at + 1u] = point.y;
        vertices[at + 2u] = point.z;
    }
    if (IS_GUARDED && HAS_RARE) {
        storageBarrier();
        make_boxes(i, thread);
        workgroupBarrier();
        look_near(thread);
        workgroupBarrier();
        for (var s = thread; s < LEADERS; s += THREADS) {
            let at = 3u * (i * VERTICES + (guards[s].z >> 3u));
            var point = vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]);
            lead(s, atomicLoad(&near_panel[s / PANEL]), &point);
            vertices[at] = point.x;
            vertices[at + 1u] = point.y;
            vertices[at + 2u] = point.z;
        }
    }
    if (HAS_FOLLOWERS) {
        workgroupBarrier();
        storageBarrier();
        for (var s = LEADERS + thread; s < GARMENT; s += THREADS) {
            let near = heard(s);
            if (near == 0u) {
                continue;
            }
            let at = 3u * (i * VERTICES + (guards[s].z >> 3u));
            var point = vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]);
            push_out(s, near, false, &point);
            vertices[at] = point.x;
            vertices[at + 1u] = point.y;
            vertices[at + 2u] = point.z;
        }
    }
}
