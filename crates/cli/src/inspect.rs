//! `toile inspect`: what is in a file, and what is wrong with it.

mod refusals;

use crate::resolve::{self, BadRequest, ending, is_file};
use anyhow::Result;
use clap::Parser;
use serde_json::{Value, json};
use std::path::Path;
use toile_assets::read::garment::{RestChoice, read_garment};
use toile_assets::read::gltf::Contents;
use toile_assets::read::{self, Loaded};
use toile_assets::{Body, Garment, Humanoid, Model, Motion, Pace, Problem, Role, RootTrack, Take, builtin};

/// Say what is in a character, garment, motion, take or model, and what is wrong with it
#[derive(Parser)]
#[command(after_help = "Examples:\n  toile inspect --list\n  toile inspect hero.glb walk.bvh dress.obj\n  \
    toile inspect dress:3410 --json\n  toile inspect 'hero.glb#Shirt'\n  toile inspect dress.toile\n  \
    toile inspect mocap/*.bvh shirt.obj --body hero.glb")]
pub struct Args {
    /// Files (`hero.glb#Shirt` for a part of one) or built-in names
    #[arg(required_unless_present = "list")]
    files: Vec<String>,
    /// The body that motions and garments are meant for: what simulate would refuse on it is said; motions are tried on the
    /// mannequin when it is not given
    #[arg(long)]
    body: Option<String>,
    /// Name every built-in asset
    #[arg(long)]
    list: bool,
    /// One JSON object a file on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    if args.list {
        list(args.json);
    }
    let wearer = args.body.as_deref().map(|name| resolve::body(name, None)).transpose()?;
    for name in &args.files {
        let (value, text) = look(name, wearer.as_ref())?;
        if args.json { println!("{value}") } else { print!("{text}") }
    }
    Ok(())
}

fn list(as_json: bool) {
    let entries = builtin::list();
    if as_json {
        let rows: Vec<Value> =
            entries.iter().map(|e| json!({"kind": e.kind, "name": e.name, "about": e.about})).collect();
        println!("{}", json!({ "built_in": rows }));
        return;
    }
    let mut kind = "";
    for e in &entries {
        if e.kind != kind {
            println!("{}", e.kind);
            kind = e.kind;
        }
        println!("  {:20} {}", e.name, e.about);
    }
}

/// What the program says about one thing, for machines and for people.
fn look(name: &str, wearer: Option<&Body>) -> Result<(Value, String)> {
    let (file, select) = resolve::part(name, None);
    let path = Path::new(file);
    let or_folder = |fault: anyhow::Error| match path.is_dir() {
        true => BadRequest(format!("{name}: is a folder; name files in it")).into(),
        false => fault,
    };
    if !is_file(name) {
        return built_in(name, wearer).map_err(or_folder);
    }
    Ok(match ending(file).as_str() {
        "glb" | "gltf" | "vrm" if select.is_some() => gltf_part(name, path, select, wearer)?,
        "glb" | "gltf" | "vrm" => gltf(name, wearer)?,
        "obj" => garment(name, read_garment(path, RestChoice::Auto, select)?, wearer),
        _ if select.is_some() => {
            return Err(BadRequest(format!("{name}: only glTF and OBJ files have parts")).into());
        }
        "bvh" => motion(name, read::bvh::read_motion(path, None)?, wearer)?,
        "take" => take(name, &crate::resume::read_take(path)?),
        "toile" => model(name, &Model::read(path)?),
        "toml" => {
            let fabric = resolve::fabric(name)?;
            (json!({"kind": "fabric", "name": fabric.name}), format!("{name}: {fabric:#?}\n"))
        }
        other => {
            let fault = BadRequest(format!(
                "{name}: do not know what a `.{other}` file is; known are glb, gltf, vrm, bvh, obj, take, toile, toml"
            ));
            return Err(or_folder(fault.into()));
        }
    })
}

fn built_in(name: &str, wearer: Option<&Body>) -> Result<(Value, String)> {
    if let Some(clips) = builtin::motions::set(name) {
        return motion_set(name, &clips);
    }
    if name.contains('/') {
        let skeleton = builtin::body("mannequin:female")?.skeleton;
        return motion(name, Loaded::clean(builtin::motion(name, &skeleton)?), wearer);
    }
    let family = name.split(':').next().unwrap_or(name);
    let kind = builtin::list().iter().find(|e| e.name.split(':').next() == Some(family)).map(|e| e.kind);
    let cut_for = || wearer.cloned().map_or_else(|| builtin::body("mannequin:female"), Ok);
    Ok(match kind {
        Some("body") => body(name, Loaded::clean(builtin::body(name)?)),
        Some("garment") => garment(name, Loaded::clean(builtin::garment(name, &cut_for()?)?), wearer),
        Some("motion") => {
            let mannequin = builtin::body("mannequin:female")?;
            motion(name, Loaded::clean(builtin::motion(name, &mannequin.skeleton)?), wearer)?
        }
        Some("fabric") => {
            let fabric = builtin::fabric(name)?;
            (json!({"kind": "fabric", "name": fabric.name}), format!("{name}: {fabric:#?}\n"))
        }
        _ => {
            return Err(BadRequest(format!(
                "`{name}` is neither a file nor built in; `toile inspect --list` names what is built in"
            ))
            .into());
        }
    })
}

/// A set of motions: its clips and how long they last.
fn motion_set(name: &str, clips: &[String]) -> Result<(Value, String)> {
    let skeleton = builtin::body("mannequin:female")?.skeleton;
    let (mut rows, mut text, mut total) = (Vec::new(), String::new(), 0.0);
    for clip in clips {
        let motion = builtin::motion(clip, &skeleton)?;
        total += motion.duration_secs();
        rows.push(json!({"name": clip, "seconds": motion.duration_secs()}));
        text.push_str(&format!("  {clip:40} {:5.1} s\n", motion.duration_secs()));
    }
    let value = json!({"kind": "motion set", "name": name, "clips": rows, "seconds": total, "problems": []});
    Ok((value, format!("{name}: {} motions, {:.1} minutes\n{text}", clips.len(), total / 60.0)))
}

fn gltf(name: &str, wearer: Option<&Body>) -> Result<(Value, String)> {
    let path = Path::new(name);
    let contents = read::gltf::contents(path)?;
    let summary = contents_text(&contents);
    let (mut value, mut text) = if contents.skins.is_empty() {
        garment(name, read_garment(path, RestChoice::Auto, None)?, wearer)
    } else {
        let loaded = read::gltf::read_body(path, None)?;
        let headless = has_no_head(&loaded.value);
        let (mut value, mut text) = body(name, loaded);
        if headless && let Ok(loaded) = read_garment(path, RestChoice::Auto, None) {
            let (as_garment, said) = garment("  as a garment", loaded, wearer);
            value["as_garment"] = as_garment;
            text.push_str(&said);
        }
        (value, text)
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("contents".into(), serde_json::to_value(&contents)?);
        let longest = contents.animations.iter().map(|a| a.keys).max().unwrap_or(0);
        object.insert("frames".into(), json!(longest));
    }
    text.push_str(&summary);
    Ok((value, text))
}

/// Whether no skin goes with the head: skinned clothes come as characters do.
fn has_no_head(body: &Body) -> bool {
    let head = body.humanoid().joint(Role::Head);
    let follows = |v: usize, head: usize| body.skin.row(v).any(|(j, w)| j as usize == head && w > 0.5);
    head.is_some_and(|head| !(0..body.skin.len()).any(|v| follows(v, head)))
}

/// `hero.glb#Shirt`: what it would be worn as, and whether it could be a body.
fn gltf_part(
    name: &str,
    path: &Path,
    select: Option<&str>,
    wearer: Option<&Body>,
) -> Result<(Value, String)> {
    let (mut value, mut text) = garment(name, read_garment(path, RestChoice::Auto, select)?, wearer);
    if let Ok(loaded) = read::gltf::read_body(path, select) {
        let (as_body, said) = body("  as a body", loaded);
        value["as_body"] = as_body;
        text.push_str(said.lines().next().unwrap_or_default());
        text.push('\n');
    }
    Ok((value, text))
}

fn contents_text(c: &Contents) -> String {
    let mut text = String::new();
    for mesh in &c.meshes {
        let (v, t) = mesh.primitives.iter().fold((0, 0), |(v, t), p| (v + p.vertices, t + p.triangles));
        text.push_str(&format!("  mesh `{}`: {v} vertices, {t} triangles\n", mesh.name));
    }
    for a in &c.animations {
        text.push_str(&format!("  animation `{}`: {:.2} s\n", a.name, a.duration_secs));
    }
    text
}

fn body(name: &str, mut loaded: Loaded<Body>) -> (Value, String) {
    loaded.problems.extend(refusals::of_body(&loaded.value));
    let b = &loaded.value;
    let (lo, hi) = b.mesh.bounds();
    let humanoid = Humanoid::of(&b.skeleton);
    let map: Vec<Value> = humanoid
        .joints
        .iter()
        .map(|(role, j)| json!({"role": format!("{role:?}"), "joint": b.skeleton.joints[*j].name}))
        .collect();
    let value = with_problems(
        json!({
            "kind": "body", "name": b.name, "vertices": b.mesh.positions.len(),
            "triangles": b.mesh.triangles.len(), "joints": b.skeleton.len(), "frames": 0,
            "influences": b.skin.max_influences(), "height_m": hi.y - lo.y, "joint_map": map,
        }),
        &loaded.problems,
        &loaded.notes,
    );
    let text = format!(
        "{name}: body, {} vertices, {} triangles, {} joints, {:.3} m tall, at most {} influences\n{}{}",
        b.mesh.positions.len(),
        b.mesh.triangles.len(),
        b.skeleton.len(),
        hi.y - lo.y,
        b.skin.max_influences(),
        remarks(&loaded.problems, &loaded.notes),
        humanoid.table(&b.skeleton),
    );
    (value, text)
}

fn garment(name: &str, mut loaded: Loaded<Garment>, wearer: Option<&Body>) -> (Value, String) {
    loaded.problems.extend(wearer.map(|b| refusals::of_garment(&loaded.value, b)).unwrap_or_default());
    let g = &loaded.value;
    let pins: Vec<Value> =
        g.pins.iter().map(|p| json!({"name": p.name, "vertices": p.vertices.len()})).collect();
    let flat: f32 = (0..g.rest.len()).map(|t| g.rest_area(t).abs()).sum();
    let value = with_problems(
        json!({
            "kind": "garment", "name": g.name, "vertices": g.sim.positions.len(),
            "triangles": g.sim.triangles.len(), "joints": 0, "frames": 0,
            "render_vertices": g.render.positions.len(), "panels": g.panels.len(), "seams": g.seams.len(),
            "pins": pins, "rest": format!("{:?}", g.rest_source).to_lowercase(), "cloth_m2": flat,
            "fabric": g.fabric,
        }),
        &loaded.problems,
        &loaded.notes,
    );
    let mut text = format!(
        "{name}: garment, {} vertices ({} drawn), {} triangles, {} panels, {} seams, {flat:.2} m² of cloth, rest shape from {}\n{}",
        g.sim.positions.len(),
        g.render.positions.len(),
        g.sim.triangles.len(),
        g.panels.len(),
        g.seams.len(),
        format!("{:?}", g.rest_source).to_lowercase(),
        remarks(&loaded.problems, &loaded.notes),
    );
    for pin in &g.pins {
        text.push_str(&format!("  pinned: {} ({} vertices)\n", pin.name, pin.vertices.len()));
    }
    (value, text)
}

fn motion(name: &str, loaded: Loaded<Motion>, wearer: Option<&Body>) -> Result<(Value, String)> {
    let m = &loaded.value;
    let humanoid = Humanoid::of(&m.skeleton);
    let track = RootTrack::new(&m.skeleton, &m.poses);
    let mut problems = loaded.problems.clone();
    if track.held > 0 {
        problems.push(Problem::new("frames with the hip line upright", track.held, "heading held"));
    }
    let pace = Pace::of(m);
    if let Some(complaint) = pace.complaint(m.fps) {
        let action = "frames; give the right rate with --fps, or cut with --trim";
        problems.push(Problem::new(complaint, m.len(), action));
    }
    problems.extend(match wearer {
        Some(body) => refusals::of_motion(m, body),
        None => refusals::of_motion(m, &builtin::body("mannequin:female")?),
    });
    let travel: f64 =
        track.frames.windows(2).map(|w| (w[1].position - w[0].position).with_y(0.0).length()).sum();
    let turn = (track.frames[track.frames.len() - 1].heading - track.frames[0].heading).to_degrees();
    let value = with_problems(
        json!({
            "kind": "motion", "name": m.name, "vertices": 0, "triangles": 0, "joints": m.skeleton.len(),
            "frames": m.len(), "fps": m.fps, "seconds": m.duration_secs(), "travel_m": travel, "turn_deg": turn,
            "speed_m_per_s": pace.speed_m_per_s, "steps_per_s": pace.steps_per_s,
        }),
        &problems,
        &loaded.notes,
    );
    let text = format!(
        "{name}: motion, {} frames at {} fps ({:.2} s), {} joints, {travel:.2} m travelled, turned {turn:.0}°\n{}{}",
        m.len(),
        (100.0 * m.fps).round() / 100.0,
        m.duration_secs(),
        m.skeleton.len(),
        remarks(&problems, &loaded.notes),
        humanoid.table(&m.skeleton),
    );
    Ok((value, text))
}

fn take(name: &str, t: &Take) -> (Value, String) {
    let mut ms: Vec<f32> = t.reports.iter().map(|r| r.ms).collect();
    ms.sort_by(f32::total_cmp);
    let median = ms[ms.len() / 2];
    let judged = t.verdict.unwrap_or_default();
    let deepest = judged.depth_mm.value;
    let value = json!({
        "kind": "take", "clip": t.clip, "vertices": t.vertices, "triangles": t.triangles.len(),
        "joints": t.joints, "frames": t.len(), "fps": t.fps, "stop_frame": t.stop_frame,
        "ms_per_frame_median": median, "max_stretch_percent": 100.0 * judged.strain.value, "deepest_mm": deepest, "crossings": judged.crossings.value as u32,
        "true": t.verdict.map(|v| v.is_true()), "faults": judged.faults(), "provenance": t.provenance,
        "notes": t.notes, "problems": [],
    });
    let mut text = format!(
        "{name}: take of `{}`, {} frames at {} fps, {} vertices, median {median:.1} ms a frame, deepest {deepest:.2} mm\n",
        t.clip,
        t.len(),
        t.fps,
        t.vertices
    );
    match t.verdict {
        None => text.push_str("  not judged: made before takes carried a verdict\n"),
        Some(v) if v.is_true() => text.push_str("  true\n"),
        Some(v) => v.faults().iter().for_each(|f| text.push_str(&format!("  UNTRUE: {f}\n"))),
    }
    if let Some(p) = t.provenance {
        text.push_str(&format!(
            "  fingerprints: body {}, garment {}, fabric {}, solver {}, clip {}\n",
            p.body, p.garment, p.fabric, p.solver, p.clip
        ));
    }
    for (key, note) in &t.notes {
        text.push_str(&format!("  {key}: {note}\n"));
    }
    (value, text)
}

fn model(name: &str, m: &Model) -> (Value, String) {
    let travel = 100.0 * m.certificate.travel_bound_m.iter().copied().fold(0.0, f32::max);
    let value = json!({
        "kind": "model", "name": m.name, "model": format!("{:?}", m.kind), "vertices": m.vertices,
        "triangles": m.triangles.len(), "joints": m.joints, "frames": 0, "fps": m.fps,
        "rho": m.certificate.rho, "gamma": m.certificate.gamma, "travel_bound_cm": travel,
        "transient_gain": m.certificate.transient_gain, "tightness": m.tightness().0,
        "travel_bound_rate_cm":
            100.0 * m.certificate.travel_bound_rate_m.iter().copied().fold(0.0, f32::max),
        "hidden_triangles": m.hidden_triangles.len(),
        "dims": {"cloth": m.cloth_dims, "body": m.body_dims}, "order": m.order, "bytes": m.bytes(),
        "notes": m.notes, "problems": [],
    });
    let mut text = format!(
        "{name}: model {:?} of order {}, {} vertices, {} cloth and {} body dims, {} kB\n  \
         certificate holds: ρ {:.4}, γ {:.4}, transient gain {:.1}, no vertex ever farther than {travel:.0} cm from its \
         mean\n  hides {} triangles of the body\n",
        m.kind,
        m.order,
        m.vertices,
        m.cloth_dims,
        m.body_dims,
        m.bytes() / 1024,
        m.certificate.rho,
        m.certificate.gamma,
        m.certificate.transient_gain,
        m.hidden_triangles.len(),
    );
    for (key, note) in &m.notes {
        text.push_str(&format!("  {key}: {note}\n"));
    }
    (value, text)
}

fn with_problems(mut value: Value, problems: &[Problem], notes: &[String]) -> Value {
    let rows: Vec<Value> =
        problems.iter().map(|p| json!({"what": p.what, "count": p.count, "action": p.action})).collect();
    value["problems"] = Value::Array(rows);
    value["notes"] = json!(notes);
    value
}

fn remarks(problems: &[Problem], notes: &[String]) -> String {
    let mut text = String::new();
    for note in notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    for p in problems {
        text.push_str(&format!("  problem: {}: {} ({})\n", p.what, p.count, p.action));
    }
    text
}
