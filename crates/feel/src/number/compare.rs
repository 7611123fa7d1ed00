//! Order and equality by value; hashing agrees with equality.

use super::Number;
use super::wide::{self, POWERS};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        if self.exponent() == other.exponent() {
            return self.coefficient().cmp(&other.coefficient());
        }
        let sign = self.coefficient().signum().cmp(&other.coefficient().signum());
        if sign != Ordering::Equal || self.is_zero() {
            return sign;
        }
        let magnitude = compare_magnitude(*self, *other);
        if self.is_negative() { magnitude.reverse() } else { magnitude }
    }
}

fn compare_magnitude(left: Number, right: Number) -> Ordering {
    let lead = |number: Number| i64::from(number.exponent()) + i64::from(number.digits());
    match lead(left).cmp(&lead(right)) {
        Ordering::Equal => {}
        unequal => return unequal,
    }
    // Equal leading digits, so the gap between the exponents is below 39 and the shifted side fits 256 bits.
    let gap = (left.exponent() - right.exponent()).unsigned_abs() as usize;
    let (a, b) = (left.coefficient().unsigned_abs(), right.coefficient().unsigned_abs());
    let power = wide::widen(POWERS[gap]);
    if left.exponent() < right.exponent() {
        wide::widen(a).cmp(&(wide::widen(b) * power))
    } else {
        (wide::widen(a) * power).cmp(&wide::widen(b))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let stripped = self.stripped();
        stripped.coefficient().hash(state);
        stripped.exponent().hash(state);
    }
}
