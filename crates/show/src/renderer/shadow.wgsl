// Depth only, from a light. One pipeline for both maps.

struct Light {
    clip_from_world: mat4x4f,
}

struct Item {
    world_from_item: mat4x4f,
}

@group(0) @binding(0) var<uniform> light: Light;
@group(1) @binding(0) var<uniform> item: Item;

@vertex
fn vs_shadow(@location(0) position: vec3f) -> @builtin(position) vec4f {
    return light.clip_from_world * (item.world_from_item * vec4f(position, 1.0));
}
