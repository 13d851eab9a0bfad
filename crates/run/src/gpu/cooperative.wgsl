// World-space vertices by the adapter's matrix units: 16-bit basis and coefficients, 32-bit sums, mean and places.
//
// A subgroup makes 16 vertices (48 rows) of EDGE·BLOCKS instances at a time and goes on down the garment with its
// coefficients in registers; sums go through workgroup memory, where each vertex's coordinates meet.

@group(0) @binding(0) var<uniform> step: Step;
// Blocks of EDGE×EDGE: coefficients of an instance side by side, then the next instance's.
@group(0) @binding(1) var<storage, read> latents: array<f16>;
@group(0) @binding(2) var<storage, read> places: array<vec4<f32>>;
// Blocks of EDGE×EDGE: coefficients of a row side by side, then the next row's.
@group(0) @binding(3) var<storage, read> basis: array<f16>;
@group(0) @binding(4) var<storage, read> mean: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> vertices: array<vec4<f32>>;

const ROWS = 48u;
const INSTANCES = EDGE * BLOCKS;
const BLOCK = EDGE * EDGE;
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
    let y$k_$n = coopLoad<coop_mat$e<f16, B>>(&latents[((first / EDGE + $nu) * DEPTHS + $ku) * BLOCK], EDGE);
    //: end
    //: end
    // A thread places four vertices, the same of every tile, of SHARES instances.
    let quad = lane % 4u;
    //: repeat j SHARES
    let n$j = lane / 4u + $ju * (SUBGROUP / 4u);
    let i$j = min(first + n$j, step.count - 1u);
    let turn$j = places[2u * i$j];
    let shift$j = places[2u * i$j + 1u].xyz;
    let is_drawn$j = turn$j.z > 0.5 && first + n$j < step.count;
    //: end
    let end = min((group.x + 1u) * TILES_EACH, TILES);
    for (var tile = group.x * TILES_EACH; tile < end; tile++) {
        //: repeat r HEIGHT
        {
            //: repeat n BLOCKS
            var sum$n = coop_mat$e<f32, C>();
            //: end
            //: repeat k DEPTHS
            let w$k = coopLoadT<coop_mat$e<f16, A>>(&basis[((tile * HEIGHT + $ru) * DEPTHS + $ku) * BLOCK], EDGE);
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
        let m = tile * 12u + quad * 3u;
        let ma = mean[m];
        let mb = mean[m + 1u];
        let mc = mean[m + 2u];
        let is_there = tile * 16u + quad * 4u < VERTICES;
        //: repeat j SHARES
        if (is_drawn$j && is_there) {
            let from_$j = own + n$j * STRIDE + quad * 3u;
            let a = sums[from_$j] + ma;
            let b = sums[from_$j + 1u] + mb;
            let c = sums[from_$j + 2u] + mc;
            let s = turn$j.x;
            let o = turn$j.y;
            let d = shift$j;
            let at = i$j * (VERTICES / 4u * 3u) + m;
            vertices[at] = vec4<f32>(o * a.x + s * a.z, a.y, o * a.z - s * a.x, o * a.w + s * b.y) + d.xyzx;
            vertices[at + 1u] = vec4<f32>(b.x, o * b.y - s * a.w, o * b.z + s * c.x, b.w) + d.yzxy;
            vertices[at + 2u] = vec4<f32>(o * c.x - s * b.z, o * c.y + s * c.w, c.z, o * c.w - s * c.y) + d.zxyz;
        }
        //: end
        workgroupBarrier();
    }
}
