//! Ctrl-C. Work that goes from frame to frame ends between two of them; everything else ends at once, which is safe
//! because no file is ever in its place before it is complete.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);
static BETWEEN_FRAMES: AtomicUsize = AtomicUsize::new(0);

/// Says how to go on; the program ends with 130, as shells expect.
#[derive(Debug)]
pub struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped; run the same command again: it goes on after what is finished")
    }
}

impl std::error::Error for Stopped {}

/// While it lives, Ctrl-C waits for [`wanted`] to be asked.
pub struct Frames(());

impl Frames {
    /// Begins work that asks [`wanted`] after every frame.
    pub fn begin() -> Self {
        listen();
        BETWEEN_FRAMES.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        BETWEEN_FRAMES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether to stop after this frame.
pub fn wanted() -> bool {
    WANTED.load(Ordering::SeqCst)
}

/// From here on Ctrl-C says how to go on.
pub fn listen() {
    // A second handler is refused; the first one is as good.
    let _ = ctrlc::set_handler(|| {
        if BETWEEN_FRAMES.load(Ordering::SeqCst) == 0 || WANTED.swap(true, Ordering::SeqCst) {
            eprintln!("\nerror: {Stopped}");
            std::process::exit(130);
        }
        eprintln!("\nstopping after this frame (Ctrl-C again to quit at once)");
    });
}
