//! `multipart/form-data` as it comes: a file is read part by part and never held as a whole.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use super::multipart::{self, Head, Malformed};
use crate::error::{Failure, Reason};

/// Bytes of the headers of one part.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Parts of one form.
const PARTS_MAX: usize = 1_000;

pub(super) struct Form {
    body: BodyDataStream,
    /// How long nothing may come.
    patience: Duration,
    /// What separates parts, with the line end before it.
    mark: Vec<u8>,
    /// What has come and was not taken.
    held: BytesMut,
    place: Place,
    parts: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first part.
    Before,
    /// Inside a part.
    Inside,
    /// Right behind a mark.
    Behind,
    End,
}

impl Form {
    pub(super) fn of(headers: &HeaderMap, body: Body, patience: Duration) -> Result<Self, Failure> {
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = multipart::parameter(content_type, "boundary").filter(|boundary| !boundary.is_empty());
        let boundary = boundary.ok_or_else(|| malformed(Malformed::NoBoundary))?;
        let mark = format!("\r\n--{boundary}").into_bytes();
        // The first mark may have no line end before it.
        let held = BytesMut::from(&b"\r\n"[..]);
        Ok(Self { body: body.into_data_stream(), patience, mark, held, place: Place::Before, parts: 0 })
    }

    /// The next part, whether or not the one before was read to its end.
    pub(super) async fn next(&mut self) -> Result<Option<Head>, Failure> {
        while self.place != Place::Behind && self.place != Place::End {
            self.piece(usize::MAX).await?;
        }
        if self.place == Place::End {
            return Ok(None);
        }
        while self.held.len() < 2 {
            self.more().await?;
        }
        if self.held.starts_with(b"--") {
            self.place = Place::End;
            return Ok(None);
        }
        self.parts += 1;
        if PARTS_MAX < self.parts {
            return Err(malformed(Malformed::TooManyParts));
        }
        let end = loop {
            if let Some(end) = multipart::find(&self.held, b"\r\n\r\n", 0) {
                break end;
            }
            if HEAD_BYTES_MAX < self.held.len() {
                return Err(Failure::unreadable(format!("The headers of a part have more than {HEAD_BYTES_MAX} bytes")));
            }
            self.more().await?;
        };
        // The line of the mark ends before the headers begin.
        let head = multipart::head(&self.held[end.min(2)..end]).map_err(malformed)?;
        let _headers = self.held.split_to(end + 4);
        self.place = Place::Inside;
        Ok(Some(head))
    }

    /// The content of the part goes on, by at most so many bytes; nothing at its end.
    pub(super) async fn piece(&mut self, bytes_max: usize) -> Result<Option<Bytes>, Failure> {
        loop {
            if matches!(self.place, Place::Behind | Place::End) {
                return Ok(None);
            }
            let (ready, is_end) = match multipart::find(&self.held, &self.mark, 0) {
                Some(at) => (at, true),
                // What may be the beginning of a mark waits for the rest of it.
                None => (self.held.len().saturating_sub(self.mark.len() - 1), false),
            };
            if 0 < ready {
                return Ok(Some(self.held.split_to(ready.min(bytes_max)).freeze()));
            }
            if is_end {
                let _mark = self.held.split_to(self.mark.len());
                self.place = Place::Behind;
                return Ok(None);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), Failure> {
        let waited = tokio::time::timeout(self.patience, self.body.next()).await;
        let Ok(next) = waited else {
            let seconds = self.patience.as_secs();
            return Err(Failure::new(Reason::RequestTimeout, format!("Nothing of the body came for {seconds} seconds")));
        };
        let chunk = next.ok_or_else(|| malformed(Malformed::NoEnd))?;
        let chunk =
            chunk.map_err(|error| Failure::unreadable(format!("Failed to read request: the body ended early: {error}")))?;
        self.held.extend_from_slice(&chunk);
        Ok(())
    }
}

fn malformed(why: Malformed) -> Failure {
    Failure::unreadable(format!("Failed to read request: {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is in a form that comes in pieces of so many bytes.
    async fn read(body: &[u8], chunk: usize) -> Result<Vec<(String, Option<String>, Vec<u8>)>, Failure> {
        let chunks: Vec<Result<Bytes, std::convert::Infallible>> =
            body.chunks(chunk).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, "multipart/form-data; boundary=xyz".parse().unwrap())]);
        let body = Body::from_stream(futures_util::stream::iter(chunks));
        let mut form = Form::of(&headers, body, Duration::from_secs(5))?;
        let mut parts = Vec::new();
        while let Some(head) = form.next().await? {
            let mut content = Vec::new();
            while let Some(piece) = form.piece(7).await? {
                assert!(piece.len() <= 7);
                content.extend_from_slice(&piece);
            }
            parts.push((head.name, head.content_type, content));
        }
        Ok(parts)
    }

    #[tokio::test]
    async fn parts_come_whole_whatever_the_chunks() {
        let body = b"before\r\n--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\nContent-Type: text/plain\r\n\r\n\
            one\r\n--xy\r\n\r\n--xyz\r\ncontent-disposition: form-data; name=empty\r\n\r\n\r\n--xyz--\r\nafter";
        let expected =
            [("file".to_owned(), Some("text/plain".to_owned()), b"one\r\n--xy\r\n".to_vec()), ("empty".to_owned(), None, vec![])];
        for chunk in [1, 2, 3, 7, 1_000] {
            assert_eq!(read(body, chunk).await.unwrap(), expected, "{chunk}");
        }
    }

    #[tokio::test]
    async fn what_is_no_form_is_refused() {
        for body in ["", "--xyz", "--xyz\r\n", "--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\nx", "text"] {
            assert_eq!(read(body.as_bytes(), 4).await.unwrap_err().reason, Reason::Unreadable, "{body}");
        }
        let long = format!("--xyz\r\nX: {}", "y".repeat(HEAD_BYTES_MAX));
        assert!(read(long.as_bytes(), 999).await.is_err());
    }

    proptest! {
        #[test]
        fn content_comes_back(content in "(\r\n|--xyz|-|[a-z]){0,60}", chunk in 1usize..20) {
            prop_assume!(!content.contains("\r\n--xyz"));
            let body = format!("--xyz\r\nContent-Disposition: form-data; name=file\r\n\r\n{content}\r\n--xyz--\r\n");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let parts = runtime.block_on(read(body.as_bytes(), chunk)).unwrap();
            prop_assert_eq!(&parts[0].2, content.as_bytes());
        }
    }
}
