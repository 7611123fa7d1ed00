//! Bytes held for callers, for all of them together: the bodies of their requests, and the answers they have not taken yet.
//!
//! A limit per request bounds nothing while there is no limit on requests. So whoever holds bytes for a caller takes them from a budget
//! first; when it is used up, callers are told to come again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Failure, Reason};

/// So few bytes may be held for as long as a call takes, however long it waits.
const SMALL_BYTES: usize = 4 * 1024;

const BYTES_MAX_DEFAULT: usize = 256 * 1024 * 1024;

/// What a server may hold for its callers, on all its edges. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Budgets {
    pub bodies: Budget,
    pub answers: Budget,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { bodies: Budget::of_bodies(BYTES_MAX_DEFAULT), answers: Budget::of_answers(BYTES_MAX_DEFAULT) }
    }
}

#[derive(Debug, Clone)]
pub struct Budget {
    what: &'static str,
    bytes_max: usize,
    free: Arc<Semaphore>,
}

/// Bytes that are held until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Budget,
    permit: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub fn of_bodies(bytes_max: usize) -> Self {
        Self::new("The bodies of requests (limit `bodies_bytes`)", bytes_max)
    }

    pub fn of_answers(bytes_max: usize) -> Self {
        Self::new("The answers that have not been taken yet (limit `answers_bytes`)", bytes_max)
    }

    fn new(what: &'static str, bytes_max: usize) -> Self {
        let bytes_max = bytes_max.min(Semaphore::MAX_PERMITS);
        Self { what, bytes_max, free: Arc::new(Semaphore::new(bytes_max)) }
    }

    /// Bytes that are held at the moment.
    pub fn in_use(&self) -> usize {
        self.bytes_max.saturating_sub(self.free.available_permits())
    }

    /// Nothing yet.
    pub(crate) fn nothing(&self) -> Held {
        Held { budget: self.clone(), permit: None }
    }

    /// So many bytes, once there is room for them: for what is going to be read, of which only the most it can be is known.
    pub(crate) async fn room(&self, bytes: usize, patience: Duration) -> Result<Held, Failure> {
        let bytes = u32::try_from(bytes.min(self.bytes_max)).unwrap_or(u32::MAX);
        match tokio::time::timeout(patience, self.free.clone().acquire_many_owned(bytes)).await {
            Ok(Ok(permit)) => Ok(Held { budget: self.clone(), permit: Some(permit) }),
            Ok(Err(_)) | Err(_) => Err(self.exhausted()),
        }
    }

    fn exhausted(&self) -> Failure {
        Failure::new(Reason::Exhausted, format!("{} hold {} bytes, all there may be: try again later", self.what, self.bytes_max))
    }
}

impl Held {
    pub(crate) fn bytes(&self) -> usize {
        self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// So many more, or a refusal.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Failure> {
        let more = u32::try_from(bytes).ok().and_then(|bytes| self.budget.free.clone().try_acquire_many_owned(bytes).ok());
        let more = more.ok_or_else(|| self.budget.exhausted())?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }

    /// So many of them on their own; more are taken if these are too few.
    pub(crate) fn split(&mut self, bytes: usize) -> Result<Self, Failure> {
        self.grow(bytes.saturating_sub(self.bytes()))?;
        let permit = self.permit.as_mut().and_then(|permit| permit.split(bytes));
        Ok(Self { budget: self.budget.clone(), permit })
    }

    pub(crate) fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes());
        drop(self.permit.as_mut().and_then(|permit| permit.split(bytes)));
    }

    /// The bytes that are held, with what they are held for.
    pub(crate) fn keep(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        Bytes::from_owner(Kept { bytes, _held: self })
    }

    pub(crate) fn let_go(&mut self) {
        self.permit = None;
    }

    /// Holds while something goes on, but no longer than `patience`: what takes longer waits for something else by then.
    pub(crate) async fn during<T>(self, patience: Duration, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if self.is_small() {
            return work.await;
        }
        match tokio::time::timeout(patience, work.as_mut()).await {
            Ok(done) => done,
            Err(_) => {
                drop(self);
                work.await
            }
        }
    }

    pub(crate) fn is_small(&self) -> bool {
        self.bytes() <= SMALL_BYTES
    }
}

struct Kept<B> {
    bytes: B,
    _held: Held,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Kept<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_is_held_is_given_back() {
        let bodies = Budget::of_bodies(100_000);
        let (mut one, mut other) = (bodies.nothing(), bodies.nothing());
        one.grow(10_000).unwrap();
        one.grow(50_000).unwrap();
        let refused = other.grow(50_000).unwrap_err();
        assert_eq!((refused.reason.http_status(), refused.reason.title()), (503, "RESOURCE_EXHAUSTED"));
        assert!(refused.detail.contains("bodies_bytes"), "{}", refused.detail);
        assert_eq!((bodies.in_use(), one.bytes(), other.bytes()), (60_000, 60_000, 0));
        drop(one);
        other.grow(50_000).unwrap();
        other.let_go();
        assert_eq!(bodies.in_use(), 0);
    }

    #[tokio::test]
    async fn a_call_that_waits_long_holds_only_little() {
        let bodies = Budget::of_bodies(100_000);
        let patience = Duration::from_millis(5);
        let (mut small, mut large) = (bodies.nothing(), bodies.nothing());
        small.grow(SMALL_BYTES).unwrap();
        large.grow(50_000).unwrap();
        assert_eq!(bodies.in_use(), 50_000 + SMALL_BYTES);
        let all_but = |bytes| async move {
            while bytes < bodies.in_use() {
                tokio::time::sleep(patience).await;
            }
        };
        small.during(patience, large.during(patience, all_but(SMALL_BYTES))).await;
    }

    #[tokio::test]
    async fn room_is_waited_for_and_what_is_not_needed_given_back() {
        let answers = Budget::of_answers(100);
        let mut first = answers.room(60, PATIENCE).await.unwrap();
        let waiting = tokio::spawn({
            let answers = answers.clone();
            async move { answers.room(1_000, PATIENCE).await.unwrap().bytes() }
        });
        let piece = first.split(10).unwrap().keep(vec![1; 10]);
        let long = first.split(70).unwrap().keep(vec![2; 70]);
        assert_eq!((answers.in_use(), first.bytes()), (80, 0));
        assert!(first.split(50).is_err());
        let part = long.slice(5..6);
        drop((first, piece, long));
        assert_eq!(answers.in_use(), 70);
        drop(part);
        assert_eq!(waiting.await.unwrap(), 100, "what needs more than there is gets all of it");
        let mut held = answers.room(50, PATIENCE).await.unwrap();
        held.give_back(20);
        assert_eq!(answers.in_use(), 30);
    }
}
