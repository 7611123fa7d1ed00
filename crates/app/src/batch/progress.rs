//! How far an operation has come: one line that changes while it goes on, on standard error; the end on standard output.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::Value;

use crate::cli::Remote;
use crate::client::{get, show, text};
use crate::table::print;

/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(200);

/// Characters of the bar.
const BAR: usize = 20;

/// How often in a row nobody may answer: a server that starts again is back by then.
const MISSES_MAX: u32 = 150;

/// Until it has ended, or stands still. Fails if something of it has failed.
pub(super) fn follow(remote: &Remote, key: &str) -> Result<(), String> {
    let path = format!("/v2/batch-operations/{key}");
    let is_shown = std::io::stderr().is_terminal() && !remote.json;
    let mut misses = 0;
    loop {
        let batch = match get(remote, &path) {
            Ok(batch) => batch,
            Err(failed) if failed.may_pass() && misses < MISSES_MAX => {
                misses += 1;
                std::thread::sleep(EVERY);
                continue;
            }
            Err(failed) => return Err(failed.into()),
        };
        misses = 0;
        if is_shown {
            eprint!("\r{:<78}", line(&batch));
            let _closed_is_fine = std::io::stderr().flush();
        }
        if !matches!(batch["state"].as_str(), Some("CREATED" | "ACTIVE")) {
            if is_shown {
                eprintln!();
            }
            return end(remote, key, &batch);
        }
        std::thread::sleep(EVERY);
    }
}

fn end(remote: &Remote, key: &str, batch: &Value) -> Result<(), String> {
    match remote.json {
        true => show(batch)?,
        false => print(&format!("{key} {}\n", line(batch))),
    }
    outcome(key, batch)
}

fn outcome(key: &str, batch: &Value) -> Result<(), String> {
    if batch["state"] == "FAILED" {
        return Err(format!("batch operation {key} has failed: {}", text(&batch["errors"][0]["message"])));
    }
    match batch["operationsFailedCount"].as_u64() {
        Some(0) | None => Ok(()),
        Some(failed) => Err(format!("{failed} failed: see `caudal batch items {key} --state failed`")),
    }
}

fn line(batch: &Value) -> String {
    let count = |name: &str| batch[name].as_u64().unwrap_or(0);
    let [total, done, failed] = ["operationsTotalCount", "operationsCompletedCount", "operationsFailedCount"].map(count);
    let share = (done + failed) * 100 / total.max(1);
    let state = text(&batch["state"]).to_lowercase();
    match state.as_str() {
        "created" => "looking for what is meant".to_owned(),
        "active" => format!("[{}] {share:>3} %  {done} of {total} done, {failed} failed", bar(share)),
        _ => format!("{state}: {done} of {total} done, {failed} failed"),
    }
}

/// So much of all, in percent.
fn bar(share: u64) -> String {
    let done = (share.min(100) as usize * BAR) / 100;
    format!("{}{}", "#".repeat(done), ".".repeat(BAR - done))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn it_says_how_far_it_has_come() {
        let at = |state: &str, total: u64, done: u64, failed: u64| {
            super::line(&json!({
                "state": state, "operationsTotalCount": total, "operationsCompletedCount": done, "operationsFailedCount": failed,
            }))
        };
        assert_eq!(at("CREATED", 0, 0, 0), "looking for what is meant");
        assert_eq!(at("ACTIVE", 200, 48, 2), "[#####...............]  25 %  48 of 200 done, 2 failed");
        assert_eq!(at("COMPLETED", 0, 0, 0), "completed: 0 of 0 done, 0 failed");
    }

    #[test]
    fn one_that_has_failed_says_why() {
        let failed = json!({"state": "FAILED", "operationsFailedCount": 0, "errors": [{"message": "a search takes too long"}]});
        assert_eq!(super::outcome("7", &failed), Err("batch operation 7 has failed: a search takes too long".to_owned()));
        assert_eq!(super::outcome("7", &json!({"state": "COMPLETED", "operationsFailedCount": 0})), Ok(()));
        assert!(super::outcome("7", &json!({"state": "COMPLETED", "operationsFailedCount": 2})).is_err());
    }
}
