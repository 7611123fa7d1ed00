//! The two fields that say which days: of the month, and of the week. A day has to be asked for by both.

use super::fields::{DAY, Set, WEEKDAY, digits};
use super::to_u32;
use crate::error::quoted;
use jiff::civil::Date;

/// Which days of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days {
    of_month: OfMonth,
    of_week: OfWeek,
}

/// Any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OfMonth {
    /// Days by number; months that are too short leave them out.
    numbers: Set,
    /// `L` and `L-3`: so many days before the last.
    before_last: Set,
    /// `15W`: the nearest day from Monday to Friday, in the same month.
    workdays: Set,
    /// `LW`
    last_workday: bool,
}

/// Any of these. Monday is 1 and Sunday 7.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OfWeek {
    weekdays: Set,
    /// `FRI#2`: for the first to the fifth, of which weekdays.
    nth: [Set; 5],
    /// `FRIL`
    last: Set,
}

impl Days {
    pub(super) fn parse(day: &str, weekday: &str) -> Result<Days, String> {
        let [day, weekday] = [day, weekday].map(|field| if field == "?" { "*" } else { field });
        let mut of_month = OfMonth { numbers: Set::EMPTY, before_last: Set::EMPTY, workdays: Set::EMPTY, last_workday: false };
        day.split(',').try_for_each(|item| of_month.add(item))?;
        let mut of_week = OfWeek { weekdays: Set::EMPTY, nth: [Set::EMPTY; 5], last: Set::EMPTY };
        weekday.split(',').try_for_each(|item| of_week.add(item))?;
        Ok(Days { of_month, of_week })
    }

    /// The days of the month that begins on a date.
    pub(super) fn of(&self, first: Date) -> Set {
        let month = Month { last: to_u32(first.days_in_month()), first: to_u32(first.weekday().to_monday_one_offset()) };
        month.days(&self.of_month).and(month.weekdays(&self.of_week))
    }
}

impl OfMonth {
    fn add(&mut self, item: &str) -> Result<(), String> {
        if item == "LW" {
            self.last_workday = true;
        } else if item == "L" {
            self.before_last.join(Set::of([0]));
        } else if let Some(before) = item.strip_prefix("L-") {
            let days = digits(before).filter(|days| (1..=30).contains(days));
            self.before_last.join(Set::of([days.ok_or_else(|| format!("L- is followed by 1 to 30, not {}", quoted(before)))?]));
        } else if let Some(day) = item.strip_suffix('W') {
            self.workdays.join(Set::of([DAY.number(day)?]));
        } else {
            self.numbers.join(DAY.item(item)?);
        }
        Ok(())
    }
}

impl OfWeek {
    fn add(&mut self, item: &str) -> Result<(), String> {
        if item == "L" {
            return Err(String::from("L needs a weekday before it, as in FRIL for the last Friday of the month"));
        }
        if let Some(weekday) = item.strip_suffix('L') {
            self.last.join(from_monday(Set::of([WEEKDAY.number(weekday)?])));
        } else if let Some((weekday, nth)) = item.split_once('#') {
            let weekday = from_monday(Set::of([WEEKDAY.number(weekday)?]));
            let place = digits(nth).and_then(|nth| usize::try_from(nth).ok()?.checked_sub(1)).and_then(|at| self.nth.get_mut(at));
            place.ok_or_else(|| format!("# is followed by 1 to 5, not {}", quoted(nth)))?.join(weekday);
        } else {
            self.weekdays.join(from_monday(WEEKDAY.item(item)?));
        }
        Ok(())
    }
}

/// Sunday is 7, not 0.
fn from_monday(weekdays: Set) -> Set {
    Set::of(weekdays.iter().map(|weekday| if weekday == 0 { 7 } else { weekday }))
}

/// A month: how many days it has, and which weekday the first one is.
#[derive(Clone, Copy)]
struct Month {
    last: u32,
    first: u32,
}

impl Month {
    fn days(self, asked: &OfMonth) -> Set {
        let mut days = asked.numbers;
        days.join(Set::of(asked.before_last.iter().map_while(|before| self.last.checked_sub(before))));
        days.join(Set::of(asked.workdays.iter().take_while(|day| *day <= self.last).map(|day| self.workday(day))));
        if asked.last_workday {
            days.join(Set::of([self.workday(self.last)]));
        }
        days.and(Set::of(1..=self.last))
    }

    fn weekdays(self, asked: &OfWeek) -> Set {
        let mut days = Set::of(asked.weekdays.iter().flat_map(|weekday| self.each(weekday)));
        for (weeks, weekdays) in asked.nth.iter().enumerate() {
            days.join(Set::of(weekdays.iter().filter_map(|weekday| self.each(weekday).nth(weeks))));
        }
        days.join(Set::of(asked.last.iter().filter_map(|weekday| self.each(weekday).last())));
        days
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
