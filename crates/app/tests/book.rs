//! The book's first hour, as a reader types it: every `sh` block is run, in one shell, against one server; a `text` block after it is what
//! they see, with `KEY`, `TIME` and `ADDRESS` for what differs every time.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod server;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use server::Server;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BETWEEN: &str = "---- next block ----";

struct Block {
    language: String,
    text: String,
}

#[test]
fn the_first_hour_goes_as_it_is_written() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/first-hour.md")).unwrap();
    let blocks = blocks(&page);
    let commands: Vec<&Block> = blocks.iter().filter(|block| block.language == "sh").collect();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(std::fs::canonicalize(format!("{ROOT}/examples")).unwrap(), folder.path().join("examples"))
        .unwrap();
    let server = Server::start(&format!("sqlite:{}", folder.path().join("data").display()));
    let script = commands.iter().map(|block| format!("{}echo '{BETWEEN}'\n", block.text)).collect::<String>();
    let script = format!("set -e\ncaudal() {{ '{}' \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_caudal"));
    let script = script.replace("http://127.0.0.1:8080", &server.url());
    let run =
        Command::new("sh").args(["-c", &script]).current_dir(folder.path()).env("CAUDAL_URL", server.url()).output().unwrap();
    let (out, err) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{out}\n{err}");
    let seen: Vec<&str> = out.split(BETWEEN).collect();
    let mut at = 0;
    for pair in blocks.windows(2) {
        let [block, next] = pair else { unreachable!("windows of two") };
        if block.language == "sh" {
            if next.language == "text" {
                assert_eq!(plain(seen[at]), plain(&next.text), "after:\n{}", block.text);
            }
            at += 1;
        }
    }
    assert!(8 < commands.len() && blocks.iter().any(|block| block.language == "text"), "the page has examples");
}

/// Fenced blocks of a page, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (open.as_mut(), line.strip_prefix("```")) {
            (None, Some(language)) => open = Some(Block { language: language.to_owned(), text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}

/// What is left to compare: words, with names for those that differ every time.
fn plain(text: &str) -> Vec<String> {
    let name = |word: &str| {
        let is_number = 12 < word.len() && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = word.ends_with('Z') && word.contains("T") && word.starts_with("20");
        match word {
            _ if is_number => "KEY".to_owned(),
            _ if is_time => "TIME".to_owned(),
            _ if word.starts_with("127.0.0.1:") => "ADDRESS".to_owned(),
            word => word.to_owned(),
        }
    };
    text.split_whitespace().map(name).collect()
}

#[test]
fn the_bare_address_leads_to_the_docs() {
    let server = Server::start("memory:");
    let mut stream = TcpStream::connect(server.rest).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.rest).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 307") && answer.contains("location: docs\r\n"), "{answer}");
}
