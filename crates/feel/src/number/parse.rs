//! Reading decimal text.

use super::wide::POWERS;
use super::{EXPONENT_MAX, LITERAL_DIGITS_MAX, Number};

impl Number {
    /// Reads `-12.50`, `.5`, `1e-3`. Digits beyond the 38th are rounded half-even.
    pub fn parse(text: &str) -> Option<Number> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, written) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], rest[at + 1..].parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let mut digits = Digits::default();
        let mut point = false;
        let mut any = false;
        for byte in mantissa.bytes() {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    digits.push(byte - b'0', point);
                }
                b'.' if !point => point = true,
                _ => return None,
            }
        }
        if !any || mantissa.ends_with('.') {
            return None;
        }
        let (coefficient, exponent) = digits.finish()?;
        let exponent = exponent.checked_add(written)?;
        if EXPONENT_MAX < exponent.abs() {
            return None;
        }
        Number::new(if negative { -coefficient } else { coefficient }, exponent)
    }
}

/// Digits read so far, and what was dropped behind them.
#[derive(Default)]
struct Digits {
    coefficient: i128,
    exponent: i32,
    /// First dropped digit, and whether anything but zeros came after it.
    dropped: Option<(u8, bool)>,
}

impl Digits {
    fn push(&mut self, digit: u8, fraction: bool) {
        let full = POWERS[LITERAL_DIGITS_MAX as usize - 1] <= self.coefficient.unsigned_abs();
        match &mut self.dropped {
            None if !full => {
                self.coefficient = self.coefficient * 10 + i128::from(digit);
                self.exponent -= i32::from(fraction);
                return;
            }
            None => self.dropped = Some((digit, false)),
            Some((_, more)) => *more |= digit != 0,
        }
        self.exponent = self.exponent.saturating_add(i32::from(!fraction));
    }

    fn finish(self) -> Option<(i128, i32)> {
        let up = match self.dropped {
            None => false,
            Some((digit, more)) => 5 < digit || (digit == 5 && (more || self.coefficient % 2 == 1)),
        };
        let coefficient = self.coefficient + i128::from(up);
        if coefficient.unsigned_abs() == POWERS[LITERAL_DIGITS_MAX as usize] {
            return Some((coefficient / 10, self.exponent.checked_add(1)?));
        }
        Some((coefficient, self.exponent))
    }
}
