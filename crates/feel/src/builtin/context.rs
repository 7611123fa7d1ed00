//! Functions of contexts.

use super::{Builtin, Fault, Outcome, everywhere, fixed, variadic};
use crate::dialect::Dialect;
use crate::eval::Machine;
use crate::value::{Context, List, Value};
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
    machine.charge(context.len() as u64)?;
    let (key_name, value_name): (Arc<str>, Arc<str>) = (Arc::from("key"), Arc::from("value"));
    let entry = |(key, value): &(Arc<str>, Value)| {
        Value::Context(Context::from(vec![
            (Arc::clone(&key_name), Value::String(Arc::clone(key))),
            (Arc::clone(&value_name), value.clone()),
        ]))
    };
    Ok(machine.bounded_list(context.entries().iter().map(entry).collect())?)
}

/// The texts of a list of keys; nothing if one is not a text.
fn keys_of(list: &List) -> Option<Vec<Arc<str>>> {
    let text = |item: &Value| match item {
        Value::String(text) => Some(Arc::clone(text)),
        _ => None,
    };
    list.items().iter().map(text).collect()
}

fn get_value(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Context(context), Value::String(key)] => Ok(context.get(key).cloned().unwrap_or(Value::Null)),
        [Value::Context(context), Value::List(keys)] => {
            let Some(keys) = keys_of(keys).filter(|keys| !keys.is_empty()) else {
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

fn bounded(context: Context) -> Outcome {
    context.extent().check()?;
    Ok(Value::Context(context))
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
        [Value::Context(context), Value::String(key), value] => {
            machine.charge(context.len() as u64)?;
            bounded(context.with(Arc::clone(key), value.clone()))
        }
        [Value::Context(_), Value::List(keys), _] if keys.is_empty() => Ok(Value::Null),
        [Value::Context(context), Value::List(keys), value] => {
            let keys = keys_of(keys).ok_or(Fault::Arguments)?;
            let along = &keys[..keys.len() - 1];
            if machine.dialect == Dialect::Dmn && !leads_through_contexts(context, along) {
                return Err(Fault::Reason(String::from("the keys lead through what is not a context")));
            }
            bounded(put_deep(machine, context, &keys, value)?)
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
        machine.charge(current.len() as u64)?;
        let changed = current.with(Arc::clone(key), value);
        changed.extent().check()?;
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
                machine.charge(context.len() as u64)?;
                entries.extend_from_slice(context.entries());
            }
            _ => return Ok(Value::Null),
        }
    }
    bounded(Context::from(entries))
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
            (Some(Value::String(key)), Some(value)) => {
                let repeated = machine.dialect == Dialect::Dmn && entries.iter().any(|(other, _)| other == key);
                if repeated {
                    return Err(Fault::Reason(format!("the key '{key}' comes twice")));
                }
                entries.push((Arc::clone(key), value.clone()));
            }
            _ => return Ok(Value::Null),
        }
    }
    bounded(Context::from(entries))
}
