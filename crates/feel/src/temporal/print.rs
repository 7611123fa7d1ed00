//! The ISO 8601 text of temporal values, with `@Zone` for named zones.

use super::{Date, DateTime, DaysTimeDuration, Time, YearsMonthsDuration, Zone};
use std::fmt::{Display, Formatter, Result};

impl Display for Date {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let sign = if self.year() < 0 { "-" } else { "" };
        write!(out, "{sign}{:04}-{:02}-{:02}", self.year().unsigned_abs(), self.month(), self.day())
    }
}

impl Display for Time {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{:02}:{:02}:{:02}", self.hour(), self.minute(), self.second())?;
        if self.nano() != 0 {
            write!(out, ".{}", format!("{:09}", self.nano()).trim_end_matches('0'))?;
        }
        Display::fmt(self.zone(), out)
    }
}

impl Display for Zone {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Zone::Local => Ok(()),
            Zone::Offset(seconds) => write_offset(*seconds, out),
            Zone::Named { zone, offset } => match zone.iana_name() {
                Some(name) => write!(out, "@{name}"),
                None => write_offset(*offset, out),
            },
        }
    }
}

fn write_offset(seconds: i32, out: &mut Formatter<'_>) -> Result {
    if seconds == 0 {
        return out.write_str("Z");
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let total = seconds.unsigned_abs();
    write!(out, "{sign}{:02}:{:02}", total / 3_600, total / 60 % 60)?;
    if !total.is_multiple_of(60) { write!(out, ":{:02}", total % 60) } else { Ok(()) }
}

impl Display for DateTime {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}T{}", self.date(), self.time())
    }
}

impl Display for DaysTimeDuration {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let nanos = self.nanos().unsigned_abs();
        if nanos == 0 {
            return out.write_str("P0D");
        }
        let seconds = nanos / 1_000_000_000;
        let fraction = nanos % 1_000_000_000;
        let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
        out.write_str(if self.nanos() < 0 { "-P" } else { "P" })?;
        if days != 0 {
            write!(out, "{days}D")?;
        }
        if hours == 0 && minutes == 0 && rest == 0 && fraction == 0 {
            return Ok(());
        }
        out.write_str("T")?;
        if hours != 0 {
            write!(out, "{hours}H")?;
        }
        if minutes != 0 {
            write!(out, "{minutes}M")?;
        }
        match fraction {
            0 if rest == 0 => Ok(()),
            0 => write!(out, "{rest}S"),
            _ => write!(out, "{rest}.{}S", format!("{fraction:09}").trim_end_matches('0')),
        }
    }
}

impl Display for YearsMonthsDuration {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let total = self.total_months().unsigned_abs();
        if total == 0 {
            return out.write_str("P0Y");
        }
        out.write_str(if self.total_months() < 0 { "-P" } else { "P" })?;
        if 12 <= total {
            write!(out, "{}Y", total / 12)?;
        }
        if !total.is_multiple_of(12) { write!(out, "{}M", total % 12) } else { Ok(()) }
    }
}
