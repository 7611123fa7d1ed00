//! Unary tests, and the names of types.

use super::ast::{Expr, RangeExpr, Test};
use super::cursor::Parsed;
use super::parser::Parser;
use crate::dialect::Dialect;
use crate::types::Type;
use std::sync::Arc;

impl Parser<'_> {
    /// Everything a decision table's input entry may be.
    pub(super) fn unary_tests(&mut self) -> Parsed<Vec<Test>> {
        self.cursor.space()?;
        if self.cursor.rest().trim_end() == "-" {
            self.cursor.at = self.cursor.source.len();
            return Ok(vec![Test::Any]);
        }
        let start = self.cursor.at;
        if self.cursor.keyword("not")? && self.cursor.symbol("(")? {
            let tests = self.tests()?;
            if self.cursor.symbol(")")? {
                self.cursor.space()?;
                if self.cursor.at == self.cursor.source.len() {
                    return Ok(vec![Test::Not(tests)]);
                }
            }
        }
        self.cursor.at = start;
        self.tests()
    }

    fn tests(&mut self) -> Parsed<Vec<Test>> {
        let mut tests = vec![self.test()?];
        while self.cursor.symbol(",")? {
            tests.push(self.test()?);
        }
        Ok(tests)
    }

    fn test(&mut self) -> Parsed<Test> {
        Ok(match self.expression()? {
            Expr::Test(test) => *test,
            other => Test::Expression(other),
        })
    }

    /// The right side of `in`: one test, or several in parentheses.
    pub(super) fn in_tests(&mut self) -> Parsed<Vec<Test>> {
        if !self.cursor.symbol("(")? {
            if let Some(operator) = self.comparison_symbol()? {
                return Ok(vec![Test::Compare(operator, self.additive()?)]);
            }
            return Ok(vec![Test::Expression(self.additive()?)]);
        }
        let first = self.test()?;
        if self.cursor.symbol("..")? {
            let Test::Expression(start) = first else {
                return self.cursor.fail("')'");
            };
            return Ok(vec![Test::Expression(self.range_end(start, false)?)]);
        }
        let mut tests = vec![first];
        while self.cursor.symbol(",")? {
            tests.push(self.test()?);
        }
        self.cursor.expect(")")?;
        Ok(tests)
    }

    /// What follows `..` of a range.
    pub(super) fn range_end(&mut self, start: Expr, start_included: bool) -> Parsed<Expr> {
        let end = self.additive()?;
        let end_included = if self.cursor.symbol("]")? {
            true
        } else if self.cursor.symbol(")")? || self.cursor.symbol("[")? {
            false
        } else {
            return self.cursor.fail("']', ')' or '['");
        };
        Ok(Expr::Range(Box::new(RangeExpr { start, start_included, end, end_included })))
    }

    /// A type, as `instance of` and declared parameters name it.
    pub(super) fn type_name(&mut self) -> Parsed<Type> {
        self.deeper(|parser| {
            parser.cursor.space()?;
            if let Some(name) = parser.cursor.known(parser.names.types().map(|(name, _)| name)) {
                let found = parser.names.types().find(|(candidate, _)| *candidate == name);
                return Ok(found.map_or(Type::Unknown(name), |(_, value)| value.clone()));
            }
            let name = parser.plain_type_name()?;
            match &*name {
                "list" => Ok(Type::List(parser.element_type()?)),
                "range" => Ok(Type::Range(parser.element_type()?)),
                "context" => parser.context_type(),
                "function" => parser.function_type(),
                "Null" if parser.dialect == Dialect::Camunda => Ok(Type::Unknown(name)),
                _ => Ok(Type::named(&name).unwrap_or(Type::Unknown(name))),
            }
        })
    }

    fn plain_type_name(&mut self) -> Parsed<Arc<str>> {
        const SPACED: [&str; 4] = ["years and months duration", "days and time duration", "date and time", "date time"];
        let spaced: Vec<Arc<str>> = SPACED.into_iter().map(Arc::from).collect();
        if let Some(name) = self.cursor.known(spaced.iter()) {
            return Ok(name);
        }
        let start = self.cursor.at;
        let mut end = None;
        // Qualified names, and the hyphenated names of older versions of the standard.
        while let Some(word) = self.cursor.peek_word() {
            self.cursor.at += word.len();
            end = Some(self.cursor.at);
            if !(self.cursor.rest().starts_with('.') || self.cursor.rest().starts_with('-')) {
                break;
            }
            self.cursor.at += 1;
        }
        match end {
            Some(end) => {
                self.cursor.at = end;
                Ok(Arc::from(&self.cursor.source[start..end]))
            }
            None => self.cursor.fail("the name of a type"),
        }
    }

    fn element_type(&mut self) -> Parsed<Option<Box<Type>>> {
        if !self.cursor.symbol("<")? {
            return Ok(None);
        }
        let element = self.type_name()?;
        self.cursor.expect(">")?;
        Ok(Some(Box::new(element)))
    }

    fn context_type(&mut self) -> Parsed<Type> {
        if !self.cursor.symbol("<")? {
            return Ok(Type::Context(None));
        }
        let mut members = Vec::new();
        loop {
            let Some(name) = self.cursor.label()? else {
                return self.cursor.fail("a member's name");
            };
            members.push((name, self.type_name()?));
            if !self.cursor.symbol(",")? {
                break;
            }
        }
        self.cursor.expect(">")?;
        Ok(Type::Context(Some(members)))
    }

    fn function_type(&mut self) -> Parsed<Type> {
        if !self.cursor.symbol("<")? {
            return Ok(Type::Function(None));
        }
        let mut count = 0;
        if !self.cursor.symbol(">")? {
            loop {
                self.type_name()?;
                count += 1;
                if !self.cursor.symbol(",")? {
                    break;
                }
            }
            self.cursor.expect(">")?;
        }
        self.cursor.expect("->")?;
        self.type_name()?;
        Ok(Type::Function(Some(count)))
    }
}
