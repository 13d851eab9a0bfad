// Where every instance's root went within a tick, and which instances begin. What is made of the way is said in
// `moves.wgsl` for the published models and in `motion.wgsl` for a model D.
//
// Positions and headings are sums of two numbers, so that differences keep millimetres anywhere in a large world.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> flags: array<u32>;
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
// Per instance: three of the pose at the end of the step before, three of the latest tick, and what is remembered of moves.
@group(0) @binding(3) var<storage, read_write> roots: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> modes: array<u32>;
@group(0) @binding(5) var<storage, read_write> metas: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>>;

struct Root {
    // Position and heading, high and low parts.
    high: vec4<f32>,
    low: vec4<f32>,
    sin_cos: vec2<f32>,
}

fn pose_root(i: u32) -> Root {
    return Root(poses[6u * i + 3u], poses[6u * i + 4u], poses[6u * i + 5u].xy);
}

// Taylor on ±π/4 after taking out quarter turns; the built-in functions may be off by 2⁻¹¹.
fn sin_cos(angle: f32) -> vec2<f32> {
    let quarters = round(angle * 0.63661977);
    let r = (angle - quarters * 1.5707964) - quarters * -4.371139e-8;
    let q = r * r;
    let s = r + r * q * (-1.6666667e-1 + q * (8.3333333e-3 + q * (-1.9841270e-4 + q * 2.7557319e-6)));
    let c = 1.0 + q * (-0.5 + q * (4.1666667e-2 + q * (-1.3888889e-3 + q * 2.4801587e-5)));
    switch (i32(quarters) & 3) {
        case 0: { return vec2<f32>(s, c); }
        case 1: { return vec2<f32>(c, -s); }
        case 2: { return vec2<f32>(-s, -c); }
        default: { return vec2<f32>(-c, s); }
    }
}

// A share of the way from one pose to the next.
fn between(old: Root, next: Root, share: f32) -> Root {
    let way = (next.high - old.high) + (next.low - old.low);
    let turned = sin_cos(share * way.w);
    let a = old.sin_cos;
    let s = a.x * turned.y + a.y * turned.x;
    let c = a.y * turned.y - a.x * turned.x;
    return Root(old.high, old.low + share * way, vec2<f32>(s, c));
}

// The pose stepped to becomes the one that the next step leaves from.
fn settle_pose(i: u32, next: Root) {
    roots[i * ROOT] = next.high;
    roots[i * ROOT + 1u] = next.low;
    roots[i * ROOT + 2u] = vec4<f32>(next.sin_cos, 0.0, 0.0);
}

@compute @workgroup_size(64)
fn tick(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= step.count) {
        return;
    }
    let flag = flags[i];
    if ((flag & ACTIVE) == 0u) {
        return;
    }
    let next = pose_root(i);
    let mode = modes[i];
    let is_reborn = (mode & LIFE) != (flag & LIFE);
    let has_jumped = step.is_first == 0u && (mode & JUMPED) != 0u;
    let jumps = poses[6u * i + 5u].z > 0.5 || is_reborn || has_jumped;
    let at = i * ROOT;
    // Sine and cosine at the latest tick, whether there was one, and ticks since the start.
    let latest = roots[at + 5u];
    var frames = select(latest.w, 0.0, is_reborn);
    let has_root = latest.z > 0.5 && !is_reborn && !(jumps && step.is_first == 1u);

    var root = next;
    if (step.share < 1.0 && !jumps) {
        let old = Root(roots[at], roots[at + 1u], roots[at + 2u].xy);
        root = between(old, next, step.share);
    }
    var before = root;
    if (has_root) {
        before = Root(roots[at + 3u], roots[at + 4u], latest.xy);
    }
    roots[at + 3u] = root.high;
    roots[at + 4u] = root.low;

    let way = (root.high - before.high) + (root.low - before.low);
    feel(i, way, before.sin_cos, is_reborn, frames);

    let starts = frames < BEGINNING;
    roots[at + 5u] = vec4<f32>(root.sin_cos, 1.0, min(frames + 1.0, BEGINNING));
    // Who begins within a step is newborn until the next one.
    let newborn = is_reborn || (step.is_first == 0u && (mode & NEWBORN) != 0u);
    modes[i] = (flag & LIFE) | select(0u, STARTING, starts) | select(0u, NEWBORN, newborn)
        | select(0u, JUMPED, jumps);
    if (step.is_last == 1u) {
        settle_pose(i, next);
    }
}

// A step without a tick: poses move on, and those who just came show the order-0 state of theirs.
@compute @workgroup_size(64)
fn wait(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= step.count) {
        return;
    }
    let flag = flags[i];
    if ((flag & ACTIVE) == 0u) {
        return;
    }
    let mode = modes[i];
    let is_reborn = (mode & LIFE) != (flag & LIFE);
    let at = i * ROOT;
    if (is_reborn) {
        for (var k = 6u; k < ROOT; k++) {
            roots[at + k] = vec4<f32>();
        }
        forget(i);
        roots[at + 5u] = vec4<f32>();
        modes[i] = (flag & LIFE) | STARTING | NEWBORN;
    } else {
        if (poses[6u * i + 5u].z > 0.5) {
            roots[at + 5u].z = 0.0;
        }
        modes[i] = mode & ~STARTING;
    }
    settle_pose(i, pose_root(i));
}
