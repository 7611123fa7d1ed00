//! The `idempotency-key` of a call: the second call with it gets the first one's answer.

use store::log::{Command, IdempotencyKey, Request};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::tenant;
use crate::fingerprint::fnv1a;

const METADATA: &str = "idempotency-key";

const KEY_CHARACTERS_MAX: usize = 256;

/// The command, with the key its caller gave.
pub(super) fn request(metadata: &MetadataMap, command: Command) -> Result<Request, Status> {
    let mut request = Request { command, idempotency: None };
    let Some(given) = metadata.get(METADATA) else { return Ok(request) };
    let key = given.to_str().unwrap_or_default();
    if key.is_empty() || KEY_CHARACTERS_MAX < key.len() {
        return Err(Status::invalid_argument(format!(
            "{METADATA} must have between 1 and {KEY_CHARACTERS_MAX} visible ASCII characters"
        )));
    }
    let fingerprint = fnv1a(store::format::encode_request(&request));
    request.idempotency = Some(IdempotencyKey { tenant: tenant::default(), key: key.into(), fingerprint });
    Ok(request)
}
