//! Looking through a syntax tree.

use super::ast::{Arguments, Domain, Expr, Iteration};

/// Whether `wanted` holds for an expression or one inside of it. The tests of `in` are left out, since `?` means
/// something else there.
pub(crate) fn mentions(expr: &Expr, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    if wanted(expr) {
        return true;
    }
    let in_all = |exprs: &[Expr]| exprs.iter().any(|expr| mentions(expr, wanted));
    let in_any = |exprs: &[&Expr]| exprs.iter().any(|expr| mentions(expr, wanted));
    match expr {
        Expr::Null
        | Expr::Bool(_)
        | Expr::Number(_)
        | Expr::String(_)
        | Expr::At(_)
        | Expr::Name(_)
        | Expr::Input
        | Expr::Test(_) => false,
        Expr::List(items) | Expr::And(items) | Expr::Or(items) => in_all(items),
        Expr::Context(entries) => entries.iter().any(|(_, value)| mentions(value, wanted)),
        Expr::Range(range) => in_any(&[&range.start, &range.end]),
        Expr::Negate(inner) | Expr::Not(inner) | Expr::InstanceOf(inner, _) | Expr::Path(inner, _) | Expr::In(inner, _) => {
            mentions(inner, wanted)
        }
        Expr::Arithmetic(first, rest) => mentions(first, wanted) || rest.iter().any(|(_, operand)| mentions(operand, wanted)),
        Expr::Compare(_, sides) => in_any(&[&sides.0, &sides.1]),
        Expr::Between(parts) => in_any(&[&parts.0, &parts.1, &parts.2]),
        Expr::If(branches, otherwise) => {
            branches.iter().any(|(condition, result)| in_any(&[condition, result])) || mentions(otherwise, wanted)
        }
        Expr::For(iterations, body) | Expr::Quantified(_, iterations, body) => {
            iterations.iter().any(|iteration| in_domain(iteration, wanted)) || mentions(body, wanted)
        }
        Expr::Filter(parts) => in_any(&[&parts.0, &parts.1]),
        Expr::Call(callee, Arguments::Positional(values)) => mentions(callee, wanted) || in_all(values),
        Expr::Call(callee, Arguments::Named(values)) => {
            mentions(callee, wanted) || values.iter().any(|(_, value)| mentions(value, wanted))
        }
        Expr::Function(_, body) | Expr::External(_, body) => mentions(body, wanted),
    }
}

fn in_domain(iteration: &Iteration, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    match &iteration.domain {
        Domain::Items(list) => mentions(list, wanted),
        Domain::Count(from, to) => mentions(from, wanted) || mentions(to, wanted),
    }
}
