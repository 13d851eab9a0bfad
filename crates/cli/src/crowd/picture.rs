//! The crowd as one sees it: everyone on the ground before a camera, each at another moment of their clip.

use super::{Args, Clip};
use crate::driver;
use crate::output;
use crate::picture::DEPTH_SLACK_M;
use crate::progress;
use crate::resolve::{BadRequest, ending};
use anyhow::Result;
use glam::{DQuat, DVec3, Quat, Vec3};
use indicatif::ProgressBar;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Body, Model, RootFrame};
use toile_geometry::Random;
use toile_run::{Actor, Crowd, CrowdSettings, Instance};
use toile_show::{
    Camera, Flock, Image, Item, Material, Member, MeshHandle, Scene, decimate, smooth_normals, srgb,
    uncovered_m,
};

/// Beyond this nobody is told apart, and memory grows past a few gigabytes.
pub const MOST: usize = 20_000;
/// Metres between neighbours: nobody's skirt touches the next.
const SPACING_M: f32 = 1.35;
/// The eye's height, and how far before it the first row stands.
const EYE_M: f32 = 4.6;
const FIRST_ROW_M: f32 = 7.5;
const FOV_Y_DEGREES: f32 = 28.0;
/// Nearer than this bodies and clothes are drawn in full, beyond it bodies with fewer triangles.
const NEAR_M: f32 = 15.0;
/// One vertex of a far body in each cell of this size.
const CELL_M: f32 = 0.035;
/// Frames before the picture, so that cloth swings as it does on the way: two seconds.
const BEFORE: usize = 60;

/// Refuses a place that cannot be written before any work is done.
pub fn check(path: &Path, args: &Args) -> Result<()> {
    if ending(&path.to_string_lossy()) != "png" {
        return Err(BadRequest(format!("{}: the picture is written as .png", path.display())).into());
    }
    let names = args.motion.iter().chain([&args.body]).map(String::as_str);
    args.overwrite.check(path, output::named(names, &args.model))
}

/// Someone in the crowd.
pub(super) struct Person<'a> {
    pub clip: &'a Clip,
    /// The frame of the clip in the picture.
    pub frame: usize,
    /// Where they stand in the picture and how they are turned against their clip.
    pub place: Vec3,
    turn: f64,
    dress: Vec3,
    skin: Vec3,
}

impl Person<'_> {
    /// The place of the clip's origin: the picture's frame puts the root over `place`.
    pub fn actor(&self) -> Actor {
        let rotation = DQuat::from_rotation_y(self.turn);
        let root = rotation * self.clip.roots[self.frame].position;
        let position = self.place.as_dvec3() - DVec3::new(root.x, 0.0, root.z);
        Actor { position, rotation: Quat::from_rotation_y(self.turn as f32) }
    }

    fn root(&self, actor: &Actor, frame: usize) -> RootFrame {
        let root = self.clip.roots[frame];
        let position = DQuat::from_rotation_y(self.turn) * root.position + actor.position;
        RootFrame { position, heading: root.heading + self.turn }
    }
}

/// A picture of a crowd and what it cost.
pub struct Drawn {
    pub image: Image,
    pub adapter: String,
    /// Median of a step.
    pub step_ms: f64,
    pub skin_ms: f64,
    pub draw_ms: f64,
}

/// Draws the crowd that the arguments ask for, and says what it cost.
pub fn write(path: &Path, args: &Args, model: &Arc<Model>, body: &Body, clips: &[Clip]) -> Result<()> {
    let rate = args.rate.unwrap_or(model.fps);
    let drawn = draw(args.count, args.size, args.threads, rate, model, body, clips)?;
    drawn.image.write_png(path)?;
    let Drawn { adapter, step_ms, skin_ms, draw_ms, .. } = drawn;
    if args.json {
        let value = serde_json::json!({
            "picture": path, "count": args.count, "adapter": adapter,
            "step_ms": step_ms, "skin_ms": skin_ms, "draw_ms": draw_ms,
        });
        println!("{value}");
    } else {
        println!(
            "{}: {} garments; stepped in {step_ms:.2} ms, bodies posed in {skin_ms:.0} ms, drawn in {draw_ms:.0} ms ({adapter})",
            path.display(),
            args.count,
        );
    }
    Ok(())
}

