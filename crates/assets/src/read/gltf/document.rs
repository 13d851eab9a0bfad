//! The file itself: container, JSON and buffers, checked before anything is made of them.
//!
//! Only what bodies, motions and meshes need is taken from the JSON, so a faulty texture or an unknown
//! extension does not make geometry unreadable. That, and array readers that panic on ranges a file merely
//! claims, is why the crate `gltf` is not used here.

use crate::{Error, Result};
use serde::Deserialize;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use toile_model::disk;

/// A file in memory.
pub(super) struct Document<'p> {
    /// Where it came from.
    pub path: &'p Path,
    /// Its JSON part.
    pub json: Json,
    /// Its buffers, in order.
    pub buffers: Vec<Vec<u8>>,
    /// Bytes that may still be made out of this file. Accessors may share one stretch of a buffer, so a
    /// small file could claim any amount of data; sixty-four times its own size is more than any real use.
    budget: Cell<u64>,
}

/// How many bytes may be unpacked for each byte of the file, and how many in any case.
const UNPACKED_PER_BYTE: u64 = 64;
const UNPACKED_AT_LEAST: u64 = 1 << 20;

impl<'p> Document<'p> {
    /// Reads a file and all buffers it names.
    pub fn read(path: &'p Path) -> Result<Self> {
        let bytes = disk::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(path, &bytes)
    }

    /// Takes a file apart; `path` is where external buffers are looked for.
    pub fn from_bytes(path: &'p Path, bytes: &[u8]) -> Result<Self> {
        let (json, binary) = split(path, bytes)?;
        let json: Json = serde_json::from_slice(json).map_err(|e| {
            Error::bad(path, format!("JSON, line {} column {}", e.line(), e.column()), e.to_string())
        })?;
        let version = json.asset.min_version.as_ref().unwrap_or(&json.asset.version);
        if !version.starts_with("2.") {
            let what = format!("glTF version {version} is not read; export as glTF 2.0");
            return Err(Error::bad(path, "asset", what));
        }
        for name in &json.extensions_required {
            let unpacked = match name.as_str() {
                n if n.contains("draco") => {
                    "export it without compression; Blender unpacks it when it imports it and exports it again (docs/guide.md \
                     has the line)"
                }
                n if n.contains("meshopt") => "export it without compression (gltfpack: without -c and -cc)",
                _ => continue,
            };
            let what = format!("geometry is compressed with {name}, which is not read; {unpacked}");
            return Err(Error::bad(path, "extensionsRequired", what));
        }
        let mut buffers = Vec::new();
        for (i, buffer) in json.buffers.iter().enumerate() {
            let place = format!("buffer {i}");
            let data = match &buffer.uri {
                None => match binary {
                    Some(b) if i == 0 => b.to_vec(),
                    _ => return Err(Error::bad(path, place, "has neither a uri nor a binary chunk")),
                },
                Some(uri) => fetch(path, &place, uri)?,
            };
            if (data.len() as u64) < buffer.byte_length {
                let what = format!(
                    "is said to be {} bytes but there are {}; the file is cut off",
                    buffer.byte_length,
                    data.len()
                );
                return Err(Error::bad(path, place, what));
            }
            buffers.push(data);
        }
        let size = bytes.len() as u64 + buffers.iter().map(|b| b.len() as u64).sum::<u64>();
        let budget = Cell::new(size.saturating_mul(UNPACKED_PER_BYTE) + UNPACKED_AT_LEAST);
        Ok(Self { path, json, buffers, budget })
    }

    /// A fault of this file.
    pub fn bad(&self, place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::bad(self.path, place, what)
    }

    /// Bytes of buffers: what an accessor without data of its own may at most have elements.
    pub fn total_bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.len() as u64).sum()
    }

    /// Takes `bytes` from what may be unpacked from this file.
    pub fn spend(&self, bytes: u64, place: &str) -> Result<()> {
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(self.bad(place, "the file uses the same data over and over, beyond reason")),
        }
    }

    /// Name of node `n` for people.
    pub fn node_name(&self, n: usize) -> String {
        self.json.nodes[n].name.clone().unwrap_or_else(|| format!("node {n}"))
    }

    /// Name of mesh `m` for people.
    pub fn mesh_name(&self, m: usize) -> String {
        self.json.meshes[m].name.clone().unwrap_or_else(|| format!("mesh {m}"))
    }
}

const MAGIC: &[u8] = b"glTF";
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BINARY: u32 = 0x004E_4942;

