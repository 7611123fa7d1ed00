//! Finding the one command whose tick the store refuses for good.
//!
//! A tick that fails in a way that does not pass by would fail again for ever and hold up everybody. So its commands are done one at a
//! time; one that fails alone is refused; and if even the refusal cannot be written, it is the store and not the command.

/// How ticks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caution {
    /// As many commands as there are.
    None,
    /// One command each, for so many more.
    OneByOne { left: usize },
    /// The next command is refused without being looked at; then on with the others.
    RefuseNext { left: usize },
}

impl Caution {
    /// After a tick of so many commands went well.
    pub(crate) fn after_success(self, commands: usize) -> Self {
        match self {
            Self::None => Self::None,
            Self::OneByOne { left } | Self::RefuseNext { left } => match left.saturating_sub(commands) {
                0 => Self::None,
                left => Self::OneByOne { left },
            },
        }
    }

    /// After a tick of so many commands failed for good.
    pub(crate) fn after_refusal(self, commands: usize) -> Self {
        match self {
            Self::None if 0 < commands => Self::OneByOne { left: commands },
            Self::OneByOne { left } if commands == 1 => Self::RefuseNext { left },
            Self::None | Self::OneByOne { .. } | Self::RefuseNext { .. } => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Caution;

    #[test]
    fn the_command_that_fails_alone_is_refused_and_no_other() {
        let caution = Caution::None.after_refusal(3);
        assert_eq!(caution, Caution::OneByOne { left: 3 });
        let caution = caution.after_success(1);
        assert_eq!(caution, Caution::OneByOne { left: 2 });
        let caution = caution.after_refusal(1);
        assert_eq!(caution, Caution::RefuseNext { left: 2 });
        let caution = caution.after_success(1);
        assert_eq!(caution, Caution::OneByOne { left: 1 });
        assert_eq!(caution.after_success(0), Caution::OneByOne { left: 1 });
        assert_eq!(caution.after_success(1), Caution::None);
    }

    #[test]
    fn a_store_that_refuses_everything_refuses_no_command() {
        assert_eq!(Caution::RefuseNext { left: 2 }.after_refusal(1), Caution::None);
        assert_eq!(Caution::OneByOne { left: 2 }.after_refusal(0), Caution::None);
        assert_eq!(Caution::None.after_refusal(0), Caution::None);
    }
}
