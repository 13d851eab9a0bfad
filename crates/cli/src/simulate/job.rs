//! A batch of clips: those without a finished take are simulated, side by side.

use crate::interrupt;
use crate::output::Overwrite;
use crate::progress;
use crate::resolve::BadRequest;
use crate::resume::{self, Digest, Timings};
use crate::simulate::shard::Shard;
use crate::tiers::Leash;
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toile_assets::{Body, Fabric, Garment, Motion, Take};
use toile_simulate::{Outfit, RecordSettings, Recorder, Recording, World, check_fit};

/// Everything that a batch of clips shares.
pub struct Job<'a> {
    pub body: &'a Body,
    /// What is worn; of an outfit all of it as one.
    pub garment: &'a Garment,
    pub fabric: &'a Fabric,
    /// The garments of an outfit; each has a folder of its own.
    pub outfit: Option<&'a Outfit>,
    pub settings: RecordSettings,
    pub stops: usize,
    pub out: &'a Path,
    pub jobs: usize,
    /// Which share of a larger batch this is, where others do the rest.
    pub shard: Option<Shard>,
    pub overwrite: Overwrite,
    /// What the names of takes end in, where clips are simulated more than once: `+silk`.
    pub label: String,
}

/// What came of a batch.
#[derive(Default)]
pub struct Outcome {
    /// Take files in the order of the motions, stops after their clip.
    pub takes: Vec<(PathBuf, Take)>,
    /// Clips that failed and why.
    pub failed: Vec<(String, String)>,
}

impl Outcome {
    /// Takes in what came of another batch.
    pub fn add(&mut self, other: Self) {
        self.takes.extend(other.takes);
        self.failed.extend(other.failed);
    }

    /// The takes that are true, saying which are not; all of them where none is, since there must be something to show.
    pub fn true_takes(self) -> Vec<Take> {
        let is_true = |t: &Take| t.verdict.is_none_or(|v| v.is_true());
        let any = self.takes.iter().any(|(_, t)| is_true(t));
        let mut kept = Vec::new();
        for (path, take) in self.takes {
            if is_true(&take) || !any {
                kept.push(take);
            } else {
                let faults = take.verdict.unwrap_or_default().faults().join("; ");
                eprintln!("{}: not true, left out: {faults}", path.display());
            }
        }
        kept
    }
}

/// Files of one clip: the take itself, then its stops with the frames they freeze at; of an outfit so for each garment.
type Files = Vec<(PathBuf, Option<usize>)>;

/// What the threads of a batch share.
struct Shared<'a> {
    draped: Option<&'a World>,
    /// Digest of everything but the motion.
    inputs: String,
    timings: &'a Timings,
    bar: &'a ProgressBar,
    done: AtomicUsize,
    /// Set when a file could not be written: the next one could not either.
    unwritable: AtomicBool,
}

