//! A glTF document in the making: arrays go into one binary chunk, everything else into JSON.

use crate::{Error, Result};
use serde_json::{Value, json};

/// What a buffer view holds, as graphics interfaces name it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Vertices.
    Vertices,
    /// Triangle corners.
    Indices,
    /// Keys and matrices: nothing a graphics card reads directly.
    Other,
}

/// The parts of a document, each list in the order of its indices.
#[derive(Default)]
pub(super) struct Container {
    pub nodes: Vec<Value>,
    pub scene: Vec<usize>,
    pub meshes: Vec<Value>,
    pub skins: Vec<Value>,
    pub materials: Vec<Value>,
    pub animations: Vec<Value>,
    accessors: Vec<Value>,
    views: Vec<Value>,
    binary: Vec<u8>,
}

impl Container {
    /// Adds an object to a list and returns its index.
    pub fn push(list: &mut Vec<Value>, value: Value) -> usize {
        list.push(value);
        list.len() - 1
    }

    /// Adds floats, `N` to an element; `bounds` adds the least and greatest that positions and times need.
    pub fn floats<const N: usize>(&mut self, data: &[[f32; N]], target: Target, bounds: bool) -> usize {
        let shape = match N {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let bytes: Vec<u8> = data.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let mut accessor = self.accessor(&bytes, 5126, shape, data.len(), target);
        if bounds {
            let mut lo = [f32::INFINITY; N];
            let mut hi = [f32::NEG_INFINITY; N];
            for e in data {
                for c in 0..N {
                    lo[c] = lo[c].min(e[c]);
                    hi[c] = hi[c].max(e[c]);
                }
            }
            accessor["min"] = json!(lo.to_vec());
            accessor["max"] = json!(hi.to_vec());
        }
        Self::push(&mut self.accessors, accessor)
    }

    /// Adds joint indices, in bytes where they fit.
    pub fn joints(&mut self, data: &[[u16; 4]]) -> usize {
        let small = data.iter().flatten().all(|&j| j <= 255);
        let bytes: Vec<u8> = if small {
            data.iter().flatten().map(|&j| j as u8).collect()
        } else {
            data.iter().flatten().flat_map(|j| j.to_le_bytes()).collect()
        };
        let code = if small { 5121 } else { 5123 };
        let accessor = self.accessor(&bytes, code, "VEC4", data.len(), Target::Vertices);
        Self::push(&mut self.accessors, accessor)
    }

    /// Adds triangle corners, in two bytes where they fit. The greatest number of a type restarts
    /// primitives on some hardware and is not allowed.
    pub fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let small = triangles.iter().flatten().all(|&i| i < 65535);
        let bytes: Vec<u8> = if small {
            triangles.iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()).collect()
        } else {
            triangles.iter().flatten().flat_map(|i| i.to_le_bytes()).collect()
        };
        let code = if small { 5123 } else { 5125 };
        let accessor = self.accessor(&bytes, code, "SCALAR", 3 * triangles.len(), Target::Indices);
        Self::push(&mut self.accessors, accessor)
    }

    fn accessor(&mut self, bytes: &[u8], code: u32, shape: &str, count: usize, target: Target) -> Value {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len()});
        match target {
            Target::Vertices => view["target"] = json!(34962),
            Target::Indices => view["target"] = json!(34963),
            Target::Other => {}
        }
        self.binary.extend_from_slice(bytes);
        let view = Self::push(&mut self.views, view);
        json!({"bufferView": view, "componentType": code, "type": shape, "count": count})
    }

    /// The finished file.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let mut root = json!({
            "asset": {"version": "2.0", "generator": "toile"},
            "scene": 0,
            "scenes": [{"nodes": self.scene}],
        });
        let lists = [
            ("nodes", self.nodes),
            ("meshes", self.meshes),
            ("skins", self.skins),
            ("materials", self.materials),
            ("animations", self.animations),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        // Empty lists are not allowed.
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            root[name] = Value::Array(list);
        }
        root["buffers"] = json!([{"byteLength": self.binary.len()}]);
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + text.len() + 8 + self.binary.len();
        let total = u32::try_from(total).map_err(|_| {
            Error::Invalid(format!("{total} bytes do not fit into a .glb file, whose limit is 4 GiB"))
        })?;
        let mut file = Vec::with_capacity(total as usize);
        file.extend_from_slice(b"glTF");
        file.extend_from_slice(&2u32.to_le_bytes());
        file.extend_from_slice(&total.to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.binary)] {
            file.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
            file.extend_from_slice(kind);
            file.extend_from_slice(chunk);
        }
        Ok(file)
    }
}
