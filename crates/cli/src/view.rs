//! `toile view`: bodies, garments, takes and models in a window.

mod keep;
pub mod serve;

use crate::adaptive;
use crate::driver::quiet;
use crate::resolve::{BadRequest, fabric};
use crate::tiers::TierName;
use anyhow::Result;
use clap::Parser;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver};
use toile_assets::adaptive::Database;
use toile_assets::{Body, Garment, Take};
use toile_run::Tier;
use toile_show::Error;
use toile_show::view::{Action, Order, Shell, Viewer, Wake, Way};
use toile_simulate::{RecordSettings, Recorder, check_clip};
use winit::dpi::PhysicalSize;
use winit::event_loop::EventLoop;
use winit::window::Window;

/// Look at bodies, garments, takes and models in a window
///
/// Drop more files on it at any time; press H for the keys.
#[derive(Parser)]
#[command(after_help = "With nothing named it opens a mannequin that walks in a dress.\n\nExamples:\n  \
    toile view\n  \
    toile view hero.glb walk.bvh dress.toile\n  \
    toile view dress.toile walk.take --panes 2\n  \
    toile view mannequin:male skirt run --tier full\n  \
    toile view --web                              # the same on a page of this machine")]
pub struct Args {
    /// Bodies (.glb, .gltf, .vrm), garments (.obj, .glb), motions (.bvh, .glb), models (.toile), takes (.take), or names
    /// of built-in ones
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// How the garment moves in the first pane; the best that what is named allows unless told
    #[arg(long, value_enum)]
    tier: Option<TierName>,
    /// Panes in lock-step: 1, 2 or 4
    #[arg(long, default_value_t = 1, value_parser = panes)]
    panes: usize,
    /// Width and height of the window
    #[arg(long, default_value = "1280x800", value_parser = crate::render::size)]
    size: (u32, u32),
    /// Folder for pictures (key S) and films (key R)
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pictures: PathBuf,
    /// Serve the viewer as a web page, to this machine only; all else is chosen on the page
    #[arg(long, conflicts_with_all = ["tier", "panes", "size", "pictures"])]
    web: bool,
    /// Port of the page; a free one unless told
    #[arg(long, default_value_t = 0, requires = "web")]
    port: u16,
    /// Address of the page; only this machine's own are taken
    #[arg(long, default_value = "127.0.0.1", requires = "web")]
    address: IpAddr,
    /// The page's folder, as `cargo xtask web` builds it
    #[arg(long, requires = "web", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

fn panes(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("wants 1, 2 or 4".into()),
    }
}

pub fn run(args: &Args) -> Result<()> {
    if args.web {
        return serve::run(args);
    }
    if !args.pictures.is_dir() {
        return Err(BadRequest(format!("{}: is no folder", args.pictures.display())).into());
    }
    let viewer = viewer(args)?;
    let events = EventLoop::<Wake>::with_user_event().build().map_err(|e| no_screen(&e))?;
    let attributes = Window::default_attributes()
        .with_title("Toile")
        .with_inner_size(PhysicalSize::new(args.size.0, args.size.1));
    let keep = keep::keeper(args.pictures.clone());
    let shell = Shell::new(viewer, keep, attributes, &events).quietly(|| Box::new(quiet::Stderr::silence()));
    match shell.run(events) {
        Err(Error::Window(why)) => Err(no_screen(&why)),
        other => Ok(other?),
    }
}

/// The viewer with what was named in it; what cannot be used is an error before any window opens.
fn viewer(args: &Args) -> Result<Viewer> {
    let viewer = Viewer::new().map_err(BadRequest)?;
    let mut viewer = viewer.simulated_by(Box::new(simulate)).adapted_by(Box::new(adapt));
    if !viewer.open(&args.files) {
        let faults = viewer.messages.shown().iter().filter(|m| m.fault).map(|m| m.text.clone());
        return Err(BadRequest(faults.collect::<Vec<_>>().join("\n")).into());
    }
    viewer.act(Action::Panes(args.panes));
    if let Some(tier) = args.tier {
        let way = way(tier);
        if let Some(why) = viewer.lacks(way) {
            return Err(BadRequest(format!("--tier {} {why}", tier.as_str())).into());
        }
        viewer.act(Action::Choose(0, way));
    }
    Ok(viewer)
}

fn way(tier: TierName) -> Way {
    match tier {
        TierName::Skin => Way::Skin,
        TierName::Layered => Way::Layered,
        TierName::Stable => Way::Stable,
        TierName::Adaptive => Way::Adaptive,
        TierName::Full => Way::Full,
    }
}

fn no_screen(why: &dyn std::fmt::Display) -> anyhow::Error {
    // winit says where in its source it gave up, and then why.
    let why = why.to_string();
    let why = why.rsplit_once(": ").map_or(why.as_str(), |(_, why)| why).trim_end_matches('.');
    BadRequest(format!(
        "there is no screen to open a window on ({why}). Without one, `toile render` draws pictures and films, and \
         `toile view --web` serves the viewer to a browser on this machine"
    ))
    .into()
}

/// The truth, made beside the window.
fn simulate(order: Order) -> Receiver<Result<Take, String>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = send.send(take(&order).map_err(|e| format!("{e:#}")));
    });
    receive
}

/// The tier adaptive, stepped in the window.
fn adapt(body: &Body, garment: &Garment, database: &Arc<Database>) -> Result<Box<dyn Tier>, String> {
    let said = |e: anyhow::Error| format!("{e:#}");
    let fabric = fabric(&garment.fabric).map_err(said)?;
    let tier = adaptive::tier(body, garment, &fabric, database, Default::default()).map_err(said)?;
    Ok(Box::new(tier))
}

fn take(order: &Order) -> Result<Take> {
    let fabric = fabric(&order.garment.fabric)?;
    let settings = RecordSettings::default().with(|s| {
        s.fps = order.motion.fps;
        s.solver.wind = order.wind.as_dvec3();
    });
    check_clip(&order.body, &order.motion, &settings)?;
    let recorder = Recorder::new(&order.body, &order.garment).settings(settings);
    let mut recorder = recorder.on_frame(|at| {
        order.done.store(at.done, Ordering::Relaxed);
        if order.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Ok(recorder.record(&fabric, &order.motion)?)
}
