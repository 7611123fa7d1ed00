//! How long one request may be, for both surfaces.

use crate::error::{Failure, Reason};

/// So many bytes, and the setting that says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) bytes_max: usize,
    setting: &'static str,
}

impl Bound {
    pub(crate) const fn of_request(bytes_max: usize) -> Self {
        Self { bytes_max, setting: "limits.request_bytes" }
    }

    /// A deployment with all its files.
    pub(crate) const fn of_deployment(bytes_max: usize) -> Self {
        Self { bytes_max, setting: "limits.deployment_bytes" }
    }

    /// For who sent more.
    pub(crate) fn exceeded(self) -> Failure {
        let Self { bytes_max, setting } = self;
        Failure::new(
            Reason::TooLarge,
            format!("The request is longer than {bytes_max} bytes, the most this server takes ({setting} in its configuration)"),
        )
    }
}
