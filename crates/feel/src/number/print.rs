//! Writing numbers: as FEEL's `string()` shows them, plainly, and as JSON.

use super::Number;
use std::fmt::{self, Display, Formatter, Write};

/// Most zeros written out after the digits of a whole number in JSON before an exponent is used.
const JSON_ZEROS_MAX: i32 = 40;

impl Display for Number {
    /// As written or computed, trailing zeros included; an exponent for very small and for scaled-up numbers.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let digits = self.coefficient().unsigned_abs().to_string();
        let adjusted = i64::from(self.exponent()) + digits.len() as i64 - 1;
        if self.is_negative() {
            out.write_char('-')?;
        }
        if self.exponent() <= 0 && -6 <= adjusted {
            return write_plain(out, &digits, self.exponent());
        }
        out.write_str(&digits[..1])?;
        if 1 < digits.len() {
            write!(out, ".{}", &digits[1..])?;
        }
        write!(out, "E{adjusted:+}")
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, out)
    }
}

impl Number {
    /// Writes the number as JSON: whole numbers without a fraction, no trailing zeros, no digit lost.
    pub(crate) fn write_json(self, out: &mut impl Write) -> fmt::Result {
        let number = self.stripped();
        if number.is_negative() {
            out.write_char('-')?;
        }
        let digits = number.coefficient().unsigned_abs().to_string();
        let adjusted = number.exponent() + digits.len() as i32 - 1;
        if (0..=JSON_ZEROS_MAX).contains(&number.exponent()) {
            out.write_str(&digits)?;
            (0..number.exponent()).try_for_each(|_| out.write_char('0'))
        } else if number.exponent() < 0 && -7 <= adjusted {
            write_plain(out, &digits, number.exponent())
        } else {
            write_scientific(out, &digits, adjusted)
        }
    }

    /// The number without an exponent and without trailing zeros, as a decision's `string()` shows it; with an
    /// exponent only where that would need more than a line of zeros.
    pub fn to_plain(self) -> String {
        let mut text = String::new();
        self.write_json(&mut text).expect("writing to a string cannot fail");
        text
    }
}

fn write_plain(out: &mut impl Write, digits: &str, exponent: i32) -> fmt::Result {
    let fraction = exponent.unsigned_abs() as usize;
    if fraction == 0 {
        return out.write_str(digits);
    }
    match digits.len().checked_sub(fraction) {
        Some(whole) if 0 < whole => write!(out, "{}.{}", &digits[..whole], &digits[whole..]),
        _ => write!(out, "0.{digits:0>fraction$}"),
    }
}

fn write_scientific(out: &mut impl Write, digits: &str, adjusted: i32) -> fmt::Result {
    out.write_str(&digits[..1])?;
    if 1 < digits.len() {
        write!(out, ".{}", &digits[1..])?;
    }
    write!(out, "E{adjusted}")
}
