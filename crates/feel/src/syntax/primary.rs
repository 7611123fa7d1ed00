//! Values, and what may follow them: paths, filters, calls.

use super::ast::{Arguments, Expr};
use super::cursor::Parsed;
use super::parser::Parser;
use crate::dialect::Dialect;
use std::sync::Arc;

/// Properties of values whose names have spaces.
const SPACED_PROPERTIES: [&str; 3] = ["time offset", "start included", "end included"];

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        self.measured(|parser| {
            let mut base = parser.primary()?;
            while let Some(longer) = parser.step(&mut base)? {
                base = longer;
                parser.grow()?;
            }
            Ok(base)
        })
    }

    /// One path, filter or call behind `base`, if there is one; takes the base then.
    fn step(&mut self, base: &mut Expr) -> Parsed<Option<Expr>> {
        let take = |base: &mut Expr| Box::new(std::mem::replace(base, Expr::Null));
        if self.path_follows()? {
            return Ok(Some(Expr::Path(take(base), self.property()?)));
        }
        if self.filter_follows()? {
            let condition = self.expression()?;
            self.cursor.expect("]")?;
            return Ok(Some(Expr::Filter(Box::new((*take(base), condition)))));
        }
        if callable(base) && self.cursor.symbol("(")? {
            return Ok(Some(Expr::Call(take(base), self.arguments()?)));
        }
        Ok(None)
    }

    /// A dot that is not the first of two.
    fn path_follows(&mut self) -> Parsed<bool> {
        self.cursor.space()?;
        let rest = self.cursor.rest();
        if !rest.starts_with('.') || rest.starts_with("..") {
            return Ok(false);
        }
        self.cursor.at += 1;
        Ok(true)
    }

    /// A bracket opens a filter, except behind the end of a range such as `]1..5[`.
    fn filter_follows(&mut self) -> Parsed<bool> {
        self.cursor.space()?;
        if !self.cursor.rest().starts_with('[') {
            return Ok(false);
        }
        if self.open_range_ends_here() {
            return Ok(false);
        }
        self.cursor.at += 1;
        Ok(true)
    }

    /// Whether the bracket here can only close a range: nothing that could be a filter follows it.
    fn open_range_ends_here(&self) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.at += 1;
        if ahead.space().is_err() {
            return false;
        }
        match ahead.peek() {
            None => true,
            Some(')' | ']' | ',' | '}' | '.' | '=' | '!') => true,
            Some(_) => matches!(ahead.peek_word(), Some("and" | "or" | "then" | "else" | "return" | "satisfies" | "in")),
        }
    }

    fn property(&mut self) -> Parsed<Arc<str>> {
        self.cursor.space()?;
        if let Some(name) = self.cursor.backticked()? {
            return Ok(name);
        }
        let spaced: Vec<Arc<str>> = SPACED_PROPERTIES.into_iter().map(Arc::from).collect();
        let known = spaced.iter().chain(self.names.names()).chain(self.local.iter()).chain(self.keys.iter());
        if let Some(name) = self.cursor.known(known) {
            return Ok(name);
        }
        match self.cursor.peek_word() {
            Some(word) => {
                self.cursor.at += word.len();
                Ok(Arc::from(word))
            }
            None => self.cursor.fail("a name"),
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        self.cursor.space()?;
        let Some(first) = self.cursor.peek() else {
            return self.cursor.fail("an expression");
        };
        match first {
            '"' => {
                let text = self.string()?;
                return Ok(Expr::String(text.unwrap_or_default()));
            }
            '0'..='9' | '.' => {
                if let Some(number) = self.number()? {
                    return Ok(number);
                }
            }
            '[' => {
                self.cursor.at += 1;
                return self.bracketed();
            }
            '{' => {
                self.cursor.at += 1;
                return self.context();
            }
            '(' | ']' => {
                self.cursor.at += 1;
                return self.parenthesized(first);
            }
            '?' => {
                self.cursor.at += 1;
                return Ok(Expr::Input);
            }
            '@' => {
                self.cursor.at += 1;
                self.cursor.space()?;
                return match self.string()? {
                    Some(text) => Ok(Expr::At(text)),
                    None => self.cursor.fail("a string behind '@'"),
                };
            }
            _ => {}
        }
        self.named()
    }

    /// `(…)`, or a range that leaves out its start.
    fn parenthesized(&mut self, open: char) -> Parsed<Expr> {
        let inner = self.expression()?;
        if self.cursor.symbol("..")? {
            return self.range_end(inner, false);
        }
        if open == ']' {
            return self.cursor.fail("'..'");
        }
        self.cursor.expect(")")?;
        Ok(inner)
    }

    fn named(&mut self) -> Parsed<Expr> {
        // A known name with spaces wins over keywords and functions that begin alike.
        if let Some(name) = self.known_name() {
            return Ok(Expr::Name(name));
        }
        match self.cursor.peek_word() {
            Some(word @ ("null" | "true" | "false")) => {
                self.cursor.at += word.len();
                return Ok(match word {
                    "null" => Expr::Null,
                    _ => Expr::Bool(word == "true"),
                });
            }
            Some("function") => {
                self.cursor.at += "function".len();
                return self.function();
            }
            _ => {}
        }
        if self.dialect == Dialect::Camunda && self.cursor.known([Arc::from("time offset")].iter()).is_some() {
            return Ok(Expr::Name(Arc::from("time offset")));
        }
        if let Some(name) = self.cursor.function_name()? {
            return Ok(Expr::Call(Box::new(Expr::Name(name)), self.arguments()?));
        }
        match self.name()? {
            Some(name) => Ok(Expr::Name(name)),
            None => self.cursor.fail("an expression"),
        }
    }

    /// Arguments behind the opening parenthesis.
    fn arguments(&mut self) -> Parsed<Arguments> {
        if self.cursor.symbol(")")? {
            return Ok(Arguments::Positional(Vec::new()));
        }
        if let Some(first) = self.cursor.label()? {
            return self.named_arguments(first);
        }
        let mut values = Vec::new();
        loop {
            values.push(self.expression()?);
            if !self.cursor.symbol(",")? {
                break;
            }
        }
        self.cursor.expect(")")?;
        Ok(Arguments::Positional(values))
    }

    fn named_arguments(&mut self, first: Arc<str>) -> Parsed<Arguments> {
        let mut named = vec![(first, self.expression()?)];
        while self.cursor.symbol(",")? {
            match self.cursor.label()? {
                Some(name) => named.push((name, self.expression()?)),
                None => return self.cursor.fail("a parameter's name and ':'"),
            }
        }
        self.cursor.expect(")")?;
        Ok(Arguments::Named(named))
    }
}

/// Whether a parenthesis behind this expression calls it.
fn callable(base: &Expr) -> bool {
    matches!(base, Expr::Name(_) | Expr::Path(..) | Expr::Call(..) | Expr::Filter(_) | Expr::Function(..) | Expr::External(..))
}
