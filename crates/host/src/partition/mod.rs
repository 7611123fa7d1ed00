//! One owner's partition: what it keeps in memory, and its ticks.
//!
//! ```text
//! open ──▶ run: rounds over the commands that are there ──▶ close: hand out jobs ──▶ (the driver commits) ──▶ effects
//!            │  a round does what is loaded; what is missing is loaded once, then the next round goes on
//!            │  each command is a unit that can be undone: refused, faulty, or in want of something, it leaves no trace
//! ```
//!
//! While one tick commits, the next is open and runs on what the first will have made true. What is not committed stays in memory, so
//! nothing is read behind its back. A commit that does not go through leaves memory in doubt: everything derived is dropped and read
//! again, and the same inputs are done once more. Callers hear nothing until then.

mod ad_hoc;
mod admission;
mod announce;
mod audit;
mod backoff;
mod batches;
mod begun;
mod blame;
mod books;
mod call;
mod calls;
mod change;
mod commit;
mod conditions;
mod create_at;
mod dead;
mod decide;
mod delete;
mod deploy;
mod execute;
mod executions;
mod follow_up;
mod forms;
mod global_listeners;
mod hand_out;
mod jobs;
mod messages;
mod migrate;
mod needs;
mod policies;
mod raised;
mod reports;
mod run;
mod schedules;
mod signals;
mod starts;
mod suspend;
mod task_listeners;
mod tick;
mod timers;
mod trace;
mod unit;
mod user_tasks;
mod waiting;
mod waits;
mod workflows;

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{Document, InstanceKey, JobKey, Keys, TimerKey, UserTaskKey, WaitKey};
use model::Globals;
use queue::policy::Present;
use queue::{Dispatch, Timeline, WaiterId};
use rustc_hash::FxHashMap;
use store::log::{Answer, Created, Received, Released, Request};
use store::row::{LockName, UniqueName};
use store::{Due, DueKind, Error, Fence, MessageGroup, Millis, Ownership, Store, format, row};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::announce::{Announcing, Fill};
use crate::caution::Caution;
use crate::definitions::Definitions;
use crate::export::Exporting;
use crate::handle;
use crate::hot::Hot;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::sinks::{QueueId, Sinks, Waiter};
use crate::table::Table;

pub(crate) use admission::group_of;
pub use begun::Begun;
pub(crate) use deploy::{Catalogue, read_form};
use messages::{Group, LargeGroups};
pub(crate) use needs::Needs;
use needs::Rested;
pub(crate) use policies::{Policies, drain_of, group_pause_of, is_own, pause_of};
pub(crate) use run::Ran;
pub use schedules::parse_schedule;
pub(crate) use tick::{Source, Tick};

/// How often jobs that could not be handed out as they are stored are tried again.
const LOOK_AGAIN_EVERY: Millis = 5_000;

/// From so many on it is said that there is something to catch up with.
const MANY_OVERDUE: usize = 1_000;

/// What reaches the owner of a partition.
#[derive(Debug)]
pub(crate) enum Input {
    Request {
        request: Request,
        reply: Reply,
        /// Its share of what may wait, until it is answered.
        _permit: Option<OwnedSemaphorePermit>,
        /// Whose trace is to show what became of it.
        traced: Option<tracing::Id>,
    },
    Wait(Waiter),
    /// A stream has room again.
    Room(WaiterId),
    /// Jobs handed out that their worker never took.
    Release {
        jobs: Vec<Released>,
    },
    /// Somebody put something into the inbox.
    Look,
    /// A request of the inbox.
    Received(Box<ReceivedRequest>),
    /// Its time has come.
    Due(Due),
    /// The turn of an item of an operation over many has come.
    Item {
        batch: u64,
        key: u64,
    },
}

/// A request of the inbox, as far as it can be read.
#[derive(Debug)]
pub(crate) struct ReceivedRequest {
    position: u64,
    at: Millis,
    expires: Option<Millis>,
    request: Result<Request, String>,
}

impl From<Received> for ReceivedRequest {
    fn from(received: Received) -> Self {
        let Received { position, request, at, expires } = received;
        let request = format::decode_request(&request).map_err(|error| format!("the command cannot be read: {error}"));
        Self { position, at, expires, request }
    }
}

