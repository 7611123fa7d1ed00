//! `cargo xtask tidy`: what we promise about the source itself, checked. Also run as an ordinary test.
//!
//! Each check is one file and one function from the checkout to a list of findings.

mod changelog;
mod container;
mod dependencies;
mod elements;
mod errors;
mod files;
mod functions;
mod layers;
mod lengths;
mod links;
mod modules;
mod moments;
mod traces;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Verdict;
use crate::metadata::Metadata;

use files::Checkout;

/// Something that is not as it should be, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// From the checkout's root.
    path: PathBuf,
    line: usize,
    weight: Weight,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Violation,
    Advice,
}

impl Finding {
    fn violation(path: impl AsRef<Path>, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.as_ref().to_owned(), line, weight: Weight::Violation, what: what.into() }
    }

    fn advice(path: impl AsRef<Path>, line: usize, what: impl Into<String>) -> Finding {
        Finding { weight: Weight::Advice, ..Finding::violation(path, line, what) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.weight {
            Weight::Violation => "",
            Weight::Advice => "advice: ",
        };
        write!(f, "{}:{}: {word}{}", self.path.display(), self.line, self.what)
    }
}

pub(crate) fn run() -> Result<Verdict, String> {
    let findings = check(&crate::places::root())?;
    findings.iter().for_each(|finding| println!("{finding}"));
    let violations = violations(&findings).count();
    println!("tidy: {violations} violations, {} pieces of advice", findings.len() - violations);
    Ok(if violations == 0 { Verdict::Good } else { Verdict::Bad })
}

fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let checkout = Checkout::read(root)?;
    let metadata = Metadata::read(root)?;
    let mut findings = Vec::new();
    findings.extend(layers::check(&checkout, &metadata));
    findings.extend(dependencies::check(&checkout, &metadata));
    findings.extend(lengths::check(&checkout));
    findings.extend(words::check(&checkout));
    findings.extend(traces::check(&checkout));
    findings.extend(modules::check(&checkout));
    findings.extend(moments::check(&checkout));
    findings.extend(elements::check(&checkout));
    findings.extend(changelog::check(&checkout));
    findings.extend(links::check(&checkout));
    findings.extend(errors::check(&checkout));
    findings.extend(container::check(&checkout));
    Ok(findings)
}

fn violations(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| finding.weight == Weight::Violation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_is_tidy() {
        let findings = check(&crate::places::root()).expect("the checkout can be read");
        let violations: Vec<String> = violations(&findings).map(Finding::to_string).collect();
        assert!(violations.is_empty(), "\n{}", violations.join("\n"));
    }
}
