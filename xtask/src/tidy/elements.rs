//! `docs/bpmn.md` promises nothing that no trace shows: a row that says an element runs links to the trace that shows it.

use super::Finding;
use super::files::Checkout;

const DOCUMENT: &str = "docs/bpmn.md";
/// The column that says what runs here.
const COLUMN: &str = "Caudal";
const LINK: &str = "](../spec/traces/";

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let Some(text) = checkout.text(DOCUMENT) else {
        return vec![Finding::violation(DOCUMENT, 1, "missing")];
    };
    let is_trace = |path: &str| path.ends_with(".trace") && checkout.text(&format!("spec/traces/{path}")).is_some();
    unshown(text, is_trace).map(|(line, what)| Finding::violation(DOCUMENT, line, what)).collect()
}

/// Rows that say yes and show nothing, by line.
fn unshown<'a>(text: &'a str, is_trace: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = (usize, String)> + 'a {
    let mut column = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() < 3 {
            column = None;
            return None;
        }
        column = cells.iter().position(|cell| *cell == COLUMN).or(column);
        let says_yes = cells.get(column?)?.starts_with("yes");
        let linked = line.split_once(LINK).and_then(|(_, rest)| rest.split(')').next());
        let shown = linked.is_some_and(&is_trace);
        (says_yes && !shown).then(|| (index + 1, format!("'{}' says yes, but links to no trace", cells[1])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_needs_a_trace() {
        let table = "| element | Caudal | other | traces |\n|---|---|---|---|\n\
            | shown | yes | no | [a](../spec/traces/a/b.trace) |\n| gone | yes | yes | [b](../spec/traces/a/c.trace) |\n\
            | bare | yes (job) | no | |\n| absent | no | yes | |\n\nyes | no | maybe\n";
        let lines: Vec<usize> = unshown(table, |path| path == "a/b.trace").map(|(line, _)| line).collect();
        assert_eq!(lines, [4, 5]);
    }
}
