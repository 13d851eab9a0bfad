//! `toile view` as a real window, on a screen of its own: Xvfb, spoken to as a desktop would.

#![cfg(target_os = "linux")]
// A window takes its time, and is waited for.
#![allow(clippy::disallowed_methods)]

mod screen;

use screen::{Screen, Seen};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn toile() -> Command {
    Command::new(env!("CARGO_BIN_EXE_toile"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A cube without skin: a garment to drop.
const CUBE: &str = "v -0.3 0.9 -0.3\nv 0.3 0.9 -0.3\nv 0.3 1.2 -0.3\nv -0.3 1.2 -0.3\nv -0.3 0.9 0.3\nv 0.3 0.9 0.3\n\
    v 0.3 1.2 0.3\nv -0.3 1.2 0.3\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 4 1 5 8\n";

/// The colour behind what could not be done.
const FAULT: [u8; 3] = [0x8a, 0x1f, 0x1f];

#[test]
fn without_a_screen_it_says_so() {
    let mut command = toile();
    command.arg("view").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("no screen") && said.contains("toile render") && said.contains("--web"), "{said}");
}

#[test]
fn bad_files_and_addresses_are_refused_before_a_window_opens() {
    let folder = folder("view-bad");
    std::fs::write(folder.join("broken.glb"), b"glTF\x02\0\0\0").unwrap();
    let broken = folder.join("broken.glb").display().to_string();
    for (args, said) in [
        (vec!["view", "--web", "--address", "0.0.0.0"], "this machine only"),
        (vec!["view", "--web", "--folder", "/nonexistent"], "cargo xtask web"),
        (vec!["view", "--panes", "3"], "1, 2 or 4"),
        (vec!["view", "--web", "--tier", "skin"], "cannot be used with"),
        (vec!["view", "--web", "--panes", "2"], "cannot be used with"),
        (vec!["view", "--web", "--pictures", "."], "cannot be used with"),
        (vec!["view", "--pictures", "/nonexistent"], "no folder"),
    ] {
        let out = toile().args(&args).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && text.contains(said), "{args:?}: {text}");
    }
    let Some(screen) = Screen::open() else { return };
    for (file, said) in [(broken.as_str(), "broken.glb"), ("no-such.obj", "no such file")] {
        let out = toile().args(["view", file]).env("DISPLAY", screen.display()).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && text.contains(said), "{file}: {text}");
    }
}

#[test]
fn it_opens_plays_takes_files_and_sizes_and_keeps_pictures() {
    let Some(screen) = Screen::open() else { return };
    let folder = folder("view");
    let begun = Instant::now();
    let mut view = toile();
    view.arg("view").arg("--pictures").arg(&folder).args(["--size", "700x460"]);
    let mut view = screen.start(view);
    let window = screen.window("Toile", Duration::from_secs(30));
    let first = screen.wait_for(window, Duration::from_secs(30), Seen::is_a_picture);
    eprintln!("first picture after {:.2} s", begun.elapsed().as_secs_f64());
    first.write(&folder.join("1-open.png"));

    // It plays by itself: the garment's pixels change.
    screen.wait_for(window, Duration::from_secs(20), |seen| seen.differs_from(&first) > 200);

    screen.focus(window);
    // Paused it stands still; a step moves it by a frame.
    screen.key("space");
    let still = screen.settled(window);
    screen.key("Right");
    screen.wait_for(window, Duration::from_secs(20), |seen| seen.differs_from(&still) > 50);

    // Two panes, then wireframe.
    let one = screen.settled(window);
    screen.key("2");
    let two = screen.wait_for(window, Duration::from_secs(20), |seen| seen.differs_from(&one) > 20_000);
    two.write(&folder.join("2-panes.png"));
    screen.key("w");
    screen.settled(window).write(&folder.join("3-wireframe.png"));
    screen.key("1");
    screen.key("w");
    screen.settled(window);

    // As small as a window gets, and back.
    screen.resize(window, 1, 1);
    std::thread::sleep(Duration::from_millis(300));
    screen.resize(window, 700, 460);
    let back = screen.wait_for(window, Duration::from_secs(20), Seen::is_a_picture);
    back.write(&folder.join("4-back.png"));

    // A file that is dropped is worn; one that is broken is said.
    let before = screen.settled(window);
    let (cube, broken) = (folder.join("cube.obj"), folder.join("broken.glb"));
    std::fs::write(&cube, CUBE).unwrap();
    std::fs::write(&broken, b"glTF\x02\0\0\0").unwrap();
    screen.drop_files(window, &[&cube]);
    screen.wait_for(window, Duration::from_secs(20), |seen| seen.differs_from(&before) > 2_000);
    let worn = screen.settled(window);
    worn.write(&folder.join("5-dropped.png"));
    // It may have had something to say of the first as well.
    let red = worn.count(FAULT);
    screen.drop_files(window, &[&broken]);
    let told = screen.wait_for(window, Duration::from_secs(20), |seen| seen.count(FAULT) > red + 1_000);
    told.write(&folder.join("6-broken.png"));

    // A picture is kept.
    screen.key("s");
    let kept = folder.join("toile-view-001.png");
    let until = Instant::now() + Duration::from_secs(20);
    while !kept.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(kept.exists(), "no picture was kept");
    assert!(view.try_wait().unwrap().is_none(), "it went on to the end");
    screen.close(window);
    let until = Instant::now() + Duration::from_secs(20);
    while view.try_wait().unwrap().is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = view.try_wait().unwrap();
    let _ = view.kill();
    assert!(ended.is_some_and(|s| s.success()), "closed: {ended:?}");
}

#[test]
fn a_device_that_is_lost_is_opened_again() {
    let Some(screen) = Screen::open() else { return };
    let folder = folder("view-lost");
    let mut view = toile();
    view.arg("view").arg("--pictures").arg(&folder).args(["--size", "700x460"]);
    let mut view = screen.start(view);
    let window = screen.window("Toile", Duration::from_secs(30));
    screen.wait_for(window, Duration::from_secs(30), Seen::is_a_picture);
    screen.focus(window);
    screen.key("F12");
    let again = screen
        .wait_for(window, Duration::from_secs(30), |seen| seen.is_a_picture() && seen.count(FAULT) > 1_000);
    again.write(&folder.join("again.png"));
    screen.wait_for(window, Duration::from_secs(20), |seen| seen.differs_from(&again) > 200);
    let going = view.try_wait().unwrap().is_none();
    let _ = view.kill();
    assert!(going, "it went on");
}
