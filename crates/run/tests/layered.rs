//! The tier `layered` on the built-in mannequin and wardrobe: stable, step-independent, and where gravity says.

use glam::{Affine3A, Quat, Vec3};
use std::sync::{Arc, OnceLock};
use toile_assets::layers::{LayerSettings, layers, segments};
use toile_assets::{Body, Garment, Motion, Role, builtin};
use toile_run::{Layer, Layered, LayeredSettings, Layers, Tier, balance};

fn body() -> &'static Body {
    static BODY: OnceLock<Body> = OnceLock::new();
    BODY.get_or_init(|| builtin::body("mannequin:female").unwrap())
}

fn dressed(garment: &Garment) -> Arc<Layers> {
    let fabric = builtin::fabric(&garment.fabric).unwrap();
    let rest = garment.sim.positions.clone();
    let mut made = layers(body(), garment, &rest, &fabric, &LayerSettings::default()).unwrap();
    balance(&mut made, &LayeredSettings::default());
    Arc::new(made)
}

fn worn(name: &str) -> Arc<Layers> {
    dressed(&builtin::garment(name, body()).unwrap())
}

struct Clip {
    bones: Vec<Vec<Affine3A>>,
    fps: f64,
}

fn clip(name: &str, fps: f64, seconds: f64) -> Clip {
    let motion: Motion = builtin::motion(name, &body().skeleton).unwrap();
    let motion = motion.trimmed(0.0, seconds).unwrap().resampled(fps);
    Clip { bones: motion.poses.iter().map(|p| body().bones(p)).collect(), fps }
}

fn play(layers: &Arc<Layers>, clip: &Clip) -> Vec<Vec<Vec3>> {
    let mut tier = Layered::new(layers.clone(), LayeredSettings::default());
    let step = |bones: &Vec<Affine3A>| {
        tier.step(bones, 1.0 / clip.fps).unwrap();
        let mut out = vec![Vec3::ZERO; tier.vertices()];
        tier.positions(&mut out);
        out
    };
    clip.bones.iter().map(step).collect()
}

