//! The committed header is what cbindgen makes of the source.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut made = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("the crate parses")
        .write(&mut made);
    // What Rust calls safety, C calls preconditions.
    let made = String::from_utf8(made).expect("UTF-8").replace("\n # Safety\n ", "\n Preconditions: ");
    assert!(made.contains(&format!("#define TOILE_ABI_VERSION {}\n", toile_c::TOILE_ABI_VERSION)));
    let path = root.join("include/toile.h");
    if std::env::var_os("TOILE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "bindings/c/include/toile.h is not what the source says; write it anew with\n  \
         TOILE_WRITE_HEADER=1 cargo test -p toile-c --test header"
    );
}
