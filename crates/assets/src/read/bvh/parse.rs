//! The text of a BVH file: hierarchy and numbers, nothing interpreted.

use crate::{Error, Problem, Result};
use glam::DVec3;
use std::path::Path;

/// One value per frame of a joint; the number is the axis (0 = X).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// `Xposition`, `Yposition`, `Zposition`.
    Position(usize),
    /// `Xrotation`, `Yrotation`, `Zrotation`, in degrees.
    Rotation(usize),
}

/// A joint as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhJoint {
    /// May contain spaces.
    pub name: String,
    /// Always an earlier joint.
    pub parent: Option<usize>,
    /// From the parent, in the file's unit.
    pub offset: DVec3,
    /// In the order of the values.
    pub channels: Vec<Channel>,
    /// Where the bone ends, for leaves that say so.
    pub end: Option<DVec3>,
}

/// A BVH file in its own units and axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    /// Parents before children.
    pub joints: Vec<BvhJoint>,
    /// Seconds per frame.
    pub frame_secs: f64,
    /// Frame after frame, each joint's channels in order.
    pub values: Vec<f32>,
}

/// Joints are indexed with 16 bits elsewhere.
const MOST_JOINTS: usize = u16::MAX as usize;

/// Beyond this a number is garbage and would overflow later.
const LARGEST: f32 = 1e7;

/// Reads the text. Frames that are missing or too many are problems, everything else wrong is an error.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<(Bvh, Vec<Problem>)> {
    let mut cursor = Cursor { bytes, at: 0, path };
    if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        cursor.at = 3;
    }
    let joints = hierarchy(&mut cursor)?;
    let (claimed, frame_secs) = motion_header(&mut cursor)?;
    let width: usize = joints.iter().map(|j| j.channels.len()).sum();
    if width == 0 {
        return Err(cursor.fault("no joint has CHANNELS, so there is no motion"));
    }
    let mut problems = Vec::new();
    let values = frames(&mut cursor, width, claimed, &mut problems)?;
    // Joints without channels cost memory in every frame but no bytes of the file.
    let transforms = (values.len() / width).saturating_mul(joints.len());
    if transforms > bytes.len().saturating_add(1 << 20) {
        return Err(cursor.fault("most joints have no channels; this is not a motion"));
    }
    Ok((Bvh { joints, frame_secs, values }, problems))
}

/// A place in the bytes.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    path: &'a Path,
}

impl<'a> Cursor<'a> {
    /// An error at the current line. Lines are only counted here, where speed no longer matters.
    fn fault(&self, what: impl Into<String>) -> Error {
        let line = 1 + self.bytes[..self.at.min(self.bytes.len())].iter().filter(|&&b| b == b'\n').count();
        Error::bad(self.path, format!("line {line}"), what)
    }

    /// Skips white space of any kind.
    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|b| is_space(*b)) {
            self.at += 1;
        }
    }

    /// The next word; braces are words of their own wherever they stand.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        let start = self.at;
        let rest = &self.bytes[start..];
        let length = match rest.first()? {
            b'{' | b'}' => 1,
            _ => rest.iter().position(|&b| is_space(b) || b == b'{' || b == b'}').unwrap_or(rest.len()),
        };
        self.at += length;
        Some(&rest[..length])
    }

    /// The rest of the line up to an opening brace, trimmed: names may contain spaces.
    fn name(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| matches!(b, b'\n' | b'\r' | b'{')).unwrap_or(rest.len());
        self.at += length;
        String::from_utf8_lossy(rest[..length].trim_ascii()).into_owned()
    }

    /// The next word as a number.
    fn number<T: std::str::FromStr>(&mut self, of: &str) -> Result<T> {
        let word = self.word().ok_or_else(|| self.fault(format!("the file ends where {of} should be")))?;
        let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        number.ok_or_else(|| self.fault(format!("`{}` where {of} should be", shown(word))))
    }

    /// Three numbers.
    fn offset(&mut self) -> Result<DVec3> {
        let mut offset = DVec3::ZERO;
        for axis in 0..3 {
            let value: f64 = self.number("a number of OFFSET")?;
            if !value.is_finite() || value.abs() > f64::from(LARGEST) {
                return Err(self.fault(format!("OFFSET of {value}: not a length")));
            }
            offset[axis] = value;
        }
        Ok(offset)
    }
}

