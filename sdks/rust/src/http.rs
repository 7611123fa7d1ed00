//! JSON over HTTP: errors by what to do about them.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Frame, SizeHint};
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Body, Method, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use tokio::time::{Sleep, sleep};

use crate::Error;

const ADDRESS: &str = "http://127.0.0.1:8080";
const CALL_MAX: Duration = Duration::from_secs(30);
/// What a server takes, unless it was told to take more.
const BODY_BYTES_USUAL: usize = 4 * 1024 * 1024;
const ANNOUNCED_FOR: Duration = Duration::from_millis(500);

/// How to speak to a server over REST.
#[derive(Clone)]
pub struct Options {
    /// Instead of a new one: for authorities, certificates, headers and proxies of your own.
    pub http: Option<reqwest::Client>,
    /// Sent as a bearer token.
    pub token: Option<String>,
    /// For how long a client repeats requests while the server is away or busy.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options { http: None, token: None, patience: Duration::from_secs(30) }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.as_ref().map(|_| "Sensitive");
        // The client may have headers of its own.
        f.debug_struct("Options").field("token", &token).field("patience", &self.patience).finish_non_exhaustive()
    }
}

#[derive(Clone)]
pub(crate) struct Http {
    address: String,
    client: reqwest::Client,
    authorization: Option<HeaderValue>,
    pub(crate) patience: Duration,
}

impl Http {
    pub(crate) fn new(address: &str, options: Options) -> Result<Http, Error> {
        let is_whole = |url: &Url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none() && url.fragment().is_none()
        };
        let address = if address.is_empty() { ADDRESS } else { address };
        let url = Url::parse(address).ok().filter(is_whole);
        let url = url.ok_or_else(|| Error::unusable(format!("`{}` is no address such as {ADDRESS}", shown(address))))?;
        if url.scheme() == "https" && options.http.is_none() && !cfg!(feature = "rustls") {
            return Err(Error::unusable("https:// needs the feature `rustls`, or an HTTP client of your own".to_owned()));
        }
        Ok(Http {
            address: url.as_str().trim_end_matches('/').to_owned(),
            client: options.http.unwrap_or_default(),
            authorization: options.token.map(|token| bearer(&token)).transpose()?,
            patience: options.patience,
        })
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address)).timeout(CALL_MAX);
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    pub(crate) fn post(&self, path: &str, body: &impl serde::Serialize) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }
}

impl Default for Http {
    fn default() -> Http {
        Http::new(ADDRESS, Options::default()).expect("it is an address, and nothing is asked for")
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(shown(&self.address))
    }
}

/// An address without the name and the password that may be in it.
pub(crate) fn shown(address: &str) -> &str {
    address.rsplit_once('@').map_or(address, |(_, place)| place)
}

fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let value = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut value = value.map_err(|_| Error::unusable("the token has letters that no header may have".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The JSON of the answer. One that is none is another's, such as the page of a proxy.
pub(crate) async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, Error> {
    serde_json::from_slice(&send(request).await?).map_err(|error| match error.classify() {
        Category::Data => error.into(),
        Category::Io | Category::Syntax | Category::Eof => away(format!("the answer is no JSON: {error}")),
    })
}

/// The answer, whatever it is.
pub(crate) async fn send(request: RequestBuilder) -> Result<Vec<u8>, Error> {
    let (client, request) = request.build_split();
    let mut request = request.map_err(failure)?;
    if let Some(body) = request.body_mut()
        && body.as_bytes().is_some_and(|bytes| BODY_BYTES_USUAL < bytes.len())
    {
        *body = Body::wrap(Announced { pause: Box::pin(sleep(ANNOUNCED_FOR)), body: std::mem::take(body) });
    }
    let answer = client.execute(request).await.map_err(failure)?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let text = answer.bytes().await.map_err(failure)?;
    if status.is_success() {
        return Ok(text.to_vec());
    }
    let asked = headers.get("retry-after").and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    Err(refusal(status, &text, asked.map(Duration::from_secs)))
}

/// A body whose length comes some time before it: a server that does not want it says so and hangs up, and whoever is still writing may not hear that.
struct Announced {
    pause: Pin<Box<Sleep>>,
    body: Body,
}

impl http_body::Body for Announced {
    type Data = <Body as http_body::Body>::Data;
    type Error = reqwest::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        std::task::ready!(self.pause.as_mut().poll(context));
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// There is no answer.
fn failure(error: reqwest::Error) -> Error {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    // What cannot be written as JSON or as a header cannot be sent later either.
    if error.is_builder() { Error::unusable(message) } else { away(message) }
}

pub(crate) fn away(message: String) -> Error {
    Error::Unavailable { message, retry_after: None }
}

fn refusal(status: StatusCode, text: &[u8], retry_after: Option<Duration>) -> Error {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Words {
        error: String,
        title: String,
        message: String,
        detail: String,
    }
    // A proxy in between may answer in other words than the server's.
    let words: Words = serde_json::from_slice(text)
        .unwrap_or_else(|_| Words { message: String::from_utf8_lossy(text).into_owned(), ..Words::default() });
    let (code, message) = (words.error + &words.title, words.message + &words.detail);
    match status.as_u16() {
        408 | 429 | 500 | 502..=599 => Error::Unavailable { message: format!("{message} ({code}, {status})"), retry_after },
        status => Error::Refused { status, code, message },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn what_may_work_later() {
        for (status, later) in [
            (400, false),
            (401, false),
            (404, false),
            (408, true),
            (409, false),
            (413, false),
            (429, true),
            (500, true),
            (501, false),
            (502, true),
            (503, true),
            (504, true),
            (507, true),
            (599, true),
        ] {
            let error = refusal(StatusCode::from_u16(status).unwrap(), b"", Some(Duration::from_secs(7)));
            assert_eq!(error.is_unavailable(), later, "{status}");
            assert_eq!(error.retry_after(), later.then_some(Duration::from_secs(7)), "{status}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_at_once() {
        for good in ["http://127.0.0.1:8080", "https://example.org/caudal/", "http://[::1]:80"] {
            assert!(Http::new(good, Options::default()).is_ok(), "{good}");
        }
        for bad in ["127.0.0.1:8080", "localhost:8080", "http://", "grpc://127.0.0.1:9090", "http://a:99999", "http://a/?b"] {
            let error = Http::new(bad, Options::default()).unwrap_err().to_string();
            assert_eq!(error, format!("`{bad}` is no address such as http://127.0.0.1:8080"));
        }
        for usual in [Http::default(), Http::new("", Options::default()).unwrap()] {
            assert_eq!(format!("{usual:?}"), ADDRESS);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let options = Options { token: Some("secret".to_owned()), ..Options::default() };
        let http = Http::new("http://ann:secret@example.org", options.clone()).unwrap();
        let request = http.request(Method::GET, "/");
        let odd = Options { token: Some("secret\n".to_owned()), ..Options::default() };
        let errors = [Http::new("ann:secret@example.org", options.clone()), Http::new(ADDRESS, odd)].map(Result::unwrap_err);
        let shown = format!("{options:?} {http:?} {request:?} {errors:?} {}{}", errors[0], errors[1]);
        assert!(shown.contains("example.org") && !shown.contains("secret"), "{shown}");
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_not_sent_again() {
        let pairs = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = send(Http::default().post("/", &pairs)).await.unwrap_err();
        assert!(!error.is_unavailable() && error.to_string().contains("key must be a string"), "{error}");
    }
}
