//! The crowd on a device against the crowd on the processor. Skipped, with a word, where there is no adapter.

mod synthetic;

use glam::DVec3;
use std::sync::Arc;
use synthetic::{DRESS, SMALL, Size, actor, bones, cheap, corrected, model};
use toile_geometry::Random;
use toile_model::{Model, ModelKind};
use toile_run::gpu::{Ask, Gpu, GpuCrowd, GpuSettings, Kernel, Tile, wgpu};
use toile_run::{Crowd, CrowdSettings, Error, Instance, ModelId};

/// How far apart the two may be: rounding, never more.
const PARITY_MM: f32 = 0.1;

fn open(ask: Ask) -> Option<Arc<Gpu>> {
    match pollster::block_on(Gpu::open(ask)) {
        Ok(gpu) => Some(Arc::new(gpu)),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// The same garments on both.
struct Pair {
    size: Size,
    cpu: Crowd,
    gpu: GpuCrowd,
    ids: (ModelId, ModelId),
    wearers: Vec<(usize, Instance, Instance)>,
    secs: f64,
}

impl Pair {
    fn new(gpu: Arc<Gpu>, settings: GpuSettings, model: Model, size: Size, reserve: usize) -> Self {
        let model = Arc::new(model);
        let mut cpu = Crowd::new(CrowdSettings::default().with(|s| s.normals = settings.normals));
        let mut gpu = GpuCrowd::new(gpu, settings).unwrap();
        let ids = (cpu.add_model(model.clone(), reserve).unwrap(), gpu.add_model(model, reserve).unwrap());
        Self { size, cpu, gpu, ids, wearers: Vec::new(), secs: 0.0 }
    }

    fn enter(&mut self, who: usize) {
        self.wearers.push((who, self.cpu.add(self.ids.0).unwrap(), self.gpu.add(self.ids.1).unwrap()));
    }

    fn leave(&mut self, at: usize) {
        let (_, cpu, gpu) = self.wearers.remove(at);
        self.cpu.remove(cpu).unwrap();
        self.gpu.remove(gpu).unwrap();
        assert_eq!(self.gpu.read_vertices(gpu), Err(Error::Gone));
    }

    fn pose(&mut self) {
        for &(who, cpu, gpu) in &self.wearers {
            let (actor, bones) = (actor(who, self.secs), bones(self.size, who, self.secs as f32));
            self.cpu.set_pose(cpu, &actor, &bones).unwrap();
            self.gpu.set_pose(gpu, &actor, &bones).unwrap();
        }
    }

    fn step(&mut self, dt: f64) {
        self.secs += dt;
        self.pose();
        self.cpu.step(dt).unwrap();
        self.gpu.step(dt).unwrap();
    }

    /// Vertices of the two crowds that are farther apart than rounding brings them, of all, and the farthest, mm.
    fn apart(&mut self) -> (usize, usize, f32) {
        let (mut many, mut all, mut worst) = (0, 0, 0.0f32);
        for &(_, cpu, gpu) in &self.wearers {
            let theirs = self.gpu.read_vertices(gpu).unwrap();
            for (a, b) in self.cpu.vertices(cpu).unwrap().iter().zip(&theirs) {
                let mm = 1000.0 * a.distance(*b);
                (many, all, worst) = (many + usize::from(mm > PARITY_MM), all + 1, worst.max(mm));
            }
        }
        (many, all, worst)
    }

    /// The largest distance between the two crowds' vertices, mm.
    fn worst_mm(&mut self) -> f32 {
        self.cpu.draw();
        self.gpu.draw();
        let mut worst = 0.0f32;
        for &(_, cpu, gpu) in &self.wearers {
            let theirs = self.gpu.read_vertices(gpu).unwrap();
            let ours = self.cpu.vertices(cpu).unwrap();
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(&theirs) {
                assert!(b.is_finite());
                worst = worst.max(1000.0 * a.distance(*b));
            }
        }
        worst
    }

    fn check(&mut self, when: &str) {
        let worst = self.worst_mm();
        assert!(worst <= PARITY_MM, "{when}: {worst} mm apart");
    }
}

#[test]
fn a_thousand_steps_stay_together() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), model(SMALL, 1), SMALL, 6);
    (0..6).for_each(|who| pair.enter(who));
    for step in 1..=1000 {
        pair.step(1.0 / 30.0);
        if step <= 3 || step % 250 == 0 {
            pair.check(&format!("step {step}"));
        }
    }
}

