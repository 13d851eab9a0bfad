//! The demo as a user meets it: stopped, killed, on a full disk, in the wrong folder, and to its end. What it leaves in
//! the target folder is what the browser check opens.

#![cfg(unix)]

mod program_under_test;

use program_under_test::text;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TOILE: &str = env!("CARGO_BIN_EXE_toile");

fn demo(out: &Path) -> Command {
    let mut command = Command::new(TOILE);
    command.args(["demo", "--tiny", "--json", "--out"]).arg(out);
    command
}

/// Starts a demo and waits until a file is there.
fn started_until(out: &Path, file: &str) -> Child {
    let mut child = demo(out).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..60_000 {
        if out.join(file).exists() {
            return child;
        }
        assert!(child.try_wait().unwrap().is_none(), "ended before {file} was there");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("{file} does not come")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

fn half_written(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|p| p.extension().is_some_and(|x| x == "partial")).collect()
}

#[test]
fn a_demo_stopped_and_killed_goes_on_to_its_end_and_so_do_the_commands_it_ends_with() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
    let _ = std::fs::remove_dir_all(&out);

    // Ctrl-C while it simulates.
    let child = started_until(&out, "about.txt");
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let stopped = child.wait_with_output().unwrap();
    let said = text(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(130), "{said}");
    assert!(said.contains("run the same command again"), "{said}");
    assert!(!out.join("demo.json").exists() && !out.join("report.html").exists());

    // Killed without warning when the model is there.
    let mut child = started_until(&out, "skirt.toile");
    child.kill().unwrap();
    child.wait().unwrap();
    let model = std::fs::read(out.join("skirt.toile")).unwrap();
    std::fs::write(out.join("report.html.4294967295.partial"), "left behind").unwrap();

    let shown = Command::new(TOILE).args(["demo", "--tiny", "--out"]).arg(&out).output().unwrap();
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let value: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("demo.json")).unwrap()).unwrap();
    assert_eq!(value["resumed"], true);
    assert!(half_written(&out).is_empty(), "{:?}", half_written(&out));
    assert!(std::fs::read(out.join("skirt.toile")).unwrap() == model, "it was learned again for nothing");
    for (key, least, most) in [
        ("mean_cm", 0.01, 100.0),
        ("rho", 0.0, 1.0),
        ("tightness", 1.0, 1e6),
        ("us_per_frame", 0.1, 1e5),
        ("skin_us_per_frame", 0.1, 1e5),
        ("simulated_ms_per_frame", 0.1, 1e5),
    ] {
        let found = value[key].as_f64().unwrap_or(f64::NAN);
        assert!((least..=most).contains(&found), "{key} is {found}");
    }
    assert_eq!(value["crowd"]["count"], 64);
    assert_eq!(value["settling"]["stops"], 1);
    let page = text(&std::fs::read(out.join("report.html")).unwrap());
    for heading in
        ["Film", "Error over time", "Clips", "After a stop", "Spectrum", "Stability", "Gate", "Cost"]
    {
        assert!(page.contains(&format!("<h2>{heading}")), "no section {heading}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "a page that needs no network");
    assert!(page.contains(&format!("{:.2} cm", value["mean_cm"].as_f64().unwrap())));

    // On a disk that is full nothing is left half-written and the message says how to go on.
    let before = std::fs::read(out.join("report.html")).unwrap();
    let limited = format!("trap '' XFSZ; ulimit -f 40; '{TOILE}' demo --tiny --out '{}'", out.display());
    let full = Command::new("bash").args(["-c", &limited]).output().unwrap();
    let said = text(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{said}");
    assert!(said.contains("run the same command again") && said.contains("File too large"), "{said}");
    assert!(half_written(&out).is_empty());
    assert!(std::fs::read(out.join("report.html")).unwrap() == before, "the old report is whole");

    the_commands_it_ends_with_work(&out, &text(&shown.stdout));
}

fn the_commands_it_ends_with_work(out: &Path, shown: &str) {
    assert!(shown.lines().take_while(|l| !l.is_empty()).count() <= 12, "{shown}");
    let commands: Vec<&str> = shown.lines().filter_map(|l| l.strip_prefix("toile ")).collect();
    assert_eq!(commands.len(), 3, "{shown}");
    for command in commands {
        let ran = Command::new("bash").args(["-c", &format!("'{TOILE}' {command}")]).output().unwrap();
        assert!(ran.status.success(), "toile {command}: {}", text(&ran.stderr));
    }
    let cache = std::fs::read(out.join("example/walk.pc2")).unwrap();
    let number = |at: usize| u32::from_le_bytes(cache[at..at + 4].try_into().unwrap()) as usize;
    let (points, frames) = (number(16), number(28));
    assert!(frames > 60 && cache.len() == 32 + 12 * points * frames, "{frames} frames of {points} points");
}

#[test]
fn folders_that_are_not_a_demos_are_left_alone() {
    let dir = std::env::temp_dir().join(format!("toile-demo-refused-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(dir.join("thesis")).unwrap();
    std::fs::write(dir.join("thesis/chapter.tex"), "words").unwrap();
    for (out, why) in [
        ("thesis", "holds files of others"),
        ("thesis/chapter.tex", "is a file"),
        ("thesis/chapter.tex/x", "x"),
    ] {
        let refused = demo(&dir.join(out)).output().unwrap();
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{out}: {said}");
        assert!(said.contains(why) && said.contains("thesis"), "{out}: {said}");
    }
    // Where nothing can be made: the kernel's own folder refuses everyone, even the administrator.
    let refused = demo(Path::new("/proc/toile-demo")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert_eq!(files(&dir), [dir.join("thesis/chapter.tex")], "nothing was put there");
    std::fs::remove_dir_all(&dir).unwrap();
}
