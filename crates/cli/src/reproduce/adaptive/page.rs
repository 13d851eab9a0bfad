//! The page: their Table 1 and figures with ours beside them.

use super::changes::Ablation;
use super::fine::Fine;
use super::others::{OtherFabric, Trousers};
use super::play::Run;
use super::tube::Tube;
use super::{ClipRow, Measured, pictures, ways};
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
    /// How many times as long the full simulation takes at its own step and at ours.
    fn gain(&self) -> [f64; 2] {
        self.full_ms.map(|full| full / self.sampled.ms)
    }
}

/// Time without contacts and skinning, ms.
fn alone(run: &Run) -> f64 {
    run.ms - run.contact_ms
}

impl Measured {
    pub fn json(&self, page: &Path) -> Value {
        let run = |r: &Run| {
            json!({
                "mean_mm": r.mean_mm, "p95_mm": r.p95_mm, "ms": r.ms, "contact_ms": r.contact_ms,
                "phases_ms": r.phases_ms, "wrinkles": r.wrinkles, "acceleration": r.acceleration,
            })
        };
        let clips: Vec<Value> = self
            .clips
            .iter()
            .map(|c| {
                json!({
                    "clip": c.clip, "frames": c.frames, "trained": c.trained, "sampled": run(&c.sampled),
                    "kept": run(&c.kept), "plain": run(&c.plain), "skin_mm": c.skin_mm, "twin_mm": c.twin_mm,
                    "full_ms": c.full_ms, "gain": c.gain(), "full_acceleration": c.acceleration, "faults": c.faults,
                })
            })
            .collect();
        let ablations: Vec<Value> =
            self.ablations.iter().map(|a| json!({"change": a.name, "run": run(&a.run)})).collect();
        json!({
            "garment": self.worn.name, "vertices": self.database.vertices(), "clips": clips, "ablations": ablations,
            "bytes": self.bytes, "load_ms": self.load_ms, "page": page, "cpu_minutes": self.minutes,
        })
    }

    /// Time of a frame.
    fn times(&self) -> String {
        let mut text = String::from(
            "| clip | theirs: full / naïve / optimised, s | their gain | full, ms (1/240 s; 1/30 s) | naïve, ms | optimised, ms | \
             cubature, ms (most) | … of it contacts; gradient, choosing, system | gain (at 1/30 s) |\n|---|---|---|---|---|---|---|---|---|\n",
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
            let [gradient, choose, system] = c.sampled.phases_ms;
            let _ = writeln!(
                text,
                "| {} | {seconds} | {gain} | {:.0}; {:.0} | {:.1} | {:.1} | {:.1} ({:.1}) | {:.1}; {gradient:.1}, {choose:.1}, \
                 {system:.1} | {own:.1}× ({same:.1}×) |",
                c.clip,
                c.full_ms[0],
                c.full_ms[1],
                c.plain.ms,
                c.kept.ms,
                c.sampled.ms,
                c.sampled.worst_ms,
                c.sampled.contact_ms
            );
        }
        text
    }

    /// How near the simulation.
    fn nearness(&self) -> String {
        let mut text = String::from(
            "| clip | learned from | mean, mm (all triangles) | p95, mm | a twin of full, mm | skinned, mm | folds, fine to coarse, % \
             of full | largest acceleration, m/s² (over full's) | Newton steps, new matrices a frame | one pose, two paths: full / \
             ours, mm |\n|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for c in &self.clips {
            let paths = c.paths.as_ref().map_or("–".into(), |p| {
                format!("frames {} and {}: {:.1} / {:.1}", p.frames[0], p.frames[1], p.full_mm, p.ours_mm)
            });
            let _ = writeln!(
                text,
                "| {}{} | {} | {:.1} ({:.1}) | {:.1} | {} | {:.1} | {} | {:.0} ({:.2}×) | {:.1}, {:.2} | {paths} |",
                c.clip,
                if c.faults.is_empty() { "" } else { " *" },
                if c.trained { "yes" } else { "no" },
                c.sampled.mean_mm,
                c.kept.mean_mm,
                c.sampled.p95_mm,
                c.twin_mm.map_or("–".into(), |mm| format!("{mm:.1}")),
                c.skin_mm,
                bands(&c.sampled.wrinkles),
                c.sampled.acceleration,
                c.sampled.acceleration / c.acceleration,
                c.sampled.newton,
                c.sampled.refreshes,
            );
        }
        for c in self.clips.iter().filter(|c| !c.faults.is_empty()) {
            let _ =
                writeln!(text, "\n\\* The simulation of {} is not true: {}.", c.clip, c.faults.join("; "));
        }
        text
    }

