//! Functions of contexts.

use super::{Builtin, Fault, Outcome, everywhere, fixed, variadic};
use crate::dialect::Dialect;
use crate::eval::Machine;
use crate::value::{Context, List, VALUE_BYTES, Value};
use std::sync::Arc;

pub(super) static ALL: &[Builtin] = &[
    everywhere("get entries", &[fixed(&["context"], get_entries), fixed(&["m"], get_entries)]),
    everywhere(
        "get value",
        &[fixed(&["m", "key"], get_value), fixed(&["context", "key"], get_value), fixed(&["context", "keys"], get_value)],
    ),
    everywhere(
        "context put",
        &[fixed(&["context", "keys", "value"], context_put), fixed(&["context", "key", "value"], context_put_key)],
    ),
    everywhere("put", &[fixed(&["context", "key", "value"], context_put)]),
    everywhere("context merge", &[variadic(&["contexts"], context_merge)]),
    everywhere("put all", &[variadic(&["contexts"], context_merge)]),
    everywhere("context", &[fixed(&["entries"], context)]),
];

fn get_entries(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::Context(context)] = arguments else {
        return Err(Fault::Arguments);
    };
    let (key_name, value_name): (Arc<str>, Arc<str>) = (Arc::from("key"), Arc::from("value"));
    let mut entries = Vec::with_capacity(context.len());
    for (key, value) in context.entries() {
        let key = (Arc::clone(&key_name), Value::String(Arc::clone(key)));
        let entry = machine.bounded_context(vec![key, (Arc::clone(&value_name), value.clone())])?;
        entries.push(Value::Context(entry));
    }
    Ok(machine.bounded_list(entries)?)
}

/// The texts of a list of keys; nothing if one is not a text.
fn keys_of(machine: &mut Machine<'_>, list: &List) -> Result<Option<Vec<Arc<str>>>, Fault> {
    let mut keys = Vec::new();
    for item in list.items() {
        let Value::String(key) = item else {
            return Ok(None);
        };
        machine.charge(1)?;
        machine.read_text(key)?;
        keys.push(Arc::clone(key));
    }
    Ok(Some(keys))
}

fn get_value(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Context(context), Value::String(key)] => {
            machine.read_text(key)?;
            Ok(context.get(key).cloned().unwrap_or(Value::Null))
        }
        [Value::Context(context), Value::List(keys)] => {
            let Some(keys) = keys_of(machine, keys)?.filter(|keys| !keys.is_empty()) else {
                return Ok(Value::Null);
            };
            let mut value = Value::Context(context.clone());
            for key in keys {
                value = match &value {
                    Value::Context(context) => context.get(&key).cloned().unwrap_or(Value::Null),
                    _ => Value::Null,
                };
            }
            Ok(value)
        }
        _ => Err(Fault::Arguments),
    }
}

/// A copy of the context in which `key` has `value`.
fn with(machine: &mut Machine<'_>, context: &Context, key: &Arc<str>, value: Value) -> Result<Context, Fault> {
    machine.charge(context.len() as u64)?;
    machine.read_text(key)?;
    let mut entries = context.entries().to_vec();
    entries.push((Arc::clone(key), value));
    Ok(machine.bounded_context(entries)?)
}

/// By name, `key` is a single one.
fn context_put_key(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [_, Value::List(_), _] if machine.dialect == Dialect::Dmn => Err(Fault::Arguments),
        _ => context_put(machine, arguments),
    }
}

fn context_put(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Context(context), Value::String(key), value] => with(machine, context, key, value.clone()).map(Value::Context),
        [Value::Context(_), Value::List(keys), _] if keys.is_empty() => Ok(Value::Null),
        [Value::Context(context), Value::List(keys), value] => {
            let keys = keys_of(machine, keys)?.ok_or(Fault::Arguments)?;
            let along = &keys[..keys.len() - 1];
            if machine.dialect == Dialect::Dmn && !leads_through_contexts(context, along) {
                return Err(Fault::Reason(String::from("the keys lead through what is not a context")));
            }
            put_deep(machine, context, &keys, value).map(Value::Context)
        }
        _ => Err(Fault::Arguments),
    }
}

fn leads_through_contexts(context: &Context, keys: &[Arc<str>]) -> bool {
    let mut current = context.clone();
    for key in keys {
        match current.get(key).cloned() {
            Some(Value::Context(inner)) => current = inner,
            _ => return false,
        }
    }
    true
}

/// Puts a value at the end of a path, making contexts where there are none.
fn put_deep(machine: &mut Machine<'_>, context: &Context, keys: &[Arc<str>], value: &Value) -> Result<Context, Fault> {
    let mut parents = Vec::with_capacity(keys.len());
    let mut current = context.clone();
    for key in &keys[..keys.len() - 1] {
        let next = match current.get(key) {
            Some(Value::Context(inner)) => inner.clone(),
            _ => Context::empty(),
        };
        parents.push(std::mem::replace(&mut current, next));
    }
    let mut value = value.clone();
    for key in keys.iter().rev() {
        let changed = with(machine, &current, key, value)?;
        match parents.pop() {
            Some(parent) => {
                value = Value::Context(changed);
                current = parent;
            }
            None => return Ok(changed),
        }
    }
    Ok(current)
}

fn context_merge(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let contexts = match arguments {
        [Value::List(contexts)] => contexts.clone(),
        [single @ Value::Context(_)] if machine.dialect == Dialect::Dmn => List::from(vec![single.clone()]),
        _ => return Ok(Value::Null),
    };
    let mut entries = Vec::new();
    for item in contexts.items() {
        match item {
            Value::Context(context) => {
                machine.charge(1)?;
                machine.budget.make(2 * VALUE_BYTES * context.len() as u64)?;
                entries.extend_from_slice(context.entries());
            }
            _ => return Ok(Value::Null),
        }
    }
    Ok(Value::Context(machine.bounded_context(entries)?))
}

/// A context from entries with `key` and `value`.
fn context(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let list = match arguments {
        [Value::List(list)] => list.clone(),
        [single @ Value::Context(_)] if machine.dialect == Dialect::Dmn => List::from(vec![single.clone()]),
        _ => return Ok(Value::Null),
    };
    machine.charge(list.len() as u64)?;
    let mut entries: Vec<(Arc<str>, Value)> = Vec::with_capacity(list.len());
    for item in list.items() {
        let Value::Context(entry) = item else {
            return Ok(Value::Null);
        };
        match (entry.get("key"), entry.get("value")) {
            (Some(Value::String(key)), Some(value)) => entries.push((Arc::clone(key), value.clone())),
            _ => return Ok(Value::Null),
        }
    }
    let context = machine.bounded_context(entries)?;
    if machine.dialect == Dialect::Dmn && context.len() < list.len() {
        return Err(Fault::Reason(String::from("a key comes twice")));
    }
    Ok(Value::Context(context))
}
