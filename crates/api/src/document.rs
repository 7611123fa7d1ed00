//! Variables between JSON and the engine: an object's values stay the text they are, without insignificant white space.

use std::borrow::Cow;

use engine::Document;
use host::Limits;

use crate::json::{self, Kind, Malformed, Reader};

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("variables are not JSON: {0}")]
    Malformed(#[from] Malformed),
    #[error("variables must be a JSON object")]
    NotAnObject,
    #[error("more than {max} variables in one request")]
    TooMany { max: usize },
    #[error("variable '{name}' is longer than {max} bytes")]
    TooLong { name: String, max: usize },
}

/// Variables as a client sends them in a text of their own. An empty text is no variables.
pub fn parse(text: &str, limits: &Limits) -> Result<Document, DocumentError> {
    let mut reader = Reader::new(text);
    if reader.is_at_end() {
        return Ok(Document::new());
    }
    let document = read(&mut reader, limits)?;
    if reader.is_at_end() { Ok(document) } else { Err(reader.malformed("more than one value").into()) }
}

/// Variables within a larger text. Of two with one name the last wins.
pub(crate) fn read(reader: &mut Reader<'_>, limits: &Limits) -> Result<Document, DocumentError> {
    if reader.peek()? != Kind::Object {
        return Err(DocumentError::NotAnObject);
    }
    let mut document = Document::new();
    reader.object(|name, reader| {
        if document.len() == limits.variables_max {
            return Err(DocumentError::TooMany { max: limits.variables_max });
        }
        let value = reader.compact()?;
        if limits.variable_bytes_max < value.len() {
            return Err(DocumentError::TooLong { name: name.into_owned(), max: limits.variable_bytes_max });
        }
        document.push((shared(name), shared(value)));
        Ok(())
    })?;
    if 1 < document.len() {
        keep_last(&mut document);
    }
    Ok(document)
}

/// The document as a JSON object.
pub fn to_json(document: &Document) -> String {
    let size = document.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>();
    let mut out = Vec::with_capacity(size + 2);
    write(&mut out, document);
    String::from_utf8(out).expect("names and values are texts")
}

pub(crate) fn write<T: AsRef<str>>(out: &mut Vec<u8>, document: &[(T, T)]) {
    out.push(b'{');
    for (index, (name, value)) in document.iter().enumerate() {
        if 0 < index {
            out.push(b',');
        }
        json::write_text(out, name.as_ref());
        out.push(b':');
        out.extend_from_slice(value.as_ref().as_bytes());
    }
    out.push(b'}');
}

fn shared(text: Cow<'_, str>) -> std::sync::Arc<str> {
    text.as_ref().into()
}

/// Drops all but the last of each name; the others keep their places.
fn keep_last(document: &mut Document) {
    let mut order: Vec<usize> = (0..document.len()).collect();
    order.sort_unstable_by(|&a, &b| document[a].0.cmp(&document[b].0).then(a.cmp(&b)));
    let mut is_last = vec![true; document.len()];
    for pair in order.windows(2) {
        is_last[pair[0]] = document[pair[0]].0 != document[pair[1]].0;
    }
    let mut is_last = is_last.into_iter();
    document.retain(|_| is_last.next().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<String, DocumentError> {
        parse(text, &Limits::default()).map(|document| to_json(&document))
    }

    #[test]
    fn values_stay_the_text_they_are() {
        assert_eq!(parsed(r#" {"a" : 1.50, "b c": [ "x y" ] } "#).unwrap(), r#"{"a":1.50,"b c":["x y"]}"#);
        assert_eq!(parsed("").unwrap(), "{}");
        assert_eq!(parsed("{}").unwrap(), "{}");
    }

    #[test]
    fn of_two_with_one_name_the_last_wins() {
        assert_eq!(parsed(r#"{"a":1,"b":2,"\u0061":3,"c":4,"b":5}"#).unwrap(), r#"{"a":3,"c":4,"b":5}"#);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[1]", "\"x\"", "null", "5"] {
            assert_eq!(parsed(text), Err(DocumentError::NotAnObject), "{text}");
        }
        for text in ["{", "{\"a\":}", "{} {}", "{\"\\u0000\":1}"] {
            assert!(matches!(parsed(text), Err(DocumentError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn bounds_are_kept() {
        let limits = Limits { variables_max: 2, variable_bytes_max: 3, ..Limits::default() };
        assert!(parse(r#"{"a":123,"b":1}"#, &limits).is_ok());
        assert_eq!(parse(r#"{"a":1,"b":1,"c":1}"#, &limits), Err(DocumentError::TooMany { max: 2 }));
        assert_eq!(parse(r#"{"a":1234}"#, &limits), Err(DocumentError::TooLong { name: "a".into(), max: 3 }));
    }

    proptest! {
        #[test]
        fn a_document_means_what_it_meant(map in prop::collection::hash_map("[^\u{0}]*", any::<Option<i64>>(), 0..6)) {
            let text = serde_json::to_string_pretty(&map).unwrap();
            let back: std::collections::HashMap<String, Option<i64>> = serde_json::from_str(&parsed(&text).unwrap()).unwrap();
            prop_assert_eq!(back, map);
        }

        #[test]
        fn nothing_makes_it_panic(text in ".*") {
            let _ = parsed(&text);
        }
    }
}
