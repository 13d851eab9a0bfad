//! Safetensors files with text metadata: how takes and models are stored.

use crate::{Error, Result, half};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The kinds of numbers we store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dtype {
    F64,
    F32,
    U32,
    F16,
}

impl Dtype {
    fn named(name: &str) -> Option<Self> {
        [Self::F64, Self::F32, Self::U32, Self::F16].into_iter().find(|d| format!("{d:?}") == name)
    }

    fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::U32 => 4,
            Self::F16 => 2,
        }
    }
}

/// Collects named arrays and writes them all at once.
#[derive(Default)]
pub struct TensorWriter {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
    text: BTreeMap<String, String>,
}

impl TensorWriter {
    /// Adds a text entry.
    pub fn text(&mut self, key: &str, value: impl ToString) {
        self.text.insert(key.to_string(), value.to_string());
    }

    /// Adds an array of f32.
    pub fn f32s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f32>) {
        self.push(name, Dtype::F32, shape, values.into_iter().flat_map(f32::to_le_bytes).collect());
    }

    /// Adds an array of f32 rounded to half precision; what is too large for it is held at its largest number.
    pub fn f16s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f32>) {
        let bytes = values.into_iter().flat_map(|v| half::from_f32(v).to_le_bytes()).collect();
        self.push(name, Dtype::F16, shape, bytes);
    }

    /// Adds an array of f64.
    pub fn f64s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) {
        self.push(name, Dtype::F64, shape, values.into_iter().flat_map(f64::to_le_bytes).collect());
    }

    /// Adds an array of u32.
    pub fn u32s(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = u32>) {
        self.push(name, Dtype::U32, shape, values.into_iter().flat_map(u32::to_le_bytes).collect());
    }

    fn push(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        debug_assert_eq!(bytes.len(), shape.iter().product::<usize>() * dtype.bytes(), "{name}");
        self.tensors.push((name.to_string(), dtype, shape.to_vec(), bytes));
    }

    /// Adds a sum over all arrays, which [`TensorReader::check_sum`] compares.
    pub fn sum_up(&mut self) {
        let mut arrays: Vec<_> =
            self.tensors.iter().map(|(name, _, _, bytes)| (name.as_str(), &bytes[..])).collect();
        arrays.sort_unstable_by_key(|(name, _)| *name);
        let sum = sum_of(arrays.into_iter());
        self.text("sum", format!("{sum:016x}"));
    }

    /// Writes the file, all or nothing. The same contents give the same bytes.
    pub fn write(self, path: &Path) -> Result<()> {
        crate::write_atomically(path, &self.into_bytes())
    }

    /// The bytes of the file.
    pub fn into_bytes(mut self) -> Vec<u8> {
        // Wide numbers first, so that all are aligned.
        self.tensors.sort_by(|a, b| b.1.bytes().cmp(&a.1.bytes()).then(a.0.cmp(&b.0)));
        let mut header = Map::new();
        header.insert("__metadata__".into(), json!(self.text));
        let mut end = 0;
        for (name, dtype, shape, bytes) in &self.tensors {
            let start = end;
            end += bytes.len();
            let entry = json!({"dtype": format!("{dtype:?}"), "shape": shape, "data_offsets": [start, end]});
            header.insert(name.clone(), entry);
        }
        let mut header = Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut file = Vec::with_capacity(8 + header.len() + end);
        file.extend_from_slice(&(header.len() as u64).to_le_bytes());
        file.extend_from_slice(&header);
        self.tensors.iter().for_each(|(_, _, _, bytes)| file.extend_from_slice(bytes));
        file
    }
}

/// One array of an open file.
struct View<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    data: &'a [u8],
}

/// Reads named arrays, collecting every fault instead of stopping at the first.
pub struct TensorReader<'a> {
    path: &'a Path,
    arrays: BTreeMap<String, View<'a>>,
    text: BTreeMap<String, String>,
    faults: Vec<String>,
}

/// What a file of a format is to a user; the format itself where it is none of ours.
fn what_is(format: &str) -> &str {
    match format {
        "toile-model" => "a learned garment",
        "toile-adaptive" => "a database for the tier adaptive",
        "toile-take" => "a take",
        other => other,
    }
}

impl<'a> TensorReader<'a> {
    /// Opens `bytes` and checks that they say they are `format` in a version up to `version`.
    pub fn open(path: &'a Path, bytes: &'a [u8], format: &str, version: u32) -> Result<Self> {
        let not_ours = |what: String| Error::bad(path, "header", what);
        let (header, data) = split_header(bytes)
            .map_err(|what| not_ours(format!("not a safetensors file, or cut short ({what})")))?;
        let text = text_entries(&header).map_err(not_ours)?;
        match text.get("format").map(String::as_str) {
            Some(found) if found == format => {}
            Some(found) if what_is(found) != found => {
                return Err(not_ours(format!("this is {}, not {}", what_is(found), what_is(format))));
            }
            _ => return Err(not_ours(format!("this is not a {format} file"))),
        }
        let found = text.get("version").and_then(|v| v.parse::<u32>().ok());
        if found.is_none_or(|v| v == 0 || v > version) {
            return Err(not_ours(format!(
                "version {} of {format}; this program reads up to {version}",
                text.get("version").map_or("(none)", String::as_str)
            )));
        }
        let arrays = views(&header, data).map_err(not_ours)?;
        Ok(Self { path, arrays, text, faults: Vec::new() })
    }

    /// Notes a fault where the sum that the file states is not that of its arrays.
    pub fn check_sum(&mut self) {
        let found =
            format!("{:016x}", sum_of(self.arrays.iter().map(|(name, view)| (name.as_str(), view.data))));
        if self.text("sum") != Some(&found) {
            self.faults
                .push("the sum over all arrays is not the one that the file states: it was changed".into());
        }
    }

