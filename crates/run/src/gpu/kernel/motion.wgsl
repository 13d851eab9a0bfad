// What a model D is told of the root: velocity and acceleration in the heading's frame, turn and its change, and products
// of these.
fn feel(i: u32, d: vec4<f32>, turn_before: vec2<f32>, is_reborn: bool, frames: f32) {
    let at = i * ROOT;
    let s = turn_before.x;
    let c = turn_before.y;
    let is_going = frames >= 1.0;
    var now = vec4<f32>();
    if (is_going) {
        now = FPS * vec4<f32>(c * d.x - s * d.z, d.y, c * d.z + s * d.x, d.w);
    }
    // Speeds from a standing start are no accelerations.
    var rate = vec4<f32>();
    if (roots[at + 7u].x > 0.5 && !is_reborn) {
        rate = FPS * (now - roots[at + 6u]);
    }
    roots[at + 6u] = now;
    roots[at + 7u] = vec4<f32>(select(0.0, 1.0, is_going), 0.0, 0.0, 0.0);
    let speed = length(now.xyz);
    let drag = speed * now.xyz;
    let w = now.w;
    metas[i * META] = vec4<f32>(now.xyz, rate.x);
    metas[i * META + 1u] = vec4<f32>(rate.yz, w, rate.w);
    metas[i * META + 2u] = vec4<f32>(w * w, w * now.x, w * now.z, drag.x);
    metas[i * META + 3u] = vec4<f32>(drag.yz, speed, 0.0);
}

fn forget(i: u32) {
    for (var q = 0u; q < META; q++) {
        metas[i * META + q] = vec4<f32>();
    }
}
