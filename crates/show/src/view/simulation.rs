//! Simulations that run beside the window. The viewer does not simulate; whoever opens it may hand it something that does.

use glam::Vec3;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use toile_assets::adaptive::Database;
use toile_assets::{Body, Garment, Motion, Take};
use toile_run::Tier;

/// What is to be simulated.
#[derive(Clone)]
pub struct Order {
    /// Who wears it.
    pub body: Arc<Body>,
    /// What is worn, with its fabric's name.
    pub garment: Arc<Garment>,
    /// On the body's skeleton.
    pub motion: Motion,
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Frames done so far, for whoever waits.
    pub done: Arc<AtomicUsize>,
    /// Set where nobody waits any more.
    pub stop: Arc<AtomicBool>,
}

/// Starts a simulation and gives back where its take will come from.
pub type Simulate = Box<dyn Fn(Order) -> Receiver<Result<Take, String>>>;

/// Makes the tier `adaptive` of a garment and its database.
pub type Adapt = Box<dyn Fn(&Body, &Garment, &Arc<Database>) -> Result<Box<dyn Tier>, String>>;

/// A simulation under way.
pub(super) struct Job {
    order: Order,
    result: Receiver<Result<Take, String>>,
}

impl Job {
    pub fn start(simulate: &Simulate, order: Order) -> Self {
        Self { result: simulate(order.clone()), order }
    }

    /// Frames done and in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.order.done.load(Ordering::Relaxed), self.order.motion.len())
    }

    /// The take, once it is there.
    pub fn finished(&self) -> Option<Result<Take, String>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("the simulation ended without a result".into())),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.order.stop.store(true, Ordering::Relaxed);
    }
}
