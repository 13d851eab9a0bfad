//! What is drawn: items with a material, on a ground, with labels.

use crate::Texture;
use crate::{DeviceFlock, Error, Label, Result};
use glam::{Affine3A, Vec2, Vec3};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The connections of a mesh. Cheap to clone; a renderer uploads it once, however many frames use it.
#[derive(Clone, Debug)]
pub struct MeshHandle {
    pub(crate) inner: Arc<MeshInner>,
}

#[derive(Debug)]
pub(crate) struct MeshInner {
    pub id: u64,
    pub triangles: Vec<[u32; 3]>,
    /// One more than the greatest index.
    pub vertices: usize,
}

impl MeshHandle {
    /// A mesh with these triangles, counter-clockwise seen from outside.
    pub fn new(triangles: &[[u32; 3]]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let vertices = triangles.iter().flatten().max().map_or(0, |m| *m as usize + 1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { inner: Arc::new(MeshInner { id, triangles: triangles.to_vec(), vertices }) }
    }

    /// The same mesh without the triangles for which `hidden` holds, for body parts that clothes always cover
    /// (de Aguiar et al. 2010, §6.2). Triangles beyond the end of `hidden` stay.
    #[must_use]
    pub fn without(&self, hidden: &[bool]) -> Self {
        let keep = |t: &usize| !hidden.get(*t).copied().unwrap_or(false);
        let triangles: Vec<_> =
            (0..self.triangles().len()).filter(keep).map(|t| self.triangles()[t]).collect();
        Self::new(&triangles)
    }

    /// A number of its own; clones share it.
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.inner.triangles
    }
}

/// How a surface answers light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Linear RGB, 0–1.
    pub base: Vec3,
    /// 0 mirror-like, 1 chalk.
    pub roughness: f32,
    /// Strength of the highlight: 1 for most solids, less for cloth.
    pub specular: f32,
    /// Colour of the light that fibres standing off the surface catch at grazing angles; zero for none.
    pub sheen: Vec3,
    /// Cloth: seen from both sides, slightly darker inside.
    pub two_sided: bool,
    /// Below 1 the item is a ghost: its nearest layer only, blended over everything else, without shadow.
    pub opacity: f32,
    /// Edges of triangles drawn over the surface.
    pub wireframe: bool,
    /// Depth consistency after de Aguiar et al. 2010, §6.2: front faces that lie less than this many metres
    /// behind what was drawn before are drawn in front of it. Hides small penetrations of the body through cloth.
    /// Parts of the body that may be in front of the cloth are taken out of it by [`Item::leading`].
    pub depth_slack_m: f32,
    /// Drawn finer than it is, bulging between its vertices as its normals say: outlines of coarse cloth are round then.
    pub rounded: bool,
    /// Width of the hem along every open edge, m; 0 for none.
    pub hem_m: f32,
    /// How much darker the bottom of a fold is and how much lighter its crest, 0–1.
    pub folds: f32,
    /// Taken as it is, without light: for heat maps whose colours must be comparable with a legend, 0–1.
    pub flatness: f32,
    /// Where an item's [`Texture`] is less opaque than this, nothing is drawn, 0–1: hair, lashes, lace. 0 for all of it.
    pub cutout: f32,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            base: Vec3::new(0.55, 0.55, 0.56),
            roughness: 0.5,
            specular: 1.0,
            sheen: Vec3::ZERO,
            two_sided: false,
            opacity: 1.0,
            wireframe: false,
            depth_slack_m: 0.0,
            rounded: false,
            hem_m: 0.0,
            folds: 0.0,
            flatness: 0.0,
            cutout: 0.0,
        }
    }
}

impl Material {
    /// The matt, warm grey of a tailor's dummy.
    pub fn body() -> Self {
        Self { base: srgb(0xd6, 0xc9, 0xbd), roughness: 0.55, specular: 0.7, ..Self::default() }
    }

    /// Cloth of the given base colour: two-sided, rough, with fuzz, hems and folds that read.
    pub fn cloth(base: Vec3) -> Self {
        Self {
            base,
            roughness: 0.85,
            specular: 0.25,
            sheen: 0.35 * base + Vec3::splat(0.06),
            two_sided: true,
            rounded: true,
            hem_m: 0.014,
            folds: 1.0,
            ..Self::default()
        }
    }