#[test]
fn a_correction_on_top_of_skinning_stays_together_for_a_thousand_steps() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), gated(corrected(SMALL, 1)), SMALL, 6);
    (0..6).for_each(|who| pair.enter(who));
    for step in 1..=1000 {
        pair.step(1.0 / 30.0);
        if step <= 3 || step % 250 == 0 {
            pair.check(&format!("step {step}"));
        }
    }
    // The gate was not open all the time: that is part of the arithmetic.
    assert!(pair.gpu.read_clamped().unwrap() > 0);
}

#[test]
fn a_dress_is_kept_outside_the_body_as_on_the_processor() {
    let Some(gpu) = open(Ask::Best) else { return };
    let mut rarely = corrected(DRESS, 3);
    // No vertex meets a limb often: boxes about panels say which are near.
    rarely.shield.as_mut().unwrap().meets.fill(0);
    let kept =
        [corrected(DRESS, 2), rarely, bare(corrected(DRESS, 4)), cheap(Size { vertices: 770, ..DRESS }, 5)];
    for (n, form) in kept.into_iter().enumerate() {
        let settings = GpuSettings::default().with(|s| s.normals = n == 0);
        let size = Size { vertices: form.vertices, ..DRESS };
        let mut pair = Pair::new(gpu.clone(), settings, form, size, 3);
        (0..3).for_each(|who| pair.enter(who));
        for step in 0..4 {
            pair.step(1.0 / 30.0);
            pair.worst_mm();
            // Where limbs overlap, rounding decides which of them has the last word.
            let (apart, all, mm) = pair.apart();
            assert!(500 * apart <= all && mm < 50.0, "dress {n}, step {step}: {apart} of {all}, {mm} mm");
        }
    }
}

#[test]
fn any_rate_and_those_who_come_and_go_stay_together() {
    let mut tight = model(SMALL, 2);
    tight.inputs.body_min.fill(-0.4);
    tight.inputs.body_max.fill(0.4);
    tight.inputs.max_turn = 0.005;
    come_and_go(tight);
}

#[test]
fn corrections_of_those_who_come_and_go_stay_together() {
    come_and_go(gated(corrected(SMALL, 2)));
}

/// Not kept outside the body.
fn bare(mut model: Model) -> Model {
    model.shield = None;
    model
}

/// With a gate that shuts well within what wearers do.
fn gated(mut model: Model) -> Model {
    model.correction.as_mut().unwrap().gate_sq = [0.3, 1.5];
    model
}

fn come_and_go(model: Model) {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), model, SMALL, 5);
    (0..3).for_each(|who| pair.enter(who));
    let mut random = Random::new(7);
    for step in 1..=300 {
        // From several ticks a step to none.
        let dt = [1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0, 0.11][(step / 7) % 4]
            * f64::from(1.0 + 0.2 * random.signed() as f32);
        match step % 60 {
            10 => pair.enter(10 + step),
            20 => {
                let (_, cpu, gpu) = pair.wearers[1];
                pair.cpu.reset(cpu).unwrap();
                pair.gpu.reset(gpu).unwrap();
            }
            30 => {
                let (who, cpu, gpu) = &mut pair.wearers[0];
                *who += 50;
                pair.cpu.teleport(*cpu).unwrap();
                pair.gpu.teleport(*gpu).unwrap();
            }
            40 => pair.leave(2),
            _ => {}
        }
        pair.step(dt);
        if step % 10 < 3 {
            pair.check(&format!("step {step}"));
        }
    }
    // The clamp of inputs is part of the arithmetic: it was reached, and counted.
    assert!(pair.gpu.read_clamped().unwrap() > 0);
    assert_eq!(pair.gpu.read_clamped().unwrap(), 0);
}

