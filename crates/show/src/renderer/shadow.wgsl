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
}

@group(0) @binding(0) var<uniform> light: Light;
@group(1) @binding(0) var<uniform> item: Item;

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
