//! Documents built by hand, each with something that exporters do, posed as the specification says.

mod gltf_figure;

use glam::{Affine3A, Mat4, Quat, Vec3};
use gltf_figure::{Hand, Scratch};
use serde_json::{Value, json};
use toile_assets::axes::Conversion;
use toile_assets::read::gltf::{self, Options};

/// A node of the figure: name, parent, transform as JSON fields.
type Bone = (&'static str, Option<usize>, Value);

const CORNERS: [Vec3; 4] =
    [Vec3::ZERO, Vec3::new(0.3, 0.1, 0.0), Vec3::new(0.1, 1.5, 0.2), Vec3::new(-0.2, 0.8, -0.1)];

/// Weights of the four corners to the first two joints.
const WEIGHTS: [[f32; 2]; 4] = [[1.0, 0.0], [0.25, 0.75], [0.0, 1.0], [0.5, 0.5]];

fn local(bone: &Value) -> Mat4 {
    if let Some(m) = bone["matrix"].as_array() {
        let m: Vec<f32> = m.iter().map(|v| v.as_f64().unwrap() as f32).collect();
        return Mat4::from_cols_slice(&m);
    }
    let list = |name: &str, or: [f32; 4]| {
        let given = bone[name].as_array();
        std::array::from_fn::<f32, 4, _>(|i| {
            given.map_or(or[i], |l| l.get(i).map_or(0.0, |v| v.as_f64().unwrap() as f32))
        })
    };
    let (t, r, s) =
        (list("translation", [0.0; 4]), list("rotation", [0.0, 0.0, 0.0, 1.0]), list("scale", [1.0; 4]));
    Mat4::from_scale_rotation_translation(
        Vec3::new(s[0], s[1], s[2]),
        Quat::from_array(r),
        Vec3::new(t[0], t[1], t[2]),
    )
}

fn worlds(bones: &[Bone]) -> Vec<Mat4> {
    let mut world: Vec<Mat4> = Vec::new();
    for (_, parent, fields) in bones {
        world.push(parent.map_or(Mat4::IDENTITY, |p| world[p]) * local(fields));
    }
    world
}

/// A file with these bones (any order of parents that is parents first), skinned to `joints`, two of them.
fn figure(bones: &[Bone], joints: [usize; 2], binds: [Mat4; 2]) -> Hand {
    let mut hand = Hand::new();
    for (b, (name, _, fields)) in bones.iter().enumerate() {
        let mut node = fields.clone();
        node["name"] = json!(name);
        let children: Vec<usize> = (0..bones.len()).filter(|&c| bones[c].1 == Some(b)).collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        hand.push("nodes", node);
    }
    let positions = hand.points(&CORNERS);
    let joint_set: Vec<u16> = (0..4).flat_map(|_| [0, 1, 0, 0]).collect();
    let joint_set = hand.shorts(&joint_set, "VEC4");
    let weights: Vec<f32> = WEIGHTS.iter().flat_map(|w| [w[0], w[1], 0.0, 0.0]).collect();
    let weights = hand.floats(&weights, "VEC4");
    let indices = hand.shorts(&[0, 1, 2, 0, 2, 3], "SCALAR");
    let binds = hand.matrices(&binds.map(Affine3A::from_mat4));
    hand.push("skins", json!({"name": "skin", "joints": joints, "inverseBindMatrices": binds}));
    let attributes = json!({"POSITION": positions, "JOINTS_0": joint_set, "WEIGHTS_0": weights});
    hand.push(
        "meshes",
        json!({"name": "skinned", "primitives": [{"attributes": attributes, "indices": indices}]}),
    );
    hand.push("nodes", json!({"name": "figure", "mesh": 0, "skin": 0}));
    hand
}

/// Where the specification puts the corners.
fn expected(world: [Mat4; 2], binds: [Mat4; 2]) -> Vec<Vec3> {
    CORNERS
        .iter()
        .zip(WEIGHTS)
        .map(|(p, w)| (0..2).map(|j| (world[j] * binds[j]).transform_point3(*p) * w[j]).sum())
        .collect()
}

fn as_it_stands() -> Options {
    Options::default().with(|s| {
        s.select = None;
        s.conversion = Some(Conversion::NONE);
    })
}

fn assert_near(have: &[Vec3], want: &[Vec3], tolerance: f32, what: &str) {
    assert_eq!(have.len(), want.len(), "{what}");
    for (v, (a, b)) in have.iter().zip(want).enumerate() {
        assert!(a.distance(*b) <= tolerance, "{what}: vertex {v} is at {a}, should be at {b}");
    }
}

fn q(x: f32, y: f32, z: f32) -> Value {
    json!(Quat::from_euler(glam::EulerRot::XYZ, x, y, z).to_array())
}

/// A turn of the second joint, keyed at 0 s and 1 s.
fn add_turn(hand: &mut Hand, node: usize, keys: [Quat; 2]) {
    let times = hand.floats(&[0.0, 1.0], "SCALAR");
    let values: Vec<f32> = keys.iter().flat_map(|q| q.to_array()).collect();
    let values = hand.floats(&values, "VEC4");
    hand.push(
        "animations",
        json!({"name": "turn", "samplers": [{"input": times, "output": values}],
            "channels": [{"sampler": 0, "target": {"node": node, "path": "rotation"}}]}),
    );
}

#[test]
fn scale_and_turns_above_and_within_the_skeleton_are_folded_away() {
    let scratch = Scratch::new("fold");
    let z_up = json!([1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    let mirror = json!([-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.5, 0, 0, 1]);
    let cases: Vec<(&str, Value, Value)> = vec![
        ("plain", json!({}), json!({})),
        ("centimetres", json!({"scale": [0.01, 0.01, 0.01], "rotation": q(-1.5, 0.0, 0.0)}), json!({})),
        ("z up matrix", json!({"matrix": z_up}), json!({})),
        ("mirror", json!({"matrix": mirror}), json!({})),
        ("negative scale", json!({"scale": [-2.0, 2.0, 2.0]}), json!({"scale": [0.5, 0.5, -0.5]})),
        ("joint scale", json!({}), json!({"scale": [1.7, 1.7, 1.7]})),
    ];
    for (what, top, middle) in cases {
        let mut hips = json!({"translation": [0.1, 0.9, 0.0], "rotation": q(0.2, 0.5, -0.3)});
        for (k, v) in middle.as_object().unwrap() {
            hips[k] = v.clone();
        }
        let mut bones: Vec<Bone> = vec![
            ("armature", None, top),
            ("hips", Some(0), hips),
            ("between", Some(1), json!({"rotation": q(0.4, 0.0, 0.3), "scale": [1.1, 1.1, 1.1]})),
            ("chest", Some(2), json!({"translation": [0.0, 0.4, 0.1], "rotation": q(-0.1, 0.3, 0.2)})),
        ];
        // Bound in some other pose and scale than the one at rest.
        let binds = [
            Mat4::from_scale(Vec3::splat(3.0)) * Mat4::from_translation(Vec3::new(0.0, -0.9, 0.2)),
            Mat4::from_rotation_y(0.7) * Mat4::from_translation(Vec3::new(0.1, -1.3, 0.0)),
        ];
        let mut hand = figure(&bones, [1, 3], binds);
        let turns = [Quat::from_rotation_x(-0.5), Quat::from_rotation_z(1.3)];
        add_turn(&mut hand, 1, turns);
        let path = scratch.file("figure.glb");
        std::fs::write(&path, hand.glb()).unwrap();
        let body = gltf::read_body_with(&path, &as_it_stands()).unwrap();
        assert!(body.problems.is_empty(), "{what}: {:?}", body.problems);
        let body = body.value;
        let world = worlds(&bones);
        let want = expected([world[1], world[3]], binds);
        let bones_at_rest = body.bones(&body.skeleton.rest_pose());
        assert_near(&body.skinned_positions(&bones_at_rest), &want, 1e-5, what);
        let motions = gltf::read_motions_with(&path, &as_it_stands(), 10.0).unwrap();
        assert!(motions.problems.is_empty(), "{what}: {:?}", motions.problems);
        let motion = &motions.value[0];
        assert_eq!(motion.len(), 11);
        for f in [0, 3, 10] {
            bones[1].2["rotation"] = json!(turns[0].slerp(turns[1], f as f32 / 10.0).to_array());
            let world = worlds(&bones);
            let want = expected([world[1], world[3]], binds);
            let have = body.skinned_positions(&body.bones(&motion.poses[f]));
            assert_near(&have, &want, 2e-5, &format!("{what}, frame {f}"));
        }
    }
}

#[test]
fn uneven_scale_is_exact_at_rest_and_said() {
    let scratch = Scratch::new("uneven");
    let bones: Vec<Bone> = vec![
        ("hips", None, json!({"scale": [1.0, 2.0, 1.0]})),
        ("chest", Some(0), json!({"translation": [0.0, 0.4, 0.1], "rotation": q(0.6, 0.3, 0.2)})),
    ];
    let binds = [Mat4::IDENTITY; 2];
    let mut hand = figure(&bones, [0, 1], binds);
    add_turn(&mut hand, 1, [Quat::IDENTITY, Quat::from_rotation_x(1.0)]);
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let body = gltf::read_body_with(&path, &as_it_stands()).unwrap();
    assert!(body.problems.iter().any(|p| p.what.contains("scale") && p.count == 2), "{:?}", body.problems);
    let world = worlds(&bones);
    let have = body.value.skinned_positions(&body.value.bones(&body.value.skeleton.rest_pose()));
    assert_near(&have, &expected([world[0], world[1]], binds), 1e-5, "at rest");
    let motions = gltf::read_motions_with(&path, &as_it_stands(), 10.0).unwrap();
    assert!(motions.problems.iter().any(|p| p.what.contains("scale")), "{:?}", motions.problems);
}

#[test]
fn joints_are_sorted_parents_first() {
    let bones: Vec<Bone> = vec![
        ("hips", None, json!({"translation": [0.0, 1.0, 0.0]})),
        ("chest", Some(0), json!({"translation": [0.0, 0.4, 0.0]})),
    ];
    let world = worlds(&bones);
    let binds = [world[1].inverse(), world[0].inverse()];
    let hand = figure(&bones, [1, 0], binds);
    let scratch = Scratch::new("sorted");
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let body = gltf::read_body(&path, None).unwrap().value;
    let names: Vec<&str> = body.skeleton.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["hips", "chest"]);
    // Corner 0 hangs wholly on the skin's first joint, the chest.
    assert_eq!(body.skin.row(0).collect::<Vec<_>>(), [(1, 1.0)]);
}

#[test]
fn steps_and_splines_move_joints() {
    let scratch = Scratch::new("splines");
    let bones: Vec<Bone> =
        vec![("hips", None, json!({})), ("chest", Some(0), json!({"translation": [0, 1, 0]}))];
    let mut hand = figure(&bones, [0, 1], [Mat4::IDENTITY; 2]);
    let times = hand.floats(&[0.5, 1.5], "SCALAR");
    // y = t² has the slopes 1 and 3 at the keys.
    let cubic = hand.floats(
        &[0.0, 1.0, 0.0, 0.0, 0.25, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0, 0.0, 2.25, 0.0, 0.0, 3.0, 0.0],
        "VEC3",
    );
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let step = hand.accessor(
        // Normalised shorts: a quarter turn about x, then no turn.
        &[(32767.0 * half) as i16, 0, 0, (32767.0 * half) as i16, 0, 0, 0, 32767]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<_>>(),
        5122,
        "VEC4",
        2,
    );
    hand.json["accessors"][step]["normalized"] = json!(true);
    hand.push(
        "animations",
        json!({"samplers": [{"input": times, "output": cubic, "interpolation": "CUBICSPLINE"},
                {"input": times, "output": step, "interpolation": "STEP"}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}},
                {"sampler": 1, "target": {"node": 1, "path": "rotation"}}]}),
    );
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let loaded = gltf::read_motions(&path, None, 10.0).unwrap();
    assert!(loaded.notes.iter().any(|n| n.contains("0.500 s")), "{:?}", loaded.notes);
    let motion = &loaded.value[0];
    assert_eq!((motion.name.as_str(), motion.len()), ("animation 0", 11));
    for (f, pose) in motion.poses.iter().enumerate() {
        let t = 0.5 + f as f32 / 10.0;
        assert!((pose.locals[0].translation.y - t * t).abs() < 1e-5, "frame {f}");
        let turn = if f < 10 { Quat::from_rotation_x(std::f32::consts::FRAC_PI_2) } else { Quat::IDENTITY };
        assert!(pose.locals[1].rotation.dot(turn).abs() > 0.99999, "frame {f}");
    }
}

