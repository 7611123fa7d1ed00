//! The four operations, remainder and whole powers.
//!
//! Small operands take an exact 128-bit path; only what outgrows it goes through 256 bits and rounding. `None` means
//! the operation has no value: division by zero, or an exponent out of range.

use super::wide::{self, POWERS};
use super::{DIGITS_MAX, EXPONENT_MAX, LITERAL_DIGITS_MAX, Number};
use fastnum::U256;

impl Number {
    /// The sum, rounded to 34 significant digits.
    pub fn checked_add(self, other: Number) -> Option<Number> {
        if self.exponent() == other.exponent() {
            let sum = self.coefficient().checked_add(other.coefficient());
            return match sum {
                Some(sum) => finish(sum, self.exponent()),
                None => add_wide(self, other, 0),
            };
        }
        let (high, low) = if other.exponent() < self.exponent() { (self, other) } else { (other, self) };
        if high.is_zero() || low.is_zero() {
            return add_zero(high, low);
        }
        let gap = (high.exponent() - low.exponent()).unsigned_abs();
        let shifted = POWERS
            .get(gap as usize)
            .and_then(|power| high.coefficient().checked_mul(i128::try_from(*power).ok()?))
            .and_then(|shifted| shifted.checked_add(low.coefficient()));
        match shifted {
            Some(sum) => finish(sum, low.exponent()),
            None => add_wide(high, low, gap),
        }
    }

    /// The difference, rounded to 34 significant digits.
    pub fn checked_sub(self, other: Number) -> Option<Number> {
        self.checked_add(other.negate())
    }

    /// The product, rounded to 34 significant digits.
    pub fn checked_mul(self, other: Number) -> Option<Number> {
        self.mul_to(other, DIGITS_MAX)
    }

    /// The quotient, rounded to 34 significant digits; no value for a zero divisor.
    pub fn checked_div(self, other: Number) -> Option<Number> {
        self.div_to(other, DIGITS_MAX)
    }

    /// The value with the sign turned.
    pub fn negate(self) -> Number {
        Number { coefficient: -self.coefficient(), exponent: self.exponent() }
    }

    /// The value without its sign.
    pub fn abs(self) -> Number {
        if self.is_negative() { self.negate() } else { self }
    }

    /// What remains of a division towards zero; it has the sign of `self`.
    pub fn checked_rem(self, other: Number) -> Option<Number> {
        if other.is_zero() {
            return None;
        }
        let exponent = self.exponent().min(other.exponent());
        let divisor_shift = (other.exponent() - exponent).unsigned_abs();
        // A divisor shifted beyond 76 digits is larger than any dividend that is not shifted.
        if 38 < divisor_shift {
            return Some(self);
        }
        let divisor = wide::widen(other.coefficient().unsigned_abs()) * wide::power(divisor_shift);
        let mut remainder = wide::widen(self.coefficient().unsigned_abs()) % divisor;
        let mut shift = (self.exponent() - exponent).unsigned_abs();
        // Only one of the two is shifted, so here the divisor has at most 38 digits and each product fits 256 bits.
        let mut power = wide::widen(10) % divisor;
        while 0 < shift {
            if shift % 2 == 1 {
                remainder = remainder * power % divisor;
            }
            power = power * power % divisor;
            shift /= 2;
        }
        let (magnitude, dropped) = wide::round_half_even(remainder, LITERAL_DIGITS_MAX, false);
        let coefficient = i128::try_from(magnitude).ok()?;
        let exponent = exponent + i32::try_from(dropped).ok()?;
        finish(if self.is_negative() { -coefficient } else { coefficient }, exponent)
    }

    /// A whole power, by squaring with guard digits; no value for zero to a negative power.
    pub fn checked_pow(self, power: i32) -> Option<Number> {
        if power == 0 {
            return Some(Number::ONE);
        }
        let guard = power.unsigned_abs().ilog10() + 2;
        let digits = (DIGITS_MAX + guard).min(LITERAL_DIGITS_MAX);
        let mut result = Number::ONE;
        let mut bits = power.unsigned_abs();
        let mut seen = false;
        for _ in 0..32 {
            if seen {
                result = result.mul_to(result, digits)?;
            }
            if bits & 0x8000_0000 != 0 {
                seen = true;
                result = result.mul_to(self, digits)?;
            }
            bits <<= 1;
        }
        if power < 0 {
            result = Number::ONE.div_to(result, digits)?;
        }
        finish(result.coefficient(), result.exponent())
    }