/// What a caller hears: the answer, or why there is none.
pub(crate) type Told = Result<Answer, handle::Error>;

/// Who hears of it, and when.
#[derive(Debug)]
pub(crate) enum Reply {
    /// When the command is committed.
    Answer(oneshot::Sender<Told>),
    /// When the instance it created has ended.
    End { fetch: Vec<Arc<str>>, sender: oneshot::Sender<End> },
    /// When the command is committed, with what the instance it created was like then.
    Begun { begun: Option<Box<Begun>>, sender: oneshot::Sender<(Told, Option<Box<Begun>>)> },
    /// When the command is committed, with word of when the one execution it submitted has ended.
    Execution(oneshot::Sender<(Told, Option<oneshot::Receiver<()>>)>),
}

/// How a wait for an instance's end came out.
#[derive(Debug)]
pub(crate) enum End {
    Ended {
        created: Created,
        completed: bool,
        variables: Document,
    },
    /// It had ended before: what it left is in the store.
    Before {
        created: Created,
    },
    NotCreated(Told),
}

#[derive(Debug)]
struct Awaiting {
    created: Created,
    fetch: Vec<Arc<str>>,
    sender: oneshot::Sender<End>,
}

pub(crate) struct Partition {
    store: Arc<dyn Store>,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    definitions: Arc<Definitions>,
    fence: Fence,
    /// The number of the last tick that was opened.
    ticks: u64,
    /// The last position of the log, that of ticks not committed included.
    position: u64,
    /// The last request of the inbox that was taken, likewise.
    inbox_to: u64,
    keys: Keys,
    /// The key counter as the last commit that was sent leaves it. Keys of commands that were undone are not given again.
    key_sent: u64,
    hot: Hot,
    jobs: Table<JobKey, row::Job>,
    timers: Table<TimerKey, row::Timer>,
    subscriptions: Table<WaitKey, row::Subscription>,
    user_tasks: Table<UserTaskKey, row::UserTask>,
    /// Who waits for which messages, and what is kept for them.
    groups: Table<MessageGroup, Group>,
    groups_large: LargeGroups,
    /// Message start events by tenant and name of the message.
    starts: Table<(Arc<str>, Arc<str>), Vec<row::Subscription>>,
    /// Signals under way that are told to one at a time, with the one who could not be told and is passed over.
    told_alone: FxHashMap<u64, Option<WaitKey>>,
    /// The instance that keeps others of its process from being started with its correlation key.
    locks: Table<LockName, Option<InstanceKey>>,
    /// Who has which unique key.
    unique: Table<UniqueName, executions::Holder>,
    /// All there are, once one was looked at; `None` for one that was deleted.
    schedules: Table<u64, Option<row::Schedule>>,
    has_schedules: bool,
    /// First answers by tenant and idempotency key.
    idempotent: Table<(Arc<str>, Arc<str>), row::Idempotent>,
    catalogue: Catalogue,
    /// Operations over many, and what of them is read and not dealt with.
    batches: Table<u64, row::Batch>,
    pages: batches::Pages,
    troubles: batches::Troubles,
    /// What the first command of the next tick asked for.
    rested: Rested,
    dispatch: Dispatch<QueueId>,
    ahead: hand_out::Ahead,
    sinks: Sinks,
    /// Where jobs are announced.
    outbox: Option<announce::Outbox>,
    policies: Policies,
    /// Those who listen to all user tasks.
    globals: Globals,
    /// Whether they are read.
    has_policies: bool,
    /// What has happened in queues.
    books: books::Books,
    /// Queues where it matters how many there are.
    census: FxHashMap<QueueId, admission::Census>,
    /// Tenants where it does.
    census_tenants: FxHashMap<Arc<str>, Present>,
    /// Queues with jobs that could not be handed out as they are stored; looked at again now and then.
    shunned: BTreeSet<QueueId>,
    timeline: Timeline<(u64, DueKind)>,
    /// The latest time seen. While the clock is behind it, having been set back, messages that have expired may look alive in memory.
    newest: Millis,
    /// The time it was when that was last looked at.
    seen: Millis,
    /// What was due and could not be done as things were, with when it is tried again.
    postponed: BTreeSet<(Millis, (u64, DueKind))>,
    awaiting: FxHashMap<InstanceKey, Vec<Awaiting>>,
    incident_lines: raised::Lines,
    /// Who waits for the end of which execution.
    awaiting_executions: FxHashMap<JobKey, Vec<oneshot::Sender<()>>>,
    /// Until then callers are taken to be waiting.
    busy_until: Millis,
    busy_until_tick: u64,
    /// Until when what is due leaves callers alone, in microseconds.
    due_rests_until: i64,
    /// When the partition was taken over, until what was overdue then is done.
    recovering_since: Option<Millis>,
    /// Until then other servers are taken to be interested in every commit.
    followed_until: Millis,
    /// When those who have gone are swept out next.
    sweep_at: Millis,
    /// When queues that were shunned are looked at again.
    look_again_at: Millis,
    /// How the next tick is made; changed by whoever drives.
    pub(crate) caution: Caution,
    /// Where the command that is to be refused comes from, if one is.
    pub(crate) blamed: Option<Source>,
}

