//! A syntax tree as text.

use super::ast::{Arguments, Arithmetic, Comparison, Domain, Expr, Formal, Iteration, Quantifier, RangeExpr, Test};
use super::name::is_word;
use super::print_type::write_type;
use std::fmt::Write;
use std::sync::Arc;

/// How tightly an expression holds together; a looser one inside of a tighter place needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    Conjunction,
    Comparison,
    Sum,
    Product,
    Power,
    Sign,
    Value,
}

/// The expression in canonical spelling.
pub(crate) fn print(expr: &Expr) -> String {
    let mut out = String::new();
    write_at(expr, Level::Any, &mut out);
    out
}

fn level(expr: &Expr) -> Level {
    match expr {
        Expr::If(..) | Expr::For(..) | Expr::Quantified(..) | Expr::Or(_) => Level::Any,
        Expr::Function(..) | Expr::External(..) => Level::Any,
        Expr::And(_) => Level::Conjunction,
        Expr::Compare(..) | Expr::Between(_) | Expr::In(..) | Expr::InstanceOf(..) | Expr::Test(_) => Level::Comparison,
        Expr::Arithmetic(_, rest) => match rest.first() {
            Some((Arithmetic::Add | Arithmetic::Subtract, _)) => Level::Sum,
            Some((Arithmetic::Multiply | Arithmetic::Divide, _)) => Level::Product,
            Some((Arithmetic::Power, _)) | None => Level::Power,
        },
        Expr::Negate(_) | Expr::Not(_) => Level::Sign,
        Expr::Number(number) if number.is_negative() => Level::Sign,
        _ => Level::Value,
    }
}

fn next(level: Level) -> Level {
    match level {
        Level::Any => Level::Conjunction,
        Level::Conjunction => Level::Comparison,
        Level::Comparison => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Power,
        Level::Power => Level::Sign,
        Level::Sign | Level::Value => Level::Value,
    }
}

fn write_at(expr: &Expr, wanted: Level, out: &mut String) {
    if level(expr) < wanted {
        out.push('(');
        write_expr(expr, out);
        out.push(')');
    } else {
        write_expr(expr, out);
    }
}

fn write_expr(expr: &Expr, out: &mut String) {
    match expr {
        Expr::Null => out.push_str("null"),
        Expr::Bool(value) => push(out, value),
        Expr::Number(number) => push(out, number),
        Expr::String(text) => write_string(text, out),
        Expr::At(text) => {
            out.push('@');
            write_string(text, out);
        }
        Expr::Name(name) => write_name(name, out),
        Expr::Input => out.push('?'),
        Expr::List(items) => {
            out.push('[');
            write_all(items, out);
            out.push(']');
        }
        Expr::Context(entries) => write_context(entries, out),
        Expr::Range(range) => write_range(range, out),
        Expr::Test(test) => write_test(test, out),
        Expr::Negate(operand) => write_negation(operand, out),
        Expr::Not(operand) => {
            out.push_str("not(");
            write_expr(operand, out);
            out.push(')');
        }
        Expr::Arithmetic(first, rest) => write_chain(first, rest, level(expr), out),
        Expr::Compare(operator, sides) => {
            write_at(&sides.0, Level::Sum, out);
            push(out, format_args!(" {} ", symbol(*operator)));
            write_at(&sides.1, Level::Sum, out);
        }
        Expr::Between(parts) => {
            write_at(&parts.0, Level::Sum, out);
            out.push_str(" between ");
            write_at(&parts.1, Level::Sum, out);
            out.push_str(" and ");
            write_at(&parts.2, Level::Sum, out);
        }
        Expr::In(value, tests) => {
            write_at(value, Level::Sum, out);
            out.push_str(" in ");
            write_tests(tests, out);
        }
        Expr::InstanceOf(value, declared) => {
            write_at(value, Level::Sum, out);
            out.push_str(" instance of ");
            write_type(declared, out);
        }
        Expr::And(operands) => write_joined(operands, " and ", Level::Comparison, out),
        Expr::Or(operands) => write_joined(operands, " or ", Level::Conjunction, out),
        Expr::If(..) | Expr::For(..) | Expr::Quantified(..) => write_compound(expr, out),
        Expr::Path(base, name) => {
            write_at(base, Level::Value, out);
            out.push('.');
            write_name(name, out);
        }
        Expr::Filter(parts) => {
            write_at(&parts.0, Level::Value, out);
            out.push('[');
            write_expr(&parts.1, out);
            out.push(']');
        }
        Expr::Call(callee, arguments) => write_call(callee, arguments, out),
        Expr::Function(formals, body) => write_function(formals, "", body, out),
        Expr::External(formals, body) => write_function(formals, "external ", body, out),
    }
}

