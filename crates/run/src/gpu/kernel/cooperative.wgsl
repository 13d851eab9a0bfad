// World-space vertices by the adapter's matrix units: 16-bit basis and coefficients, 32-bit sums, mean and places.
//
// A subgroup makes ROWS rows, whole vertices, of EDGE·BLOCKS instances at a time and goes on down the garment with its
// coefficients in registers; sums go through workgroup memory, where each vertex's coordinates meet and from where they
// are written side by side.

@group(0) @binding(0) var<uniform> step: Step;
// Blocks of EDGE×EDGE: coefficients of an instance side by side, then the next instance's.
@group(0) @binding(1) var<storage, read> latents: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> places: array<vec4<f32>>;
// Blocks of EDGE×EDGE: coefficients of a row side by side, then the next row's.
@group(0) @binding(3) var<storage, read> basis: array<vec4<f16>>;
@group(0) @binding(4) var<storage, read> mean: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> vertices: array<vec4<f32>>;

const ROWS = HEIGHT * EDGE;
// Of an instance in a tile: fours of numbers, and fours of vertices.
const FOURS = ROWS / 4u;
const QUADS = ROWS / 12u;
const INSTANCES = EDGE * BLOCKS;
const BLOCK = EDGE * EDGE / 4u;
// Of an instance in workgroup memory, in vec4: one more than its rows, so that instances start in different banks.
const STRIDE = ROWS / 4u + 1u;
var<workgroup> sums: array<vec4<f32>, SUBGROUPS * INSTANCES * STRIDE>;

@compute @workgroup_size(SUBGROUPS * SUBGROUP)
fn reconstruct(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let subgroup = thread / SUBGROUP;
    let lane = thread % SUBGROUP;
    let first = (group.y * SUBGROUPS + subgroup) * INSTANCES;
    let own = subgroup * INSTANCES * STRIDE;
    //: repeat k DEPTHS
    //: repeat n BLOCKS
    let y$k_$n = coopLoad<coop_mat$e<f16, B>>(&latents[((first / EDGE + $nu) * DEPTHS + $ku) * BLOCK], EDGE / 4u);
    //: end
    //: end
    // A thread turns four vertices, the same of every tile, of SHARES instances, and writes OUT fours of numbers side by side
    // with those of its neighbours: whole sectors of memory.
    let quad = lane % QUADS;
    //: repeat j SHARES
    let n$j = lane / QUADS + $ju * (SUBGROUP / QUADS);
    let i$j = min(first + n$j, step.count - 1u);
    let turn$j = places[2u * i$j];
    let shift$j = places[2u * i$j + 1u].xyz;
    //: end
    //: repeat j OUT
    let e$j = lane + $ju * SUBGROUP;
    let from$j = own + e$j / FOURS * STRIDE + e$j % FOURS;
    let to$j = (first + e$j / FOURS) * (VERTICES / 4u * 3u) + e$j % FOURS;
    let is_drawn$j = first + e$j / FOURS < step.count && places[2u * min(first + e$j / FOURS, step.count - 1u)].z > 0.5;
    //: end
    var end = min((group.x + 1u) * TILES_EACH, TILES);
    if (step.spares == 1u) {
        // Where nobody is drawn there is nothing to make.
        var is_anyone = false;
        for (var n = 0u; n < SUBGROUPS * INSTANCES; n++) {
            let i = min(group.y * SUBGROUPS * INSTANCES + n, step.count - 1u);
            is_anyone = is_anyone || places[2u * i].z > 0.5;
        }
        end = select(0u, end, is_anyone);
    }
    for (var tile = group.x * TILES_EACH; tile < end; tile++) {
        //: repeat r HEIGHT
        {
            //: repeat n BLOCKS
            var sum$n = coop_mat$e<f32, C>();
            //: end
            //: repeat k DEPTHS
            let w$k = coopLoadT<coop_mat$e<f16, A>>(&basis[((tile * HEIGHT + $ru) * DEPTHS + $ku) * BLOCK], EDGE / 4u);
            //: repeat n BLOCKS
            sum$n = coopMultiplyAdd(w$k, y$k_$n, sum$n);
            //: end
            //: end
            //: repeat n BLOCKS
            coopStore(sum$n, &sums[own + $nu * EDGE * STRIDE + $ru * (EDGE / 4u)], STRIDE);
            //: end
        }
        //: end
        workgroupBarrier();
        let m = tile * FOURS + quad * 3u;
        let ma = mean[m];
        let mb = mean[m + 1u];
        let mc = mean[m + 2u];
        //: repeat j SHARES
        {
            let at = own + n$j * STRIDE + quad * 3u;
            let a = sums[at] + ma;
            let b = sums[at + 1u] + mb;
            let c = sums[at + 2u] + mc;
            let s = turn$j.x;
            let o = turn$j.y;
            let d = shift$j;
            sums[at] = vec4<f32>(o * a.x + s * a.z, a.y, o * a.z - s * a.x, o * a.w + s * b.y) + d.xyzx;
            sums[at + 1u] = vec4<f32>(b.x, o * b.y - s * a.w, o * b.z + s * c.x, b.w) + d.yzxy;
            sums[at + 2u] = vec4<f32>(o * c.x - s * b.z, o * c.y + s * c.w, c.z, o * c.w - s * c.y) + d.zxyz;
        }
        //: end
        workgroupBarrier();
        //: repeat j OUT
        if (is_drawn$j && e$j % FOURS + tile * FOURS < VERTICES / 4u * 3u) {
            vertices[to$j + tile * FOURS] = sums[from$j];
        }
        //: end
        workgroupBarrier();
    }
}
