//! The tier adaptive as a user meets it: a database from takes, a garment played from it, and what is refused.

mod program_under_test;

use program_under_test::{ok, text, toile};
use std::path::Path;

fn refused(args: &[&str], must_say: &[&str]) {
    let out = toile(args);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
    must_say.iter().for_each(|part| assert!(said.contains(part), "{args:?}: no `{part}` in: {said}"));
}

#[test]
fn a_database_is_trained_and_its_garment_follows_the_simulation() {
    let dir = std::env::temp_dir().join(format!("toile-adaptive-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let path = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let (takes, database, cache) = (path("takes"), path("shirt.toile"), path("shirt.pc2"));
    let span = ["--trim", "0.5:1.5"];
    let clip = ["--garment", "shirt:400", "--motion", "twist"];
    ok(&[&["simulate", "--out", &takes][..], &clip, &span].concat());
    let trained = ok(&[
        "train",
        &takes,
        "--kind",
        "adaptive",
        "--sites",
        "3",
        "--garment",
        "shirt:400",
        "--cubature",
        "200",
        "--out",
        &database,
        "--json",
        "--untrue",
    ]);
    let trained: serde_json::Value = serde_json::from_str(&trained).unwrap();
    assert_eq!(trained["kind"], "adaptive");
    assert!(trained["sites"].as_u64().unwrap() >= 2 && trained["vectors"].as_u64().unwrap() >= 6);
    assert!(trained["left_cm"].as_f64().unwrap() < 0.5 * trained["displacement_cm"].as_f64().unwrap());
    assert!((1..=200).contains(&trained["cubature"]["triangles"].as_u64().unwrap()), "{trained}");

    let take = path("takes/twist.take");
    let compared =
        ok(&["compare", "--garment", "shirt:400", "--take", &take, "--model", &database, "--json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    let mean = |tier: &str| {
        let rows = compared["tiers"].as_array().unwrap();
        rows.iter().find(|r| r["tier"] == tier).unwrap()["mean_cm"].as_f64().unwrap()
    };
    assert!(mean("adaptive") < 0.8 * mean("skin"), "{} against {}", mean("adaptive"), mean("skin"));

    // The file says which tier it is for.
    let played =
        ok(&[&["animate", "--model", &database, "--out", &cache, "--json"][..], &clip, &span].concat());
    assert!(played.contains("\"tier\":\"adaptive\"") && Path::new(&cache).exists(), "{played}");
    let of_another =
        ["animate", "--tier", "adaptive", "--model", &database, "--motion", "twist", "--out", &cache];
    refused(
        &[&of_another[..], &["--garment", "shirt:500", "--body", "mannequin:male"]].concat(),
        &["another body", "vertices"],
    );
    refused(
        &[&of_another[..], &["--garment", "shirt:500"]].concat(),
        &["name its own with --garment shirt:400"],
    );
    refused(&of_another, &["--garment"]);
    refused(
        &["train", &takes, "--kind", "adaptive", "--sites", "30", "--out", &database, "--untrue"],
        &["30 sites"],
    );
    let train = ["train", &takes, "--kind", "adaptive", "--out", &database, "--untrue", "--garment"];
    refused(
        &[&train[..], &["shirt:500", "--fabric", "denim"]].concat(),
        &["garment `shirt`", "fabric `denim`"],
    );
    // Takes of another garment, body, fabric or rate in one folder: each is named.
    let strangers: [&[&str]; 3] = [
        &["--garment", "shirt:500"],
        &["--garment", "shirt:400", "--fabric", "denim"],
        &["--garment", "shirt:400", "--body", "mannequin:male"],
    ];
    let mut mixed = vec![path("takes/twist.take")];
    for (k, stranger) in strangers.iter().enumerate() {
        let folder = path(&format!("stranger{k}"));
        ok(&[&["simulate", "--out", &folder, "--motion", "twist", "--trim", "0.5:0.8"], *stranger].concat());
        mixed.push(path(&format!("stranger{k}/twist.take")));
    }
    let mixed: Vec<&str> = mixed.iter().map(String::as_str).collect();
    refused(
        &[&["train"][..], &mixed, &["--kind", "adaptive", "--out", &database, "--untrue"]].concat(),
        &["another garment", "another fabric", "body"],
    );
    // A crowd of such garments, each from another moment.
    let crowd = [
        "crowd",
        "--count",
        "3",
        "--threads",
        "2",
        "--seconds",
        "0.2",
        "--model",
        &database,
        "--motion",
        "twist",
    ];
    let ran: serde_json::Value =
        serde_json::from_str(&ok(&[&crowd[..], &["--garment", "shirt:400", "--json"]].concat())).unwrap();
    assert!(ran["tier"] == "adaptive" && ran["finite"] == true && ran["count"] == 3, "{ran}");
    refused(&crowd, &["--garment"]);
    refused(&[&crowd[..], &["--garment", "shirt:500", "--gpu"]].concat(), &["--gpu"]);
    refused(&[&crowd[..], &["--garment", "shirt:500"]].concat(), &["vertices"]);
    // The viewer plays it: without a screen it gets as far as the window.
    let view = |args: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_toile"));
        program.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        let out = program.arg("view").args(args).args(["--tier", "adaptive"]).output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        text(&out.stderr)
    };
    assert!(view(&["shirt:400", &database]).contains("no screen"));
    assert!(view(&["shirt:400"]).contains("needs a database"));
    std::fs::remove_dir_all(&dir).unwrap();
}
