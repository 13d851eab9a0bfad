// World-space vertices: basis · y + mean, turned and shifted.
//
// A workgroup makes 4·COLUMNS vertices of INSTANCES instances; a thread four vertices of eight, so that it holds
// every coordinate that a turn, or a blend of bone matrices, brings together.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> modes: array<u32>;
@group(0) @binding(2) var<storage, read> latents: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> basis: array<Stored>;
@group(0) @binding(5) var<storage, read> mean: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> vertices: array<vec4<f32>>;

const THREADS = COLUMNS * INSTANCES / 8u;
// Of a vertex tile, in vec4: 12 coordinates of each thread.
const WIDTH = 3u * COLUMNS;
const ROW = INSTANCES / 4u + PAD;
var<workgroup> basis_tile: array<vec4<f32>, K_STEP * WIDTH>;
var<workgroup> latent_tile: array<vec4<f32>, K_STEP * ROW>;

// Four vertices of one instance into the world.
fn write(i: u32, vertex: u32, a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) {
    if (i >= step.count || vertex >= VERTICES) {
        return;
    }
    let turn = places[2u * i];
    if (turn.z < 0.5) {
        return;
    }
    let s = turn.x;
    let o = turn.y;
    let d = places[2u * i + 1u].xyz;
    let at = 3u * (i * VERTICES + vertex) / 4u;
    vertices[at] = vec4<f32>(o * a.x + s * a.z, a.y, o * a.z - s * a.x, o * a.w + s * b.y) + d.xyzx;
    vertices[at + 1u] = vec4<f32>(b.x, o * b.y - s * a.w, o * b.z + s * c.x, b.w) + d.yzxy;
    vertices[at + 2u] = vec4<f32>(o * c.x - s * b.z, o * c.y + s * c.w, c.z, o * c.w - s * c.y) + d.zxyz;
}

@compute @workgroup_size(COLUMNS, INSTANCES / 8u)
fn reconstruct(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = group.y * INSTANCES;
    let column = 3u * local.x;
    //: repeat i 8
    var a$i = mean[group.x * WIDTH + column];
    var b$i = mean[group.x * WIDTH + column + 1u];
    var c$i = mean[group.x * WIDTH + column + 2u];
    //: end
    // As many coefficients as those who are drawn need; where nobody is, none.
    var depth = DEPTH;
    if (step.spares == 1u) {
        var needed = 0.0;
        for (var n = 0u; n < INSTANCES; n++) {
            let i = min(first + n, step.count - 1u);
            needed = max(needed, places[2u * i].z * places[2u * i + 1u].w);
        }
        depth = u32(needed);
    }
    for (var q = 0u; q < depth; q += K_STEP / 4u) {
        workgroupBarrier();
        let source = (group.x * DEPTH + q) * 4u * WIDTH;
        for (var e = thread; e < K_STEP * WIDTH; e += THREADS) {
            basis_tile[e] = unpack(basis[source + e]);
        }
        // Blocks of four coefficients of four instances, turned so that instances lie side by side.
        for (var e = thread; e < K_STEP * INSTANCES / 16u; e += THREADS) {
            let quad = e % (K_STEP / 4u);
            let block = e / (K_STEP / 4u);
            let i = first + 4u * block;
            let turned = transpose(mat4x4<f32>(
                latent(i, q + quad), latent(i + 1u, q + quad), latent(i + 2u, q + quad), latent(i + 3u, q + quad)
            ));
            //: repeat k 4
            latent_tile[(4u * quad + $ku) * ROW + block] = turned[$k];
            //: end
        }
        workgroupBarrier();
        for (var k = 0u; k < K_STEP; k += 4u) {
            //: repeat u 4
            {
                let x = basis_tile[(k + $uu) * WIDTH + column];
                let y = basis_tile[(k + $uu) * WIDTH + column + 1u];
                let z = basis_tile[(k + $uu) * WIDTH + column + 2u];
                let v0 = latent_tile[(k + $uu) * ROW + 2u * local.y];
                let v1 = latent_tile[(k + $uu) * ROW + 2u * local.y + 1u];
                //: repeat c 4
                a$c = fma(x, vec4<f32>(v0[$c]), a$c);
                b$c = fma(y, vec4<f32>(v0[$c]), b$c);
                c$c = fma(z, vec4<f32>(v0[$c]), c$c);
                //: end
                //: repeat c 4
                a$+c = fma(x, vec4<f32>(v1[$c]), a$+c);
                b$+c = fma(y, vec4<f32>(v1[$c]), b$+c);
                c$+c = fma(z, vec4<f32>(v1[$c]), c$+c);
                //: end
            }
            //: end
        }
    }
    //: repeat n 8
    write(first + 8u * local.y + $nu, 4u * (group.x * COLUMNS + local.x), a$n, b$n, c$n);
    //: end
}
