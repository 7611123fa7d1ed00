//! Conditions on what is the same in every row: decided when the request is read.

use store::query::{Filter, Op, Scalar};

use super::table::Constant;

/// True of every row or of none.
pub(super) fn filter(op: &Op, constant: Constant) -> Filter {
    if holds(op, constant.value().as_ref()) { Filter::All(Vec::new()) } else { Filter::Any(Vec::new()) }
}

impl Constant {
    fn value(self) -> Option<Scalar> {
        match self {
            Self::Absent => None,
            Self::Number(number) => Some(Scalar::Int(number)),
            Self::Text(text) => Some(Scalar::Text(text.to_owned())),
        }
    }
}

/// Whether it is true of a value that is at hand.
pub(in crate::rest) fn holds(op: &Op, value: Option<&Scalar>) -> bool {
    let compares = |other: &Scalar, test: fn(std::cmp::Ordering) -> bool| value.is_some_and(|value| test(value.cmp(other)));
    match op {
        Op::Eq(other) => value == Some(other),
        Op::Neq(other) => value != Some(other),
        Op::In(others) => value.is_some_and(|value| others.contains(value)),
        Op::NotIn(others) => value.is_none_or(|value| !others.contains(value)),
        Op::Exists(exists) => value.is_some() == *exists,
        Op::Lt(other) => compares(other, std::cmp::Ordering::is_lt),
        Op::Lte(other) => compares(other, std::cmp::Ordering::is_le),
        Op::Gt(other) => compares(other, std::cmp::Ordering::is_gt),
        Op::Gte(other) => compares(other, std::cmp::Ordering::is_ge),
        Op::Like(pattern) => matches!(value, Some(Scalar::Text(text)) if like(text, pattern)),
    }
}

/// `*` any characters, `?` one, `\` takes the next one literally.
fn like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut reached: Vec<bool> = (0..=text.len()).map(|at| at == 0).collect();
    let mut pattern = pattern.chars();
    while let Some(character) = pattern.next() {
        let literal = match character {
            '*' => {
                let first = reached.iter().position(|reached| *reached).unwrap_or(reached.len());
                reached.iter_mut().enumerate().for_each(|(at, reached)| *reached = first <= at);
                continue;
            }
            '?' => None,
            '\\' => Some(pattern.next().unwrap_or('\\')),
            plain => Some(plain),
        };
        for at in (1..=text.len()).rev() {
            reached[at] = reached[at - 1] && literal.is_none_or(|literal| literal == text[at - 1]);
        }
        reached[0] = false;
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_written() {
        for (text, pattern, expected) in [
            ("BPMN_ELEMENT", "BPMN*", true),
            ("BPMN_ELEMENT", "*ELEMENT", true),
            ("BPMN_ELEMENT", "*", true),
            ("BPMN_ELEMENT", "BPMN?ELEMENT", true),
            ("BPMN_ELEMENT", "BPMN", false),
            ("BPMN_ELEMENT", "?", false),
            ("a*b", "a\\*b", true),
            ("axb", "a\\*b", false),
            ("", "", true),
            ("", "*", true),
            ("x", "", false),
        ] {
            assert_eq!(like(text, pattern), expected, "{text} like {pattern}");
        }
    }

    #[test]
    fn absence_differs_from_everything() {
        let x = Scalar::Text("x".into());
        for (op, of_absent, of_x) in [
            (Op::Eq(x.clone()), false, true),
            (Op::Neq(x.clone()), true, false),
            (Op::In(vec![x.clone()]), false, true),
            (Op::NotIn(vec![x.clone()]), true, false),
            (Op::Exists(true), false, true),
            (Op::Exists(false), true, false),
            (Op::Gte(x), false, true),
            (Op::Like("x*".into()), false, true),
        ] {
            assert_eq!(holds(&op, None), of_absent, "{op:?}");
            assert_eq!(holds(&op, Constant::Text("x").value().as_ref()), of_x, "{op:?}");
        }
    }
}
