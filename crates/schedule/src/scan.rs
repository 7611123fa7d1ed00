//! Reading a text from left to right.

/// What is left of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan<'a>(pub(crate) &'a str);

impl<'a> Scan<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Takes one character if it is the next, in either case.
    pub(crate) fn take(&mut self, wanted: char) -> bool {
        let next = self.0.chars().next().filter(|next| next.eq_ignore_ascii_case(&wanted));
        next.is_some_and(|next| {
            self.0 = &self.0[next.len_utf8()..];
            true
        })
    }

    /// As `take`, to stop at what is missing with `?`.
    pub(crate) fn skip(&mut self, wanted: char) -> Option<()> {
        self.take(wanted).then_some(())
    }

    /// Takes all digits that come next, maybe none.
    pub(crate) fn digits(&mut self) -> &'a str {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }

    /// Takes a number of exactly so many digits.
    pub(crate) fn number(&mut self, digits: usize) -> Option<i32> {
        let number = self.0.get(..digits)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.0 = &self.0[digits..];
        number.parse().ok()
    }

    /// Takes a fraction of a second if there is one, as milliseconds rounded up; `None` if it is badly written.
    pub(crate) fn fraction(&mut self) -> Option<i64> {
        if !self.take('.') && !self.take(',') {
            return Some(0);
        }
        let digits = self.digits();
        if digits.is_empty() || FRACTION_DIGITS_MAX < digits.len() {
            return None;
        }
        let nanos: i64 = format!("{digits:0<FRACTION_DIGITS_MAX$}").parse().ok()?;
        Some((nanos + 999_999) / 1_000_000)
    }
}

/// Down to nanoseconds.
const FRACTION_DIGITS_MAX: usize = 9;
