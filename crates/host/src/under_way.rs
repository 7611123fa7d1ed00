//! Room for commands under way, in bytes, whichever way they go: to this server's own loop, or into the inbox of the owner.

use std::sync::Arc;

use store::log::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::handle::Error;

#[derive(Debug, Clone)]
pub(crate) struct UnderWay {
    bytes: Arc<Semaphore>,
    /// One that is larger than all the room there is takes all of it.
    most: u32,
}

impl UnderWay {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let most = u32::try_from(bytes_max.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self { bytes: Arc::new(Semaphore::new(bytes_max.min(Semaphore::MAX_PERMITS))), most }
    }

    /// The request's share, until it is given back.
    pub(crate) fn take(&self, request: &Request) -> Result<OwnedSemaphorePermit, Error> {
        let bytes = u32::try_from(request.bytes()).unwrap_or(u32::MAX).min(self.most);
        let permit = self.bytes.clone().try_acquire_many_owned(bytes);
        permit.map_err(|_| Error::Exhausted { what: "the room for commands under way" })
    }
}
