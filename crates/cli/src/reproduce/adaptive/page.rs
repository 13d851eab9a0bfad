//! The page: their Table 1 and figures with ours beside them.

use super::fine::Fine;
use super::{Ablation, ClipRow, Measured};
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toile_learn::Wrinkles;

/// Table 1: clip as we name it, frames, s a frame of collisions, full, naïve and optimised.
const TABLE_1: [(&str, usize, f64, Option<f64>, f64, f64); 9] = [
    ("twist", 1701, 0.47, Some(13.20), 1.11, 0.71),
    ("arms-bend", 1451, 0.41, Some(14.09), 0.95, 0.63),
    ("arms-up", 1251, 0.45, Some(16.32), 1.29, 0.92),
    ("arms-down", 1251, 0.40, Some(12.95), 1.17, 0.89),
    ("lean-back", 601, 0.48, Some(12.68), 1.40, 0.82),
    ("lean-forward", 601, 0.46, Some(12.59), 1.35, 1.07),
    ("plane", 1501, 0.47, Some(12.41), 1.23, 0.90),
    ("yo", 1176, 0.39, None, 1.05, 0.86),
    ("gym", 4701, 0.42, None, 1.07, 0.82),
];

impl ClipRow {
    /// How many times as long the full simulation takes: all of it, at its own step and at ours.
    fn gain(&self) -> [f64; 2] {
        self.full_ms.map(|full| full / self.kept.ms)
    }
}

impl Measured {
    pub fn json(&self, page: &Path) -> Value {
        let clips: Vec<Value> = self
            .clips
            .iter()
            .map(|c| {
                json!({
                    "clip": c.clip, "frames": c.frames, "trained": c.trained, "mean_mm": c.kept.mean_mm,
                    "p95_mm": c.kept.p95_mm, "skin_mm": c.skin_mm, "ms": c.kept.ms, "plain_ms": c.plain.ms,
                    "contact_ms": c.kept.contact_ms, "full_ms": c.full_ms, "gain": c.gain(),
                    "wrinkles": c.kept.wrinkles, "acceleration": c.kept.acceleration,
                    "full_acceleration": c.acceleration,
                })
            })
            .collect();
        let ablations: Vec<Value> = self
            .ablations
            .iter()
            .map(|a| json!({"change": a.name, "mean_mm": a.run.mean_mm, "ms": a.run.ms, "wrinkles": a.run.wrinkles}))
            .collect();
        json!({
            "garment": self.garment, "vertices": self.vertices, "clips": clips, "ablations": ablations,
            "bytes": self.bytes, "load_ms": self.load_ms, "page": page,
        })
    }

    /// Time of a frame.
    fn times(&self) -> String {
        let mut text = String::from(
            "| clip | theirs: full / naïve / optimised, s | their gain | full, ms (1/240 s) | full, ms (1/30 s) | plain, ms | kept, ms \
             (p99) | contacts, ms | gradient, choosing, system, ms | gain | gain at 1/30 s |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for c in &self.clips {
            let theirs = TABLE_1.iter().find(|t| t.0 == c.clip);
            let (seconds, gain) = theirs.map_or(("–".into(), "–".into()), |t| {
                let full = t.3.map_or("–".into(), |f| format!("{f:.2}"));
                let gain = t.3.map_or("–".into(), |f| {
                    format!("{:.0}× ({:.0}× without contacts)", f / t.5, (f - t.2) / (t.5 - t.2))
                });
                (format!("{full} / {:.2} / {:.2}", t.4, t.5), gain)
            });
            let [own, same] = c.gain();
            let [gradient, choose, system] = c.kept.phases_ms;
            let _ = writeln!(
                text,
                "| {} | {seconds} | {gain} | {:.0} | {:.0} | {:.1} | {:.1} ({:.1}) | {:.1} | {gradient:.1}, {choose:.1}, {system:.1} | \
                 {own:.1}× | {same:.1}× |",
                c.clip, c.full_ms[0], c.full_ms[1], c.plain.ms, c.kept.ms, c.kept.p99_ms, c.kept.contact_ms
            );
        }
        text
    }

