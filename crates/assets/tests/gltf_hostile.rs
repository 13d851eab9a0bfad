//! Whatever the bytes, an error or a body comes back: never a panic, never memory beyond the file's size.

mod gltf_figure;

use gltf_figure::{Hand, Scratch, tube, wave};
use serde_json::{Value, json};
use std::path::Path;
use toile_assets::read::gltf;
use toile_assets::write::glb;
use toile_assets::{Body, Error};
use toile_geometry::Random;

/// Reads everything there is to read; the values must be usable when they come.
fn read_all(path: &Path) -> Result<Body, Error> {
    let _ = gltf::contents(path);
    if let Ok(mesh) = gltf::read_mesh(path, None) {
        assert!(mesh.value.positions.iter().all(|p| p.is_finite()));
    }
    let motions = gltf::read_motions(path, None, 30.0);
    let body = gltf::read_body(path, None)?.value;
    let _ = gltf::read_body(path, Some("*"));
    let _ = gltf::read_body(path, Some("tube, nothing"));
    let count = body.mesh.positions.len();
    assert!(body.mesh.triangles.iter().flatten().all(|&i| (i as usize) < count));
    assert!(body.mesh.positions.iter().all(|p| p.is_finite()));
    let _ = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    for motion in motions.map(|m| m.value).unwrap_or_default() {
        assert!(motion.poses.iter().flat_map(|p| &p.locals).all(|l| l.rotation.is_finite()));
        let _ = body.skinned_positions(&body.bones(&motion.poses[0]));
    }
    Ok(body)
}

