//! JSON over HTTP: errors by what to do about them.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;

const CALL_MAX: Duration = Duration::from_secs(30);

/// How to speak to a server over REST.
#[derive(Debug, Clone)]
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

#[derive(Debug, Clone)]
pub(crate) struct Http {
    address: String,
    client: reqwest::Client,
    token: Option<String>,
    pub(crate) patience: Duration,
}

impl Http {
    pub(crate) fn new(address: &str, options: Options) -> Http {
        let address = address.trim_end_matches('/').to_owned();
        Http { address, client: options.http.unwrap_or_default(), token: options.token, patience: options.patience }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address)).timeout(CALL_MAX);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) fn post(&self, path: &str, body: &impl serde::Serialize) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }
}

/// The JSON of the answer.
pub(crate) async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, Error> {
    Ok(serde_json::from_slice(&send(request).await?)?)
}

/// The answer, whatever it is.
pub(crate) async fn send(request: RequestBuilder) -> Result<Vec<u8>, Error> {
    let answer = request.send().await.map_err(away)?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let text = answer.bytes().await.map_err(away)?;
    if status.is_success() {
        return Ok(text.to_vec());
    }
    let asked = headers.get("retry-after").and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    Err(refusal(status, &text, asked.map(Duration::from_secs)))
}

fn away(error: reqwest::Error) -> Error {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    Error::Unavailable { message, retry_after: None, refused: error.is_connect() }
}

fn refusal(status: StatusCode, text: &[u8], retry_after: Option<Duration>) -> Error {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Body {
        error: String,
        title: String,
        message: String,
        detail: String,
    }
    // A proxy in between may answer in other words than the server's.
    let body: Body = serde_json::from_slice(text)
        .unwrap_or_else(|_| Body { message: String::from_utf8_lossy(text).into_owned(), ..Body::default() });
    let (code, message) = (body.error + &body.title, body.message + &body.detail);
    match status.as_u16() {
        // Without an answer in time it may have been done, or may still be.
        429 | 502 | 503 | 504 => Error::Unavailable {
            message: format!("{message} ({code}, {status})"),
            retry_after,
            refused: status != StatusCode::GATEWAY_TIMEOUT,
        },
        status => Error::Refused { status, code, message },
    }
}
