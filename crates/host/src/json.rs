//! JSON objects written from parts that are JSON already.

use std::sync::Arc;

use feel::Value;

/// Names and JSON values as one object.
pub(crate) fn object(document: &[(Arc<str>, Arc<str>)]) -> String {
    let room = document.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() + 2;
    let mut text = String::with_capacity(room);
    text.push('{');
    for (n, (name, value)) in document.iter().enumerate() {
        if n != 0 {
            text.push(',');
        }
        write_text(&mut text, name);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// Names and plain texts as one object.
pub(crate) fn object_of_texts(pairs: &[(Arc<str>, Arc<str>)]) -> String {
    let quoted: Vec<(Arc<str>, Arc<str>)> =
        pairs.iter().map(|(name, text)| (name.clone(), Value::String(text.clone()).to_json().into())).collect();
    object(&quoted)
}

/// Of an object as [`object`] writes it, the members with these names; all of them without names.
pub(crate) fn picked(object: &str, names: &[Arc<str>]) -> String {
    if names.is_empty() {
        return object.to_owned();
    }
    let wanted: Vec<String> = names.iter().map(text).collect();
    let members = members(object).filter(|(name, _)| wanted.iter().any(|one| one == name));
    let members: Vec<String> = members.map(|(name, value)| format!("{name}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// The members of an object as [`object`] writes it: each name with its quotes, and its value.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = object.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    std::iter::from_fn(move || {
        let (name, after) = rest.split_at(end_of(rest, b':'));
        let value = after.strip_prefix(':')?;
        let (value, after) = value.split_at(end_of(value, b','));
        rest = after.strip_prefix(',').unwrap_or_default();
        Some((name, value))
    })
}

/// Where the first such character stands that is neither in a text nor in a list or an object.
fn end_of(json: &str, end: u8) -> usize {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    for (place, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            _ if byte == end && depth == 0 => return place,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    json.len()
}

fn text(text: &Arc<str>) -> String {
    let mut out = String::new();
    write_text(&mut out, text);
    out
}

fn write_text(out: &mut String, text: &Arc<str>) {
    let plain = text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\');
    if plain {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        Value::String(text.clone()).write_json(out);
    }
}

/// Texts as one list.
pub(crate) fn list_of_texts(texts: &[Arc<str>]) -> String {
    Value::list(texts.iter().cloned().map(Value::String).collect()).to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_picked_by_name() {
        let document: Vec<(Arc<str>, Arc<str>)> =
            [("a", r#"{"b":[1,"}],"],"c":"\\\""}"#), (r#"q":"#, "[]"), ("b", r#""x:,y""#), ("ü", "null")]
                .map(|(name, value)| (name.into(), value.into()))
                .into();
        let all = object(&document);
        assert_eq!(picked(&all, &[]), all);
        for (n, one) in document.iter().enumerate() {
            assert_eq!(picked(&all, std::slice::from_ref(&one.0)), object(&document[n..=n]), "{}", one.0);
        }
        assert_eq!(picked(&all, &["b".into(), "a".into(), "none".into()]), object(&[document[0].clone(), document[2].clone()]));
        assert_eq!(picked("{}", &["a".into()]), "{}");
        assert_eq!(members("{}").count(), 0);
    }
}
