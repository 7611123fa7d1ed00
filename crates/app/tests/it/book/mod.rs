//! Pages of the book, as a reader types them: every `sh` block is run, in one shell for each page, against one server; a `text` block after it is
//! what they see, with `KEY`, `TIME` and `ADDRESS` for what differs every time.

mod commands;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use crate::server::Server;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BETWEEN: &str = "---- next block ----";

const SERVE: &str = "caudal serve";

/// Pages whose `sh` blocks are run, from the root of the source.
const PAGES: [&str; 10] = [
    "README.md",
    "docs/decide.md",
    "docs/dmn.md",
    "docs/first-hour.md",
    "docs/json-workflows.md",
    "docs/messages.md",
    "docs/model-a-process.md",
    "docs/queues.md",
    "docs/test-with-the-clock.md",
    "docs/wait-for-a-time.md",
];

/// Blocks that are run apart from their pages, by how they begin.
const FOLLOWED: [(&str, &str); 6] = [
    ("docs/backup.md", "caudal backup monday.db"),
    ("docs/backup.md", "caudal backup /backups/"),
    ("docs/first-hour.md", "caudal serve\n"),
    ("docs/postgresql.md", "caudal serve --store postgres://caudal:secret@db.example/caudal\n"),
    ("docs/postgresql.md", "caudal serve --store postgres://caudal:secret@pooler"),
    ("docs/test-with-the-clock.md", "caudal serve --store memory: --test-clock"),
];

struct Block {
    language: String,
    text: String,
}

#[test]
fn the_first_hour_goes_as_it_is_written() {
    let blocks = play("docs/first-hour.md");
    let count = |language: &str| blocks.iter().filter(|block| block.language == language).count();
    assert!(8 < count("sh") && 0 < count("text"), "the page has examples");
}

#[test]
fn the_pages_that_tell_how_to_do_something_can_be_followed() {
    for page in PAGES.iter().filter(|page| **page != "docs/first-hour.md") {
        assert!(play(page).iter().any(|block| block.language == "sh"), "{page} has an example that is run");
    }
}

/// Where a page says how to start a server, the settings it shows are taken.
#[test]
fn servers_start_as_it_is_written() {
    for (page, begins) in FOLLOWED.iter().filter(|(_, begins)| begins.starts_with(SERVE)) {
        let text = std::fs::read_to_string(format!("{ROOT}/{page}")).unwrap();
        let block = blocks(&text).into_iter().find(|block| block.text.starts_with(begins)).unwrap();
        let line = block.text.replace("\\\n", " ");
        let words = line.strip_prefix(SERVE).unwrap().split_whitespace();
        let words: Vec<&str> = ["config", "--check"].into_iter().chain(words).collect();
        let checked = crate::server::caudal(&words);
        assert_eq!(checked.code, Some(0), "{page}: {line}\n{}", checked.err);
    }
}

/// What an operator does to the server that runs, wherever backups are kept.
#[test]
fn a_backup_is_made_as_it_is_written() {
    for (page, begins) in FOLLOWED.iter().filter(|(_, begins)| !begins.starts_with(SERVE)) {
        let text = std::fs::read_to_string(format!("{ROOT}/{page}")).unwrap();
        let block = blocks(&text).into_iter().find(|block| block.text.starts_with(begins)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let script = block.text.replace("/backups", &folder.path().display().to_string());
        run(page, &[&script], folder.path());
        let made = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        assert!(made.filter(|path| path.extension().is_some_and(|end| end == "db")).count() == 1, "{page}: {begins}");
    }
}

/// The settings of the page are taken as they stand, and its table of the message is that of the file workers are made from.
#[cfg(feature = "kafka")]
#[test]
fn the_page_about_kafka_says_what_is_so() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/kafka.md")).unwrap();
    let settings: Vec<Block> = blocks(&page).into_iter().filter(|block| block.language == "toml").collect();
    assert_eq!(settings.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    for block in settings {
        let file = folder.path().join("caudal.toml");
        std::fs::write(&file, &block.text).unwrap();
        let data = format!("sqlite:{}", folder.path().display());
        let words = ["config", "--check", "--store", &data, "--config", file.to_str().unwrap()];
        let checked = crate::server::caudal(&words);
        assert_eq!(checked.code, Some(0), "{}\n{}", block.text, checked.err);
    }
    let proto = std::fs::read_to_string(format!("{ROOT}/sdks/proto/dispatch.proto")).unwrap();
    let fields = proto.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "));
    let fields = fields.filter_map(|(field, number)| {
        let (kind, name) = field.split_once(' ')?;
        (kind != "option").then(|| format!("| {number} | `{name}` | {kind} |"))
    });
    let fields: Vec<String> = fields.collect();
    assert!(fields.contains(&"| 21 | `lease` | uint32 |".to_owned()), "{fields:?}");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit()).collect();
    assert_eq!(rows.len(), fields.len());
    assert!(rows.iter().zip(&fields).all(|(row, field)| row.starts_with(field)), "{rows:#?}\n{fields:#?}");
}

/// Plays what a page says, and compares what is seen with what it says is seen.
fn play(page: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(format!("{ROOT}/{page}")).unwrap();
    let blocks = blocks(&text);
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in blocks.iter().filter_map(file) {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let commands: Vec<&str> = blocks.iter().filter(|block| block.language == "sh").map(|block| block.text.as_str()).collect();
    let out = run(page, &commands, folder.path());
    let seen: Vec<&str> = out.split(BETWEEN).collect();
    let mut at = 0;
    for pair in blocks.windows(2) {
        let [block, next] = pair else { unreachable!("windows of two") };
        if block.language == "sh" {
            if next.language == "text" {
                assert_eq!(plain(seen[at]), plain(&next.text), "{page}, after:\n{}", block.text);
            }
            at += 1;
        }
    }
    blocks
}

/// Runs commands in one shell in a folder, against a server of their own; gives what they print, with a line between two.
fn run(page: &str, commands: &[&str], folder: &Path) -> String {
    std::os::unix::fs::symlink(std::fs::canonicalize(format!("{ROOT}/examples")).unwrap(), folder.join("examples")).unwrap();
    let server = Server::start_with(&format!("sqlite:{}", folder.join("data").display()), &["--test-clock"]);
    let script = commands.iter().map(|text| format!("{text}echo '{BETWEEN}'\n")).collect::<String>();
    let script = format!("set -e\ncaudal() {{ '{}' \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_caudal"));
    let script = script.replace("http://127.0.0.1:8080", &server.url());
    let run = Command::new("sh").args(["-c", &script]).current_dir(folder).env("CAUDAL_URL", server.url()).output().unwrap();
    let (out, err) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{page}\n{out}\n{err}");
    out
}

/// A block of XML or YAML that begins with the name of a file is that file.
fn file(block: &Block) -> Option<(&str, &str)> {
    let (first, rest) = block.text.split_once('\n')?;
    let name = match block.language.as_str() {
        "xml" => first.strip_prefix("<!-- ")?.strip_suffix(" -->")?,
        "yaml" => first.strip_prefix("# ")?,
        _ => return None,
    };
    Some((name, rest))
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
