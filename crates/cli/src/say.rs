//! Standard output, whose reader may leave early: `toile inspect hero.glb | head` is no fault, and no reason to stop the work.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// As the standard one, but a reader that has left is not written to.
macro_rules! println {
    ($($said:tt)*) => { $crate::say::say(format_args!("{}\n", format_args!($($said)*))) };
}

/// As the standard one, but a reader that has left is not written to.
macro_rules! print {
    ($($said:tt)*) => { $crate::say::say(format_args!($($said)*)) };
}

/// Writes to standard output. Anything but a reader that has left ends the program: a full disk must not look like success.
pub fn say(said: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_fmt(said).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("error: standard output: {error}");
        std::process::exit(1);
    }
}
