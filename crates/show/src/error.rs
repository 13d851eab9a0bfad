//! One error for the crate.

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No driver answers. What the library says of it names ways that were not asked for and is for programmers.
    #[error(
        "no graphics adapter was found. On Debian or Ubuntu install the software driver with\n    \
         sudo apt-get install -y mesa-vulkan-drivers"
    )]
    NoAdapter(String),
    /// The driver refused or failed.
    #[error("the graphics driver failed: {0}")]
    Device(String),
    /// There is no screen to open a window on.
    #[error("no window could be opened: {0}")]
    Window(String),
    /// The picture does not fit the device.
    #[error("a picture of {width}×{height} pixels is not possible: {limit}")]
    Size {
        /// Asked for.
        width: u32,
        /// Asked for.
        height: u32,
        /// The limit in words.
        limit: String,
    },
    /// What was to be drawn is not drawable.
    #[error("{0}")]
    Invalid(String),
    /// PNG, GIF or another encoder failed.
    #[error("could not encode the {what}: {why}")]
    Encode {
        /// `PNG`, `GIF`.
        what: &'static str,
        /// What the encoder said.
        why: String,
    },
    /// The program that encodes such films is not there.
    #[error(
        "a {what} film is encoded by `ffmpeg`, which could not be started ({why}). Install it, on Debian or Ubuntu with\n    \
         sudo apt-get install -y ffmpeg\nor write .gif or .apng, which need nothing"
    )]
    NoEncoder {
        /// `MP4`, `WebM`.
        what: &'static str,
        /// What the system said.
        why: String,
    },
    /// The file could not be written.
    #[error(transparent)]
    Assets(#[from] toile_assets::Error),
}