    /// How near the simulation.
    fn nearness(&self) -> String {
        let mut text = String::from(
            "| clip | frames | learned from | mean, mm | p95, mm | skinned, mm | folds, fine to coarse, % of full | largest \
             acceleration over full's | Newton steps, new matrices a frame | one pose, two paths: full / ours, mm |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        for c in &self.clips {
            let paths = c.paths.as_ref().map_or("–".into(), |p| {
                format!("frames {} and {}: {:.1} / {:.1}", p.frames[0], p.frames[1], p.full_mm, p.ours_mm)
            });
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.1} | {:.1} | {} | {:.2} | {:.1}, {:.2} | {paths} |",
                c.clip,
                c.frames,
                if c.trained { "yes" } else { "no" },
                c.kept.mean_mm,
                c.kept.p95_mm,
                c.skin_mm,
                bands(&c.kept.wrinkles),
                c.kept.acceleration / c.acceleration,
                c.kept.newton,
                c.kept.refreshes,
            );
        }
        text
    }

    fn changes(&self) -> String {
        let mut text = String::from(
            "| change | mean, mm | p95, mm | folds, fine to coarse, % of full | largest acceleration, m/s² | ms a frame | Newton \
             steps, new matrices, shortened a frame |\n|---|---|---|---|---|---|---|\n",
        );
        for Ablation { name, run } in &self.ablations {
            let _ = writeln!(
                text,
                "| {name} | {:.1} | {:.1} | {} | {:.0} | {:.1} | {:.1}, {:.2}, {:.2} |",
                run.mean_mm,
                run.p95_mm,
                bands(&run.wrinkles),
                run.acceleration,
                run.ms,
                run.newton,
                run.refreshes,
                run.shortened
            );
        }
        text
    }

    pub fn text(&self) -> String {
        let d = &self.database;
        let waves = Wrinkles::new(&d.triangles, &d.attachment.rest).wavelengths_m();
        let waves: Vec<String> = waves.iter().map(|w| format!("{:.1}", 100.0 * w)).collect();
        let fine = self.fine.as_ref().map_or(String::new(), fine_times);
        format!(
            "`{}`, {} vertices, {} training frames: {} sites, {} vectors (theirs: 29,510 vertices, about 10,000 frames, 18 \
             sites, 212 vectors), {} dimensions of poses. The file has {:.1} MB in half precision and is read in {:.0} ms of \
             processor time. Displacements are {:.1} mm (root mean square over training frames), the bases of the nearest site \
             leave {:.1} mm of them.\n\n## Table 1: time of a frame\n\n{}\n{fine}## How near the simulation\n\n\
             Bands of folds are about {} cm long.\n\n{}\n## Changes of the method, on {}\n\n{}",
            self.garment,
            self.vertices,
            self.frames,
            d.sites.len(),
            d.vector_count(),
            d.pose_dims(),
            self.bytes as f64 / 1e6,
            self.load_ms,
            self.left_mm[0],
            self.left_mm[1],
            self.times(),
            waves.join(", "),
            self.nearness(),
            self.ablated,
            self.changes(),
        )
    }
}

/// Times of a finer cut, in words.
fn fine_times(f: &Fine) -> String {
    let [gradient, choose, system] = f.kept.phases_ms;
    format!(
        "At full size (`{}`, {} vertices, frames carried over from the coarser cut): full {:.0} ms a frame at 1/240 s and {:.0} ms \
         at 1/30 s; plain {:.1} ms; kept {:.1} ms (p99 {:.1}), of which contacts and skinning {:.1}, gradient {gradient:.1}, choosing \
         {choose:.1}, reduced system {system:.1}. Gain {:.1}×, at the same step {:.1}×. The database has {} vectors and {:.1} MB and is \
         read in {:.0} ms.\n\n",
        f.name,
        f.vertices,
        f.full_ms[0],
        f.full_ms[1],
        f.plain.ms,
        f.kept.ms,
        f.kept.p99_ms,
        f.kept.contact_ms,
        f.full_ms[0] / f.kept.ms,
        f.full_ms[1] / f.kept.ms,
        f.vectors,
        f.bytes as f64 / 1e6,
        f.load_ms,
    )
}

fn bands(share: &[f64]) -> String {
    share.iter().map(|w| format!("{:.0}", 100.0 * w)).collect::<Vec<_>>().join(", ")
}

/// Writes the page.
pub fn write(folder: &Path, measured: &Measured, command: &str) -> Result<PathBuf> {
    let page = folder.join("adaptive-bases.md");
    let text = format!(
        "# Subspace clothing simulation using adaptive bases (Hahn et al. 2014)\n\n`{command}`\n\n\
         Times are processor time of one core, medians over frames of 1/30 s; *plain* puts the reduced system together from the \
         full-space matrix in every Newton step (their naïve), *kept* from products that are kept (their optimised). *Full* is \
         our own simulation, at its own step of 1/240 s and, for the method alone, at the subspace's step of 1/30 s.\n\n{}",
        measured.text()
    );
    std::fs::write(&page, text).map_err(|e| toile_assets::Error::io(page.as_path(), e))?;
    Ok(page)
}
