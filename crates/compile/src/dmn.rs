//! DMN 1.1 to 1.5 XML → decisions.
//!
//! Reading order: `file` (what a file holds and what is called how), `reader` (where expressions and complaints go),
//! `graph` (decisions, knowledge models, services, and what they require), `logic` and `table` (boxed expressions), `types`
//! (item definitions).

mod file;
mod graph;
mod logic;
mod names;
mod order;
mod reader;
mod table;
mod types;

use model::Requirements;

use crate::diagnostic::{Diagnostic, Findings};
use crate::xml;
use reader::{Reader, Rules};

/// Compiles a DMN file as a deployment takes it: UTF-8, every expression readable, every decision with its logic. Types are
/// documentation, as Camunda 8 has it.
///
/// # Errors
/// Everything that is wrong with the file, in document order.
pub fn dmn(content: &[u8]) -> Result<Requirements, Vec<Diagnostic>> {
    compile(content, &[], Rules::Deployed)
}

/// Compiles a DMN file as the standard has it: what cannot be read is `null`, types are checked, imports are found among the
/// other files.
///
/// # Errors
/// What is wrong with the file so that nothing can be said about any of its decisions, in document order.
pub fn dmn_standard(content: &[u8], imported: &[&[u8]]) -> Result<Requirements, Vec<Diagnostic>> {
    compile(content, imported, Rules::Standard)
}

fn compile(content: &[u8], imported: &[&[u8]], rules: Rules) -> Result<Requirements, Vec<Diagnostic>> {
    let text = xml::decode(content)?;
    let document = xml::parse(text)?;
    let texts = imported.iter().map(|content| xml::decode(content)).collect::<Result<Vec<_>, _>>()?;
    let others = texts.iter().map(|text| xml::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mut findings = Findings::default();
    let compiled = file::root(&document, &mut findings).map(|root| {
        let mut files = vec![root];
        files.extend(others.iter().filter_map(|other| file::root(other, &mut Findings::default())));
        Reader::new(files, rules, &mut findings).requirements()
    });
    match compiled {
        Some(requirements) if findings.is_empty() => Ok(requirements),
        _ => Err(findings.diagnostics(text)),
    }
}