/// Splits a file into JSON and, for binary glTF, its binary chunk.
fn split<'b>(path: &Path, bytes: &'b [u8]) -> Result<(&'b [u8], Option<&'b [u8]>)> {
    if !bytes.starts_with(MAGIC) {
        // A byte order mark is not allowed, but text editors add it.
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        return match text.trim_ascii_start().first() {
            Some(b'{') => Ok((text, None)),
            _ => Err(Error::bad(path, "byte 0", "this is not glTF 2.0 (.glb, .gltf or .vrm)")),
        };
    }
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    match word(4) {
        Some(2) => {}
        Some(v) => return Err(Error::bad(path, "byte 4", format!("container version {v} is not 2"))),
        None => return Err(Error::bad(path, "byte 4", "the file ends within its header")),
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while at < bytes.len() && (json.is_none() || binary.is_none()) {
        let place = format!("byte {at}");
        let (Some(length), Some(kind)) = (word(at), word(at + 4)) else {
            return Err(Error::bad(path, place, "the file ends within a chunk header"));
        };
        let start = at + 8;
        let end = start.saturating_add(length as usize);
        let Some(chunk) = bytes.get(start..end) else {
            let what = format!(
                "a chunk claims {length} bytes but {} are left; the file is cut off",
                bytes.len() - start
            );
            return Err(Error::bad(path, place, what));
        };
        match kind {
            CHUNK_JSON if json.is_none() => json = Some(chunk),
            CHUNK_BINARY if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = end;
    }
    let json = json.ok_or_else(|| Error::bad(path, "byte 12", "there is no JSON chunk"))?;
    Ok((json, binary))
}

/// The bytes that a uri stands for: data written into it, or a file beside the document.
pub(super) fn fetch(path: &Path, place: &str, uri: &str) -> Result<Vec<u8>> {
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, text)) = data.split_once(";base64,") else {
            return Err(Error::bad(path, place, "a data uri that is not base64"));
        };
        return base64(text).ok_or_else(|| Error::bad(path, place, "its data uri is not valid base64"));
    }
    let name = percent_decoded(uri);
    let name = Path::new(&name);
    if uri.contains("://") || name.is_absolute() {
        let what = format!("`{uri}` is not beside the file; only relative files are read");
        return Err(Error::bad(path, place, what));
    }
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    // A device or a pipe has no end.
    if !disk::is_plain_file(&file).map_err(|e| Error::io(&file, e))? {
        return Err(Error::bad(path, place, format!("`{uri}` is not a file")));
    }
    disk::read(&file).map_err(|e| Error::io(&file, e))
}

/// Standard base64 with or without padding; `None` for any other character.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}

/// `My%20Mesh.bin` as `My Mesh.bin`.
fn percent_decoded(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let code = (bytes[i] == b'%')
            .then(|| uri.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok()))
            .flatten();
        out.push(code.unwrap_or(bytes[i]));
        i += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What we read of the JSON (glTF 2.0 specification, section 5).
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs)]
pub(super) struct Json {
    pub asset: Asset,
    pub accessors: Vec<Accessor>,
    pub animations: Vec<Animation>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub materials: Vec<Material>,
    /// Taken apart where looks are asked for: a faulty picture does not make geometry unreadable.
    pub textures: serde_json::Value,
    pub images: serde_json::Value,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub skins: Vec<Skin>,
    pub extensions_used: Vec<String>,
    pub extensions_required: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Asset {
    pub version: String,
    pub min_version: Option<String>,
    pub generator: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Material {
    pub name: Option<String>,
    /// Colour, picture and finish, taken apart with the pictures.
    #[serde(flatten)]
    pub look: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    #[serde(default = "triangles")]
    pub mode: u32,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, usize>>,
}

/// The mode of a primitive that does not say.
fn triangles() -> u32 {
    4
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub name: Option<String>,
    #[serde(default)]
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub name: Option<String>,
    pub inverse_bind_matrices: Option<usize>,
    pub joints: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub sampler: usize,
    pub target: Target,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: usize,
    pub output: usize,
    #[serde(default)]
    pub interpolation: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_decoded() {
        assert_eq!(base64("TWFu").unwrap(), b"Man");
        assert_eq!(base64("TWE=").unwrap(), b"Ma");
        assert_eq!(base64("TQ").unwrap(), b"M");
        assert_eq!(base64("T Q"), None);
        assert_eq!(percent_decoded("a%20b%2"), "a b%2");
    }
}
