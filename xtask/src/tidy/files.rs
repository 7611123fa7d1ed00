//! The checkout as texts: every file that could be committed, read once.

use std::fs;
use std::path::{Path, PathBuf};

/// Never committed.
const NOT_OURS: [&str; 5] = [".git", "target", "node_modules", "caudal-data", "__pycache__"];
/// Larger files are data, not writing.
const TEXT_BYTES_MAX: u64 = 2_000_000;

#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) files: Vec<Text>,
}

#[derive(Debug)]
pub(crate) struct Text {
    /// From the checkout's root.
    pub(crate) path: PathBuf,
    /// Empty where the file is not text.
    pub(crate) content: String,
}

impl Checkout {
    pub(crate) fn read(root: &Path) -> Result<Checkout, String> {
        let mut files = Vec::new();
        collect(root, root, &mut files).map_err(|error| format!("cannot read the checkout: {error}"))?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Checkout { files })
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == Path::new(path)).map(|file| file.content.as_str())
    }

    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Text> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    /// Our own Rust files: the crates and this tool.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &Text> {
        let ours = |file: &&Text| file.path.starts_with("crates") || file.path.starts_with("xtask");
        self.files.iter().filter(ours).filter(|file| file.path.extension().is_some_and(|end| end == "rs"))
    }
}

impl Text {
    /// Whether the file as a whole is a test.
    pub(crate) fn is_test(&self) -> bool {
        let in_tests = self.path.components().any(|part| part.as_os_str() == "tests");
        in_tests || self.path.file_stem().is_some_and(|stem| stem == "tests")
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<Text>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        // In a worktree `.git` is a file.
        let ours = !NOT_OURS.iter().any(|name| entry.file_name() == *name);
        if kind.is_dir() && ours {
            collect(root, &path, files)?;
        } else if kind.is_file() && ours {
            let small = entry.metadata()?.len() <= TEXT_BYTES_MAX;
            let content = if small { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
            files.push(Text { path: path.strip_prefix(root).unwrap_or(&path).to_owned(), content });
        }
    }
    Ok(())
}
