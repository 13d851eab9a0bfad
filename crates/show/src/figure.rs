//! A body as it is drawn: one part for each of its materials, all on the same vertices.

use crate::{Item, Material, MeshHandle, Texture};
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use toile_assets::Body;
use toile_assets::read::gltf::{Look, Looks};

/// A body with its materials and pictures, in any pose.
#[derive(Clone, Debug)]
pub struct Figure {
    parts: Vec<Part>,
    /// All triangles that are drawn.
    whole: MeshHandle,
    triangles: Vec<[u32; 3]>,
    uvs: Vec<Vec2>,
    /// For each vertex the first one at the same place: files cut meshes along the seams of their pictures, and light
    /// must not show that.
    same_place: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Part {
    mesh: MeshHandle,
    material: Material,
    texture: Option<Texture>,
    /// Which of the body's triangles it has.
    triangles: Vec<u32>,
}

impl Figure {
    /// The body of a tailor's dummy.
    pub fn plain(body: &Body) -> Self {
        let triangles = body.mesh.triangles.clone();
        let whole = MeshHandle::new(&triangles);
        let all = (0..triangles.len() as u32).collect();
        let parts =
            vec![Part { mesh: whole.clone(), material: Material::body(), texture: None, triangles: all }];
        Self { parts, whole, triangles, uvs: Vec::new(), same_place: Vec::new() }
    }

    /// The body as its file paints it, and what of that could not be drawn. Looks of another body leave it plain.
    pub fn painted(body: &Body, looks: &Looks) -> (Self, Vec<String>) {
        let plain = Self::plain(body);
        if looks.of_triangle.len() != body.mesh.triangles.len() || looks.materials.is_empty() {
            return (plain, Vec::new());
        }
        let mut faults = Vec::new();
        let with_uvs = body.mesh.uvs.len() == body.mesh.positions.len();
        let pictures: Vec<Option<Texture>> = (looks.pictures.iter().enumerate())
            .map(|(k, bytes)| match Texture::decode(bytes) {
                _ if !with_uvs => None,
                Ok(texture) => Some(texture),
                Err(why) => {
                    let on = looks.materials.iter().find(|m| m.picture == Some(k)).map(|m| m.name.as_str());
                    faults.push(format!("the picture of `{}` is left out: {why}", on.unwrap_or_default()));
                    None
                }
            })
            .collect();
        let mut of_material: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
        for (t, m) in looks.of_triangle.iter().enumerate() {
            of_material.entry(*m).or_default().push(t as u32);
        }
        let mut order: Vec<Option<u32>> = of_material.keys().copied().collect();
        order.sort_unstable();
        let parts = order.into_iter().map(|m| {
            let triangles = of_material.remove(&m).unwrap_or_default();
            let look = m.and_then(|m| looks.materials.get(m as usize));
            let texture = look.and_then(|l| l.picture).and_then(|p| pictures.get(p)?.clone());
            let mesh = MeshHandle::new(&of(&body.mesh.triangles, &triangles));
            Part { mesh, material: look.map_or_else(Material::body, material), texture, triangles }
        });
        let parts = parts.collect();
        let uvs = if with_uvs { body.mesh.uvs.clone() } else { Vec::new() };
        (Self { parts, uvs, same_place: same_place(&body.mesh.positions), ..plain }, faults)
    }

    /// Leaves out triangles that clothes always cover.
    pub fn hide(&mut self, triangles: &[u32]) {
        let mut hidden = vec![false; self.triangles.len()];
        for &t in triangles {
            if let Some(hidden) = hidden.get_mut(t as usize) {
                *hidden = true;
            }
        }
        for part in &mut self.parts {
            let of_part: Vec<bool> = part.triangles.iter().map(|t| hidden[*t as usize]).collect();
            part.mesh = part.mesh.without(&of_part);
            part.triangles.retain(|t| !hidden[*t as usize]);
        }
        self.whole = MeshHandle::new(&self.triangles).without(&hidden);
    }

    /// All triangles that are drawn, whatever their material.
    pub fn mesh(&self) -> &MeshHandle {
        &self.whole
    }

    /// Whether it has materials of its own.
    pub fn is_painted(&self) -> bool {
        !self.same_place.is_empty()
    }

