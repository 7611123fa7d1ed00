//! The two processes that are run, and what one instance of each must leave behind.

/// Elements that must have been passed, and tasks among them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) passed: &'static [&'static str],
    pub(super) tasks: &'static [&'static str],
}

pub(super) const LINE: &str = "line";
pub(super) const FORK: &str = "fork";
/// Each process, its file, and the type of its jobs, which is its name.
pub(super) const ALL: [(&str, &str); 2] = [(LINE, include_str!("line.bpmn")), (FORK, include_str!("fork.bpmn"))];
/// Which way an instance of `fork` goes after its join.
pub(super) const LANES: [&str; 2] = ["odd", "even"];

/// What an instance passes from its start to its end.
pub(super) fn path(process: &str, lane: &str) -> Option<Path> {
    match (process, lane) {
        (LINE, _) => Some(Path { passed: &["begin", "first", "second", "end"], tasks: &["first", "second"] }),
        (FORK, "odd") => Some(Path {
            passed: &["begin", "split", "left", "right", "join", "choice", "odd", "end"],
            tasks: &["left", "right", "odd"],
        }),
        (FORK, "even") => Some(Path {
            passed: &["begin", "split", "left", "right", "join", "choice", "even", "end"],
            tasks: &["left", "right", "even"],
        }),
        _ => None,
    }
}
