//! A crate's tests are one binary, `tests/it`, which is linked once: a file there that no `mod` names would never run, and nobody would see it. And a file
//! beside that folder would be linked on its own again.

use std::ffi::OsStr;
use std::path::Path;

use super::Finding;
use super::files::{Checkout, Text};

const BINARY: &str = "it";
const ROOTS: [&str; 2] = ["main.rs", "mod.rs"];

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let tests = || checkout.rust().filter(|file| file.path.starts_with("crates")).filter(|file| file.is_test());
    let unnamed = tests().filter(|file| is_module(&file.path) && !is_named(checkout, &file.path));
    let unnamed = unnamed.map(|file| Finding::violation(&file.path, 1, "no `mod` names this file: its tests never run"));
    let beside = tests().filter(|file| is_beside(checkout, file));
    let beside = beside.map(|file| Finding::violation(&file.path, 1, "a test binary of its own; its crate has `tests/it`"));
    unnamed.chain(beside).collect()
}

fn is_module(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == BINARY) && path.file_name() != Some(OsStr::new("main.rs"))
}

/// Whether the root of its folder names it, or, for the root of a folder, that of the folder above; or a file beside it by its path.
fn is_named(checkout: &Checkout, path: &Path) -> bool {
    let named = if path.file_name() == Some(OsStr::new("mod.rs")) { path.parent() } else { Some(path) };
    let Some((folder, name)) = named.and_then(|named| Some((named.parent()?, named.file_stem()?.to_str()?))) else {
        return false;
    };
    let (by_name, by_path) = (format!("mod {name};"), format!("#[path = \"{name}.rs\"]"));
    let names = |file: &Text| {
        let is_root = ROOTS.iter().any(|root| file.path.file_name() == Some(OsStr::new(root)));
        let mut lines = file.content.lines().map(str::trim);
        lines.any(|line| line == by_path || is_root && line.ends_with(&by_name))
    };
    checkout.files.iter().filter(|file| file.path.parent() == Some(folder)).any(names)
}

/// Whether it lies in `tests` itself, where cargo takes every file for a binary.
fn is_beside(checkout: &Checkout, file: &Text) -> bool {
    let Some(folder) = file.path.parent().filter(|folder| folder.file_name() == Some(OsStr::new("tests"))) else { return false };
    let is_of_crate = folder.components().count() == 3;
    is_of_crate && checkout.text(&folder.join(BINARY).join("main.rs").to_string_lossy()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, content)| Text { path: path.into(), content: (*content).to_owned() });
        check(&Checkout { files: files.collect() }).iter().map(|finding| finding.path.display().to_string()).collect()
    }

    #[test]
    fn what_no_module_names_is_found() {
        let named = [
            ("crates/a/tests/it/main.rs", "mod one;\npub(crate) mod two;\n"),
            ("crates/a/tests/it/one.rs", ""),
            ("crates/a/tests/it/two/mod.rs", "mod three;\n"),
            ("crates/a/tests/it/two/three.rs", "#[path = \"four.rs\"]\nmod more;"),
            ("crates/a/tests/it/two/four.rs", ""),
        ];
        assert_eq!(found(&named), [""; 0]);
        let lost = [&named[..], &[("crates/a/tests/it/five.rs", ""), ("crates/a/tests/six.rs", ""), ("crates/b/tests/x.rs", "")]]
            .concat();
        assert_eq!(found(&lost), ["crates/a/tests/it/five.rs", "crates/a/tests/six.rs"]);
    }
}
