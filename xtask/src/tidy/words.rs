//! Words that do not belong: vague names in paths, places that exist on one machine only, and shortcuts in code and tests.

use std::path::Path;

use super::Finding;
use super::files::{Checkout, Text};
use super::functions::{code_only, line_of, test_modules};

/// Names that say nothing about what is inside.
const VAGUE: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"];

/// Hosts of package registries and paths of somebody's machine: both are that machine's settings. Split so that this file may name them.
const ELSEWHERE: [&str; 9] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("registry.npm", "js.org"),
    concat!("registry.yarn", "pkg.com"),
    concat!("proxy.go", "lang.org"),
    concat!("py", "pi.org"),
    concat!("repo.maven", ".apache.org"),
    concat!("index.cr", "ates.io"),
];

/// Code that was meant to be finished later.
const UNFINISHED: [&str; 3] = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];

/// What a test must not do: wait for a time instead of a condition.
const SLEEP: &str = concat!("thread::sl", "eep");

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let paths = checkout.files.iter().flat_map(|file| vague(&file.path));
    let texts = checkout.files.iter().filter(|file| !is_lock(&file.path));
    let machines = texts.flat_map(|file| each(file, &ELSEWHERE, "is a setting of some machine"));
    let unfinished = checkout.rust().flat_map(|file| each(file, &UNFINISHED, "is unfinished work"));
    paths.chain(machines).chain(unfinished).chain(checkout.rust().flat_map(sleeps)).collect()
}

fn vague(path: &Path) -> Vec<Finding> {
    let parts = path.iter().map(|part| part.to_string_lossy().to_lowercase());
    let words = parts.flat_map(|part| part.split(['_', '-', '.']).map(str::to_owned).collect::<Vec<_>>());
    let bad = words.filter(|word| VAGUE.contains(&word.as_str()));
    bad.map(|word| Finding::violation(path, 1, format!("`{word}` in a path says nothing: name what is inside"))).collect()
}

/// Cargo's own lock file names its index in every entry.
fn is_lock(path: &Path) -> bool {
    path == Path::new("Cargo.lock")
}

fn each(file: &Text, banned: &[&str], why: &str) -> Vec<Finding> {
    let lines = file.content.lines().enumerate();
    let hits = lines.flat_map(|(at, line)| {
        banned.iter().filter(|word| line.contains(**word)).map(move |word| (at + 1, *word)).collect::<Vec<_>>()
    });
    hits.map(|(line, word)| Finding::violation(&file.path, line, format!("`{word}` {why}"))).collect()
}

fn sleeps(file: &Text) -> Vec<Finding> {
    let code = code_only(&file.content);
    let tests = test_modules(&code);
    let lines = code.match_indices(SLEEP).map(|(at, _)| line_of(&code, at));
    let in_tests = lines.filter(|line| file.is_test() || tests.iter().any(|test| test.contains(line)));
    in_tests.map(|line| Finding::violation(&file.path, line, "a test sleeps: wait for the condition instead")).collect()
}
