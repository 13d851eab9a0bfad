//! A screen that nobody looks at: Xvfb, with what a desktop does to windows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask,
    ImageFormat, PropMode, SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

pub struct Screen {
    server: Child,
    display: String,
    x: RustConnection,
    root: Window,
}

/// What is seen of a window.
pub struct Seen {
    width: u32,
    height: u32,
    /// Blue, green, red and nothing, row by row.
    pixels: Vec<u8>,
}

impl Screen {
    /// Starts a server of its own; says why the test is left out where there is none.
    pub fn open() -> Option<Self> {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            eprintln!("!! SKIPPED: no window was opened: Xvfb is missing (sudo apt-get install -y xvfb)");
            return None;
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take()?).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let (x, screen) = x11rb::connect(Some(&display)).unwrap();
        let root = x.setup().roots[screen].root;
        Some(Self { server, display, x, root })
    }

    pub fn display(&self) -> &str {
        &self.display
    }

    /// Starts a program on this screen.
    pub fn start(&self, mut program: Command) -> Child {
        program.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY").spawn().unwrap()
    }

    /// The window whose title begins so, once it is there.
    pub fn window(&self, title: &str, patience: Duration) -> Window {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            let children = self.x.query_tree(self.root).unwrap().reply().unwrap().children;
            for child in children {
                let name = self.x.get_property(false, child, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 64);
                let Ok(name) = name.unwrap().reply() else { continue };
                if name.value.starts_with(title.as_bytes()) {
                    return child;
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("no window `{title}` came up");
    }

    /// What the window shows now; `None` while it is not there in full.
    pub fn see(&self, window: Window) -> Option<Seen> {
        let size = self.x.get_geometry(window).ok()?.reply().ok()?;
        let image = self.x.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, size.width, size.height, !0);
        let pixels = image.ok()?.reply().ok()?.data;
        Some(Seen { width: size.width.into(), height: size.height.into(), pixels })
    }

    /// Looks until what is seen is right.
    pub fn wait_for(&self, window: Window, patience: Duration, right: impl Fn(&Seen) -> bool) -> Seen {
        let until = Instant::now() + patience;
        loop {
            match self.see(window) {
                Some(seen) if right(&seen) => return seen,
                seen if Instant::now() > until => {
                    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("window-last-seen.png");
                    seen.iter().for_each(|seen| seen.write(&place));
                    panic!("not seen in {patience:?}; what is there: {}", place.display());
                }
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// What is seen once it changes no more.
    pub fn settled(&self, window: Window) -> Seen {
        let mut before = self.wait_for(window, Duration::from_secs(10), |_| true);
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(250));
            let now = self.wait_for(window, Duration::from_secs(10), |_| true);
            if now.differs_from(&before) == 0 {
                return now;
            }
            before = now;
        }
        before
    }

    /// Gives the window the keyboard: there is no window manager that would.
    pub fn focus(&self, window: Window) {
        let focus = x11rb::protocol::xproto::InputFocus::PARENT;
        self.x.set_input_focus(focus, window, x11rb::CURRENT_TIME).unwrap();
        self.x.flush().unwrap();
        std::thread::sleep(Duration::from_millis(500));
    }

    /// Presses and lets go of a key, by the name of its symbol.
    pub fn key(&self, name: &str) {
        let symbol = match name {
            "space" => 0x20,
            "Right" => 0xff53,
            "F12" => 0xffc9,
            letter => u32::from(letter.as_bytes()[0]),
        };
        let setup = self.x.setup();
        let (low, high) = (setup.min_keycode, setup.max_keycode);
        let map = self.x.get_keyboard_mapping(low, high - low + 1).unwrap().reply().unwrap();
        let per = usize::from(map.keysyms_per_keycode);
        let at = map.keysyms.chunks(per).position(|s| s.contains(&symbol)).expect("a key for it");
        for kind in [2u8, 3] {
            let code = low + at as u8;
            self.x.xtest_fake_input(kind, code, x11rb::CURRENT_TIME, self.root, 0, 0, 0).unwrap();
        }
        self.x.flush().unwrap();
        std::thread::sleep(Duration::from_millis(60));
    }

    pub fn resize(&self, window: Window, width: u32, height: u32) {
        self.x.configure_window(window, &ConfigureWindowAux::new().width(width).height(height)).unwrap();
        self.x.flush().unwrap();
    }

    /// Asks the window to close, as its cross would.
    pub fn close(&self, window: Window) {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS"), self.atom("WM_DELETE_WINDOW"));
        self.message(window, protocols, [delete, 0, 0, 0, 0]);
    }

    fn atom(&self, name: &str) -> u32 {
        self.x.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    fn message(&self, window: Window, kind: u32, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, window, kind, data);
        self.x.send_event(false, window, EventMask::NO_EVENT, event).unwrap();
        self.x.flush().unwrap();
    }

    /// Drops files on the window as a file manager does (XDND version 5).
    pub fn drop_files(&self, window: Window, files: &[&Path]) {
        let source = self.x.generate_id().unwrap();
        let class = WindowClass::INPUT_OUTPUT;
        let made =
            self.x.create_window(0, source, self.root, 0, 0, 1, 1, 0, class, 0, &CreateWindowAux::new());
        made.unwrap();
        let selection = self.atom("XdndSelection");
        let uris = self.atom("text/uri-list");
        self.x.set_selection_owner(source, selection, x11rb::CURRENT_TIME).unwrap();
        self.message(window, self.atom("XdndEnter"), [source, 5 << 24, uris, 0, 0]);
        self.message(
            window,
            self.atom("XdndPosition"),
            [source, 0, (100 << 16) | 100, 0, self.atom("XdndActionCopy")],
        );
        let list: String = files.iter().map(|f| format!("file://{}\r\n", f.display())).collect();
        let (status, finished) = (self.atom("XdndStatus"), self.atom("XdndFinished"));
        let until = Instant::now() + Duration::from_secs(10);
        let mut dropped = false;
        while Instant::now() < until {
            match self.x.poll_for_event().unwrap() {
                Some(Event::SelectionRequest(ask)) => {
                    self.x
                        .change_property8(
                            PropMode::REPLACE,
                            ask.requestor,
                            ask.property,
                            uris,
                            list.as_bytes(),
                        )
                        .unwrap();
                    let answer = SelectionNotifyEvent {
                        response_type: 31,
                        sequence: 0,
                        time: ask.time,
                        requestor: ask.requestor,
                        selection: ask.selection,
                        target: ask.target,
                        property: ask.property,
                    };
                    self.x.send_event(false, ask.requestor, EventMask::NO_EVENT, answer).unwrap();
                    self.x.flush().unwrap();
                }
                Some(Event::ClientMessage(m)) if m.type_ == status && !dropped => {
                    dropped = true;
                    self.message(window, self.atom("XdndDrop"), [source, 0, x11rb::CURRENT_TIME, 0, 0]);
                }
                Some(Event::ClientMessage(m)) if m.type_ == finished => return,
                Some(_) => {}
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        panic!("the window did not take what was dropped (asked for it: {dropped})");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Seen {
    fn colours(&self) -> impl Iterator<Item = [u8; 3]> + '_ {
        self.pixels.as_chunks::<4>().0.iter().map(|[b, g, r, _]| [*r, *g, *b])
    }

    /// Pixels of this colour.
    pub fn count(&self, colour: [u8; 3]) -> usize {
        self.colours().filter(|c| *c == colour).count()
    }

    /// Pixels that are not the same in both.
    pub fn differs_from(&self, other: &Self) -> usize {
        let changed = self.colours().zip(other.colours()).filter(|(a, b)| a != b).count();
        changed + self.pixels.len().abs_diff(other.pixels.len()) / 4
    }

    /// Whether a figure stands there: many colours, not one surface.
    pub fn is_a_picture(&self) -> bool {
        let colours: std::collections::HashSet<[u8; 3]> = self.colours().collect();
        colours.len() > 500
    }

    pub fn write(&self, path: &Path) {
        let rgb: Vec<u8> = self.colours().flatten().collect();
        let file = std::fs::File::create(path).unwrap();
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(&rgb).unwrap();
    }
}
