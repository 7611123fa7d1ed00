//! What reading needs everywhere: the files, what is called how, and where to put complaints.

use std::sync::Arc;

use feel::{Dialect, Expression, Names, ParseError};
use model::decision::{Logic, Test, Type, Variable};
use roxmltree::Node;

use super::file::{File, child, text_of};
use super::names::normalized;
use crate::diagnostic::{Findings, quoted};

/// Every known name is looked for at every place of every expression: at most so many bytes times names.
const READING_MAX: usize = 100_000_000;

/// How much has to be right.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Everything, before it is deployed.
    Deployed,
    /// What the standard's test suite takes for granted.
    Standard,
}

/// Expressions or unary tests.
type Parse = fn(&str, Dialect, &Names) -> Result<Expression, ParseError>;

pub(super) struct Reader<'a, 'f> {
    pub(super) files: Vec<File<'a>>,
    /// The file being read.
    pub(super) current: usize,
    pub(super) rules: Rules,
    /// Of the file being read.
    pub(super) names: Names,
    /// How many names that are not single words.
    pub(super) names_count: usize,
    /// Bytes of expressions read so far.
    read: usize,
    /// The item definitions without what must hold of values.
    pub(super) plain: Vec<feel::Type>,
    findings: &'f mut Findings,
}

impl<'a, 'f> Reader<'a, 'f> {
    pub(super) fn new(files: Vec<File<'a>>, rules: Rules, findings: &'f mut Findings) -> Self {
        let names = Names::default();
        Self { files, current: 0, rules, names, names_count: 0, read: 0, plain: Vec::new(), findings }
    }

