//! The log and who may write it: invariants 1, 2 and 4.

use std::sync::Arc;
use std::time::Duration;

use store::log::Received;
use store::{Commit, Fence, Millis, Ownership};

use super::{Check, ensure};

#[derive(Default)]
pub(crate) struct Log {
    epoch: i64,
    owner: Option<Arc<str>>,
    lease_until: Millis,
    /// Whether anything kept the owner from renewing its lease since it last did.
    hindered: bool,
    /// The last position of the log.
    position: u64,
    /// The last position of the inbox, and the last answered one.
    pub(crate) tail: u64,
    pub(crate) processed_to: u64,
    next_key: u64,
    /// How far the database's clock was ever set back.
    back: Millis,
}

impl Log {
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Of the partition, if this server owns it.
    pub(crate) fn epoch_of(&self, server: &str) -> Option<i64> {
        (self.owner.as_deref() == Some(server)).then_some(self.epoch)
    }

    pub(crate) fn is_of_another(&self, server: &str) -> bool {
        self.owner.as_deref().is_some_and(|owner| owner != server)
    }

    /// The database's clock was moved: until a server hears that it was set back, it takes it for later.
    pub(crate) fn moved(&mut self, by: Millis) {
        self.back += (-by).max(0);
        self.hindered = true;
    }

    /// This server may be unable to renew its lease in time.
    pub(crate) fn hinder(&mut self, server: &str) {
        self.hindered |= self.owner.as_deref() == Some(server);
    }

    /// Whatever its owner does meanwhile, it renews its lease.
    fn is_kept(&self, now: Millis) -> Check {
        let excused = self.hindered || self.owner.is_none();
        ensure(4, excused || now < self.lease_until, || {
            format!("the lease of {:?} ran out at {}, and nothing kept it from renewing it", self.owner, self.lease_until)
        })
    }

    pub(crate) fn acquired(&mut self, owner: &str, ownership: &Ownership, lease: Duration, now: Millis) -> Check {
        // A lease that lasts longer than any is left over from before the clock was set back.
        let lasts = now < self.lease_until && self.lease_until <= now + 2 * lease.as_millis() as Millis;
        let free = self.owner.as_deref().is_none_or(|held_by| held_by == owner) || !lasts;
        ensure(4, free, || format!("{owner} got the partition at {now}, leased to {:?} until {}", self.owner, self.lease_until))?;
        ensure(4, self.epoch < ownership.fence.epoch, || format!("epoch {} after {}", ownership.fence.epoch, self.epoch))?;
        self.is_kept(now)?;
        let same =
            (ownership.position, ownership.inbox_tail, ownership.inbox_to) == (self.position, self.tail, self.processed_to);
        ensure(2, same, || {
            format!("{owner} starts from {ownership:?}; the inbox ends at {}, answered {}", self.tail, self.processed_to)
        })?;
        self.epoch = ownership.fence.epoch;
        self.owner = Some(owner.into());
        self.hindered = false;
        self.lease_until = now + lease.as_millis() as Millis;
        Ok(())
    }

    pub(crate) fn renewed(&mut self, fence: Fence, lease: Duration, now: Millis) -> Check {
        ensure(4, fence.epoch == self.epoch, || format!("epoch {} was renewed in epoch {}", fence.epoch, self.epoch))?;
        self.is_kept(now)?;
        self.lease_until = now + lease.as_millis() as Millis;
        self.hindered = false;
        Ok(())
    }

    pub(crate) fn released(&mut self, fence: Fence) {
        if fence.epoch == self.epoch {
            self.lease_until = 0;
            self.hindered = true;
        }
    }

    pub(crate) fn appended(&mut self, positions: &[u64]) -> Check {
        for position in positions {
            let next = self.tail + 1;
            ensure(2, *position == next, || format!("an append got position {position} where {next} is next"))?;
            self.tail = next;
        }
        Ok(())
    }

    /// What a server reads of the inbox must have no gaps.
    pub(crate) fn read(&self, after: u64, received: &[Received]) -> Check {
        let first = after.max(self.processed_to) + 1;
        for (received, next) in received.iter().zip(first..) {
            ensure(2, received.position == next, || format!("position {} is seen before {next}", received.position))?;
        }
        Ok(())
    }

    pub(super) fn landed(&mut self, commit: &Commit, now: Millis) -> Check {
        let epoch = commit.fence.epoch;
        ensure(4, epoch == self.epoch, || format!("a commit of epoch {epoch} went through in epoch {}", self.epoch))?;
        ensure(6, commit.now <= now + self.back, || format!("a commit says it is {}, the database says {now}", commit.now))?;
        let mut processed_to = self.processed_to;
        for row in &commit.answers {
            let next = processed_to + 1;
            ensure(1, row.position == next, || format!("request {} is answered where {next} is next", row.position))?;
            processed_to = next;
        }
        ensure(1, processed_to <= self.tail, || format!("answered up to {processed_to}; the inbox ends at {}", self.tail))?;
        let told = commit.inbox_to;
        ensure(1, told == processed_to, || format!("a commit says {told} is answered; it is {processed_to}"))?;
        self.processed_to = processed_to;
        for row in &commit.log {
            let next = self.position + 1;
            ensure(2, row.position == next, || format!("a commit writes position {} where {next} is next", row.position))?;
            self.position = next;
        }
        self.keys(commit)
    }

    /// Keys are handed out once, and with the commit that uses them.
    fn keys(&mut self, commit: &Commit) -> Check {
        let changes = &commit.changes;
        let new = changes.instances_new.iter().map(|row| row.key.0);
        let new = new.chain(changes.jobs_new.iter().map(|row| row.key.0));
        let new = new.chain(changes.definitions_new.iter().map(|row| row.key.0));
        let new = new.chain(changes.incidents_new.iter().map(|row| row.key.0));
        for key in new.chain(changes.elements_new.iter().map(|row| row.key.0)) {
            let fresh = self.next_key <= key && key < commit.next_key;
            ensure(3, fresh, || format!("key {key} is used again: keys from {} to {}", self.next_key, commit.next_key))?;
        }
        ensure(3, self.next_key < commit.next_key, || format!("next key {} after {}", commit.next_key, self.next_key))?;
        self.next_key = commit.next_key;
        Ok(())
    }
}
