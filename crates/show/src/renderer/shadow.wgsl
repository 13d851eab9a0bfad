// Depth only, from a light. One pipeline for both maps.

struct Light {
    clip_from_world: mat4x4f,
}

struct Item {
    world_from_item: mat4x4f,
    base: vec4f,
    sheen: vec4f,
    finish: vec4f,
    depth: vec4f,       // z: the slack of the clothes it wears, in metres
    cloth: vec4f,       // w: vertices of a flock's member
}

@group(0) @binding(0) var<uniform> light: Light;
@group(1) @binding(0) var<uniform> item: Item;
@group(2) @binding(0) var<storage, read> member_positions: array<f32>;
@group(2) @binding(1) var<storage, read> member_normals: array<f32>;
@group(2) @binding(3) var<storage, read> member_leads: array<f32>;
@group(2) @binding(4) var<storage, read> member_list: array<u32>;

// What a garment covers casts no shadow on the garment, not even where it pokes through: it is drawn in by the slack.
@vertex
fn vs_shadow(
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(3) detail: vec3f,
) -> @builtin(position) vec4f {
    let inside = position - max(item.depth.z - detail.x, 0.0) * normal;
    return light.clip_from_world * (item.world_from_item * vec4f(inside, 1.0));
}

@vertex
fn vs_shadow_flock(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) listed: u32,
) -> @builtin(position) vec4f {
    let member = member_list[listed];
    let v = 3u * (member * u32(item.cloth.w) + vertex);
    let position = vec3f(member_positions[v], member_positions[v + 1u], member_positions[v + 2u]);
    let normal = vec3f(member_normals[v], member_normals[v + 1u], member_normals[v + 2u]);
    let inside = position - max(item.depth.z - member_leads[vertex], 0.0) * normal;
    return light.clip_from_world * vec4f(inside, 1.0);
}
