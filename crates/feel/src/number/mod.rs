//! Decimal numbers: a whole coefficient times a power of ten, exact to 34 significant digits.
//!
//! The exponent is kept as written, so `1.10` remembers its zero: `string(1.10)` is `"1.10"`. Equality and order
//! compare the value, never the spelling. Results of arithmetic are rounded half-even to 34 digits;
//! literals and JSON numbers keep 38, so whole numbers of 128 bits pass through unharmed.

mod arithmetic;
mod compare;
mod double;
mod parse;
mod print;
mod round;
mod wide;

pub use round::Rounding;

/// Significant digits of a computed result.
pub(crate) const DIGITS_MAX: u32 = 34;
/// Significant digits kept of a number as written.
pub(crate) const LITERAL_DIGITS_MAX: u32 = 38;
/// Largest magnitude of the exponent of a result; beyond it an operation has no value.
pub(crate) const EXPONENT_MAX: i32 = 999_999;

/// A decimal number. Packed to eight-byte alignment because it sits in every [`Value`](crate::Value).
#[derive(Clone, Copy)]
#[repr(Rust, packed(8))]
pub struct Number {
    coefficient: i128,
    exponent: i32,
}

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { coefficient: 0, exponent: 0 };
    /// One.
    pub const ONE: Number = Number { coefficient: 1, exponent: 0 };

    /// `coefficient` × 10^`exponent`, or nothing when out of range.
    pub fn new(coefficient: i128, exponent: i32) -> Option<Number> {
        let in_range = coefficient.unsigned_abs() < wide::POWERS[LITERAL_DIGITS_MAX as usize]
            && exponent.unsigned_abs() <= EXPONENT_MAX.unsigned_abs();
        in_range.then_some(Number { coefficient, exponent })
    }

    /// The digits as a whole number, sign included.
    pub fn coefficient(self) -> i128 {
        self.coefficient
    }

    /// The power of ten the coefficient is multiplied by.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// Whether the value is zero.
    pub fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// Whether the value is below zero.
    pub fn is_negative(self) -> bool {
        self.coefficient < 0
    }

    /// Whether the value is whole, however it is written: `2.00` is.
    pub fn is_integer(self) -> bool {
        let exponent = self.exponent;
        if 0 <= exponent || self.is_zero() {
            return true;
        }
        match wide::POWERS.get(exponent.unsigned_abs() as usize) {
            Some(power) => self.coefficient.unsigned_abs().is_multiple_of(*power),
            None => false,
        }
    }

    /// The value as a whole number, if it is one and fits.
    pub fn to_i64(self) -> Option<i64> {
        if !self.is_integer() {
            return None;
        }
        i64::try_from(self.truncate_to_i128()?).ok()
    }

    /// The whole part towards zero, if it fits.
    pub fn truncate_to_i128(self) -> Option<i128> {
        let power = wide::POWERS.get(self.exponent.unsigned_abs() as usize);
        if self.exponent < 0 {
            return Some(
                power.map_or(0, |power| self.coefficient / i128::try_from(*power).expect("powers of ten up to 10^38 fit")),
            );
        }
        match power {
            Some(power) => self.coefficient.checked_mul(i128::try_from(*power).ok()?),
            None if self.is_zero() => Some(0),
            None => None,
        }
    }

    /// The whole part towards zero, cut to the ends of the range of `i64`.
    pub fn truncate_saturating(self) -> i64 {
        let end = if self.is_negative() { i64::MIN } else { i64::MAX };
        self.truncate_to_i128().and_then(|whole| i64::try_from(whole).ok()).unwrap_or(end)
    }

    /// Whether it has as many digits as a result can have, so that finding them took long.
    pub(crate) fn is_wide(self) -> bool {
        wide::POWERS[DIGITS_MAX as usize - 1] <= self.coefficient.unsigned_abs()
    }

    /// Significant digits; zero has one.
    fn digits(self) -> u32 {
        wide::digits(self.coefficient.unsigned_abs())
    }

    /// The same value without trailing zeros.
    pub(crate) fn stripped(self) -> Number {
        self.strip_to(i32::MAX)
    }

    /// Drops trailing zeros while the exponent stays at or below `exponent`.
    fn strip_to(self, exponent: i32) -> Number {
        if self.is_zero() {
            return Number { coefficient: 0, exponent: if exponent == i32::MAX { 0 } else { exponent } };
        }
        let Number { mut coefficient, exponent: mut current } = self;
        while current < exponent && coefficient % 10 == 0 {
            coefficient /= 10;
            current += 1;
        }
        Number { coefficient, exponent: current }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number { coefficient: i128::from(value), exponent: 0 }
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Number {
        Number::from(i64::from(value))
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Number {
        Number::from(i64::from(value))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Number {
        Number { coefficient: value as i128, exponent: 0 }
    }
}