    /// A look for a fabric by its name; unknown names get a colour of their own that is always the same.
    pub fn fabric(name: &str) -> Self {
        let n = name.to_ascii_lowercase();
        let has = |word: &str| n.contains(word);
        if has("silk") || has("satin") {
            let base = srgb(0x9c, 0x2f, 0x4a);
            return Self { roughness: 0.46, specular: 0.8, sheen: 0.3 * base, ..Self::cloth(base) };
        }
        if has("denim") || has("jean") {
            return Self::cloth(srgb(0x3b, 0x55, 0x7d));
        }
        if has("wool") || has("felt") || has("knit") {
            let base = srgb(0x7d, 0x5d, 0x49);
            return Self { sheen: 0.5 * base + Vec3::splat(0.12), roughness: 1.0, ..Self::cloth(base) };
        }
        if has("leather") {
            return Self {
                roughness: 0.42,
                specular: 1.0,
                sheen: Vec3::ZERO,
                ..Self::cloth(srgb(0x4b, 0x35, 0x2b))
            };
        }
        if has("linen") {
            return Self::cloth(srgb(0xc9, 0xb8, 0x8f));
        }
        if has("cotton") {
            return Self::cloth(srgb(0x3f, 0x7c, 0x93));
        }
        let hash = n.bytes().fold(2166136261u32, |h, b| (h ^ b as u32).wrapping_mul(16777619));
        Self::cloth(hue(hash as f32 / u32::MAX as f32))
    }
}

/// A linear colour from its sRGB bytes as a paint program shows them.
pub fn srgb(r: u8, g: u8, b: u8) -> Vec3 {
    let linear = |c: u8| {
        let c = c as f32 / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(linear(r), linear(g), linear(b))
}

/// A muted colour of the given hue, 0–1 around the circle.
fn hue(h: f32) -> Vec3 {
    let channel = |shift: f32| 0.5 + 0.5 * (std::f32::consts::TAU * (h + shift)).cos();
    let c = Vec3::new(channel(0.0), channel(-1.0 / 3.0), channel(1.0 / 3.0));
    0.08 + 0.42 * c * c
}

/// One mesh to draw.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Its connections.
    pub mesh: MeshHandle,
    /// One per vertex, in metres.
    pub positions: &'a [Vec3],
    /// One per vertex; `None` computes smooth ones.
    pub normals: Option<&'a [Vec3]>,
    /// Linear RGB per vertex, in place of the material's base colour.
    pub colours: Option<&'a [Vec3]>,
    /// Metres per vertex by which the depth test sees it nearer, see [`Item::leading`].
    pub leads_m: Option<&'a [f32]>,
    /// One per vertex: places in `texture`, (0, 0) its upper left corner.
    pub uvs: Option<&'a [Vec2]>,
    /// Multiplied with the base colour; needs `uvs`.
    pub texture: Option<Texture>,
    /// How it answers light.
    pub material: Material,
    /// Where it stands; the identity unless things are to be shown beside each other.
    pub world_from_item: Affine3A,
}

impl<'a> Item<'a> {
    /// An item with smooth normals where its positions are.
    pub fn new(mesh: &MeshHandle, positions: &'a [Vec3], material: Material) -> Self {
        Self {
            mesh: mesh.clone(),
            positions,
            normals: None,
            colours: None,
            leads_m: None,
            uvs: None,
            texture: None,
            material,
            world_from_item: Affine3A::IDENTITY,
        }
    }

    /// The same item, moved.
    #[must_use]
    pub fn at(mut self, place: Vec3) -> Self {
        self.world_from_item = Affine3A::from_translation(place) * self.world_from_item;
        self
    }

    /// The same item with a colour per vertex.
    #[must_use]
    pub fn coloured(mut self, colours: &'a [Vec3]) -> Self {
        self.colours = Some(colours);
        self
    }