/// Farthest vertex from where skinning has it.
fn farthest(layers: &Layers, bones: &[Affine3A], positions: &[Vec3]) -> f32 {
    let skinned = layers.attachment.posed(bones);
    skinned.iter().zip(positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn garments_come_apart_as_they_are_worn() {
    let dress = worn("dress");
    let floating = dress.floating.as_ref().unwrap();
    let crotch = 0.47 * dress.height_m;
    for (v, p) in dress.attachment.rest.iter().enumerate().filter(|(_, p)| p.y < crotch - 0.1) {
        assert_eq!(dress.layer[v], Layer::Floating, "vertex {v} of the skirt at {p}");
    }
    let names: Vec<&str> = floating.limbs.iter().map(|l| l.name.as_str()).collect();
    for leg in ["left thigh", "left shin", "right thigh", "right shin"] {
        assert!(names.contains(&leg), "{names:?}");
    }
    let trousers = worn("pants");
    assert!(trousers.floating.is_none(), "trousers do not float");
    assert!(trousers.discs.len() * 3 > trousers.layer.len(), "{} discs", trousers.discs.len());
    let shirt = worn("shirt:900");
    assert_eq!(shirt.trunk.as_ref().unwrap().homes.rest.len(), 42);
    // Nobody is in two layers or in none.
    for made in [&dress, &trousers, &shirt] {
        let rigid: usize = made.rigid.iter().map(|(_, v)| v.len()).sum();
        let free = made.floating.as_ref().map_or(0, |f| f.free.len());
        assert_eq!(rigid + made.kinematic.len() + made.discs.len() + free, made.layer.len());
    }
}

#[test]
fn every_skin_triangle_is_in_one_segment_and_borders_are_in_both() {
    let segments = segments(body()).unwrap();
    let triangles: usize = segments.iter().map(|s| s.triangles.len()).sum();
    assert_eq!(triangles, body().mesh.triangles.len());
    let thigh = segments.iter().find(|s| s.role == Role::LeftUpperLeg).unwrap();
    let shin = segments.iter().find(|s| s.role == Role::LeftLowerLeg).unwrap();
    let shared = thigh.vertices.iter().filter(|v| shin.vertices.contains(v)).count();
    assert!(shared > 5, "{shared} vertices on the border at the knee");
}

#[test]
fn at_rest_cloth_stays_where_it_was_put() {
    for name in ["shirt:900", "pants"] {
        let layers = worn(name);
        let bones = vec![Affine3A::IDENTITY; body().skeleton.len()];
        let still = Clip { bones: vec![bones; 30], fps: 30.0 };
        let last = play(&layers, &still).pop().unwrap();
        let moved = farthest(&layers, &still.bones[0], &last);
        assert!(moved < 0.004, "{name} moved by {moved} m");
    }
}

#[test]
fn stable_from_long_to_short_steps_and_after_teleports() {
    for name in ["dress", "shirt:900", "pants"] {
        let layers = worn(name);
        for fps in [10.0, 30.0, 240.0] {
            let mut clip = clip("run:2.5", fps, 0.8);
            // Half way through, ten metres off and turned around.
            let half = clip.bones.len() / 2;
            let away =
                Affine3A::from_rotation_translation(Quat::from_rotation_y(2.0), Vec3::new(10.0, 0.0, 3.0));
            for f in half..clip.bones.len() {
                clip.bones[f].iter_mut().for_each(|b| *b = away * *b);
            }
            for (f, positions) in play(&layers, &clip).iter().enumerate() {
                let far = farthest(&layers, &clip.bones[f], positions);
                assert!(far < 0.45, "{name} at {fps} Hz, frame {f}: {far} m from its skinned place");
            }
        }
    }
}

#[test]
fn sleeves_do_not_depend_on_the_step() {
    let layers = worn("shirt:900");
    let (coarse, fine) = (clip("walk:1.2", 30.0, 1.5), clip("walk:1.2", 240.0, 1.5));
    let (a, b) = (play(&layers, &coarse), play(&layers, &fine));
    let mut worst = 0.0f32;
    // From half a second on: before that one of them has seen more frames of the start than the other.
    for f in 15..a.len() {
        for disc in layers.discs.iter().filter(|d| d.share > 0.9) {
            let v = disc.vertex as usize;
            let apart = a[f][v].distance(b[(8 * f).min(b.len() - 1)][v]);
            worst = worst.max(apart);
        }
    }
    assert!(worst < 0.005, "{:.1} mm between 1/240 and 1/30 s", 1000.0 * worst);
}

#[test]
fn sleeves_hang_down_swing_and_never_turn_inside_out() {
    let layers = worn("shirt:900");
    let bones = vec![Affine3A::IDENTITY; body().skeleton.len()];
    // The wearer lies on the back: what hung behind the arms at rest hangs there no longer.
    let lying = Affine3A::from_quat(Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2));
    let turned: Vec<Affine3A> = bones.iter().map(|b| lying * *b).collect();
    let still = Clip { bones: vec![turned; 60], fps: 30.0 };
    let frames = play(&layers, &still);
    let skinned = layers.attachment.posed(&still.bones[0]);
    let last = frames.last().unwrap();
    let (mut down, mut count) = (0.0, 0);
    for d in layers.discs.iter().filter(|d| d.share > 0.9) {
        let v = d.vertex as usize;
        let offset = last[v] - skinned[v];
        // In or out of the skin: it may come to lie on it, not below.
        let centre = layers.attachment.rest[v] - d.settled;
        let above = (lying.inverse().transform_point3(last[v]) - centre).dot(d.normal);
        assert!(above > -0.002, "vertex {v} is {above} m below its skin");
        down -= offset.y;
        count += 1;
    }
    let mean = down / count as f32;
    assert!(count > 100 && mean > 0.001, "{count} vertices hang {mean} m lower than skinning has them");
    // A shake sideways swings them and they come to rest again.
    let mut shaken = Clip { bones: Vec::new(), fps: 60.0 };
    for f in 0..120 {
        let t = (f as f32 / 60.0).min(0.5);
        let at = Vec3::X * 0.15 * (1.0 - (2.0 * std::f32::consts::PI * t / 0.5).cos());
        shaken.bones.push(bones.iter().map(|b| Affine3A::from_translation(at) * *b).collect());
    }
    let frames = play(&layers, &shaken);
    let moved = |f: usize| {
        let skinned = layers.attachment.posed(&shaken.bones[f]);
        let discs = layers.discs.iter().map(|d| d.vertex as usize);
        discs.map(|v| frames[f][v].distance(skinned[v])).fold(0.0, f32::max)
    };
    let (swing, rest) = ((5..35).map(moved).fold(0.0, f32::max), moved(119));
    assert!(swing > 0.004 && rest < 0.3 * swing, "swings by {swing} m, then {rest} m");
}

#[test]
fn what_cannot_be_put_into_layers_is_refused_with_the_reason() {
    let fabric = builtin::fabric("cotton").unwrap();
    let shirt = builtin::garment("shirt:900", body()).unwrap();
    let refused = |body: &Body, garment: &Garment, rest: &[Vec3]| {
        let made = layers(body, garment, rest, &fabric, &LayerSettings::default());
        made.unwrap_err().to_string()
    };
    let far: Vec<Vec3> = shirt.sim.positions.iter().map(|p| *p + Vec3::X * 5.0).collect();
    let said = refused(body(), &shirt, &far);
    assert!(said.contains("is not on body"), "{said}");
    let middle = Vec3::new(0.0, 1.2, 0.0);
    let inside: Vec<Vec3> = shirt.sim.positions.iter().map(|p| middle + (*p - middle) * 0.05).collect();
    let said = refused(body(), &shirt, &inside);
    assert!(said.contains("lies inside body"), "{said}");
    let mut painted = shirt.clone();
    painted.paint.max_distance_m = vec![0.1; 3];
    assert!(painted.check().unwrap_err().to_string().contains("3 painted max distances"));
    let mut limbless = body().clone();
    for (j, joint) in limbless.skeleton.joints.iter_mut().enumerate() {
        joint.name = format!("bone{j}");
        joint.parent = j.checked_sub(1);
    }
    let said = refused(&limbless, &shirt, &shirt.sim.positions);
    assert!(said.contains("no recognisable"), "{said}");
    let mut lying = body().clone();
    let down = Affine3A::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    lying.mesh.positions.iter_mut().for_each(|p| *p = down.transform_point3(*p));
    lying.joint_from_bind.iter_mut().for_each(|joint| *joint *= down.inverse());
    let said = refused(&lying, &shirt, &shirt.sim.positions);
    assert!(said.contains("does not stand in its bind pose"), "{said}");
}

#[test]
fn wind_blows_what_floats_and_a_storm_is_survived() {
    let (dress, stand) = (worn("dress"), clip("stand", 30.0, 1.0));
    let blown = |wind: Vec3| {
        let mut tier = Layered::new(dress.clone(), LayeredSettings { wind, ..LayeredSettings::default() });
        let mut out = vec![Vec3::ZERO; tier.vertices()];
        for bones in &stand.bones {
            tier.step(bones, 1.0 / stand.fps).unwrap();
        }
        tier.positions(&mut out);
        out
    };
    let (calm, windy, storm) = (blown(Vec3::ZERO), blown(Vec3::new(0.0, 0.0, 2.0)), blown(Vec3::Z * 1e9));
    assert_eq!(calm, *play(&dress, &stand).last().unwrap());
    assert_eq!(calm, blown(Vec3::NAN), "no wind that is a number is no wind");
    for v in 0..calm.len() {
        match dress.layer[v] {
            Layer::Floating => assert!(storm[v].is_finite()),
            _ => assert_eq!(calm[v], windy[v], "vertex {v} does not float"),
        }
    }
    let mean_z = |p: &[Vec3]| p.iter().map(|p| p.z).sum::<f32>() / p.len() as f32;
    assert!(mean_z(&windy) > mean_z(&calm) + 0.005, "{} {}", mean_z(&windy), mean_z(&calm));
}

#[test]
fn parts_of_one_joint_go_with_it_and_are_left_to_the_engine_where_that_is_asked_for() {
    let mut shirt = builtin::garment("shirt:900", body()).unwrap();
    shirt.paint.layer = vec![Some(Layer::Stretch); shirt.sim.positions.len()];
    let mut made = Layers::clone(&dressed(&shirt));
    // A pocket that sticks to one joint, as a file of a character has buckles.
    let pocket: Vec<u32> = made.kinematic.split_off(made.kinematic.len() - 12);
    let joint = body().skeleton.len() as u16 / 2;
    made.rigid.push((joint, pocket.clone()));
    let (layers, clip) = (Arc::new(made), clip("walk:1.2", 30.0, 0.5));
    let posed = play(&layers, &clip);
    for (f, positions) in posed.iter().enumerate() {
        for &v in &pocket {
            let there = clip.bones[f][joint as usize].transform_point3(layers.attachment.rest[v as usize]);
            assert_eq!(positions[v as usize], there, "frame {f}");
        }
    }
    // A wearer that stands still and goes on: what was skipped is not left behind.
    let stops: Vec<usize> = [0, 3, 3, 3, 7, 7, 3, 3, 8].into();
    let standing = Clip { bones: stops.iter().map(|f| clip.bones[*f].clone()).collect(), fps: 30.0 };
    for (positions, bones) in play(&layers, &standing).iter().zip(&standing.bones) {
        let v = pocket[0] as usize;
        assert_eq!(positions[v], bones[joint as usize].transform_point3(layers.attachment.rest[v]));
    }
    let settings = LayeredSettings { leave_rigid: true, ..LayeredSettings::default() };
    let mut tier = Layered::new(layers.clone(), settings);
    let mut out = vec![Vec3::ZERO; tier.vertices()];
    for (f, bones) in clip.bones.iter().enumerate() {
        tier.step(bones, 1.0 / clip.fps).unwrap();
        tier.positions(&mut out);
        for v in 0..out.len() {
            let left = layers.rigid.iter().any(|(_, part)| part.contains(&(v as u32)));
            let there = if left { layers.attachment.rest[v] } else { posed[f][v] };
            assert_eq!(out[v], there, "frame {f}, vertex {v}");
        }
    }
}
