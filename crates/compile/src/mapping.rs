//! Input and output mappings → one FEEL context expression per direction, which is how Camunda 8 evaluates them.
//!
//! Entries stand in the order of their first appearance and see the entries before them. A target mapped twice keeps its
//! place and takes the later source. Nested targets share one entry:
//!
//! ```text
//! a -> b, b + 1 -> c, 1 -> o.x      in   {b: a, c: b + 1, o: {x: 1}}
//! r.y -> o.deep.y                   out  {o: if o = null then {deep: {y: r.y}} else context merge([o, {deep: …}])}
//! ```

use std::collections::HashMap;

use feel::Expression;

use crate::diagnostic::quoted;
use crate::expression;

/// A target has at most this many names; each is several levels of the merging expression, which FEEL bounds too.
const TARGET_NAMES_MAX: usize = 16;
/// The context expression of one direction is at most this long.
const CONTEXT_BYTES_MAX: usize = 1 << 20;

/// Words that cannot be a variable on their own.
const RESERVED_TARGETS: [&str; 11] =
    ["null", "true", "false", "function", "if", "then", "else", "for", "between", "instance", "of"];

/// Words FEEL reads as something else than a name, unless they stand between backticks.
const FEEL_WORDS: [&str; 18] = [
    "and",
    "or",
    "not",
    "in",
    "some",
    "every",
    "return",
    "satisfies",
    "null",
    "true",
    "false",
    "function",
    "if",
    "then",
    "else",
    "for",
    "between",
    "instance",
];

#[derive(Clone, Copy)]
pub(crate) enum Direction {
    /// Builds new variables.
    Input,
    /// A nested target is merged into the variable that is there.
    Output,
}

/// The mappings of one direction of one element. `add` in the order written, then `finish`.
pub(crate) struct Mappings {
    direction: Direction,
    entries: Entries,
}

#[derive(Default)]
struct Entries {
    list: Vec<(String, Entry)>,
    position: HashMap<String, usize>,
}

enum Entry {
    Source(String),
    Nested(Entries),
}

impl Mappings {
    pub(crate) fn new(direction: Direction) -> Self {
        Self { direction, entries: Entries::default() }
    }

    /// Adds a mapping whose source is FEEL without its `=`. The source is parsed on its own first, so that the complaint
    /// names this mapping and no text can close the context around it.
    pub(crate) fn add(&mut self, source: &str, target: &str) -> Result<(), String> {
        let names = target_names(target)?;
        expression::parse(&format!("the source of the mapping to {}", quoted(target)), source)?;
        self.entries.put(&names, source.trim());
        Ok(())
    }

    /// The context expression, if there is any mapping.
    pub(crate) fn finish(self) -> Result<Option<Expression>, String> {
        if self.entries.list.is_empty() {
            return Ok(None);
        }
        let mut context = Context { text: String::new(), path: Vec::new(), full: false };
        match self.direction {
            Direction::Input => context.plain(&self.entries),
            Direction::Output => context.merging(&self.entries),
        }
        if context.full {
            return Err(format!("the mappings are too long: at most {CONTEXT_BYTES_MAX} bytes as one expression"));
        }
        expression::parse("the context of all mappings", &context.text).map(Some)
    }
}

impl Entries {
    fn put(&mut self, names: &[&str], source: &str) {
        let Some((name, inner)) = names.split_first() else {
            return;
        };
        let position = *self.position.entry((*name).to_owned()).or_insert_with(|| {
            self.list.push(((*name).to_owned(), Entry::Nested(Entries::default())));
            self.list.len() - 1
        });
        let entry = &mut self.list[position].1;
        if inner.is_empty() {
            *entry = Entry::Source(source.to_owned());
            return;
        }
        if let Entry::Source(_) = entry {
            *entry = Entry::Nested(Entries::default());
        }
        if let Entry::Nested(entries) = entry {
            entries.put(inner, source);
        }
    }
}

/// Writes the context. Recursion ends at `TARGET_NAMES_MAX`.
struct Context {
    text: String,
    /// The names on the way to where we are.
    path: Vec<String>,
    full: bool,
}

impl Context {
    fn plain(&mut self, entries: &Entries) {
        self.braces(entries, |this, nested| this.plain(nested));
    }

    fn merging(&mut self, entries: &Entries) {
        self.braces(entries, |this, nested| this.merge(nested));
    }

    fn merge(&mut self, nested: &Entries) {
        let variable = self.path.join(".");
        self.push("if ");
        self.push(&variable);
        self.push(" = null then ");
        // Inside a variable that is null there is nothing to merge with either.
        self.plain(nested);
        self.push(" else context merge([");
        self.push(&variable);
        self.push(", ");
        self.merging(nested);
        self.push("])");
    }

    fn braces(&mut self, entries: &Entries, nest: fn(&mut Self, &Entries)) {
        self.push("{");
        for (index, (name, entry)) in entries.list.iter().enumerate() {
            if 0 < index {
                self.push(", ");
            }
            let name = feel_name(name);
            self.push(&name);
            self.push(": ");
            match entry {
                Entry::Source(source) => self.source(source),
                Entry::Nested(nested) => {
                    self.path.push(name);
                    nest(self, nested);
                    self.path.pop();
                }
            }
        }
        self.push("}");
    }

    fn source(&mut self, source: &str) {
        self.push(source);
        if source.contains("//") {
            // A comment at the end of the source must not swallow what follows.
            self.push("\n");
        }
    }

    fn push(&mut self, text: &str) {
        self.full |= CONTEXT_BYTES_MAX < self.text.len() + text.len();
        if !self.full {
            self.text.push_str(text);
        }
    }
}

fn target_names(target: &str) -> Result<Vec<&str>, String> {
    if target.is_empty() {
        return Err("a mapping needs a target: the name of a variable".to_owned());
    }
    let names: Vec<&str> = target.split('.').collect();
    if !names.iter().all(|name| is_variable_name(name)) {
        return Err(format!("the target {} must be names of letters, digits and '_', separated by dots", quoted(target)));
    }
    if RESERVED_TARGETS.contains(&target) {
        return Err(format!("the target {} is a reserved word", quoted(target)));
    }
    if TARGET_NAMES_MAX < names.len() {
        return Err(format!("the target {} is too deep: at most {TARGET_NAMES_MAX} names", quoted(target)));
    }
    Ok(names)
}

fn is_variable_name(name: &str) -> bool {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn feel_name(name: &str) -> String {
    if FEEL_WORDS.contains(&name) { format!("`{name}`") } else { name.to_owned() }
}