    fn changes(&self) -> String {
        let mut text = String::from(
            "| change | mean, mm | p95, mm | folds, fine to coarse, % of full | largest acceleration, m/s² | ms a frame | Newton \
             steps, new matrices, shortened a frame |\n|---|---|---|---|---|---|---|\n",
        );
        for Ablation { name, run, .. } in &self.ablations {
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

    /// Ways that were tried on the hardest clips.
    fn ways(&self) -> String {
        if self.ways.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "## Ways tried on the hardest clips\n\nMean distance in mm, folds fine to coarse in % of full, largest acceleration over full's; \
             ms a frame is the mean of the four.\n\n| way | {} | ms a frame | Newton steps |\n|---|{}---|---|\n",
            ways::CLIPS.join(" | "),
            "---|".repeat(ways::CLIPS.len()),
        );
        let full =
            |clip: &str| self.clips.iter().find(|c| c.clip == clip).map_or(f64::NAN, |c| c.acceleration);
        for way in &self.ways {
            let held_out = way.held_out.map_or(String::new(), |left| {
                format!(" ({:.0} % of forces left in frames held out)", 100.0 * left)
            });
            let cells = way.runs.iter().zip(ways::CLIPS).map(|(run, clip)| {
                let over = run.acceleration / full(clip);
                format!("**{:.1}**; {}; {over:.1}×", run.mean_mm, bands(&run.wrinkles))
            });
            let cells: Vec<String> = cells.collect();
            let mean =
                |of: fn(&Run) -> f64| way.runs.iter().map(of).sum::<f64>() / way.runs.len().max(1) as f64;
            let (ms, newton) = (mean(|r| r.ms), mean(|r| r.newton));
            let _ =
                writeln!(text, "| {}{held_out} | {} | {ms:.1} | {newton:.1} |", way.name, cells.join(" | "));
        }
        text + "\n"
    }

    pub fn text(&self) -> String {
        let d = &self.database;
        let waves = Wrinkles::new(&d.triangles, &d.attachment.rest).wavelengths_m();
        let waves: Vec<String> = waves.iter().map(|w| format!("{:.1}", 100.0 * w)).collect();
        let fine = self.fine.as_ref().map_or(String::new(), fine_times);
        let c = &self.cubature;
        format!(
            "`{}`, {} vertices, {} training frames: {} sites, {} vectors (theirs: 29,510 vertices, about 10,000 frames, 18 \
             sites, 212 vectors), {} dimensions of poses. The file has {:.1} MB in half precision and is read in {:.0} ms of \
             processor time. Displacements are {:.1} mm (root mean square over training frames), the bases of the nearest site \
             leave {:.1} mm of them. Cubature: {} of {} triangles, {:.1} % of elastic forces left in the frames that were fitted, \
             {:.1} % in frames held out ({} frames in all). All of this took {:.0} minutes of processor time.\n\n\
             ## Table 1: time of a frame\n\n{}\n{fine}## How near the simulation\n\n\
             Bands of folds are about {} cm long.\n\n{}\n## Changes of the method, on {}\n\n{}\n{}{}{}{}",
            self.worn.name,
            d.vertices(),
            self.frames,
            d.sites.len(),
            d.vector_count(),
            d.pose_dims(),
            self.bytes as f64 / 1e6,
            self.load_ms,
            self.left_mm[0],
            self.left_mm[1],
            c.cubature.triangles.len(),
            d.triangles.len(),
            100.0 * c.fitted,
            100.0 * c.held_out,
            c.frames,
            self.minutes,
            self.times(),
            waves.join(", "),
            self.nearness(),
            self.clips.first().map_or("", |c| &c.clip),
            self.changes(),
            self.ways(),
            self.trousers.as_ref().map_or(String::new(), trousers),
            self.tube.as_ref().map_or(String::new(), tube),
            self.fabric.as_ref().map_or(String::new(), fabric),
        )
    }
}

/// Trousers, in words.
fn trousers(t: &Trousers) -> String {
    format!(
        "## Trousers on {}\n\n`{}`, {} vertices, learned from that clip: mean {:.1} mm (p95 {:.1}; skinned {:.1}), folds fine to \
         coarse {} % of full, {:.1} ms a frame.\n\n",
        t.take.clip,
        t.garment.name,
        t.take.vertices,
        t.run.mean_mm,
        t.run.p95_mm,
        t.skin.mean_mm,
        bands(&t.run.wrinkles),
        t.run.ms,
    )
}

/// The tube, as a table.
fn tube(t: &Tube) -> String {
    let mut text = String::from(
        "## A tube that is learned in the horizontal plane and bends upwards\n\n\
         | bent | learned from | mean to full, mm | skinned to full, mm | from skinned, mean and largest, mm: ours; full | folds, fine to \
         coarse, % of full: ours; skinned | largest acceleration, m/s²: ours; full |\n|---|---|---|---|---|---|---|\n",
    );
    for b in &t.bent {
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} | {:.1} | {:.1}, {:.1}; {:.1}, {:.1} | {}; {} | {:.0}; {:.0} |",
            b.name,
            if b.trained { "yes" } else { "no" },
            b.run.mean_mm,
            b.skin.mean_mm,
            b.from_skin_mm[0],
            b.from_skin_mm[1],
            b.full_from_skin_mm[0],
            b.full_from_skin_mm[1],
            bands(&b.run.wrinkles),
            bands(&b.skin.wrinkles),
            b.run.acceleration,
            b.acceleration,
        );
    }
    text + "\n"
}

