//! The window, or the canvas of a page: the viewer as a winit application.

use super::{Screen, Viewer};
use crate::{Error, Image, Result};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use web_time::Instant;
use winit::application::ApplicationHandler;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowAttributes, WindowId};

/// Frames a second at most where the surface does not wait by itself.
const FASTEST: Duration = Duration::from_millis(8);
/// Files that are dropped together arrive one by one; so long is waited for the next.
const DROPPED_TOGETHER: Duration = Duration::from_millis(60);

/// What a window is woken with from outside.
pub enum Wake {
    /// Files or built-in assets to open.
    Open(Vec<String>),
    /// A fault to say.
    Fault(String),
    /// The device has been found, or not.
    Found,
}

/// What is to be kept of what was seen.
pub enum Kept {
    /// A picture.
    Picture(Image),
    /// Frames of a film, and how many a second.
    Film(Vec<Image>, f32),
    /// The canvas as it is: a page cannot wait for its own device.
    Canvas,
}

/// Keeps a picture or film and says where it is.
pub type Keep = Box<dyn FnMut(Kept) -> std::result::Result<String, String>>;

/// The viewer in a window.
pub struct Shell {
    viewer: Viewer,
    keep: Keep,
    attributes: WindowAttributes,
    proxy: EventLoopProxy<Wake>,
    egui: egui::Context,
    window: Option<Opened>,
    found: Rc<RefCell<Option<Result<Screen>>>>,
    dropped: Vec<String>,
    dropped_at: Option<Instant>,
    last: Option<Instant>,
    title: String,
    failed: Option<Error>,
    restarts: usize,
    quiet: fn() -> Box<dyn Any>,
    tell: Option<Box<dyn Fn(&Error)>>,
}

struct Opened {
    window: Arc<Window>,
    input: egui_winit::State,
    screen: Option<Screen>,
}

impl Shell {
    /// A window that is not open yet.
    pub fn new(viewer: Viewer, keep: Keep, attributes: WindowAttributes, events: &EventLoop<Wake>) -> Self {
        Self {
            viewer,
            keep,
            attributes,
            proxy: events.create_proxy(),
            egui: controls(),
            window: None,
            found: Rc::default(),
            dropped: Vec::new(),
            dropped_at: None,
            last: None,
            title: String::new(),
            failed: None,
            restarts: 0,
            quiet: || Box::new(()),
            tell: None,
        }
    }

    /// Who is told why there is no viewer any more: a page has nobody who waits for it to end.
    #[must_use]
    pub fn telling(mut self, tell: Box<dyn Fn(&Error)>) -> Self {
        self.tell = Some(tell);
        self
    }

    fn fail(&mut self, error: Error, events: &ActiveEventLoop) {
        if let Some(tell) = &self.tell {
            tell(&error);
        }
        self.failed = Some(error);
        events.exit();
    }

    /// Holds on to what `quiet` gives while a driver is looked for: drivers write to standard error.
    #[must_use]
    pub fn quietly(mut self, quiet: fn() -> Box<dyn Any>) -> Self {
        self.quiet = quiet;
        self
    }

    /// Opens the window and comes back when it is closed.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(mut self, events: EventLoop<Wake>) -> Result<()> {
        events.run_app(&mut self).map_err(|e| Error::Window(e.to_string()))?;
        self.failed.map_or(Ok(()), Err)
    }

    /// Looks for a device; on a page that cannot be waited for.
    fn find_device(&self, window: &Arc<Window>, events: &ActiveEventLoop) {
        let _quiet = (self.quiet)();
        let display = Box::new(events.owned_display_handle());
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(display));
        let (found, proxy) = (self.found.clone(), self.proxy.clone());
        let size = window.inner_size();
        let surface = instance.create_surface(window.clone());
        let search = async move {
            let screen = match surface {
                Ok(surface) => Screen::new(&instance, surface, (size.width, size.height)).await,
                Err(e) => Err(Error::NoAdapter(e.to_string())),
            };
            *found.borrow_mut() = Some(screen);
            let _ = proxy.send_event(Wake::Found);
        };
        #[cfg(target_arch = "wasm32")]
        wasm_bindgen_futures::spawn_local(search);
        #[cfg(not(target_arch = "wasm32"))]
        pollster::block_on(search);
    }

    fn found(&mut self, events: &ActiveEventLoop) {
        let Some(found) = self.found.borrow_mut().take() else { return };
        let Some(opened) = &mut self.window else { return };
        match found {
            Ok(mut screen) => {
                // What egui has sent to a device before is not on this one.
                self.egui = controls();
                opened.input = input(&self.egui, &opened.window);
                // The window may have changed while the device was looked for.
                let size = opened.window.inner_size();
                screen.resize(size.width, size.height);
                opened.screen = Some(screen);
                opened.window.request_redraw();
            }
            Err(error) => self.fail(error, events),
        }
    }

    #[allow(clippy::disallowed_methods)] // what is shown goes with the clock
    fn redraw(&mut self, events: &ActiveEventLoop) {
        let now = Instant::now();
        let secs = self.last.map_or(0.0, |last| (now - last).as_secs_f64());
        self.last = Some(now);
        self.open_dropped(now);
        self.viewer.advance(secs);
        let Some(Opened { window, input, screen: Some(screen) }) = &mut self.window else { return };
        if screen.is_lost() {
            self.restarts += 1;
            self.viewer.messages.fault("the graphics device was lost; it is opened again");
            let window = window.clone();
            self.window.iter_mut().for_each(|w| w.screen = None);
            match self.restarts {
                0..=3 => self.find_device(&window, events),
                _ => self.fail(Error::Device("it was lost again and again".into()), events),
            }
            return;
        }
        let told = input.take_egui_input(window);
        let platform = screen.frame(&mut self.viewer, &self.egui, told);
        input.handle_platform_output(window, platform);
        let title = format!("Toile: {}", self.viewer.title());
        if title != self.title {
            window.set_title(&title);
            self.title = title;
        }
        if std::mem::take(&mut self.viewer.wanted.picture) {
            let kept = match cfg!(target_arch = "wasm32") {
                true => (self.keep)(Kept::Canvas),
                false => {
                    screen.picture().map_err(|e| e.to_string()).and_then(|p| (self.keep)(Kept::Picture(p)))
                }
            };
            say(&mut self.viewer, kept);
        }
        let no_film = || Err(Error::Invalid("films are recorded in the window: toile view".into()));
        let frame = || if cfg!(target_arch = "wasm32") { no_film() } else { screen.picture() };
        if let Some((frames, fps)) = self.viewer.film_frame(frame) {
            let kept = (self.keep)(Kept::Film(frames, fps));
            say(&mut self.viewer, kept);
        }
    }

    fn open_dropped(&mut self, now: Instant) {
        if self.dropped_at.is_some_and(|at| now - at >= DROPPED_TOGETHER) {
            self.dropped_at = None;
            let names = std::mem::take(&mut self.dropped);
            self.viewer.open(&names);
        }
    }
}

