//! Who asks, and what they may reach. Each edge makes it in one place, from what a request says; all that is read or done for a request is
//! read or done for its caller.

use std::sync::{Arc, LazyLock};

use store::log::{Command, IdempotencyKey, Request, Trace};
use store::query::Tenants;

use crate::fingerprint::fnv1a;

static TENANT_DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| "<default>".into());
static NAME_ANONYMOUS: LazyLock<Arc<str>> = LazyLock::new(|| store::log::Caller::ANONYMOUS.into());

/// Whether somebody of this name has not said who they are.
pub(crate) fn is_anonymous(name: &str) -> bool {
    name.is_empty() || *name == **NAME_ANONYMOUS
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: Arc<str>,
    /// The one for what names none.
    home: Arc<str>,
    tenants: Vec<Arc<str>>,
    /// The trace it asks from.
    trace: Option<Box<Trace>>,
}

impl Caller {
    /// Its command, with the key it gave: a second request with that gets the first answer, from whichever trace it comes.
    pub(crate) fn request(&self, command: Command, key: Option<Arc<str>>) -> Request {
        let caller = store::log::Caller { name: self.name.clone(), tenants: self.tenants(), trace: None };
        let mut request = Request { caller, command, idempotency: None };
        if let Some(key) = key {
            let fingerprint = fnv1a(store::format::encode_request(&request));
            request.idempotency = Some(IdempotencyKey { tenant: self.home(), key, fingerprint });
        }
        request.caller.trace.clone_from(&self.trace);
        request
    }

    /// Everybody, as yet: nobody can say who they are, and there is one tenant.
    pub(crate) fn anonymous(trace: Option<Box<Trace>>) -> Self {
        let tenant = TENANT_DEFAULT.clone();
        Self { name: NAME_ANONYMOUS.clone(), home: tenant.clone(), tenants: vec![tenant], trace }
    }

    /// Whose data may be shown.
    pub(crate) fn tenants(&self) -> Tenants {
        Tenants::These(self.tenants.clone())
    }

    pub(crate) fn sees(&self, tenant: &str) -> bool {
        self.tenants.iter().any(|one| **one == *tenant)
    }

    /// The tenant of what names none.
    pub(crate) fn home(&self) -> Arc<str> {
        self.home.clone()
    }

    /// The tenant a request names, if its caller may; nothing and an empty name are no name.
    pub(crate) fn tenant(&self, given: Option<&str>) -> Option<Arc<str>> {
        match given {
            None | Some("") => Some(self.home()),
            Some(name) => self.tenants.iter().find(|one| ***one == *name).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_reaches_its_own_tenants_only() {
        let caller = Caller::anonymous(None);
        for (given, reached) in [(None, true), (Some(""), true), (Some("<default>"), true), (Some("blue"), false)] {
            assert_eq!(caller.tenant(given).is_some(), reached, "{given:?}");
        }
        assert!(caller.sees("<default>") && !caller.sees("blue"));
        assert_eq!(caller.tenants(), Tenants::These(vec!["<default>".into()]));
    }
}
