//! Functions of numbers.

use super::{Builtin, Fault, Outcome, everywhere, fixed, only};
use crate::dialect::Dialect;
use crate::eval::{DOUBLE_STEPS, Machine, WIDE_STEPS};
use crate::excerpt::quoted;
use crate::number::{Number, Rounding};
use crate::temporal::{DaysTimeDuration, YearsMonthsDuration};
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[
    everywhere("decimal", &[fixed(&["n", "scale"], decimal), fixed(&["n", "scale", "mode"], decimal_with_mode)]),
    everywhere("floor", &[fixed(&["n"], floor), fixed(&["n", "scale"], floor), fixed(&["n", "scala"], floor)]),
    everywhere("ceiling", &[fixed(&["n"], ceiling), fixed(&["n", "scale"], ceiling)]),
    only(Dialect::Camunda, "abs", &[fixed(&["number"], abs), fixed(&["n"], abs)]),
    only(Dialect::Dmn, "abs", &[fixed(&["n"], abs)]),
    everywhere("modulo", &[fixed(&["dividend", "divisor"], modulo)]),
    everywhere("sqrt", &[fixed(&["number"], sqrt)]),
    everywhere("log", &[fixed(&["number"], log)]),
    everywhere("exp", &[fixed(&["number"], exp)]),
    everywhere("odd", &[fixed(&["number"], odd)]),
    everywhere("even", &[fixed(&["number"], even)]),
    everywhere("round up", &[fixed(&["n", "scale"], round_up)]),
    everywhere("round down", &[fixed(&["n", "scale"], round_down)]),
    everywhere("round half up", &[fixed(&["n", "scale"], round_half_up)]),
    everywhere("round half down", &[fixed(&["n", "scale"], round_half_down), fixed(&["n", "scala"], round_half_down)]),
    only(Dialect::Camunda, "random number", &[fixed(&[], random_number)]),
];

/// Decimal places a caller may ask for, as the standard bounds them.
const SCALE_MAX: i64 = 6176;

fn rounded(arguments: &[Value], rounding: Rounding, machine: &Machine<'_>) -> Outcome {
    let (number, scale) = match arguments {
        [Value::Number(number)] => (number, 0),
        [Value::Number(number), Value::Number(scale)] => (number, scale.truncate_saturating()),
        _ => return Err(Fault::Arguments),
    };
    if machine.dialect == Dialect::Dmn && !(-6111..=SCALE_MAX).contains(&scale) {
        return Err(Fault::Reason(format!("scale {scale} is out of range")));
    }
    let scale = scale.clamp(-SCALE_MAX, SCALE_MAX);
    let scale = i32::try_from(scale).expect("clamped to a few thousand");
    Ok(Value::Number(number.round(scale, rounding)))
}

fn decimal(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::HalfEven, machine)
}

fn decimal_with_mode(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [number @ Value::Number(_), scale @ Value::Number(_), Value::String(mode)] = arguments else {
        return Err(Fault::Arguments);
    };
    let rounding = Rounding::named(mode).ok_or_else(|| Fault::Reason(format!("no rounding mode '{}'", quoted(mode))))?;
    rounded(&[number.clone(), scale.clone()], rounding, machine)
}

fn floor(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::Floor, machine)
}

fn ceiling(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::Ceiling, machine)
}

fn round_up(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::Up, machine)
}

fn round_down(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::Down, machine)
}

fn round_half_up(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::HalfUp, machine)
}

fn round_half_down(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    rounded(arguments, Rounding::HalfDown, machine)
}

fn abs(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let result = match arguments {
        [Value::Number(number)] => Some(Value::Number(number.abs())),
        [Value::DaysTimeDuration(duration)] => DaysTimeDuration::from_nanos(duration.nanos().abs()).map(Value::DaysTimeDuration),
        [Value::YearsMonthsDuration(duration)] => {
            YearsMonthsDuration::from_months(duration.total_months().abs()).map(Value::YearsMonthsDuration)
        }
        _ => None,
    };
    result.ok_or(Fault::Arguments)
}

/// The remainder with the sign of the divisor.
fn modulo(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::Number(dividend), Value::Number(divisor)] = arguments else {
        return Err(Fault::Arguments);
    };
    charge_remainder(machine, *dividend, *divisor)?;
    let result =
        dividend.checked_rem(*divisor).and_then(|rest| rest.checked_add(*divisor)).and_then(|rest| rest.checked_rem(*divisor));
    result.map(Value::Number).ok_or_else(|| Fault::Reason(String::from("division by zero")))
}

/// A remainder takes longer where the dividend is written with many more zeros than the divisor.
fn charge_remainder(machine: &mut Machine<'_>, dividend: Number, divisor: Number) -> Result<(), Fault> {
    let zeros = dividend.exponent().saturating_sub(divisor.exponent()).max(0).unsigned_abs();
    Ok(machine.charge(WIDE_STEPS * u64::from(1 + u32::BITS - zeros.leading_zeros()))?)
}

fn through_double(machine: &mut Machine<'_>, arguments: &[Value], function: fn(f64) -> f64) -> Outcome {
    let [Value::Number(number)] = arguments else {
        return Err(Fault::Arguments);
    };
    machine.charge(DOUBLE_STEPS)?;
    match Number::from_f64(function(number.to_f64())) {
        Some(result) => Ok(Value::Number(result)),
        None => Err(Fault::Reason(format!("no value for {number}"))),
    }
}

fn sqrt(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    through_double(machine, arguments, f64::sqrt)
}

fn log(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    through_double(machine, arguments, f64::ln)
}

fn exp(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    through_double(machine, arguments, f64::exp)
}

fn odd(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::Number(number)] = arguments else {
        return Err(Fault::Arguments);
    };
    charge_remainder(machine, *number, Number::from(2))?;
    let rest = number.abs().checked_rem(Number::from(2)).ok_or(Fault::Arguments)?;
    Ok(Value::Bool(rest == Number::ONE))
}

fn even(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::Number(number)] = arguments else {
        return Err(Fault::Arguments);
    };
    charge_remainder(machine, *number, Number::from(2))?;
    let rest = number.checked_rem(Number::from(2)).ok_or(Fault::Arguments)?;
    Ok(Value::Bool(rest.is_zero()))
}

fn random_number(machine: &mut Machine<'_>, _: &[Value]) -> Outcome {
    machine.charge(DOUBLE_STEPS)?;
    // 53 random bits make every double of the grid between zero and one equally likely.
    let unit = (machine.random() >> 11) as f64 / (1_u64 << 53) as f64;
    Ok(Value::from(Number::from_f64(unit)))
}
