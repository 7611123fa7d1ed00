//! The mutations. Each is noticed under certain faults; the first of a set is the one it proves, and is left out to compare.
//!
//! `find` is an expression, or a statement that ends in `;` or `}`, and is in the file once; `replace` takes its place.

pub(super) struct Mutation {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) find: &'static str,
    pub(super) replace: &'static str,
    /// Each set is tried; its first is the one to prove.
    pub(super) faults: &'static [&'static [&'static str]],
}

pub(super) const MUTATIONS: &[Mutation] = &[
    // A commit in doubt is taken to have gone through.
    Mutation {
        name: "settle-assumes-done",
        file: "crates/host/src/partition/commit.rs",
        find: "next == tick.next_key",
        replace: "true",
        faults: &[&["commit-lost"]],
    },
    // A commit in doubt is taken to be lost.
    Mutation {
        name: "settle-assumes-lost",
        file: "crates/host/src/partition/commit.rs",
        find: "Some(true)",
        replace: "Some(false)",
        faults: &[&["answer-lost"]],
    },
    // Taking the partition again begins no new epoch.
    Mutation {
        name: "keeps-epoch",
        file: "crates/store/src/memory/database.rs",
        find: "partition.epoch += 1;",
        replace: "if is_others || partition.owner.is_none() { partition.epoch += 1; }",
        faults: &[&["commit-late"]],
    },
    // A commit goes through although the one before it did not.
    Mutation {
        name: "takes-commits-out-of-order",
        file: "crates/store/src/memory/commit.rs",
        find: "partition.next_key != commit.first_key",
        replace: "false",
        faults: &[&["commit-late"]],
    },
    // A deposed owner can write.
    Mutation {
        name: "ignores-epochs",
        file: "crates/store/src/memory/commit.rs",
        find: "epoch != commit.fence.epoch",
        replace: "false",
        faults: &[&["slow-commit"], &["clock-jump"]],
    },
    // Callers are answered before the commit.
    Mutation {
        name: "answers-before-commit",
        file: "crates/host/src/partition/commit.rs",
        find: "std::mem::take(&mut tick.answers)",
        replace: "{ for did in std::mem::take(&mut tick.done) { if let Did::Request { input, answer } = did && let Some(reply) = input.into_reply() { self.reply(reply, Ok(answer)); } } std::mem::take(&mut tick.answers) }",
        faults: &[&["slow-commit"]],
    },
    // A read that failed is taken for nothing found.
    Mutation {
        name: "refused-read-is-empty",
        file: "crates/host/src/partition/policies.rs",
        find: "self.store.ready_jobs(queue.partition, job_type, tenant, after(asked), asked.limit).await",
        replace: "Ok::<_, Error>(self.store.ready_jobs(queue.partition, job_type, tenant, after(asked), asked.limit).await.unwrap_or_default())",
        faults: &[&["read-refused"]],
    },
    // A server never hears that its store is back.
    Mutation {
        name: "stays-away",
        file: "crates/host/src/drive.rs",
        find: "self.host.set_route(Route::Own(self.inbox.clone()));",
        replace: "",
        faults: &[&["renew-lost"]],
    },
    // An append that failed is told to be durable.
    Mutation {
        name: "ignores-lost-appends",
        file: "crates/host/src/follow.rs",
        find: "self.store.append(self.partition, requests, self.backlog).await",
        replace: "Ok::<_, store::Error>(self.store.append(self.partition, requests, self.backlog).await.unwrap_or(vec![1]))",
        faults: &[&["append-lost"]],
    },
    // An append whose answer was lost is sent again.
    Mutation {
        name: "appends-again",
        file: "crates/host/src/follow.rs",
        find: "self.store.append(self.partition, requests, self.backlog).await",
        replace: "match self.store.append(self.partition, requests.clone(), self.backlog).await { Ok(positions) => Ok(positions), Err(_) => self.store.append(self.partition, requests, self.backlog).await }",
        faults: &[&["append-answer-lost"]],
    },
    // An owner looks at the inbox only when it is woken.
    Mutation {
        name: "trusts-wake-ups",
        file: "crates/host/src/drive.rs",
        find: "self.look_at_inbox |= self.partition.inbox_to() < renewed.inbox_tail;",
        replace: "",
        faults: &[&["wake-lost"]],
    },
    // A new owner hands out keys from the first.
    Mutation {
        name: "starts-keys-again",
        file: "crates/host/src/drive.rs",
        find: "Partition::open(self.parts.clone(), &ownership, fill.clone())",
        replace: "Partition::open(self.parts.clone(), &Ownership { next_key: PARTITION.first_key(), ..ownership.clone() }, fill.clone())",
        faults: &[&["dies-before-commit"], &["dies"], &["stops"]],
    },
    // First answers to idempotency keys are not kept.
    Mutation {
        name: "forgets-first-answers",
        file: "crates/host/src/partition/commit.rs",
        find: "changes.idempotent_new.push(row);",
        replace: "drop(row);",
        faults: &[&["dies-after-commit"], &["gives-up"], &["sent-twice"], &["completes-twice"]],
    },
    // A deposed owner can renew its lease.
    Mutation {
        name: "renews-any-epoch",
        file: "crates/store/src/memory/database.rs",
        find: "partition.epoch != fence.epoch",
        replace: "false",
        faults: &[&["stalls"]],
    },
    // The lease is renewed before what is read and after it, not beside it.
    Mutation {
        name: "renews-between-reads",
        file: "crates/host/src/drive.rs",
        find: "self.partition.load_at_rest(&needs).await?;",
        replace: "{ let (fence, length) = (self.partition.fence(), self.parts.limits.lease); let never = crate::Limits { lease: Duration::from_secs(86_400), ..(*self.parts.limits).clone() }; self.lease = Lease::hold(&Parts { limits: Arc::new(never), ..self.parts.clone() }, fence); let _ = self.parts.store.renew(fence, length).await; let loaded = self.partition.load_at_rest(&needs).await; let _ = self.parts.store.renew(fence, length).await; self.lease = Lease::hold(self.parts, fence); loaded?; }",
        faults: &[&["slow-read"]],
    },
    // Servers that are given one name take each other's lease for their own.
    Mutation {
        name: "obeys-shared-names",
        file: "crates/host/src/handle.rs",
        find: "format!(\"{node}{UNIQUE_MARK}{chance:016x}\").into()",
        replace: "{ let _ = chance; node.into() }",
        faults: &[&[]],
    },
    // A lease that ran out is not noticed.
    Mutation {
        name: "leases-never-end",
        file: "crates/host/src/partition/unit.rs",
        find: "self.timeline.insert(due, (job.key.0, DueKind::Job));",
        replace: "",
        faults: &[&["worker-dies"]],
    },
    // A completion of a job that is gone is told to be done.
    Mutation {
        name: "accepts-any-completion",
        file: "crates/host/src/partition/jobs.rs",
        find: "if self.workable(tick, caller, job, what)?.execution.is_some() {",
        replace: "if match self.workable(tick, caller, job, what) { Err(Stop::Refused(_)) => return Ok(Answer::Done), other => other? }.execution.is_some() {",
        faults: &[&[]],
    },
    // A completed job can still be worked on.
    Mutation {
        name: "keeps-completed-jobs",
        file: "crates/host/src/partition/jobs.rs",
        find: "job.availability = Availability::Done;",
        replace: "job.availability = if end == WaitEnd::Completed { Availability::Leased } else { Availability::Done };",
        faults: &[&["worker-late"]],
    },
    // A lease is given back by whoever had the job before.
    Mutation {
        name: "gives-back-any-lease",
        file: "crates/host/src/partition/jobs.rs",
        find: "job.deadline == Some(released.deadline)",
        replace: "true",
        faults: &[&["poll-dropped", "slow-commit", "clock-jump", "stalls"]],
    },
    // Positions have gaps.
    Mutation {
        name: "leaves-gaps",
        file: "crates/host/src/partition/unit.rs",
        find: "self.position += 1;",
        replace: "self.position += 2;",
        faults: &[&[]],
    },
    // Rows of elements do not follow their events.
    Mutation {
        name: "leaves-out-rows",
        file: "crates/host/src/recorder.rs",
        find: "self.touch_element(hot, *key, now, Some(ElementState::Completed))",
        replace: "()",
        faults: &[&[]],
    },
    // What is due is decided by a clock ahead of the database's.
    Mutation {
        name: "clock-ahead",
        file: "crates/host/src/drive.rs",
        find: "Ok(self.host.inner().moving.time(heard))",
        replace: "Ok(self.host.inner().moving.time(heard) + 700)",
        faults: &[&[]],
    },
    // Jobs a worker has taken are given to others.
    Mutation {
        name: "gives-back-what-was-taken",
        file: "crates/host/src/handed.rs",
        find: "std::mem::take(&mut self.jobs)",
        replace: "self.jobs.clone()",
        faults: &[&[]],
    },
    // The youngest job is handed out first.
    Mutation {
        name: "last-in-first-out",
        file: "crates/queue/src/dispatch.rs",
        find: "ready.iter().next().map",
        replace: "ready.iter().last().map",
        faults: &[&[]],
    },
    // Who waits for an end is told the other one.
    Mutation {
        name: "tells-the-wrong-end",
        file: "crates/host/src/partition/commit.rs",
        find: "ended.completed",
        replace: "!ended.completed",
        faults: &[&[]],
    },
    // An open tick that takes no more is not closed (found by the simulator).
    Mutation {
        name: "spins-when-full",
        file: "crates/host/src/partition/run.rs",
        find: "if self.is_full(tick) { Ran::Full } else { Ran::All }",
        replace: "Ran::All",
        faults: &[&["slow-commit", "worker-dies"]],
    },
    // What was due and could not be done is forgotten (found by the simulator).
    Mutation {
        name: "forgets-what-was-due",
        file: "crates/host/src/partition/run.rs",
        find: "self.postponed.insert((again, (due.key, due.what)));",
        replace: "",
        faults: &[&["bad-row"]],
    },
    // A command that was undone leaves its changes to jobs.
    Mutation {
        name: "keeps-undone-jobs",
        file: "crates/host/src/partition/unit.rs",
        find: "self.jobs.undo();",
        replace: "self.jobs.accept();",
        faults: &[&[]],
    },
    // A tick that the store does not take is tried again as it is.
    Mutation {
        name: "never-halves",
        file: "crates/host/src/caution.rs",
        find: "Self::Small { commands: failed.div_ceil(2), left, failed_alone: 0 }",
        replace: "Self::None",
        faults: &[&["tick-too-large"]],
    },
    // A server obeys a lease that a clock set back has made too long.
    Mutation {
        name: "obeys-leases-of-the-future",
        file: "crates/store/src/memory/database.rs",
        find: "now < partition.lease_until && partition.lease_until <= now + 2 * millis(lease)",
        replace: "now < partition.lease_until",
        faults: &[&["clock-back", "dies"]],
    },
    // What an instance that is in flight has ended leaves memory before the commit.
    Mutation {
        name: "forgets-before-the-commit",
        file: "crates/host/src/hot.rs",
        find: "hot.used == self.trims || hot.tick != 0",
        replace: "hot.used == self.trims",
        faults: &[&["slow-commit"]],
    },
    // A waiting poll asks again because of its own question (found by the simulator).
    Mutation {
        name: "wakes-itself",
        file: "crates/host/src/await_jobs.rs",
        find: "any_ready(host, poll).await?",
        replace: "true",
        faults: &[&[]],
    },
    // An instance that is not in memory cannot be found by its own scope (found by the simulator).
    Mutation {
        name: "loses-the-process-scope",
        file: "crates/host/src/partition/execute.rs",
        find: "Needs::instance(itself)",
        replace: "Needs::default()",
        faults: &[&[]],
    },
    // A message goes to two instances of one process.
    Mutation {
        name: "message-given-twice",
        file: "crates/host/src/partition/messages.rs",
        find: "message.taken_by.contains(&row.process_id)",
        replace: "false",
        faults: &[&[]],
    },
    // Who waited last gets a message first.
    Mutation {
        name: "last-waiting-first",
        file: "crates/host/src/partition/messages.rs",
        find: "self.groups.get(&name).map(|group| group.subscriptions.clone()).unwrap_or_default()",
        replace: "self.groups.get(&name).map(|group| group.subscriptions.iter().rev().copied().collect::<Vec<_>>()).unwrap_or_default()",
        faults: &[&[]],
    },
    // The newest of the messages that are kept is taken first.
    Mutation {
        name: "newest-message-first",
        file: "crates/host/src/partition/messages.rs",
        find: "kept.next()",
        replace: "kept.last()",
        faults: &[&[]],
    },
    // What is kept is not offered to who begins to wait.
    Mutation {
        name: "kept-is-forgotten",
        file: "crates/host/src/partition/follow_up.rs",
        find: "self.offer_kept(tick, wait)?",
        replace: "()",
        faults: &[&[]],
    },
    // The lock of a correlation key is not looked at.
    Mutation {
        name: "ignores-message-locks",
        file: "crates/host/src/partition/messages.rs",
        find: "locks && self.lock_holder(&lock)?.is_some()",
        replace: "false",
        faults: &[&[]],
    },
    // The lock of a correlation key outlives its instance.
    Mutation {
        name: "lock-stays",
        file: "crates/host/src/partition/messages.rs",
        find: "self.locks.put((tenant.clone(), process.clone(), correlation_key.clone()), None, tick.number);",
        replace: "",
        faults: &[&[]],
    },
    // The message that waits for the end of an instance is not started then.
    Mutation {
        name: "next-is-not-started",
        file: "crates/host/src/partition/messages.rs",
        find: "self.offer_start(tick, &group, key, &start)?;",
        replace: "",
        faults: &[&[]],
    },
    // Two messages of one id are kept.
    Mutation {
        name: "ignores-message-ids",
        file: "crates/host/src/partition/messages.rs",
        find: "group.messages.iter().any(|kept| kept.message_id == publish.id)",
        replace: "false",
        faults: &[&[]],
    },
    // A timer that fired or was cancelled stays pending.
    Mutation {
        name: "timer-stays",
        file: "crates/host/src/partition/waits.rs",
        find: "self.timers.change(&key, tick.number, |timer| (timer.state, timer.ended) = (state, Some(now)));",
        replace: "",
        faults: &[&[]],
    },
    // A subscription that was closed stays open.
    Mutation {
        name: "subscription-stays",
        file: "crates/host/src/partition/waits.rs",
        find: "self.subscriptions.change(&key, tick.number, |row| (row.state, row.updated) = (state, now));",
        replace: "",
        faults: &[&[]],
    },
    // Only the first page of those that wait for a signal is told.
    Mutation {
        name: "signal-page-skipped",
        file: "crates/host/src/partition/signals.rs",
        find: "last.key.0",
        replace: "key",
        faults: &[&[]],
    },
    // A signal reaches those that came after it.
    Mutation {
        name: "signal-reaches-later",
        file: "crates/host/src/partition/signals.rs",
        find: "engine::WaitKey(key)",
        replace: "engine::WaitKey(u64::MAX)",
        faults: &[&[]],
    },
    // Who is told of a signal is forgotten while what follows is looked up.
    Mutation {
        name: "forgets-who-is-told",
        file: "crates/host/src/partition/signals.rs",
        find: "Ok(Answer::Done)",
        replace: "{ self.rested.signals.remove(&key); Ok(Answer::Done) }",
        faults: &[&[]],
    },
    // A called instance outlives the activity that called it.
    Mutation {
        name: "child-stays",
        file: "crates/host/src/partition/follow_up.rs",
        find: "let _cancelled = self.step(tick, child, &engine::Command::Cancel)?;",
        replace: "",
        faults: &[&[]],
    },
    // Who called an instance does not hear of its end.
    Mutation {
        name: "parent-unheard",
        file: "crates/host/src/partition/follow_up.rs",
        find: "let _told = self.step(tick, parent.instance, &command)?;",
        replace: "",
        faults: &[&[]],
    },
];
