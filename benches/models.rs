//! What trained models cost beside each other, on poses of a take.
//!
//! `cargo bench --bench models -- c.toile d.toile --take clip.take`. The models take turns, frame by frame, so that the noise
//! of a shared machine hits all alike; times are the thread's own processor time. Every model D is also run
//! without what keeps it outside the body. The digest is of all vertices of the first frames: what only makes it faster leaves
//! it as it is.
#![allow(clippy::disallowed_methods)] // time is what is measured

use glam::{DVec3, Quat};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toile_assets::{Model, Take};
use toile_run::{Actor, Crowd, CrowdSettings, Instance, Isa};

const COUNT: usize = 512;
/// Frames that make up the digest, and are not timed.
const FIRST: usize = 12;

/// Seconds that this thread has computed.
fn cpu_secs() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

struct Scene {
    name: String,
    crowd: Crowd,
    instances: Vec<Instance>,
    /// µs a garment of every frame: to step, to draw.
    times: [Vec<f64>; 2],
    /// Frames that were drawn, and all vertices of the first of them.
    frames: usize,
    digest: u32,
}

impl Scene {
    fn new(name: String, model: Model, isa: Isa) -> Self {
        let mut crowd = Crowd::new(CrowdSettings::default().with(|s| {
            s.threads = 1;
            s.isa = isa;
        }));
        let id = crowd.add_model(Arc::new(model), COUNT).expect("a valid model");
        let instances = (0..COUNT).map(|_| crowd.add(id).expect("reserved")).collect();
        Self { name, crowd, instances, times: [Vec::new(), Vec::new()], frames: 0, digest: 0 }
    }

    fn frame(&mut self, take: &Take, frame: usize) {
        for (who, i) in self.instances.iter().enumerate() {
            let f = (frame + 7 * who) % take.len();
            if f == 0 {
                self.crowd.teleport(*i).expect("it lives");
            }
            let at = DVec3::new((who % 32) as f64 * 2.0, 0.0, (who / 32) as f64 * 2.0);
            let actor = Actor { position: at, rotation: Quat::IDENTITY };
            self.crowd.set_pose(*i, &actor, take.frame_bones(f)).expect("a sound pose");
        }
        let begun = cpu_secs();
        self.crowd.step(1.0 / take.fps).expect("a sound step");
        let stepped = cpu_secs();
        self.crowd.draw();
        let drawn = cpu_secs();
        self.frames += 1;
        if self.frames > FIRST {
            self.times[0].push((stepped - begun) * 1e6 / COUNT as f64);
            self.times[1].push((drawn - stepped) * 1e6 / COUNT as f64);
            return;
        }
        for i in &self.instances {
            let all = self.crowd.vertices(*i).expect("it lives").iter().flat_map(|v| v.to_array());
            self.digest = all.fold(self.digest, |d, v| (d ^ v.to_bits()).wrapping_mul(0x0100_0193));
        }
    }

    /// Medians: to step, to draw.
    fn medians(&mut self) -> [f64; 2] {
        self.times.each_mut().map(|t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        })
    }
}

fn main() {
    let (mut seconds, mut take, mut models, mut isa) = (5.0, None, Vec::new(), Isa::best());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => seconds = args.next().and_then(|s| s.parse().ok()).unwrap_or(seconds),
            "--isa" => {
                isa = args
                    .next()
                    .and_then(|name| Isa::available().iter().copied().find(|i| i.name() == name))
                    .unwrap_or(isa)
            }
            "--take" => take = args.next(),
            "--bench" => {}
            _ => models.push(arg),
        }
    }
    let (Some(take), false) = (take, models.is_empty()) else {
        println!("cargo bench --bench models -- MODEL.toile … --take CLIP.take [--seconds N] [--isa avx2]");
        return;
    };
    let take = Take::read(&take).expect("a take");
    let mut scenes = Vec::new();
    for path in &models {
        let model = Model::read(path).expect("a model");
        let bare = model.shield.is_some().then(|| Model { shield: None, ..model.clone() });
        scenes.push(Scene::new(path.clone(), model, isa));
        scenes.extend(bare.map(|model| Scene::new("  not kept outside the body".into(), model, isa)));
    }
    let begun = Instant::now();
    let mut frame = 0;
    while begun.elapsed() < Duration::from_secs_f64(seconds) || frame < 2 * FIRST {
        scenes.iter_mut().for_each(|scene| scene.frame(&take, frame));
        frame += 1;
    }
    println!("{}, {COUNT} garments on one thread, {frame} frames, µs a garment, medians", isa.name());
    let mut first = None;
    let mut kept = 0.0;
    for scene in &mut scenes {
        let [step, draw] = scene.medians();
        let both = step + draw;
        let times = both / *first.get_or_insert(both);
        print!(
            "{:50} {step:6.2} step {draw:6.2} draw {both:6.2} both, {times:.2} times the first, bits {:08x}",
            scene.name, scene.digest
        );
        let is_bare = scene.name.starts_with(' ');
        println!(
            "{}",
            if is_bare {
                format!("; kept outside {:.0} % more", 100.0 * (kept / both - 1.0))
            } else {
                String::new()
            }
        );
        kept = both;
    }
}
