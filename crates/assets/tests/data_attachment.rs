//! Garments cut for a real body, carried through a stride. Runs only where `TOILE_DATA` names the folder;
//! with `TOILE_LOOK` naming another, the posed meshes are left there as OBJ files.

#![allow(clippy::disallowed_methods)] // it reports how long things take

use glam::{Quat, Vec3};
use serde_json::Value;
use std::path::Path;
use toile_assets::read::garment::{RestChoice, read_garment};
use toile_assets::read::obj::read_obj;
use toile_assets::write::obj::write_mesh;
use toile_assets::{
    AttachmentSettings, Body, Joint, Mesh, Skeleton, Skin, Transform, attach, edges_through, self_crossings,
};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The character from its OBJ and JSON files, which need no glTF reader.
fn body(folder: &Path) -> Body {
    let skeleton = json(&folder.join("mh_female_skeleton.json"));
    let listed = skeleton["joints"].as_array().unwrap();
    let name = |j: &Value| j["name"].as_str().unwrap().to_string();
    let head = |j: &Value| Vec3::from_array([0, 1, 2].map(|k| j["head"][k].as_f64().unwrap() as f32));
    let find = |n: &str| listed.iter().position(|j| j["name"] == n);
    let joints = listed
        .iter()
        .map(|j| {
            let parent = j["parent"].as_str().and_then(find);
            let at = head(j) - parent.map_or(Vec3::ZERO, |p| head(&listed[p]));
            Joint { name: name(j), parent, rest: Transform::from_translation(at) }
        })
        .collect();
    let obj = read_obj(folder.join("mh_female_body.obj")).unwrap().value;
    let weights = json(&folder.join("mh_weights_full.json"));
    let order: Vec<u16> = weights["joints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| find(n.as_str().unwrap()).unwrap() as u16)
        .collect();
    let rows: Vec<Vec<(u16, f32)>> = obj
        .position_index
        .iter()
        .map(|&v| {
            let row = weights["weights"][v as usize].as_array().unwrap();
            let entry = |e: &Value| (order[e[0].as_u64().unwrap() as usize], e[1].as_f64().unwrap() as f32);
            row.iter().map(entry).collect()
        })
        .collect();
    let skeleton = Skeleton::new(joints).unwrap();
    Body::bound_at_rest("mh_female", skeleton, obj.mesh, Skin::from_rows(rows).unwrap()).unwrap()
}

/// Median, 99th percentile and greatest ratio of edge lengths, posed over rest.
fn stretch(garment: &Mesh, posed: &[Vec3]) -> [f32; 3] {
    let mut ratios: Vec<f32> = garment
        .topology()
        .edges
        .iter()
        .map(|e| {
            let [a, b] = e.ends.map(|v| v as usize);
            posed[a].distance(posed[b]) / garment.positions[a].distance(garment.positions[b])
        })
        .collect();
    ratios.sort_by(f32::total_cmp);
    [ratios[ratios.len() / 2], ratios[ratios.len() * 99 / 100], ratios[ratios.len() - 1]]
}

#[test]
fn real_garments_stay_whole_in_a_stride() {
    let Some(folder) = std::env::var_os("TOILE_DATA") else {
        eprintln!("skipped: TOILE_DATA names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let body = body(&folder.join("character"));
    let mut pose = body.skeleton.rest_pose();
    let mut turn = |name: &str, degrees: f32| {
        let j = body.skeleton.find(name).unwrap();
        pose.locals[j].rotation = Quat::from_rotation_x(degrees.to_radians());
    };
    turn("LeftUpLeg", -35.0);
    turn("LeftLeg", 15.0);
    turn("RightUpLeg", 25.0);
    turn("RightLeg", 35.0);
    let bones = body.bones(&pose);
    let look = std::env::var_os("TOILE_LOOK");
    let show = |name: &str, mesh: &Mesh, positions: Vec<Vec3>| {
        if let Some(look) = &look {
            let mesh = Mesh { positions, ..mesh.clone() };
            write_mesh(Path::new(look).join(format!("{name}.obj")), &mesh).unwrap();
        }
    };
    show("body", &body.mesh, body.skinned_positions(&bones));
    for name in
        ["circle_skirt_6k", "pencil_skirt_2k", "dress_8k", "longdress_8k", "pants_4k", "cape_4k", "tshirt_4k"]
    {
        let path = folder.join(format!("garments/garmentcode/{name}.obj"));
        let garment = read_garment(&path, RestChoice::Auto, None).unwrap().value.sim;
        let plain = AttachmentSettings::default().with(|s| s.legs = false);
        let start = std::time::Instant::now();
        let before = attach(&body, &garment, &plain).unwrap().posed(&bones);
        let ms = start.elapsed().as_millis();
        let after = attach(&body, &garment, &AttachmentSettings::default()).unwrap().posed(&bones);
        let (p, q) = (stretch(&garment, &before), stretch(&garment, &after));
        println!("{name}: smoothed closest points {p:.2?} in {ms} ms, legs apart {q:.2?}");
        show(&format!("{name}_plain"), &garment, before);
        show(name, &garment, after);
        if name.contains("skirt") || name.contains("dress") || name.contains("cape") {
            assert!(q[2] < p[2].max(1.6) && q[1] < 1.6, "{name}");
        }
    }
}

/// Edges that cross the garment itself and the body, as an independent program counted them.
#[test]
fn crossings_of_real_garments_are_those_known() {
    let Some(folder) = std::env::var_os("TOILE_DATA") else {
        eprintln!("skipped: TOILE_DATA names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let body = body(&folder.join("character")).mesh;
    for (name, in_itself, in_body) in [
        ("garmentcode/dress_8k", 0, 0),
        ("garmentcode/dress_2k", 0, 2),
        ("garmentcode/longdress_8k", 0, 1),
        ("garmentcode/tshirt_4k", 5, 0),
        ("garmentcode/pants_4k", 0, 0),
        ("garmentcode/cape_4k", 0, 0),
        ("makehuman/female_elegantsuit01__mh_female", 41, 382),
        ("makehuman/mh_skirt__mh_female", 0, 25),
    ] {
        let path = folder.join(format!("garments/{name}.obj"));
        let garment = read_garment(&path, RestChoice::Auto, None).unwrap().value.sim;
        let edges = |mut found: Vec<toile_assets::Crossing>| {
            found.dedup_by_key(|c| c.edge);
            found.len()
        };
        let found = [self_crossings(&garment), edges_through(&garment, &body)].map(edges);
        assert_eq!(found, [in_itself, in_body], "{name}");
    }
}
