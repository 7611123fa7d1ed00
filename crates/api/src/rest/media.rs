//! Which media types a request brings and which it takes.

use axum::http::{HeaderMap, header};

use crate::error::{Failure, Reason};

/// What every operation may answer with besides its own type.
const ALWAYS: [&str; 3] = ["application/json", "application/vnd.camunda.api.keys.string+json", "application/problem+json"];

/// The content type as the client wrote it.
pub(super) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

/// Refuses a body of another type, or of none.
pub(super) fn check_content(headers: &HeaderMap, media: &str) -> Result<(), Failure> {
    match content_type(headers) {
        Some(given) if essence(given).eq_ignore_ascii_case(media) => Ok(()),
        given => {
            let given = given.map_or("null", essence);
            Err(Failure::new(Reason::UnsupportedMediaType, format!("Content-Type '{given}' is not supported: expected {media}")))
        }
    }
}

/// Refuses a client that takes nothing we can answer with.
pub(super) fn check_accept(headers: &HeaderMap, media: &str) -> Result<(), Failure> {
    let mut accepts = headers.get_all(header::ACCEPT).iter().peekable();
    if accepts.peek().is_none() {
        return Ok(());
    }
    let takes = |range: &str| {
        let range = essence(range);
        range == "*/*" || range.is_empty() || std::iter::once(media).chain(ALWAYS).any(|media| covers(range, media))
    };
    let acceptable = accepts.filter_map(|value| value.to_str().ok()).any(|value| value.split(',').any(takes));
    if acceptable {
        return Ok(());
    }
    Err(Failure::new(Reason::NotAcceptable, format!("Acceptable representations: [{media}, application/problem+json]")))
}

fn covers(range: &str, media: &str) -> bool {
    match range.strip_suffix("/*") {
        Some(family) => media.split('/').next().is_some_and(|of| of.eq_ignore_ascii_case(family)),
        None => range.eq_ignore_ascii_case(media),
    }
}

/// A media type without its parameters.
fn essence(media: &str) -> &str {
    media.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn parameters_and_casing_do_not_matter() {
        for given in ["application/json", "application/json;charset=UTF-8", "Application/JSON ; q=1"] {
            assert!(check_content(&headers(header::CONTENT_TYPE, given), "application/json").is_ok(), "{given}");
        }
        for given in ["text/plain", "application/vnd.camunda.api.keys.string+json", ""] {
            assert!(check_content(&headers(header::CONTENT_TYPE, given), "application/json").is_err(), "{given}");
        }
        assert!(check_content(&HeaderMap::new(), "application/json").is_err());
    }

    #[test]
    fn a_client_must_take_what_we_have() {
        for accept in ["*/*", "application/*", "text/html, application/json;q=0.5", "application/problem+json", ""] {
            assert!(check_accept(&headers(header::ACCEPT, accept), "application/json").is_ok(), "{accept}");
        }
        for accept in ["application/xml", "text/plain", "text/*"] {
            assert!(check_accept(&headers(header::ACCEPT, accept), "application/json").is_err(), "{accept}");
        }
        assert!(check_accept(&headers(header::ACCEPT, "text/xml"), "text/xml").is_ok());
        assert!(check_accept(&HeaderMap::new(), "application/json").is_ok());
    }
}