#[test]
fn every_published_form_of_model_stays_together() {
    let Some(gpu) = open(Ask::Portable) else { return };
    for order in [0, 1, 3] {
        let size = Size { order, ..SMALL };
        let mut form = model(size, 3);
        if order < 3 {
            form.kind = if order == 0 { ModelKind::A } else { ModelKind::B };
            form.c.clear();
        }
        let mut pair = Pair::new(gpu.clone(), GpuSettings::default(), form, size, 2);
        (0..2).for_each(|who| pair.enter(who));
        for step in 0..24 {
            pair.step(if step < 12 { 1.0 / 30.0 } else { 1.0 / 50.0 });
            pair.check(&format!("order {order}, step {step}"));
        }
    }
}

#[test]
fn far_from_the_world_s_origin_nothing_is_lost() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), model(SMALL, 4), SMALL, 2);
    (0..2).for_each(|who| pair.enter(who));
    let far = DVec3::new(3.0e5, 12.0, -7.0e5);
    pair.cpu.set_origin(far).unwrap();
    pair.gpu.set_origin(far).unwrap();
    for _ in 0..40 {
        pair.secs += 1.0 / 45.0;
        for &(who, cpu, gpu) in &pair.wearers {
            let mut actor = actor(who, pair.secs);
            actor.position += far;
            let bones = bones(SMALL, who, pair.secs as f32);
            pair.cpu.set_pose(cpu, &actor, &bones).unwrap();
            pair.gpu.set_pose(gpu, &actor, &bones).unwrap();
        }
        pair.cpu.step(1.0 / 45.0).unwrap();
        pair.gpu.step(1.0 / 45.0).unwrap();
    }
    pair.check("at 760 km");
}

#[test]
fn every_kernel_makes_the_same_dress_and_normals() {
    let Some(gpu) = open(Ask::Best) else { return };
    for kernel in Kernel::all(&gpu) {
        let settings = GpuSettings::default().with(|s| {
            s.kernel = kernel;
            s.normals = true;
        });
        let mut pair = Pair::new(gpu.clone(), settings, model(DRESS, 5), DRESS, 2);
        (0..2).for_each(|who| pair.enter(who));
        (0..4).for_each(|_| pair.step(1.0 / 30.0));
        let worst = pair.worst_mm();
        let allowed = if matches!(kernel, Kernel::Tiled(_)) { PARITY_MM } else { 0.5 };
        assert!(worst <= allowed, "{}: {worst} mm apart", kernel.name());
        for &(_, cpu, gpu) in &pair.wearers {
            let theirs = pair.gpu.read_normals(gpu).unwrap();
            for (a, b) in pair.cpu.normals(cpu).unwrap().iter().zip(&theirs) {
                assert!(a.distance(*b) < 0.02, "{}: normal {b}, not {a}", kernel.name());
            }
        }
    }
}

#[test]
fn small_bindings_are_met_with_several_chunks() {
    let Some(best) = open(Ask::Best) else { return };
    drop(best);
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 300 << 10, ..wgpu::Limits::default() };
    let wanted = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&wanted)).unwrap();
    let gpu = Arc::new(Gpu::of_device(device, queue, adapter.get_info()));
    let mut pair = Pair::new(gpu, GpuSettings::default(), model(SMALL, 6), SMALL, 600);
    assert!(pair.gpu.chunks(pair.ids.1).unwrap().count() > 1);
    (0..600).for_each(|who| pair.enter(who));
    (0..3).for_each(|_| pair.step(1.0 / 30.0));
    // From either side of a border between chunks.
    pair.wearers = [0, 255, 256, 511, 512, 599].map(|i| pair.wearers[i]).to_vec();
    pair.check("in chunks");
}

#[test]
fn who_is_not_drawn_keeps_its_vertices_and_its_history() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), model(SMALL, 8), SMALL, 1);
    pair.enter(0);
    pair.step(1.0 / 30.0);
    pair.check("drawn");
    let (_, _, own) = pair.wearers[0];
    let before = pair.gpu.read_vertices(own).unwrap();
    pair.gpu.set_drawn(own, false).unwrap();
    (0..5).for_each(|_| pair.step(1.0 / 30.0));
    pair.gpu.draw();
    assert_eq!(pair.gpu.read_vertices(own).unwrap(), before);
    pair.gpu.set_drawn(own, true).unwrap();
    pair.check("drawn again");
}

