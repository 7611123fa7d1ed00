//! Every link in what we write leads somewhere: to a file of the checkout, and to a heading where it names one. The book's table of
//! contents names every page of `docs/`, once.
//!
//! `mdbook` builds the book and checks no links, and those to `spec/` and `examples/` leave the book: so they are checked here.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::Finding;
use super::files::{Checkout, Text};

const BOOK: &str = "docs";
const CONTENTS: &str = "docs/SUMMARY.md";

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let pages: BTreeMap<&Path, &Text> =
        checkout.files.iter().filter(|file| is_page(&file.path)).map(|file| (file.path.as_path(), file)).collect();
    let broken = pages.values().flat_map(|page| links(&page.content).into_iter().map(move |link| (page, link)));
    let broken = broken.filter_map(|(page, (line, target))| {
        let why = fault(checkout, &pages, &page.path, target)?;
        Some(Finding::violation(&page.path, line, format!("the link `{target}` {why}")))
    });
    broken.chain(contents(checkout, &pages)).collect()
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "md")
}

/// What is wrong with a link, if anything is.
fn fault(checkout: &Checkout, pages: &BTreeMap<&Path, &Text>, from: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.is_empty() {
        return None;
    }
    let (file, heading) = target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let path = if file.is_empty() { from.to_owned() } else { resolved(from, file) };
    let is_there = checkout.files.iter().any(|other| other.path.starts_with(&path));
    if !is_there {
        return Some("leads nowhere".to_owned());
    }
    let leaves = from.starts_with(BOOK) && !path.starts_with(BOOK);
    if leaves && is_page(&path) {
        // In the book it would become a page that is not there.
        return Some("leads from the book to a page outside it".to_owned());
    }
    let heading = heading?;
    let has_heading = pages.get(path.as_path()).is_some_and(|page| headings(&page.content).iter().any(|known| known == heading));
    (!has_heading).then(|| format!("names no heading of {}", path.display()))
}

fn resolved(from: &Path, target: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path
}

/// Every page of the book stands in its contents, once.
fn contents(checkout: &Checkout, pages: &BTreeMap<&Path, &Text>) -> Vec<Finding> {
    let Some(text) = checkout.text(CONTENTS) else {
        return vec![Finding::violation(CONTENTS, 1, "missing")];
    };
    let named: Vec<PathBuf> = links(text).into_iter().map(|(_, target)| resolved(Path::new(CONTENTS), target)).collect();
    let ours = pages.keys().filter(|path| path.starts_with(BOOK) && **path != Path::new(CONTENTS));
    let wrong = ours.filter_map(|path| match named.iter().filter(|name| name.as_path() == *path).count() {
        1 => None,
        0 => Some(Finding::violation(path, 1, format!("{CONTENTS} does not name this page"))),
        _ => Some(Finding::violation(path, 1, format!("{CONTENTS} names this page twice"))),
    });
    wrong.collect()
}

/// The lines of a page that are not code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            return None;
        }
        (!in_code).then_some((index + 1, line))
    })
}

/// Where links lead, by line.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Between backticks nothing is a link; text outside them is every other part.
        for part in line.split('`').collect::<Vec<_>>().chunks(2).map(|pair| pair[0]) {
            let targets = part.match_indices("](").filter_map(|(at, _)| part[at + 2..].split_once(')'));
            found.extend(targets.map(|(target, _)| (number, target)));
        }
        let after_code = line.match_indices("`](").filter_map(|(at, _)| line[at + 3..].split_once(')'));
        found.extend(after_code.map(|(target, _)| (number, target)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What headings are called in links: in small letters, without punctuation, with dashes for spaces.
fn headings(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')).filter(|rest| rest.starts_with(' '))
        else {
            continue;
        };
        let kept = title.trim().to_lowercase();
        let name: String = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let before = names.iter().filter(|other| **other == name).count();
        names.push(if before == 0 { name } else { format!("{name}-{before}") });
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout(files: &[(&str, &str)]) -> Checkout {
        let text = |(path, content): &(&str, &str)| Text { path: PathBuf::from(path), content: (*content).to_owned() };
        Checkout { files: files.iter().map(text).collect() }
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = "# A page\n[good](b.md#what-it-is) [`code`](../examples/x.json) [far](https://example.org/x)\n\
            [gone](c.md)\n[no heading](b.md#else)\n[out](../README.md)\n`[not](a-link)`\n```\n[nor](this)\n```\n";
        let files = [
            ("docs/SUMMARY.md", "[a](a.md)\n[b](b.md)\n[later]()\n"),
            ("docs/a.md", page),
            ("docs/b.md", "## What it is?\n"),
            ("examples/x.json", "{}"),
            ("README.md", ""),
        ];
        let lines: Vec<usize> = check(&checkout(&files)).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3, 4, 5]);
    }

    #[test]
    fn every_page_is_in_the_contents_once() {
        let files = [("docs/SUMMARY.md", "[a](a.md)\n[a](a.md)\n"), ("docs/a.md", ""), ("docs/b.md", "")];
        let findings = check(&checkout(&files));
        let told: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(told, ["docs/SUMMARY.md names this page twice", "docs/SUMMARY.md does not name this page"]);
    }
}
