//! Typed arrays out of buffers. Nothing is read or allocated before the whole range is known to exist.

use super::document::{Accessor, Document};
use crate::Result;

/// A component as it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn bytes(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// One number at the start of `b`, which is long enough. Normalised integers as in section 3.11.
    fn float(self, b: &[u8], normalized: bool) -> f32 {
        let scale = |v: f32, most: f32| if normalized { (v / most).max(-1.0) } else { v };
        match self {
            Self::I8 => scale(f32::from(b[0] as i8), 127.0),
            Self::U8 => scale(f32::from(b[0]), 255.0),
            Self::I16 => scale(f32::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
            Self::U16 => scale(f32::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
            Self::U32 => scale(u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32, u32::MAX as f32),
            Self::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        }
    }

    /// One unsigned number at the start of `b`; `None` for signed and floating components.
    fn integer(self, b: &[u8]) -> Option<u32> {
        match self {
            Self::U8 => Some(u32::from(b[0])),
            Self::U16 => Some(u32::from(u16::from_le_bytes([b[0], b[1]]))),
            Self::U32 => Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            _ => None,
        }
    }
}

/// Components of an element.
fn width(shape: &str) -> Option<usize> {
    Some(match shape {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" | "MAT2" => 4,
        "MAT3" => 9,
        "MAT4" => 16,
        _ => return None,
    })
}

/// A checked range: `count` elements of `width` components, `stride` bytes apart.
struct Range<'d> {
    bytes: &'d [u8],
    stride: usize,
    count: usize,
    component: Component,
}

impl Range<'_> {
    /// Bytes of component `c` of element `i`.
    fn at(&self, i: usize, c: usize) -> &[u8] {
        &self.bytes[i * self.stride + c * self.component.bytes() as usize..]
    }
}

