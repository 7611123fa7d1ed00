//! The content of a document on its way to a client. Whoever puts files here must not get pages of theirs shown as ours: they are to be
//! kept, not shown, and what they are is what was said when they came.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use store::documents::Document;

use super::super::call::Call;
use crate::error::{Failure, Reason};

const PLAIN: &str = "application/octet-stream";

/// Read as it is sent, part by part.
pub(super) fn answered(call: &Call, document: Document) -> Result<Response, Failure> {
    let host = call.host().clone();
    let (upload, size) = (document.upload.clone(), document.size);
    let parts = stream::try_unfold((0u32, 0u64), move |(number, sent)| {
        let (host, upload) = (host.clone(), upload.clone());
        async move {
            if size <= sent {
                return Ok(None);
            }
            let part = host.store().documents().part(&upload, number).await?;
            let part = part.ok_or_else(|| store::Error::unavailable("the document was deleted while it was read"))?;
            let sent = sent + part.len() as u64;
            Ok::<_, store::Error>(Some((Bytes::from(part), (number + 1, sent))))
        }
    });
    let media = HeaderValue::from_str(&document.content_type).unwrap_or(HeaderValue::from_static(PLAIN));
    let response = Response::builder()
        .status(StatusCode::OK)
        .header(header::CONTENT_TYPE, media)
        .header(header::CONTENT_LENGTH, size)
        .header(header::CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{}", escaped(&document.file_name)))
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox")
        .body(Body::from_stream(parts));
    response.map_err(|error| Failure::new(Reason::Internal, error.to_string()))
}

/// A name in a header, after RFC 8187.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => text.push(char::from(byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_cannot_break_out_of_their_header() {
        assert_eq!(super::escaped("a b\"\r\nX: y/ü.txt"), "a%20b%22%0D%0AX%3A%20y%2F%C3%BC.txt");
    }
}
