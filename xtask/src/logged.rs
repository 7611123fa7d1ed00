//! Runs a command to its end with its output in a log file, within a time limit.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};

/// Who else sees the output, beside the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    Terminal,
    LogOnly,
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    /// All it printed, both streams.
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Success,
    /// With the words for it: an exit status, or the time limit.
    Failure(String),
}

pub(crate) fn run(command: &mut Command, log: &Path, audience: Audience, limit: Duration) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut file = File::create(log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start(command, Farewell::Terminate).map_err(|error| format!("cannot start {name}: {error}"))?;
    let (lines, received) = channel();
    forward(running.child.stdout.take(), lines.clone());
    forward(running.child.stderr.take(), lines);

    let deadline = Instant::now() + limit;
    let mut text = String::new();
    loop {
        match received.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if audience == Audience::Terminal {
                    print!("{line}");
                }
                file.write_all(line.as_bytes()).ok();
                text.push_str(&line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                running.stop();
                let why = format!("{name} was stopped after {} s", limit.as_secs());
                return Ok(Finished { end: End::Failure(why), text });
            }
        }
    }
    let status = running.wait().map_err(|error| format!("{name}: {error}"))?;
    let end = if status.success() { End::Success } else { End::Failure(format!("{name}: {status}")) };
    Ok(Finished { end, text })
}

/// Runs a command whose failure ends what we are doing.
pub(crate) fn must(command: &mut Command, log: &Path, limit: Duration) -> Result<String, String> {
    let finished = run(command, log, Audience::LogOnly, limit)?;
    match finished.end {
        End::Success => Ok(finished.text),
        End::Failure(why) => Err(format!("{why}\n{}", tail(&finished.text, 30))),
    }
}

/// The last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn forward(stream: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(stream) = stream else { return };
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(stream.read_until(b'\n', &mut line), Ok(1..)) {
            if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
}
