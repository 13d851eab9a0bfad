//! A mixed crowd within a budget: who is near gets the better tier, and a film shows who has which.

use super::film::film;
use super::kinds::{Kind, kinds};
use super::least::Least;
use super::picture::{Person, people};
use super::{Args, Clip, Times};
use crate::output;
use crate::progress;
use crate::resolve::{BadRequest, ending};
use crate::tiers::{noted, timed};
use anyhow::Result;
use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile_assets::{Body, Model, Role};
use toile_run::{
    CrowdSettings, Driven, HandOverSettings, Handed, Poses, Rung, Scheduler, SchedulerSettings, Troupe, Way,
    Wish, priority,
};
use toile_show::FilmFormat;

/// Garments of a crowd that rungs are measured with.
const SAMPLE: usize = 128;
/// Frames that are not counted: everyone finds their rung.
const SETTLING: usize = 60;
/// Frames that everyone is skinned for at least, to see what that costs and by how much it varies, after some that touch all memory.
const SKINNED_FRAMES: usize = 96;
const WARM_UP: usize = 8;
/// And for so long at least, µs.
const SKINNED_US: f64 = 6e5;
/// Size of a pixel seen from a metre, m: 28° over 1,080 rows.
const PIXEL_M: f32 = 4.6e-4;
/// Of so many garments one is looked at in a frame for how deep it is in the body.
const ROUND: usize = 16;
/// Metres that the viewer goes in a second.
const STROLL_M_PER_S: f32 = 2.0;

/// Tiers as the scheduler knows them, and their colours in the film.
pub const TIERS: [(&str, [u8; 3]); 5] = [
    ("skin", [0x8a, 0x8f, 0x98]),
    ("stable, few dims", [0x3f, 0x8f, 0xc4]),
    ("stable", [0x2f, 0x5f, 0xb0]),
    ("layered", [0xd8, 0x9a, 0x2e]),
    ("full", [0xc8, 0x3c, 0x32]),
];
pub const LAYERED: u32 = 3;
pub const FULL: u32 = 4;

/// Refuses a place that cannot be written before any work is done.
pub fn check(args: &Args) -> Result<()> {
    let Some(path) = &args.film else { return Ok(()) };
    let Some(format) = FilmFormat::of(&ending(&path.to_string_lossy())) else {
        let what = format!("{}: films are written as .gif, .apng, .mp4 or .webm", path.display());
        return Err(BadRequest(what).into());
    };
    format.check()?;
    let names = args.motion.iter().chain(&args.garment).chain([&args.body]).map(String::as_str);
    args.overwrite.check(path, output::named(names, &args.model))
}

