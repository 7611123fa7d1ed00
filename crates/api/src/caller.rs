//! Who asks, and what they may reach. Each edge makes it in one place, from what a request says; all that is read or done for a request is
//! read or done for its caller.

use std::sync::{Arc, LazyLock};

use store::query::Tenants;

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
}

impl Caller {
    /// As a command carries it.
    pub(crate) fn of_command(&self) -> store::log::Caller {
        store::log::Caller { name: self.name.clone(), tenants: self.tenants() }
    }

    /// Everybody, as yet: nobody can say who they are, and there is one tenant.
    pub(crate) fn anonymous() -> Self {
        Self { name: NAME_ANONYMOUS.clone(), home: TENANT_DEFAULT.clone(), tenants: vec![TENANT_DEFAULT.clone()] }
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
        let caller = Caller::anonymous();
        for (given, reached) in [(None, true), (Some(""), true), (Some("<default>"), true), (Some("blue"), false)] {
            assert_eq!(caller.tenant(given).is_some(), reached, "{given:?}");
        }
        assert!(caller.sees("<default>") && !caller.sees("blue"));
        assert_eq!(caller.tenants(), Tenants::These(vec!["<default>".into()]));
    }
}
