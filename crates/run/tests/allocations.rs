//! After warm-up a frame allocates nothing.

mod synthetic;

use glam::{DVec3, Vec3};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use synthetic::{SMALL, Size, actor, bones, model};
use toile_model::RootFrame;
use toile_run::{Crowd, CrowdSettings, Stable, Tier};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    for threads in [1, 3] {
        let settings = CrowdSettings::default().with(|s| {
            s.threads = threads;
            s.normals = true;
        });
        let mut crowd = Crowd::new(settings);
        let first = crowd.add_model(Arc::new(model(SMALL, 1)), 200).unwrap();
        let other = Size { vertices: 300, ..SMALL };
        let second = crowd.add_model(Arc::new(model(other, 2)), 50).unwrap();
        let mut instances: Vec<_> = (0..150).map(|_| crowd.add(first).unwrap()).collect();
        instances.extend((0..50).map(|_| crowd.add(second).unwrap()));
        let poses: Vec<_> = (0..8).map(|f| bones(SMALL, 0, f as f32 * 0.02)).collect();
        let mut before = 0;
        for frame in 0..60 {
            if frame == 2 {
                before = COUNT.load(Ordering::Relaxed);
            }
            // Coming and going is part of a frame, and so are refused poses and any frame rate.
            let gone = frame * 3 % 150;
            crowd.remove(instances[gone]).unwrap();
            instances[gone] = crowd.add(first).unwrap();
            for (who, i) in instances.iter().enumerate() {
                crowd.set_pose(*i, &actor(who, frame as f64 * 0.02), &poses[frame % 8]).unwrap();
            }
            assert!(crowd.set_pose(instances[0], &actor(0, 0.0), &[]).is_err());
            crowd.step(if frame < 30 { 1.0 / 30.0 } else { 0.02 }).unwrap();
            crowd.draw();
        }
        let count = COUNT.load(Ordering::Relaxed) - before;
        println!("{threads} threads: {count} allocations");
        assert_eq!(count, 0, "{threads} threads: {count} allocations in 58 frames");
    }
    let mut garment = Stable::new(Arc::new(model(SMALL, 1)));
    let mut out = vec![Vec3::ZERO; SMALL.vertices];
    let poses: Vec<_> = (0..8).map(|f| bones(SMALL, 0, f as f32 * 0.02)).collect();
    let root = RootFrame { position: DVec3::Y, heading: 0.1 };
    let mut before = 0;
    for frame in 0..60 {
        if frame == 2 {
            before = COUNT.load(Ordering::Relaxed);
        }
        garment.step_with_root(&poses[frame % 8], &root, if frame < 30 { 1.0 / 30.0 } else { 0.02 }).unwrap();
        assert!(garment.step_with_root(&[], &root, 0.02).is_err());
        garment.positions(&mut out);
        assert!(garment.velocities(&mut out));
        if frame % 7 == 6 {
            garment.reset();
        }
    }
    let count = COUNT.load(Ordering::Relaxed) - before;
    println!("one garment: {count} allocations");
    assert_eq!(count, 0, "one garment: {count} allocations in 58 frames");
}
