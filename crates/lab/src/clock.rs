//! Processor time of this thread, so that a busy machine does not spoil a figure.

use std::sync::OnceLock;
use std::time::Instant;

/// Milliseconds of processor time that this thread has used; wall time where the system does not tell.
#[allow(clippy::disallowed_methods)] // a time is what is reported
pub fn cpu_ms() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.as_deref().and_then(|t| t.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |n| n * 1e-6)
}