#[test]
fn sparse_strided_and_quantised_arrays_are_read() {
    let mut hand = Hand::new();
    // Positions as normalised bytes, eight bytes apart, two of them replaced by sparse entries.
    let mut bytes = vec![0u8; 4 * 8];
    for (v, p) in [[0u8, 0, 0], [255, 0, 0], [0, 255, 0], [51, 102, 255]].iter().enumerate() {
        bytes[8 * v..8 * v + 3].copy_from_slice(p);
    }
    let view = hand.view(&bytes);
    hand.json["bufferViews"][view]["byteStride"] = json!(8);
    let at = hand.view(&[1, 0, 3, 0]);
    let with = hand.view(&[0, 0, 255, 0, 255, 255]);
    let positions = hand.push(
        "accessors",
        json!({"bufferView": view, "componentType": 5121, "normalized": true, "type": "VEC3", "count": 4,
            "sparse": {"count": 2, "indices": {"bufferView": at, "componentType": 5123},
                "values": {"bufferView": with}}}),
    );
    let strip = hand.shorts(&[0, 1, 2, 3], "SCALAR");
    let primitive = json!({"attributes": {"POSITION": positions}, "indices": strip, "mode": 5});
    hand.push("meshes", json!({"primitives": [primitive]}));
    hand.push("nodes", json!({"mesh": 0, "translation": [0, 0, 2]}));
    let scratch = Scratch::new("sparse");
    let path = scratch.file("mesh.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let mesh = gltf::read_mesh(&path, None).unwrap().value;
    let want = [[0.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.0, 1.0, 2.0], [0.0, 1.0, 3.0]].map(Vec3::from_array);
    assert_near(&mesh.positions, &want, 1e-6, "sparse");
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    // An accessor without any data is zeros, with the sparse entries in them.
    hand.json["accessors"][positions].as_object_mut().unwrap().remove("bufferView");
    std::fs::write(&path, hand.glb()).unwrap();
    let mesh = gltf::read_mesh(&path, None).unwrap().value;
    assert_near(&mesh.positions[2..], &[Vec3::Z * 2.0, Vec3::new(0.0, 1.0, 3.0)], 1e-6, "zeros");
}

#[test]
fn text_files_with_buffers_inside_and_beside_are_read() {
    let scratch = Scratch::new("text");
    let bones: Vec<Bone> = vec![("hips", None, json!({})), ("chest", Some(0), json!({}))];
    let hand = figure(&bones, [0, 1], [Mat4::IDENTITY; 2]);
    let mut json = hand.json.clone();
    std::fs::write(scratch.file("the data.bin"), &hand.binary).unwrap();
    json["buffers"] = json!([{"uri": "the%20data.bin", "byteLength": hand.binary.len()}]);
    let path = scratch.file("figure.gltf");
    std::fs::write(&path, json.to_string()).unwrap();
    let beside = gltf::read_body(&path, None).unwrap().value;
    assert_eq!(beside.mesh.positions, CORNERS);
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for c in hand.binary.chunks(3) {
        let bits = c.iter().fold(0u32, |b, v| (b << 8) | u32::from(*v)) << (8 * (3 - c.len()));
        (0..4).for_each(|k| match k <= c.len() {
            true => text.push(digits[(bits >> (18 - 6 * k)) as usize & 63] as char),
            false => text.push('='),
        });
    }
    json["buffers"][0]["uri"] = json!(format!("data:application/octet-stream;base64,{text}"));
    std::fs::write(&path, json.to_string()).unwrap();
    assert_eq!(gltf::read_body(&path, None).unwrap().value, beside);
    for (uri, says) in [("gone.bin", "gone.bin"), ("/dev/zero", "relative"), ("..", "not a file")] {
        json["buffers"][0]["uri"] = json!(uri);
        std::fs::write(&path, json.to_string()).unwrap();
        let said = gltf::read_body(&path, None).unwrap_err().to_string();
        assert!(said.contains(says), "{uri}: {said}");
    }
}

#[test]
fn parts_are_chosen_by_name() {
    let scratch = Scratch::new("select");
    let bones: Vec<Bone> = vec![
        ("hips", None, json!({"translation": [0, 1, 0]})),
        ("head", Some(0), json!({"translation": [0, 0.5, 0], "rotation": q(0.0, 1.0, 0.0)})),
    ];
    let world = worlds(&bones);
    let mut hand = figure(&bones, [0, 1], [world[0].inverse(), world[1].inverse()]);
    hand.json["materials"] = json!([{"name": "Skin"}, {"name": "Shirt"}]);
    hand.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let mut shirt = hand.json["meshes"][0]["primitives"][0].clone();
    shirt["material"] = json!(1);
    shirt["indices"] = json!(hand.shorts(&[0, 2, 1], "SCALAR"));
    hand.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(shirt);
    // A hat without weights, hanging from the head.
    let position = hand.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    hand.push(
        "meshes",
        json!({"name": "felt", "primitives": [{"attributes": {"POSITION": position}, "mode": 6}]}),
    );
    let hat = hand.push("nodes", json!({"name": "hat", "mesh": 1, "translation": [0, 0.2, 0]}));
    hand.json["nodes"][1]["children"] = json!([hat]);
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let read = |select| gltf::read_body(&path, select);
    let whole = read(None).unwrap();
    assert!(whole.notes.iter().any(|n| n.contains("`hat`")), "{:?}", whole.notes);
    // Both primitives use the same vertices, which are therefore there once.
    assert_eq!((whole.value.mesh.positions.len(), whole.value.mesh.triangles.len()), (4, 3));
    // Only the vertices of what is selected.
    let shirt = read(Some("Shirt")).unwrap().value;
    assert_eq!((shirt.mesh.positions.len(), shirt.mesh.triangles.clone()), (3, vec![[0, 2, 1]]));
    assert_eq!(read(Some("figure")).unwrap().value, whole.value);
    assert_eq!(read(Some("SKINNED")).unwrap().value, whole.value);
    let dressed = read(Some("Shirt, hat")).unwrap().value;
    assert_eq!((dressed.mesh.positions.len(), dressed.mesh.triangles.len()), (7, 3));
    assert_eq!(read(Some("*")).unwrap().value.mesh.positions.len(), 8);
    assert_eq!(dressed.skin.row(5).collect::<Vec<_>>(), [(1, 1.0)]);
    let mut pose = dressed.skeleton.rest_pose();
    pose.locals[1].rotation *= Quat::from_rotation_x(0.8);
    let turned = world[1] * Mat4::from_rotation_x(0.8) * Mat4::from_translation(Vec3::Y * 0.2);
    let want = CORNERS.map(|p| turned.transform_point3(p));
    assert_near(&dressed.skinned_positions(&dressed.bones(&pose))[3..], &want, 1e-5, "hat");
    let said = read(Some("trousers")).unwrap_err().to_string();
    assert!(said.contains("`figure` (materials Skin, Shirt)") && said.contains("`hat`"), "{said}");
    let mesh = gltf::read_mesh(&path, Some("hat")).unwrap().value;
    let placed = world[1] * Mat4::from_translation(Vec3::Y * 0.2);
    assert_near(&mesh.positions, &CORNERS.map(|p| placed.transform_point3(p)), 1e-5, "hat alone");
}

#[test]
fn two_characters_are_listed_and_one_skeleton_with_two_skins_is_one_body() {
    let scratch = Scratch::new("two");
    let bones: Vec<Bone> = vec![
        ("hips", None, json!({"translation": [0, 1, 0]})),
        ("chest", Some(0), json!({})),
        ("hips.001", None, json!({})),
        ("chest.001", Some(2), json!({})),
    ];
    let world = worlds(&bones);
    let mut hand = figure(&bones, [0, 1], [world[0].inverse(), world[1].inverse()]);
    hand.push("skins", json!({"name": "other", "joints": [2, 3]}));
    hand.push("nodes", json!({"name": "twin", "mesh": 0, "skin": 1}));
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let said = gltf::read_body(&path, None).unwrap_err().to_string();
    assert!(said.contains("`figure`") && said.contains("`twin`") && said.contains("select"), "{said}");
    assert_eq!(gltf::read_body(&path, Some("twin")).unwrap().value.skeleton.joints[0].name, "hips.001");
    // The second skin on a part of the first one's joints, as VRM files have it for hair and face.
    hand.json["skins"][1] = json!({"joints": [1], "inverseBindMatrices": null});
    let binds = hand.matrices(&[Affine3A::from_mat4(world[1].inverse())]);
    hand.json["skins"][1]["inverseBindMatrices"] = json!(binds);
    let zeros = hand.shorts(&[0; 16], "VEC4");
    let mut face = hand.json["meshes"][0].clone();
    face["primitives"][0]["attributes"]["JOINTS_0"] = json!(zeros);
    let face = hand.push("meshes", face);
    hand.json["nodes"][5]["mesh"] = json!(face);
    std::fs::write(&path, hand.glb()).unwrap();
    let both = gltf::read_body(&path, None).unwrap();
    assert!(both.problems.is_empty(), "{:?}", both.problems);
    assert_eq!(both.value.skeleton.len(), 2);
    assert_eq!(both.value.mesh.positions.len(), 8);
    assert_eq!(both.value.skin.row(4).collect::<Vec<_>>(), [(1, 1.0)]);
    // Bound elsewhere by the second skin: still posed as the specification says.
    let other_bind = Mat4::from_rotation_z(0.4) * Mat4::from_translation(Vec3::new(0.3, 0.0, 0.0));
    let binds = hand.matrices(&[Affine3A::from_mat4(other_bind)]);
    hand.json["skins"][1]["inverseBindMatrices"] = json!(binds);
    std::fs::write(&path, hand.glb()).unwrap();
    let both = gltf::read_body(&path, None).unwrap().value;
    let have = both.skinned_positions(&both.bones(&both.skeleton.rest_pose()));
    let want = CORNERS.map(|p| (world[1] * other_bind).transform_point3(p));
    assert_near(&have[4..], &want, 1e-5, "bound elsewhere");
    assert_near(&have[..4], &CORNERS, 1e-5, "first skin");
}

#[test]
fn centimetres_and_z_up_are_guessed_and_said() {
    let scratch = Scratch::new("units");
    let bones: Vec<Bone> = vec![
        ("left foot", None, json!({"translation": [0, 0, 10]})),
        ("head", Some(0), json!({"translation": [0, 5, 150], "rotation": q(0.3, 0.2, 0.1)})),
    ];
    let world = worlds(&bones);
    let binds = [world[0].inverse(), world[1].inverse()];
    let mut hand = figure(&bones, [0, 1], binds);
    add_turn(&mut hand, 1, [Quat::IDENTITY, Quat::from_rotation_y(1.0)]);
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let loaded = gltf::read_body(&path, None).unwrap();
    assert!(loaded.notes.iter().any(|n| n.contains("centimetres")), "{:?}", loaded.notes);
    assert!(loaded.notes.iter().any(|n| n.contains("Z up")), "{:?}", loaded.notes);
    let body = loaded.value;
    let ours = |p: Vec3| Vec3::new(p.x, p.z, -p.y) * 0.01;
    let have = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    let want: Vec<Vec3> = expected([world[0], world[1]], binds).into_iter().map(ours).collect();
    assert_near(&have, &want, 1e-6, "at rest");
    assert_near(&body.mesh.positions, &want, 1e-6, "bind pose");
    let motion = &gltf::read_motions(&path, None, 10.0).unwrap().value[0];
    let mut turned = bones.clone();
    turned[1].2["rotation"] = json!(Quat::from_rotation_y(1.0).to_array());
    let world = worlds(&turned);
    let want: Vec<Vec3> = expected([world[0], world[1]], binds).into_iter().map(ours).collect();
    assert_near(&body.skinned_positions(&body.bones(&motion.poses[10])), &want, 1e-5, "turned");
}

#[test]
fn a_body_that_rests_in_another_pose_is_still_bound_upright_and_in_metres() {
    let scratch = Scratch::new("bent");
    // Centimetres and Z up below the armature, bent at rest by more than the bind pose.
    let top = json!({"scale": [0.01, 0.01, 0.01], "rotation": q(-std::f32::consts::FRAC_PI_2, 0.0, 0.0)});
    let straight = vec![
        ("armature", None, top),
        ("hips", Some(0), json!({"translation": [0, 0, 50]})),
        ("chest", Some(1), json!({"translation": [0, 0, 50]})),
    ];
    let world = worlds(&straight);
    let binds = [world[1].inverse(), world[2].inverse()];
    let mut bent: Vec<Bone> = straight.clone();
    bent[1].2["rotation"] = q(0.2, 0.0, 0.1);
    bent[2].2["rotation"] = q(0.5, 0.3, 0.0);
    let hand = figure(&bent, [1, 2], binds);
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let loaded = gltf::read_body(&path, None).unwrap();
    assert!(
        loaded.notes.is_empty() && loaded.problems.is_empty(),
        "{:?} {:?}",
        loaded.notes,
        loaded.problems
    );
    let body = loaded.value;
    assert_near(&body.mesh.positions, &CORNERS, 1e-6, "bind pose");
    let world = worlds(&bent);
    let have = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    assert_near(&have, &expected([world[1], world[2]], binds), 1e-5, "at rest");
}

#[test]
fn animations_without_a_skin_move_their_nodes() {
    let scratch = Scratch::new("skinless");
    let mut hand = Hand::new();
    hand.push("nodes", json!({"name": "armature", "children": [1]}));
    hand.push("nodes", json!({"name": "hips", "translation": [0, 1, 0], "children": [2]}));
    hand.push("nodes", json!({"name": "chest", "translation": [0, 0.5, 0]}));
    add_turn(&mut hand, 1, [Quat::IDENTITY, Quat::from_rotation_y(1.0)]);
    let path = scratch.file("moves.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    assert!(gltf::read_body(&path, None).is_err());
    let motion = gltf::read_motions(&path, None, 10.0).unwrap().value.remove(0);
    let names: Vec<&str> = motion.skeleton.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["hips", "chest"]);
    assert!(motion.poses[10].locals[0].rotation.dot(Quat::from_rotation_y(1.0)) > 0.99999);
}

#[test]
fn a_character_comes_with_its_motions_at_once() {
    let scratch = Scratch::new("at-once");
    let bones: Vec<Bone> = vec![("hips", None, json!({})), ("chest", Some(0), json!({"scale": [1, 2, 1]}))];
    let mut hand = figure(&bones, [0, 1], [Mat4::IDENTITY; 2]);
    add_turn(&mut hand, 1, [Quat::IDENTITY, Quat::from_rotation_x(1.0)]);
    hand.json["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": 0}]);
    let path = scratch.file("figure.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let both = gltf::read_character(&path, &Options::default(), 10.0).unwrap();
    let (body, motions) = both.value;
    assert_eq!(motions[0].skeleton, body.skeleton);
    assert!(both.problems.iter().any(|p| p.what.contains("morph")), "{:?}", both.problems);
    let listed = gltf::contents(&path).unwrap();
    assert_eq!(listed.skins[0].used_by, [2]);
    assert_eq!(listed.meshes[0].primitives[0].triangles, 2);
    assert_eq!((listed.animations[0].name.as_str(), listed.animations[0].duration_secs), ("turn", 1.0));
    assert_eq!((listed.vertices(), listed.triangles(), listed.joints()), (4, 2, 2));
    let text = listed.to_string();
    assert!(
        text.contains("`figure` (skinned), skinned to `skin`") && text.contains("1 morph targets"),
        "{text}"
    );
}

