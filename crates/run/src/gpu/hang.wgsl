// Vertices of a model D from the bind pose to where their bones are, and out of the body: a workgroup an instance.
//
// The arithmetic is that of the processor's kernels (`skin.rs`, `push.rs`, `limbs.rs`), a vertex a thread. Bones, limbs and
// points of the skin are posed once, in workgroup memory.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> bones: array<vec4<f32>>;
// BONES for each vertex, then BONES for each point of the skin: which, and the weight.
@group(0) @binding(4) var<storage, read> hung: array<vec2<u32>>;
// For each vertex limbs that it meets often and that it may meet, how many points it is near, the bone of its outward
// direction; then the points, twice four; then the direction; then of every panel which limbs any of it may meet.
@group(0) @binding(5) var<storage, read> guards: array<vec4<u32>>;
// Ten for each limb, then two for each point of the skin.
@group(0) @binding(6) var<storage, read> shapes: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> vertices: array<f32>;

const PANEL = 16u;
const PANELS = (GARMENT + PANEL - 1u) / PANEL;
const SHAPE = 10u;
// A divisor is never nothing.
const LIMB_ROWS = max(LIMBS, 1u);
var<workgroup> bone_world: array<vec4<f32>, 3u * JOINTS>;
// Middle, along, across, to the side; behind them the square of half its length and how far it reaches.
var<workgroup> limb_world: array<vec4<f32>, 4u * LIMBS + 1u>;
// Place and normal.
var<workgroup> skin_world: array<vec2<f32>, 3u * POINTS + 1u>;
// Low and high corners of the boxes about panels.
var<workgroup> boxes: array<f32, 6u * PANELS>;
var<workgroup> near_panel: array<atomic<u32>, PANELS>;

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

fn pose_body(thread: u32) {
    for (var k = thread; k < LIMBS; k += THREADS) {
        let middle = shapes[SHAPE * k];
        let m = bone(u32(middle.w));
        limb_world[4u * k] = vec4<f32>(turned(m, middle.xyz, m.at), 0.0);
        //: repeat n 3
        let way$n = shapes[SHAPE * k + 1u + $nu];
        limb_world[4u * k + 1u + $nu] = vec4<f32>(turned(m, way$n.xyz, vec3<f32>()), way$n.w);
        //: end
    }
    for (var p = thread; p < POINTS; p += THREADS) {
        let m = blend(BONES * GARMENT + p, POINTS);
        let at = turned(m, shapes[SHAPE * LIMBS + 2u * p].xyz, m.at);
        let n = turned(m, shapes[SHAPE * LIMBS + 2u * p + 1u].xyz, vec3<f32>());
        // Blended rotations shorten what they turn.
        let normal = n * inverseSqrt(dot(n, n));
        skin_world[3u * p] = at.xy;
        skin_world[3u * p + 1u] = vec2<f32>(at.z, normal.x);
        skin_world[3u * p + 2u] = normal.yz;
    }
}

// How far a box is beyond `reach` in a direction of a limb.
fn gap(apart: vec3<f32>, half: vec3<f32>, way: vec3<f32>, reach: f32) -> f32 {
    return abs(dot(apart, way)) - (dot(half, abs(way)) + reach);
}

// The boxes about the panels of carried vertices: a thread a panel, axis and side.
fn make_boxes(i: u32, thread: u32) {
    for (var e = thread; e < 6u * PANELS; e += THREADS) {
        let panel = e / 6u;
        let axis = e % 3u;
        let sign = select(1.0, -1.0, e % 6u > 2u);
        let begin = panel * PANEL;
        var least = 1e30;
        for (var v = begin; v < min(begin + PANEL, GARMENT); v++) {
            least = min(least, sign * vertices[3u * (i * VERTICES + v) + axis]);
        }
        boxes[e] = sign * least;
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
            let apart = 0.5 * (low + high) - limb_world[4u * k].xyz;
            let reach = shapes[SHAPE * k + 9u];
            let along = gap(apart, half, limb_world[4u * k + 1u].xyz, reach.y);
            let across = gap(apart, half, limb_world[4u * k + 2u].xyz, reach.x);
            let side = gap(apart, half, limb_world[4u * k + 3u].xyz, reach.x);
            if (max(along, max(across, side)) < 0.0) {
                atomicOr(&near_panel[panel], 1u << k);
            }
        }
    }
}

// The radius of a limb, with the margin, in a unit direction.
fn radius(first: vec4<f32>, last: f32, margin: f32, c: f32, s: f32) -> f32 {
    return first.x + margin + first.y * c + first.z * s + first.w * (c * c - s * s) + last * 2.0 * c * s;
}

