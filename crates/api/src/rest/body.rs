//! Reads a body: bounded in size and in time, without copying what comes in one piece.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::error::{Failure, Reason};

pub(super) async fn read(headers: &HeaderMap, body: Body, bytes_max: usize, patience: Duration) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| (bytes_max as u64) < length) {
        return Err(too_large(bytes_max));
    }
    match tokio::time::timeout(patience, collect(body, bytes_max)).await {
        Ok(read) => read,
        Err(_) => {
            Err(Failure::new(Reason::RequestTimeout, format!("The body did not arrive within {} seconds", patience.as_secs())))
        }
    }
}

async fn collect(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    let mut chunks = body.into_data_stream();
    let Some(first) = chunks.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(broken)?;
    let mut rest: Option<BytesMut> = None;
    let mut length = first.len();
    while length <= bytes_max {
        let Some(chunk) = chunks.next().await else {
            return Ok(rest.map_or(first, BytesMut::freeze));
        };
        let chunk = chunk.map_err(broken)?;
        length += chunk.len();
        rest.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&chunk);
    }
    Err(too_large(bytes_max))
}

fn too_large(bytes_max: usize) -> Failure {
    Failure::new(Reason::TooLarge, format!("The body is longer than {bytes_max} bytes, the most this server takes"))
}

fn broken(error: axum::Error) -> Failure {
    Failure::unreadable(format!("Failed to read request: the body ended early: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn pieces(pieces: &[&'static str]) -> Body {
        let pieces: Vec<Result<Bytes, std::convert::Infallible>> =
            pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect();
        Body::from_stream(futures_util::stream::iter(pieces))
    }

    #[tokio::test]
    async fn pieces_become_one() {
        for (given, expected) in [(&[][..], ""), (&["abc"], "abc"), (&["a", "", "bc"], "abc")] {
            assert_eq!(read(&HeaderMap::new(), pieces(given), 3, PATIENCE).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn the_bound_is_kept() {
        for given in [&["abcd"][..], &["ab", "cd"], &["a", "b", "c", "d"]] {
            let failure = read(&HeaderMap::new(), pieces(given), 3, PATIENCE).await.unwrap_err();
            assert_eq!(failure.reason, Reason::TooLarge);
        }
        let headers = HeaderMap::from_iter([(header::CONTENT_LENGTH, "4".parse().unwrap())]);
        assert_eq!(read(&headers, pieces(&[]), 3, PATIENCE).await.unwrap_err().reason, Reason::TooLarge);
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::convert::Infallible>>());
        let failure = read(&HeaderMap::new(), never, 3, Duration::from_millis(5)).await.unwrap_err();
        assert_eq!(failure.reason, Reason::RequestTimeout);
    }
}
