//! Third-party crates: each one we name has its reason in `deny.toml`, all have a licence from its list, heavy ones exist once.
//!
//! `deny.toml` is also what `cargo deny` reads; the reasons are its comment lines of the form `# NAME: reason`.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::metadata::{Metadata, Origin};

use super::Finding;
use super::files::Checkout;

const DOCUMENT: &str = "deny.toml";

pub(crate) fn check(checkout: &Checkout, metadata: &Metadata) -> Vec<Finding> {
    let Some(text) = checkout.text(DOCUMENT) else {
        return vec![Finding::violation(DOCUMENT, 1, "missing: it has to hold the reason for every third-party crate")];
    };
    let rules = match text.parse::<Table>() {
        Ok(rules) => rules,
        Err(error) => return vec![Finding::violation(DOCUMENT, 1, error.to_string())],
    };
    let workspace = checkout.text("Cargo.toml").and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
    [reasons(text, &named(metadata, &workspace)), licences(&rules, metadata), duplicates(&rules, metadata)].concat()
}

/// Third-party crates that a manifest of ours names: a member's, or the workspace's list of versions.
fn named<'a>(metadata: &'a Metadata, workspace: &'a Table) -> BTreeSet<&'a str> {
    let used = metadata.members().flat_map(|package| &package.dependencies);
    let used = used.filter(|dependency| dependency.origin == Origin::ThirdParty).map(|dependency| dependency.name.as_str());
    let listed = workspace.get("workspace").and_then(|table| table.get("dependencies")).and_then(Value::as_table);
    let listed = listed.into_iter().flatten().filter(|(_, value)| value.get("path").is_none()).map(|(name, _)| name.as_str());
    used.chain(listed).collect()
}

fn reasons(text: &str, named: &BTreeSet<&str>) -> Vec<Finding> {
    let given: BTreeMap<&str, usize> = text.lines().enumerate().filter_map(|(at, line)| Some((reason(line)?, at + 1))).collect();
    let missing = named.iter().filter(|name| !given.contains_key(*name));
    let missing =
        missing.map(|name| Finding::violation(DOCUMENT, 1, format!("no reason for `{name}`: add a line `# {name}: why`")));
    let stale = given.iter().filter(|(name, _)| !named.contains(*name));
    let stale = stale.map(|(name, line)| Finding::advice(DOCUMENT, *line, format!("no manifest of ours names `{name}` now")));
    missing.chain(stale).collect()
}

/// The crate a line like `# tokio: the runtime` gives the reason for.
fn reason(line: &str) -> Option<&str> {
    let (name, why) = line.strip_prefix("# ")?.split_once(": ")?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    (is_name && !why.trim().is_empty()).then_some(name)
}

fn licences(rules: &Table, metadata: &Metadata) -> Vec<Finding> {
    let allowed = strings(rules, "licenses", "allow");
    let others = metadata.packages.iter().filter(|package| package.origin == Origin::ThirdParty);
    let bad = others.filter(|package| !package.license.as_deref().is_some_and(|licence| permits(licence, &allowed)));
    bad.map(|package| {
        let licence = package.license.as_deref().unwrap_or("no licence given");
        Finding::violation(DOCUMENT, 1, format!("{} {}: {licence} is not in the list of licences", package.name, package.version))
    })
    .collect()
}

/// Whether we may choose only licences from the list. `A OR B` needs one, `A AND B` both; brackets bind first.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    for (word, all) in [(" OR ", false), (" AND ", true)] {
        let parts = split_outside_brackets(expression, word);
        if 1 < parts.len() {
            let mut parts = parts.into_iter().map(|part| permits(part, allowed));
            return if all { parts.all(|yes| yes) } else { parts.any(|yes| yes) };
        }
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => permits(inner, allowed),
        None => allowed.iter().any(|licence| licence == expression),
    }
}

fn split_outside_brackets<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in text.match_indices(word) {
        let before = &text[..at];
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(&text[start..at]);
            start = at + word.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

fn duplicates(rules: &Table, metadata: &Metadata) -> Vec<Finding> {
    let bans = rules.get("bans").and_then(|bans| bans.get("deny")).and_then(Value::as_array).into_iter().flatten();
    let heavy = bans.filter(|ban| ban.get("deny-multiple-versions").and_then(Value::as_bool) == Some(true));
    let heavy = heavy.filter_map(|ban| ban.get("crate").and_then(Value::as_str));
    let versions = |name: &str| -> Vec<&str> {
        metadata.packages.iter().filter(|package| package.name == name).map(|package| package.version.as_str()).collect()
    };
    let many = heavy.map(|name| (name, versions(name))).filter(|(_, versions)| 1 < versions.len());
    many.map(|(name, versions)| {
        Finding::violation("Cargo.lock", 1, format!("{name} is there more than once: {}", versions.join(", ")))
    })
    .collect()
}

fn strings(rules: &Table, section: &str, key: &str) -> Vec<String> {
    let list = rules.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions() {
        let allowed = ["MIT".to_owned(), "Unicode-3.0".to_owned()];
        assert!(permits("MIT OR Apache-2.0", &allowed));
        assert!(permits("MIT/Apache-2.0", &allowed));
        assert!(permits("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
        assert!(!permits("MIT AND Apache-2.0", &allowed));
        assert!(!permits("GPL-3.0", &allowed));
    }

    #[test]
    fn a_reason_is_a_comment_with_a_name() {
        assert_eq!(reason("# tokio: the runtime"), Some("tokio"));
        assert_eq!(reason("# Crates that exist once: they are heavy"), None);
        assert_eq!(reason("# tokio:"), None);
    }
}
