//! Names: plain words, backticks, and names with spaces that are known to exist.

use super::characters::{is_name_part, is_space};
use super::cursor::{Cursor, Parsed};
use crate::types::Type;
use std::sync::Arc;

/// Words that are never names.
const RESERVED: [&str; 11] = ["null", "true", "false", "function", "in", "return", "then", "else", "satisfies", "and", "or"];

/// Built-in functions whose names hold reserved words.
const RESERVED_INSIDE: [&str; 5] = ["date and time", "years and months duration", "get or else", "and", "or"];

/// What is known where an expression stands: names that are not single words, and types by name.
///
/// In a decision model names may hold spaces and operators (`Full Name`, `a-b`). Such a name can only be told from
/// an expression by knowing it, so the model's names are given here, members of its types included.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Arc<str>>,
    types: Vec<(Arc<str>, Type)>,
}

impl Names {
    /// Adds the name of a variable or member. Single words need not be added but may be.
    pub fn add(&mut self, name: &str) {
        let name = normalized(name);
        if !is_word(&name) && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Adds a type by name.
    pub fn add_type(&mut self, name: &str, value: Type) {
        self.types.push((normalized(name), value));
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names.iter()
    }

    pub(super) fn types(&self) -> impl Iterator<Item = &(Arc<str>, Type)> {
        self.types.iter()
    }
}

/// The name with single spaces between its words.
pub(super) fn normalized(name: &str) -> Arc<str> {
    let words: Vec<&str> = name.split(is_space).filter(|word| !word.is_empty()).collect();
    Arc::from(words.join(" "))
}

/// Whether a name can be written without backticks and without being known.
pub(crate) fn is_word(name: &str) -> bool {
    let cursor = Cursor { source: name, at: 0 };
    cursor.peek_word().is_some_and(|word| word.len() == name.len()) && !RESERVED.contains(&name)
}

impl Cursor<'_> {
    /// A single word that is not reserved.
    pub(super) fn word(&mut self) -> Option<Arc<str>> {
        let word = self.peek_word().filter(|word| !RESERVED.contains(word))?;
        self.at += word.len();
        Some(Arc::from(word))
    }

    /// A name in backticks, which may hold any character but a backtick.
    pub(super) fn backticked(&mut self) -> Parsed<Option<Arc<str>>> {
        let Some(inside) = self.rest().strip_prefix('`') else {
            return Ok(None);
        };
        match inside.find('`') {
            Some(end) if 0 < end => {
                self.at += end + 2;
                Ok(Some(Arc::from(&inside[..end])))
            }
            _ => self.fail("a name in backticks"),
        }
    }

    /// The longest of `known` that is written here, spaces taken as equal.
    pub(super) fn known<'n>(&mut self, known: impl Iterator<Item = &'n Arc<str>>) -> Option<Arc<str>> {
        let mut best: Option<(usize, &Arc<str>)> = None;
        for name in known {
            if let Some(length) = self.matches(name)
                && best.is_none_or(|(longest, _)| longest < length)
            {
                best = Some((length, name));
            }
        }
        let (length, name) = best?;
        self.at += length;
        Some(Arc::clone(name))
    }

    /// How many bytes here spell `name`, if they do and no name goes on behind them.
    fn matches(&self, name: &str) -> Option<usize> {
        let mut rest = self.rest();
        for (at, word) in name.split(' ').enumerate() {
            if 0 < at {
                let trimmed = rest.trim_start_matches(is_space);
                if trimmed.len() == rest.len() {
                    return None;
                }
                rest = trimmed;
            }
            rest = rest.strip_prefix(word)?;
        }
        let ends_in_part = name.chars().next_back().is_some_and(is_name_part);
        let goes_on = rest.chars().next().is_some_and(is_name_part);
        (!ends_in_part || !goes_on).then(|| self.rest().len() - rest.len())
    }

    /// A function's name and its opening parenthesis: one word or several.
    pub(super) fn function_name(&mut self) -> Parsed<Option<Arc<str>>> {
        let start = self.at;
        for name in RESERVED_INSIDE {
            if let Some(length) = self.matches(name) {
                self.at += length;
                if self.symbol("(")? {
                    return Ok(Some(Arc::from(name)));
                }
                self.at = start;
            }
        }
        let mut words: Vec<&str> = Vec::new();
        while let Some(word) = self.peek_word() {
            let operator = !words.is_empty() && matches!(word, "between" | "instance");
            if RESERVED.contains(&word) || operator {
                break;
            }
            words.push(word);
            self.at += word.len();
            let spaces = self.rest().len() - self.rest().trim_start_matches(is_space).len();
            self.at += spaces;
        }
        if !words.is_empty() && self.symbol("(")? {
            return Ok(Some(Arc::from(words.join(" "))));
        }
        self.at = start;
        Ok(None)
    }

    /// A parameter's name before its colon; does not move if there is none.
    pub(super) fn label(&mut self) -> Parsed<Option<Arc<str>>> {
        let start = self.at;
        self.space()?;
        if let Some(name) = self.backticked()? {
            if self.symbol(":")? {
                return Ok(Some(name));
            }
            self.at = start;
            return Ok(None);
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !is_name_part(c) && !is_space(c) && !matches!(c, '\'' | '-')).unwrap_or(rest.len());
        let name = normalized(&rest[..end]);
        let begins = self.peek_word().is_some();
        if begins && rest[end..].starts_with(':') {
            self.at += end + 1;
            return Ok(Some(name));
        }
        self.at = start;
        Ok(None)
    }
}
