//! The viewer played without a window.

use super::*;
use toile_assets::disk;

fn settled(viewer: &mut Viewer) {
    for _ in 0..2000 {
        viewer.advance(0.0);
        if viewer.tracks.iter().all(|t| t.waits() || t.ready() == viewer.playback.frames) {
            return;
        }
    }
    panic!("tracks were never made");
}

#[test]
fn the_built_in_scene_plays_and_scrubs_and_panes_stay_together() {
    let mut viewer = Viewer::new().unwrap();
    assert_eq!(viewer.ways(), [Way::Layered]);
    viewer.act(Action::Panes(2));
    assert_eq!(viewer.ways(), [Way::Layered, Way::Skin], "what is not there is not shown");
    settled(&mut viewer);
    viewer.advance(0.2);
    assert!(viewer.playback.frame > 1.0);
    viewer.act(Action::Scrub(12.0));
    viewer.advance(1.0);
    assert_eq!(viewer.playback.frame, 12.0);
    let (layered, skinned) = (viewer.pane(0), viewer.pane(1));
    let (scene, camera) = viewer.scene(0, &layered, 1.5);
    assert!(scene.items.len() == 2 && camera.check().is_ok());
    let (other, _) = viewer.scene(1, &skinned, 1.5);
    assert_ne!(scene.items[1].positions, other.items[1].positions);
    assert_eq!(scene.items[0].positions, other.items[0].positions, "one body in one pose");
    assert!(viewer.notes(0).iter().skip(1).all(|n| n.lively_cm_per_s.is_some() && n.step_us > 0.0));
}

#[test]
fn switches_leave_out_what_they_name() {
    let mut viewer = Viewer::new().unwrap();
    settled(&mut viewer);
    let items = |viewer: &mut Viewer| {
        let frame = viewer.pane(0);
        viewer.scene(0, &frame, 1.0).0.items.len()
    };
    assert_eq!(items(&mut viewer), 2);
    viewer.act(Action::Switch(Switch::Body));
    assert_eq!(items(&mut viewer), 1);
    viewer.act(Action::Switch(Switch::Cloth));
    assert_eq!(items(&mut viewer), 0);
    viewer.act(Action::Switch(Switch::Heat));
    assert!(viewer.messages.shown()[0].text.contains("no truth"), "{:?}", viewer.messages.shown());
}

#[test]
fn what_cannot_be_opened_is_said_and_changes_nothing() {
    let mut viewer = Viewer::new().unwrap();
    let title = viewer.title();
    disk::hand_over("broken.glb", &b"glTF\x02\0\0\0"[..]);
    disk::hand_over("notes.txt", &b"hello"[..]);
    disk::hand_over("broken.toile", &b"hello"[..]);
    for name in ["broken.glb", "notes.txt", "broken.toile", "no such thing"] {
        assert!(!viewer.open(&[name.into()]), "{name}");
        let said = viewer.messages.shown().last().unwrap();
        assert!(said.fault && said.text.contains(name), "{said:?}");
    }
    assert_eq!(viewer.title(), title);
    viewer.act(Action::Choose(0, Way::Stable));
    assert_eq!(viewer.ways(), [Way::Layered], "there is no model");
    settled(&mut viewer);
}

#[test]
fn names_are_opened_in_an_order_in_which_they_fit() {
    let mut viewer = Viewer::new().unwrap();
    assert!(viewer.open(&["skirt".into(), "run".into(), "mannequin:male".into()]));
    let title = viewer.title();
    assert!(title.contains("male") && title.contains("skirt") && title.contains("run"), "{title}");
    settled(&mut viewer);
}

#[test]
fn wind_moves_floating_cloth_and_nothing_else() {
    let mut viewer = Viewer::new().unwrap();
    viewer.act(Action::Panes(2));
    settled(&mut viewer);
    viewer.act(Action::Scrub(20.0));
    let calm = [viewer.pane(0), viewer.pane(1)];
    viewer.act(Action::Wind(Vec3::new(0.0, 0.0, -3.0)));
    settled(&mut viewer);
    let (blown, skinned) = (viewer.pane(0), viewer.pane(1));
    let z = |f: &PaneFrame, viewer: &Viewer, pane| {
        let (scene, _) = viewer.scene(pane, f, 1.0);
        scene.items[1].positions.iter().map(|p| p.z).sum::<f32>() / scene.items[1].positions.len() as f32
    };
    assert!(z(&blown, &viewer, 0) < z(&calm[0], &viewer, 0) - 0.01);
    assert_eq!(z(&skinned, &viewer, 1), z(&calm[1], &viewer, 1));
}

#[test]
fn a_simulation_is_waited_for_and_then_compared_with() {
    use std::sync::mpsc;
    let mut viewer = Viewer::new().unwrap().simulated_by(Box::new(|order: Order| {
        let (send, receive) = mpsc::channel();
        let bones: Vec<_> = order.motion.poses.iter().flat_map(|p| order.body.bones(p)).collect();
        let cloth = &order.garment.sim.positions;
        let frames = order.motion.len();
        let take = toile_assets::Take {
            clip: order.motion.name.clone(),
            fps: order.motion.fps,
            triangles: order.garment.sim.triangles.clone(),
            positions: (0..frames).flat_map(|_| cloth.iter().copied()).collect(),
            vertices: cloth.len(),
            bones,
            joints: order.body.skeleton.len(),
            roots: toile_assets::RootTrack::new(&order.body.skeleton, &order.motion.poses).frames,
            reports: vec![Default::default(); frames],
            draped: Vec::new(),
            stop_frame: None,
            verdict: None,
            provenance: None,
            notes: Vec::new(),
        };
        send.send(Ok(take)).unwrap();
        receive
    }));
    viewer.act(Action::Panes(2));
    assert_eq!(viewer.ways(), [Way::Layered, Way::Skin], "nothing is simulated before one asks for it");
    viewer.act(Action::Choose(1, Way::Full));
    assert_eq!(viewer.ways(), [Way::Layered, Way::Full]);
    viewer.act(Action::Switch(Switch::Heat));
    viewer.act(Action::Switch(Switch::Ghost));
    settled(&mut viewer);
    viewer.act(Action::Scrub(5.0));
    assert!(viewer.notes(0)[5].error_cm.is_some_and(|cm| cm > 0.1));
    let frame = viewer.pane(0);
    assert!(frame.red_cm.is_some());
    assert_eq!(viewer.scene(0, &frame, 1.0).0.items.len(), 3, "the truth as a ghost beside body and cloth");
}

#[test]
fn a_film_has_every_frame_of_the_clip_once() {
    let mut viewer = Viewer::new().unwrap();
    let frames = viewer.playback.frames;
    viewer.act(Action::Record);
    let mut film = None;
    for _ in 0..5000 {
        viewer.advance(0.01);
        film = viewer.film_frame(|| Ok(crate::Image::new(2, 2, [0; 4])));
        if film.is_some() {
            break;
        }
    }
    assert_eq!(film.map(|(f, _)| f.len()), Some(frames));
    assert!(viewer.recording().is_none());
}
