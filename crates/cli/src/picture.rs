//! A dressed body in a studio, frame by frame: what `render` and `demo` draw.

use anyhow::Result;
use glam::Vec3;
use toile_assets::{Body, RootFrame};
use toile_show::{Camera, Image, Item, Label, Material, MeshHandle, Renderer, Scene, View};

/// One garment of a picture.
pub struct Cloth {
    pub mesh: MeshHandle,
    pub material: Material,
}

/// A body and its clothes, ready to be drawn in any pose.
pub struct Studio {
    renderer: Renderer,
    body: MeshHandle,
    camera: Camera,
    pub width: u32,
    pub height: u32,
}

impl Studio {
    /// Sets up the camera so that the standing body fills the picture, with `headroom_m` above it for jumps.
    pub fn new(body: &Body, view: View, width: u32, height: u32, headroom_m: f32) -> Result<Self> {
        let (lo, hi) = body.mesh.bounds();
        // Arms swing and skirts fly: leave room around the rest pose, but not for its spread arms.
        let half = Vec3::new(0.30, 0.0, 0.30) * (hi.y - lo.y);
        let camera = Camera::framing(
            Vec3::new(-half.x, lo.y, -half.z),
            Vec3::new(half.x, hi.y + headroom_m, half.z),
            view,
            width as f32 / height as f32,
        );
        let renderer = Renderer::new()?;
        Ok(Self { renderer, body: MeshHandle::new(&body.mesh.triangles), camera, width, height })
    }

    /// Name of the adapter that draws.
    pub fn adapter(&self) -> String {
        self.renderer.adapter()
    }

    /// One picture, the camera following the root over the floor.
    pub fn draw(
        &mut self,
        body: Option<&[Vec3]>,
        clothes: &[(&Cloth, &[Vec3], Option<&[Vec3]>)],
        root: Option<&RootFrame>,
        label: &str,
    ) -> Result<Image> {
        let mut scene = Scene::new();
        if let Some(positions) = body {
            scene = scene.with(Item::new(&self.body, positions, Material::body()));
        }
        for (cloth, positions, colours) in clothes {
            let mut item = Item::new(&cloth.mesh, positions, cloth.material);
            if let Some(colours) = colours {
                item = item.coloured(colours);
            }
            scene = scene.with(item);
        }
        if !label.is_empty() {
            scene = scene.labelled(Label::new(label));
        }
        let camera = match root {
            Some(root) => self.camera.following(root.position.as_vec3().with_y(0.0)),
            None => self.camera,
        };
        Ok(self.renderer.draw(&scene, &camera, self.width, self.height)?)
    }
}

/// Pictures side by side, row after row.
pub fn sheet(pictures: &[Image], columns: usize) -> Image {
    let columns = columns.clamp(1, pictures.len().max(1));
    let rows = pictures.len().div_ceil(columns);
    let (w, h) = pictures.first().map_or((1, 1), |p| (p.width(), p.height()));
    let mut sheet = Image::new(w * columns as u32, h * rows as u32, [255; 4]);
    for (i, picture) in pictures.iter().enumerate() {
        sheet.paste(picture, (i % columns) as u32 * w, (i / columns) as u32 * h);
    }
    sheet
}