/// Expressions that begin with a keyword.
fn write_compound(expr: &Expr, out: &mut String) {
    match expr {
        Expr::If(branches, otherwise) => {
            for (condition, result) in branches {
                out.push_str("if ");
                write_expr(condition, out);
                out.push_str(" then ");
                write_expr(result, out);
                out.push_str(" else ");
            }
            write_expr(otherwise, out);
        }
        Expr::For(iterations, body) => write_iterations("for ", iterations, " return ", body, out),
        Expr::Quantified(Quantifier::Some, iterations, body) => {
            write_iterations("some ", iterations, " satisfies ", body, out);
        }
        Expr::Quantified(Quantifier::Every, iterations, body) => {
            write_iterations("every ", iterations, " satisfies ", body, out);
        }
        _ => write_expr(expr, out),
    }
}

fn write_negation(operand: &Expr, out: &mut String) {
    out.push('-');
    // A sign directly before a number is part of it.
    let bare = matches!(operand, Expr::Number(_));
    out.push_str(if bare { "(" } else { "" });
    write_at(operand, Level::Sign, out);
    out.push_str(if bare { ")" } else { "" });
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("writing to a string cannot fail");
}

fn write_all(exprs: &[Expr], out: &mut String) {
    for (at, expr) in exprs.iter().enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        write_expr(expr, out);
    }
}

fn write_joined(exprs: &[Expr], separator: &str, wanted: Level, out: &mut String) {
    for (at, expr) in exprs.iter().enumerate() {
        out.push_str(if 0 < at { separator } else { "" });
        write_at(expr, wanted, out);
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out.push('"');
}

pub(super) fn write_name(name: &str, out: &mut String) {
    if is_word(name) {
        out.push_str(name);
    } else {
        push(out, format_args!("`{name}`"));
    }
}

fn write_context(entries: &[(Arc<str>, Expr)], out: &mut String) {
    out.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        if is_word(key) {
            out.push_str(key);
        } else {
            write_string(key, out);
        }
        out.push_str(": ");
        write_expr(value, out);
    }
    out.push('}');
}

fn write_range(range: &RangeExpr, out: &mut String) {
    out.push(if range.start_included { '[' } else { '(' });
    write_at(&range.start, Level::Sum, out);
    out.push_str("..");
    write_at(&range.end, Level::Sum, out);
    out.push(if range.end_included { ']' } else { ')' });
}

fn write_test(test: &Test, out: &mut String) {
    match test {
        Test::Any => out.push('-'),
        Test::Not(tests) => {
            out.push_str("not");
            write_tests(tests, out);
        }
        Test::Compare(operator, operand) => {
            push(out, format_args!("{} ", symbol(*operator)));
            write_at(operand, Level::Sum, out);
        }
        Test::Expression(expr) => write_expr(expr, out),
    }
}

fn write_tests(tests: &[Test], out: &mut String) {
    out.push('(');
    for (at, test) in tests.iter().enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        write_test(test, out);
    }
    out.push(')');
}

fn write_chain(first: &Expr, rest: &[(Arithmetic, Expr)], own: Level, out: &mut String) {
    write_at(first, next(own), out);
    for (operator, operand) in rest {
        let symbol = match operator {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Power => "**",
        };
        push(out, format_args!(" {symbol} "));
        write_at(operand, next(own), out);
    }
}

fn symbol(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn write_iterations(keyword: &str, iterations: &[Iteration], then: &str, body: &Expr, out: &mut String) {
    out.push_str(keyword);
    for (at, iteration) in iterations.iter().enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        write_name(&iteration.name, out);
        out.push_str(" in ");
        match &iteration.domain {
            Domain::Items(list) => write_at(list, Level::Sum, out),
            Domain::Count(from, to) => {
                write_at(from, Level::Sum, out);
                out.push_str("..");
                write_at(to, Level::Sum, out);
            }
        }
    }
    out.push_str(then);
    write_expr(body, out);
}

fn write_call(callee: &Expr, arguments: &Arguments, out: &mut String) {
    match callee {
        // Names of functions are written bare, several words included.
        Expr::Name(name) if name.split(' ').all(|word| word.chars().all(char::is_alphanumeric)) => out.push_str(name),
        Expr::Name(name) => write_name(name, out),
        other => {
            let bare = matches!(other, Expr::Path(..) | Expr::Call(..) | Expr::Filter(_));
            write_at(other, if bare { Level::Value } else { Level::Conjunction }, out);
        }
    }
    out.push('(');
    match arguments {
        Arguments::Positional(values) => write_all(values, out),
        Arguments::Named(values) => {
            for (at, (name, value)) in values.iter().enumerate() {
                out.push_str(if 0 < at { ", " } else { "" });
                push(out, format_args!("{name}: "));
                write_expr(value, out);
            }
        }
    }
    out.push(')');
}

fn write_function(formals: &[Formal], kind: &str, body: &Expr, out: &mut String) {
    out.push_str("function(");
    for (at, formal) in formals.iter().enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        write_name(&formal.name, out);
        if let Some(declared) = &formal.declared {
            out.push_str(": ");
            write_type(declared, out);
        }
    }
    push(out, format_args!(") {kind}"));
    write_expr(body, out);
}