/// What a partition is made with.
#[derive(Clone)]
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub limits: Arc<Limits>,
    pub metrics: Arc<Metrics>,
    pub definitions: Arc<Definitions>,
    /// Which jobs workers are told of through a broker; without it they ask for all of them.
    pub announcing: Option<Arc<Announcing>>,
    /// Who is told what happens, if anybody is.
    pub exporting: Option<Arc<Exporting>>,
}

impl Partition {
    /// A partition just acquired. Nothing is read: what is needed is looked up when it is.
    pub(crate) fn open(parts: Parts, ownership: &Ownership, fill: Arc<Fill>) -> Self {
        let Parts { store, limits, metrics, definitions, announcing, exporting: _ } = parts;
        Self {
            ticks: 0,
            incident_lines: raised::Lines::default(),
            hot: Hot::default(),
            jobs: Table::default(),
            timers: Table::default(),
            subscriptions: Table::default(),
            user_tasks: Table::default(),
            groups: Table::default(),
            groups_large: LargeGroups::default(),
            starts: Table::default(),
            locks: Table::default(),
            unique: Table::default(),
            schedules: Table::default(),
            has_schedules: false,
            told_alone: FxHashMap::default(),
            busy_until: Millis::MIN,
            busy_until_tick: 0,
            due_rests_until: 0,
            recovering_since: Some(ownership.now),
            idempotent: Table::default(),
            catalogue: Catalogue::default(),
            batches: Table::default(),
            pages: batches::Pages::default(),
            troubles: batches::Troubles::default(),
            rested: Rested::default(),
            dispatch: Dispatch::new(limits.ready_window_max, |queue: &QueueId| &queue.tenant),
            ahead: hand_out::Ahead::default(),
            sinks: Sinks::default(),
            outbox: announcing.map(|announcing| announce::Outbox::new(announcing, fill)),
            policies: Policies::default(),
            globals: Globals::default(),
            has_policies: false,
            books: books::Books::open(ownership.now),
            census: FxHashMap::default(),
            census_tenants: FxHashMap::default(),
            shunned: BTreeSet::new(),
            timeline: Timeline::unknown(limits.timeline_max),
            newest: Millis::MIN,
            seen: Millis::MIN,
            postponed: BTreeSet::new(),
            awaiting: FxHashMap::default(),
            awaiting_executions: FxHashMap::default(),
            fence: ownership.fence,
            position: ownership.position,
            inbox_to: ownership.inbox_to,
            keys: Keys::starting_at(ownership.next_key),
            key_sent: ownership.next_key,
            followed_until: 0,
            sweep_at: 0,
            look_again_at: 0,
            caution: Caution::None,
            blamed: None,
            store,
            limits,
            metrics,
            definitions,
        }
    }

