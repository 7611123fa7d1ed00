//! One request of one operation: what it brought, and what its handler may do with it.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{HeaderMap, Uri, header};
use axum::response::Response;
use bytes::Bytes;
use host::Host;
use store::log::{Answer, Command, Request};
use tokio::sync::watch;

use super::operation::Operation;
use super::shape::{self, Fields, Shape};
use super::upload::Form;
use super::{Config, answer, path};
use crate::budget::{Budgets, Held};
use crate::caller::Caller;
use crate::error::{Failure, Reason};

/// Characters of an idempotency key.
const IDEMPOTENCY_KEY_CHARS_MAX: usize = 256;

/// What all requests share.
pub(super) struct Server {
    pub(super) host: Host,
    pub(super) config: Config,
    pub(super) budgets: Budgets,
    /// Turns true when the server is to end.
    pub(super) draining: watch::Receiver<bool>,
}

pub(super) struct Call {
    pub(super) server: Arc<Server>,
    pub(super) operation: &'static Operation,
    pub(super) caller: Caller,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// A body that is read as it comes.
    pub(super) upload: Mutex<Option<Body>>,
}

impl Call {
    pub(super) fn host(&self) -> &Host {
        &self.server.host
    }

    pub(super) fn config(&self) -> &Config {
        &self.server.config
    }

    /// Room for an answer of at most so many bytes, before it is read. What it does not need is given back when it is written.
    pub(super) async fn room(&self, bytes: usize) -> Result<Held, Failure> {
        self.server.budgets.answers.room(bytes, self.config().room_timeout).await
    }

    /// The form in the body, which can be read once.
    pub(super) fn form(&self) -> Result<Form, Failure> {
        let body = self.upload.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        Form::of(&self.headers, body.unwrap_or_default(), self.config().body_timeout)
    }

    /// Where the caller has reached this server.
    pub(super) fn address(&self) -> String {
        let host = self.headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let host = host.or(self.uri.authority().map(|authority| authority.as_str())).unwrap_or("localhost");
        let scheme = if self.config().is_secure { "https" } else { "http" };
        format!("{scheme}://{host}")
    }

    /// The key in the path.
    pub(super) fn key(&self) -> Result<i64, Failure> {
        let name = self.operation.parameter().map_or("", |(_, name)| name);
        let value = self.segment();
        path::key(value, name).map_err(|_| Failure::unreadable(format!("Failed to convert '{name}' with value: '{value}'")))
    }

    /// What the path has in place of its parameter.
    pub(super) fn segment(&self) -> &str {
        let index = self.operation.parameter().map_or(0, |(index, _)| index);
        self.uri.path().split('/').nth(index).unwrap_or_default()
    }

    /// What the path has in place of this parameter, decoded.
    pub(super) fn parameter(&self, name: &str) -> Result<String, Failure> {
        let index = self.operation.parameters().find(|(_, known)| *known == name).map_or(0, |(index, _)| index);
        let written = self.uri.path().split('/').nth(index).unwrap_or_default();
        decoded(written).ok_or_else(|| Failure::unreadable(format!("'{written}' in the path cannot be read: it is not UTF-8")))
    }

    /// The key in the path, for a command.
    pub(super) fn existing_key(&self) -> Result<u64, Failure> {
        self.key().map(shape::existing)
    }

