//! `multipart/form-data` after RFC 7578, from a body that is in memory already.

use bytes::Bytes;

/// Parts of one form.
const PARTS_MAX: usize = 1_000;

#[derive(Debug, PartialEq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) content: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("the content type has no boundary")]
    NoBoundary,
    #[error("the form does not end with its boundary")]
    NoEnd,
    #[error("a part has no name")]
    NoName,
    #[error("the form has more than {PARTS_MAX} parts")]
    TooManyParts,
}

/// The parts in their order.
pub(super) fn parse(content_type: &str, body: &Bytes) -> Result<Vec<Part>, Malformed> {
    let boundary = parameter(content_type, "boundary").filter(|boundary| !boundary.is_empty());
    let mark = format!("--{}", boundary.ok_or(Malformed::NoBoundary)?).into_bytes();
    let mut parts = Vec::new();
    // The first boundary may stand at the very beginning; all others follow a line end that is theirs.
    let mut at = match body.starts_with(&mark) {
        true => mark.len(),
        false => find(body, &line_and(&mark), 0).map(|found| found + 2 + mark.len()).ok_or(Malformed::NoEnd)?,
    };
    while !body[at..].starts_with(b"--") {
        let start = find(body, b"\r\n", at).map(|found| found + 2).ok_or(Malformed::NoEnd)?;
        let end = match body[start..].starts_with(&mark) {
            true => start,
            false => find(body, &line_and(&mark), start).ok_or(Malformed::NoEnd)?,
        };
        if parts.len() == PARTS_MAX {
            return Err(Malformed::TooManyParts);
        }
        parts.push(part(&body.slice(start..end))?);
        at = find(body, &mark, end).map(|found| found + mark.len()).ok_or(Malformed::NoEnd)?;
    }
    Ok(parts)
}

fn part(bytes: &Bytes) -> Result<Part, Malformed> {
    let (headers, content) = match bytes.starts_with(b"\r\n") {
        true => (0, 2),
        false => find(bytes, b"\r\n\r\n", 0).map_or((bytes.len(), bytes.len()), |found| (found, found + 4)),
    };
    let Head { name, file_name, .. } = head(&bytes[..headers])?;
    Ok(Part { name, file_name, content: bytes.slice(content..) })
}

/// What the headers of a part say.
pub(super) struct Head {
    pub(super) name: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
}

pub(super) fn head(headers: &[u8]) -> Result<Head, Malformed> {
    let headers = String::from_utf8_lossy(headers);
    let header = |wanted: &str| {
        headers.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        })
    };
    let disposition = header("content-disposition").ok_or(Malformed::NoName)?;
    let name = parameter(&disposition, "name").ok_or(Malformed::NoName)?;
    let file_name = parameter(&disposition, "filename*").and_then(|value| extended(&value));
    let file_name = file_name.or_else(|| parameter(&disposition, "filename"));
    Ok(Head { name, file_name, content_type: header("content-type") })
}

/// A parameter of a header: a token, or a quoted text with backslash escapes.
pub(super) fn parameter(header: &str, name: &str) -> Option<String> {
    let mut rest = &header[header.find(';')?..];
    while let Some(after) = rest.strip_prefix(';') {
        let (key, after) = after.split_once('=')?;
        let (value, after) = value(after);
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// The value at the beginning and what follows it, from the next semicolon on.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, quoted[at + 1..].trim_start()),
            // Browsers leave backslashes alone; only a quote or a backslash is escaped by one.
            '\\' if quoted[at + 1..].starts_with(['"', '\\']) => value.extend(characters.next().map(|(_, next)| next)),
            plain => value.push(plain),
        }
    }
    (value, "")
}

/// `UTF-8''` and percent escapes, after RFC 8187.
fn extended(value: &str) -> Option<String> {
    let mut pieces = value.splitn(3, '\'');
    let (charset, _language, text) = (pieces.next()?, pieces.next()?, pieces.next()?);
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (hex, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn line_and(mark: &[u8]) -> Vec<u8> {
    [b"\r\n", mark].concat()
}

/// Where `needle` begins at or after `from`.
pub(super) fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        at += haystack.get(at..)?.iter().position(|byte| *byte == first)?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=xyz";

    fn form(body: &str) -> Result<Vec<Part>, Malformed> {
        parse(TYPE, &Bytes::from(body.replace('\n', "\r\n")))
    }

    #[test]
    fn files_and_fields_are_found() {
        let parts = form(concat!(
            "a preamble\n--xyz\nContent-Disposition: form-data; name=\"resources\"; filename=\"my models/a \\\"b\\\".bpmn\"\n",
            "Content-Type: application/octet-stream\n\nline 1\n--xy\n\n--xyz\ncontent-disposition:form-data;name=tenantId\n\n",
            "<default>\n--xyz\nContent-Disposition: form-data; name=resources; filename=x.bpmn; filename*=UTF-8''%C3%BC.bpmn\n\n\n--xyz--\n"
        ))
        .unwrap();
        let seen: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.file_name.as_deref(), &part.content[..])).collect();
        assert_eq!(
            seen,
            [
                ("resources", Some("my models/a \"b\".bpmn"), &b"line 1\r\n--xy\r\n"[..]),
                ("tenantId", None, b"<default>"),
                ("resources", Some("ü.bpmn"), b""),
            ]
        );
    }

    #[test]
    fn an_empty_form_has_no_parts() {
        assert_eq!(form("--xyz--\n").unwrap(), []);
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for body in ["", "--xyz", "--xyz\n", "--xyz\nContent-Disposition: form-data; name=a\n\nx", "text"] {
            assert_eq!(form(body), Err(Malformed::NoEnd), "{body}");
        }
        assert_eq!(form("--xyz\nContent-Type: text/plain\n\nx\n--xyz--"), Err(Malformed::NoName));
        assert_eq!(parse("multipart/form-data", &Bytes::new()), Err(Malformed::NoBoundary));
        assert_eq!(
            form(&("--xyz\nContent-Disposition: form-data; name=a\n\n\n".repeat(1001) + "--xyz--")),
            Err(Malformed::TooManyParts)
        );
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(body in "(--xyz|\r\n|[a-z:;=\" -]|Content-Disposition: form-data; name=a){0,20}", kind in ".*") {
            let _ = parse(TYPE, &Bytes::from(body.clone()));
            let _ = parse(&kind, &Bytes::from(body));
        }

        #[test]
        fn content_comes_back(content in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut body = b"--a b'c\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"f\"\r\n\r\n".to_vec();
            body.extend_from_slice(&content);
            body.extend_from_slice(b"\r\n--a b'c--\r\n");
            let parts = parse("multipart/form-data; charset=utf-8; boundary=\"a b'c\"", &Bytes::from(body)).unwrap();
            prop_assert_eq!(&parts[0].content[..], &content[..]);
        }
    }
}
