//! `docs/errors.md` has a row for every word that callers branch on: titles of errors and types of incidents.

use super::Finding;
use super::files::Checkout;

const DOCUMENT: &str = "docs/errors.md";
/// Where the words are, each in the function that gives them.
const SOURCES: [(&str, &str); 2] =
    [("crates/api/src/error.rs", "fn title("), ("crates/store/src/words.rs", "fn incident_kind_word(")];

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let page = checkout.text(DOCUMENT).unwrap_or_default();
    let mut findings = Vec::new();
    for (path, function) in SOURCES {
        let words = checkout.text(path).map(|text| words(text, function)).unwrap_or_default();
        if words.is_empty() {
            findings.push(Finding::violation(path, 1, format!("`{function}…)` gives no words, or is elsewhere now")));
        }
        let missing = words.iter().filter(|word| !has_row(page, word));
        findings.extend(missing.map(|word| Finding::violation(DOCUMENT, 1, format!("has no row for `{word}` of {path}"))));
    }
    findings
}

fn has_row(page: &str, word: &str) -> bool {
    page.lines().any(|line| line.starts_with(&format!("| `{word}` |")))
}

/// What stands between quotes to the right of an arrow, until the function ends.
fn words<'a>(text: &'a str, function: &str) -> Vec<&'a str> {
    let Some((_, body)) = text.split_once(function) else { return Vec::new() };
    let lines = body.lines().skip(1).take_while(|line| !matches!(*line, "}" | "    }"));
    lines.filter_map(|line| line.split_once("=> \"")?.1.split('"').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_function() {
        let text = "fn other() {\n    A => \"NO\",\n}\nfn title(self) -> &str {\n    A => \"YES\",\n    B | C => \"Also This\",\n}\nD => \"NOR\"\n";
        assert_eq!(words(text, "fn title("), ["YES", "Also This"]);
        assert!(has_row("| title |\n| `YES` | why |\n", "YES"));
    }
}
