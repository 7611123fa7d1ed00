//! Every kind of element is shown in every moment of its life that it can have: entered, left, cancelled while it rests, stuck and freed, and
//! going on when what it waits for comes. Read from the traces as they are written.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::files::Checkout;
use Moment::{Came, Cancelled, Entered, Left, Resolved, Stuck};

const TRACES: &str = "spec/traces";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Entered,
    Left,
    /// The instance is cancelled while it, or a token at it, is there.
    Cancelled,
    Stuck,
    /// A person has resolved its incident.
    Resolved,
    /// What it waits for has come.
    Came,
}

/// What a kind goes through, by its word in the notation. Incidents are those of its own expressions; mappings are the same for all.
#[rustfmt::skip]
const KINDS: [(&str, &[&str], &[Moment]); 35] = [
    ("process", &["process"], &[Entered, Left, Cancelled]),
    ("sub-process", &["subprocess"], &[Entered, Left, Cancelled]),
    ("transaction", &["transaction"], &[Entered, Left, Cancelled]),
    ("event sub-process", &["event-subprocess"], &[Entered, Left, Cancelled]),
    ("ad-hoc sub-process", &["ad-hoc"], &[Entered, Left, Cancelled, Stuck, Resolved]),
    ("ad-hoc sub-process that a worker directs", &["ad-hoc by"], &[Entered, Left, Cancelled, Stuck, Resolved, Came]),
    ("start event", &["start", "start-beside"], &[Entered, Left]),
    ("end event", &["end"], &[Entered, Left, Stuck, Resolved]),
    ("terminate end event", &["terminate"], &[Entered, Left]),
    ("cancel end event", &["cancel"], &[Entered, Left]),
    ("error end event", &["error"], &[Entered, Stuck, Resolved, Cancelled]),
    ("throw event", &["throw"], &[Entered, Left, Stuck, Resolved]),
    ("compensation throw event", &["compensate", "compensate-end"], &[Entered, Left, Cancelled]),
    ("catch event", &["catch"], &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("receive task", &["receive"], &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("event-based gateway", &["events"], &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("send task", &["publish"], &[Entered, Left, Stuck, Resolved]),
    ("call activity", &["call"], &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("undefined or manual task", &["pass", "manual"], &[Entered, Left]),
    ("job task", &["task", "send-task", "script-task", "rule-task", "throw-task", "end-task", "user-task"],
        &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("user task", &["user"], &[Entered, Left, Came, Cancelled, Stuck, Resolved]),
    ("script task", &["script"], &[Entered, Left, Stuck, Resolved]),
    ("transformation", &["set"], &[Entered, Left, Stuck, Resolved]),
    ("step that waits", &["wait"], &[Entered, Left, Cancelled]),
    ("decision task", &["decide"], &[Entered, Left, Stuck, Resolved]),
    ("exclusive gateway", &["exclusive"], &[Entered, Left, Stuck, Resolved]),
    ("parallel gateway", &["parallel"], &[Entered, Left, Cancelled]),
    ("inclusive gateway", &["inclusive"], &[Entered, Left, Cancelled, Stuck, Resolved]),
    ("complex gateway", &["complex"], &[Entered, Left, Cancelled, Stuck, Resolved]),
    ("link throw event", &["link-throw"], &[Entered, Left]),
    ("link catch event", &["link-catch"], &[Entered, Left]),
    ("boundary event", &["on", "beside", "error on"], &[Entered, Left]),
    ("compensation boundary event", &["compensate by"], &[Entered, Left]),
    ("multi-instance activity", &["each", "in-turn"], &[Entered, Left, Cancelled, Stuck, Resolved]),
    ("standard loop", &["loop", "loop-while"], &[Entered, Left, Cancelled, Stuck, Resolved]),
];

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for file in checkout.below(TRACES).filter(|file| file.path.extension().is_some_and(|end| end == "trace")) {
        for word in read(&file.content, &mut seen) {
            findings.push(Finding::violation(&file.path, 1, format!("nothing says what traces must show of '{word}'")));
        }
    }
    for (name, words, moments) in KINDS {
        for moment in moments.iter().filter(|moment| !words.iter().any(|word| seen.contains(&(*word, **moment)))) {
            findings.push(Finding::violation(TRACES, 1, format!("no trace shows a {name} in this moment: {moment:?}")));
        }
    }
    findings
}

/// Notes which moments of which kinds a trace shows; gives words it does not know.
fn read(trace: &str, seen: &mut BTreeSet<(&'static str, Moment)>) -> Vec<String> {
    let (head, commands) = trace.split_at(trace.find("\n> ").map_or(trace.len(), |at| at + 1));
    let (kinds, unknown) = kinds_by_id(head);
    let mut command = "";
    for line in commands.lines() {
        if let Some(next) = line.strip_prefix("> ") {
            command = next.split_whitespace().next().unwrap_or_default();
            continue;
        }
        let (who, what) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words = match who {
            "process" => &["process"][..],
            _ => kinds.get(who.split('#').next().unwrap_or(who)).map_or(&[][..], |words| words),
        };
        for moment in what.trim().split(", ").filter_map(|what| moment(command, what)) {
            // An instance inside the body of a repeated activity is not the body.
            let of = words.iter().filter(|word| !who.contains('#') || !REPEATS.contains(word));
            seen.extend(of.map(|word| (*word, moment)));
        }
    }
    unknown
}

const REPEATS: [&str; 4] = ["each", "in-turn", "loop", "loop-while"];

/// The words of each element in the notation.
fn kinds_by_id(head: &str) -> (BTreeMap<&str, Vec<&'static str>>, Vec<String>) {
    let mut kinds: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut last = "";
    for line in head.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let id_and_rest = line.split_once(':').filter(|_| !line.starts_with(char::is_whitespace));
        let text = match id_and_rest {
            Some((id, rest)) => {
                last = id.split_whitespace().next().unwrap_or_default();
                rest.trim()
            }
            None => line.trim(),
        };
        match (known(text), id_and_rest) {
            (Some(word), Some(_)) => kinds.entry(last).or_default().push(word),
            (Some(word), None) if REPEATS.contains(&word) => kinds.entry(last).or_default().push(word),
            (None, Some(_)) => unknown.push(text.to_owned()),
            (Some(_) | None, None) => {}
        }
    }
    (kinds, unknown)
}

/// The word of the notation a line begins with. Some mean two things.
fn known(text: &str) -> Option<&'static str> {
    let text = text.split("->").next().unwrap_or(text).trim();
    let word = match text.split_whitespace().next()? {
        "error" if text.split_whitespace().any(|word| word == "on") => "error on",
        "compensate" if text.starts_with("compensate by ") => "compensate by",
        "ad-hoc" if text.starts_with("ad-hoc by ") => "ad-hoc by",
        word => word,
    };
    KINDS.iter().flat_map(|(_, words, _)| *words).copied().find(|known| *known == word)
}

fn moment(command: &str, what: &str) -> Option<Moment> {
    match what {
        "entered" | "started" => Some(Entered),
        "left" | "completed" => Some(Left),
        "dropped" | "token dropped" | "terminated" if command == "cancel" => Some(Cancelled),
        "incident resolved" if command == "resolve" => Some(Resolved),
        "job done" | "timer fired" | "message came" | "signal came" | "condition holds" | "child done" | "task done" => {
            Some(Came)
        }
        _ if what.starts_with("stuck:") => Some(Stuck),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "# A title.\nstart: start -> a\na in p: task work -> e\n    each = [1]\ne: ring\n\n> start\na           entered, \
        waits for job work\na#1         entered, job done\n\n> cancel\na           dropped\nprocess     terminated\n";

    #[test]
    fn moments_are_read() {
        let mut seen = BTreeSet::new();
        assert_eq!(read(TRACE, &mut seen), ["ring"]);
        let expected = [
            ("each", Entered),
            ("each", Cancelled),
            ("process", Cancelled),
            ("task", Entered),
            ("task", Came),
            ("task", Cancelled),
        ];
        assert_eq!(seen, BTreeSet::from(expected));
    }

    #[test]
    fn an_end_and_a_boundary_are_told_apart() {
        assert_eq!(known("error E1 -> x"), Some("error"));
        assert_eq!(known("error E1 on task -> x"), Some("error on"));
        assert_eq!(known("ad-hoc by work -> x"), Some("ad-hoc by"));
        assert_eq!(known("something"), None);
    }
}
