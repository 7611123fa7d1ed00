//! What can go wrong. Each seed allows some of these and not the others, so that rare combinations come about.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    // ---- between a server and the store ----
    /// A commit never reaches the database.
    CommitLost,
    /// A commit goes through, its answer is lost.
    AnswerLost,
    /// A commit is given up for lost and arrives later.
    CommitLate,
    /// The database does not take a tick of more than two commands.
    TickTooLarge,
    /// A commit or its answer takes long, at times longer than the lease.
    SlowCommit,
    /// A read fails.
    ReadRefused,
    /// A read takes long, at times longer than the lease, which is renewed beside it.
    SlowRead,
    /// A search takes long, at times longer than one may: then it ends without an answer.
    SlowSearch,
    /// Taking, renewing or giving back the lease fails; half the time it happened.
    RenewLost,
    /// An append never reaches the database.
    AppendLost,
    /// An append goes through, its answer is lost.
    AppendAnswerLost,
    /// A wake-up is lost.
    WakeLost,
    /// What is stored of an instance cannot be read this time.
    BadRow,
    /// The database's clock jumps ahead.
    ClockJump,
    /// The database's clock is set back.
    ClockBack,
    // ---- servers ----
    DiesBeforeCommit,
    DiesAfterCommit,
    /// Dies at any moment.
    Dies,
    /// Is told to stop, works off what it has, and starts again.
    Stops,
    /// Hears nothing of the store for a while, often past its lease, then goes on.
    Stalls,
    // ---- callers ----
    /// A caller stops waiting for its answer and asks again.
    GivesUp,
    /// A request with an idempotency key is sent twice at once.
    SentTwice,
    // ---- workers ----
    /// A worker dies with the jobs it holds.
    WorkerDies,
    /// A worker answers after its lease ran out.
    WorkerLate,
    /// A worker completes a job again.
    CompletesTwice,
    /// A poll is given up, or jobs that were handed out are not taken.
    PollDropped,
}

impl Fault {
    pub const ALL: [Self; 26] = [
        Self::CommitLost,
        Self::AnswerLost,
        Self::CommitLate,
        Self::TickTooLarge,
        Self::SlowCommit,
        Self::ReadRefused,
        Self::SlowRead,
        Self::SlowSearch,
        Self::RenewLost,
        Self::AppendLost,
        Self::AppendAnswerLost,
        Self::WakeLost,
        Self::BadRow,
        Self::ClockJump,
        Self::ClockBack,
        Self::DiesBeforeCommit,
        Self::DiesAfterCommit,
        Self::Dies,
        Self::Stops,
        Self::Stalls,
        Self::GivesUp,
        Self::SentTwice,
        Self::WorkerDies,
        Self::WorkerLate,
        Self::CompletesTwice,
        Self::PollDropped,
    ];

    /// As the command line and reports write it: `commit-lost`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(c.to_lowercase());
        }
        name
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// How often it strikes where it may, for a pressure of 100: what brings a whole server down strikes less.
    pub(crate) fn weight(self) -> u64 {
        match self {
            Self::DiesBeforeCommit | Self::DiesAfterCommit | Self::ReadRefused | Self::SlowRead => 25,
            Self::SlowCommit | Self::BadRow => 60,
            // It depends on the tick alone.
            Self::TickTooLarge => 0,
            Self::SentTwice | Self::CompletesTwice | Self::ClockJump | Self::Stalls | Self::Dies | Self::Stops => 300,
            Self::ClockBack | Self::SlowSearch => 100,
            Self::WorkerDies | Self::WorkerLate | Self::PollDropped | Self::GivesUp | Self::WakeLost | Self::RenewLost => 150,
            Self::CommitLost | Self::AnswerLost | Self::CommitLate | Self::AppendLost | Self::AppendAnswerLost => 80,
        }
    }
}

/// Which faults may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults(u32);

impl Faults {
    pub const ALL: Self = Self((1 << Fault::ALL.len()) - 1);

    pub fn has(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u32) != 0
    }

    pub fn with(self, fault: Fault) -> Self {
        Self(self.0 | (1 << fault as u32))
    }

    pub fn without(self, fault: Fault) -> Self {
        Self(self.0 & !(1 << fault as u32))
    }

    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |fault| self.has(*fault))
    }
}
