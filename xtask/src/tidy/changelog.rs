//! Users learn of changes from CHANGELOG.md, so what is not released yet has its section there.

use super::Finding;
use super::files::Checkout;

const DOCUMENT: &str = "CHANGELOG.md";

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let Some(text) = checkout.text(DOCUMENT) else {
        return vec![Finding::violation(DOCUMENT, 1, "missing")];
    };
    let is_section = |line: &str| line.starts_with("## ");
    let Some((at, _)) = text.lines().enumerate().find(|(_, line)| is_section(line) && line.to_lowercase().contains("unreleased"))
    else {
        return vec![Finding::violation(DOCUMENT, 1, "has no section `## Unreleased`")];
    };
    let mut entries = text.lines().skip(at + 1).take_while(|line| !is_section(line));
    if entries.any(|line| line.starts_with("- ")) {
        Vec::new()
    } else {
        vec![Finding::violation(DOCUMENT, at + 1, "the section `Unreleased` has no entry")]
    }
}
