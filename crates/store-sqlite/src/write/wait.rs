//! Timers, subscriptions, messages, signals and compensations. Nothing is prepared for kinds of rows that do not change.

use engine::PartitionId;
use rusqlite::{Connection, Statement, params};
use store::row::{Correlation, Message, Signal, Subscription, Timer};
use store::{Changes, format, words};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    let of = partition.0;
    each(connection, statement::INSERT_TIMER, &changes.timers_new, |insert, row| insert_timer(insert, of, row))?;
    each(connection, statement::CHANGE_TIMER, &changes.timers_changed, |update, row| {
        update.execute(params![of, row.key.0 as i64, row.state.word(), row.due, row.ended])
    })?;
    each(connection, statement::INSERT_SUBSCRIPTION, &changes.subscriptions_new, |insert, row| {
        insert_subscription(insert, of, row)
    })?;
    each(connection, statement::CHANGE_SUBSCRIPTION, &changes.subscriptions_changed, |update, row| {
        update.execute(params![of, row.key.0 as i64, row.state.word(), row.updated])
    })?;
    each(connection, statement::INSERT_MESSAGE, &changes.messages_new, |insert, row| insert_message(insert, of, row))?;
    each(connection, statement::TAKE_MESSAGE, &changes.messages_taken, |update, row| {
        update.execute(params![of, row.message as i64, words::tags_text(std::slice::from_ref(&row.process_id))])
    })?;
    each(connection, statement::DELETE_MESSAGE, &changes.messages_gone, |delete, key| delete.execute(params![of, *key as i64]))?;
    each(connection, statement::INSERT_CORRELATION, &changes.correlations_new, |insert, row| {
        insert_correlation(insert, of, row)
    })?;
    each(connection, statement::DELETE_LOCK, &changes.locks_gone, |delete, (tenant, process_id, correlation_key)| {
        delete.execute(params![of, tenant, process_id, correlation_key])
    })?;
    each(connection, statement::INSERT_LOCK, &changes.locks_new, |insert, row| {
        insert.execute(params![of, row.tenant, row.process_id, row.correlation_key, row.instance.0 as i64])
    })?;
    each(connection, statement::PUT_SIGNAL, &changes.signals_put, |put, row| put_signal(put, of, row))?;
    each(connection, statement::DELETE_SIGNAL, &changes.signals_done, |delete, key| delete.execute(params![of, *key as i64]))?;
    each(connection, statement::PUT_COMPENSATION, &changes.compensations_put, |put, row| {
        let (instance, scope) = (row.instance.0 as i64, row.scope.0 as i64);
        put.execute(params![of, row.key.0 as i64, instance, scope, row.activity.0])
    })?;
    each(connection, statement::DELETE_COMPENSATION, &changes.compensations_gone, |delete, key| {
        delete.execute(params![of, key.0 as i64])
    })
}

fn each<T>(
    connection: &Connection,
    sql: &str,
    rows: &[T],
    write: impl Fn(&mut Statement<'_>, &T) -> rusqlite::Result<usize>,
) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(sql)?;
    for row in rows {
        write(&mut statement, row)?;
    }
    Ok(())
}

fn insert_timer(insert: &mut Statement<'_>, partition: u16, row: &Timer) -> rusqlite::Result<usize> {
    insert.execute(params![
        partition,
        row.key.0 as i64,
        row.wait.0 as i64,
        row.origin.map(|origin| origin.instance.0 as i64),
        row.origin.map(|origin| origin.element_instance.0 as i64),
        row.definition.0 as i64,
        row.tenant,
        row.element.0,
        store::words::timer_kind_word(row.kind),
        row.text,
        row.armed,
        row.number,
        row.due,
        row.state.word(),
        row.created,
        row.ended,
    ])
}

fn insert_subscription(insert: &mut Statement<'_>, partition: u16, row: &Subscription) -> rusqlite::Result<usize> {
    insert.execute(params![
        partition,
        row.key.0 as i64,
        row.kind.word(),
        row.name,
        row.correlation_key,
        row.child.map(|key| key.0 as i64),
        row.tenant,
        row.definition.0 as i64,
        row.process_id,
        row.element.0,
        row.catches,
        row.origin.map(|origin| origin.instance.0 as i64),
        row.origin.map(|origin| origin.element_instance.0 as i64),
        row.state.word(),
        row.created,
        row.updated,
    ])
}

fn insert_message(insert: &mut Statement<'_>, partition: u16, row: &Message) -> rusqlite::Result<usize> {
    insert.execute(params![
        partition,
        row.key as i64,
        row.tenant,
        row.name,
        row.correlation_key,
        row.message_id,
        format::encode_document(&row.variables),
        row.published,
        row.expires,
        words::tags_text(&row.taken_by),
    ])
}

fn insert_correlation(insert: &mut Statement<'_>, partition: u16, row: &Correlation) -> rusqlite::Result<usize> {
    insert.execute(params![
        partition,
        row.key as i64,
        row.message as i64,
        row.subscription.0 as i64,
        row.tenant,
        row.name,
        row.correlation_key,
        row.definition.0 as i64,
        row.process_id,
        row.instance.0 as i64,
        row.root.0 as i64,
        row.element.0,
        row.element_instance.map(|key| key.0 as i64),
        row.at,
    ])
}

fn put_signal(put: &mut Statement<'_>, partition: u16, row: &Signal) -> rusqlite::Result<usize> {
    let variables = format::encode_document(&row.variables);
    put.execute(params![partition, row.key as i64, row.tenant, row.name, variables, row.after as i64, row.due])
}
