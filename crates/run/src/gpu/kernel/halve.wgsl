// Latent vectors as they are shown, in the 16 bits and blocks that matrix units read. The leading ones also by what
// rounding took from them, and the basis likewise: the largest movements keep 22 bits.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> modes: array<u32>;
@group(0) @binding(2) var<storage, read> latents: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> halves: array<vec2<u32>>;

fn put(i: u32, q: u32, v: vec4<f32>) {
    let block = (i / EDGE) * DEPTHS + q / (EDGE / 4u);
    let at = (block * EDGE + i % EDGE) * (EDGE / 4u) + q % (EDGE / 4u);
    halves[at] = vec2<u32>(pack2x16float(v.xy), pack2x16float(v.zw));
}

@compute @workgroup_size(64)
fn halve(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x / DEPTH + id.y * ROWS_EACH;
    let q = id.x % DEPTH;
    if (id.x >= ROWS_EACH * DEPTH || i >= step.room) {
        return;
    }
    let y = latent(i, q);
    put(i, q, y);
    if (q < LEADING) {
        // [y, Δy, y] meets [basis, basis, Δbasis].
        let kept = vec4<f32>(unpack2x16float(pack2x16float(y.xy)), unpack2x16float(pack2x16float(y.zw)));
        put(i, DEPTH + q, y - kept);
        put(i, DEPTH + LEADING + q, y);
    }
}
