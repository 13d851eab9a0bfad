// Unit vertex normals: the sum of the area vectors of the triangles about a vertex.

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> vertices: array<f32>;
// Where each vertex's corners begin, and then for every corner the two vertices after it in its triangle.
@group(0) @binding(3) var<storage, read> begins: array<u32>;
@group(0) @binding(4) var<storage, read> corners: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> normals: array<f32>;

fn point(base: u32, v: u32) -> vec3<f32> {
    let at = base + 3u * v;
    return vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]);
}

@compute @workgroup_size(64, 4)
fn normal(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = id.x;
    let i = id.y;
    if (v >= GARMENT || i >= step.count || places[2u * i].z < 0.5) {
        return;
    }
    let base = 3u * i * VERTICES;
    let own = point(base, v);
    var sum = vec3<f32>();
    for (var c = begins[v]; c < begins[v + 1u]; c++) {
        let others = corners[c];
        sum += cross(point(base, others.x) - own, point(base, others.y) - own);
    }
    let size = dot(sum, sum);
    let unit = sum * select(0.0, inverseSqrt(size), size > 0.0);
    let at = base + 3u * v;
    normals[at] = unit.x;
    normals[at + 1u] = unit.y;
    normals[at + 2u] = unit.z;
}
