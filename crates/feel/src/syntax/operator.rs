//! Operators, from the loosest to the tightest.

use super::ast::{Arithmetic, Comparison, Expr, Test};
use super::cursor::Parsed;
use super::parser::Parser;
use crate::dialect::Dialect;

/// Comparison symbols, the longer ones first.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            parser.cursor.space()?;
            match parser.compound()? {
                Some(compound) => Ok(compound),
                None => parser.disjunction(),
            }
        })
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let first = self.conjunction()?;
        let mut all = vec![first];
        while self.cursor.keyword("or")? {
            all.push(self.operand_or_compound(Parser::conjunction)?);
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Expr::Or(all) })
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let first = self.comparison()?;
        let mut all = vec![first];
        while self.cursor.keyword("and")? {
            all.push(self.operand_or_compound(Parser::comparison)?);
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Expr::And(all) })
    }

    /// The right side of `and` and `or`, which the standard also lets be an `if`, `for` or quantified expression.
    fn operand_or_compound(&mut self, operand: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        self.deeper(|parser| {
            parser.cursor.space()?;
            match parser.compound()? {
                Some(compound) => Ok(compound),
                None => operand(parser),
            }
        })
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        self.cursor.space()?;
        if let Some(operator) = self.comparison_symbol()? {
            let operand = self.additive()?;
            return Ok(Expr::Test(Box::new(Test::Compare(operator, operand))));
        }
        self.measured(Parser::comparisons)
    }

    fn comparisons(&mut self) -> Parsed<Expr> {
        let mut left = self.additive()?;
        let mut chained = false;
        loop {
            let before = self.cursor.at;
            let Some(joined) = self.comparison_tail(&mut left)? else {
                return Ok(left);
            };
            // Only the standard lets comparisons follow one another.
            if chained && self.dialect == Dialect::Camunda {
                self.cursor.at = before;
                return self.cursor.fail("an operator that may follow a comparison, or the end");
            }
            chained = true;
            left = joined;
            self.grow()?;
        }
    }

    /// What may follow the left side of a comparison; takes it if something does.
    fn comparison_tail(&mut self, left: &mut Expr) -> Parsed<Option<Expr>> {
        if let Some(operator) = self.comparison_symbol()? {
            let right = self.additive()?;
            return Ok(Some(Expr::Compare(operator, Box::new((take(left), right)))));
        }
        if self.cursor.keyword("between")? {
            let low = self.additive()?;
            self.cursor.expect_keyword("and")?;
            let high = self.additive()?;
            return Ok(Some(Expr::Between(Box::new((take(left), low, high)))));
        }
        if self.cursor.keyword("instance")? {
            self.cursor.expect_keyword("of")?;
            let declared = self.type_name()?;
            return Ok(Some(Expr::InstanceOf(Box::new(take(left)), declared)));
        }
        if self.cursor.keyword("in")? {
            let tests = self.deeper(Parser::in_tests)?;
            return Ok(Some(Expr::In(Box::new(take(left)), tests)));
        }
        Ok(None)
    }

    pub(super) fn comparison_symbol(&mut self) -> Parsed<Option<Comparison>> {
        for (symbol, operator) in COMPARISONS {
            if self.cursor.symbol(symbol)? {
                return Ok(Some(operator));
            }
        }
        Ok(None)
    }

    /// Sums and everything tighter: what may be an endpoint of a range.
    pub(super) fn additive(&mut self) -> Parsed<Expr> {
        self.chain(Parser::multiplicative, &[("+", Arithmetic::Add), ("-", Arithmetic::Subtract)])
    }

    fn multiplicative(&mut self) -> Parsed<Expr> {
        self.chain(Parser::exponential, &[("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)])
    }

    fn exponential(&mut self) -> Parsed<Expr> {
        self.chain(Parser::negation, &[("**", Arithmetic::Power)])
    }

    fn chain(&mut self, tighter: fn(&mut Self) -> Parsed<Expr>, symbols: &[(&str, Arithmetic)]) -> Parsed<Expr> {
        let first = tighter(self)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.arithmetic_symbol(symbols)? {
            rest.push((operator, tighter(self)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Arithmetic(Box::new(first), rest) })
    }

    fn arithmetic_symbol(&mut self, symbols: &[(&str, Arithmetic)]) -> Parsed<Option<Arithmetic>> {
        self.cursor.space()?;
        for (symbol, operator) in symbols {
            let other = *symbol == "*" && self.cursor.rest().starts_with("**");
            if !other && self.cursor.symbol(symbol)? {
                return Ok(Some(*operator));
            }
        }
        Ok(None)
    }

    fn negation(&mut self) -> Parsed<Expr> {
        if !self.cursor.symbol("-")? {
            return self.postfix();
        }
        let operand = self.deeper(Parser::negation)?;
        Ok(match operand {
            Expr::Number(number) if !number.is_negative() => Expr::Number(number.negate()),
            other => Expr::Negate(Box::new(other)),
        })
    }
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Null)
}