impl Job<'_> {
    /// Simulates every motion that has no finished take yet. Clips run side by side; each is computed by one
    /// thread, so the result does not depend on how many there are.
    pub fn simulate(&self, motions: &[Motion]) -> Result<Outcome> {
        self.check_names(motions)?;
        if self.outfit.is_none() {
            check_fit(self.body, self.garment)?;
        }
        Overwrite::folder(self.out)?;
        for folder in self.folders().iter().filter(|f| f.as_path() != self.out) {
            Overwrite::folder(folder)?;
        }
        let timings = Timings::open(self.out, self.shard);
        for path in motions.iter().flat_map(|m| self.files(m)).map(|f| f.0).chain([timings.path().into()]) {
            self.overwrite.check(&path, [])?;
        }
        self.check_wearer()?;
        // Another machine's files in the making are its own.
        let own: Vec<String> =
            motions.iter().flat_map(|m| self.files(m)).map(|f| resume::name(&f.0)).collect();
        for folder in self.folders() {
            resume::sweep(&folder, |file| own.iter().any(|o| o == file));
        }
        let _frames = interrupt::Frames::begin();
        let frames: usize = motions.iter().map(|m| self.frames(m)).sum();
        let bar = progress::bar(frames as u64, "simulating");
        let inputs = Digest::default()
            .with(self.body)
            .with(self.garment)
            .with(self.fabric)
            .with(&self.outfit.map(Outfit::fabrics))
            .with(&self.settings)
            .with(&env!("CARGO_PKG_VERSION"))
            .hex();
        let open = motions.iter().any(|m| self.kept(m, &inputs, &timings).is_none());
        let draped = if open { Some(self.dressed(&bar)?) } else { None };
        let shared = Shared {
            draped: draped.as_ref(),
            inputs,
            timings: &timings,
            bar: &bar,
            done: AtomicUsize::new(0),
            unwritable: AtomicBool::new(false),
        };
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<Vec<(PathBuf, Take)>>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, motions.len().max(1)) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::SeqCst);
                        let Some(motion) = motions.get(i) else { break };
                        let done = self.clip(motion, &shared);
                        tell(motion, &done, shared.done.fetch_add(1, Ordering::SeqCst) + 1, motions.len());
                        results.lock().expect("no thread panics while it holds this").push((i, done));
                    }
                });
            }
        });
        bar.finish_and_clear();
        if interrupt::wanted() {
            return Err(interrupt::Stopped.into());
        }
        let mut results = results.into_inner().expect("all threads ended");
        results.sort_by_key(|(i, _)| *i);
        let mut outcome = Outcome { takes: Vec::new(), failed: Vec::new() };
        for (i, result) in results {
            match result {
                Ok(takes) => outcome.takes.extend(takes),
                Err(e) if e.downcast_ref::<Halted>().is_some() => {}
                Err(e) if shared.unwritable.load(Ordering::SeqCst) => {
                    return Err(e.context(WRITE_FAILED));
                }
                Err(e) => outcome.failed.push((motions[i].name.clone(), format!("{e:#}"))),
            }
        }
        Ok(outcome)
    }

    /// Two clips of one name would overwrite each other.
    fn check_names(&self, motions: &[Motion]) -> Result<()> {
        let mut names: Vec<PathBuf> = motions.iter().map(|m| self.path(self.out, m, None)).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|w| w[0] == w[1]) {
            let name = pair[0].file_stem().unwrap_or_default().to_string_lossy();
            return Err(BadRequest(format!("two motions are named `{name}`; give one of them")).into());
        }
        Ok(())
    }

    /// Refuses a folder that holds takes of the same garments worn otherwise: some clips would be replaced and others left, and
    /// nobody could tell the two outfits apart any more.
    fn check_wearer(&self) -> Result<()> {
        let own = self.outfit.map(Outfit::worn_with);
        for folder in self.folders().iter().filter(|_| !self.overwrite.force) {
            let Some((path, other)) = resume::outfit_in(folder).filter(|(_, other)| *other != own) else {
                continue;
            };
            let worn = |outfit: &Option<String>| match outfit {
                Some(outfit) => format!("the outfit `{outfit}`"),
                None => "a garment worn alone".into(),
            };
            let what = format!(
                "{}: is a take of {}, these are of {}; name another folder with --out, or --force to put them beside it",
                path.display(),
                worn(&other),
                worn(&own)
            );
            return Err(BadRequest(what).into());
        }
        Ok(())
    }

    fn frames(&self, motion: &Motion) -> usize {
        (motion.duration_secs() * self.settings.fps + 1e-6).floor() as usize + 1
    }

    /// Where takes go: of an outfit, those of each garment into a folder of its name.
    fn folders(&self) -> Vec<PathBuf> {
        match self.outfit {
            None => vec![self.out.to_path_buf()],
            Some(outfit) => outfit.garments().iter().map(|g| self.out.join(plain(&g.name))).collect(),
        }
    }

    fn path(&self, folder: &Path, motion: &Motion, stop: Option<usize>) -> PathBuf {
        let plain = plain(&motion.name);
        match stop {
            None => folder.join(format!("{plain}{}.take", self.label)),
            Some(k) => folder.join(format!("{plain}{}.stop{k}.take", self.label)),
        }
    }

    /// Where a clip is frozen: which stop it is, and the frame.
    fn stops(&self, motion: &Motion) -> Vec<(usize, usize)> {
        let frames = self.frames(motion);
        let mut stops: Vec<(usize, usize)> =
            (1..=self.stops).map(|k| (k, k * frames / (self.stops + 1))).collect();
        // A short clip has fewer places to stop at than were asked for.
        stops.retain(|(_, at)| *at > 0);
        stops.dedup_by_key(|(_, at)| *at);
        stops
    }

    fn files(&self, motion: &Motion) -> Files {
        let mut files = Vec::new();
        for folder in self.folders() {
            files.push((self.path(&folder, motion, None), None));
            let stops = self.stops(motion).into_iter();
            files.extend(stops.map(|(k, at)| (self.path(&folder, motion, Some(k)), Some(at))));
        }
        files
    }

    fn digest(&self, motion: &Motion, inputs: &str) -> String {
        Digest::default().with(&inputs).with(motion).hex()
    }

    /// All takes of a clip, where all are finished.
    fn kept(&self, motion: &Motion, inputs: &str, timings: &Timings) -> Option<Vec<(PathBuf, Take)>> {
        let digest = self.digest(motion, inputs);
        let read = |(path, stop): &(PathBuf, Option<usize>)| {
            // With another number of stops, a stop of this name is at another frame.
            let mut take = resume::finished(path, &digest).filter(|t| t.stop_frame == *stop)?;
            timings.restore(path, &mut take);
            Some((path.clone(), take))
        };
        self.files(motion).iter().map(read).collect()
    }

    fn clip(&self, motion: &Motion, shared: &Shared) -> Result<Vec<(PathBuf, Take)>> {
        if let Some(kept) = self.kept(motion, &shared.inputs, shared.timings) {
            shared.bar.inc(self.frames(motion) as u64);
            return Ok(kept);
        }
        let draped = shared.draped.context("a take vanished while the others were made; run again")?;
        let halted = || interrupt::wanted() || shared.unwritable.load(Ordering::SeqCst);
        if halted() {
            return Err(Halted.into());
        }
        let stops = self.stops(motion);
        let mut recorder = self.recorder().branch_at(stops.iter().map(|(_, at)| *at)).on_frame(|_| {
            shared.bar.inc(1);
            if halted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let named = |e| match self.outfit {
            Some(outfit) => outfit.name_garment(e),
            None => e,
        };
        let Recording { take, branches } = recorder
            .record_draped(draped, motion)
            .map_err(named)
            .with_context(|| format!("clip {}", motion.name))?;
        let digest = self.digest(motion, &shared.inputs);
        let mut takes = Vec::new();
        for stop in std::iter::once(None).chain(stops.into_iter().map(Some)) {
            if halted() {
                return Err(Halted.into());
            }
            let all = match stop {
                None => take.clone(),
                Some((_, frame)) => {
                    let branch = branches.iter().find(|b| b.frame == frame).context("no such frame")?;
                    recorder
                        .stop(draped, motion, branch)
                        .map_err(named)
                        .with_context(|| format!("clip {}, stopped at frame {frame}", motion.name))?
                }
            };
            for ((folder, garment), mut made) in
                self.folders().iter().zip(self.garments()).zip(self.each(all)?)
            {
                Leash::new(self.body, garment, &made.draped)?.keep_take(&mut made);
                made.notes.push((resume::INPUTS.to_string(), digest.clone()));
                let path = self.path(folder, motion, stop.map(|(k, _)| k));
                let written = shared.timings.write(&path, &made);
                written.inspect_err(|_| shared.unwritable.store(true, Ordering::SeqCst))?;
                takes.push((path, made));
            }
        }
        // In the order of the files, garment by garment.
        let order: Vec<PathBuf> = self.files(motion).into_iter().map(|(path, _)| path).collect();
        takes.sort_by_key(|(path, _)| order.iter().position(|p| p == path));
        Ok(takes)
    }

    fn garments(&self) -> &[Garment] {
        self.outfit.map_or(std::slice::from_ref(self.garment), Outfit::garments)
    }

    /// One take for each garment of what was recorded.
    fn each(&self, take: Take) -> Result<Vec<Take>> {
        Ok(match self.outfit {
            None => vec![take],
            Some(outfit) => outfit.split(self.body, &take, &self.settings.solver)?,
        })
    }

    fn recorder(&self) -> Recorder<'_> {
        Recorder::new(self.body, self.garment).settings(self.settings.clone())
    }

    /// The garment at rest on the body; draped once and shared by all clips.
    fn dressed(&self, bar: &ProgressBar) -> Result<World> {
        bar.set_message("draping");
        let world = match self.outfit {
            None => self.recorder().drape(self.fabric),
            Some(outfit) => self.recorder().drape_outfit(outfit),
        };
        let world = world.with_context(|| format!("draping `{}`", self.garment.name))?;
        bar.set_message("simulating");
        bar.reset_eta();
        Ok(world)
    }
}

/// A name as a file may have it.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// One line a clip where no bar is drawn, so that a log says how far it is.
fn tell(motion: &Motion, done: &Result<Vec<(PathBuf, Take)>>, count: usize, of: usize) {
    if std::io::stderr().is_terminal() {
        return;
    }
    let said = match done {
        Err(e) if e.downcast_ref::<Halted>().is_some() => return,
        Err(e) => format!("failed: {e:#}"),
        Ok(takes) => {
            let frames: usize = takes.iter().map(|(_, t)| t.len()).sum();
            let untrue = takes.iter().filter(|(_, t)| t.verdict.is_some_and(|v| !v.is_true())).count();
            let word =
                if untrue > 0 { format!(", {untrue} of {} untrue", takes.len()) } else { String::new() };
            format!("{frames} frames{word}")
        }
    };
    eprintln!("{count}/{of} {}: {said}", motion.name);
}

const WRITE_FAILED: &str =
    "a take could not be written (finished ones are kept; make room and run the same command again)";

/// A clip that was not finished because the whole run ends.
#[derive(Debug)]
struct Halted;

impl std::fmt::Display for Halted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Halted {}
