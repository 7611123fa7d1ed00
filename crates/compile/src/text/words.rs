//! Words of the notation: bare, or between double quotes.

use crate::expression;

/// The first word of a text and what follows it. Nothing, if there is none or its quotes are not closed.
pub(super) fn first(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        return (!word.is_empty()).then(|| (word.to_owned(), rest.trim_start()));
    };
    let mut word = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((word, quoted[at + 1..].trim_start())),
            '\\' => word.push(unescaped(chars.next()?.1)),
            c => word.push(c),
        }
    }
    None
}

/// The rest of a line as one text: between quotes, or as it stands.
pub(super) fn whole(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with('"') {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let (word, rest) = first(text)?;
    rest.is_empty().then_some(word)
}

/// Writes a word so that `first` reads it again.
pub(super) fn write(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let reserved = matches!(word, "on" | "in" | "as" | "if" | "default" | "->");
    if !word.is_empty() && !reserved && word.chars().all(plain) && word != "-" {
        return word.to_owned();
    }
    expression::literal(word)
}

/// Writes a text so that `whole` reads it again.
pub(super) fn write_whole(text: &str) -> String {
    let plain = !text.is_empty() && text.trim() == text && !text.starts_with('"') && !text.contains(['\n', '\r', '\t']);
    if plain { text.to_owned() } else { expression::literal(text) }
}

/// Where `what` stands in a text for the first time outside strings, backticks and brackets.
pub(super) fn outside(text: &str, what: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if depth == 0 && text[at..].starts_with(what) {
            return Some(at);
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '`' => skip_quoted(&mut chars, c),
            _ => {}
        }
    }
    None
}

fn skip_quoted(chars: &mut std::str::CharIndices<'_>, quote: char) {
    while let Some((_, c)) = chars.next() {
        if c == quote {
            return;
        }
        if c == '\\' && quote == '"' {
            chars.next();
        }
    }
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c => c,
    }
}
