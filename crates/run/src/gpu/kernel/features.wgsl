// Body coefficients x = P(b − b̄) of every instance, from bone matrices brought into its canonical frame.
//
// A tile of 64 coefficients × 64·GROUPS instances, eight by eight for each thread; one bone at a time goes through
// workgroup memory.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> poses: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> bones: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> bones_mean: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> body: array<vec4<f32>>;

const WEIGHTS = 12u * 16u;
// Of one tile of weights.
const INPUTS = (3u * JOINTS + 3u) / 4u * 4u;
var<workgroup> weight_tile: array<vec4<f32>, WEIGHTS>;
// Scalars of one instance each; read four instances at a time.
var<workgroup> bone_tile: array<f32, 12u * TILE>;

@compute @workgroup_size(8, TILE / 8u)
fn features(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = group.y * TILE;
    // Each thread brings one instance's bones into the canonical frame.
    let own = min(first + thread, step.room - 1u);
    let x = poses[6u * own];
    let y = poses[6u * own + 1u];
    let z = poses[6u * own + 2u];
    let turn = mat3x3<f32>(x.xyz, y.xyz, z.xyz);
    let root = vec3<f32>(x.w, y.w, z.w);
    //: repeat i 8
    var low$i = vec4<f32>();
    var high$i = vec4<f32>();
    //: end
    for (var joint = 0u; joint < JOINTS; joint++) {
        workgroupBarrier();
        for (var e = thread; e < WEIGHTS; e += TILE) {
            weight_tile[e] = weights[group.x * INPUTS * 64u + joint * WEIGHTS + e];
        }
        let at = 3u * (own * JOINTS + joint);
        let a = bones[at];
        let b = bones[at + 1u];
        let c = bones[at + 2u];
        let mean = 3u * joint;
        let columns = array<vec3<f32>, 4>(
            turn * a.xyz,
            turn * vec3<f32>(a.w, b.xy),
            turn * vec3<f32>(b.zw, c.x),
            turn * c.yzw - root,
        );
        let ma = bones_mean[mean];
        let mb = bones_mean[mean + 1u];
        let mc = bones_mean[mean + 2u];
        bone_tile[thread] = columns[0].x - ma.x;
        bone_tile[TILE + thread] = columns[0].y - ma.y;
        bone_tile[2u * TILE + thread] = columns[0].z - ma.z;
        bone_tile[3u * TILE + thread] = columns[1].x - ma.w;
        bone_tile[4u * TILE + thread] = columns[1].y - mb.x;
        bone_tile[5u * TILE + thread] = columns[1].z - mb.y;
        bone_tile[6u * TILE + thread] = columns[2].x - mb.z;
        bone_tile[7u * TILE + thread] = columns[2].y - mb.w;
        bone_tile[8u * TILE + thread] = columns[2].z - mc.x;
        bone_tile[9u * TILE + thread] = columns[3].x - mc.y;
        bone_tile[10u * TILE + thread] = columns[3].y - mc.z;
        bone_tile[11u * TILE + thread] = columns[3].z - mc.w;
        workgroupBarrier();
        //: repeat k 12
        {
            let w0 = weight_tile[$ku * 16u + 2u * local.x];
            let w1 = weight_tile[$ku * 16u + 2u * local.x + 1u];
            let source = $ku * TILE + local.y;
            //: repeat i 8
            let v$i = vec4<f32>(bone_tile[source + $iu * (TILE / 8u)]);
            low$i = fma(w0, v$i, low$i);
            high$i = fma(w1, v$i, high$i);
            //: end
        }
        //: end
    }
    let column = group.x * 16u + 2u * local.x;
    if (column >= BODY) {
        return;
    }
    //: repeat i 8
    {
        let i = first + local.y + $iu * (TILE / 8u);
        if (i < step.room) {
            let at = (step.body * step.room + i) * BODY + column;
            body[at] = low$i;
            body[at + 1u] = high$i;
        }
    }
    //: end
}
