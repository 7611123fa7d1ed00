//! What others may ask of a server beside the load, all at once: pages that no index finds, messages of megabytes, jobs for workers that do not
//! stay to take them. None of it may keep the load from going on, nor be answered by anything but success, "try again" or "that took too long".

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;

use serde_json::json;

use super::http::{Connection, Reply, Request};
use super::process;
use super::random::Random;

/// How many ask at once.
const CALLERS: usize = 24;
/// Two of these take what a tick may have.
const LARGE_BYTES: usize = 3 << 20;

/// What was done, in words.
pub(super) fn lay(doors: &[SocketAddr], number: usize, random: &mut Random) -> Result<String, String> {
    match number % 3 {
        0 => leave(doors, random),
        1 => {
            let filter = json!({ "filter": { "value": { "$like": "*nobody has this*" } } }).to_string();
            ask_all(doors, "/v2/variables/search", |_| filter.clone(), &[200, 503, 504])
        }
        _ => {
            let text = "x".repeat(LARGE_BYTES);
            // Nobody waits for them, and they are kept for a moment.
            let message = |caller| json!({ "name": "large", "correlationKey": format!("k{caller}"), "timeToLive": 1_000, "variables": { "text": text } });
            ask_all(doors, "/v2/messages/publication", |caller| message(caller).to_string(), &[200, 503])
        }
    }
}

/// All at once; each is to be told one of these.
fn ask_all(doors: &[SocketAddr], path: &str, body: impl Fn(usize) -> String + Sync, expected: &[u16]) -> Result<String, String> {
    let told = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (told, body) = (&told, &body);
            scope.spawn(move || {
                let reply = Connection::default().send(doors[caller % doors.len()], &Request::post(path, &body(caller)));
                told.lock().expect("no caller panics").push(reply);
            });
        }
    });
    let told = told.into_inner().expect("no caller panics");
    let good = |reply: &&Reply| matches!(reply, Reply::Answer { status: 200, .. });
    let unexpected = told.iter().find(|reply| !matches!(reply, Reply::Answer { status, .. } if expected.contains(status)));
    match unexpected {
        Some(reply) => Err(format!("{path} was told {reply:?}")),
        None => Ok(format!("{} of {CALLERS} at once to {path} went well", told.iter().filter(good).count())),
    }
}

/// Workers ask for jobs and are gone before there is an answer.
fn leave(doors: &[SocketAddr], random: &mut Random) -> Result<String, String> {
    for caller in 0..CALLERS {
        let kind = process::ALL[random.below(process::ALL.len())].0;
        let body = json!({ "type": kind, "worker": "gone", "timeout": 1_500, "maxJobsToActivate": 3, "requestTimeout": 10_000 });
        let (body, to) = (body.to_string(), doors[caller % doors.len()]);
        let head = format!(
            "POST /v2/jobs/activation HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(to).map_err(|error| format!("{to}: {error}"))?;
        stream.write_all((head + &body).as_bytes()).map_err(|error| format!("{to}: {error}"))?;
    }
    Ok(format!("{CALLERS} workers asked for jobs and went"))
}
