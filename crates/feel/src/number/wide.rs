//! Powers of ten, digit counts, and the 256-bit steps for results that outgrow 128 bits.

use fastnum::U256;

/// 10^0 to 10^38: every power of ten below 2^127.
pub(super) const POWERS: [u128; 39] = {
    let mut powers = [1_u128; 39];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Decimal digits of `value`; zero has one.
pub(super) fn digits(value: u128) -> u32 {
    value.checked_ilog10().map_or(1, |log| log + 1)
}

/// 10^`exponent`, for exponents up to 76.
pub(super) fn power(exponent: u32) -> U256 {
    let low = exponent.min(38);
    let high = exponent - low;
    widen(POWERS[low as usize]) * widen(POWERS[high.min(38) as usize])
}

/// Decimal digits of a 256-bit value; zero has one.
pub(super) fn wide_digits(value: U256) -> u32 {
    let mut count = 1;
    let mut step = 64;
    // A binary search over powers of ten: 76 is the largest that fits.
    while 0 < step {
        if count + step <= 77 && power(count + step - 1) <= value {
            count += step;
        }
        step /= 2;
    }
    count
}

/// A 128-bit value as a 256-bit one.
pub(super) fn widen(value: u128) -> U256 {
    U256::try_from(value).expect("128 bits fit in 256")
}

/// A 256-bit value as a 128-bit one, if it fits.
pub(super) fn narrow(value: U256) -> Option<u128> {
    u128::try_from(value).ok()
}

/// Cuts `value` to at most `keep` digits, half-even; the second result is how many digits were dropped.
///
/// `sticky` says that a non-zero remainder below `value` was already dropped.
pub(super) fn round_half_even(value: U256, keep: u32, sticky: bool) -> (u128, u32) {
    let surplus = wide_digits(value).saturating_sub(keep);
    if surplus == 0 {
        return (narrow(value).expect("at most 38 digits fit 128 bits"), 0);
    }
    let unit = power(surplus);
    let (quotient, remainder) = (value / unit, value % unit);
    let half = unit / widen(2);
    let quotient = narrow(quotient).expect("at most 38 digits fit 128 bits");
    let up = match remainder.cmp(&half) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => sticky || quotient % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    let rounded = quotient + u128::from(up);
    if rounded == POWERS[keep as usize] { (rounded / 10, surplus + 1) } else { (rounded, surplus) }
}
