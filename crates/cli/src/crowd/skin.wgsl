// Bodies of a crowd from the bind pose into the world, by the poses that its garments are stepped with.

struct Sizes {
    count: u32,
    joints: u32,
    vertices: u32,
    bones: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> poses: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> bones: array<vec4<f32>>;
// Place and normal of each vertex.
@group(0) @binding(3) var<storage, read> rest: array<vec4<f32>>;
// Joints and weights of each vertex.
@group(0) @binding(4) var<storage, read> hung: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> positions: array<f32>;
@group(0) @binding(6) var<storage, read_write> normals: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = id.x;
    let i = id.y;
    if (v >= sizes.vertices || i >= sizes.count) {
        return;
    }
    var a = vec4<f32>();
    var b = vec4<f32>();
    var c = vec4<f32>();
    for (var k = 0u; k < sizes.bones; k++) {
        let entry = hung[v * sizes.bones + k];
        let at = 3u * (i * sizes.joints + entry.x);
        let w = bitcast<f32>(entry.y);
        a += w * bones[at];
        b += w * bones[at + 1u];
        c += w * bones[at + 2u];
    }
    let turn = mat3x3<f32>(a.xyz, vec3<f32>(a.w, b.xy), vec3<f32>(b.zw, c.x));
    let x = poses[6u * i];
    let y = poses[6u * i + 1u];
    let z = poses[6u * i + 2u];
    let s = poses[6u * i + 5u].x;
    let co = poses[6u * i + 5u].y;
    let heading = mat3x3<f32>(vec3<f32>(co, 0.0, -s), vec3<f32>(0.0, 1.0, 0.0), vec3<f32>(s, 0.0, co));
    let canonical = heading * mat3x3<f32>(x.xyz, y.xyz, z.xyz);
    let root = heading * vec3<f32>(x.w, y.w, z.w);
    let shift = poses[6u * i + 3u].xyz + poses[6u * i + 4u].xyz;
    let place = canonical * (turn * rest[2u * v].xyz + c.yzw) - root + shift;
    let normal = normalize(canonical * (turn * rest[2u * v + 1u].xyz));
    let out = 3u * (i * sizes.vertices + v);
    positions[out] = place.x;
    positions[out + 1u] = place.y;
    positions[out + 2u] = place.z;
    normals[out] = normal.x;
    normals[out + 1u] = normal.y;
    normals[out + 2u] = normal.z;
}