/// White space as exporters use it; NUL pads the end of some files.
fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | 0)
}

/// A word for a message, cut to a sensible length.
fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).collect();
    text.escape_debug().to_string()
}

/// Reads `HIERARCHY` up to `MOTION`.
fn hierarchy(cursor: &mut Cursor) -> Result<Vec<BvhJoint>> {
    if !cursor.word().is_some_and(|w| w.eq_ignore_ascii_case(b"HIERARCHY")) {
        return Err(cursor.fault("a BVH file starts with `HIERARCHY`; this is something else"));
    }
    let mut joints: Vec<BvhJoint> = Vec::new();
    // Open blocks: a joint, or the end site of one.
    let mut open: Vec<(usize, bool)> = Vec::new();
    loop {
        let Some(word) = cursor.word() else {
            return Err(cursor.fault("the file ends before `MOTION`; it was cut off"));
        };
        let keyword = word.to_ascii_uppercase();
        match (keyword.as_slice(), open.last().copied()) {
            (b"ROOT" | b"JOINT", inside) => {
                let parent = inside.map(|(joint, _)| joint);
                if keyword == b"JOINT" && parent.is_none() {
                    return Err(cursor.fault("JOINT outside of any ROOT"));
                }
                if joints.len() == MOST_JOINTS {
                    return Err(cursor.fault(format!("more than {MOST_JOINTS} joints")));
                }
                let mut name = cursor.name();
                if name.is_empty() {
                    name = format!("joint {}", joints.len());
                }
                expect_brace(cursor, &name)?;
                open.push((joints.len(), false));
                joints.push(BvhJoint { name, parent, offset: DVec3::ZERO, channels: Vec::new(), end: None });
            }
            (b"END", Some((joint, false))) => {
                cursor.name();
                expect_brace(cursor, "End Site")?;
                joints[joint].end = Some(DVec3::ZERO);
                open.push((joint, true));
            }
            (b"OFFSET", Some((joint, is_end))) => {
                let offset = cursor.offset()?;
                if is_end {
                    joints[joint].end = Some(offset);
                } else {
                    joints[joint].offset = offset;
                }
            }
            (b"CHANNELS", Some((joint, is_end))) => {
                let count: usize = cursor.number("the number of CHANNELS")?;
                for _ in 0..count {
                    let word = cursor.word().unwrap_or_default();
                    let channel = channel(word).ok_or_else(|| {
                        cursor.fault(format!("`{}` is no channel; there should be {count}", shown(word)))
                    })?;
                    if is_end {
                        return Err(cursor.fault("an End Site cannot have channels"));
                    }
                    joints[joint].channels.push(channel);
                }
            }
            (b"}", Some(_)) => {
                open.pop();
            }
            (b"MOTION", None) if !joints.is_empty() => return Ok(joints),
            (b"MOTION", Some((joint, _))) => {
                return Err(cursor
                    .fault(format!("`MOTION` while joint `{}` is not closed by `}}`", joints[joint].name)));
            }
            _ => return Err(cursor.fault(format!("`{}` is not expected here", shown(word)))),
        }
    }
}

/// The `{` after a name.
fn expect_brace(cursor: &mut Cursor, of: &str) -> Result<()> {
    match cursor.word() {
        Some(b"{") => Ok(()),
        _ => Err(cursor.fault(format!("`{{` should follow `{}`", shown(of.as_bytes())))),
    }
}

/// A channel by its name, in any case.
fn channel(word: &[u8]) -> Option<Channel> {
    let axis = match word.first()?.to_ascii_uppercase() {
        b'X' => 0,
        b'Y' => 1,
        b'Z' => 2,
        _ => return None,
    };
    if word[1..].eq_ignore_ascii_case(b"position") {
        Some(Channel::Position(axis))
    } else if word[1..].eq_ignore_ascii_case(b"rotation") {
        Some(Channel::Rotation(axis))
    } else {
        None
    }
}

