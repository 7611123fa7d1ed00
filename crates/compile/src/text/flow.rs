//! Flows of the notation: `TARGET`, `TARGET if FEEL`, `default TARGET`, with `as ID` behind the target if wanted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::statement::Statement;
use super::words;
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Condition, DraftFlow};
use crate::expression;

/// The flows of a process, and how often each pair of elements is connected.
#[derive(Default)]
pub(super) struct Flows {
    pub(super) list: Vec<DraftFlow>,
    pairs: HashMap<(Arc<str>, String), usize>,
    ids: HashSet<Arc<str>>,
}

impl Flows {
    /// Reads the flows in a head, `a, b if x, default c`. Gives the default flow, if there is one.
    pub(super) fn read_all(&mut self, statement: &Statement, text: &str, findings: &mut Findings) -> Option<Arc<str>> {
        let mut default = None;
        let mut rest = text;
        loop {
            let end = words::outside(rest, ",").unwrap_or(rest.len());
            default = self.read(statement, statement.at, &rest[..end], findings).or(default);
            match rest.get(end + 1..) {
                Some(more) => rest = more,
                None => return default,
            }
        }
    }

    /// Reads one flow. Gives its id, if it is the default.
    pub(super) fn read(&mut self, statement: &Statement, at: usize, text: &str, findings: &mut Findings) -> Option<Arc<str>> {
        let Some(written) = Written::parse(text) else {
            findings.add(
                at,
                &statement.id,
                "a flow is 'target', 'target if FEEL' or 'default target', with 'as id' behind the target",
            );
            return None;
        };
        let source: Arc<str> = statement.id.as_str().into();
        let id = written.id.unwrap_or_else(|| self.usual_id(&source, &written.target));
        let condition = match written.condition {
            None => Condition::None,
            Some(text) => match expression::parse("the condition", text) {
                Ok(expression) => Condition::Read(expression),
                Err(reason) => {
                    findings.add(at, &statement.id, reason);
                    Condition::Refused
                }
            },
        };
        let id: Arc<str> = id.into();
        if !self.ids.insert(Arc::clone(&id)) {
            findings.add(at, &statement.id, format!("the flow id {} is used more than once", quoted(&id)));
        }
        let default = written.default.then(|| Arc::clone(&id));
        self.list.push(DraftFlow { at, id, source, target: written.target.into(), condition });
        default
    }

    fn usual_id(&mut self, source: &Arc<str>, target: &str) -> String {
        let count = self.pairs.entry((Arc::clone(source), target.to_owned())).or_insert(0);
        *count += 1;
        usual_id(source, target, *count)
    }
}

/// What the n-th flow from one element to another is called, if nothing else is said.
pub(super) fn usual_id(source: &str, target: &str, count: usize) -> String {
    match count {
        1 => format!("{source}_{target}"),
        count => format!("{source}_{target}_{count}"),
    }
}

struct Written<'a> {
    default: bool,
    target: String,
    id: Option<String>,
    condition: Option<&'a str>,
}

impl<'a> Written<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        // `default` is a word like any other, unless a target follows.
        let marked = keyword(text, "default").filter(|rest| keyword(rest, "as").is_none() && keyword(rest, "if").is_none());
        let (target, mut rest) = words::first(marked.unwrap_or(text))?;
        let mut id = None;
        if let Some(named) = keyword(rest, "as") {
            let (word, more) = words::first(named)?;
            (id, rest) = (Some(word), more);
        }
        let condition = keyword(rest, "if");
        (rest.is_empty() || condition.is_some()).then_some(Self { default: marked.is_some(), target, id, condition })
    }
}

/// What follows a keyword, if the text begins with it.
fn keyword<'a>(text: &'a str, keyword: &str) -> Option<&'a str> {
    text.strip_prefix(keyword).filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim_start)
}
