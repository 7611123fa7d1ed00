//! Rounding to a number of decimal places.

use super::Number;
use super::wide::POWERS;
use std::cmp::Ordering;

/// Which neighbour a number between two is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// To the larger.
    Ceiling,
    /// To the smaller.
    Floor,
    /// To the nearer; halves away from zero.
    HalfUp,
    /// To the nearer; halves towards zero.
    HalfDown,
    /// To the nearer; halves to the even one.
    HalfEven,
}

impl Rounding {
    /// Reads `HALF_UP` and its like, in any case.
    pub fn named(name: &str) -> Option<Rounding> {
        let names = [
            ("UP", Rounding::Up),
            ("DOWN", Rounding::Down),
            ("CEILING", Rounding::Ceiling),
            ("FLOOR", Rounding::Floor),
            ("HALF_UP", Rounding::HalfUp),
            ("HALF_DOWN", Rounding::HalfDown),
            ("HALF_EVEN", Rounding::HalfEven),
        ];
        names.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, rounding)| rounding)
    }
}

impl Number {
    /// The number with `scale` digits after the point (before it, when negative).
    ///
    /// Zeros are appended only as far as the coefficient has room; the value is the same without them.
    pub fn round(self, scale: i32, rounding: Rounding) -> Number {
        let target = scale.saturating_neg();
        let gap = target.saturating_sub(self.exponent());
        if gap <= 0 {
            return self.extended(gap.unsigned_abs());
        }
        let magnitude = self.coefficient().unsigned_abs();
        let (quotient, up) = match POWERS.get(gap.unsigned_abs() as usize) {
            Some(power) => {
                let (quotient, remainder) = (magnitude / power, magnitude % power);
                let half = remainder.cmp(&(power / 2));
                (quotient, remainder != 0 && rounds_up(rounding, self.is_negative(), half, quotient % 2 == 1))
            }
            // Every digit is below the last place kept, and less than half of it.
            None => (0, magnitude != 0 && rounds_up(rounding, self.is_negative(), Ordering::Less, false)),
        };
        let rounded = i128::try_from(quotient + u128::from(up)).expect("38 digits and one fit 127 bits");
        let coefficient = if self.is_negative() { -rounded } else { rounded };
        Number { coefficient, exponent: target.clamp(-super::EXPONENT_MAX, super::EXPONENT_MAX) }
    }

    fn extended(self, zeros: u32) -> Number {
        let room = super::LITERAL_DIGITS_MAX - self.digits();
        let zeros = zeros.min(room);
        let power = i128::try_from(POWERS[zeros as usize]).expect("10^38 fits 127 bits");
        let exponent = self.exponent() - zeros as i32;
        Number { coefficient: self.coefficient() * power, exponent }
    }
}

fn rounds_up(rounding: Rounding, negative: bool, half: Ordering, odd: bool) -> bool {
    match rounding {
        Rounding::Up => true,
        Rounding::Down => false,
        Rounding::Ceiling => !negative,
        Rounding::Floor => negative,
        Rounding::HalfUp => half != Ordering::Less,
        Rounding::HalfDown => half == Ordering::Greater,
        Rounding::HalfEven => half == Ordering::Greater || (half == Ordering::Equal && odd),
    }
}
