//! Lines → statements: a head with its id, and the indented lines under it.

use crate::bpmn::is_id;
use crate::diagnostic::{Findings, quoted};

pub(super) struct Statement {
    /// Byte offset of the line.
    pub(super) at: usize,
    pub(super) id: String,
    /// From `id in SCOPE`.
    pub(super) scope: Option<String>,
    /// What stands behind the colon.
    pub(super) head: String,
    pub(super) options: Vec<Line>,
}

/// An indented line.
pub(super) struct Line {
    pub(super) at: usize,
    pub(super) text: String,
}

pub(super) fn split(source: &str, findings: &mut Findings) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut next = 0;
    for raw in source.split('\n') {
        let at = next;
        next += raw.len() + 1;
        let line = raw.trim();
        let indented = raw.starts_with([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !indented {
            statements.extend(head(at, raw, findings));
            continue;
        }
        let Some(statement) = statements.last_mut() else {
            findings.add_anonymous(at, "an indented line needs a line 'id: kind' above it");
            continue;
        };
        match raw.trim_start().strip_prefix('|') {
            Some(more) => {
                let text = statement.options.last_mut().map_or(&mut statement.head, |option| &mut option.text);
                text.push('\n');
                text.push_str(more);
            }
            // The end of the line stays: it may be in the middle of a text that goes on below.
            None => statement.options.push(Line { at, text: raw.trim_start().to_owned() }),
        }
    }
    statements
}

fn head(at: usize, line: &str, findings: &mut Findings) -> Option<Statement> {
    let Some((id, head)) = line.split_once(':') else {
        findings.add_anonymous(at, "a line is 'id: kind arguments -> targets'");
        return None;
    };
    let mut words = id.split_whitespace();
    let (id, scope) = match (words.next(), words.next(), words.next(), words.next()) {
        (Some(id), None, None, None) => (id, None),
        (Some(id), Some("in"), Some(scope), None) => (id, Some(scope.to_owned())),
        _ => {
            findings.add_anonymous(at, "before the colon stands 'id' or 'id in scope'");
            return None;
        }
    };
    if !is_id(id) {
        findings.add_anonymous(at, format!("{} cannot be an id", quoted(id)));
        return None;
    }
    Some(Statement { at, id: id.to_owned(), scope, head: head.trim_start().to_owned(), options: Vec::new() })
}
