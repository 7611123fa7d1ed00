//! Making dates, times and durations.

use super::{Builtin, Fault, Outcome, everywhere, fixed};
use crate::dialect::Dialect;
use crate::eval::Machine;
use crate::excerpt::quoted;
use crate::number::{Number, Rounding};
use crate::temporal::{Date, DateTime, Leniency, Time, YearsMonthsDuration, Zone, parse_duration};
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[
    everywhere("date", &[fixed(&["from"], date), fixed(&["year", "month", "day"], date_of_parts)]),
    everywhere(
        "date and time",
        &[fixed(&["from"], date_and_time), fixed(&["date", "time"], date_at_time), fixed(&["date", "timezone"], date_at_time)],
    ),
    everywhere(
        "time",
        &[
            fixed(&["from"], time),
            fixed(&["hour", "minute", "second"], time_of_parts),
            fixed(&["hour", "minute", "second", "offset"], time_of_parts),
        ],
    ),
    everywhere("duration", &[fixed(&["from"], duration)]),
    everywhere("years and months duration", &[fixed(&["from", "to"], years_and_months)]),
];

/// Steps of looking up a time zone.
const ZONE_STEPS: u64 = 4;

fn leniency(machine: &Machine<'_>) -> Leniency {
    match machine.dialect {
        Dialect::Camunda => Leniency::Camunda,
        Dialect::Dmn => Leniency::Standard,
    }
}

fn unreadable(kind: &str, text: &str) -> Fault {
    Fault::Reason(format!("'{}' is not a {kind}", quoted(text)))
}

/// Takes the steps of reading a temporal value, which may name a zone.
fn read(machine: &mut Machine<'_>, text: &str) -> Result<(), Fault> {
    machine.read_text(text)?;
    Ok(machine.charge(ZONE_STEPS)?)
}

fn date(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            read(machine, text)?;
            Date::parse(text).map(Value::Date).ok_or_else(|| unreadable("date", text))
        }
        [Value::DateTime(date_time)] => Ok(Value::Date(date_time.date())),
        [Value::Date(date)] => Ok(Value::Date(*date)),
        _ => Err(Fault::Arguments),
    }
}

/// A whole part of a date or time, its fraction dropped.
fn part<T: TryFrom<i64>>(number: &Number) -> Option<T> {
    T::try_from(number.truncate_saturating()).ok()
}

fn date_of_parts(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::Number(year), Value::Number(month), Value::Number(day)] = arguments else {
        return Err(Fault::Arguments);
    };
    let date = part(year).zip(part(month)).zip(part(day)).and_then(|((year, month), day)| Date::new(year, month, day));
    date.map(Value::Date).ok_or_else(|| Fault::Reason(format!("there is no date {year}-{month}-{day}")))
}

fn date_and_time(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            read(machine, text)?;
            let at_midnight = || Date::parse(text).map(|date| DateTime::new(date, Time::midnight(Zone::Local)));
            let parsed = DateTime::parse(text, leniency(machine)).or_else(at_midnight);
            parsed.map(Value::DateTime).ok_or_else(|| unreadable("date and time", text))
        }
        [Value::DateTime(date_time)] if machine.dialect == Dialect::Dmn => Ok(Value::DateTime(date_time.clone())),
        [Value::Date(date)] if machine.dialect == Dialect::Dmn => {
            Ok(Value::DateTime(DateTime::new(*date, Time::midnight(Zone::UTC))))
        }
        _ => Err(Fault::Arguments),
    }
}

fn date_at_time(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Date(date), Value::Time(time)] => Ok(Value::DateTime(DateTime::new(*date, time.clone()))),
        [Value::DateTime(date_time), Value::Time(time)] => Ok(Value::DateTime(DateTime::new(date_time.date(), time.clone()))),
        [Value::DateTime(date_time), Value::String(name)] => {
            read(machine, name)?;
            let zone = Zone::named(name).ok_or_else(|| unreadable("time zone", name))?;
            let moved = match date_time.zone() {
                Zone::Local => Some(DateTime::new(date_time.date(), date_time.time().with_zone(zone))),
                Zone::Offset(_) | Zone::Named { .. } => date_time.in_zone(&zone),
            };
            moved.map(Value::DateTime).ok_or(Fault::Arguments)
        }
        _ => Err(Fault::Arguments),
    }
}

fn time(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            read(machine, text)?;
            Time::parse(text, leniency(machine)).map(Value::Time).ok_or_else(|| unreadable("time", text))
        }
        [Value::DateTime(date_time)] => Ok(Value::Time(date_time.time().clone())),
        [Value::Date(_)] => Ok(Value::Time(Time::midnight(Zone::UTC))),
        [Value::Time(time)] if machine.dialect == Dialect::Dmn => Ok(Value::Time(time.clone())),
        _ => Err(Fault::Arguments),
    }
}

fn time_of_parts(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (hour, minute, second, zone) = match arguments {
        [Value::Number(hour), Value::Number(minute), Value::Number(second)]
        | [Value::Number(hour), Value::Number(minute), Value::Number(second), Value::Null] => {
            (hour, minute, second, Some(Zone::Local))
        }
        [Value::Number(hour), Value::Number(minute), Value::Number(second), Value::DaysTimeDuration(offset)] => {
            let seconds = offset.nanos().div_euclid(1_000_000_000);
            (hour, minute, second, i32::try_from(seconds).ok().and_then(Zone::offset))
        }
        _ => return Err(Fault::Arguments),
    };
    let time = nanos(second).zip(zone).and_then(|(nano, zone)| Time::new(part(hour)?, part(minute)?, part(second)?, nano, zone));
    time.map(Value::Time).ok_or_else(|| Fault::Reason(format!("there is no time {hour}:{minute}:{second}")))
}

/// The fraction of a second in nanoseconds.
fn nanos(second: &Number) -> Option<u32> {
    let fraction = second.checked_rem(Number::ONE)?;
    let scaled = fraction.checked_mul(Number::new(1_000_000_000, 0)?)?.round(0, Rounding::Down);
    u32::try_from(scaled.to_i64()?).ok()
}

fn duration(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            read(machine, text)?;
            parse_duration(text, leniency(machine)).ok_or_else(|| unreadable("duration", text))
        }
        [value @ (Value::DaysTimeDuration(_) | Value::YearsMonthsDuration(_))] if machine.dialect == Dialect::Dmn => {
            Ok(value.clone())
        }
        _ => Err(Fault::Arguments),
    }
}

fn years_and_months(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let date_of = |value: &Value| match value {
        Value::Date(date) => Some(*date),
        Value::DateTime(date_time) => Some(date_time.date()),
        _ => None,
    };
    let [from, to] = arguments else {
        return Err(Fault::Arguments);
    };
    let (from, to) = date_of(from).zip(date_of(to)).ok_or(Fault::Arguments)?;
    let months = YearsMonthsDuration::from_months(from.months_until(to));
    months.map(Value::YearsMonthsDuration).ok_or(Fault::Arguments)
}
