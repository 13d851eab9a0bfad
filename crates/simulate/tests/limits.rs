//! Painted limits are part of what is solved.

use glam::Vec3;
use toile_assets::{AttachmentSettings, Garment, attach, builtin};
use toile_simulate::{DrapeSettings, Recorder, Settings, drape};

/// Farthest beyond its limits, m: any vertex of any frame of a walk, against the garment as it hangs.
fn beyond(garment: &Garment, painted: &Garment) -> f32 {
    let body = builtin::body("mannequin:female").unwrap();
    let fabric = builtin::fabric(&garment.fabric).unwrap();
    let walk = builtin::motion("walk:1.2", &body.skeleton).unwrap().trimmed(0.2, 0.7).unwrap();
    let settings = DrapeSettings::default();
    let world = drape(&body, garment, &fabric, &Settings::default(), &settings).unwrap();
    let rest: Vec<Vec3> = world.state.x.iter().map(|p| p.as_vec3()).collect();
    let mut mesh = garment.sim.clone();
    mesh.positions.clone_from(&rest);
    let attachment = attach(&body, &mesh, &AttachmentSettings::default()).unwrap();
    let take = Recorder::new(&body, garment).record_draped(&world, &walk).unwrap().take;
    let limits = painted.limits(&rest);
    let mut worst = 0.0f32;
    for f in 0..take.len() {
        let mut kept = take.frame(f).to_vec();
        limits.keep(&attachment, take.frame_bones(f), &mut kept);
        let far = kept.iter().zip(take.frame(f)).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        worst = worst.max(far);
    }
    worst
}

#[test]
fn the_simulation_keeps_what_is_painted() {
    let body = builtin::body("mannequin:female").unwrap();
    let plain = builtin::garment("skirt:300", &body).unwrap();
    let mut painted = plain.clone();
    painted.paint.max_distance_m = vec![0.1; plain.sim.positions.len()];
    painted.paint.backstop_m = vec![0.01; plain.sim.positions.len()];
    let (free, held) = (beyond(&plain, &painted), beyond(&painted, &painted));
    assert!(free > 0.03, "without limits it goes {free} m beyond them");
    assert!(held < 0.005, "with limits it goes {held} m beyond them");
}