    /// Notes something wrong with the file.
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
        self.arrays.contains_key(name)
    }

    /// Whether an array is there in single precision.
    pub fn is_f32(&self, name: &str) -> bool {
        self.arrays.get(name).is_some_and(|view| view.dtype == Dtype::F32)
    }

    /// The shape of an array; a fault and zeros when it is missing or has another rank.
    pub fn shape<const N: usize>(&mut self, name: &str) -> [usize; N] {
        let found = self.arrays.get(name).map(|t| t.shape.clone());
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

    /// An array of f32 of this shape; a fault and nothing otherwise.
    pub fn f32s(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let values = self.values(name, Dtype::F32, shape, f32::from_le_bytes);
        self.finite(name, values.iter().position(|v| !v.is_finite()));
        values
    }

    /// An array of f32 that was stored as it is or in half precision.
    pub fn f32s_or_f16s(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        if self.arrays.get(name).is_none_or(|view| view.dtype != Dtype::F16) {
            return self.f32s(name, shape);
        }
        let values = self.values(name, Dtype::F16, shape, |bytes| half::to_f32(u16::from_le_bytes(bytes)));
        self.finite(name, values.iter().position(|v| !v.is_finite()));
        values
    }

    /// An array of f64 of this shape; a fault and nothing otherwise.
    pub fn f64s(&mut self, name: &str, shape: &[usize]) -> Vec<f64> {
        let values = self.values(name, Dtype::F64, shape, f64::from_le_bytes);
        self.finite(name, values.iter().position(|v| !v.is_finite()));
        values
    }

    /// An array of u32 of this shape; a fault and nothing otherwise.
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

    /// Whether nothing was wrong so far.
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
        let Some(view) = self.arrays.get(name) else {
            self.faults.push(format!("array `{name}` is missing"));
            return Vec::new();
        };
        if view.dtype != dtype || view.shape != shape {
            self.faults.push(format!(
                "array `{name}` is {:?} {:?}, not {dtype:?} {shape:?}",
                view.dtype, view.shape
            ));
            return Vec::new();
        }
        let (chunks, _) = view.data.as_chunks::<B>();
        chunks.iter().map(|c| read(*c)).collect()
    }
}

/// FNV-1a over names and contents in the order of names, eight bytes at a time.
fn sum_of<'a>(arrays: impl Iterator<Item = (&'a str, &'a [u8])>) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
            // A multiplication moves bits up only: bring the upper ones back down.
            sum ^= sum >> 29;
        }
    };
    for (name, bytes) in arrays {
        add(name.as_bytes());
        add(bytes);
    }
    sum
}

/// The JSON header and the bytes after it.
fn split_header(bytes: &[u8]) -> std::result::Result<(Map<String, Value>, &[u8]), String> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or("no header")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|e| e.to_string())?;
    if length > rest.len() {
        return Err(format!("a header of {length} bytes in a file of {}", bytes.len()));
    }
    let (header, data) = rest.split_at(length);
    match serde_json::from_slice(header) {
        Ok(Value::Object(header)) => Ok((header, data)),
        Ok(_) => Err("the header is no object".into()),
        Err(e) => Err(e.to_string()),
    }
}

fn text_entries(header: &Map<String, Value>) -> std::result::Result<BTreeMap<String, String>, String> {
    let Some(entries) = header.get("__metadata__") else { return Ok(BTreeMap::new()) };
    let entries = entries.as_object().ok_or("`__metadata__` is no object")?;
    let text = |(k, v): (&String, &Value)| match v.as_str() {
        Some(v) => Ok((k.clone(), v.to_string())),
        None => Err(format!("metadata `{k}` is not text")),
    };
    entries.iter().map(text).collect()
}

/// The arrays, which must lie one after the other and fill the file.
fn views<'a>(
    header: &Map<String, Value>,
    data: &'a [u8],
) -> std::result::Result<BTreeMap<String, View<'a>>, String> {
    let mut arrays = Vec::new();
    for (name, entry) in header.iter().filter(|(name, _)| *name != "__metadata__") {
        let array = || -> Option<(usize, usize, View<'a>)> {
            let dtype = Dtype::named(entry.get("dtype")?.as_str()?)?;
            let number = |v: &Value| usize::try_from(v.as_u64()?).ok();
            let shape: Vec<usize> =
                entry.get("shape")?.as_array()?.iter().map(number).collect::<Option<_>>()?;
            let [start, end] = entry.get("data_offsets")?.as_array()?.as_slice() else { return None };
            let (start, end) = (number(start)?, number(end)?);
            let size = shape.iter().try_fold(dtype.bytes(), |product, n| product.checked_mul(*n))?;
            let data = data.get(start..end).filter(|data| data.len() == size)?;
            Some((start, end, View { dtype, shape, data }))
        };
        let (start, end, view) =
            array().ok_or_else(|| format!("array `{name}`: type, shape and place do not fit the file"))?;
        arrays.push((start, end, name.clone(), view));
    }
    arrays.sort_by_key(|&(start, end, ..)| (start, end));
    let mut at = 0;
    for (start, end, name, _) in &arrays {
        if *start != at {
            return Err(format!("array `{name}` begins at byte {start} of the data, not at {at}"));
        }
        at = *end;
    }
    if at != data.len() {
        return Err(format!("{} bytes of data belong to no array", data.len() - at));
    }
    Ok(arrays.into_iter().map(|(_, _, name, view)| (name, view)).collect())
}