/// A picture of `count` people, at the clips' `rate`.
#[allow(clippy::disallowed_methods)] // what a frame costs is what is reported
pub fn draw(
    count: usize,
    (width, height): (u32, u32),
    threads: usize,
    rate: f64,
    model: &Arc<Model>,
    body: &Body,
    clips: &[Clip],
) -> Result<Drawn> {
    let mut renderer = driver::renderer()?;
    let aspect = width as f32 / height as f32;
    let people = people(count, aspect, clips);

    let bar = progress::bar(BEFORE as u64 + 2, "walking");
    let Walked { crowd, instances, step_ms } = walked(&people, model, threads, rate, &bar)?;
    bar.set_message("drawing");

    let begun = Instant::now();
    let eye = Vec3::new(0.0, EYE_M, 0.0);
    let near = |p: &Person<'_>| p.place.distance(eye) < NEAR_M;
    let full: Vec<u32> = (0..body.mesh.positions.len() as u32).collect();
    let mut hidden = vec![false; body.mesh.triangles.len()];
    for &t in &model.hidden_triangles {
        if let Some(hidden) = hidden.get_mut(t as usize) {
            *hidden = true;
        }
    }
    let full_mesh = MeshHandle::new(&body.mesh.triangles).without(&hidden);
    // What is hidden goes before the body gets coarser: cells would pull the rest of it in.
    let (kept, far_triangles) = decimate(&body.mesh.positions, full_mesh.triangles(), CELL_M);
    let far_mesh = MeshHandle::new(&far_triangles);
    let rest_normals = smooth_normals(&body.mesh.positions, &body.mesh.triangles);
    let skins: Vec<(Vec<Vec3>, Vec<Vec3>)> =
        people.iter().map(|p| skinned(body, &rest_normals, if near(p) { &full } else { &kept }, p)).collect();
    let skin_ms = begun.elapsed().as_secs_f64() * 1e3;

    let begun = Instant::now();
    let cloth_mesh = MeshHandle::new(&model.triangles);
    let Some(first) = people.first() else { anyhow::bail!("nobody to draw") };
    let first_skin = skinned(body, &rest_normals, &full, first).0;
    let cloth_of_first = [(crowd.vertices(instances[0])?, model.triangles.as_slice())];
    let leads = uncovered_m(&first_skin, &body.mesh.triangles, &cloth_of_first, DEPTH_SLACK_M);
    let far_leads: Vec<f32> = kept.iter().map(|v| leads[*v as usize]).collect();
    let slack = |m: Material| Material { depth_slack_m: DEPTH_SLACK_M, ..m };
    let mut scene = Scene::new();
    let (mut bodies, mut clothes) = (Vec::new(), Vec::new());
    for ((person, instance), (positions, normals)) in people.iter().zip(&instances).zip(&skins) {
        let (cloth, cloth_normals) = (crowd.vertices(*instance)?, crowd.normals(*instance)?);
        if near(person) {
            let look = Material { base: person.skin, ..Material::body() };
            scene = scene.with(Item::new(&full_mesh, positions, look).leading(&leads));
            scene = scene.with(Item::new(&cloth_mesh, cloth, slack(Material::cloth(person.dress))));
        } else {
            bodies.push(Member { positions, normals, colour: person.skin });
            clothes.push(Member { positions: cloth, normals: cloth_normals, colour: person.dress });
        }
    }
    let far_bodies =
        Flock { mesh: far_mesh, material: Material::body(), members: bodies, leads_m: Some(&far_leads) };
    let far_clothes = Flock {
        mesh: cloth_mesh.clone(),
        material: slack(Material::cloth(srgb(0x80, 0x80, 0x80))),
        members: clothes,
        leads_m: None,
    };
    scene = scene.with_flock(far_bodies).with_flock(far_clothes);
    let camera = Camera {
        eye,
        target: Vec3::new(0.0, 0.55, -2.1 * FIRST_ROW_M),
        fov_y_degrees: FOV_Y_DEGREES,
        ..Camera::default()
    };
    let image = renderer.draw(&scene, &camera, width, height)?;
    let draw_ms = begun.elapsed().as_secs_f64() * 1e3;
    bar.finish_and_clear();
    Ok(Drawn { image, adapter: renderer.adapter(), step_ms, skin_ms, draw_ms })
}

/// A crowd that has walked to where it is drawn.
struct Walked {
    crowd: Crowd,
    instances: Vec<Instance>,
    /// The median of its steps.
    step_ms: f64,
}

/// Steps everybody's garment through the frames before the picture.
#[allow(clippy::disallowed_methods)] // what a step costs is what is reported
fn walked(
    people: &[Person<'_>],
    model: &Arc<Model>,
    threads: usize,
    rate: f64,
    bar: &ProgressBar,
) -> Result<Walked> {
    let mut crowd = Crowd::new(CrowdSettings::default().with(|s| {
        s.threads = threads;
        s.normals = true;
    }));
    let id = crowd.add_model(model.clone(), people.len())?;
    let instances: Vec<Instance> = people.iter().map(|_| crowd.add(id)).collect::<Result<_, _>>()?;
    let mut step_ms = Vec::new();
    for before in (0..=BEFORE).rev() {
        for (person, &instance) in people.iter().zip(&instances) {
            let (actor, frame) = (person.actor(), person.frame.saturating_sub(before));
            let root = person.root(&actor, frame);
            crowd.set_pose_with_root(instance, &actor, &person.clip.bones[frame], &root)?;
        }
        let begun = Instant::now();
        crowd.step(1.0 / rate)?;
        step_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        bar.inc(1);
    }
    crowd.draw();
    step_ms.sort_by(f64::total_cmp);
    let step_ms = step_ms[step_ms.len() / 2];
    Ok(Walked { crowd, instances, step_ms })
}

/// Some vertices of a person's body in the world, with their normals.
fn skinned(body: &Body, rest_normals: &[Vec3], kept: &[u32], person: &Person<'_>) -> (Vec<Vec3>, Vec<Vec3>) {
    person.skinned_at(body, rest_normals, kept, 0)
}

impl Person<'_> {
    /// The same so many frames later.
    pub fn skinned_at(
        &self,
        body: &Body,
        rest_normals: &[Vec3],
        kept: &[u32],
        later: usize,
    ) -> (Vec<Vec3>, Vec<Vec3>) {
        let bones = &self.clip.bones[(self.frame + later) % self.clip.bones.len()];
        let actor = self.actor();
        let at = actor.position.as_vec3();
        kept.iter()
            .map(|&v| {
                let v = v as usize;
                let blend = body.skin.blend(v, bones);
                let position = blend.transform_point3(body.mesh.positions[v]);
                let normal = blend.transform_vector3(rest_normals[v]).normalize_or_zero();
                (actor.rotation * position + at, actor.rotation * normal)
            })
            .unzip()
    }
}

