//! `cargo xtask models PATH [--as-executable]`: what becomes of BPMN files that others drew.
//!
//! Every `.bpmn` and `.bpmn20.xml` below PATH is compiled. Printed: how many compile, how many are refused, the reasons by how often they
//! come first, and the slowest file. Bad is only what must never be: a panic, or a file that takes too long.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A file that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// As deep as folders are looked into.
const DEPTH_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    AsWritten,
    /// Processes that say they are not executable are compiled all the same.
    AsExecutable,
}

enum Outcome {
    Compiled(usize),
    Refused(String),
    Panicked,
    TooLong,
}

/// True if nothing panicked and nothing hung.
#[allow(clippy::print_stdout, reason = "a command prints its result")]
pub(crate) fn run(path: &str, reading: Reading) -> Result<bool, String> {
    let mut files = Vec::new();
    collect(Path::new(path), 0, &mut files)?;
    files.sort();
    let (mut compiled, mut processes, mut refused, mut bad) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, (usize, PathBuf)> = BTreeMap::new();
    let mut slowest = (Duration::ZERO, PathBuf::new());
    for file in &files {
        let content = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let begin = Instant::now();
        let outcome = compile(prepared(content, reading));
        slowest = slowest.max((begin.elapsed(), file.clone()));
        match outcome {
            Outcome::Compiled(count) => {
                compiled += 1;
                processes += count;
            }
            Outcome::Refused(reason) => {
                refused += 1;
                reasons.entry(kind(&reason)).or_insert((0, file.clone())).0 += 1;
            }
            Outcome::Panicked | Outcome::TooLong => {
                bad += 1;
                let what = if matches!(outcome, Outcome::Panicked) { "panicked" } else { "took too long" };
                println!("{what}: {}", file.display());
            }
        }
    }
    println!("{} files: {compiled} compiled ({processes} processes), {refused} refused, {bad} panicked or hung", files.len());
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (reason, (count, example)) in reasons {
        println!("{count:>6}  {reason}    ({})", example.strip_prefix(path).unwrap_or(&example).display());
    }
    println!("slowest: {:?} {}", slowest.0, slowest.1.display());
    Ok(bad == 0)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if kind.is_dir() && depth < DEPTH_MAX {
            collect(&path, depth + 1, files)?;
        } else if kind.is_file() && (name.ends_with(".bpmn") || name.ends_with(".bpmn20.xml")) {
            files.push(path);
        }
    }
    Ok(())
}

fn prepared(content: Vec<u8>, reading: Reading) -> Vec<u8> {
    match (reading, String::from_utf8(content)) {
        (Reading::AsExecutable, Ok(text)) => text.replace("isExecutable=\"false\"", "isExecutable=\"true\"").into_bytes(),
        (Reading::AsWritten, Ok(text)) => text.into_bytes(),
        (_, Err(other)) => other.into_bytes(),
    }
}

/// On a thread of its own, so that what hangs is left behind.
fn compile(content: Vec<u8>) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let outcome = match catch_unwind(|| compile::bpmn(&content)) {
            Ok(Ok(compiled)) => Outcome::Compiled(compiled.processes.len()),
            Ok(Err(diagnostics)) => Outcome::Refused(diagnostics.first().map(|first| first.reason.clone()).unwrap_or_default()),
            Err(_) => Outcome::Panicked,
        };
        // Nobody listens any more if it took too long.
        drop(sender.send(outcome));
    });
    receiver.recv_timeout(PATIENCE).unwrap_or(Outcome::TooLong)
}

/// The reason without what it quotes, so that alike ones are counted together; what an extension or element is called stays.
fn kind(reason: &str) -> String {
    if reason.starts_with("there is no extension") || reason.starts_with("BPMN has no element") {
        return reason.to_owned();
    }
    let mut kind = String::new();
    for (n, part) in reason.split('\'').enumerate() {
        kind.push_str(if n % 2 == 0 { part } else { "'…'" });
    }
    let digits = |c: char| c.is_ascii_digit();
    let mut parts = kind.split(digits).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kind, part| kind + "#" + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_alike_whatever_they_quote() {
        assert_eq!(kind("user task 'a1' is not supported yet"), kind("user task 'b' is not supported yet"));
        assert_eq!(kind("line 1, column 14: no"), kind("line 20, column 3: no"));
        assert_ne!(kind("there is no extension 'zeebe:a'"), kind("there is no extension 'zeebe:b'"));
    }

    #[test]
    fn what_is_not_executable_can_be_read_as_if_it_were() {
        let drawn = br#"<process id="p" isExecutable="false"/>"#.to_vec();
        assert_eq!(prepared(drawn.clone(), Reading::AsWritten), drawn);
        assert_eq!(prepared(drawn, Reading::AsExecutable), br#"<process id="p" isExecutable="true"/>"#);
    }
}
