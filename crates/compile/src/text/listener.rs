//! Listeners: `listen EVENT TYPE`, and `listen-retries` below it.

use model::{Listener, ListenerEvent, Retries};

use super::element::{number_of_retries, value};
use super::event::write_value;
use super::{print, words};
use crate::diagnostic::quoted;
use crate::draft::DraftElement;

pub(super) fn option(draft: &mut DraftElement, word: &str, rest: &str) -> Result<(), String> {
    if word == "listen-retries" {
        let last = draft.listeners.last_mut().ok_or("write 'listen EVENT TYPE' above its retries")?;
        last.retries = number_of_retries(rest)?;
        return Ok(());
    }
    let (event, rest) = words::first(rest).ok_or("write 'listen EVENT TYPE'")?;
    let event = ListenerEvent::named(&event).ok_or_else(|| format!("nobody listens to {}", quoted(&event)))?;
    let job_type = value("the job type", rest)?.ok_or("write 'listen EVENT TYPE' or 'listen EVENT = FEEL'")?;
    draft.listeners.push(Listener { event, job_type, retries: Retries::Fixed(3) });
    Ok(())
}

/// The lines that `option` reads.
pub(super) fn lines(listener: &Listener) -> impl Iterator<Item = String> {
    let listen = format!("listen {} {}", listener.event.word(), write_value(&listener.job_type));
    let retries = print::retries_option(&listener.retries).map(|retries| format!("listen-retries {retries}"));
    std::iter::once(listen).chain(retries)
}
