//! Just enough Rust to find functions and test modules: text without comments and literals, and counted braces.

use std::ops::Range;

/// A function with its lines, counted from 1, signature and closing brace included.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The same text with the inside of comments, strings and characters blanked; lines stay where they are.
pub(crate) fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while !rest.is_empty() {
        let length = literal_or_comment(rest, code.chars().next_back());
        if length == 0 {
            let next = rest.chars().next().expect("rest is not empty");
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[length..];
        }
    }
    code
}

/// Functions with a body, nested ones as well.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let starts_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String = code[at + 3..].trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !starts_word || name.is_empty() {
            continue;
        }
        if let Some(body) = body(code, at) {
            found.push(Function { name, first: line_of(code, at), last: line_of(code, body.end - 1) });
        }
    }
    found
}

/// What lies inside `#[cfg(test)] mod … { … }`.
pub(crate) fn test_modules(code: &str) -> Vec<Range<usize>> {
    let starts = code.match_indices("#[cfg(test)]").map(|(at, _)| at);
    starts.filter_map(|at| body(code, at).map(|body| line_of(code, at)..line_of(code, body.end - 1) + 1)).collect()
}

pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// From the first brace after `start` to its partner; none if a semicolon outside of brackets comes first.
fn body(code: &str, start: usize) -> Option<Range<usize>> {
    let (mut braces, mut brackets, mut open) = (0, 0, None);
    for (offset, c) in code[start..].char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => {
                open.get_or_insert(start + offset);
                braces += 1;
            }
            '}' => braces -= 1,
            _ => continue,
        }
        if c == '}' && braces == 0 {
            return open.map(|open| open..start + offset + 1);
        }
    }
    None
}

/// How long the comment or literal at the start of `rest` is; 0 if there is none.
fn literal_or_comment(rest: &str, before: Option<char>) -> usize {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('\'') {
        return character(rest);
    }
    let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
    if let (Some(raw), false) = (raw, in_word) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let opening = rest.len() - raw.len() + hashes + 1;
            return rest[opening..].find(&end).map_or(rest.len(), |at| opening + at + end.len());
        }
    }
    0
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A character, unless the quote begins a lifetime or a label.
fn character(rest: &str) -> usize {
    let mut after = rest.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) => quoted(rest, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_do_not_count() {
        let source = "fn a() { // }\n let s = \"}\\\"\"; /* { */ let c = '{'; let r = r#\"}\"#;\n}\nfn b<'a>(x: &'a str);";
        let found = functions(&code_only(source));
        assert_eq!(found, [Function { name: "a".to_owned(), first: 1, last: 3 }]);
    }

    #[test]
    fn test_modules_are_found() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        assert_eq!(test_modules(&code_only(source)), vec![(2..6)]);
    }

    #[test]
    fn array_types_in_signatures_do_not_end_them() {
        let source = "fn a(x: [u8; 3]) -> [u8; 2] {\n\n}\n";
        assert_eq!(functions(&code_only(source)), [Function { name: "a".to_owned(), first: 1, last: 3 }]);
    }
}
