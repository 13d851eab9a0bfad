//! A live view in a page: the viewer itself, carried in the file and started when the reader asks for it.

use super::{Page, base64};
use std::fmt::Write as _;

/// The viewer as `cargo xtask web` builds it, and what it shows.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    /// The script that calls the module.
    pub script: String,
    /// The script around it.
    pub page: String,
    /// The module, packed by gzip.
    pub module_gz: Vec<u8>,
    /// Files to open, by name.
    pub files: Vec<(String, Vec<u8>)>,
}

impl LiveView {
    /// Bytes that it adds to a page.
    pub fn bytes(&self) -> usize {
        let packed: usize = self.module_gz.len() + self.files.iter().map(|f| f.1.len()).sum::<usize>();
        packed.div_ceil(3) * 4 + self.script.len() + self.page.len()
    }
}

impl Page {
    /// A stage that starts when asked: nothing is unpacked before, and a browser without WebGPU says so then.
    pub fn live(&mut self, view: &LiveView) -> &mut Self {
        self.body.push_str(
            "<div id=\"stage\" class=\"live\"><canvas id=\"canvas\" tabindex=\"0\"></canvas><div id=\"say\"><div>\
             <button id=\"start\">look around</button></div></div></div>\n",
        );
        let _ = writeln!(
            self.body,
            "<script type=\"text/plain\" id=\"live-module\">{}</script>",
            base64::encode(&view.module_gz)
        );
        for (name, bytes) in &view.files {
            let _ = writeln!(
                self.body,
                "<script type=\"text/plain\" class=\"live-file\" data-name=\"{}\">{}</script>",
                super::escape(name),
                base64::encode(bytes)
            );
        }
        // A script ends where its text says so, whatever it means there.
        let script = |text: &str| text.replace("</script", "<\\/script");
        let _ =
            writeln!(self.body, "<script>{}\n{}\n{START}</script>", script(&view.script), script(&view.page));
        self
    }
}

/// Unpacks and starts.
const START: &str = r#"
document.getElementById("start").addEventListener("click", async () => {
  const say = document.getElementById("say").firstElementChild;
  say.textContent = "unpacking …";
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const packed = new Blob([bytes(document.getElementById("live-module").textContent)]);
  const module = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  const wasm = new Response(module).arrayBuffer();
  const files = [...document.querySelectorAll(".live-file")].map((e) => ({ name: e.dataset.name, bytes: bytes(e.textContent) }));
  await toile_page({ wasm, files });
});
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_view_is_in_the_page_and_nothing_is_fetched() {
        let view = LiveView {
            script: "let x = '</script>';".into(),
            page: "function toile_page() {}".into(),
            module_gz: vec![1, 2, 3, 4],
            files: vec![("a \"b\".toile".into(), vec![5; 10])],
        };
        let mut page = Page::new("live");
        page.live(&view);
        let html = page.finish();
        assert!(html.contains("<\\/script>") && html.contains("AQIDBA==") && html.contains("look around"));
        assert!(html.contains("data-name=\"a &quot;b&quot;.toile\"") && !html.contains("http"));
        assert!(view.bytes() > 20);
    }
}
