//! Built-in garments simulated on every character at hand, as one picture: `docs/pictures/fitted.png`.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shirt of fewer vertices than usual: nine of them are simulated for one picture.
const GARMENTS: [&str; 4] = ["dress", "shirt:1200", "skirt", "pants"];
/// Characters by name, file and what is done to them: arms straight out, facing the other way, a large head on a thin waist.
const CHARACTERS: [(&str, &str, &str); 9] = [
    ("mannequin", "mannequin:female", ""),
    ("mh_female", "character/mh_female.glb", ""),
    ("mh_male", "character/mh_male.glb", ""),
    ("mesh2motion", "extras/mesh2motion_human_male.glb", ""),
    ("cesium_man", "extras/CesiumMan.glb", ""),
    ("kaykit_mage", "extras/KayKit_Mage.glb", ""),
    ("t_posed", "character/mh_female.glb", "t"),
    ("turned", "character/mh_female.glb", "turned"),
    ("stylised", "character/mh_female.glb", "stylised"),
];
const MOTION: &str = "walk";
const SECONDS: &str = "0:2";

/// Simulates and draws what is not in `folder` yet, and puts the pictures together. A character that a garment cannot be cut
/// for is shown without it, and why is said.
pub fn make(folder: Option<&str>) -> Result<()> {
    let folder = PathBuf::from(folder.unwrap_or("out/fitted"));
    let (_, data) =
        crate::data::found().context("the characters are not there: TOILE_DATA names their folder")?;
    crate::cargo(
        &[
            &["build", "--profile", "quick", "-p", "toile-cli", "--bin", "toile"],
            &["-p", "toile-assets", "--example", "fitting", "-p", "toile-show", "--example", "sheet"][..],
        ]
        .concat(),
    )?;
    let bodies = CHARACTERS.map(|c| body(&folder, &data, c)).into_iter().collect::<Result<Vec<String>>>()?;
    let mut pictures = Vec::new();
    for garment in GARMENTS {
        for ((name, ..), body) in CHARACTERS.iter().zip(&bodies) {
            let out = folder.join(format!("{name}-{}", garment.replace(':', "-")));
            let picture = out.join("picture.png");
            if !picture.exists() {
                worn(&out, body, garment, &picture)?;
            }
            pictures.push(picture.display().to_string());
        }
    }
    let sheet = "docs/pictures/fitted.png";
    let mut command = built("examples/sheet");
    done(command.arg(sheet).arg(CHARACTERS.len().to_string()).args(&pictures))?;
    eprintln!("{sheet}; columns: {}", CHARACTERS.map(|c| c.0).join(", "));
    Ok(())
}

/// The name or file of a character, made where it is a variant of another.
fn body(folder: &Path, data: &Path, (name, file, variant): (&str, &str, &str)) -> Result<String> {
    let whole = if file.contains(':') { file.into() } else { data.join(file).display().to_string() };
    if variant.is_empty() {
        return Ok(whole);
    }
    let made = folder.join(name);
    std::fs::create_dir_all(&made)?;
    done(built("examples/fitting").args([&whole, variant, "skirt"]).arg(&made))?;
    Ok(made.join("body.glb").display().to_string())
}

/// One garment simulated on one character and drawn in the middle of the motion.
fn worn(out: &Path, body: &str, garment: &str, picture: &Path) -> Result<()> {
    std::fs::create_dir_all(out)?;
    let simulated = done(
        built("toile")
            .args(["simulate", "--body", body, "--garment", garment, "--motion", MOTION])
            .args(["--trim", SECONDS, "--out"])
            .arg(out),
    );
    let mut draw = built("toile");
    draw.args(["render", "--body", body, "--size", "400x400", "--out"]).arg(picture);
    match simulated {
        Ok(()) => draw.arg("--take").arg(out.join(format!("{MOTION}.take"))),
        Err(why) => {
            eprintln!("{}: {why:#}", out.display());
            draw.args(["--motion", MOTION])
        }
    };
    done(&mut draw)
}

fn built(program: &str) -> Command {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    Command::new(format!("{target}/quick/{program}"))
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if status.success() { Ok(()) } else { bail!("{command:?} failed") }
}
