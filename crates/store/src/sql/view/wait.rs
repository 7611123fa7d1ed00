//! What is shown of timers, subscriptions and correlations.

use engine::{DefinitionKey, ElementKey, InstanceKey, TimerKey, WaitKey};

use super::row::Row;
use super::{Cells, Columns};
use crate::Error;
use crate::query::ScalarKind::{Int, Text};
use crate::query::{MessageCorrelationView, SubscriptionView, TimerView};
use crate::row::{SubscriptionKind, SubscriptionState, TimerState};
use crate::sql::column::Table::{Definition, DefinitionElement, Instance, Own};

pub(super) const TIMER: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Own, "@.tenant", Text),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (DefinitionElement, "@.id", Text),
    (Own, "@.element_instance", Int),
    (Own, "@.kind", Text),
    (Own, "@.text", Text),
    (Own, "@.number", Int),
    (Own, "@.due", Int),
    (Own, "@.state", Text),
    (Own, "@.created", Int),
    (Own, "@.ended", Int),
];

pub(super) fn timer(row: &mut Row<'_, impl Cells>) -> Result<TimerView, Error> {
    Ok(TimerView {
        key: TimerKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        element_id: row.text()?,
        element_instance: row.key_maybe()?.map(ElementKey),
        kind: crate::words::timer_kind_from_word(&row.text()?)?,
        text: row.text()?,
        number: row.number()? as u32,
        due: row.int()?,
        state: TimerState::from_word(&row.text()?)?,
        created: row.int()?,
        ended: row.int_maybe()?,
    })
}

pub(super) const SUBSCRIPTION: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.kind", Text),
    (Own, "@.definition", Int),
    (Own, "@.process_id", Text),
    (Own, "@.tenant", Text),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (DefinitionElement, "@.id", Text),
    (Own, "@.element_instance", Int),
    (Own, "@.state", Text),
    (Own, "@.name", Text),
    (Own, "@.correlation_key", Text),
    (Own, "@.created", Int),
    (Own, "@.updated", Int),
];

pub(super) fn subscription(row: &mut Row<'_, impl Cells>) -> Result<SubscriptionView, Error> {
    let mut view = SubscriptionView {
        key: WaitKey(row.key()?),
        kind: SubscriptionKind::from_word(&row.text()?)?,
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        element_id: row.text()?,
        element_instance: row.key_maybe()?.map(ElementKey),
        state: SubscriptionState::from_word(&row.text()?)?,
        name: row.text()?,
        correlation_key: row.text()?,
        created: row.int()?,
        updated: row.int()?,
    };
    view.state = view.state.shown(view.created, view.updated);
    Ok(view)
}

pub(super) const CORRELATION: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.message", Int),
    (Own, "@.subscription", Int),
    (Own, "@.definition", Int),
    (Own, "@.process_id", Text),
    (Own, "@.tenant", Text),
    (Own, "@.instance", Int),
    (Own, "@.root", Int),
    (DefinitionElement, "@.id", Text),
    (Own, "@.element_instance", Int),
    (Own, "@.name", Text),
    (Own, "@.correlation_key", Text),
    (Own, "@.at", Int),
];

pub(super) fn correlation(row: &mut Row<'_, impl Cells>) -> Result<MessageCorrelationView, Error> {
    Ok(MessageCorrelationView {
        key: row.key()?,
        message: row.key()?,
        subscription: WaitKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        element_id: row.text()?,
        element_instance: row.key_maybe()?.map(ElementKey),
        message_name: row.text()?,
        correlation_key: row.text()?,
        correlated: row.int()?,
    })
}
