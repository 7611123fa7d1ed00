//! The calendar: now, today, and where a date lies in its year.

use super::{Builtin, Fault, Outcome, everywhere, fixed};
use crate::eval::Machine;
use crate::temporal::Date;
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[
    everywhere("now", &[fixed(&[], now)]),
    everywhere("today", &[fixed(&[], today)]),
    everywhere("day of year", &[fixed(&["date"], day_of_year)]),
    everywhere("day of week", &[fixed(&["date"], day_of_week)]),
    everywhere("month of year", &[fixed(&["date"], month_of_year)]),
    everywhere("week of year", &[fixed(&["date"], week_of_year)]),
    everywhere("last day of month", &[fixed(&["date"], last_day_of_month)]),
];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

fn now(machine: &mut Machine<'_>, _: &[Value]) -> Outcome {
    machine.now.date_time().map(Value::DateTime).ok_or(Fault::Arguments)
}

fn today(machine: &mut Machine<'_>, _: &[Value]) -> Outcome {
    machine.now.date().map(Value::Date).ok_or(Fault::Arguments)
}

fn date_of(arguments: &[Value]) -> Result<Date, Fault> {
    match arguments {
        [Value::Date(date)] => Ok(*date),
        [Value::DateTime(date_time)] => Ok(date_time.date()),
        _ => Err(Fault::Arguments),
    }
}

fn day_of_year(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::integer(i64::from(date_of(arguments)?.day_of_year())))
}

fn day_of_week(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::from(WEEKDAYS[usize::from(date_of(arguments)?.weekday()) - 1]))
}

fn month_of_year(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::from(MONTHS[usize::from(date_of(arguments)?.month()) - 1]))
}

fn week_of_year(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::integer(i64::from(date_of(arguments)?.week_of_year())))
}

fn last_day_of_month(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Date(date_of(arguments)?.last_of_month()))
}
