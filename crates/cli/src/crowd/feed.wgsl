// The poses of a crowd on a square, each wearer at another moment of a clip: what an engine that animates on the
// device would write.

struct Feed {
    frame: u32,
    first: u32,
    count: u32,
    side: u32,
    clips: u32,
    // vec4 of one frame's bones.
    quads: u32,
    unused: vec2<u32>,
}

@group(0) @binding(0) var<uniform> feed: Feed;
// First frame and frames of each clip.
@group(0) @binding(1) var<storage, read> clips: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> clip_poses: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> clip_bones: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> poses: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> bones: array<vec4<f32>>;

@compute @workgroup_size(32, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y;
    let q = id.x;
    if (i >= feed.count || q >= feed.quads + 6u) {
        return;
    }
    let who = feed.first + i;
    let clip = clips[who % feed.clips];
    let frame = clip.x + (feed.frame + 7u * who) % clip.y;
    if (q >= 6u) {
        bones[i * feed.quads + q - 6u] = clip_bones[frame * feed.quads + q - 6u];
        return;
    }
    var row = clip_poses[6u * frame + q];
    // The place on the square is the high part and the way from there the low one: their sum loses nothing.
    if (q == 3u) {
        row = vec4<f32>(f32(who % feed.side) * 2.0, 0.0, f32(who / feed.side) * 2.0, row.w);
    } else if (q == 4u) {
        let high = clip_poses[6u * frame + 3u];
        row = vec4<f32>(high.xyz + row.xyz, row.w);
    }
    poses[6u * i + q] = row;
}
