//! The parser of the small language.

use crate::error::{ParseError, Position};
use crate::limits::{NESTING_MAX, SOURCE_BYTES_MAX};
use crate::number::Number;
use crate::syntax::ast::{Arguments, Arithmetic, Comparison, Expr};
use std::sync::Arc;

struct Failure {
    offset: usize,
    expected: String,
}

type Parsed<T> = Result<T, Failure>;

struct Parser<'s> {
    source: &'s str,
    at: usize,
    depth: u32,
}

/// Reads a whole text as one expression.
pub(super) fn parse(source: &str) -> Result<Expr, ParseError> {
    if SOURCE_BYTES_MAX < source.len() {
        return Err(refused(source, format!("at most {SOURCE_BYTES_MAX} bytes")));
    }
    let mut parser = Parser { source, at: 0, depth: 0 };
    let result = parser.whole();
    result.map_err(|failure| {
        let position = Position::of(source, failure.offset);
        let found = match source[position.offset..].chars().next() {
            None => String::from("the end"),
            Some(c) => format!("'{c}'"),
        };
        ParseError { position, expected: failure.expected, found }
    })
}

/// An error about the text as a whole.
pub(super) fn refused(source: &str, reason: String) -> ParseError {
    let expected = format!("an expression that can be evaluated ({reason})");
    ParseError { position: Position::of(source, 0), expected, found: String::from("this one") }
}

impl Parser<'_> {
    fn whole(&mut self) -> Parsed<Expr> {
        let expr = self.expression()?;
        self.space();
        if self.at < self.source.len() { self.fail("an operator or the end") } else { Ok(expr) }
    }

    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn fail<T>(&self, expected: impl Into<String>) -> Parsed<T> {
        Err(Failure { offset: self.at, expected: expected.into() })
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.symbol(symbol) { Ok(()) } else { self.fail(format!("'{symbol}'")) }
    }

    fn expression(&mut self) -> Parsed<Expr> {
        if NESTING_MAX <= self.depth {
            return self.fail(format!("at most {NESTING_MAX} levels of nesting"));
        }
        self.depth += 1;
        let mut all = vec![self.conjunction()?];
        while self.symbol("||") {
            all.push(self.conjunction()?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Expr::Or(all) })
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut all = vec![self.comparison()?];
        while self.symbol("&&") {
            all.push(self.comparison()?);
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Expr::And(all) })
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        const SYMBOLS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let left = self.sum()?;
        for (symbol, operator) in SYMBOLS {
            if self.symbol(symbol) {
                let right = self.sum()?;
                return Ok(Expr::Compare(operator, Box::new((left, right))));
            }
        }
        self.space();
        if self.word() == Some("in") {
            self.at += 2;
            let collection = self.sum()?;
            return Ok(call("contains", vec![collection, left]));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.chain(Parser::product, &[("+", Arithmetic::Add), ("-", Arithmetic::Subtract)])
    }

    fn product(&mut self) -> Parsed<Expr> {
        self.chain(Parser::sign, &[("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)])
    }

    fn chain(&mut self, tighter: fn(&mut Self) -> Parsed<Expr>, symbols: &[(&str, Arithmetic)]) -> Parsed<Expr> {
        let first = tighter(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = symbols.iter().find(|(symbol, _)| self.symbol(symbol)) {
            rest.push((*operator, tighter(self)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Arithmetic(Box::new(first), rest) })
    }

    /// `!x` and `-x`.
    fn sign(&mut self) -> Parsed<Expr> {
        self.space();
        let negated = self.rest().starts_with('!') && !self.rest().starts_with("!=");
        if !negated && !self.rest().starts_with('-') {
            return self.operand();
        }
        self.at += 1;
        if NESTING_MAX <= self.depth {
            return self.fail(format!("at most {NESTING_MAX} levels of nesting"));
        }
        self.depth += 1;
        let operand = self.sign()?;
        self.depth -= 1;
        Ok(if negated { Expr::Not(Box::new(operand)) } else { Expr::Negate(Box::new(operand)) })
    }

    fn operand(&mut self) -> Parsed<Expr> {
        self.space();
        match self.rest().chars().next() {
            None => self.fail("an expression"),
            Some('(') => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(quote @ ('"' | '\'')) => self.text(quote),
            Some('0'..='9' | '.') => self.number(),
            Some('#') => {
                self.at += 1;
                self.variable()
            }
            Some('$') => {
                self.expect("${")?;
                let inner = self.variable()?;
                self.expect("}")?;
                self.members(inner)
            }
            Some(_) => self.named(),
        }
    }

    fn number(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        match Number::parse(&rest[..end]) {
            Some(number) => {
                self.at += end;
                Ok(Expr::Number(number))
            }
            None => self.fail("a number"),
        }
    }

    fn text(&mut self, quote: char) -> Parsed<Expr> {
        let body = &self.source[self.at + 1..];
        let mut out = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.at += at + 2;
                    return Ok(Expr::String(Arc::from(out)));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, other)) => out.push(other),
                    None => break,
                },
                _ => out.push(c),
            }
        }
        self.at = self.source.len();
        self.fail(format!("{quote} at the end of the text"))
    }

    fn word(&self) -> Option<&str> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if !first.is_alphabetic() && first != '_' {
            return None;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end])
    }

    fn take_word(&mut self) -> Parsed<Arc<str>> {
        match self.word().map(Arc::<str>::from) {
            Some(word) => {
                self.at += word.len();
                Ok(word)
            }
            None => self.fail("a name"),
        }
    }

    fn named(&mut self) -> Parsed<Expr> {
        let Some(word) = self.word() else {
            return self.fail("an expression");
        };
        let literal = match word {
            "true" => Some(Expr::Bool(true)),
            "false" => Some(Expr::Bool(false)),
            "null" => Some(Expr::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            self.at += word.len();
            return Ok(literal);
        }
        let start = self.at;
        let name = self.take_word()?;
        if !self.symbol("(") {
            self.at = start;
            return self.variable();
        }
        let mut values = Vec::new();
        if !self.symbol(")") {
            loop {
                values.push(self.expression()?);
                if !self.symbol(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(call(&name, values))
    }

    fn variable(&mut self) -> Parsed<Expr> {
        let name = self.take_word()?;
        self.members(Expr::Name(name))
    }

    fn members(&mut self, mut base: Expr) -> Parsed<Expr> {
        let mut length = 0;
        while self.rest().starts_with('.') {
            self.at += 1;
            base = Expr::Path(Box::new(base), self.take_word()?);
            length += 1;
            if NESTING_MAX < length {
                return self.fail(format!("at most {NESTING_MAX} steps in a path"));
            }
        }
        Ok(base)
    }
}

fn call(name: &str, values: Vec<Expr>) -> Expr {
    Expr::Call(Box::new(Expr::Name(Arc::from(name))), Arguments::Positional(values))
}
