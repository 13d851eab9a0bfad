//! A dressed body in a studio, frame by frame: what `render`, `compare` and `demo` draw.

use anyhow::Result;
use glam::Vec3;
use std::collections::HashMap;
use toile_assets::{Body, RootFrame, RootTrack};
use toile_show::{
    Camera, Figure, Image, Item, Label, Material, MeshHandle, Renderer, Scene, View, uncovered_m,
};

/// Cloth is drawn over the part of the body that it covers unless it lies farther behind it than this. Learned dresses sink
/// in by up to 3 cm where motion is far from training; nothing that a garment covers is ever rightly in front of
/// its outer side, so more would do no harm but along necklines and hems.
pub const DEPTH_SLACK_M: f32 = 0.05;

/// One garment of a picture.
pub struct Cloth {
    pub mesh: MeshHandle,
    pub material: Material,
}

/// A body and its clothes, ready to be drawn in any pose.
pub struct Studio {
    renderer: Renderer,
    figure: Figure,
    camera: Camera,
    /// The box that the camera sees, and from which side.
    around: (Vec3, Vec3),
    view: View,
    /// How far each vertex of the body leads, by the garments it wears.
    leads_m: HashMap<Vec<u64>, Vec<f32>>,
    /// Depth slack of every garment that brings none of its own; 0 draws what is nearer, right or wrong.
    pub slack_m: f32,
    /// Whether edges of triangles are drawn.
    pub wireframe: bool,
    pub width: u32,
    pub height: u32,
}

impl Studio {
    /// Sets up the camera so that the standing body fills the picture, with `headroom_m` above it for jumps.
    pub fn new(
        renderer: Renderer,
        body: &Body,
        view: View,
        (width, height): (u32, u32),
        headroom_m: f32,
    ) -> Self {
        let (lo, hi) = body.mesh.bounds();
        // Arms swing and skirts fly: leave room around the rest pose, but not for its spread arms.
        let half = Vec3::new(0.25, 0.0, 0.25) * (hi.y - lo.y);
        let around = (Vec3::new(-half.x, lo.y, -half.z), Vec3::new(half.x, hi.y + headroom_m, half.z));
        let at_rest = RootTrack::new(&body.skeleton, &[body.skeleton.rest_pose()]).frames[0].heading;
        let camera = standing(around, view, at_rest, width as f32 / height as f32);
        Self {
            renderer,
            figure: Figure::plain(body),
            camera,
            around,
            view,
            leads_m: HashMap::new(),
            slack_m: DEPTH_SLACK_M,
            wireframe: false,
            width,
            height,
        }
    }

    /// Leaves out triangles of the body that its clothes always cover.
    pub fn hide(&mut self, triangles: &[u32]) {
        self.figure.hide(triangles);
        self.leads_m.clear();
    }

    /// Draws the body with its own materials and pictures.
    pub fn paint(&mut self, figure: Figure) {
        self.figure = figure;
        self.leads_m.clear();
    }

    /// Turns the camera with a character that faces another way than at rest, by its heading.
    pub fn face(&mut self, heading: f64) {
        self.camera = standing(self.around, self.view, heading, self.width as f32 / self.height as f32);
    }

    /// Puts the camera where it sees everything between two corners, and no longer in relation to the body.
    pub fn frame(&mut self, lo: Vec3, hi: Vec3, view: View) {
        self.camera = Camera::framing(lo, hi, view, self.width as f32 / self.height as f32);
    }

    /// Name of the adapter that draws.
    pub fn adapter(&self) -> String {
        self.renderer.adapter()
    }

