//! Start events, throw events without a trigger, link events, boundary events that caught something, undefined and manual tasks: straight through.

use crate::step::Run;
use crate::{ElementKey, Event};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey) {
    run.emit(Event::Activated { key });
    run.finish_later(key);
}