    /// What stands after the question mark. What the operation does not know is refused.
    pub(super) fn parameters(&self) -> Result<Vec<(String, String)>, Failure> {
        let unreadable = |why: String| Failure::unreadable(format!("The query of the path cannot be read: {why}"));
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&self.uri);
        let axum::extract::Query(parameters) = query.map_err(|error| unreadable(error.body_text()))?;
        let known = |name: &str| self.operation.query.iter().any(|field| field.name == name);
        match parameters.iter().find(|(name, _)| !known(name)) {
            Some((name, _)) => Err(unreadable(format!("there is no parameter '{name}'"))),
            None => Ok(parameters),
        }
    }

    /// A flag after the question mark.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Failure> {
        let mut pairs = self.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        match pairs.find(|(key, _)| *key == name) {
            None | Some((_, "")) => Ok(None),
            Some((_, "true")) => Ok(Some(true)),
            Some((_, "false")) => Ok(Some(false)),
            Some((_, value)) => Err(Failure::unreadable(format!("Failed to convert '{name}' with value: '{value}'"))),
        }
    }

    /// The body as text; empty where it is left out or null.
    pub(super) fn text(&self) -> Result<&str, Failure> {
        let text = std::str::from_utf8(&self.body)
            .map_err(|error| Failure::unreadable(format!("Failed to read request: the body is not UTF-8: {error}")))?;
        Ok(if text.trim() == "null" { "" } else { text })
    }

    pub(super) fn required(&self, shape: &'static Shape) -> Result<Fields<'_>, Failure> {
        let text = self.text()?;
        if text.trim_ascii().is_empty() {
            return Err(Failure::unreadable("Required request body is missing"));
        }
        shape::read(text, shape, self.host().limits())
    }

    pub(super) fn optional(&self, shape: &'static Shape) -> Result<Fields<'_>, Failure> {
        let text = self.text()?;
        if text.trim_ascii().is_empty() {
            return Ok(Fields::empty(shape));
        }
        shape::read(text, shape, self.host().limits())
    }

    /// The tenant a request names.
    pub(super) fn tenant(&self, given: Option<&str>, request: &str) -> Result<Arc<str>, Failure> {
        self.caller.tenant(given).ok_or_else(|| {
            let named = given.unwrap_or_default();
            Failure::invalid(format!(
                "Expected to handle request {request} with tenant identifier '{named}', but multi-tenancy is disabled"
            ))
        })
    }

    /// Does a command, or with `Prefer: respond-async` only puts it into the log. What the command needs of the body it has.
    pub(super) async fn submit(
        mut self,
        intent: &str,
        command: Command,
        respond: fn(&Answer) -> Option<Response>,
    ) -> Result<Response, Failure> {
        let request = self.request(command)?;
        self.body = Bytes::new();
        if self.wants_no_answer() {
            let position = self.host().submit_durably(request).await;
            return position.map(answer::accepted).map_err(|error| Failure::of_command(intent, error));
        }
        let answer = self.host().submit(request).await.map_err(|error| Failure::of_command(intent, error))?;
        respond(&answer).ok_or_else(|| {
            tracing::error!(?answer, intent, "an answer that does not fit the command");
            Failure::new(Reason::Internal, "The server answered with something unexpected")
        })
    }

    /// Does a command that has nothing to tell.
    pub(super) async fn perform(self, intent: &str, command: Command) -> Result<Response, Failure> {
        self.submit(intent, command, |_| Some(answer::no_content())).await
    }

    /// The command, with the key its caller gave: a second request with it gets the first answer.
    pub(super) fn request(&self, command: Command) -> Result<Request, Failure> {
        Ok(self.caller.request(command, self.idempotency_key()?))
    }

    /// What the caller gave to tell a second try from a second wish.
    pub(super) fn idempotency_key(&self) -> Result<Option<Arc<str>>, Failure> {
        let Some(value) = self.headers.get("idempotency-key") else { return Ok(None) };
        let is_plain =
            |key: &&str| (1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value.to_str().ok().filter(is_plain).ok_or_else(|| {
            Failure::invalid(format!(
                "The header Idempotency-Key must have 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters"
            ))
        });
        key.map(|key| Some(key.into()))
    }

    /// `Prefer: respond-async`.
    pub(super) fn wants_no_answer(&self) -> bool {
        let prefers = self.headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        let mut preferences = prefers.flat_map(|value| value.split([',', ';']));
        preferences.any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
    }
}

/// A segment of a path without its percent signs; what they spell must be UTF-8.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}
