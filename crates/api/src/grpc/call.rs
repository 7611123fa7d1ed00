//! One call: who makes it, and what its handler may do for them.

use std::sync::Arc;

use engine::Document;
use host::Host;
use store::log::{Answer, Command, Request};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::gateway::Gateway;
use super::refusal::failed;
use crate::caller::Caller;
use crate::document;
use crate::error::Failure;
use crate::traced;

/// The second call with this key gets the first one's answer.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

const IDEMPOTENCY_KEY_CHARS_MAX: usize = 256;

pub(super) struct Call<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) caller: Caller,
    metadata: MetadataMap,
}

impl<'a> Call<'a> {
    /// The one place where it is decided who asks.
    pub(super) fn open<M>(gateway: &'a Gateway, request: tonic::Request<M>) -> (Self, M) {
        let (metadata, _, message) = request.into_parts();
        let trace = traced::context(|name| metadata.get(name).and_then(|value| value.to_str().ok()));
        (Self { gateway, caller: Caller::anonymous(trace), metadata }, message)
    }

    pub(super) fn host(&self) -> &Host {
        &self.gateway.host
    }

    /// Submits a command. `intent` is the word for it that clients look for when it is refused.
    pub(super) async fn submit(&self, intent: &'static str, command: Command) -> Result<Answer, Status> {
        let request = self.request(command)?;
        self.host().submit(request).await.map_err(|error| failed(intent, error))
    }

    /// The command, with the key its caller gave.
    pub(super) fn request(&self, command: Command) -> Result<Request, Status> {
        let Some(given) = self.metadata.get(IDEMPOTENCY_KEY) else { return Ok(self.caller.request(command, None)) };
        let key = given.to_str().unwrap_or_default();
        if key.is_empty() || IDEMPOTENCY_KEY_CHARS_MAX < key.len() {
            return Err(Status::invalid_argument(format!(
                "{IDEMPOTENCY_KEY} must have between 1 and {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters"
            )));
        }
        Ok(self.caller.request(command, Some(key.into())))
    }

    /// The tenant a request names; without a name, the caller's own.
    pub(super) fn tenant(&self, name: &'static str, given: &str) -> Result<Arc<str>, Status> {
        self.caller.tenant(Some(given)).ok_or_else(|| {
            let reason = format!("{name} names the tenant '{given}', but this server has no tenants: leave it out");
            Status::invalid_argument(reason)
        })
    }

    /// The tenants a worker asks for; without names, the caller's own.
    pub(super) fn tenants(&self, name: &'static str, given: &[String]) -> Result<Vec<Arc<str>>, Status> {
        let mut tenants = given.iter().map(|given| self.tenant(name, given)).collect::<Result<Vec<_>, _>>()?;
        tenants.sort_unstable();
        tenants.dedup();
        Ok(if tenants.is_empty() { vec![self.caller.home()] } else { tenants })
    }

    /// Variables as text; none may be written as nothing or as `null`.
    pub(super) fn variables(&self, text: &str) -> Result<Document, Status> {
        if text.is_empty() || text.trim() == "null" {
            return Ok(Document::new());
        }
        let document = document::parse(text, self.host().limits());
        document.map_err(|error| Failure::from(error).into())
    }
}

/// A key as clients write it. No key is negative or 0: neither names anything.
pub(super) fn key(given: i64) -> u64 {
    u64::try_from(given).unwrap_or(0)
}
