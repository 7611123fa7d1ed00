//! `cycle`: a repeating interval, as timers take it.

use super::{Builtin, Fault, Outcome, fixed, only};
use crate::dialect::Dialect;
use crate::eval::Machine;
use crate::value::Value;

pub(super) static ALL: &[Builtin] =
    &[only(Dialect::Camunda, "cycle", &[fixed(&["interval"], cycle), fixed(&["repetitions", "interval"], cycle)])];

/// `R3/PT1H` for three times every hour, `R/PT1H` for ever.
fn cycle(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (times, interval) = match arguments {
        [interval] | [Value::Null, interval] => (String::new(), interval),
        [Value::Number(times), interval] => (times.truncate_saturating().to_string(), interval),
        _ => return Err(Fault::Arguments),
    };
    match interval {
        Value::DaysTimeDuration(_) | Value::YearsMonthsDuration(_) => Ok(Value::string(format!("R{times}/{interval}"))),
        _ => Err(Fault::Arguments),
    }
}
