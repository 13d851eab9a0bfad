//! Colours and pictures of materials. Only what a picture of a character needs is read: base colour, finish, cut-out.
//! Whatever is wrong here is said and left out; nobody loses a body over a picture.

use super::Loaded;
use super::document::{Document, fetch};
use crate::Problem;
use serde_json::Value;
use std::collections::HashMap;

/// How a material looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// For messages.
    pub name: String,
    /// Linear red, green, blue.
    pub base_colour: [f32; 3],
    /// 0 for paint, skin and cloth, 1 for metal.
    pub metallic: f32,
    /// 0 mirror-like, 1 chalk.
    pub roughness: f32,
    /// Which of [`Looks::pictures`] lies on it.
    pub picture: Option<usize>,
    /// Where the picture is less opaque than this, nothing is drawn; 0 for all of it.
    pub cutout: f32,
    /// Seen from both sides.
    pub two_sided: bool,
}

/// How a body looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    /// The file's materials.
    pub materials: Vec<Look>,
    /// The material of each triangle of the body; `None` where it has none.
    pub of_triangle: Vec<Option<u32>>,
    /// Encoded pictures as they are in the file: PNG or JPEG.
    pub pictures: Vec<Vec<u8>>,
}

/// The looks of these triangles.
pub(super) fn looks(doc: &Document, of_triangle: &[Option<u32>]) -> Loaded<Looks> {
    let mut gathered = Gathered { doc, pictures: Vec::new(), known: HashMap::new(), problems: Vec::new() };
    let used: Vec<bool> =
        (0..doc.json.materials.len()).map(|m| of_triangle.contains(&Some(m as u32))).collect();
    let materials: Vec<Look> = (0..used.len()).map(|m| gathered.material(m, used[m])).collect();
    let known = |m: &Option<u32>| m.filter(|m| (*m as usize) < materials.len());
    let of_triangle = of_triangle.iter().map(known).collect();
    let Gathered { pictures, problems, .. } = gathered;
    Loaded { value: Looks { materials, of_triangle, pictures }, problems, notes: Vec::new() }
}

struct Gathered<'d, 'p> {
    doc: &'d Document<'p>,
    pictures: Vec<Vec<u8>>,
    /// Pictures that several materials share.
    known: HashMap<u64, Option<usize>>,
    problems: Vec<Problem>,
}

impl Gathered<'_, '_> {
    fn material(&mut self, index: usize, used: bool) -> Look {
        let material = &self.doc.json.materials[index];
        let name = material.name.clone().unwrap_or_else(|| format!("material {index}"));
        let surface = material.look.get("pbrMetallicRoughness").unwrap_or(&Value::Null);
        let number = |at: &Value, otherwise: f32| match at.as_f64() {
            Some(v) if v.is_finite() => v as f32,
            _ => otherwise,
        };
        let factor = &surface["baseColorFactor"];
        let base_colour = [0, 1, 2].map(|k| number(&factor[k], 1.0).clamp(0.0, 1.0));
        let texture = surface["baseColorTexture"]["index"].as_u64().filter(|_| used);
        let picture = texture.and_then(|t| match self.known.get(&t) {
            Some(known) => *known,
            None => {
                let picture = self.picture(t, &name);
                self.known.insert(t, picture);
                picture
            }
        });
        let cutout = match material.look.get("alphaMode").and_then(Value::as_str) {
            Some("MASK") => number(material.look.get("alphaCutoff").unwrap_or(&Value::Null), 0.5),
            // Blended layers would need an order; what is mostly there is drawn.
            Some("BLEND") => 0.4,
            _ => 0.0,
        };
        Look {
            name,
            base_colour,
            metallic: number(&surface["metallicFactor"], 1.0).clamp(0.0, 1.0),
            roughness: number(&surface["roughnessFactor"], 1.0).clamp(0.0, 1.0),
            picture,
            cutout: cutout.clamp(0.0, 1.0),
            two_sided: material.look.get("doubleSided").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// The encoded picture of a texture.
    fn picture(&mut self, texture: u64, material: &str) -> Option<usize> {
        match self.encoded(texture) {
            Ok(bytes) => {
                self.pictures.push(bytes);
                Some(self.pictures.len() - 1)
            }
            Err(why) => {
                let what = format!("the picture of `{material}` cannot be had: {why}");
                self.problems.push(Problem::new(what, 1, "drawn without it"));
                None
            }
        }
    }

    fn encoded(&self, texture: u64) -> Result<Vec<u8>, String> {
        let doc = self.doc;
        let source = &doc.json.textures[texture as usize]["source"];
        let Some(image) = source.as_u64() else {
            return Err(format!("texture {texture} names no PNG or JPEG image"));
        };
        let image = &doc.json.images[image as usize];
        if let Some(uri) = image["uri"].as_str() {
            return fetch(doc.path, "images", uri).map_err(|e| e.to_string());
        }
        let view = image["bufferView"].as_u64().and_then(|v| doc.json.buffer_views.get(v as usize));
        let view = view.ok_or("it has neither a uri nor a buffer view")?;
        let buffer = doc.buffers.get(view.buffer).ok_or("its buffer is missing")?;
        let (from, length) = (view.byte_offset as usize, view.byte_length as usize);
        let bytes = from.checked_add(length).and_then(|to| buffer.get(from..to));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| "its buffer is too short".into())
    }
}
