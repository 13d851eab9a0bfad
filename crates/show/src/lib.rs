//! The window: pictures, films and reports.
//!
//! ```no_run
//! use toile_show::{Camera, Item, Material, MeshHandle, Renderer, Scene, View};
//! # fn main() -> toile_show::Result<()> {
//! # let (positions, triangles) = (vec![glam::Vec3::ZERO; 3], vec![[0, 1, 2]]);
//! let mut renderer = Renderer::new()?;
//! let mesh = MeshHandle::new(&triangles);
//! let scene = Scene::new().with(Item::new(&mesh, &positions, Material::body()));
//! let (lo, hi) = scene.bounds();
//! let camera = Camera::framing(lo, hi, View::ThreeQuarter, 1.0);
//! renderer.draw(&scene, &camera, 640, 640)?.write_png("body.png")?;
//! # Ok(())
//! # }
//! ```

mod camera;
mod collapse;
mod cover;
mod decimate;
mod encoder;
mod error;
mod figure;
mod film;
mod font;
mod heat;
mod image;
mod label;
mod page;
mod palette;
mod renderer;
mod scene;
mod sheet;
mod texture;
#[cfg(feature = "view")]
pub mod view;

pub use camera::{Camera, View};
pub use collapse::{Coarser, coarser};
pub use cover::uncovered_m;
pub use decimate::decimate;
pub use error::{Error, Result};
pub use figure::Figure;
pub use film::{Film, FilmFormat, apng, gif, write_apng, write_gif};
pub use heat::{heat_colour, heat_colours, write_legend};
pub use image::Image;
pub use label::{Anchor, Label};
pub use page::{Chart, Line, LiveView, Page};
pub use renderer::{Canvas, DeviceFlock, FlockSource, Renderer};
pub use scene::{Backdrop, Flock, Ground, Item, Material, Member, MeshHandle, Scene, smooth_normals, srgb};
pub use sheet::{beside, contact_sheet};
pub use texture::Texture;
