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
