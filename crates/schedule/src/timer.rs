//! A timer: when it fires first, and what happens when it falls due.

use crate::{Cycle, Date, Error, Millis, Repetitions, Span};
use std::fmt::{self, Display, Formatter};

/// What a timer event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timer {
    /// Once, at an instant.
    Date(Date),
    /// Once, so long after it was armed.
    Duration(Span),
    /// Again and again.
    Cycle(Cycle),
}

/// The three ways to say it: BPMN's `timeDate`, `timeDuration` and `timeCycle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `timeDate`
    Date,
    /// `timeDuration`
    Duration,
    /// `timeCycle`
    Cycle,
}

/// One firing of a timer, as planned. Whoever keeps a waiting timer keeps its text and this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// When the timer was armed; the same for all its occurrences, which are counted from there.
    pub armed: Millis,
    /// The how-manieth firing it is, from 1.
    pub number: u64,
    /// When it is due. It may have passed when the timer is armed: then it is due at once.
    pub at: Millis,
}

/// What becomes of occurrences of a cycle that nobody was there to fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missed {
    /// All that were missed are made up for by one.
    #[default]
    FireOnce,
    /// Each is fired, one after the other.
    FireAll,
    /// Those later than this are left out. They do not count as repetitions.
    Skip {
        /// How late is still in time.
        late_max: Millis,
    },
}

/// What to do about a timer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Fires now.
    pub fire: Option<Occurrence>,
    /// What to wait for from then on; nothing if the timer is over. Under [`Missed::FireAll`] it may be due already.
    pub next: Option<Occurrence>,
}

impl Timer {
    /// Reads an expression.
    pub fn parse(kind: Kind, text: &str) -> Result<Timer, Error> {
        match kind {
            Kind::Date => Date::parse(text).map(Timer::Date),
            Kind::Duration => Span::parse(text).map(Timer::Duration),
            Kind::Cycle => Cycle::parse(text).map(Timer::Cycle),
        }
    }

    /// How it was said.
    pub fn kind(&self) -> Kind {
        match self {
            Timer::Date(_) => Kind::Date,
            Timer::Duration(_) => Kind::Duration,
            Timer::Cycle(_) => Kind::Cycle,
        }
    }

    /// The first occurrence of a timer that is armed now. A duration of nothing or less is due at once, and so is a cycle whose start
    /// has passed.
    pub fn first(&self, armed: Millis) -> Result<Occurrence, Error> {
        let at = match self {
            Timer::Date(date) => date.at(),
            Timer::Duration(span) if span.is_positive() => span.after(armed)?,
            Timer::Duration(_) => armed,
            Timer::Cycle(cycle) => {
                cycle.first(armed).ok_or_else(|| Error::new(format!("{cycle} does not fire before the year 9999 is over")))?
            }
        };
        Ok(Occurrence { armed, number: 1, at })
    }

    /// What to do about an occurrence that was waited for: nothing before its time, later fire it or not, and wait for the next.
    /// Dates and durations fire however late it is, and once.
    pub fn due(&self, pending: Occurrence, now: Millis, missed: Missed) -> Due {
        if now < pending.at {
            return Due { fire: None, next: Some(pending) };
        }
        match self {
            Timer::Date(_) | Timer::Duration(_) => Due { fire: Some(pending), next: None },
            Timer::Cycle(cycle) => cycle_due(cycle, pending, now, missed),
        }
    }
}

fn cycle_due(cycle: &Cycle, pending: Occurrence, now: Millis, missed: Missed) -> Due {
    let (fire, passed) = match missed {
        Missed::FireOnce => (Some(pending), now),
        Missed::FireAll => (Some(pending), pending.at),
        Missed::Skip { late_max } => (in_time(cycle, pending, now.saturating_sub(late_max.max(0))), now),
    };
    match fire {
        None => Due { fire: None, next: None },
        Some(kept) if now < kept.at => Due { fire: None, next: Some(kept) },
        Some(fire) => Due { fire: Some(fire), next: following(cycle, fire, passed) },
    }
}

/// The pending occurrence if it is not too old, else the first that is not.
fn in_time(cycle: &Cycle, pending: Occurrence, oldest: Millis) -> Option<Occurrence> {
    if oldest <= pending.at {
        return Some(pending);
    }
    let at = cycle.after(pending.armed, oldest.saturating_sub(1))?;
    Some(Occurrence { at, ..pending })
}

fn following(cycle: &Cycle, fired: Occurrence, passed: Millis) -> Option<Occurrence> {
    let is_last = match cycle.repetitions() {
        Repetitions::Times(times) => u64::from(times.get()) <= fired.number,
        Repetitions::Forever => false,
    };
    if is_last {
        return None;
    }
    let at = cycle.after(fired.armed, passed)?;
    Some(Occurrence { number: fired.number.saturating_add(1), at, ..fired })
}

impl Display for Timer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Date(date) => date.fmt(out),
            Timer::Duration(span) => span.fmt(out),
            Timer::Cycle(cycle) => cycle.fmt(out),
        }
    }
}