/// The key of builds for tests that takes the device away, as a driver does that is reset.
#[cfg(debug_assertions)]
fn is_give_up(key: &winit::event::KeyEvent) -> bool {
    use winit::keyboard::{Key, NamedKey};
    key.logical_key == Key::Named(NamedKey::F12) && key.state.is_pressed() && !key.repeat
}

/// Nothing laid out yet.
fn controls() -> egui::Context {
    let egui = egui::Context::default();
    egui.set_theme(egui::Theme::Light);
    egui
}

/// What tells the controls what happens to a window.
fn input(egui: &egui::Context, window: &Window) -> egui_winit::State {
    let scale = Some(window.scale_factor() as f32);
    egui_winit::State::new(egui.clone(), egui::ViewportId::ROOT, window, scale, None, None)
}

fn say(viewer: &mut Viewer, kept: std::result::Result<String, String>) {
    match kept {
        Ok(place) => viewer.messages.say(place),
        Err(why) => viewer.messages.fault(why),
    }
}

impl ApplicationHandler<Wake> for Shell {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.window.is_some() {
            return;
        }
        let window = match events.create_window(self.attributes.clone()) {
            Ok(window) => Arc::new(window),
            Err(e) => return self.fail(Error::Window(e.to_string()), events),
        };
        let input = input(&self.egui, &window);
        self.find_device(&window, events);
        self.window = Some(Opened { window, input, screen: None });
        self.found(events);
    }

    #[allow(clippy::disallowed_methods)] // files that arrive together are opened together
    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(opened) = &mut self.window else { return };
        let heard = opened.input.on_window_event(&opened.window, &event);
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => {
                if let Some(screen) = &mut opened.screen {
                    screen.resize(size.width, size.height);
                }
                opened.window.request_redraw();
            }
            WindowEvent::DroppedFile(path) => {
                self.dropped.push(path.display().to_string());
                self.dropped_at = Some(Instant::now());
                opened.window.request_redraw();
            }
            #[cfg(debug_assertions)]
            WindowEvent::KeyboardInput { event: key, .. } if is_give_up(&key) => {
                opened.screen.iter().for_each(Screen::give_up);
                opened.window.request_redraw();
            }
            WindowEvent::RedrawRequested => self.redraw(events),
            _ if heard.repaint => opened.window.request_redraw(),
            _ => {}
        }
    }

    fn user_event(&mut self, events: &ActiveEventLoop, wake: Wake) {
        match wake {
            Wake::Open(names) => drop(self.viewer.open(&names)),
            Wake::Fault(text) => self.viewer.messages.fault(text),
            Wake::Found => self.found(events),
        }
        if let Some(opened) = &self.window {
            opened.window.request_redraw();
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let (StartCause::ResumeTimeReached { .. }, Some(opened)) = (cause, &self.window) {
            opened.window.request_redraw();
        }
    }

    #[allow(clippy::disallowed_methods)] // when to draw next is a matter of the clock
    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let busy = self.viewer.is_moving() || self.dropped_at.is_some() || self.egui.has_requested_repaint();
        events.set_control_flow(match (busy, self.last) {
            (true, Some(last)) => ControlFlow::WaitUntil((last + FASTEST).max(Instant::now())),
            (true, None) => ControlFlow::Poll,
            (false, _) => ControlFlow::Wait,
        });
    }
}
