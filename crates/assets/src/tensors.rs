//! Safetensors files with text metadata: how takes and models are stored.

use crate::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Collects named arrays and writes them all at once.
#[derive(Default)]
pub(crate) struct TensorWriter {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
    text: HashMap<String, String>,
}

impl TensorWriter {
    pub fn text(&mut self, key: &str, value: impl ToString) {
        self.text.insert(key.to_string(), value.to_string());
    }

    pub fn f32s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f32>) {
        self.push(name, Dtype::F32, shape, values.into_iter().flat_map(f32::to_le_bytes).collect());
    }

    pub fn f64s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) {
        self.push(name, Dtype::F64, shape, values.into_iter().flat_map(f64::to_le_bytes).collect());
    }

    pub fn u32s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = u32>) {
        self.push(name, Dtype::U32, shape, values.into_iter().flat_map(u32::to_le_bytes).collect());
    }

    fn push(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        debug_assert_eq!(bytes.len(), shape.iter().product::<usize>() * dtype.bitsize() / 8, "{name}");
        self.tensors.push((name.to_string(), dtype, shape.to_vec(), bytes));
    }

    /// Writes the file, all or nothing. The same contents give the same bytes, which `safetensors::serialize`
    /// does not promise: it writes its metadata in the order of a hash map.
    pub fn write(mut self, path: &Path) -> Result<()> {
        // Wide numbers first, so that all are aligned.
        self.tensors.sort_by(|a, b| b.1.bitsize().cmp(&a.1.bitsize()).then(a.0.cmp(&b.0)));
        let mut header = serde_json::Map::new();
        let text: BTreeMap<_, _> = self.text.into_iter().collect();
        header.insert("__metadata__".into(), serde_json::json!(text));
        let mut end = 0;
        for (name, dtype, shape, bytes) in &self.tensors {
            let start = end;
            end += bytes.len();
            let entry = serde_json::json!({"dtype": format!("{dtype:?}"), "shape": shape, "data_offsets": [start, end]});
            header.insert(name.clone(), entry);
        }
        let mut header = serde_json::Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut file = Vec::with_capacity(8 + header.len() + end);
        file.extend_from_slice(&(header.len() as u64).to_le_bytes());
        file.extend_from_slice(&header);
        self.tensors.iter().for_each(|(_, _, _, bytes)| file.extend_from_slice(bytes));
        crate::write::write_atomically(path, &file)
    }
}

/// Reads named arrays, collecting every fault instead of stopping at the first.
pub(crate) struct TensorReader<'a> {
    path: &'a Path,
    file: SafeTensors<'a>,
    text: HashMap<String, String>,
    faults: Vec<String>,
}

impl<'a> TensorReader<'a> {
    /// Opens `bytes` and checks that they say they are `format` in a version up to `version`.
    pub fn open(path: &'a Path, bytes: &'a [u8], format: &str, version: u32) -> Result<Self> {
        let not_ours = |what: String| Error::bad(path, "header", what);
        let (_, header) = SafeTensors::read_metadata(bytes)
            .map_err(|e| not_ours(format!("not a safetensors file, or cut short ({e:?})")))?;
        let text = header.metadata().clone().unwrap_or_default();
        if text.get("format").map(String::as_str) != Some(format) {
            return Err(not_ours(format!("this is not a {format} file")));
        }
        let found = text.get("version").and_then(|v| v.parse::<u32>().ok());
        if found.is_none_or(|v| v == 0 || v > version) {
            return Err(not_ours(format!(
                "version {} of {format}; this program reads up to {version}",
                text.get("version").map_or("(none)", String::as_str)
            )));
        }
        let file = SafeTensors::deserialize(bytes).map_err(|e| not_ours(format!("{e:?}")))?;
        Ok(Self { path, file, text, faults: Vec::new() })
    }

    pub fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// A text entry that may be missing.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.text.get(key).map(String::as_str)
    }

    /// A text entry that must be there and parse; a fault and the default otherwise.
    pub fn parsed<T: std::str::FromStr + Default>(&mut self, key: &str) -> T {
        match self.text.get(key).map(|s| s.parse::<T>()) {
            Some(Ok(value)) => value,
            Some(Err(_)) => {
                self.faults.push(format!("metadata `{key}`: `{}` is not understood", self.text[key]));
                T::default()
            }
            None => {
                self.faults.push(format!("metadata `{key}` is missing"));
                T::default()
            }
        }
    }

    /// Whether the file has an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.file.tensor(name).is_ok()
    }

    /// The shape of an array; a fault and zeros when it is missing or has another rank.
    pub fn shape<const N: usize>(&mut self, name: &str) -> [usize; N] {
        let found = self.file.tensor(name).ok().map(|t| t.shape().to_vec());
        match found.as_deref().map(<[usize; N]>::try_from) {
            Some(Ok(shape)) => shape,
            Some(Err(_)) => {
                self.faults
                    .push(format!("array `{name}` has rank {}, not {N}", found.unwrap_or_default().len()));
                [0; N]
            }
            None => {
                self.faults.push(format!("array `{name}` is missing"));
                [0; N]
            }
        }
    }

    pub fn f32s(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let values = self.values(name, Dtype::F32, shape, f32::from_le_bytes);
        self.finite(name, values.iter().position(|v| !v.is_finite()));
        values
    }

    pub fn f64s(&mut self, name: &str, shape: &[usize]) -> Vec<f64> {
        let values = self.values(name, Dtype::F64, shape, f64::from_le_bytes);
        self.finite(name, values.iter().position(|v| !v.is_finite()));
        values
    }

    pub fn u32s(&mut self, name: &str, shape: &[usize]) -> Vec<u32> {
        self.values(name, Dtype::U32, shape, u32::from_le_bytes)
    }

    /// Indices that must stay below `limit`.
    pub fn indices(&mut self, name: &str, shape: &[usize], limit: usize) -> Vec<u32> {
        let values = self.u32s(name, shape);
        if let Some(at) = values.iter().position(|&v| v as usize >= limit) {
            self.faults.push(format!("array `{name}`, entry {at}: {} is not below {limit}", values[at]));
        }
        values
    }

    /// Gives the value if nothing was wrong, else every fault.
    pub fn finish<T>(self, value: T) -> Result<T> {
        if self.faults.is_empty() { Ok(value) } else { Err(self.into_error()) }
    }

    /// Every fault so far.
    pub fn into_error(self) -> Error {
        Error::Many { path: self.path.to_path_buf(), faults: self.faults }
    }

    pub fn sound(&self) -> bool {
        self.faults.is_empty()
    }

    fn finite(&mut self, name: &str, first_bad: Option<usize>) {
        if let Some(at) = first_bad {
            self.faults.push(format!("array `{name}`, entry {at}: not a finite number"));
        }
    }

    fn values<T, const B: usize>(
        &mut self,
        name: &str,
        dtype: Dtype,
        shape: &[usize],
        read: fn([u8; B]) -> T,
    ) -> Vec<T> {
        let Ok(view) = self.file.tensor(name) else {
            self.faults.push(format!("array `{name}` is missing"));
            return Vec::new();
        };
        if view.dtype() != dtype || view.shape() != shape {
            self.faults.push(format!(
                "array `{name}` is {:?} {:?}, not {dtype:?} {shape:?}",
                view.dtype(),
                view.shape()
            ));
            return Vec::new();
        }
        let (chunks, _) = view.data().as_chunks::<B>();
        chunks.iter().map(|c| read(*c)).collect()
    }
}
