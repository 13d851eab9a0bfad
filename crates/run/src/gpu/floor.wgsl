// What a device needs at the least: writing so many bytes, and multiplying and adding so often.

@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(256)
fn write(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let all = groups.x * 256u;
    for (var i = id.x; i < arrayLength(&out); i += all) {
        out[i] = vec4<f32>(f32(i));
    }
}

// 64 sums in registers, as a tile has them; what comes out is never written and cannot be left out.
@compute @workgroup_size(256)
fn product(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = f32(id.x) * 1e-9;
    //: repeat i 16
    var v$i = vec4<f32>(x + $i.0);
    //: end
    for (var n = 0u; n < 256u; n++) {
        //: repeat k 4
        //: repeat i 16
        v$i = fma(v$i, vec4<f32>(0.999), vec4<f32>(x));
        //: end
        //: end
    }
    var sum = vec4<f32>();
    //: repeat i 16
    sum += v$i;
    //: end
    if (sum.x == 12345.678) {
        out[0] = sum;
    }
}
