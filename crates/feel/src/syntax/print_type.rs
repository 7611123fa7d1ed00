//! A type as text.

use super::print::write_name;
use crate::types::Type;
use std::fmt::Write;

/// Appends a type as `instance of` names it.
pub(super) fn write_type(declared: &Type, out: &mut String) {
    match declared {
        Type::Any => out.push_str("Any"),
        Type::Null => out.push_str("Null"),
        Type::Number => out.push_str("number"),
        Type::String => out.push_str("string"),
        Type::Boolean => out.push_str("boolean"),
        Type::Date => out.push_str("date"),
        Type::Time => out.push_str("time"),
        Type::DateTime => out.push_str("date and time"),
        Type::DaysTimeDuration => out.push_str("days and time duration"),
        Type::YearsMonthsDuration => out.push_str("years and months duration"),
        Type::List(element) => write_element("list", element.as_deref(), out),
        Type::Range(element) => write_element("range", element.as_deref(), out),
        Type::Context(None) => out.push_str("context"),
        Type::Context(Some(members)) => {
            out.push_str("context<");
            for (at, (name, member)) in members.iter().enumerate() {
                out.push_str(if 0 < at { ", " } else { "" });
                write_name(name, out);
                out.push_str(": ");
                write_type(member, out);
            }
            out.push('>');
        }
        Type::Function(None) => out.push_str("function"),
        Type::Function(Some(count)) => {
            let parameters = vec!["Any"; *count].join(", ");
            write!(out, "function<{parameters}> -> Any").expect("writing to a string cannot fail");
        }
        Type::Unknown(name) => out.push_str(name),
    }
}

fn write_element(kind: &str, element: Option<&Type>, out: &mut String) {
    out.push_str(kind);
    if let Some(element) = element {
        out.push('<');
        write_type(element, out);
        out.push('>');
    }
}
