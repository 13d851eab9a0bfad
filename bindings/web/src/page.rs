//! What the page calls.

use js_sys::Function;
use std::cell::RefCell;
use toile_assets::disk;
use toile_show::view::{Kept, Shell, Viewer, Wake};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};
use web_sys::HtmlCanvasElement;
use winit::event_loop::{EventLoop, EventLoopProxy};
use winit::platform::web::{EventLoopExtWebSys, WindowAttributesExtWebSys};
use winit::window::Window;

thread_local! {
    static PROXY: RefCell<Option<EventLoopProxy<Wake>>> = const { RefCell::new(None) };
    static FAILED: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Tells the page, in words, why there is no viewer any more.
fn fail(why: &str) {
    FAILED.with_borrow(|failed| {
        if let Some(failed) = failed {
            drop(failed.call1(&JsValue::NULL, &JsValue::from_str(why)));
        }
    });
}

/// Opens the viewer on a canvas. `failed` is told in words where there is no device; `keep` is called when the user wants a
/// picture of the canvas. What was handed over and is named in `files` is opened at once.
#[wasm_bindgen]
pub fn start(
    canvas: HtmlCanvasElement,
    files: Vec<String>,
    failed: Function,
    keep: Function,
    narrow: bool,
) -> Result<(), JsError> {
    FAILED.set(Some(failed));
    std::panic::set_hook(Box::new(|panic| fail(&panic.to_string())));
    let events = EventLoop::<Wake>::with_user_event().build()?;
    PROXY.with_borrow_mut(|proxy| *proxy = Some(events.create_proxy()));
    let mut viewer = Viewer::new().map_err(|e| JsError::new(&e))?;
    viewer.open(&files);
    viewer.showing.panel = !narrow;
    let attributes = Window::default_attributes().with_canvas(Some(canvas)).with_append(false);
    let shell = Shell::new(
        viewer,
        Box::new(move |kept| match kept {
            Kept::Canvas => {
                let _ = keep.call0(&JsValue::NULL);
                Ok("the picture is in your downloads".into())
            }
            _ => Err("films are recorded in the window: toile view".into()),
        }),
        attributes,
        &events,
    );
    events.spawn_app(shell.telling(Box::new(|error| fail(&error.to_string()))));
    Ok(())
}

/// Hands a file over under a name, for `open` or for files that name it.
#[wasm_bindgen]
pub fn hand_over(name: &str, bytes: &[u8]) {
    disk::hand_over(name, bytes);
}

/// Opens what was handed over.
#[wasm_bindgen]
pub fn open(names: Vec<String>) {
    PROXY.with_borrow(|proxy| {
        if let Some(proxy) = proxy {
            let _ = proxy.send_event(Wake::Open(names));
        }
    });
}