    fn mul_to(self, other: Number, digits: u32) -> Option<Number> {
        let exponent = self.exponent() + other.exponent();
        if let Some(product) = self.coefficient().checked_mul(other.coefficient()) {
            return round_to(product, exponent, digits);
        }
        let product = wide::widen(self.coefficient().unsigned_abs()) * wide::widen(other.coefficient().unsigned_abs());
        let negative = self.is_negative() != other.is_negative();
        from_wide(product, negative, exponent, digits, false)
    }

    fn div_to(self, other: Number, digits: u32) -> Option<Number> {
        if other.is_zero() {
            return None;
        }
        let preferred = self.exponent() - other.exponent();
        if self.coefficient() % other.coefficient() == 0 {
            return round_to(self.coefficient() / other.coefficient(), preferred, digits);
        }
        // Enough digits that the quotient has at least one more than asked for.
        let shift = (digits + other.digits() + 1).saturating_sub(self.digits());
        let dividend = wide::widen(self.coefficient().unsigned_abs()) * wide::power(shift);
        let divisor = wide::widen(other.coefficient().unsigned_abs());
        let (quotient, remainder) = (dividend / divisor, dividend % divisor);
        let exact = remainder == U256::ZERO;
        let negative = self.is_negative() != other.is_negative();
        let result = from_wide(quotient, negative, preferred - i32::try_from(shift).ok()?, digits, !exact)?;
        Some(if exact { result.strip_to(preferred) } else { result })
    }
}

/// A sum with a zero keeps the finer of the two scales as far as the digits allow.
fn add_zero(high: Number, low: Number) -> Option<Number> {
    if high.is_zero() {
        return finish(low.coefficient(), low.exponent());
    }
    let room = DIGITS_MAX.saturating_sub(high.digits());
    let gap = (high.exponent() - low.exponent()).unsigned_abs().min(room);
    let power = i128::try_from(POWERS[gap as usize]).ok()?;
    finish(high.coefficient().checked_mul(power)?, high.exponent() - i32::try_from(gap).ok()?)
}

fn add_wide(high: Number, low: Number, gap: u32) -> Option<Number> {
    // Beyond this gap the smaller operand is below the last digit kept and only decides the rounding.
    let gap_max = 76 - high.digits();
    let (shift, tail) = if gap <= gap_max { (gap, None) } else { (gap_max, Some(low.coefficient().signum())) };
    let large = wide::widen(high.coefficient().unsigned_abs()) * wide::power(shift);
    let exponent = high.exponent() - i32::try_from(shift).ok()?;
    let small = match tail {
        None => wide::widen(low.coefficient().unsigned_abs()),
        Some(_) => wide::widen(1),
    };
    let negative = high.is_negative();
    if negative == low.is_negative() {
        return from_wide(large + small, negative, exponent, DIGITS_MAX, tail.is_some());
    }
    if small <= large {
        from_wide(large - small, negative, exponent, DIGITS_MAX, tail.is_some())
    } else {
        from_wide(small - large, !negative, exponent, DIGITS_MAX, false)
    }
}

fn from_wide(value: U256, negative: bool, exponent: i32, digits: u32, sticky: bool) -> Option<Number> {
    let (magnitude, dropped) = wide::round_half_even(value, digits, sticky);
    let coefficient = i128::try_from(magnitude).ok()?;
    let exponent = exponent.checked_add(i32::try_from(dropped).ok()?)?;
    let coefficient = if negative { -coefficient } else { coefficient };
    (exponent.unsigned_abs() <= EXPONENT_MAX.unsigned_abs()).then_some(Number { coefficient, exponent })
}

fn finish(coefficient: i128, exponent: i32) -> Option<Number> {
    round_to(coefficient, exponent, DIGITS_MAX)
}

fn round_to(coefficient: i128, exponent: i32, digits: u32) -> Option<Number> {
    if POWERS[digits as usize] <= coefficient.unsigned_abs() {
        let magnitude = wide::widen(coefficient.unsigned_abs());
        return from_wide(magnitude, coefficient < 0, exponent, digits, false);
    }
    (exponent.unsigned_abs() <= EXPONENT_MAX.unsigned_abs()).then_some(Number { coefficient, exponent })
}
