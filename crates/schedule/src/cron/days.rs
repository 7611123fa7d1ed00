//! The two fields that say which days: of the month, and of the week. A day has to be asked for by both.

use super::fields::{DAY, Set, WEEKDAY, digits};
use super::to_u32;
use crate::error::quoted;
use jiff::civil::Date;

/// Which days of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days {
    of_month: Vec<OfMonth>,
    of_week: Vec<OfWeek>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OfMonth {
    /// Days by number; months that are too short leave them out.
    Numbers(Set),
    /// `L-3`: so many days before the last.
    BeforeLast(u32),
    /// `15W`: the day from Monday to Friday that is nearest, in the same month.
    Workday(u32),
    /// `LW`
    LastWorkday,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OfWeek {
    /// Monday is 1, Sunday 0 or 7.
    Weekdays(Set),
    /// `FRI#2`
    Nth { weekday: u32, nth: u32 },
    /// `FRIL`
    Last { weekday: u32 },
}

impl Days {
    pub(super) fn parse(day: &str, weekday: &str) -> Result<Days, String> {
        let day = if day == "?" { "*" } else { day };
        let weekday = if weekday == "?" { "*" } else { weekday };
        let of_month = day.split(',').map(of_month).collect::<Result<_, _>>()?;
        let of_week = weekday.split(',').map(of_week).collect::<Result<_, _>>()?;
        Ok(Days { of_month, of_week })
    }

    /// The days of the month that begins on a date.
    pub(super) fn of(&self, first: Date) -> Set {
        let month = Month { last: to_u32(first.days_in_month()), first: to_u32(first.weekday().to_monday_one_offset()) };
        let mut of_month = Set::EMPTY;
        self.of_month.iter().for_each(|asked| of_month.join(month.days(asked)));
        let mut of_week = Set::EMPTY;
        self.of_week.iter().for_each(|asked| of_week.join(month.weekdays(asked)));
        of_month.and(of_week)
    }
}

fn of_month(item: &str) -> Result<OfMonth, String> {
    if item == "LW" {
        return Ok(OfMonth::LastWorkday);
    }
    if item == "L" {
        return Ok(OfMonth::BeforeLast(0));
    }
    if let Some(before) = item.strip_prefix("L-") {
        let days = digits(before).filter(|days| (1..=30).contains(days));
        return days.map(OfMonth::BeforeLast).ok_or_else(|| format!("L- is followed by 1 to 30, not {}", quoted(before)));
    }
    match item.strip_suffix('W') {
        Some(day) => DAY.number(day).map(OfMonth::Workday),
        None => DAY.item(item).map(OfMonth::Numbers),
    }
}

fn of_week(item: &str) -> Result<OfWeek, String> {
    if item == "L" {
        return Err(String::from("L needs a weekday before it, as in FRIL for the last Friday of the month"));
    }
    if let Some(weekday) = item.strip_suffix('L') {
        return Ok(OfWeek::Last { weekday: WEEKDAY.number(weekday)? });
    }
    match item.split_once('#') {
        Some((weekday, nth)) => {
            let weekday = WEEKDAY.number(weekday)?;
            let nth = digits(nth)
                .filter(|nth| (1..=5).contains(nth))
                .ok_or_else(|| format!("# is followed by 1 to 5, not {}", quoted(nth)))?;
            Ok(OfWeek::Nth { weekday, nth })
        }
        None => WEEKDAY.item(item).map(OfWeek::Weekdays),
    }
}

/// A month: how many days it has, and which weekday the first one is.
#[derive(Clone, Copy)]
struct Month {
    last: u32,
    first: u32,
}

impl Month {
    fn days(self, asked: &OfMonth) -> Set {
        match asked {
            OfMonth::Numbers(numbers) => numbers.and(Set::of(1..=self.last)),
            OfMonth::BeforeLast(days) => Set::of(self.last.checked_sub(*days).filter(|day| 0 < *day)),
            OfMonth::Workday(day) => Set::of(Some(*day).filter(|day| *day <= self.last).map(|day| self.workday(day))),
            OfMonth::LastWorkday => Set::of([self.workday(self.last)]),
        }
    }

    fn weekdays(self, asked: &OfWeek) -> Set {
        match asked {
            OfWeek::Weekdays(weekdays) => {
                let asked = (1..=7).filter(|weekday| weekdays.has(*weekday) || *weekday == 7 && weekdays.has(0));
                Set::of(asked.flat_map(|weekday| self.each(weekday)))
            }
            OfWeek::Nth { weekday, nth } => {
                Set::of((1..).zip(self.each(*weekday)).filter(|(at, _)| at == nth).map(|(_, day)| day))
            }
            OfWeek::Last { weekday } => Set::of(self.each(*weekday).last()),
        }
    }

    /// The days that are one weekday.
    fn each(self, weekday: u32) -> impl Iterator<Item = u32> {
        (1 + (weekday + 7 - self.first) % 7..=self.last).step_by(7)
    }

    /// The day itself from Monday to Friday, else the Friday before or the Monday after, whichever is nearer and in the month.
    fn workday(self, day: u32) -> u32 {
        match (self.first + day - 1) % 7 {
            SATURDAY if day == 1 => 3,
            SATURDAY => day - 1,
            SUNDAY if day == self.last => day - 2,
            SUNDAY => day + 1,
            _ => day,
        }
    }
}

const SATURDAY: u32 = 6;
const SUNDAY: u32 = 0;
