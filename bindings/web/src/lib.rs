//! The viewer as a web page. `bindings/web/page` is the page around it; `cargo xtask web` builds both.
//!
//! Elsewhere than on a page there is nothing here.

#[cfg(target_arch = "wasm32")]
mod page;