/// `Frames: 100` and `Frame Time: 0.01`, with or without colons and blanks; leaves the cursor at the end
/// of the line. Returns the claimed number of frames and the seconds per frame.
fn motion_header(cursor: &mut Cursor) -> Result<(usize, f64)> {
    let (mut claimed, mut secs) = (None, None);
    while claimed.is_none() || secs.is_none() {
        cursor.skip_space();
        let line_at = cursor.at;
        let line = cursor.name();
        let lower = line.to_ascii_lowercase();
        let digits =
            lower.find(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')).unwrap_or(lower.len());
        let key: String = lower[..digits].chars().filter(char::is_ascii_alphabetic).collect();
        let value = lower[digits..].trim();
        let fault = |what: String| Cursor { at: line_at, ..*cursor }.fault(what);
        match key.as_str() {
            "frames" | "frame" => {
                let count = value.parse::<usize>();
                claimed = Some(count.map_err(|_| fault(format!("`{value}` is no number of frames")))?);
            }
            "frametime" => {
                let time = value.parse::<f64>().ok().filter(|t| t.is_finite() && *t > 1e-6 && *t < 1e4);
                secs = Some(time.ok_or_else(|| fault(format!("`{value}` is no frame time in seconds")))?);
            }
            _ => {
                let shown: String = line.chars().take(40).collect();
                return Err(fault(format!(
                    "`Frames:` and `Frame Time:` should follow MOTION, found `{shown}`"
                )));
            }
        }
    }
    Ok((claimed.unwrap_or(0), secs.unwrap_or(0.0)))
}

/// Reads the numbers. A frame ends where a line ends: a line that lost a value must not shift all others.
/// Some exporters wrap lines, so if the first frame takes several lines, all may.
fn frames(
    cursor: &mut Cursor,
    width: usize,
    claimed: usize,
    problems: &mut Vec<Problem>,
) -> Result<Vec<f32>> {
    let left = cursor.bytes.len() - cursor.at;
    // A value takes two bytes at least.
    let mut values: Vec<f32> = Vec::with_capacity(claimed.saturating_mul(width).min(left / 2 + 1));
    let mut wrapped = false;
    let mut in_frame = 0;
    let bytes = cursor.bytes;
    while cursor.at < bytes.len() {
        let rest = &bytes[cursor.at..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        // Old Macintosh files end lines with CR alone: then the whole motion is one "line" here.
        let line = &rest[..length];
        let mut at = 0;
        let mut in_line = 0;
        loop {
            while at < line.len() && is_space(line[at]) {
                at += 1;
            }
            if at == line.len() {
                break;
            }
            let start = at;
            while at < line.len() && !is_space(line[at]) {
                at += 1;
            }
            let word = &line[start..at];
            let value = std::str::from_utf8(word).ok().and_then(|w| w.parse::<f32>().ok());
            match value {
                Some(v) if v.abs() <= LARGEST => values.push(v),
                _ => return Err(cursor.fault(format!("`{}` is no usable number", shown(word)))),
            }
            in_line += 1;
        }
        let whole_lines = in_line % width == 0 && in_frame == 0;
        if in_line > 0 && !whole_lines {
            let first = values.len() <= width;
            let last = bytes[cursor.at + length..].iter().all(|&b| is_space(b));
            wrapped |= first && in_line < width;
            in_frame += in_line;
            if in_frame > width || (!wrapped && !last) {
                return Err(
                    cursor.fault(format!("{in_frame} values in a frame, the channels add up to {width}"))
                );
            }
            in_frame %= width;
        }
        cursor.at = (cursor.at + length + 1).min(bytes.len());
    }
    if in_frame > 0 {
        values.truncate(values.len() - in_frame);
        problems.push(Problem::new("values of an incomplete last frame", in_frame, "dropped"));
    }
    let found = values.len() / width;
    if found == 0 {
        return Err(cursor.fault("there is no complete frame"));
    }
    if found < claimed {
        problems.push(Problem::new(
            "frames fewer than the file claims",
            claimed - found,
            format!("clip ends after {found} frames"),
        ));
    } else if found > claimed {
        problems.push(Problem::new("frames more than the file claims", found - claimed, "kept"));
    }
    Ok(values)
}
