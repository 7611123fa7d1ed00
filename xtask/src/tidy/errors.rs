//! `docs/errors.md` has a row for every word that callers branch on: titles of errors and types of incidents; and no row leaves a cause or a
//! cure to be guessed.

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
    findings.extend(gaps(page).into_iter().map(|(line, what)| Finding::violation(DOCUMENT, line, what)));
    findings
}

/// Rows of tables that say less than the table's head promises, by their lines.
fn gaps(page: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = page.lines().collect();
    let (mut gaps, mut head) = (Vec::new(), None);
    for (at, line) in lines.iter().enumerate() {
        let is_head = lines.get(at + 1).is_some_and(|next| next.starts_with("|---"));
        match cells(line) {
            None => head = None,
            Some(cells) if is_head => head = Some(cells),
            Some(cells) => {
                let head = head.iter().flatten().enumerate();
                let empty = head.filter(|(column, _)| cells.get(*column).is_none_or(|cell| cell.is_empty()));
                gaps.extend(empty.map(|(_, name)| (at + 1, format!("{} has no {name}", cells[0]))));
            }
        }
    }
    gaps
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.trim_end().trim_end_matches('|');
    Some(inner.split('|').map(str::trim).collect())
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

    #[test]
    fn a_row_without_cause_or_cure_is_found() {
        let page = "| type | cause | cure |\n|---|---|---|\n| `A` | why | how |\n| `B` |  | how |\n| `C` | why |\n\n| message | cure |\n|---|---|\n| `D` | |\n";
        let found = [(4, "`B` has no cause"), (5, "`C` has no cure"), (9, "`D` has no cure")];
        let gaps = gaps(page);
        assert_eq!(gaps.iter().map(|(line, what)| (*line, what.as_str())).collect::<Vec<_>>(), found);
    }
}