    /// Normals for [`Figure::items`]; none are needed where one part has all the triangles.
    pub fn normals(&self, positions: &[Vec3]) -> Option<Vec<Vec3>> {
        if !self.is_painted() {
            return None;
        }
        let joined: Vec<[u32; 3]> =
            self.triangles.iter().map(|t| t.map(|v| self.same_place[v as usize])).collect();
        let normals = crate::smooth_normals(positions, &joined);
        Some(self.same_place.iter().map(|v| normals[*v as usize]).collect())
    }

    /// What is to be drawn for these vertices.
    pub fn items<'a>(
        &'a self,
        positions: &'a [Vec3],
        normals: Option<&'a [Vec3]>,
        leads_m: Option<&'a [f32]>,
    ) -> impl Iterator<Item = Item<'a>> {
        self.parts.iter().map(move |part| {
            let mut item = Item::new(&part.mesh, positions, part.material);
            (item.normals, item.leads_m) = (normals, leads_m);
            match &part.texture {
                Some(texture) => item.pictured(texture, &self.uvs),
                None => item,
            }
        })
    }
}

fn of(triangles: &[[u32; 3]], chosen: &[u32]) -> Vec<[u32; 3]> {
    chosen.iter().map(|t| triangles[*t as usize]).collect()
}

fn same_place(positions: &[Vec3]) -> Vec<u32> {
    let mut first: HashMap<[u32; 3], u32> = HashMap::new();
    let key = |p: &Vec3| p.to_array().map(f32::to_bits);
    positions.iter().zip(0..).map(|(p, v)| *first.entry(key(p)).or_insert(v)).collect()
}

fn material(look: &Look) -> Material {
    Material {
        base: Vec3::from_array(look.base_colour),
        roughness: look.roughness.max(0.3),
        specular: if look.metallic > 0.5 && look.roughness < 0.6 { 1.0 } else { 0.5 },
        two_sided: look.two_sided || look.cutout > 0.0,
        cutout: look.cutout,
        ..Material::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{Mesh, Skeleton, Skin};

    fn two_triangles() -> Body {
        let mesh = Mesh {
            // The second triangle has corners of its own along the edge they share.
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X, Vec3::new(1.0, 1.0, 0.5), Vec3::Y],
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            uvs: vec![Vec2::ZERO; 6],
        };
        let joint = toile_assets::Joint {
            name: "hips".into(),
            parent: None,
            rest: toile_assets::Transform::IDENTITY,
        };
        let skeleton = Skeleton::new(vec![joint]).unwrap();
        let skin = Skin::from_rows(vec![vec![(0, 1.0)]; 6]).unwrap();
        Body::bound_at_rest("two", skeleton, mesh, skin).unwrap()
    }

    fn look(name: &str, picture: Option<usize>) -> Look {
        Look {
            name: name.into(),
            base_colour: [1.0, 0.5, 0.25],
            metallic: 0.0,
            roughness: 1.0,
            picture,
            cutout: 0.0,
            two_sided: false,
        }
    }

    #[test]
    fn each_material_is_a_part_and_seams_are_lit_as_one() {
        let body = two_triangles();
        let looks = Looks {
            materials: vec![look("skin", None), look("coat", Some(0))],
            of_triangle: vec![Some(1), Some(0)],
            pictures: vec![b"no picture".to_vec()],
        };
        let (mut figure, faults) = Figure::painted(&body, &looks);
        assert!(faults.len() == 1 && faults[0].contains("coat"), "{faults:?}");
        let normals = figure.normals(&body.mesh.positions).unwrap();
        assert_eq!((normals[1], normals[2]), (normals[3], normals[5]));
        assert_eq!(figure.items(&body.mesh.positions, Some(&normals), None).count(), 2);
        figure.hide(&[0]);
        assert_eq!(figure.mesh().triangles(), [[3, 4, 5]]);
        let drawn = figure.items(&body.mesh.positions, Some(&normals), None);
        assert_eq!(drawn.map(|i| i.mesh.triangles().len()).sum::<usize>(), 1);
        // Looks of another body are not put on this one.
        let (plain, _) = Figure::painted(&body, &Looks { of_triangle: vec![None], ..looks });
        assert!(!plain.is_painted());
    }
}
