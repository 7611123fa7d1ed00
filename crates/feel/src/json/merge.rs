//! Objects as they are written: their members, and one merged into another. No value is built, so nothing is written otherwise than
//! it was.

use super::decode::{JsonError, Problem, Reader};
use std::collections::HashMap;

/// A member of an object: its name as it is written, quotes and all, and its value.
pub type RawMember<'t> = (&'t str, &'t str);

/// The members of a JSON object, in the order written; what is inside them is checked for structure only.
pub fn raw_members(text: &str) -> Result<Vec<RawMember<'_>>, JsonError> {
    let mut reader = Reader::new(text);
    members(&mut reader).map_err(|problem| reader.error(problem))
}

fn members<'t>(reader: &mut Reader<'t>) -> Result<Vec<RawMember<'t>>, Problem> {
    let mut found = Vec::new();
    reader.expect(b'{', "expected '{'")?;
    reader.space();
    if reader.peek() == Some(b'}') {
        reader.at += 1;
        return reader.end().map(|()| found);
    }
    loop {
        reader.space();
        let from = reader.at;
        if reader.peek() != Some(b'"') {
            return Err("expected a member's name");
        }
        reader.skip_value()?;
        let name = &reader.text[from..reader.at];
        reader.expect(b':', "expected ':'")?;
        reader.space();
        let from = reader.at;
        reader.skip_value()?;
        found.push((name, &reader.text[from..reader.at]));
        reader.space();
        match reader.peek() {
            Some(b',') => reader.at += 1,
            Some(b'}') => break,
            _ => return Err("expected ',' or '}'"),
        }
    }
    reader.at += 1;
    reader.end().map(|()| found)
}

/// The second value, unless both are objects: then the first with the members of the second merged in, and so on inside.
///
/// Both are JSON without white space between; what cannot be read as an object takes the place of the other.
pub fn merge(old: &str, new: &str) -> String {
    let mut out = String::with_capacity(old.len() + new.len());
    write_merged(&mut out, old, new);
    out
}

/// Recursion ends where the nesting of the values does, which whoever takes them in bounds.
fn write_merged(out: &mut String, old: &str, new: &str) {
    let (true, Ok(below), Ok(above)) = (new.starts_with('{'), raw_members(old), raw_members(new)) else {
        return out.push_str(new);
    };
    let mut given: HashMap<&str, &str> = above.iter().copied().collect();
    let mut separator = '{';
    for (name, value) in below {
        out.extend([std::mem::replace(&mut separator, ',')]);
        out.push_str(name);
        out.push(':');
        match given.remove(name) {
            Some(new) => write_merged(out, value, new),
            None => out.push_str(value),
        }
    }
    for (name, value) in above.into_iter().filter(|(name, _)| given.contains_key(name)) {
        out.extend([std::mem::replace(&mut separator, ',')]);
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    }
    out.push_str(if separator == '{' { "{}" } else { "}" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_merged_and_all_else_is_replaced() {
        for (old, new, merged) in [
            ("1", "2", "2"),
            ("{}", "{}", "{}"),
            (r#"{"a":1}"#, r#"[1]"#, "[1]"),
            (r#"[1]"#, r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1.50,"b":{"x":1}}"#, r#"{"b":{"y":[2]},"c":null}"#, r#"{"a":1.50,"b":{"x":1,"y":[2]},"c":null}"#),
            (r#"{"a":{"x":1}}"#, r#"{"a":null}"#, r#"{"a":null}"#),
            (r#"{"a}":"{"}"#, r#"{"a}":{"b":"\""}}"#, r#"{"a}":{"b":"\""}}"#),
        ] {
            assert_eq!(merge(old, new), merged, "{old} and {new}");
        }
    }

    #[test]
    fn members_are_as_they_are_written() {
        let text = r#" { "a" : 1.0 , "b" : { "c" : [ ] } } "#;
        assert_eq!(raw_members(text).unwrap(), [("\"a\"", "1.0"), ("\"b\"", "{ \"c\" : [ ] }")]);
        for text in ["[]", "{", "{1:2}", r#"{"a"}"#, r#"{"a":1} x"#, ""] {
            assert!(raw_members(text).is_err(), "{text}");
        }
    }
}
