//! Reads a body: bounded in size, in time, and together with all others; without copying what comes in one piece.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::bound::Bound;
use crate::budget::Held;
use crate::error::{Failure, Reason};

/// What has come is held from the moment it comes, rather than what was announced: who announces much may send nothing.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    bound: Bound,
    patience: Duration,
    held: &mut Held,
) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| (bound.bytes_max as u64) < length) {
        return Err(bound.exceeded());
    }
    match tokio::time::timeout(patience, collect(body, bound, held)).await {
        Ok(read) => read,
        Err(_) => {
            Err(Failure::new(Reason::RequestTimeout, format!("The body did not arrive within {} seconds", patience.as_secs())))
        }
    }
}

async fn collect(body: Body, bound: Bound, held: &mut Held) -> Result<Bytes, Failure> {
    let mut chunks = body.into_data_stream();
    let Some(first) = chunks.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(broken)?;
    let mut rest: Option<BytesMut> = None;
    let mut length = first.len();
    held.grow(length)?;
    while length <= bound.bytes_max {
        let Some(chunk) = chunks.next().await else {
            return Ok(rest.map_or(first, BytesMut::freeze));
        };
        let chunk = chunk.map_err(broken)?;
        length += chunk.len();
        let rest = rest.get_or_insert_with(|| BytesMut::from(&first[..]));
        rest.extend_from_slice(&chunk);
        held.grow(rest.capacity().saturating_sub(held.bytes()))?;
    }
    Err(bound.exceeded())
}

fn broken(error: axum::Error) -> Failure {
    Failure::unreadable(format!("Failed to read request: the body ended early: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::budget::Budget;

    const PATIENCE: Duration = Duration::from_secs(5);

    async fn read(headers: &HeaderMap, body: Body, bytes_max: usize, patience: Duration) -> Result<Bytes, Failure> {
        super::read(headers, body, Bound::of_request(bytes_max), patience, &mut Budget::of_bodies(1_000).nothing()).await
    }

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
    async fn all_bodies_share_a_budget() {
        const HALF: &str = "3.14159265358979323846264338327950288419716939937510";
        let budget = Budget::of_bodies(3 * HALF.len());
        let (mut one, mut other) = (budget.nothing(), budget.nothing());
        let read = async |held: &mut Held| {
            super::read(&HeaderMap::new(), pieces(&[HALF, HALF]), Bound::of_request(1_000), PATIENCE, held).await
        };
        assert_eq!(read(&mut one).await.unwrap().len(), 2 * HALF.len());
        assert!((2 * HALF.len()..=3 * HALF.len()).contains(&budget.in_use()), "{} bytes", budget.in_use());
        assert_eq!(read(&mut other).await.unwrap_err().reason, Reason::Exhausted);
        drop((one, other));
        assert_eq!(read(&mut budget.nothing()).await.unwrap().len(), 2 * HALF.len());
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::convert::Infallible>>());
        let failure = read(&HeaderMap::new(), never, 3, Duration::from_millis(5)).await.unwrap_err();
        assert_eq!(failure.reason, Reason::RequestTimeout);
    }
}
