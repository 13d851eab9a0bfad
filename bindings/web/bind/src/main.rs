//! Writes what a page needs to call a module: `toile-web-bind MODULE.wasm FOLDER`.

use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(module), Some(folder)) = (args.next(), args.next()) else {
        anyhow::bail!("wants a module and a folder");
    };
    // A plain script: pages opened from the disk load no modules, and reports carry it in themselves.
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("toile_web").typescript(false);
    bindgen.no_modules(true)?.generate(folder)
}