    /// The same item with a picture on it.
    #[must_use]
    pub fn pictured(mut self, texture: &Texture, uvs: &'a [Vec2]) -> Self {
        (self.texture, self.uvs) = (Some(texture.clone()), Some(uvs));
        self
    }

    /// The same item, each vertex nearer by so many metres in the depth test and nowhere else: what leads by a garment's
    /// whole slack is compared with the garment as it is. [`uncovered_m`](crate::uncovered_m) finds the leads of a body.
    #[must_use]
    pub fn leading(mut self, leads_m: &'a [f32]) -> Self {
        self.leads_m = Some(leads_m);
        self
    }

    pub(crate) fn check(&self, number: usize) -> Result<()> {
        let what = |w: String| Err(Error::Invalid(format!("item {number} of the scene: {w}")));
        if self.mesh.inner.vertices > self.positions.len() {
            return what(format!(
                "its triangles name {} vertices but there are {} positions",
                self.mesh.inner.vertices,
                self.positions.len()
            ));
        }
        for (name, list) in [("normals", self.normals), ("colours", self.colours)] {
            if let Some(list) = list
                && list.len() != self.positions.len()
            {
                return what(format!("{} {name} for {} positions", list.len(), self.positions.len()));
            }
        }
        if let Some(uvs) = self.uvs
            && (uvs.len() != self.positions.len() || uvs.iter().any(|uv| !uv.is_finite()))
        {
            return what(format!("{} places in a picture for {} positions", uvs.len(), self.positions.len()));
        }
        if let Some(leads) = self.leads_m
            && (leads.len() != self.positions.len() || leads.iter().any(|l| !l.is_finite()))
        {
            return what(format!("{} leads for {} positions", leads.len(), self.positions.len()));
        }
        if !self.world_from_item.is_finite() {
            return what("its placement is not finite".into());
        }
        if let Some(v) = self.positions.iter().position(|p| !p.is_finite()) {
            return what(format!("vertex {v} is at {}: not a finite position", self.positions[v]));
        }
        Ok(())
    }
}

/// One of a flock.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// One per vertex, in the world, metres.
    pub positions: &'a [Vec3],
    /// One per vertex.
    pub normals: &'a [Vec3],
    /// Linear RGB.
    pub colour: Vec3,
}

/// Many of one mesh, each with its own vertices, drawn at once: the garments of a crowd, or those who wear them.
/// What a crowd gives out is read where it lies.
#[derive(Clone, Debug)]
pub struct Flock<'a> {
    /// The connections they share.
    pub mesh: MeshHandle,
    /// How all of them answer light; base colours are the members' own.
    pub material: Material,
    /// Each of them.
    pub members: Vec<Member<'a>>,
    /// As [`Item::leads_m`], the same for all.
    pub leads_m: Option<&'a [f32]>,
}

impl Flock<'_> {
    /// Vertices of each member.
    pub(crate) fn vertices(&self) -> usize {
        self.members.first().map_or(0, |m| m.positions.len())
    }

    pub(crate) fn check(&self, number: usize) -> Result<()> {
        let what = |w: String| Err(Error::Invalid(format!("flock {number} of the scene: {w}")));
        if self.members.is_empty() {
            return Ok(());
        }
        let count = self.vertices();
        if self.mesh.inner.vertices > count {
            return what(format!("its triangles name {} vertices of {count}", self.mesh.inner.vertices));
        }
        if self.leads_m.is_some_and(|l| l.len() != count || l.iter().any(|l| !l.is_finite())) {
            return what(format!("it does not have {count} finite leads"));
        }
        for (k, m) in self.members.iter().enumerate() {
            if m.positions.len() != count || m.normals.len() != count {
                return what(format!(
                    "member {k} has {} positions and {} normals, not {count}",
                    m.positions.len(),
                    m.normals.len()
                ));
            }
            if let Some(v) = m.positions.iter().position(|p| !p.is_finite()) {
                return what(format!("vertex {v} of member {k} is not at a finite position"));
            }
        }
        Ok(())
    }
}

/// The floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// In metres.
    pub height_m: f32,
    /// Fine lines this many metres apart, so that walking is seen to get somewhere; 0 for none.
    pub grid_m: f32,
}

