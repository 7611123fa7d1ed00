//! The `idempotency-key` of a call: the second call with it gets the first one's answer.

use store::log::{Command, IdempotencyKey, Request};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::tenant;

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
    let fingerprint = fnv1a(&store::format::encode_request(&request));
    request.idempotency = Some(IdempotencyKey { tenant: tenant::default(), key: key.into(), fingerprint });
    Ok(request)
}

/// FNV-1a, 64 bits: stored beside the key, so it must not change from build to build.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
