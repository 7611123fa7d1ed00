//! To and from binary floating point, for the functions only floating point offers.

use super::Number;

impl Number {
    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        let text = format!("{}e{}", self.coefficient(), self.exponent());
        text.parse().expect("digits and an exponent are a number")
    }

    /// The shortest decimal that names this double, written as Java writes it (`2.0`, `1.0E10`); infinities and
    /// not-a-number have no value.
    pub fn from_f64(value: f64) -> Option<Number> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let number = Number::parse(mantissa)?;
        let mut exponent: i32 = exponent.parse().ok()?;
        let mut coefficient = number.coefficient();
        exponent += number.exponent();
        // At least one digit after the point of what is printed: of the mantissa when it is printed with an exponent.
        let plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
        let needed = if plain { -1 } else { exponent.min(-1 + exponent - number.exponent()) };
        while needed < exponent {
            coefficient *= 10;
            exponent -= 1;
        }
        Number::new(coefficient, exponent)
    }
}
