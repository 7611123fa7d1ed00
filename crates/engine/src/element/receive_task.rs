//! A receive task waits for a message.

use model::Message;

use crate::ElementKey;
use crate::element::catch_event::message_on;
use crate::expression::Trouble;
use crate::step::Run;

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, message: &Message) -> Result<(), Trouble> {
    let on = message_on(run, (key, key), message)?;
    run.activated(key)?;
    run.open(key, None, on);
    Ok(())
}
