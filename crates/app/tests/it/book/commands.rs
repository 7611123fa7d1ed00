//! No command of the book is shown that nobody has run: each block is played here, or is named below with the reason why not.

use std::path::{Path, PathBuf};

use super::{Block, FOLLOWED, PAGES, ROOT, blocks};

/// Languages of blocks that a reader types.
const COMMANDS: [&str; 6] = ["sh", "console", "bash", "shell", "zsh", "powershell"];
/// Of blocks that are looked at, or put into files.
const OTHERS: [&str; 14] =
    ["text", "json", "xml", "yaml", "toml", "sql", "python", "js", "ts", "java", "go", "rust", "rust,ignore", "proto"];
/// How a line begins that is a command, whatever its block says.
const PROGRAMS: [&str; 6] = ["caudal ", "cargo ", "curl ", "sudo ", "$ ", "git "];
/// Made from the program's own words, which are tested there.
const MADE: &str = "docs/cli.md";

/// What is not played: the page, how the block begins, and why.
const NOT_PLAYED: [(&str, &str, &str); 21] = [
    ("README.md", "cargo run --release      # builds", "it builds a release; the second is all that tests this"),
    ("README.md", "cargo run --release\n", "it builds a release"),
    ("README.md", "alias caudal=", "the tests have the binary elsewhere"),
    ("docs/backup.md", "sudo systemctl stop", "the part `deb` does the same, without systemd"),
    ("docs/backup.md", "pg_basebackup", "the part `restore` does exactly this"),
    ("docs/compatibility.md", "caudal serve --test-clock\npython3", "the recordings are kept elsewhere"),
    ("docs/crash-safety.md", "cargo xtask chaos", "the part `chaos` does some of each"),
    ("docs/first-hour.md", "mkdir first-hour", "for who has the Debian package; the part `deb` uses its examples"),
    ("docs/install.md", "sha256sum", "for who has an archive, of which there is no release yet"),
    ("docs/install.md", "sudo apt install", "the part `deb` installs the package, without systemd"),
    ("docs/install.md", "sudoedit", "needs a system with systemd"),
    ("docs/install.md", "podman", "needs an engine for containers; `cargo xtask tidy` compares what the file says"),
    ("docs/install.md", "helm", "needs a cluster; the part `dist` renders the chart"),
    ("docs/install.md", "cargo build --release", "it builds a release"),
    ("docs/operating-instances.md", "caudal suspend KEY", "forms of commands, not commands"),
    ("docs/operating-instances.md", "caudal batch cancel|", "forms of commands, not commands"),
    ("docs/simulation.md", "cargo xtask sim", "takes hours; `cargo test -p sim` plays some seeds"),
    ("sdks/README.md", "python -m grpc_tools", "what it makes is kept, and compiled by the part `sdks`"),
    ("sdks/go/README.md", "go get", "no package was published yet; the part `sdks` installs what it packs"),
    ("sdks/node/README.md", "npm install", "no package was published yet; the part `sdks` installs what it packs"),
    ("sdks/python/README.md", "pip install", "no package was published yet; the part `sdks` installs what it packs"),
];

#[test]
fn every_command_is_played_or_has_a_reason_not_to_be() {
    let mut listed = vec![false; NOT_PLAYED.len()];
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(Path::new(ROOT).join(&page)).unwrap();
        for block in blocks(&text) {
            let is_listed = |(of, begins, _): &(&str, &str, &str)| page == *of && block.text.starts_with(begins);
            NOT_PLAYED.iter().zip(&mut listed).filter(|(one, _)| is_listed(one)).for_each(|(_, seen)| *seen = true);
            if !is_command(&block) && !OTHERS.contains(&block.language.as_str()) {
                wrong.push(format!("{page}: nobody knows what a block of '{}' is:\n{}", block.language, block.text));
            }
            if is_command(&block) && !is_played(&page, &block) && !NOT_PLAYED.iter().any(is_listed) {
                wrong.push(format!("{page}: not played, and not listed:\n{}", block.text));
            }
        }
    }
    let gone =
        NOT_PLAYED.iter().zip(listed).filter(|(_, seen)| !seen).map(|((page, begins, _), _)| format!("{page}: no '{begins}'"));
    wrong.extend(gone);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_command(block: &Block) -> bool {
    let is_shown = block.language == "text" && PROGRAMS.iter().any(|program| block.text.starts_with(program));
    COMMANDS.contains(&block.language.as_str()) || is_shown
}

fn is_played(page: &str, block: &Block) -> bool {
    let in_order = block.language == "sh" && PAGES.contains(&page);
    in_order || FOLLOWED.iter().any(|(of, begins)| page == *of && block.text.starts_with(begins))
}

/// Everything that is written for readers, from the root of the source.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in
        ["docs", "docs/adr", "sdks", "sdks/python", "sdks/node", "sdks/go", "sdks/rust", "sdks/java", "clients", "deploy"]
    {
        let found = std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let found: Vec<PathBuf> = found.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
        pages.extend(found.iter().map(|path| format!("{folder}/{}", path.file_name().unwrap().to_string_lossy())));
    }
    pages.retain(|page| page != MADE);
    assert!(60 < pages.len(), "{pages:?}");
    pages
}