    pub(super) fn file(&self) -> &File<'a> {
        &self.files[self.current]
    }

    /// Notes a problem of the nearest element with an id.
    pub(super) fn complain(&mut self, node: Node<'_, '_>, reason: impl AsRef<str>) {
        let at = if self.current == 0 { node.range().start } else { 0 };
        match node.ancestors().find_map(|ancestor| ancestor.attribute("id")) {
            Some(id) => self.findings.add(at, id, reason),
            None => self.findings.add_anonymous(at, reason),
        }
    }

    /// Notes what only a deployment minds.
    pub(super) fn mind(&mut self, node: Node<'_, '_>, reason: impl AsRef<str>) {
        if self.rules == Rules::Deployed {
            self.complain(node, reason);
        }
    }

    /// What cannot be read: a problem of a deployment, otherwise an expression that is `null`.
    pub(super) fn unreadable(&mut self, node: Node<'_, '_>, reason: String) -> Logic {
        self.mind(node, &reason);
        Logic::Unreadable(Arc::from(reason))
    }

    /// The expression in an element's text.
    pub(super) fn literal(&mut self, node: Node<'a, 'a>, what: &str) -> Logic {
        if let Some(reason) = self.other_language(node) {
            return self.unreadable(node, reason);
        }
        let text = text_of(node, "text").unwrap_or_default();
        if text.trim().is_empty() {
            return self.unreadable(node, format!("{what} is empty: write FEEL in its text"));
        }
        if text.trim().starts_with('=') && self.rules == Rules::Deployed {
            return self.unreadable(node, format!("{what} {} begins with '=': leave that out in DMN", quoted(text.trim())));
        }
        match self.parsed(what, text.trim(), feel::parse_in) {
            Ok(expression) => Logic::Literal(expression),
            Err(reason) => self.unreadable(node, reason),
        }
    }

    /// Reads FEEL, knowing the names.
    fn parsed(&mut self, what: &str, text: &str, parse: Parse) -> Result<Expression, String> {
        self.read += text.len();
        // Types are looked for behind `instance of` only.
        let known = self.names_count + self.plain.len() / 8;
        if READING_MAX < self.read.saturating_mul(known) {
            return Err(format!("{what} cannot be read: too many names with spaces and types for so many expressions"));
        }
        parse(text, Dialect::Dmn, &self.names).map_err(|error| format!("{what} {} is not valid FEEL: {error}", quoted(text)))
    }

    /// The unary tests in an element's text; nothing if anything passes.
    pub(super) fn test(&mut self, node: Node<'a, 'a>, what: &str) -> Option<Test> {
        if let Some(reason) = self.other_language(node) {
            self.mind(node, &reason);
            return Some(Test::Unreadable(Arc::from(reason)));
        }
        let text = text_of(node, "text").unwrap_or_default();
        let text = text.trim();
        if text.is_empty() || text == "-" {
            return None;
        }
        if (text.starts_with('=') || text.starts_with("!=")) && !self.file().is_since_1_4() {
            self.mind(node, format!("{what} {} begins with an operator of DMN 1.4: use its namespace", quoted(text)));
        }
        Some(match self.parsed(what, text, feel::parse_unary_tests_in) {
            Ok(expression) => Test::Unary(expression),
            Err(reason) => {
                self.mind(node, &reason);
                Test::Unreadable(Arc::from(reason))
            }
        })
    }

    /// The unary tests in a child's text, where one that cannot be read may be left out.
    pub(super) fn allowed(&mut self, node: Node<'a, 'a>, name: &'static str) -> Option<Expression> {
        match self.test(child(node, name)?, "the list of allowed values")? {
            Test::Unary(expression) => Some(expression),
            Test::Unreadable(_) => None,
        }
    }

    /// The values in an element's text as a list in their order.
    pub(super) fn values(&mut self, node: Node<'a, 'a>) -> Option<Expression> {
        let text = text_of(node, "text")?;
        if text.trim().is_empty() {
            return None;
        }
        let parsed = self.parsed("the list of output values", &format!("[{text}\n]"), feel::parse_in);
        parsed.map_err(|reason| self.mind(node, reason)).ok()
    }

    /// Why an element's text is not FEEL, if it says so.
    fn other_language(&self, node: Node<'_, '_>) -> Option<String> {
        let language = node.attribute("expressionLanguage").or_else(|| self.file().root.attribute("expressionLanguage"))?;
        let is_feel = language.is_empty() || language.eq_ignore_ascii_case("feel") || language.contains("/FEEL");
        (!is_feel).then(|| format!("the expression language is {}, but only FEEL is supported", quoted(language)))
    }

    /// The type an attribute names. A type nobody knows says nothing.
    pub(super) fn declared(&self, node: Node<'_, '_>) -> Option<Type> {
        self.named_type(node.attribute("typeRef")?)
    }

    pub(super) fn named_type(&self, name: &str) -> Option<Type> {
        let name = name.trim();
        let file = self.file();
        if let Some(index) = file.types.get(name) {
            return Some(Type::Item(*index));
        }
        for (import, namespace) in &file.imports {
            let Some(rest) = name.strip_prefix(import).and_then(|rest| rest.strip_prefix(['.', ':'])) else {
                continue;
            };
            let other = self.files.iter().find(|other| other.namespace == *namespace);
            if let Some(index) = other.and_then(|other| other.types.get(rest)) {
                return Some(Type::Item(*index));
            }
        }
        let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
        match name {
            "integer" | "long" | "double" => Some(Type::Feel(feel::Type::Number)),
            "Any" => None,
            name => feel::Type::named(name).map(Type::Feel),
        }
    }

    /// The name and type of an element that is a variable.
    pub(super) fn variable(&mut self, node: Node<'a, 'a>) -> Variable {
        let name = node.attribute("name").map(normalized).unwrap_or_default();
        if name.is_empty() {
            self.complain(node, format!("{} needs a name", quoted(node.tag_name().name())));
        }
        Variable { name: Arc::from(name), declared: self.declared(node) }
    }
}

/// The first child of an element that is its variable, or else one of this name.
pub(super) fn own_variable<'a>(reader: &mut Reader<'a, '_>, node: Node<'a, 'a>, otherwise: &str) -> Variable {
    match child(node, "variable").filter(|variable| variable.attribute("name").is_some()) {
        Some(variable) => reader.variable(variable),
        None => {
            let declared = child(node, "variable").and_then(|variable| reader.declared(variable));
            Variable { name: Arc::from(normalized(otherwise)), declared }
        }
    }
}
