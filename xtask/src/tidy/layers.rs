//! Dependencies between our own crates are those of the table in ARCHITECTURE.md:
//!
//! ```text
//! | crate | responsibility | may use |
//! |---|---|---|
//! | `model` | the compiled process as plain data | `feel` |
//! | `host` | … | all above but SQL |
//! ```
//!
//! `all` is every crate, `all above` every crate of an earlier row, and `but` takes away: crates by name, or those whose responsibility
//! contains the word. What only tests use is free.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::{Metadata, Origin, Package, Purpose};

use super::Finding;
use super::files::Checkout;

const DOCUMENT: &str = "ARCHITECTURE.md";

struct Row {
    crates: Vec<String>,
    responsibility: String,
    may_use: String,
}

pub(crate) fn check(checkout: &Checkout, metadata: &Metadata) -> Vec<Finding> {
    let Some(document) = checkout.text(DOCUMENT) else {
        return vec![Finding::violation(DOCUMENT, 1, "missing: it has to hold the table `| crate | responsibility | may use |`")];
    };
    let Some((line, rows)) = table(document) else {
        return vec![Finding::violation(DOCUMENT, 1, "has no table `| crate | responsibility | may use |`")];
    };
    let allowed = allowed(&rows);
    let mut findings = Vec::new();
    for package in metadata.members() {
        let Some(may_use) = allowed.get(&package.name) else {
            findings.push(Finding::violation(DOCUMENT, line, format!("the table has no row for the crate `{}`", package.name)));
            continue;
        };
        for used in used(package).difference(may_use) {
            let what = format!("`{}` uses `{used}`; {DOCUMENT} does not allow that", package.name);
            findings.push(Finding::violation(manifest(package), 1, what));
        }
    }
    findings
}

fn table(document: &str) -> Option<(usize, Vec<Row>)> {
    let mut lines = document.lines().enumerate().skip_while(|(_, line)| cells(line) != ["crate", "responsibility", "may use"]);
    let (header, _) = lines.next()?;
    let rows = lines.skip(1).map_while(|(_, line)| match cells(line).as_slice() {
        [crates, responsibility, may_use] => {
            Some(Row { crates: names(crates), responsibility: responsibility.clone(), may_use: may_use.clone() })
        }
        _ => None,
    });
    Some((header + 1, rows.collect()))
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map(|inner| inner.split('|').map(|cell| cell.trim().to_owned()).collect()).unwrap_or_default()
}

/// What stands in backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn allowed(rows: &[Row]) -> BTreeMap<String, BTreeSet<String>> {
    let mut allowed = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let (granted, denied) = row.may_use.split_once(" but ").unwrap_or((&row.may_use, ""));
        let mut may_use: BTreeSet<String> = if granted.starts_with("all above") {
            rows[..index].iter().flat_map(|row| row.crates.clone()).collect()
        } else if granted.starts_with("all") {
            rows.iter().flat_map(|row| row.crates.clone()).collect()
        } else {
            names(granted).into_iter().collect()
        };
        let by_word =
            rows.iter().filter(|row| !denied.is_empty() && !denied.contains('`') && row.responsibility.contains(denied));
        for name in names(denied).into_iter().chain(by_word.flat_map(|row| row.crates.clone())) {
            may_use.remove(&name);
        }
        allowed.extend(row.crates.iter().map(|name| (name.clone(), may_use.clone())));
    }
    allowed
}

fn used(package: &Package) -> BTreeSet<String> {
    let ours = package.dependencies.iter().filter(|used| used.origin == Origin::Workspace && used.purpose == Purpose::Product);
    ours.map(|used| used.name.clone()).collect()
}

fn manifest(package: &Package) -> String {
    package.manifest.strip_prefix(crate::places::root()).unwrap_or(&package.manifest).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_table_are_understood() {
        let document = "\
# Map
| crate | responsibility | may use |
|---|---|---|
| `feel` | FEEL | – |
| `one`, `two` | the trait in SQL | `feel` |
| `host` | ticks | all above but SQL |
| `app` | the binary | all |

text";
        let (line, rows) = table(document).expect("there is a table");
        let allowed = allowed(&rows);
        assert_eq!(line, 2);
        assert_eq!(allowed["feel"], BTreeSet::new());
        assert_eq!(allowed["two"], BTreeSet::from(["feel".to_owned()]));
        assert_eq!(allowed["host"], BTreeSet::from(["feel".to_owned()]));
        assert_eq!(allowed["app"].len(), 5);
    }
}
