//! Every OBJ file of a folder of real garments loads. Runs only where `TOILE_DATA` names such a folder.

use std::path::{Path, PathBuf};
use toile_assets::RestSource;
use toile_assets::read::garment::{RestChoice, read_garment};
use toile_assets::read::obj;

fn obj_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            obj_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "obj") {
            found.push(path);
        }
    }
    found.sort();
}

#[test]
fn every_obj_file_loads() {
    let Some(folder) = std::env::var_os("TOILE_DATA") else {
        eprintln!("skipped: TOILE_DATA names no folder");
        return;
    };
    let mut files = Vec::new();
    obj_files(Path::new(&folder), &mut files);
    assert!(!files.is_empty(), "no OBJ file under TOILE_DATA");
    for path in &files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mesh = obj::read_mesh(path).unwrap_or_else(|e| panic!("{e}")).value;
        let loaded = read_garment(path, RestChoice::Auto, None).unwrap_or_else(|e| panic!("{e}"));
        let g = &loaded.value;
        println!(
            "{name}: {} render, {} sim vertices, {} triangles, {:?}, {} panels, {} seams, {} pins",
            g.render.positions.len(),
            g.sim.positions.len(),
            g.sim.triangles.len(),
            g.rest_source,
            g.panels.len(),
            g.seams.len(),
            g.pins.len()
        );
        loaded.problems.iter().for_each(|p| println!("    {} {}: {}", p.count, p.what, p.action));
        loaded.notes.iter().for_each(|n| println!("    {n}"));
        assert_eq!(g.sim_from_render.len(), g.render.positions.len(), "{name}");
        assert_eq!(g.rest.len(), g.sim.triangles.len(), "{name}");
        assert!((0..g.rest.len()).all(|t| g.rest_area(t) > 0.0), "{name}: rest area");
        assert!(mesh.positions.len() >= g.render.positions.len(), "{name}");
        if path.parent().is_some_and(|p| p.ends_with("garmentcode")) {
            assert_eq!(g.rest_source, RestSource::Uv, "{name}");
            assert!(!g.pins.is_empty() || !g.openings.is_empty(), "{name}: what it hangs by");
            assert!(name.starts_with("cape") || !g.seams.is_empty(), "{name}: seams");
            for s in &g.seams {
                println!(
                    "      seam {} {:?} {:.3} {:.3}",
                    s.name,
                    s.vertices.len(),
                    s.lengths[0],
                    s.lengths[1]
                );
            }
        }
    }
}
