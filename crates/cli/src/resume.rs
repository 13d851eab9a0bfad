//! What lets a run go on where it was stopped: which takes are finished, what they cost, what to sweep away.

use crate::resolve::BadRequest;
use crate::simulate::Shard;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use toile_assets::Take;
use toile_assets::write::write_atomically;

/// FNV-1a, 64 bits: the same on every machine, which the standard library's hasher does not promise.
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl Digest {
    /// Adds a value as it prints itself; numbers print so that no two look alike.
    pub fn with(mut self, value: &dyn Debug) -> Self {
        let _ = write!(self, "{value:?};");
        self
    }

    /// Sixteen hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The note of a take that says what it was made from.
pub const INPUTS: &str = "inputs";

/// A finished take that was made from exactly these inputs.
pub fn finished(path: &Path, inputs: &str) -> Option<Take> {
    let take = Take::read(path).ok()?;
    take.notes.iter().any(|(key, value)| key == INPUTS && value == inputs).then_some(take)
}

/// What frames cost, by take. Kept beside the takes and not in them: a take is the same bytes whenever and on
/// however many threads it is made, a clock is not.
pub struct Timings {
    path: PathBuf,
    ms: Mutex<BTreeMap<String, Vec<f32>>>,
}

impl Timings {
    /// Those of a folder of takes; none where there is no file or it is damaged.
    /// A shard writes into a file of its own, so that machines do not write over each other's.
    pub fn open(folder: &Path, shard: Option<Shard>) -> Self {
        let own = shard.map_or_else(|| "timings.json".to_string(), |s| format!("timings.{s}.json"));
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
        let mut files: Vec<PathBuf> = entries.filter(|p| is_timings(&name(p))).collect();
        // Its own last: what it knows itself counts.
        files.sort_by_key(|p| (name(p) == own, name(p)));
        let mut ms = BTreeMap::new();
        for file in files {
            let read = || serde_json::from_slice::<Value>(&std::fs::read(&file).ok()?).ok();
            for (take, list) in read().as_ref().and_then(|v| v["ms"].as_object()).into_iter().flatten() {
                let list = list.as_array().into_iter().flatten().filter_map(Value::as_f64);
                ms.insert(take.clone(), list.map(|x| x as f32).collect::<Vec<f32>>());
            }
        }
        Self { path: folder.join(own), ms: Mutex::new(ms) }
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a take without its clock, and the clock beside it.
    pub fn write(&self, path: &Path, take: &Take) -> Result<()> {
        let mut timeless = take.clone();
        timeless.reports.iter_mut().for_each(|r| r.ms = 0.0);
        timeless.write(path)?;
        let mut ms = self.ms.lock().expect("no thread panics while it holds this");
        ms.insert(self.key(path), take.reports.iter().map(|r| r.ms).collect());
        Ok(write_atomically(&self.path, json!({"generator": "toile", "ms": *ms}).to_string().as_bytes())?)
    }

    /// Puts the clock back into a take that was read.
    pub fn restore(&self, path: &Path, take: &mut Take) {
        let ms = self.ms.lock().expect("no thread panics while it holds this");
        for (report, ms) in take.reports.iter_mut().zip(ms.get(&self.key(path)).into_iter().flatten()) {
            report.ms = *ms;
        }
    }

    /// What a take is called here: `walk.take`, or of an outfit, whose garments have folders of their own, `skirt/walk.take`.
    fn key(&self, path: &Path) -> String {
        let below = self.path.parent().and_then(|folder| path.strip_prefix(folder).ok());
        below.map_or_else(|| name(path), |p| p.to_string_lossy().replace('\\', "/"))
    }
}

/// A take with what its frames cost, where that is known. What an outfit's cost is noted beside the folders of its garments.
pub fn read_take(path: &Path) -> Result<Take> {
    let mut take = Take::read(path)?;
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let up = 1 + usize::from(outfit_of(&take).is_some());
    if let Some(folder) = whole.ancestors().nth(up) {
        Timings::open(folder, None).restore(&whole, &mut take);
    }
    Ok(take)
}

/// The outfit that a take's garment was worn in: the names of its garments, the innermost first.
pub fn outfit_of(take: &Take) -> Option<&str> {
    take.notes.iter().find(|(key, _)| key == "outfit").map(|(_, outfit)| outfit.as_str())
}

/// Which outfit the takes of a folder are of, none where a garment was worn alone, with the take that says so: the first that can
/// be read, since what is written into a folder is of one outfit.
pub fn outfit_in(folder: &Path) -> Option<(PathBuf, Option<String>)> {
    takes_in(folder).into_iter().find_map(|path| {
        let outfit = outfit_of(&Take::read(&path).ok()?).map(str::to_string);
        Some((path, outfit))
    })
}

/// The takes of a folder, by name.
pub fn takes_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut takes: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "take")).collect();
    takes.sort();
    takes
}

/// What is wrong with a folder that holds no takes: those of an outfit lie in folders of their garments.
pub fn no_takes(folder: &Path) -> BadRequest {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut below: Vec<PathBuf> = entries.filter(|p| p.is_dir() && !takes_in(p).is_empty()).collect();
    below.sort();
    let named: Vec<String> = below.iter().take(6).map(|p| p.display().to_string()).collect();
    let hint = match named.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} does: name that"),
        [..] => format!(
            "; those of each garment of an outfit are in a folder of its own, name one: {}",
            named.join(", ")
        ),
    };
    BadRequest(format!("{}: the folder holds no .take files{hint}", folder.display()))
}

fn is_timings(file: &str) -> bool {
    file.strip_prefix("timings.").is_some_and(|rest| rest.ends_with("json"))
}

/// The last part of a path.
pub fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// Removes what killed runs left half written of the files that are `own`. A file in the making carries the number of its
/// process; where that can be looked up, files of processes that still run are left alone.
pub fn sweep(folder: &Path, own: impl Fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        let name = name(&path);
        let Some(process) = name.strip_suffix(".partial").and_then(|n| n.rsplit_once('.')) else { continue };
        let (file, Ok(process)) = (process.0, process.1.parse::<u32>()) else { continue };
        if !own(file) && !is_timings(file) {
            continue;
        }
        let known = Path::new("/proc/self").exists();
        if known && process != std::process::id() && !Path::new(&format!("/proc/{process}")).exists() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_tell_apart_what_differs_in_the_last_bit() {
        let of = |x: f32| Digest::default().with(&[x, 1.0]).hex();
        assert_eq!(of(0.1), of(0.1));
        assert_ne!(of(0.1), of(f32::from_bits(0.1f32.to_bits() + 1)));
        assert_ne!(of(0.0), of(-0.0));
        // Published test vector of FNV-1a.
        let mut a = Digest::default();
        a.write_str("foobar").unwrap();
        assert_eq!(a.hex(), "85944171f73967e8");
    }
}
