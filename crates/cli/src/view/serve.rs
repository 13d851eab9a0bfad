//! The viewer's page, served to this machine and no other.

use super::Args;
use crate::resolve::BadRequest;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Longer requests are not from a browser.
const MOST_REQUEST: u64 = 16 << 10;

pub fn run(args: &Args) -> Result<()> {
    if !args.address.is_loopback() {
        return Err(BadRequest(format!(
            "--address {}: the page is served to this machine only, at 127.0.0.1 or ::1",
            args.address
        ))
        .into());
    }
    if !args.files.is_empty() {
        return Err(BadRequest("files are opened on the page itself: drop them there".into()).into());
    }
    let folder = folder(args)?;
    let listener = TcpListener::bind((args.address, args.port))
        .map_err(|e| BadRequest(format!("port {} cannot be had: {e}", args.port)))?;
    let place = listener.local_addr()?;
    println!("http://{place}/   ({}; Ctrl-C ends it)", folder.display());
    for stream in listener.incoming() {
        let (Ok(stream), folder) = (stream, folder.clone()) else { continue };
        std::thread::spawn(move || {
            // A browser that goes away in the middle is no fault of ours.
            let _ = answer(stream, &folder);
        });
    }
    Ok(())
}

/// The page as it was built: named, beside the program, or in the build folder of this checkout.
pub fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let beside = program.parent()?;
    [beside.join("web"), beside.join("../web")].into_iter().find(|folder| folder.join("index.html").is_file())
}

fn folder(args: &Args) -> Result<PathBuf> {
    let named = args.folder.clone().or_else(built);
    let folder = named.filter(|f| f.join("index.html").is_file()).ok_or_else(|| {
        BadRequest(
            "the page is not built here: run `cargo xtask web` and name its folder with --folder".into(),
        )
    })?;
    folder.canonicalize().with_context(|| folder.display().to_string())
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new((&stream).take(MOST_REQUEST)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut host = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((_, name)) = line.split_once(':').filter(|(k, _)| k.eq_ignore_ascii_case("host")) {
            host = name.trim().to_string();
        }
    }
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
    // A name of another site that leads here is a trap, not a visit.
    if !is_ours(&host) {
        return reply(&mut stream, "403 Forbidden", "text/plain", b"only this machine is served\n", true);
    }
    if method != "GET" && method != "HEAD" {
        return reply(&mut stream, "405 Method Not Allowed", "text/plain", b"", true);
    }
    match file(folder, path).and_then(|file| Some((std::fs::read(&file).ok()?, file))) {
        Some((bytes, file)) => reply(&mut stream, "200 OK", kind(&file), &bytes, method == "GET"),
        None => reply(&mut stream, "404 Not Found", "text/plain", b"there is no such file\n", true),
    }
}

fn is_ours(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

/// The file of the folder that a request means; nothing above the folder.
fn file(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = path.split(['?', '#']).next()?.trim_start_matches('/');
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let plain = path.components().all(|c| matches!(c, Component::Normal(_)));
    let file = plain.then(|| folder.join(path))?.canonicalize().ok()?;
    (file.starts_with(folder) && file.is_file()).then_some(file)
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("css") => "text/css",
        _ => "application/octet-stream",
    }
}

fn reply(stream: &mut TcpStream, status: &str, kind: &str, bytes: &[u8], body: bool) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        bytes.len()
    )?;
    if body {
        stream.write_all(bytes)?;
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_above_the_folder_is_given_and_no_other_name_is_answered() {
        let folder = std::env::temp_dir().join(format!("toile-serve-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("pkg")).unwrap();
        std::fs::write(folder.join("index.html"), "hello").unwrap();
        let folder = folder.canonicalize().unwrap();
        assert!(file(&folder, "/").is_some() && file(&folder, "/index.html?x=1").is_some());
        for path in ["/../Cargo.toml", "/pkg/../../etc/passwd", "//etc/passwd", "/pkg", "/missing"] {
            assert_eq!(file(&folder, path), None, "{path}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(is_ours("localhost:8080") && is_ours("127.0.0.1") && is_ours("[::1]:80"));
        assert!(!is_ours("evil.example:80") && !is_ours("127.0.0.1.evil.example") && !is_ours(""));
    }
}
