//! Finding the one command whose tick the store does not take.
//!
//! A tick that fails again and again, for whatever reason, would hold up everybody. So the next one is half as large, until the command
//! at fault is alone; it is refused, with an incident of its instance. It may be that instance of which the store takes nothing: then it is
//! refused without; and if even that cannot be written, it is the store and not the command.

/// A command that fails alone this often is refused, even if the store says it will pass.
const ALONE_MAX: u32 = 8;

/// How large ticks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caution {
    /// As many commands as there are.
    None,
    /// At most so many commands; for so many more.
    Small { commands: usize, left: usize, failed_alone: u32 },
    /// The next command is refused without being done; then on with the others. Its instance shows it to a person.
    RefuseNext { left: usize },
    /// The same, without a word of it in its instance.
    RefuseNextAlone { left: usize },
}

/// Why a tick failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The same may succeed later.
    Passes,
    /// The same will fail again.
    Lasts,
}

impl Caution {
    /// How many commands the next tick may have.
    pub(crate) fn commands_max(self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Small { commands, .. } => commands,
            Self::RefuseNext { .. } | Self::RefuseNextAlone { .. } => 1,
        }
    }

    /// Whether the next command is to be refused.
    pub(crate) fn refuses(self) -> bool {
        matches!(self, Self::RefuseNext { .. } | Self::RefuseNextAlone { .. })
    }

    /// After a tick of so many commands went well.
    pub(crate) fn after_success(self, done: usize) -> Self {
        let (commands, left) = match self {
            Self::None => return Self::None,
            Self::Small { commands, left, .. } => (commands, left),
            Self::RefuseNext { left } | Self::RefuseNextAlone { left } => (1, left),
        };
        match left.saturating_sub(done) {
            0 => Self::None,
            left => Self::Small { commands, left, failed_alone: 0 },
        }
    }

    /// After a tick of so many commands failed.
    pub(crate) fn after_failure(self, failed: usize, why: Failure) -> Self {
        if failed == 0 {
            return Self::None;
        }
        let (left, failed_alone) = match self {
            Self::None => (failed, 0),
            Self::Small { left, failed_alone, .. } => (left.max(failed), failed_alone),
            Self::RefuseNext { left } => return Self::RefuseNextAlone { left },
            // Not even the refusal could be written.
            Self::RefuseNextAlone { .. } => return Self::None,
        };
        match (failed, why) {
            (1, Failure::Lasts) => Self::RefuseNext { left },
            (1, Failure::Passes) if ALONE_MAX <= failed_alone + 1 => Self::RefuseNext { left },
            (1, Failure::Passes) => Self::Small { commands: 1, left, failed_alone: failed_alone + 1 },
            (failed, _) => Self::Small { commands: failed.div_ceil(2), left, failed_alone: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Caution, Failure};

    /// Plays ticks over `commands` of which those in `bad` fail; gives those refused and how many ticks it took. Of instances of odd commands the store
    /// takes nothing.
    fn play(commands: usize, bad: &[usize], why: Failure) -> (Vec<usize>, usize) {
        let mut waiting: Vec<usize> = (0..commands).collect();
        let (mut caution, mut refused, mut ticks) = (Caution::None, Vec::new(), 0);
        while !waiting.is_empty() {
            ticks += 1;
            assert!(ticks < 10_000, "it never ends");
            let size = caution.commands_max().min(waiting.len());
            if matches!(caution, Caution::RefuseNext { .. }) && waiting[0] % 2 == 1 {
                caution = caution.after_failure(1, why);
            } else if caution.refuses() {
                refused.push(waiting.remove(0));
                caution = caution.after_success(1);
            } else if waiting[..size].iter().any(|command| bad.contains(command)) {
                caution = caution.after_failure(size, why);
            } else {
                waiting.drain(..size);
                caution = caution.after_success(size);
            }
        }
        (refused, ticks)
    }

    #[test]
    fn those_at_fault_are_refused_and_no_other() {
        for why in [Failure::Lasts, Failure::Passes] {
            assert_eq!(play(1_000, &[437], why).0, [437]);
            assert_eq!(play(64, &[0, 1, 63], why).0, [0, 1, 63]);
            assert_eq!(play(1, &[0], why).0, [0]);
            assert_eq!(play(10, &[], why).0, []);
        }
    }

    #[test]
    fn it_is_found_by_halves() {
        assert!(play(1_000, &[999], Failure::Lasts).1 < 1_031);
        assert!(play(1_000, &[0], Failure::Lasts).1 < 1_020);
    }

    #[test]
    fn a_store_that_refuses_everything_refuses_no_command() {
        let refusing = Caution::None.after_failure(1, Failure::Lasts);
        assert_eq!(refusing, Caution::RefuseNext { left: 1 });
        let alone = refusing.after_failure(1, Failure::Lasts);
        assert_eq!(alone, Caution::RefuseNextAlone { left: 1 });
        assert_eq!(alone.after_failure(1, Failure::Lasts), Caution::None);
        assert_eq!(Caution::None.after_failure(0, Failure::Lasts), Caution::None);
    }
}
