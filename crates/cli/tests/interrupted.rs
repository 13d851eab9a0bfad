//! Runs that end early: killed, on a full disk, refused. What was finished stays, and going on gives the same bytes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TOILE: &str = env!("CARGO_BIN_EXE_toile");

fn toile(args: &[&str]) -> Output {
    Command::new(TOILE).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-interrupted-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Clips of a few frames each, cut out of the built-in walk, as BVH files in a folder of their own.
fn clips(dir: &Path, count: usize, frames: usize) -> String {
    let whole = dir.join("walk.bvh");
    let out = toile(&["convert", "walk", &whole.to_string_lossy()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let source = std::fs::read_to_string(&whole).unwrap();
    let at = source.find("Frames:").unwrap();
    let rows: Vec<&str> = source[at..].lines().skip(2).collect();
    let folder = dir.join("clips");
    std::fs::create_dir_all(&folder).unwrap();
    for k in 0..count {
        let mut file = format!("{}Frames: {frames}\nFrame Time: 0.033333\n", &source[..at]);
        // Every fourth of 120 Hz, starting where the first frame is not the rest pose.
        for f in 0..frames {
            file.push_str(rows[1 + (7 * k + 4 * f) % (rows.len() - 1)]);
            file.push('\n');
        }
        std::fs::write(folder.join(format!("clip{k}.bvh")), file).unwrap();
    }
    folder.to_string_lossy().into_owned()
}

fn arguments<'a>(clips: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["simulate", "--garment", "skirt:300", "--motion", clips, "--out", out];
    args.extend(more);
    args
}

/// Every take of a folder with its bytes.
fn takes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "take"))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn ten_clips_killed_and_resumed_are_the_same_bytes_on_any_number_of_threads() {
    let dir = folder("killed");
    let clips = clips(&dir, 10, 4);
    let (whole, broken) = (dir.join("whole"), dir.join("broken"));
    let out = toile(&arguments(&clips, &whole.to_string_lossy(), &["--jobs", "1", "--json"]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let expected = takes(&whole);
    assert_eq!(expected.len(), 10);

    // Killed without warning once a few takes are there, then run again on another number of threads.
    let broken_text = broken.to_string_lossy();
    let args = arguments(&clips, &broken_text, &["--jobs", "3"]);
    let mut child =
        Command::new(TOILE).args(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while takes(&broken).len() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "ended before it could be killed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = takes(&broken);
    assert!(kept.len() < 10, "it was finished before it was killed");
    for (name, bytes) in &kept {
        let (_, whole) = expected.iter().find(|(n, _)| n == name).unwrap();
        assert!(bytes == whole, "{name}: damaged by the kill");
    }
    std::fs::write(broken.join("clip9.take.4294967295.partial"), b"left behind").unwrap();
    let out = toile(&arguments(&clips, &broken_text, &["--jobs", "2", "--json"]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    for ((name, a), (other, b)) in expected.iter().zip(takes(&broken)) {
        assert!(*name == other && *a == b, "{name} differs from {other} of the run that was killed");
    }
    assert!(!broken.join("clip9.take.4294967295.partial").exists());

    // A third time nothing is simulated, and what it cost is still known.
    let again = toile(&arguments(&clips, &broken_text, &["--json"]));
    let value: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(value["takes"].as_array().unwrap().len(), 10);
    assert!(value["takes"][3]["ms_per_frame_median"].as_f64().unwrap() > 0.0);

    // Another fabric under the same names is another take.
    let first = dir.join("clips/clip0.bvh");
    let out = toile(&arguments(&first.to_string_lossy(), &broken_text, &["--fabric", "denim"]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let now = takes(&broken);
    assert!(now[0].1 != expected[0].1 && now[1..] == expected[1..]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[cfg(unix)]
#[test]
fn a_full_disk_keeps_what_was_finished_and_says_how_to_go_on() {
    let dir = folder("full");
    let clips = clips(&dir, 3, 4);
    std::fs::rename(dir.join("clips/clip2.bvh"), dir.join("long.bvh")).unwrap();
    let long = text(&std::fs::read(dir.join("long.bvh")).unwrap());
    // The third clip is long enough for its take not to fit under the limit below.
    let row = long.lines().last().unwrap().to_string();
    let (head, _) = long.split_once("Frames:").unwrap();
    let rows = format!("{row}\n").repeat(40);
    std::fs::write(dir.join("clips/clip2.bvh"), format!("{head}Frames: 40\nFrame Time: 0.033333\n{rows}"))
        .unwrap();

    let out_dir = dir.join("takes");
    let out_text = out_dir.to_string_lossy();
    let args = arguments(&clips, &out_text, &["--jobs", "1"]);
    let quoted: Vec<String> = args.iter().map(|a| format!("'{a}'")).collect();
    // `ulimit -f` counts blocks of 1024 bytes in bash; with the signal ignored, writing beyond it is an error.
    let limited = format!("trap '' XFSZ; ulimit -f 80; '{TOILE}' {}", quoted.join(" "));
    let out = Command::new("bash").args(["-c", &limited]).output().unwrap();
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("clip2.take") && said.contains("run the same command again"), "{said}");
    let kept = takes(&out_dir);
    assert_eq!(kept.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["clip0.take", "clip1.take"]);
    let left: Vec<_> = std::fs::read_dir(&out_dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| n.ends_with(".partial"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let out = toile(&args);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let all = takes(&out_dir);
    assert_eq!(all.len(), 3);
    assert_eq!(all[..2], kept[..]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_clip_that_jumps_is_refused_with_its_frame_or_cut_there() {
    let dir = folder("jump");
    let clips = clips(&dir, 1, 12);
    let path = dir.join("clips/clip0.bvh");
    let file = std::fs::read_to_string(&path).unwrap();
    let mut jumped = String::new();
    for (f, line) in file[file.find("Frame Time").unwrap()..].lines().skip(1).enumerate() {
        let (x, rest) = line.trim_start().split_once(char::is_whitespace).unwrap();
        // Centimetres.
        let x: f64 = x.parse::<f64>().unwrap() + if f >= 6 { 300.0 } else { 0.0 };
        jumped.push_str(&format!("{x} {rest}\n"));
    }
    let head = file.split_inclusive('\n').take_while(|l| !l.starts_with("Frame Time")).collect::<String>();
    std::fs::write(&path, format!("{head}Frame Time: 0.033333\n{jumped}")).unwrap();
    let out_dir = dir.join("takes");
    let out_text = out_dir.to_string_lossy();
    let out = toile(&arguments(&clips, &out_text, &[]));
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("clip0") && said.contains("frame 6") && said.contains("--cut"), "{said}");
    assert!(takes(&out_dir).is_empty());
    let out = toile(&arguments(&clips, &out_text, &["--cut"]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("cut at frame 6"));
    let names: Vec<String> = takes(&out_dir).into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, ["clip0.part1.take", "clip0.part2.take"]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn fewer_stops_are_at_other_frames_and_are_made_anew() {
    let dir = folder("stops");
    let clips = clips(&dir, 1, 7);
    let run = |out: &Path, stops: &str| {
        let out = toile(&arguments(&clips, &out.to_string_lossy(), &["--stops", stops]));
        assert!(out.status.success(), "{}", text(&out.stderr));
    };
    let (again, fresh) = (dir.join("again"), dir.join("fresh"));
    run(&again, "2");
    run(&again, "1");
    run(&fresh, "1");
    // The second stop of before stays beside them.
    let mut again = takes(&again);
    again.retain(|(name, _)| !name.contains("stop2"));
    assert!(again.len() == 2 && again == takes(&fresh));
}