/// Everyone, row after row over the ground that the camera sees, coming towards it, more or less.
pub(super) fn people(count: usize, aspect: f32, clips: &[Clip]) -> Vec<Person<'_>> {
    let half_width = 1.02 * aspect * (0.5 * FOV_Y_DEGREES.to_radians()).tan();
    let mut people = Vec::with_capacity(count);
    let mut row = 0;
    while people.len() < count {
        let away = FIRST_ROW_M + row as f32 * 0.9 * SPACING_M;
        let half = away * half_width;
        let columns = ((2.0 * half / SPACING_M) as usize).max(1);
        for column in 0..columns {
            if people.len() == count {
                break;
            }
            let mut dice = Random::new(people.len() as u64 + 1);
            // Rows stand in each other's gaps.
            let shift = if row % 2 == 0 { 0.25 } else { 0.75 };
            let across = (column as f32 + shift + 0.28 * (dice.unit() as f32 - 0.5)) / columns as f32;
            let place = Vec3::new(
                (2.0 * across - 1.0) * half,
                0.0,
                -away + 0.5 * SPACING_M * (dice.unit() as f32 - 0.5),
            );
            let clip = &clips[people.len() % clips.len()];
            // Later than the swing-in where the clip is long enough.
            let first = BEFORE.min(clip.bones.len() / 2);
            let frame = first + ((clip.bones.len() - first) as f32 * dice.unit() as f32) as usize;
            let frame = frame.min(clip.bones.len() - 1);
            let wander = 0.9 * (dice.unit() as f32 - 0.5) + 0.9 * (dice.unit() as f32 - 0.5);
            let turn = f64::from(wander) - clip.roots[frame].heading;
            people.push(Person { clip, frame, place, turn, dress: dress(&mut dice), skin: skin(&mut dice) });
        }
        row += 1;
    }
    people
}

/// A dye, a little lighter or darker than the next of the same.
pub(super) fn dress(dice: &mut Random) -> Vec3 {
    const DYES: [[u8; 3]; 12] = [
        [0x3f, 0x7c, 0x93],
        [0x9c, 0x2f, 0x4a],
        [0xc9, 0x8a, 0x2e],
        [0x5f, 0x7f, 0x57],
        [0x6b, 0x55, 0x86],
        [0xc4, 0x5c, 0x43],
        [0x2f, 0x4a, 0x78],
        [0xd8, 0xc7, 0xa4],
        [0x8c, 0x3f, 0x6a],
        [0x2c, 0x6e, 0x63],
        [0xb8, 0x6f, 0x86],
        [0x3a, 0x3d, 0x46],
    ];
    let [r, g, b] = DYES[dice.below(DYES.len())];
    // Dyes on cloth are never pure: a little grey in each.
    srgb(r, g, b).lerp(Vec3::splat(0.2), 0.12) * (0.75 + 0.4 * dice.unit() as f32)
}

pub(super) fn skin(dice: &mut Random) -> Vec3 {
    const TONES: [[u8; 3]; 5] =
        [[0xe2, 0xc9, 0xb6], [0xd2, 0xae, 0x93], [0xb9, 0x8d, 0x6f], [0x8d, 0x63, 0x4a], [0x60, 0x43, 0x34]];
    let [r, g, b] = TONES[dice.below(TONES.len())];
    srgb(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn everyone_stands_apart_and_within_the_picture() {
        let body = builtin::body("mannequin:female").unwrap();
        let walk = builtin::motion("walk", &body.skeleton).unwrap().resampled(30.0);
        let clips = [Clip::new(&body, &walk)];
        let people = people(1000, 16.0 / 9.0, &clips);
        assert_eq!(people.len(), 1000);
        let mut phases: Vec<usize> = people.iter().map(|p| p.frame).collect();
        phases.sort_unstable();
        phases.dedup();
        assert!(phases.len() > 50, "{} moments", phases.len());
        for (k, a) in people.iter().enumerate() {
            for b in &people[k + 1..] {
                assert!(a.place.distance(b.place) > 0.6, "{} and {}", a.place, b.place);
            }
            // The root stands where the person was put, whatever the clip's way.
            let root = a.root(&a.actor(), a.frame);
            assert!((root.position.as_vec3().with_y(0.0) - a.place).length() < 1e-4);
        }
    }
}
