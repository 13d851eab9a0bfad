// Who of a flock is drawn, and how finely: one workgroup for each level lists its members in their order.

struct Sort {
    clip_from_world: mat4x4f,
    // Metres that a level may be off for each metre of depth, and how far vertices are from the anchor at most.
    per_metre: f32,
    reach_m: f32,
    // The vertex that stands for a member, and from one member's vertices to the next's.
    anchor: u32,
    stride: u32,
    count: u32,
    levels: u32,
    // From one level's list to the next.
    room: u32,
    unused: u32,
    // How far each level is off, m.
    off_m: array<vec4f, 2>,
}

@group(0) @binding(0) var<uniform> sort: Sort;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read_write> lists: array<u32>;
// What the draws read: indices, members, first index, first vertex, first member.
@group(0) @binding(3) var<storage, read_write> draws: array<array<u32, 5>>;

const THREADS = 256u;
const NOWHERE = 0xffffffffu;

fn level_of(member: u32) -> u32 {
    let v = 3u * (member * sort.stride + sort.anchor);
    let at = vec4f(positions[v], positions[v + 1u], positions[v + 2u], 1.0);
    let rows = transpose(sort.clip_from_world);
    let sides = array<vec4f, 5>(rows[3] + rows[0], rows[3] - rows[0], rows[3] + rows[1], rows[3] - rows[1], rows[3]);
    for (var k = 0; k < 5; k++) {
        if dot(sides[k], at) < -sort.reach_m * length(sides[k].xyz) {
            return NOWHERE;
        }
    }
    // The nearest that any of its vertices can be.
    let allowed = sort.per_metre * (dot(rows[3], at) - sort.reach_m);
    var level = 0u;
    for (var k = 1u; k < sort.levels; k++) {
        if sort.off_m[k / 4u][k % 4u] <= allowed {
            level = k;
        }
    }
    return level;
}

var<workgroup> sums: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let level = group.x;
    var listed = 0u;
    for (var first = 0u; first < sort.count; first += THREADS) {
        let member = first + thread;
        var mine = 0u;
        if member < sort.count {
            mine = select(0u, 1u, level_of(member) == level);
        }
        sums[thread] = mine;
        workgroupBarrier();
        for (var step = 1u; step < THREADS; step *= 2u) {
            var before = 0u;
            if thread >= step {
                before = sums[thread - step];
            }
            workgroupBarrier();
            sums[thread] += before;
            workgroupBarrier();
        }
        if mine == 1u {
            lists[level * sort.room + listed + sums[thread] - 1u] = member;
        }
        listed += sums[THREADS - 1u];
        workgroupBarrier();
    }
    if thread == 0u {
        draws[level][1] = listed;
    }
}
