//! A calendar date.

use super::YEAR_MAX;

/// A date of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

impl Date {
    /// A date, if it exists.
    pub fn new(year: i32, month: u8, day: u8) -> Option<Date> {
        let exists = (-YEAR_MAX..=YEAR_MAX).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day);
        exists.then_some(Date { year, month, day })
    }

    /// The year; negative before year zero.
    pub fn year(self) -> i32 {
        self.year
    }

    /// 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// 1 to 31.
    pub fn day(self) -> u8 {
        self.day
    }

    /// Days since 1970-01-01.
    pub fn epoch_days(self) -> i64 {
        // Years counted from March, so that the leap day is the last of its year.
        let early = self.month <= 2;
        let year = i64::from(self.year) - i64::from(early);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// The date so many days after 1970-01-01, if the year is in range.
    pub fn from_epoch_days(days: i64) -> Option<Date> {
        let shifted = days.checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Date::new(i32::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }

    /// 1 for Monday to 7 for Sunday.
    pub fn weekday(self) -> u8 {
        // 1970-01-01 was a Thursday.
        u8::try_from((self.epoch_days() + 3).rem_euclid(7) + 1).expect("a remainder of seven")
    }

    /// 1 to 366.
    pub fn day_of_year(self) -> u16 {
        let start = Date { year: self.year, month: 1, day: 1 };
        u16::try_from(self.epoch_days() - start.epoch_days() + 1).expect("a year has at most 366 days")
    }

    /// The ISO week, 1 to 53: weeks begin on Monday and belong to the year that holds their Thursday.
    pub fn week_of_year(self) -> u8 {
        let thursday = self.epoch_days() - i64::from(self.weekday()) + 4;
        let ordinal = Date::from_epoch_days(thursday).map_or(1, Date::day_of_year);
        u8::try_from((ordinal - 1) / 7 + 1).expect("a year has at most 53 weeks")
    }

    /// The last day of this date's month.
    pub fn last_of_month(self) -> Date {
        Date { day: days_in_month(self.year, self.month), ..self }
    }

    /// So many months later; the day is cut to the length of the month.
    pub fn add_months(self, months: i64) -> Option<Date> {
        let total = (i64::from(self.year) * 12 + i64::from(self.month) - 1).checked_add(months)?;
        let year = i32::try_from(total.div_euclid(12)).ok()?;
        let month = u8::try_from(total.rem_euclid(12) + 1).ok()?;
        if YEAR_MAX < year.checked_abs()? {
            return None;
        }
        Date::new(year, month, self.day.min(days_in_month(year, month)))
    }

    /// So many days later.
    pub fn add_days(self, days: i64) -> Option<Date> {
        Date::from_epoch_days(self.epoch_days().checked_add(days)?)
    }

    /// Whole months from `self` to `other`, towards zero.
    pub fn months_until(self, other: Date) -> i64 {
        let months = |date: Date| i64::from(date.year) * 12 + i64::from(date.month);
        let difference = months(other) - months(self);
        if 0 < difference && other.day < self.day {
            difference - 1
        } else if difference < 0 && self.day < other.day {
            difference + 1
        } else {
            difference
        }
    }
}

fn days_in_month(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}
