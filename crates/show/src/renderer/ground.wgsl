// Light that arrives on the ground under a crowd, for every pixel of the picture whose ray meets it.

@group(1) @binding(0) var arrives: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(vec2f(id.xy) >= frame.picture.xy) {
        return;
    }
    let uv = (vec2f(id.xy) + 0.5) * frame.picture.zw;
    // The point of the ray that is one metre deep: a row over its square undoes what the row does.
    let rows = transpose(frame.clip_from_world);
    let across = rows[0].xyz / dot(rows[0].xyz, rows[0].xyz);
    let upward = rows[1].xyz / dot(rows[1].xyz, rows[1].xyz);
    let ray = (2.0 * uv.x - 1.0) * across + (1.0 - 2.0 * uv.y) * upward + rows[3].xyz;
    let deep = (frame.ground.x - frame.eye.y) / ray.y;
    var light = vec2f(1.0);
    if ray.y < 0.0 && deep > 0.0 {
        let p = frame.eye.xyz + deep * ray + vec3f(0.0, 0.004, 0.0);
        light = vec2f(key_light(p, 0.03, 0.10, 6, 16), sky_light(p, 0.24, 14));
    }
    textureStore(arrives, id.xy, vec4f(light, 0.0, 1.0));
}