#[test]
fn from_afar_fewer_coefficients_are_drawn_within_the_tolerance() {
    let Some(gpu) = open(Ask::Portable) else { return };
    for form in [model(SMALL, 8), bare(corrected(SMALL, 8))] {
        let mut pair = Pair::new(gpu.clone(), GpuSettings::default(), form, SMALL, 1);
        pair.enter(0);
        pair.step(1.0 / 30.0);
        let away = DVec3::new(20.0, 1.0, 0.0);
        pair.gpu.set_viewer(Some((away, 4.0))).unwrap();
        let distance = (actor(0, pair.secs).position - away).length() as f32;
        let worst = pair.worst_mm();
        assert!(worst > 0.5 && worst <= 4.0 * (distance + 1.5), "{worst} mm at {distance} m");
        pair.gpu.set_viewer(None).unwrap();
        pair.check("from nearby");
        assert!(pair.gpu.set_viewer(Some((away, -1.0))).is_err());
    }
}

#[test]
fn a_crowd_that_is_full_or_of_the_wrong_skeleton_says_so() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu, GpuSettings::default(), model(SMALL, 9), SMALL, 1);
    pair.enter(0);
    assert_eq!(pair.gpu.add(pair.ids.1), Err(Error::Full { reserved: 1 }));
    let (_, _, own) = pair.wearers[0];
    let wrong = bones(DRESS, 0, 0.0);
    assert!(matches!(pair.gpu.set_pose(own, &actor(0, 0.0), &wrong), Err(Error::Joints { .. })));
    assert_eq!(pair.gpu.step(-1.0), Err(Error::TimeStep(-1.0)));
    let tile = Tile { instances: 64, depth: 16 };
    assert_eq!(Kernel::Half(tile).name(), "f16-storage 64x16");
}

/// `TOILE_NOISE=folder cargo test -p toile-run --features gpu --test parity noise -- --ignored`: models of noise, of the built-in
/// body's joints, that `toile crowd --gpu` is measured with.
#[test]
#[ignore = "writes files"]
fn noise_to_measure_with() {
    let Ok(folder) = std::env::var("TOILE_NOISE") else { return };
    let body = Size { joints: 25, ..DRESS };
    for (name, made) in [
        ("c766", model(body, 1)),
        ("c770", model(Size { vertices: 770, ..body }, 1)),
        ("d770", corrected(Size { vertices: 770, cloth_dims: 32, body_dims: 72, ..body }, 1)),
        ("cheap770", cheap(Size { vertices: 770, cloth_dims: 32, body_dims: 72, ..body }, 1)),
    ] {
        made.write(std::path::Path::new(&folder).join(format!("{name}.toile"))).unwrap();
    }
}

#[test]
fn a_device_that_is_lost_says_so_and_another_goes_on() {
    let Some(gpu) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(gpu.clone(), GpuSettings::default(), model(SMALL, 5), SMALL, 8);
    pair.enter(0);
    pair.pose();
    pair.gpu.step(0.03).unwrap();
    pair.gpu.draw();
    gpu.device.destroy();
    // The loss is heard of when the device is next looked at.
    let _ = gpu.wait();
    let lost = |result: Result<(), Error>| match result {
        Err(Error::Device(why)) => assert!(why.contains("lost"), "{why}"),
        other => panic!("{other:?}"),
    };
    lost(pair.gpu.step(0.03));
    pair.gpu.draw();
    let (_, _, garment) = pair.wearers[0];
    lost(pair.gpu.read_vertices(garment).map(|_| ()));
    lost(pair.gpu.add_model(Arc::new(model(SMALL, 5)), 1).map(|_| ()));

    let Some(again) = open(Ask::Portable) else { return };
    let mut pair = Pair::new(again, GpuSettings::default(), model(SMALL, 5), SMALL, 8);
    pair.enter(0);
    pair.pose();
    pair.gpu.step(0.03).unwrap();
}