impl Default for Ground {
    fn default() -> Self {
        Self { height_m: 0.0, grid_m: 0.0 }
    }
}

/// The wall behind everything, a vertical gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backdrop {
    /// Linear RGB at the top of the picture.
    pub top: Vec3,
    /// Linear RGB at the bottom.
    pub bottom: Vec3,
}

impl Default for Backdrop {
    fn default() -> Self {
        Self { top: srgb(0xd3, 0xd7, 0xdc), bottom: srgb(0xf0, 0xee, 0xeb) }
    }
}

/// Everything in one picture.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Bodies before their clothes: where depth does not decide, the later item is seen.
    pub items: Vec<Item<'a>>,
    /// Many at once; bodies before their clothes.
    pub flocks: Vec<Flock<'a>>,
    /// Flocks whose vertices are on the renderer's device already.
    pub on_device: Vec<&'a DeviceFlock>,
    /// How far a level of detail of those may be off in the picture, in pixels; 0 draws everyone in full.
    pub off_px: f32,
    /// The floor, which catches shadows.
    pub ground: Option<Ground>,
    /// The wall.
    pub backdrop: Backdrop,
    /// Where the lights stand, as degrees about the vertical; `None` keeps them with the camera.
    pub light_azimuth_degrees: Option<f32>,
    /// Written over the finished picture.
    pub labels: Vec<Label>,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            flocks: Vec::new(),
            on_device: Vec::new(),
            off_px: 0.5,
            ground: Some(Ground::default()),
            backdrop: Backdrop::default(),
            light_azimuth_degrees: None,
            labels: Vec::new(),
        }
    }
}

impl<'a> Scene<'a> {
    /// An empty studio.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item.
    #[must_use]
    pub fn with(mut self, item: Item<'a>) -> Self {
        self.items.push(item);
        self
    }

    /// Adds a flock.
    #[must_use]
    pub fn with_flock(mut self, flock: Flock<'a>) -> Self {
        self.flocks.push(flock);
        self
    }

    /// Adds a label.
    #[must_use]
    pub fn labelled(mut self, label: Label) -> Self {
        self.labels.push(label);
        self
    }

    /// Every vertex where it stands in the world; those that are not finite are left out.
    pub(crate) fn points(&self) -> impl Iterator<Item = Vec3> {
        let placed = |item: &'_ Item<'a>| {
            let world_from_item = item.world_from_item;
            item.positions.iter().map(move |p| world_from_item.transform_point3(*p))
        };
        let members = self.flocks.iter().flat_map(|f| &f.members);
        let flocks = members.flat_map(|m| m.positions.iter().copied());
        let on_device = self.on_device.iter().flat_map(|f| [f.bounds.0, f.bounds.1]);
        self.items.iter().flat_map(placed).chain(flocks).chain(on_device).filter(|p| p.is_finite())
    }

    /// Least and greatest corner around all items; zeros for an empty scene.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let mut points = self.points();
        let Some(first) = points.next() else { return (Vec3::ZERO, Vec3::ZERO) };
        points.fold((first, first), |(lo, hi), p| (lo.min(p), hi.max(p)))
    }
}

/// Vertex normals weighted by the angle of each corner, so that they do not depend on how a surface was
/// cut into triangles (Thürmer and Wüthrich 1998).
pub fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for tri in triangles {
        let Some([a, b, c]) = corners(positions, tri) else { continue };
        let Some(n) = (b - a).cross(c - a).try_normalize() else { continue };
        for (k, (at, one, other)) in [(a, b, c), (b, c, a), (c, a, b)].into_iter().enumerate() {
            let (u, v) = ((one - at).normalize_or_zero(), (other - at).normalize_or_zero());
            normals[tri[k] as usize] += u.dot(v).clamp(-1.0, 1.0).acos() * n;
        }
    }
    for n in &mut normals {
        *n = n.normalize_or_zero();
    }
    normals
}

fn corners(positions: &[Vec3], tri: &[u32; 3]) -> Option<[Vec3; 3]> {
    let at = |i: u32| positions.get(i as usize).copied();
    Some([at(tri[0])?, at(tri[1])?, at(tri[2])?])
}