// Moves a vertex out of the limbs of `bits`: whether it was within any, and within several.
fn clear(v: u32, bits_: u32, point: ptr<function, vec3<f32>>) -> vec2<bool> {
    var within = vec2<bool>(false, false);
    var bits = bits_;
    while (bits != 0u) {
        let k = firstTrailingBit(bits);
        bits &= bits - 1u;
        let apart = *point - limb_world[4u * k].xyz;
        let along = limb_world[4u * k + 1u];
        let across = limb_world[4u * k + 2u];
        let side = limb_world[4u * k + 3u];
        let place = dot(apart, along.xyz);
        let reach = fma(place, side.w, across.w);
        let beyond = dot(apart, apart) - place * along.w * place - reach * reach;
        if (abs(place) >= 1.0 || beyond >= 0.0) {
            continue;
        }
        let x_way = across.xyz;
        let y_way = side.xyz;
        let at = vec2<f32>(dot(apart, x_way), dot(apart, y_way));
        let powers = vec4<f32>(1.0, place, place * place, place * place * place);
        let first = vec4<f32>(
            dot(shapes[SHAPE * k + 4u], powers),
            dot(shapes[SHAPE * k + 5u], powers),
            dot(shapes[SHAPE * k + 6u], powers),
            dot(shapes[SHAPE * k + 7u], powers),
        );
        let last = dot(shapes[SHAPE * k + 8u], powers);
        let margin = shapes[SHAPE * k + 9u].z;
        let rho_sq = dot(at, at) + 1e-12;
        let per = inverseSqrt(rho_sq);
        let rho = rho_sq * per;
        let missing = radius(first, last, margin, at.x * per, at.y * per) - rho;
        if (missing <= 0.0) {
            continue;
        }
        // It goes straight away from the line where it is hardly inside; the deeper it is, the more towards the side that
        // is out of the body for it.
        let m = bone(guards[v].w);
        let out = turned(m, bitcast<vec3<f32>>(guards[3u * GARMENT + v].xyz), vec3<f32>());
        let to = fma(vec2<f32>(dot(out, x_way), dot(out, y_way)), vec2<f32>(missing), at);
        let toward = to * inverseSqrt(dot(to, to) + 1e-12);
        let far = max(radius(first, last, margin, toward.x, toward.y), rho);
        let by = (toward * far - at) * min((1.0 - abs(place)) * (1.0 / FADE), 1.0);
        *point += x_way * by.x + y_way * by.y;
        within.y = within.y || within.x;
        within.x = true;
    }
    return within;
}

// Moves a vertex to the plane of the nearest point of the skin where it is behind it: whether it was, and whether it
// is near none.
fn off_the_skin(v: u32, count: u32, point: ptr<function, vec3<f32>>) -> vec2<bool> {
    var nearest = NEAR_SQ;
    var height = MARGIN;
    var normal = vec3<f32>();
    let four = guards[GARMENT + v];
    var two = vec4<u32>();
    if (count > 4u) {
        two = guards[2u * GARMENT + v];
    }
    let near = array<u32, 6>(four.x, four.y, four.z, four.w, two.x, two.y);
    //: repeat n 6
    if ($nu < count) {
        let p = 3u * near[$n];
        let a = skin_world[p];
        let b = skin_world[p + 1u];
        let apart = *point - vec3<f32>(a, b.x);
        let way = vec3<f32>(b.y, skin_world[p + 2u]);
        let apart_sq = dot(apart, apart);
        if (apart_sq < nearest) {
            nearest = apart_sq;
            height = dot(apart, way);
            normal = way;
        }
    }
    //: end
    let moved = min(max(MARGIN - height, 0.0), LIMIT);
    *point += normal * moved;
    return vec2<bool>(moved > 0.0, nearest >= NEAR_SQ);
}

fn push_out(v: u32, near: u32, point: ptr<function, vec3<f32>>) {
    let from_ = *point;
    let guard = guards[v];
    let bits = guard.x | (guard.y & near);
    var met = clear(v, bits & ~TRUNK, point);
    let is_free = guard.x != 0u;
    var skin = vec2<bool>(false, true);
    if (guard.z > 0u) {
        skin = off_the_skin(v, guard.z, point);
    }
    // What lies on no skin that it knows may be in the trunk.
    var again = met.y || (skin.x && (met.x || is_free));
    if (met.x || again || (skin.y && is_free)) {
        // Out of a limb may be into the trunk, and from there, out of skin or out of one thigh into another.
        again = again || clear(v, bits & TRUNK, point).x;
        if (again) {
            clear(v, bits & ~TRUNK, point);
        }
        let by = *point - from_;
        let length_sq = dot(by, by);
        if (length_sq > LIMIT * LIMIT) {
            *point = from_ + by * (LIMIT / sqrt(length_sq));
        }
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
    pose_body(thread);
    workgroupBarrier();
    for (var v = thread; v < GARMENT; v += THREADS) {
        let at = 3u * (i * VERTICES + v);
        let m = blend(v, GARMENT);
        var point = turned(m, vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]), m.at);
        if (IS_GUARDED && !HAS_RARE) {
            push_out(v, 0u, &point);
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
        for (var v = thread; v < GARMENT; v += THREADS) {
            let at = 3u * (i * VERTICES + v);
            var point = vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]);
            push_out(v, atomicLoad(&near_panel[v / PANEL]), &point);
            vertices[at] = point.x;
            vertices[at + 1u] = point.y;
            vertices[at + 2u] = point.z;
        }
    }
}
