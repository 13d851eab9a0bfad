//! The viewer in a report, where it has been built and the page stays small enough to send.

use crate::view::serve;
use toile_assets::Model;
use toile_show::{LiveView, Page};

/// The most that a page with a live view may have, bytes.
const MOST_BYTES: usize = 15_000_000;

/// A live view of a learned garment on its mannequin; none where no page has been built, for other bodies, or where it would
/// make a page of so many bytes too large.
pub fn of(model: &Model, body: &str, page_bytes: usize) -> Option<LiveView> {
    let folder = serve::built()?;
    // Other bodies would have to travel with it.
    if !body.starts_with("mannequin:") {
        return None;
    }
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let view = LiveView {
        script: text("pkg/toile_web.js")?,
        page: text("page.js")?,
        module_gz: std::fs::read(folder.join("pkg/toile_web_bg.wasm.gz")).ok()?,
        files: vec![("learned.toile".into(), model.to_bytes())],
    };
    (page_bytes + view.bytes() <= MOST_BYTES).then_some(view)
}

/// Puts it on the page.
pub fn show(page: &mut Page, view: &LiveView) {
    page.section("Live");
    page.paragraph(
        "The learned garment, stepped in your browser by the code that a game links (WebGPU). Drag to turn, wheel to come nearer.",
    );
    page.live(view);
}
