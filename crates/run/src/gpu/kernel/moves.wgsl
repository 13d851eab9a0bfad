// What the root did, held to the certified limits, and the features of the latest moves (§5 of the published model).
fn feel(i: u32, d: vec4<f32>, turn_before: vec2<f32>, is_reborn: bool, frames: f32) {
    let at = i * ROOT;
    let s = turn_before.x;
    let c = turn_before.y;
    let delta = vec3<f32>(c * d.x - s * d.z, d.y, c * d.z + s * d.x);
    let flat = length(delta.xz);
    var kept = delta;
    if (flat > MAX_HORIZONTAL) {
        let shorter = delta.xz * (MAX_HORIZONTAL / flat);
        kept = vec3<f32>(shorter.x, delta.y, shorter.y);
    }
    kept.y = clamp(kept.y, -MAX_VERTICAL, MAX_VERTICAL);
    let turn = clamp(d.w, -MAX_TURN, MAX_TURN);
    let turned = sin_cos(turn);
    // cos − 1 without cancellation: (cos² − 1) / (cos + 1).
    let less = select(turned.y - 1.0, -turned.x * turned.x / (1.0 + turned.y), turned.y > 0.0);
    let held = u32(any(kept != delta)) + u32(turn != d.w);
    if (held > 0u) {
        atomicAdd(&counts[0], held);
    }

    // The latest move first; a life that begins has made none.
    var travel = vec3<f32>();
    var sum = vec2<f32>();
    var moves: array<vec4<f32>, MOVES>;
    for (var k = ORDER; k > 1u; k--) {
        let past = at + 6u + 2u * (k - 2u);
        moves[2u * k - 2u] = select(roots[past], vec4<f32>(), is_reborn);
        moves[2u * k - 1u] = select(roots[past + 1u], vec4<f32>(), is_reborn);
    }
    moves[0] = vec4<f32>(kept, turned.x);
    moves[1] = vec4<f32>(less, 0.0, 0.0, 0.0);
    var features: array<f32, META * 4u + 4u>;
    // From the oldest move on: every displacement is relative to the oldest frame.
    for (var n = 0u; n < ORDER; n++) {
        let k = ORDER - 1u - n;
        let a = moves[2u * k];
        let b = moves[2u * k + 1u];
        roots[at + 6u + 2u * k] = a;
        roots[at + 7u + 2u * k] = b;
        let cosine = 1.0 + sum.y;
        travel += vec3<f32>(cosine * a.x + sum.x * a.z, a.y, cosine * a.z - sum.x * a.x);
        sum = vec2<f32>(sum.x + a.w + sum.x * b.x + sum.y * a.w, sum.y + b.x + sum.y * b.x - sum.x * a.w);
        if (META > 0u) {
            features[5u * k] = travel.x;
            features[5u * k + 1u] = travel.y;
            features[5u * k + 2u] = travel.z;
            features[5u * k + 3u] = sum.x;
            features[5u * k + 4u] = sum.y;
        }
    }
    for (var q = 0u; q < META; q++) {
        metas[i * META + q] = vec4<f32>(features[4u * q], features[4u * q + 1u], features[4u * q + 2u], features[4u * q + 3u]);
    }
}

fn forget(i: u32) {}
