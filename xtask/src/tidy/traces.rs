//! Every kind of element is shown by at least one trace, and every folder of traces is a kind of element or something else the engine does.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use super::files::Checkout;

const KINDS: &str = "crates/engine/src/element";
/// What it does besides, a file each, is shown where there is something to show.
const ENGINE: &str = "crates/engine/src";
const TRACES: &str = "spec/traces";

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let files = checkout.below(KINDS).filter_map(|file| file.path.strip_prefix(KINDS).ok());
    let kinds: BTreeSet<String> = files.filter_map(first_name).filter(|name| name != "mod").collect();
    let traces = checkout.below(TRACES).filter(|file| file.path.extension().is_some_and(|end| end == "trace"));
    let folders = traces.filter_map(|file| file.path.strip_prefix(TRACES).ok()).filter(|path| 1 < path.iter().count());
    let shown: BTreeSet<String> = folders.filter_map(first_name).collect();

    let untold = kinds.difference(&shown);
    let untold =
        untold.map(|kind| Finding::violation(format!("{KINDS}/{kind}.rs"), 1, format!("no trace: add {TRACES}/{kind}/….trace")));
    let is_done = |name: &str| checkout.below(ENGINE).any(|file| file.path == Path::new(ENGINE).join(format!("{name}.rs")));
    let unknown = shown.difference(&kinds).filter(|name| !is_done(name));
    let unknown = unknown.map(|kind| Finding::violation(format!("{TRACES}/{kind}"), 1, format!("there is no {KINDS}/{kind}.rs")));
    untold.chain(unknown).collect()
}

/// `end_event` of both `end_event.rs` and `end_event/terminate.trace`.
fn first_name(path: &Path) -> Option<String> {
    let first = Path::new(path.iter().next()?);
    Some(first.file_stem()?.to_string_lossy().into_owned())
}