    /// After the store was away: start again from what it holds. Callers and workers stay.
    pub(crate) fn reopen(&mut self, ownership: &Ownership) {
        self.fence = ownership.fence;
        self.position = ownership.position;
        self.inbox_to = ownership.inbox_to;
        self.keys = Keys::starting_at(ownership.next_key);
        self.key_sent = ownership.next_key;
        self.hot = Hot::default();
        self.jobs = Table::default();
        self.timers = Table::default();
        self.subscriptions = Table::default();
        self.user_tasks = Table::default();
        self.groups = Table::default();
        self.groups_large = LargeGroups::default();
        self.starts = Table::default();
        self.locks = Table::default();
        self.unique = Table::default();
        self.schedules = Table::default();
        self.has_schedules = false;
        self.idempotent = Table::default();
        self.catalogue = Catalogue::default();
        self.batches = Table::default();
        self.pages = batches::Pages::default();
        self.rested = Rested::default();
        self.sinks.undo();
        self.dispatch.forget_jobs();
        self.has_policies = false;
        self.forget_outbox();
        self.census.clear();
        self.census_tenants.clear();
        // What was counted may not be so, or will be counted again.
        self.books = books::Books::open(ownership.now);
        self.timeline = Timeline::unknown(self.limits.timeline_max);
        self.postponed.clear();
        self.due_rests_until = 0;
        self.recovering_since = Some(ownership.now);
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    /// The last of the log that was given out.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The last request of the inbox that was taken.
    pub(crate) fn inbox_to(&self) -> u64 {
        self.inbox_to
    }

    /// It is this late. If the clock was set back, what is put off for a while is put off for as long, not until the old time comes again.
    pub(crate) fn see(&mut self, now: Millis) {
        let back = std::mem::replace(&mut self.seen, now).saturating_sub(now);
        if back <= 0 {
            return;
        }
        self.due_rests_until = self.due_rests_until.saturating_sub(back.saturating_mul(1_000));
        for until in [&mut self.busy_until, &mut self.followed_until, &mut self.sweep_at, &mut self.look_again_at] {
            *until = until.saturating_sub(back);
        }
        self.books.set_back(back);
        let soon = now + LOOK_AGAIN_EVERY;
        let postponed = std::mem::take(&mut self.postponed);
        self.postponed = postponed.into_iter().map(|(at, what)| (at.min(soon), what)).collect();
    }

    /// When a tick is due without anybody asking.
    pub(crate) fn wake_at(&self) -> Option<Millis> {
        let again = (!self.shunned.is_empty()).then_some(self.look_again_at);
        let items = self.pages.has_waiting().then_some(0);
        let postponed = self.postponed.first().map(|(at, _)| *at);
        let rest = self.due_rests_until();
        let due = [self.timeline.next(), postponed, items].into_iter().flatten().min().map(|at| at.max(rest));
        [due, again, self.dispatch.opens_at(), self.books.wake_at()].into_iter().flatten().min()
    }

    /// Whether a tick would have something to hand out.
    pub(crate) fn has_work(&self) -> bool {
        self.dispatch.has_work()
    }

    /// Whether a window is to be filled from the tables, which must not be behind then.
    pub(crate) fn wants_refill(&self, now: Millis) -> bool {
        let due = self.timeline.next().is_some_and(|at| at <= now);
        let again = !self.shunned.is_empty() && self.look_again_at <= now;
        again || !self.has_policies || self.wants_outbox() || self.dispatch.is_dry() || (due && self.timeline.refill().is_some())
    }

    /// Fills windows. Only when everything is committed.
    pub(crate) async fn refill(&mut self, now: Millis) -> Result<(), Error> {
        if !self.has_policies {
            self.load_policies().await?;
        }
        if self.wants_outbox() {
            self.load_outbox().await?;
        }
        if let Some(later) = self.timeline.refill() {
            let after = later.after.map_or((Millis::MIN, 0), |(at, (key, _))| (at, key));
            let due = self.store.due(self.fence.partition, after, later.limit).await?;
            self.timeline.refilled(due.into_iter().map(|due| (due.at, (due.key, due.what))));
            let (window, overdue) = (self.timeline.len(), self.timeline.overdue(now));
            self.metrics.timeline_overdue.set(overdue as i64);
            if MANY_OVERDUE <= overdue {
                tracing::info!(overdue, window, "catching up with what fell due, the oldest first");
            }
        }
        self.measure_timeline(now);
        if self.look_again_at <= now {
            self.look_again_at = now + LOOK_AGAIN_EVERY;
            std::mem::take(&mut self.shunned).iter().for_each(|queue| self.dispatch.forget_queue(queue));
        }
        self.dispatch.advance(now);
        for id in self.dispatch.take_dry() {
            if let Err(error) = self.refill_queue(&id).await {
                self.dispatch.reopen(id);
                return Err(error);
            }
        }
        Ok(())
    }
}
