// Products of a model D's features: the combinations that are filtered, the directions that shapes follow, or ‖c‖² − 2 c·x of every
// pose or anchor.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> inputs: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> products: array<vec4<f32>>;

fn input(i: u32, q: u32) -> vec4<f32> {
    if (q >= USED) {
        return vec4<f32>();
    }
    return inputs[i * FROM + q];
}

fn finish(tile: u32) {}

fn put(i: u32, column: u32, sum: vec4<f32>) {
    products[i * TO + FIRST + column] = sum + bias[column];
}