    /// How far each vertex of a garment is to lead where those worn over it leave it open; the garment comes first. In every
    /// frame anew: in a bow a hem that left the knees open comes to lie over them.
    fn lead_over(&self, clothes: &[(&Cloth, &[Vec3], Option<&[Vec3]>)]) -> Option<Vec<f32>> {
        let ((cloth, positions, _), over) = clothes.split_first()?;
        let solid = over.iter().filter(|c| c.0.material.opacity >= 1.0);
        let meshes: Vec<(&[Vec3], &[[u32; 3]])> = solid.map(|c| (c.1, c.0.mesh.triangles())).collect();
        if meshes.is_empty() || self.slack_m <= 0.0 || cloth.material.opacity < 1.0 {
            return None;
        }
        Some(uncovered_m(positions, cloth.mesh.triangles(), &meshes, self.slack_m))
    }

    /// One picture, the camera following the root over the floor.
    pub fn draw(
        &mut self,
        body: Option<&[Vec3]>,
        clothes: &[(&Cloth, &[Vec3], Option<&[Vec3]>)],
        root: Option<&RootFrame>,
        label: &str,
    ) -> Result<Image> {
        self.draw_turned(body, clothes, root, 0.0, label)
    }

    /// The same with the camera turned about the vertical through what it looks at.
    pub fn draw_turned(
        &mut self,
        body: Option<&[Vec3]>,
        clothes: &[(&Cloth, &[Vec3], Option<&[Vec3]>)],
        root: Option<&RootFrame>,
        degrees: f32,
        label: &str,
    ) -> Result<Image> {
        let solid = |cloth: &Cloth| cloth.material.opacity >= 1.0;
        let worn: Vec<u64> = clothes.iter().filter(|c| solid(c.0)).map(|c| c.0.mesh.id()).collect();
        if let Some(positions) = body
            && self.slack_m > 0.0
            && !worn.is_empty()
        {
            // From the first frame they are seen in: what covers what changes little with the pose.
            self.leads_m.entry(worn.clone()).or_insert_with(|| {
                let meshes: Vec<(&[Vec3], &[[u32; 3]])> =
                    clothes.iter().filter(|c| solid(c.0)).map(|c| (c.1, c.0.mesh.triangles())).collect();
                uncovered_m(positions, self.figure.mesh().triangles(), &meshes, self.slack_m)
            });
        }
        let leads: Vec<Option<Vec<f32>>> =
            (0..clothes.len()).map(|k| self.lead_over(&clothes[k..])).collect();
        let mut scene = Scene::new();
        let normals = body.and_then(|positions| self.figure.normals(positions));
        if let Some(positions) = body {
            let leads_m = self.leads_m.get(&worn).map(Vec::as_slice);
            scene.items.extend(self.figure.items(positions, normals.as_deref(), leads_m));
        }
        let solids = clothes.iter().filter(|c| solid(c.0)).count();
        let mut under = 0;
        for ((cloth, positions, colours), leads) in clothes.iter().zip(&leads) {
            let mut material = cloth.material;
            if material.depth_slack_m == 0.0 && solid(cloth) {
                // Garments come the innermost first: who is worn over more is drawn over more.
                under += 1;
                material.depth_slack_m = self.slack_m * under as f32 / solids as f32;
            }
            material.wireframe |= self.wireframe && solid(cloth);
            let mut item = Item::new(&cloth.mesh, positions, material);
            if let Some(colours) = colours {
                item = item.coloured(colours);
            }
            item.leads_m = leads.as_deref();
            scene = scene.with(item);
        }
        if !label.is_empty() {
            scene = scene.labelled(Label::new(label));
        }
        let camera = match root {
            Some(root) => self.camera.following(root.position.as_vec3().with_y(0.0)),
            None => self.camera,
        };
        Ok(self.renderer.draw(&scene, &camera.orbiting(degrees), self.width, self.height)?)
    }
}

/// The camera that sees a box from a side of someone who stands in it with this heading.
fn standing((lo, hi): (Vec3, Vec3), view: View, heading: f64, aspect: f32) -> Camera {
    Camera::framing(lo, hi, view.turned(heading.to_degrees() as f32), aspect)
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