/// Runs the crowd within the budget, measures it, and films it where that is asked for.
pub fn run(
    args: &Args,
    budget_us: f64,
    models: &[Arc<Model>],
    body: &Body,
    clips: &[Clip],
    rate: f64,
) -> Result<()> {
    let kinds = kinds(args, models, body)?;
    let rungs =
        kinds.iter().map(|kind| measure_rungs(args, kind, body, clips, rate)).collect::<Result<Vec<_>>>()?;
    let people = people(args.count, 16.0 / 9.0, clips);
    let skinned = skinned(args, budget_us as f32, &kinds, &rungs, body, &people, rate)?;
    if let Some(why) = skinned.refusal(args.count, args.threads, budget_us) {
        return Err(BadRequest(why).into());
    }
    let mut show = Show::new(args, budget_us as f32, &kinds, rungs, body, &people, rate)?;
    let frames = (args.seconds * rate).ceil() as usize + SETTLING;
    let bar = progress::bar(frames as u64, "measuring");
    for f in 0..frames {
        show.frame(f)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    show.report(args);
    if let Some(path) = &args.film {
        film(path, args, &mut show, body, frames)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// What everyone costs merely skinned, planning and all that a frame does included.
fn skinned(
    args: &Args,
    budget_us: f32,
    kinds: &[Kind],
    rungs: &[Vec<Rung>],
    body: &Body,
    people: &[Person<'_>],
    rate: f64,
) -> Result<Least> {
    let cheapest = rungs.iter().map(|of_kind| of_kind[..1].to_vec()).collect();
    let mut show = Show::new(args, budget_us, kinds, cheapest, body, people, rate)?;
    let mut us = Vec::new();
    let mut spent_us = 0.0;
    // A cheap frame is shorter than an interruption: the more of them, the likelier are rounds without one.
    while us.len() < WARM_UP + SKINNED_FRAMES || (spent_us < SKINNED_US && us.len() < 20 * SKINNED_FRAMES) {
        let mut done = Ok(());
        us.push(timed(|| done = show.frame(us.len())));
        done?;
        spent_us += us[us.len() - 1];
    }
    Ok(Least::of(&us[WARM_UP..]))
}

/// What each way of having a garment costs, µs, by the clock of this run.
fn measure_rungs(args: &Args, kind: &Kind, body: &Body, clips: &[Clip], rate: f64) -> Result<Vec<Rung>> {
    let dims = kind.model.cloth_dims;
    let few = (dims / 4).max(1);
    let mut rungs = Vec::new();
    for (tier, dims, quality) in [(0, 0, 0.25), (1, few, 0.6), (2, dims, 0.8)] {
        let mut troupe = troupe(args, &[kind], SAMPLE, body)?;
        let mut us = Vec::new();
        for f in 0..24 {
            let mut done = Ok(());
            us.push(timed(|| done = pose_and_step(&mut troupe, clips, f, rate)));
            done?;
            if f == 0 {
                (0..SAMPLE).try_for_each(|m| troupe.set_way(m, Way::Crowd { dims }))?;
            }
        }
        let late = sorted(us.split_off(12));
        // The quickest quarter: what else the machine does is not what a rung costs.
        let mut cost_us = (late[late.len() / 4] / SAMPLE as f64) as f32;
        if let Some(below) = rungs.last().map(|r: &Rung| r.cost_us) {
            cost_us = cost_us.max(below);
        }
        rungs.push(Rung { tier, dims: dims as u32, cost_us, start_us: 0.0, quality, learned: tier > 0 });
    }
    let bones = &clips[0].bones;
    for (tier, make) in &kind.makers {
        let mut solo = make()?;
        let mut poses = Poses::new(12);
        bones.iter().take(12).for_each(|b| poses.push(b, 1.0 / rate));
        let rest = kind.model.attachment.as_ref().map_or(&kind.model.cloth_mean, |a| &a.rest);
        let hung = kind.model.attachment.as_ref().zip(poses.latest()).map(|(a, bones)| a.posed(bones));
        let (positions, still) = (hung.unwrap_or_else(|| rest.clone()), vec![Vec3::ZERO; rest.len()]);
        if solo.start(&Handed { poses: &poses, positions: &positions, velocities: &still, hips: 0 }).is_err()
        {
            continue;
        }
        let mut us = Vec::new();
        for bones in bones.iter().skip(12).take(24) {
            let mut done = Ok(());
            us.push(timed(|| done = solo.step(bones, 1.0 / rate).map(|_| ())));
            if done.is_err() {
                break;
            }
        }
        let late = sorted(us.split_off(us.len().min(4)));
        // Some steps are dearer than others: planned is with what nine in ten cost. Threads share what there are many of.
        let Some(dear) = late.get(late.len() * 9 / 10) else { continue };
        let threads = if *tier == FULL { 1 } else { args.threads.max(1) };
        let cost_us = (*dear as f32) / threads as f32 + rungs[2].cost_us;
        let quality = if *tier == FULL { 1.0 } else { 0.65 };
        rungs.push(Rung { tier: *tier, dims: 0, cost_us, start_us: 2.0 * cost_us, quality, learned: false });
    }
    rungs.sort_by(|a, b| a.cost_us.total_cmp(&b.cost_us));
    Ok(rungs)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// So many garments, kind by kind.
fn troupe(args: &Args, kinds: &[&Kind], count: usize, body: &Body) -> Result<Troupe> {
    let hips = body.humanoid().joint(Role::Hips).unwrap_or(0);
    let settings = HandOverSettings { hips, ..HandOverSettings::default() };
    let crowd = CrowdSettings::default().with(|s| s.threads = args.threads);
    let mut troupe = Troupe::new(crowd, settings);
    for kind in kinds {
        let tiers = kind.makers.iter().map(|(_, make)| make.clone()).collect();
        let id = troupe.add_kind(kind.model.clone(), count.div_ceil(kinds.len()), tiers)?;
        if let Some((limits, attachment)) = &kind.limits {
            troupe.set_limits(id, limits.clone(), attachment.clone())?;
        }
    }
    (0..count).try_for_each(|i| troupe.add(i % kinds.len()).map(|_| ()))?;
    Ok(troupe)
}

fn pose_and_step(troupe: &mut Troupe, clips: &[Clip], frame: usize, rate: f64) -> Result<()> {
    for m in 0..troupe.len() {
        let clip = &clips[m % clips.len()];
        troupe.set_pose(m, &toile_run::Actor::IDENTITY, &clip.bones[(frame + 7 * m) % clip.bones.len()])?;
    }
    troupe.step(1.0 / rate)?;
    Ok(())
}

/// Dense meshes on the garments that are near.
pub struct Dense {
    within_m: f32,
    /// One for each kind that has such a mesh.
    pub driven: Vec<Option<Driven>>,
    /// Where they are, and which garments carry them.
    pub places: Vec<Vec<Vec3>>,
    pub which: Vec<usize>,
}

impl Dense {
    fn new(kinds: &[Kind], within_m: f32) -> Self {
        let driven = kinds.iter().map(|k| k.dense.as_ref().map(|(on, _)| Driven::new(on.clone()))).collect();
        Self { within_m, driven, places: Vec::new(), which: Vec::new() }
    }
}

/// A crowd that a viewer walks through.
pub struct Show<'a> {
    pub kinds: &'a [Kind],
    pub people: &'a [Person<'a>],
    pub troupe: Troupe,
    scheduler: Scheduler,
    wishes: Vec<Wish>,
    /// How deep each garment was in the body when it was last looked at, m, and the bones for that.
    inside_m: Vec<f32>,
    placed: Vec<Affine3A>,
    pub dense: Dense,
    pub rate: f64,
    pub budget_us: f32,
    /// µs of all frames after the first ones, and of planning alone.
    frame: Times,
    planning: Times,
    /// Garments by tier, summed over frames, and hand-overs.
    by_tier: [usize; TIERS.len()],
    changes: usize,
    failures: usize,
    /// Garments deeper than 5 mm, summed over frames.
    inside: usize,
    /// Dense meshes carried, summed over frames.
    carried: usize,
    measured: usize,
    pub filming: bool,
}

impl<'a> Show<'a> {
    fn new(
        args: &Args,
        budget_us: f32,
        kinds: &'a [Kind],
        rungs: Vec<Vec<Rung>>,
        body: &Body,
        people: &'a [Person<'a>],
        rate: f64,
    ) -> Result<Self> {
        let count = people.len();
        let troupe = troupe(args, &kinds.iter().collect::<Vec<_>>(), count, body)?;
        let scheduler =
            Scheduler::new(SchedulerSettings { budget_us, ..SchedulerSettings::default() }, rungs)?;
        Ok(Self {
            kinds,
            people,
            troupe,
            scheduler,
            wishes: Vec::with_capacity(count),
            inside_m: vec![0.0; count],
            placed: Vec::new(),
            dense: Dense::new(kinds, args.drive_within),
            rate,
            budget_us,
            frame: Times::default(),
            planning: Times::default(),
            by_tier: [0; TIERS.len()],
            changes: 0,
            failures: 0,
            inside: 0,
            carried: 0,
            measured: 0,
            filming: false,
        })
    }

    /// Where the viewer is in a frame: on the way into the crowd.
    pub fn eye(&self, frame: usize) -> Vec3 {
        let secs = frame as f32 / self.rate as f32;
        Vec3::new(0.6 * (0.5 * secs).sin(), 4.6 - 0.2 * secs.min(8.0), -STROLL_M_PER_S * secs)
    }

    /// One frame: wishes, plan, poses, step; everything but the poses' own making is timed.
    pub fn frame(&mut self, frame: usize) -> Result<()> {
        let eye = self.eye(frame);
        let mut done = Ok(());
        let mut changed = 0;
        let planning = timed(|| {
            self.look_inside(frame);
            self.wishes.clear();
            for (i, person) in self.people.iter().enumerate() {
                let distance = person.place.distance(eye);
                let trust = self.troupe.gate(i).unwrap_or(1.0);
                // Who is behind the viewer matters little.
                let seen = if person.place.z < eye.z { 1.0 } else { 0.1 };
                let priority = priority(distance, 1.0, PIXEL_M, seen);
                self.wishes.push(Wish {
                    kind: i % self.kinds.len(),
                    priority,
                    trust,
                    inside_mm: 1e3 * self.inside_m[i],
                });
            }
            changed = self.scheduler.plan(&self.wishes, 1.0 / self.rate as f32).changed;
            done = self.apply();
        });
        done?;
        let mut done = Ok(());
        let stepping = timed(|| done = self.step(frame).and_then(|()| self.carry(frame)));
        done?;
        let us = planning + stepping;
        // While pictures are drawn the clock says nothing: costs are those of the measured run.
        if !self.filming {
            self.scheduler.measured(us as f32);
        }
        for (member, _) in self.troupe.failures().to_vec() {
            self.failures += 1;
            let kind = member % self.kinds.len();
            let stays = self.scheduler.rungs(kind).iter().position(|r| r.tier == 2).unwrap_or(0);
            self.scheduler.refused(member, stays);
        }
        if frame >= SETTLING && !self.filming {
            self.frame.0.push(us / 1e3);
            self.planning.0.push(planning / 1e3);
            self.changes += changed;
            self.inside += self.inside_m.iter().filter(|m| **m > 0.005).count();
            self.measured += 1;
            (0..self.people.len()).for_each(|i| self.by_tier[self.tier(i)] += 1);
        }
        Ok(())
    }

    /// Looks how deep some of the garments are in their wearers: all of them in a round of frames.
    fn look_inside(&mut self, frame: usize) {
        let count = self.people.len();
        for i in (frame % ROUND..count).step_by(ROUND) {
            let Some(beneath) = &self.kinds[i % self.kinds.len()].beneath else { continue };
            // As it was drawn: in the pose of the frame before.
            let Some(f) = (self.people[i].frame + frame).checked_sub(1) else { continue };
            let person = &self.people[i];
            let actor = person.actor();
            let place = Affine3A::from_rotation_translation(actor.rotation, actor.position.as_vec3());
            let bones = &person.clip.bones[f % person.clip.bones.len()];
            self.placed.clear();
            self.placed.extend(bones.iter().map(|b| place * *b));
            if let Ok(vertices) = self.troupe.vertices(i) {
                self.inside_m[i] = beneath.deepest_m(&self.placed, vertices);
            }
        }
    }

    /// Lets everyone have what was planned.
    fn apply(&mut self) -> Result<()> {
        for i in 0..self.people.len() {
            let kind = i % self.kinds.len();
            let rung = self.scheduler.rungs(kind)[self.scheduler.rung(i)];
            let way = match self.kinds[kind].makers.iter().position(|(tier, _)| *tier == rung.tier) {
                Some(solo) => Way::Solo(solo),
                None => Way::Crowd { dims: rung.dims as usize },
            };
            self.troupe.set_way(i, way)?;
        }
        Ok(())
    }

    fn step(&mut self, frame: usize) -> Result<()> {
        for (i, person) in self.people.iter().enumerate() {
            let f = (person.frame + frame) % person.clip.bones.len();
            if f == 0 {
                self.troupe.teleport(i)?;
            }
            self.troupe.set_pose(i, &person.actor(), &person.clip.bones[f])?;
        }
        self.troupe.step(1.0 / self.rate)?;
        Ok(())
    }

    /// Lets garments near the viewer carry their dense meshes.
    fn carry(&mut self, frame: usize) -> Result<()> {
        let eye = self.eye(frame);
        let Dense { within_m, driven, places, which } = &mut self.dense;
        which.clear();
        for (i, person) in self.people.iter().enumerate() {
            let Some(driven) = &mut driven[i % self.kinds.len()] else { continue };
            if person.place.z > eye.z || person.place.distance(eye) > *within_m {
                continue;
            }
            if places.len() == which.len() {
                places.push(Vec::new());
            }
            let place = &mut places[which.len()];
            place.resize(driven.vertices(), Vec3::ZERO);
            driven.place(self.troupe.vertices(i)?, place)?;
            which.push(i);
        }
        if frame >= SETTLING && !self.filming {
            self.carried += self.dense.which.len();
        }
        Ok(())
    }

    /// Which of the tiers a garment has at present.
    pub fn tier(&self, member: usize) -> usize {
        let kind = member % self.kinds.len();
        let rung = self.scheduler.rungs(kind)[self.scheduler.rung(member)];
        rung.tier as usize
    }

    fn report(&mut self, args: &Args) {
        self.frame.0.sort_by(f64::total_cmp);
        self.planning.0.sort_by(f64::total_cmp);
        let [median, p95, p99] = [0.5, 0.95, 0.99].map(|s| self.frame.at(s));
        let budget_ms = f64::from(self.budget_us) / 1e3;
        let over = self.frame.0.iter().filter(|ms| **ms > 1.1 * budget_ms).count() as f64
            / self.measured.max(1) as f64;
        let each = |n: usize| n as f64 / self.measured.max(1) as f64;
        if args.json {
            let tiers: serde_json::Map<String, serde_json::Value> = TIERS
                .iter()
                .zip(self.by_tier)
                .map(|((name, _), n)| (name.to_string(), each(n).into()))
                .collect();
            let value = serde_json::json!({
                "count": self.people.len(), "threads": args.threads, "budget_ms": budget_ms,
                "median_ms": median, "p95_ms": p95, "p99_ms": p99, "over_by_a_tenth": over,
                "planning_ms": self.planning.at(0.5), "tiers": tiers,
                "hand_overs_per_s": each(self.changes) * self.rate, "failures": self.failures, "inside": each(self.inside), "carry_dense_meshes": each(self.carried),
            });
            println!("{value}");
            return;
        }
        println!(
            "{} garments of {} kinds within {budget_ms:.1} ms on {} threads: {median:.2} ms median, {p95:.2} p95, {p99:.2} p99 ({:.0} % of the \
             budget), {:.1} % of frames over it by more than a tenth",
            self.people.len(),
            self.kinds.len(),
            args.threads,
            100.0 * p99 / budget_ms,
            100.0 * over
        );
        for ((name, _), n) in TIERS.iter().zip(self.by_tier) {
            println!("  {name:18} {:7.1} garments", each(n));
        }
        for (k, kind) in self.kinds.iter().enumerate() {
            let costs: Vec<String> = self
                .scheduler
                .rungs(k)
                .iter()
                .map(|r| format!("{} {:.1}", TIERS[r.tier as usize].0, r.cost_us))
                .collect();
            println!(
                "  {} of {} vertices, µs a frame: {}",
                noted(&kind.model.notes, "garment").unwrap_or(&kind.model.name),
                kind.model.vertices,
                costs.join(", ")
            );
        }
        if self.carried > 0 {
            println!("  {:.1} garments carry a dense mesh", each(self.carried));
        }
        println!(
            "  {:.1} hand-overs a second, {} refused; {:.1} garments deeper than 5 mm in their wearers; planning {:.2} ms",
            each(self.changes) * self.rate,
            self.failures,
            each(self.inside),
            self.planning.at(0.5)
        );
    }
}
