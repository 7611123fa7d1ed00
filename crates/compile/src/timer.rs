//! Timers as they are written: plain text is checked at once, expressions when they are evaluated.

use model::{Text, TimerKind};

use crate::diagnostic::quoted;
use crate::expression;

pub(crate) fn text(kind: TimerKind, text: &str) -> Result<Text, String> {
    if text.is_empty() {
        return Err("the timer is empty".to_owned());
    }
    let text = expression::text("the timer", text)?;
    if let Text::Fixed(text) = &text {
        check(kind, text)?;
    }
    Ok(text)
}

pub(crate) fn check(kind: TimerKind, text: &str) -> Result<(), String> {
    schedule::Timer::parse(kind, text).map(drop).map_err(|error| format!("the timer {} cannot be used: {error}", quoted(text)))
}