/// Another fabric, in words.
fn fabric(f: &OtherFabric) -> String {
    format!(
        "## Another fabric on the same database\n\n{} in {}, against a simulation of that fabric: told of it {:.1} mm (p95 {:.1}), \
         folds {} % of full; with the fabric that was learned {:.1} mm, folds {} %; skinned {:.1} mm.\n\n",
        f.clip,
        f.fabric,
        f.told.mean_mm,
        f.told.p95_mm,
        bands(&f.told.wrinkles),
        f.untold.mean_mm,
        bands(&f.untold.wrinkles),
        f.skin.mean_mm,
    )
}

/// Times of a finer cut, in words and as a table.
fn fine_times(f: &Fine) -> String {
    let mut text = format!(
        "At full size (`{}`, {} vertices, frames carried over from the coarser cut): full, on a body that stands still, {:.0} ms a \
         frame at 1/240 s and {:.0} ms at 1/30 s, of which at least {:.0} ms are one search for contacts. The database has {} vectors and {:.1} MB and is read in {:.0} ms; cubature of {} of {} \
         triangles.\n\n| | ms a frame (most) | contacts and skinning | gradient | choosing | reduced system | gain | gain at 1/30 s | without \
         contacts |\n|---|---|---|---|---|---|---|---|---|\n",
        f.name,
        f.vertices,
        f.full_ms[0],
        f.full_ms[1],
        f.full_contact_ms,
        f.vectors,
        f.bytes as f64 / 1e6,
        f.load_ms,
        f.triangles[0],
        f.triangles[1],
    );
    for (name, run) in [("naïve", &f.plain), ("optimised", &f.kept), ("cubature", &f.sampled)] {
        let [gradient, choose, system] = run.phases_ms;
        let _ = writeln!(
            text,
            "| {name} | {:.1} ({:.1}) | {:.1} | {gradient:.1} | {choose:.1} | {system:.1} | {:.1}× | {:.1}× | {:.1}× |",
            run.ms,
            run.worst_ms,
            run.contact_ms,
            f.full_ms[0] / run.ms,
            f.full_ms[1] / run.ms,
            (f.full_ms[1] - f.full_contact_ms) / alone(run),
        );
    }
    text + "\n"
}

fn bands(share: &[f64]) -> String {
    share.iter().map(|w| format!("{:.0}", 100.0 * w)).collect::<Vec<_>>().join(", ")
}

/// Writes the page and its pictures.
pub fn write(folder: &Path, measured: &Measured, command: &str) -> Result<PathBuf> {
    let page = folder.join("adaptive-bases.md");
    // Beside a folder of pictures, as in our documentation, they go there.
    let apart = folder.join("../pictures");
    let (to, prefix) = if apart.is_dir() { (apart.as_path(), "../pictures/") } else { (folder, "") };
    let drawn = pictures::write(to, measured)?;
    let strips =
        |alt: &str, file: &str| if drawn { format!("![{alt}]({prefix}{file})\n\n") } else { String::new() };
    let [sweater, changes, tube] = pictures::FILES;
    let text = format!(
        "# Subspace clothing simulation using adaptive bases (Hahn et al. 2014)\n\n`{command}`\n\n\
         Times are processor time of one core, means over frames of 1/30 s; *naïve* puts the reduced system together from the \
         full-space matrix in every Newton step, *optimised* keeps the matrix and multiplies sixteen directions at once, *cubature* \
         sums elastic forces and stiffness over weighted triangles. *Full* is our own simulation, at its own step of 1/240 s and, \
         for the method alone, at the subspace's step of 1/30 s.\n\n{}{}{}{}",
        strips("full, adaptive and skinned", sweater),
        measured.text(),
        strips("changes of the method", changes),
        strips("the tube", tube),
    );
    std::fs::write(&page, text).map_err(|e| toile_assets::Error::io(page.as_path(), e))?;
    Ok(page)
}
