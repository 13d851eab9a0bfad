// Latent vectors of a model D from all its features; the ellipsoid and the gate come after.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> flags: array<u32>;
@group(0) @binding(3) var<storage, read> modes: array<u32>;
@group(0) @binding(4) var<storage, read> inputs: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> latents: array<vec4<f32>>;

fn input(i: u32, q: u32) -> vec4<f32> {
    if (q >= WIDTH) {
        return vec4<f32>();
    }
    return inputs[i * WIDTH + q];
}

fn finish(tile: u32) {}

fn put(i: u32, column: u32, sum: vec4<f32>) {
    if (takes_part(i)) {
        latents[(step.ring * step.room + i) * DEPTH + column] = sum + bias[column];
    }
}