impl Document<'_> {
    /// Number of elements that accessor `index` claims to have.
    pub fn claimed_count(&self, index: usize) -> Option<u64> {
        self.json.accessors.get(index).map(|a| a.count)
    }

    /// Elements of `N` floating point numbers. Integers become numbers, normalised if the file says so.
    /// Anything that is not finite is a fault that names its element.
    pub fn floats<const N: usize>(&self, index: usize, place: &str) -> Result<Vec<[f32; N]>> {
        let accessor = self.accessor(index, place)?;
        let (component, normalized) = (self.component(accessor, place)?, accessor.normalized);
        let read = |range: &Range, i: usize| -> [f32; N] {
            std::array::from_fn(|c| component.float(range.at(i, c), normalized))
        };
        let out = self.elements(accessor, place, [0.0; N], read)?;
        if let Some(i) = out.iter().position(|e| e.iter().any(|v| !v.is_finite())) {
            return Err(self.bad(place, format!("element {i} is not a finite number")));
        }
        Ok(out)
    }

    /// Elements of `N` unsigned integers.
    pub fn integers<const N: usize>(&self, index: usize, place: &str) -> Result<Vec<[u32; N]>> {
        let accessor = self.accessor(index, place)?;
        let component = self.component(accessor, place)?;
        if matches!(component, Component::I8 | Component::I16 | Component::F32) {
            return Err(self.bad(place, "must be unsigned integers"));
        }
        let read = |range: &Range, i: usize| -> [u32; N] {
            std::array::from_fn(|c| component.integer(range.at(i, c)).unwrap_or(0))
        };
        self.elements(accessor, place, [0; N], read)
    }

    fn accessor(&self, index: usize, place: &str) -> Result<&Accessor> {
        let all = &self.json.accessors;
        all.get(index)
            .ok_or_else(|| self.bad(place, format!("names accessor {index}, there are {}", all.len())))
    }

    fn component(&self, accessor: &Accessor, place: &str) -> Result<Component> {
        let code = accessor.component_type;
        Component::from_code(code)
            .ok_or_else(|| self.bad(place, format!("component type {code} does not exist")))
    }

    /// Reads all elements, then replaces those that a sparse part names.
    fn elements<T: Copy, const N: usize>(
        &self,
        accessor: &Accessor,
        place: &str,
        zero: [T; N],
        read: impl Fn(&Range, usize) -> [T; N],
    ) -> Result<Vec<[T; N]>> {
        if width(&accessor.shape) != Some(N) {
            let what = format!("is {} where {N} components are needed", accessor.shape);
            return Err(self.bad(place, what));
        }
        let component = self.component(accessor, place)?;
        let mut out = match accessor.buffer_view {
            Some(view) => {
                let offset = accessor.byte_offset;
                let range = self.range(view, offset, accessor.count, N, component, true, place)?;
                self.spend(range.count as u64 * size_of::<[T; N]>() as u64, place)?;
                (0..range.count).map(|i| read(&range, i)).collect()
            }
            None => {
                // All zeros: nothing in the file backs the count, so the file's own size must.
                if accessor.count > self.total_bytes() {
                    let what = format!("claims {} elements without data", accessor.count);
                    return Err(self.bad(place, what));
                }
                self.spend(accessor.count * size_of::<[T; N]>() as u64, place)?;
                vec![zero; accessor.count as usize]
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let code = sparse.indices.component_type;
            let kind = Component::from_code(code)
                .ok_or_else(|| self.bad(place, format!("sparse index type {code} does not exist")))?;
            let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset);
            let at = self.range(view, offset, sparse.count, 1, kind, false, place)?;
            let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset);
            let values = self.range(view, offset, sparse.count, N, component, false, place)?;
            for i in 0..at.count {
                let target = kind.integer(at.at(i, 0)).map(|t| t as usize);
                let Some(slot) = target.and_then(|t| out.get_mut(t)) else {
                    let what = format!("sparse entry {i} is out of range");
                    return Err(self.bad(place, what));
                };
                *slot = read(&values, i);
            }
        }
        Ok(out)
    }

    /// Checks `count` elements at `offset` of a buffer view against the view and its buffer.
    fn range(
        &self,
        view: usize,
        offset: u64,
        count: u64,
        width: usize,
        component: Component,
        may_stride: bool,
        place: &str,
    ) -> Result<Range<'_>> {
        let views = &self.json.buffer_views;
        let Some(v) = views.get(view) else {
            return Err(self.bad(place, format!("names buffer view {view}, there are {}", views.len())));
        };
        let Some(buffer) = self.buffers.get(v.buffer) else {
            let what = format!("buffer view {view} names buffer {}", v.buffer);
            return Err(self.bad(place, format!("{what}, there are {}", self.buffers.len())));
        };
        let slice = v
            .byte_offset
            .checked_add(v.byte_length)
            .and_then(|end| buffer.get(usize::try_from(v.byte_offset).ok()?..usize::try_from(end).ok()?));
        let Some(slice) = slice else {
            let what = format!("buffer view {view} reaches beyond the {} bytes of its buffer", buffer.len());
            return Err(self.bad(place, what));
        };
        let element = component.bytes() * width as u64;
        let stride = v.byte_stride.filter(|&s| may_stride && s != 0).unwrap_or(element);
        if stride < element {
            let what =
                format!("buffer view {view} has a stride of {stride}, an element needs {element} bytes");
            return Err(self.bad(place, what));
        }
        let end = match count.checked_sub(1) {
            None => Some(offset),
            Some(last) => last.checked_mul(stride).and_then(|s| s.checked_add(element)?.checked_add(offset)),
        };
        if end.is_none_or(|e| e > slice.len() as u64) {
            let what = format!(
                "{count} elements of {element} bytes do not fit into the {} bytes of buffer view {view}",
                slice.len()
            );
            return Err(self.bad(place, what));
        }
        let bytes = &slice[offset as usize..];
        Ok(Range { bytes, stride: stride as usize, count: count as usize, component })
    }
}
