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
        file: "crates/host/src/partition/tick.rs",
        find: "ownership.next_key == doubt.next_key",
        replace: "true",
        faults: &[&["commit-lost"]],
    },
    // A commit in doubt is taken to be lost.
    Mutation {
        name: "settle-assumes-lost",
        file: "crates/host/src/partition/tick.rs",
        find: "ownership.next_key == doubt.next_key",
        replace: "false",
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
    // A commit that was overtaken goes through.
    Mutation {
        name: "takes-overtaken-commits",
        file: "crates/store/src/memory/commit.rs",
        find: "!commit.appended.is_empty() && partition.tail() != commit.tail",
        replace: "false",
        faults: &[&["overtaken"]],
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
        file: "crates/host/src/partition/tick.rs",
        find: "self.store.commit(commit).await",
        replace: "{ for (reply, answer) in std::mem::take(&mut tick.replies) { self.reply(reply, answer); } self.store.commit(commit).await }",
        faults: &[&["slow-commit"]],
    },
    // A read that failed is taken for nothing found.
    Mutation {
        name: "refused-read-is-empty",
        file: "crates/host/src/partition/plan.rs",
        find: "self.store.ready_jobs(self.fence.partition, job_type, tenant, JobKey(asked.after), asked.limit).await?",
        replace: "self.store.ready_jobs(self.fence.partition, job_type, tenant, JobKey(asked.after), asked.limit).await.unwrap_or_default()",
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
        find: "self.store.append(self.partition, vec![command]).await.map_err(Error::from)?",
        replace: "self.store.append(self.partition, vec![command]).await.unwrap_or(vec![1])",
        faults: &[&["append-lost"]],
    },
    // An append whose answer was lost is sent again.
    Mutation {
        name: "appends-again",
        file: "crates/host/src/follow.rs",
        find: "self.store.append(self.partition, vec![command]).await.map_err(Error::from)?",
        replace: "match self.store.append(self.partition, vec![command.clone()]).await { Ok(positions) => positions, Err(_) => self.store.append(self.partition, vec![command]).await.map_err(Error::from)? }",
        faults: &[&["append-answer-lost"]],
    },
    // An owner looks at the log only when it is woken.
    Mutation {
        name: "trusts-wake-ups",
        file: "crates/host/src/drive.rs",
        find: "self.look_at_log |= self.partition.processed_to() < renewed.tail;",
        replace: "",
        faults: &[&["wake-lost"]],
    },
    // A new owner hands out keys from the first.
    Mutation {
        name: "starts-keys-again",
        file: "crates/host/src/drive.rs",
        find: "Partition::open(self.parts.clone(), &ownership).await",
        replace: "Partition::open(self.parts.clone(), &Ownership { next_key: PARTITION.first_key(), ..ownership.clone() }).await",
        faults: &[&["dies-before-commit"], &["dies"], &["stops"]],
    },
    // First answers to idempotency keys are not kept.
    Mutation {
        name: "forgets-first-answers",
        file: "crates/host/src/partition/execute.rs",
        find: "tick.recorder.changes.idempotent_new.push(row);",
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
    // A lease that ran out is not noticed.
    Mutation {
        name: "leases-never-end",
        file: "crates/host/src/partition/hand_out.rs",
        find: "self.timeline.insert(deadline, key.0);",
        replace: "",
        faults: &[&["worker-dies"]],
    },
    // A completion of a job that is gone is told to be done.
    Mutation {
        name: "accepts-any-completion",
        file: "crates/host/src/partition/jobs.rs",
        find: "self.workable(job, \"complete job\")",
        replace: "match self.workable(job, \"complete job\") { Err(_) => return Done { answer: Answer::Done, instance: None, events: Vec::new() }, good => good }",
        faults: &[&[]],
    },
    // A completed job can still be worked on.
    Mutation {
        name: "keeps-completed-jobs",
        file: "crates/host/src/partition/jobs.rs",
        find: "self.hot.remove_job(key)",
        replace: "if end == JobEnd::Completed { self.find_job(key).cloned() } else { self.hot.remove_job(key) }",
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
        file: "crates/host/src/partition/tick.rs",
        find: "self.tail + 1..",
        replace: "self.tail + 2..",
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
    // The server's clock is ahead of the database's.
    Mutation {
        name: "clock-ahead",
        file: "crates/host/src/drive.rs",
        find: "self.heard + self.at.elapsed().as_millis() as Millis",
        replace: "self.heard + self.at.elapsed().as_millis() as Millis + 700",
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
        file: "crates/host/src/dispatch.rs",
        find: "self.queues.get(id)?.ready.iter().next()?",
        replace: "self.queues.get(id)?.ready.iter().last()?",
        faults: &[&[]],
    },
    // Who waits for an end is told the other one.
    Mutation {
        name: "tells-the-wrong-end",
        file: "crates/host/src/partition/tick.rs",
        find: "ended.completed",
        replace: "!ended.completed",
        faults: &[&[]],
    },
    // What is due enters the log before all of it is read (found by the simulator).
    Mutation {
        name: "skips-what-it-did-not-read",
        file: "crates/host/src/partition/plan.rs",
        find: "if batch.is_partial {\n            return Ok(());\n        }",
        replace: "",
        faults: &[&["stalls", "clock-jump", "worker-dies"]],
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
        file: "crates/host/src/partition/plan.rs",
        find: "wanted.instances.push(InstanceKey(scope.0));",
        replace: "",
        faults: &[&[]],
    },
];
