//! Tenants as requests name them. There is one, until there are more.

use std::sync::{Arc, LazyLock};

use tonic::Status;

static DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| "<default>".into());

pub(super) fn default() -> Arc<str> {
    DEFAULT.clone()
}

/// The tenant a request names; without a name, the default one.
pub(super) fn one(call: &'static str, given: &str) -> Result<Arc<str>, Status> {
    if !given.is_empty() && *given != **DEFAULT {
        return Err(Status::invalid_argument(format!(
            "{call} names the tenant '{given}', but this server has no tenants: leave it out"
        )));
    }
    Ok(DEFAULT.clone())
}

/// The tenants a worker asks for; without names, the default one.
pub(super) fn several(call: &'static str, given: &[String]) -> Result<Vec<Arc<str>>, Status> {
    for tenant in given {
        one(call, tenant)?;
    }
    Ok(vec![DEFAULT.clone()])
}
