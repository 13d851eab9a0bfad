//! Which motion plays which part.

use crate::resolve::BadRequest;
use anyhow::Result;
use serde_json::Value;
use std::path::{Path, PathBuf};
use toile_assets::Error;

/// Clips by role, as names that `resolve` understands.
pub struct Cast {
    /// Where they come from, for the report.
    pub source: String,
    pub train: Vec<String>,
    /// Combinations of motions that training has.
    pub test: Vec<String>,
    /// Names of test clips that hold motion which training does not have.
    pub stretched: Vec<String>,
    /// Motion of kinds that training does not have, by category.
    pub other: Vec<(String, Vec<String>)>,
    /// From one motion of training into another.
    pub transitions: Vec<String>,
    /// The two clips of §7.1: a walk, and a walk that stops and twists on planted feet.
    pub walk_and_twist: [String; 2],
    /// A walk of training that is repeated slower and faster.
    pub repeated: Vec<String>,
}

/// Of the mocap test clips these hold motion that training does not: walking backwards and sideways, heel clicks.
const STRETCHED: [&str; 2] = ["09_12", "142_21"];

impl Cast {
    pub fn new(motions: Option<&Path>, quick: bool) -> Result<Self> {
        let mut cast = match motions {
            Some(folder) => Self::captured(folder)?,
            None => Self::built_in(),
        };
        if quick {
            let thin = |v: &mut Vec<String>, keep: usize| {
                let stride = v.len().div_ceil(keep).max(1);
                *v = v.iter().step_by(stride).cloned().collect();
            };
            thin(&mut cast.train, 6);
            cast.test.retain(|c| !STRETCHED.iter().any(|s| c.contains(s)));
            thin(&mut cast.test, 2);
            cast.stretched.clear();
            cast.other.truncate(1);
            cast.other.iter_mut().for_each(|(_, clips)| clips.truncate(1));
        }
        Ok(cast)
    }

    /// Everything that is scored apart from the tables.
    pub fn apart(&self) -> Vec<String> {
        let mut all: Vec<String> = self.other.iter().flat_map(|(_, c)| c.clone()).collect();
        all.extend(self.transitions.clone());
        all.extend(self.walk_and_twist.clone());
        all
    }

    /// A few training clips, for garments of which only stability and cost are wanted.
    pub fn few(&self) -> Vec<String> {
        let stride = (self.train.len() / 6).max(1);
        self.train.iter().step_by(stride).take(6).cloned().collect()
    }

    /// Two test clips whose motion training has, for table 4.
    pub fn few_tests(&self) -> Vec<String> {
        let is_stretched = |c: &String| self.stretched.iter().any(|s| c.contains(s.as_str()));
        self.test.iter().filter(|c| !is_stretched(c)).take(2).cloned().collect()
    }

    fn built_in() -> Self {
        let names = |list: &[&str]| -> Vec<String> { list.iter().map(|s| (*s).to_string()).collect() };
        Self {
            source: "built-in motions".into(),
            train: names(&[
                "walk:0.8",
                "walk:1.2",
                "walk:1.6",
                "turn:45",
                "turn:-90",
                "walk-stop:1.0",
                "run:2.5",
                "run:3.0",
                "run:3.5",
                "turn:-45",
                "turn:90",
                "turn:180",
                "turn:-180",
                "turn:360",
                "turn:-360",
                "walk-stop:1.5",
                "run-stop:2.6",
                "walk-turn-stop:60",
                "walk-turn-stop:-60",
                "walk-turn-stop:130",
                "legs-bend",
                "jump:0.15",
                "jump:0.3",
                "walk-run:2.8",
                "walk-run:3.4",
                "stand",
            ]),
            test: names(&[
                "walk-turn-stop:90",
                "turn:-120",
                "walk-stop:1.25",
                "run-stop:3.1",
                "turn:270",
                "walk-run:3.1",
                "jump:0.22",
                "walk:1.0",
            ]),
            stretched: Vec::new(),
            other: vec![
                ("calisthenics".into(), names(&["gym", "plane"])),
                ("leaning".into(), names(&["lean-forward", "lean-back"])),
            ],
            transitions: names(&["walk-run:3.0"]),
            walk_and_twist: ["walk:1.35".into(), "walk-stop-twist:40".into()],
            repeated: names(&["walk:1.2"]),
        }
    }

    fn captured(folder: &Path) -> Result<Self> {
        let list = |sub: &str| -> Result<Vec<PathBuf>> {
            let folder = folder.join(sub);
            let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
                .map_err(|e| Error::io(folder.as_path(), e))?
                .filter_map(|e| Some(e.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|x| x.eq_ignore_ascii_case("bvh")))
                .collect();
            files.sort();
            if files.is_empty() {
                return Err(
                    BadRequest(format!("{}: the folder holds no .bvh files", folder.display())).into()
                );
            }
            Ok(files)
        };
        let categories = categories(&folder.join("clips.json"));
        let stem = |p: &Path| p.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_string();
        let category = |p: &Path| {
            categories.iter().find(|(clip, _)| *clip == stem(p)).map_or("combination", |(_, c)| c.as_str())
        };
        let text = |p: &PathBuf| p.display().to_string();
        let (mut test, mut other): (Vec<String>, Vec<(String, Vec<String>)>) = (Vec::new(), Vec::new());
        for file in list("test")? {
            match category(&file) {
                "combination" => test.push(text(&file)),
                name => match other.iter_mut().find(|(n, _)| n == name) {
                    Some((_, clips)) => clips.push(text(&file)),
                    None => other.push((name.to_string(), vec![text(&file)])),
                },
            }
        }
        let train = list("train")?;
        let walk = train.iter().find(|p| category(p) == "walk").or(train.first());
        Ok(Self {
            repeated: walk.map(text).into_iter().collect(),
            source: format!("motion capture, {} clips to train", train.len()),
            train: train.iter().map(text).collect(),
            stretched: STRETCHED.iter().map(|s| (*s).to_string()).collect(),
            test,
            other,
            transitions: vec!["walk-run:3.1".into()],
            walk_and_twist: ["walk:1.35".into(), "walk-stop-twist:40".into()],
        })
    }
}

/// `(clip, category)` from a clip list, where there is one.
fn categories(path: &Path) -> Vec<(String, String)> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let Ok(Value::Array(rows)) = serde_json::from_str(&text) else { return Vec::new() };
    let field = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_string);
    rows.iter().filter_map(|r| Some((field(r, "clip")?, field(r, "category")?))).collect()
}