/// A small character of two influences with an animation, as we write it.
fn sound(scratch: &Scratch) -> Vec<u8> {
    let body = tube(2);
    let path = scratch.file("sound.glb");
    glb::write_body(&path, &body, &[wave(&body, 4, 30.0)]).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn cut_off_files_are_errors() {
    let scratch = Scratch::new("cut");
    let bytes = sound(&scratch);
    let path = scratch.file("cut.glb");
    for part in 0..64 {
        let end = bytes.len() * part / 64;
        std::fs::write(&path, &bytes[..end]).unwrap();
        let said = read_all(&path).expect_err("a part of a file is not a file").to_string();
        assert!(said.contains("cut.glb"), "{said}");
    }
    std::fs::write(&path, &bytes).unwrap();
    read_all(&path).unwrap();
}

#[test]
fn changed_bytes_never_panic() {
    let scratch = Scratch::new("flip");
    let bytes = sound(&scratch);
    let json_end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let path = scratch.file("flipped.glb");
    // More on request: a night of them finds what three hundred do not.
    let cases = std::env::var("TOILE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300u64);
    let mut survived = 0;
    for case in 0..cases {
        let seed = case + 1;
        let mut random = Random::new(seed);
        let mut broken = bytes.clone();
        for _ in 0..1 + random.below(8) {
            // A third of the blows go to numbers of the JSON, which are indices, counts and offsets.
            let end = if case % 2 == 0 { json_end } else { broken.len() };
            let at = random.below(end);
            let digit = broken[at..json_end.max(at)].iter().position(u8::is_ascii_digit);
            match (random.below(3), digit) {
                (0, Some(ahead)) => broken[at + ahead] = b'0' + random.below(10) as u8,
                (1, _) => broken[at] ^= 1 << random.below(8),
                _ => broken[at] = random.bits() as u8,
            }
        }
        std::fs::write(&path, &broken).unwrap();
        let result = std::panic::catch_unwind(|| read_all(&path).is_ok());
        survived += u64::from(result.unwrap_or_else(|_| panic!("seed {seed} panics")));
    }
    // Neither all of them nor none, or the blows do not reach anything.
    let least = cases / 30;
    assert!((least..cases - least).contains(&survived), "{survived} of {cases} were still readable");
}

/// The sound file taken apart, to be changed in its JSON or its buffer and put together again.
fn taken_apart(scratch: &Scratch) -> Hand {
    let bytes = sound(scratch);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    Hand { json, binary: bytes[28 + length..].to_vec() }
}

#[test]
fn faults_are_named_with_their_place() {
    let scratch = Scratch::new("faults");
    let accessor = |hand: &Hand, name: &str| {
        hand.json["meshes"][0]["primitives"][0]["attributes"][name].as_u64().unwrap() as usize
    };
    let start = |hand: &Hand, accessor: usize| {
        let view = hand.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
        hand.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize
    };
    let poke = |hand: &mut Hand, accessor: usize, at: usize, bytes: &[u8]| {
        let from = start(hand, accessor) + at;
        hand.binary[from..from + bytes.len()].copy_from_slice(bytes);
    };
    type Blow<'a> = Box<dyn Fn(&mut Hand) + 'a>;
    let blows: Vec<(&str, Blow)> = vec![
        (
            "mesh 0 `tube`, primitive 0, POSITION",
            Box::new(|h| {
                let a = accessor(h, "POSITION");
                h.json["accessors"][a]["count"] = json!(4_000_000_000u64);
            }),
        ),
        (
            "without data",
            Box::new(|h| {
                let a = accessor(h, "POSITION");
                h.json["accessors"][a]["count"] = json!(4_000_000_000u64);
                h.json["accessors"][a].as_object_mut().unwrap().remove("bufferView");
            }),
        ),
        (
            "do not fit",
            Box::new(|h| {
                let a = accessor(h, "POSITION");
                h.json["accessors"][a]["count"] = json!(u64::MAX);
                h.json["accessors"][a]["byteOffset"] = json!(u64::MAX);
            }),
        ),
        (
            "element 2 is not a finite number",
            Box::new(|h| {
                let a = accessor(h, "POSITION");
                poke(h, a, 28, &f32::NAN.to_le_bytes());
            }),
        ),
        (
            "WEIGHTS_0: element 0 is not",
            Box::new(|h| {
                let a = accessor(h, "WEIGHTS_0");
                poke(h, a, 4, &f32::INFINITY.to_le_bytes());
            }),
        ),
        (
            "negative weight",
            Box::new(|h| {
                let a = accessor(h, "WEIGHTS_0");
                poke(h, a, 0, &(-0.5f32).to_le_bytes());
            }),
        ),
        (
            "JOINTS_0: vertex 3 names joint 200, the skin has 7",
            Box::new(|h| {
                let a = accessor(h, "JOINTS_0");
                poke(h, a, 12, &[200]);
            }),
        ),
        (
            "indices: entry 1 names vertex 65000",
            Box::new(|h| {
                let a = h.json["meshes"][0]["primitives"][0]["indices"].as_u64().unwrap() as usize;
                poke(h, a, 2, &65000u16.to_le_bytes());
            }),
        ),
        ("cyclic", Box::new(|h| h.json["nodes"][6]["children"] = json!([0]))),
        ("cyclic", Box::new(|h| h.json["nodes"][7]["children"] = json!([7]))),
        ("already a child", Box::new(|h| h.json["nodes"][6]["children"] = json!([1]))),
        ("has child 99", Box::new(|h| h.json["nodes"][6]["children"] = json!([99]))),
        ("skin 0: names node 99", Box::new(|h| h.json["skins"][0]["joints"][3] = json!(99))),
        (
            "matrices for 8 joints",
            Box::new(|h| h.json["skins"][0]["joints"] = json!([0, 1, 2, 3, 4, 5, 6, 7])),
        ),
        ("names skin 5", Box::new(|h| h.json["nodes"][7]["skin"] = json!(5))),
        ("names mesh 5", Box::new(|h| h.json["nodes"][7]["mesh"] = json!(5))),
        ("names accessor 999", Box::new(|h| h.json["skins"][0]["inverseBindMatrices"] = json!(999))),
        (
            "stride of 4",
            Box::new(|h| {
                h.json["bufferViews"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|v| v["byteStride"] = json!(4))
            }),
        ),
        (
            "reaches beyond",
            Box::new(|h| {
                h.json["bufferViews"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|v| v["byteLength"] = json!(1u64 << 40))
            }),
        ),
        (
            "names buffer 3",
            Box::new(|h| {
                h.json["bufferViews"].as_array_mut().unwrap().iter_mut().for_each(|v| v["buffer"] = json!(3))
            }),
        ),
        ("of no length", Box::new(|h| h.json["nodes"][2]["rotation"] = json!([0, 0, 0, 0]))),
        ("too far away", Box::new(|h| h.json["nodes"][2]["translation"] = json!([1e300, 0, 0]))),
        ("is not read; export as glTF 2.0", Box::new(|h| h.json["asset"]["version"] = json!("1.0"))),
        (
            "Blender unpacks",
            Box::new(|h| h.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"])),
        ),
        ("gltfpack", Box::new(|h| h.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]))),
        (
            "over and over",
            Box::new(|h| {
                // A little JSON that asks for the same mesh again and again.
                let node = h.json["nodes"][7].clone();
                let nodes = h.json["nodes"].as_array_mut().unwrap();
                nodes.extend(std::iter::repeat_n(node, 5_000));
            }),
        ),
    ];
    let path = scratch.file("broken.glb");
    for (says, blow) in blows {
        let mut hand = taken_apart(&scratch);
        blow(&mut hand);
        std::fs::write(&path, hand.glb()).unwrap();
        let said = read_all(&path).expect_err(says).to_string();
        assert!(said.contains(says) && said.contains("broken.glb"), "`{said}` does not say `{says}`");
    }
}

#[test]
fn faults_of_animations_are_named_with_their_place() {
    let scratch = Scratch::new("clips");
    let path = scratch.file("broken.glb");
    let sampler =
        |h: &Hand, end: &str| h.json["animations"][0]["samplers"][0][end].as_u64().unwrap() as usize;
    let poke = |h: &mut Hand, end: &str, at: usize, v: f32| {
        let view = h.json["accessors"][sampler(h, end)]["bufferView"].as_u64().unwrap() as usize;
        let from = h.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize + at;
        h.binary[from..from + 4].copy_from_slice(&v.to_le_bytes());
    };
    type Blow<'a> = Box<dyn Fn(&mut Hand) + 'a>;
    let blows: Vec<(&str, Blow)> = vec![
        ("`wave`, channel 0, times: element 1", Box::new(|h| poke(h, "input", 4, f32::NAN))),
        ("too many", Box::new(|h| poke(h, "input", 12, 1e30))),
        ("before the key", Box::new(|h| poke(h, "input", 4, -1.0))),
        ("values: element 0", Box::new(|h| poke(h, "output", 8, f32::NEG_INFINITY))),
        (
            "4 values for 4 keys, 3 each",
            Box::new(|h| {
                h.json["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE");
            }),
        ),
        (
            "does not exist",
            Box::new(|h| h.json["animations"][0]["samplers"][0]["interpolation"] = json!("MAGIC")),
        ),
        ("names sampler 77", Box::new(|h| h.json["animations"][0]["channels"][0]["sampler"] = json!(77))),
        ("names node 77", Box::new(|h| h.json["animations"][0]["channels"][0]["target"]["node"] = json!(77))),
        (
            "is VEC3 where 4",
            Box::new(|h| {
                let a = sampler(h, "output");
                h.json["accessors"][a]["type"] = json!("VEC3");
            }),
        ),
        (
            "there are no keys",
            Box::new(|h| {
                let a = sampler(h, "input");
                h.json["accessors"][a]["count"] = json!(0);
            }),
        ),
    ];
    for (says, blow) in blows {
        let mut hand = taken_apart(&scratch);
        blow(&mut hand);
        std::fs::write(&path, hand.glb()).unwrap();
        gltf::read_body(&path, None).expect("the body itself is sound");
        let said = gltf::read_motions(&path, None, 30.0).expect_err(says).to_string();
        assert!(said.contains(says), "`{said}` does not say `{says}`");
    }
}

#[test]
fn other_bytes_are_errors() {
    let scratch = Scratch::new("other");
    let path = scratch.file("other.glb");
    let endless: Vec<u8> = [b"glTF".as_slice(), &2u32.to_le_bytes(), &[255; 12]].concat();
    let nested = "[".repeat(100_000).into_bytes();
    let cases: [&[u8]; 8] = [
        b"",
        b"{}",
        b"null",
        b"glTF",
        b"\xFF\xD8\xFF",
        b"{\"asset\":{\"version\":\"2.0\"}}",
        &endless,
        &nested,
    ];
    for bytes in cases {
        std::fs::write(&path, bytes).unwrap();
        assert!(read_all(&path).is_err(), "{bytes:?}");
        assert!(gltf::read_mesh(&path, None).is_err(), "{bytes:?}");
    }
    assert!(read_all(&scratch.file("missing.glb")).is_err());
}
