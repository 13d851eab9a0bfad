// Rows of outputs from rows of inputs: `put(i, column, Σ weights · input(i, …))`. Who uses it says what the
// inputs are and where outputs go, four numbers at a time.
//
// A workgroup makes 64 outputs of TILE instances, a thread eight of eight; sixteen inputs at a time go through
// workgroup memory.

// In tiles of 64 outputs; within a tile the inputs one after the other.
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;

const STEP = 16u;
const WEIGHTS = STEP * 16u;
var<workgroup> weight_tile: array<vec4<f32>, WEIGHTS>;
// A row of four instances at a time for each input, one longer than it must be: fewer banks meet.
const ROW = TILE / 4u + 1u;
var<workgroup> input_tile: array<vec4<f32>, STEP * ROW>;

@compute @workgroup_size(8, TILE / 8u)
fn product(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = group.y * TILE;
    //: repeat i 8
    var low$i = vec4<f32>();
    var high$i = vec4<f32>();
    //: end
    // Each thread turns a block of four inputs of four instances.
    let block = thread / 4u;
    let quad = thread % 4u;
    for (var q = 0u; q < INPUTS; q += 4u) {
        workgroupBarrier();
        for (var e = thread; e < WEIGHTS; e += TILE) {
            weight_tile[e] = weights[(group.x * INPUTS + q) * 64u + e];
        }
        let i = first + 4u * block;
        let turned = transpose(mat4x4<f32>(
            input(i, q + quad), input(i + 1u, q + quad), input(i + 2u, q + quad), input(i + 3u, q + quad)
        ));
        //: repeat k 4
        input_tile[(4u * quad + $ku) * ROW + block] = turned[$k];
        //: end
        workgroupBarrier();
        //: repeat k 16
        {
            let w0 = weight_tile[$ku * 16u + 2u * local.x];
            let w1 = weight_tile[$ku * 16u + 2u * local.x + 1u];
            //: repeat j 2
            let v$j = input_tile[$ku * ROW + 2u * local.y + $ju];
            //: end
            //: repeat c 4
            low$c = fma(w0, vec4<f32>(v0[$c]), low$c);
            high$c = fma(w1, vec4<f32>(v0[$c]), high$c);
            //: end
            //: repeat c 4
            low$+c = fma(w0, vec4<f32>(v1[$c]), low$+c);
            high$+c = fma(w1, vec4<f32>(v1[$c]), high$+c);
            //: end
        }
        //: end
    }
    finish(group.x);
    let column = group.x * 16u + 2u * local.x;
    //: repeat n 8
    {
        let i = first + 8u * local.y + $nu;
        if (column < OUTPUTS) {
            put(i, column, low$n);
        }
        if (column + 1u < OUTPUTS) {
            put(i, column + 1u, high$n);
        }
    }
    //: end
}
