//! `if`, `for`, `some`, `every` and `function`.

use super::ast::{Domain, Expr, Formal, Iteration, Quantifier};
use super::cursor::Parsed;
use super::parser::Parser;
use std::sync::Arc;

impl Parser<'_> {
    /// An expression that begins with a keyword, if one does.
    pub(super) fn compound(&mut self) -> Parsed<Option<Expr>> {
        let quantifier = match self.cursor.peek_word() {
            Some("if" | "for" | "some" | "every") if self.known_name_follows() => return Ok(None),
            Some("if") => return self.guarded(|parser| parser.conditional()),
            Some("for") => return self.guarded(Parser::iteration),
            Some("some") => Quantifier::Some,
            Some("every") => Quantifier::Every,
            _ => return Ok(None),
        };
        self.guarded(move |parser| parser.quantified(quantifier))
    }

    /// `if` and its like may also be the names of variables: whatever follows then is not an expression.
    fn guarded(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Option<Expr>> {
        let start = self.cursor.at;
        let mut ahead = self.cursor.clone();
        ahead.at += ahead.peek_word().map_or(0, str::len);
        ahead.space()?;
        let as_name = match ahead.peek() {
            None => true,
            Some(c) => matches!(c, ')' | ']' | '}' | ',' | '.' | '=' | '<' | '>' | '!' | '+' | '*' | '/'),
        };
        if as_name {
            self.cursor.at = start;
            return Ok(None);
        }
        read(self).map(Some)
    }

    /// `if … then … else …`; an `else if` continues the same list.
    fn conditional(&mut self) -> Parsed<Expr> {
        let mut branches = Vec::new();
        loop {
            self.cursor.expect_keyword("if")?;
            let condition = self.expression()?;
            self.cursor.expect_keyword("then")?;
            let result = self.expression()?;
            self.cursor.expect_keyword("else")?;
            branches.push((condition, result));
            self.cursor.space()?;
            if self.cursor.peek_word() != Some("if") {
                let otherwise = self.expression()?;
                return Ok(Expr::If(branches, Box::new(otherwise)));
            }
        }
    }

    fn iteration(&mut self) -> Parsed<Expr> {
        self.cursor.expect_keyword("for")?;
        let (iterations, body) = self.iterations("return")?;
        Ok(Expr::For(iterations, Box::new(body)))
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        let keyword = match quantifier {
            Quantifier::Some => "some",
            Quantifier::Every => "every",
        };
        self.cursor.expect_keyword(keyword)?;
        let (iterations, body) = self.iterations("satisfies")?;
        Ok(Expr::Quantified(quantifier, iterations, Box::new(body)))
    }

    /// The iterations up to `keyword`, and the body behind it, which knows their names.
    fn iterations(&mut self, keyword: &str) -> Parsed<(Vec<Iteration>, Expr)> {
        let before = self.local.len();
        let result = self.iterations_and_body(keyword);
        self.local.truncate(before);
        result
    }

    fn iterations_and_body(&mut self, keyword: &str) -> Parsed<(Vec<Iteration>, Expr)> {
        let mut iterations = Vec::new();
        loop {
            let name = self.iteration_name()?;
            let domain = self.domain()?;
            self.bring_into_scope(&name);
            iterations.push(Iteration { name, domain });
            if !self.cursor.symbol(",")? {
                break;
            }
        }
        self.cursor.expect_keyword(keyword)?;
        let body = self.expression()?;
        Ok((iterations, body))
    }

    /// The name before `in`: one word or several, or in backticks.
    fn iteration_name(&mut self) -> Parsed<Arc<str>> {
        self.cursor.space()?;
        if let Some(name) = self.cursor.backticked()? {
            self.cursor.expect_keyword("in")?;
            return Ok(name);
        }
        let mut words = Vec::new();
        while let Some(word) = self.cursor.word() {
            words.push(word);
            self.cursor.space()?;
        }
        if words.is_empty() {
            return self.cursor.fail("a name");
        }
        self.cursor.expect_keyword("in")?;
        Ok(Arc::from(words.join(" ")))
    }

    fn domain(&mut self) -> Parsed<Domain> {
        let first = self.deeper(Parser::domain_operand)?;
        if self.cursor.symbol("..")? {
            return Ok(Domain::Count(first, self.additive()?));
        }
        Ok(Domain::Items(first))
    }

    fn domain_operand(&mut self) -> Parsed<Expr> {
        self.cursor.space()?;
        match self.compound()? {
            Some(compound) => Ok(compound),
            None => self.additive(),
        }
    }

    /// `function(a, b: type) body`; the keyword is already read.
    pub(super) fn function(&mut self) -> Parsed<Expr> {
        self.cursor.expect("(")?;
        let mut formals = Vec::new();
        if !self.cursor.symbol(")")? {
            loop {
                formals.push(self.formal()?);
                if !self.cursor.symbol(",")? {
                    break;
                }
            }
            self.cursor.expect(")")?;
        }
        let external = self.cursor.keyword("external")?;
        let before = self.local.len();
        for formal in &formals {
            self.bring_into_scope(&formal.name);
        }
        let body = self.expression();
        self.local.truncate(before);
        let body = Box::new(body?);
        Ok(if external { Expr::External(formals, body) } else { Expr::Function(formals, body) })
    }

    fn formal(&mut self) -> Parsed<Formal> {
        self.cursor.space()?;
        let name = match self.cursor.backticked()? {
            Some(name) => name,
            None => {
                let mut words = Vec::new();
                while let Some(word) = self.cursor.word() {
                    words.push(word);
                    self.cursor.space()?;
                }
                if words.is_empty() {
                    return self.cursor.fail("a parameter's name");
                }
                Arc::from(words.join(" "))
            }
        };
        let declared = if self.cursor.symbol(":")? { Some(self.type_name()?) } else { None };
        Ok(Formal { name, declared })
    }
}