#[test]
fn mirrored_meshes_keep_their_outside_outside() {
    let mut hand = Hand::new();
    let positions = hand.points(&[Vec3::ZERO, Vec3::X, Vec3::Y]);
    hand.push("meshes", json!({"primitives": [{"attributes": {"POSITION": positions}}]}));
    hand.push("nodes", json!({"mesh": 0, "scale": [-1, 1, 1]}));
    let scratch = Scratch::new("mirrored");
    let path = scratch.file("mesh.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let mesh = gltf::read_mesh(&path, None).unwrap().value;
    // The triangle looks along +Z, and so does its image in a mirror across X.
    assert_near(&mesh.normals(), &[Vec3::Z; 3], 1e-6, "normals");
    assert_near(&mesh.positions, &[Vec3::ZERO, Vec3::NEG_X, Vec3::Y], 0.0, "positions");
}

#[test]
fn looks_are_those_of_the_bodys_triangles_and_never_cost_the_body() {
    let scratch = Scratch::new("looks");
    let bones: Vec<Bone> = vec![
        ("hips", None, json!({"translation": [0, 1, 0]})),
        ("head", Some(0), json!({"translation": [0, 0.5, 0]})),
    ];
    let world = worlds(&bones);
    let mut hand = figure(&bones, [0, 1], [world[0].inverse(), world[1].inverse()]);
    let view = hand.view(b"\x89PNG, as far as we look");
    hand.json["images"] = json!([{"bufferView": view, "mimeType": "image/png"}, {"uri": "missing.jpg"}]);
    hand.json["textures"] = json!([{"source": 0}, {"source": 1}]);
    let coat = json!({"baseColorFactor": [0.5, 2.0, 0.25, 1.0], "baseColorTexture": {"index": 0}, "roughnessFactor": 0.4});
    hand.json["materials"] = json!([
        {"name": "Coat", "pbrMetallicRoughness": coat, "alphaMode": "MASK", "alphaCutoff": 0.3},
        {"name": "Lost", "pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}, "doubleSided": true},
    ]);
    hand.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let mut lost = hand.json["meshes"][0]["primitives"][0].clone();
    lost["material"] = json!(1);
    lost["indices"] = json!(hand.shorts(&[0, 2, 1], "SCALAR"));
    hand.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(lost);
    let path = scratch.file("painted.glb");
    std::fs::write(&path, hand.glb()).unwrap();
    let body = gltf::read_body(&path, None).unwrap().value;
    let looks = gltf::read_looks(&path, None).unwrap();
    assert!(looks.problems.len() == 1 && looks.problems[0].what.contains("`Lost`"), "{:?}", looks.problems);
    let looks = looks.value;
    assert_eq!(looks.of_triangle.len(), body.mesh.triangles.len());
    assert_eq!(looks.of_triangle.last(), Some(&Some(1)));
    let coat = &looks.materials[0];
    assert_eq!((coat.base_colour, coat.roughness, coat.cutout), ([0.5, 1.0, 0.25], 0.4, 0.3));
    assert_eq!(looks.pictures[coat.picture.unwrap()], b"\x89PNG, as far as we look");
    assert!(looks.materials[1].picture.is_none() && looks.materials[1].two_sided);
    // Of a part alone, those of the part.
    assert_eq!(gltf::read_looks(&path, Some("Lost")).unwrap().value.of_triangle, [Some(1)]);
    // Nonsense where colours should be is no reason to lose the body.
    hand.json["materials"] =
        json!([{"pbrMetallicRoughness": 7}, {"pbrMetallicRoughness": {"baseColorTexture": {"index": 99}}}]);
    hand.json["textures"] = json!("none");
    std::fs::write(&path, hand.glb()).unwrap();
    assert_eq!(gltf::read_body(&path, None).unwrap().value, body);
    assert!(gltf::read_looks(&path, None).unwrap().value.pictures.is_empty());
}
