//! Fields of numbers, `*/15` or `MON-FRI,SUN`, and the sets they become.

use crate::error::quoted;

/// Numbers from 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set(u64);

impl Set {
    pub(super) const EMPTY: Set = Set(0);

    pub(super) fn has(self, number: u32) -> bool {
        self.from(number) == Some(number)
    }

    /// The least from one on.
    pub(super) fn from(self, number: u32) -> Option<u32> {
        let rest = u64::MAX.checked_shl(number).map_or(0, |mask| self.0 & mask);
        (rest != 0).then(|| rest.trailing_zeros())
    }

    pub(super) fn of(numbers: impl IntoIterator<Item = u32>) -> Set {
        Set(numbers.into_iter().fold(0, |set, number| set | 1 << number))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.from(0), move |number| self.from(number + 1))
    }

    pub(super) fn join(&mut self, other: Set) {
        self.0 |= other.0;
    }

    pub(super) fn and(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }
}

/// What a field may hold.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) min: u32,
    pub(super) max: u32,
    /// What `*` begins with.
    pub(super) all_from: u32,
    /// Names of the numbers from 1 on.
    pub(super) names: &'static [&'static str],
    /// Whether a range may run over the end, as from Friday to Monday.
    pub(super) goes_round: bool,
}

const NUMBERS: Field = Field { name: "", min: 0, max: 59, all_from: 0, names: &[], goes_round: false };
pub(super) const SECOND: Field = Field { name: "second", ..NUMBERS };
pub(super) const MINUTE: Field = Field { name: "minute", ..NUMBERS };
pub(super) const HOUR: Field = Field { name: "hour", max: 23, ..NUMBERS };
pub(super) const DAY: Field = Field { name: "day", min: 1, max: 31, all_from: 1, ..NUMBERS };
pub(super) const MONTH: Field = Field { name: "month", max: 12, names: &MONTHS, ..DAY };
/// Sunday is 0 and 7.
pub(super) const WEEKDAY: Field = Field { name: "weekday", min: 0, max: 7, all_from: 1, names: &WEEKDAYS, goes_round: true };

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

impl Field {
    /// A list of items.
    pub(super) fn parse(&self, text: &str) -> Result<Set, String> {
        let mut set = Set::EMPTY;
        for item in text.split(',') {
            set.join(self.item(item)?);
        }
        Ok(set)
    }

    /// `*`, a number or a range, maybe with a step.
    pub(super) fn item(&self, text: &str) -> Result<Set, String> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (text, None),
        };
        let (from, to) = if range == "*" {
            (self.all_from, self.max)
        } else if let Some((from, to)) = range.split_once('-') {
            (self.number(from)?, self.number(to)?)
        } else {
            let number = self.number(range)?;
            (number, if step.is_some() { self.max } else { number })
        };
        if to < from && !self.goes_round {
            return Err(format!("the {} range {} runs backwards", self.name, quoted(range)));
        }
        let to = if to < from { to + self.max } else { to };
        let numbers = (from..=to).step_by(step.unwrap_or(1));
        Ok(Set::of(numbers.map(|number| if self.max < number { number - self.max } else { number })))
    }

    /// A number or its name.
    pub(super) fn number(&self, text: &str) -> Result<u32, String> {
        if let Some(at) = self.names.iter().position(|name| *name == text) {
            return Ok(u32::try_from(at).expect("there are twelve names at most") + 1);
        }
        let number = digits(text).filter(|number| (self.min..=self.max).contains(number));
        number.ok_or_else(|| {
            let names = self.names.first().zip(self.names.last());
            let names = names.map(|(first, last)| format!(" or {first} to {last}")).unwrap_or_default();
            format!("the {} is {} to {}{names}, not {}", self.name, self.min, self.max, quoted(text))
        })
    }

    fn step(&self, text: &str) -> Result<usize, String> {
        let most = self.max - self.all_from + 1;
        let step = digits(text).filter(|step| (1..=most).contains(step)).and_then(|step| usize::try_from(step).ok());
        step.ok_or_else(|| format!("the {} is stepped by 1 to {most}, not {}", self.name, quoted(text)))
    }
}

/// A number of one or two digits.
pub(super) fn digits(text: &str) -> Option<u32> {
    let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
