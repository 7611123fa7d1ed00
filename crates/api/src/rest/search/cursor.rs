//! Cursors on the wire: base64 of a row's place in an order, together with which order that is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use store::query::{Cursor, Entity, Order, Scalar, Sort};

use super::table::{Table, Value};
use crate::error::Failure;
use crate::fingerprint::fnv1a;

const FORMAT: u8 = 1;
const ABSENT: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const TEXT: u8 = 4;

pub(super) fn encode(cursor: &Cursor, entity: Entity, sort: &[Sort]) -> String {
    let mut bytes = vec![FORMAT];
    bytes.extend_from_slice(&order_mark(entity, sort));
    for value in &cursor.0 {
        match value {
            None => bytes.push(ABSENT),
            Some(Scalar::Bool(false)) => bytes.push(FALSE),
            Some(Scalar::Bool(true)) => bytes.push(TRUE),
            Some(Scalar::Int(number)) => {
                bytes.push(INT);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Some(Scalar::Text(text)) => {
                bytes.push(TEXT);
                bytes.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            }
        }
    }
    STANDARD.encode(bytes)
}

/// Refuses what is no cursor, or one of another order.
pub(super) fn decode(text: &str, table: &Table, sort: &[Sort]) -> Result<Cursor, Failure> {
    let refused = |why: &str| Failure::invalid(format!("Cannot decode pagination cursor '{}': {why}", shortened(text)));
    let bytes = STANDARD.decode(text).map_err(|_| refused("it is not base64"))?;
    let (head, values) = bytes.split_at_checked(5).ok_or_else(|| refused("it is too short"))?;
    if head[0] != FORMAT {
        return Err(refused("it is of another version"));
    }
    if head[1..] != order_mark(table.entity, sort) {
        return Err(refused("it belongs to another search or another sort"));
    }
    let kinds = sort_kinds(table, sort);
    let cursor = read_values(values).ok_or_else(|| refused("it is damaged"))?;
    let fits = cursor.len() == kinds.len() && cursor.iter().zip(kinds).all(|(value, kind)| value_fits(value.as_ref(), kind));
    if fits { Ok(Cursor(cursor)) } else { Err(refused("it is damaged")) }
}

/// What each place of a cursor holds: the sort fields, then the entity's own key if it is not among them.
fn sort_kinds(table: &Table, sort: &[Sort]) -> Vec<Value> {
    let kind = |field| table.sorts.iter().find(|sortable| sortable.field == Some(field)).map_or(Value::Key, |found| found.value);
    let mut kinds: Vec<Value> = sort.iter().map(|criterion| kind(criterion.field)).collect();
    if sort.iter().all(|criterion| criterion.field != table.entity.key()) {
        kinds.push(Value::Key);
    }
    kinds
}

fn value_fits(value: Option<&Scalar>, kind: Value) -> bool {
    match value {
        None => true,
        Some(Scalar::Bool(_)) => kind == Value::Boolean,
        Some(Scalar::Int(_)) => matches!(kind, Value::Key | Value::Int32 | Value::Time),
        Some(Scalar::Text(_)) => matches!(kind, Value::Text | Value::Word(_)),
    }
}

fn read_values(mut bytes: &[u8]) -> Option<Vec<Option<Scalar>>> {
    let mut values = Vec::new();
    while let Some((tag, rest)) = bytes.split_first() {
        bytes = rest;
        values.push(match *tag {
            ABSENT => None,
            FALSE => Some(Scalar::Bool(false)),
            TRUE => Some(Scalar::Bool(true)),
            INT => {
                let (number, rest) = bytes.split_first_chunk::<8>()?;
                bytes = rest;
                Some(Scalar::Int(i64::from_le_bytes(*number)))
            }
            TEXT => {
                let (length, rest) = bytes.split_first_chunk::<4>()?;
                let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
                bytes = rest;
                Some(Scalar::Text(std::str::from_utf8(text).ok().filter(|text| !text.contains('\0'))?.to_owned()))
            }
            _ => return None,
        });
    }
    Some(values)
}

/// Four bytes that differ from order to order.
fn order_mark(entity: Entity, sort: &[Sort]) -> [u8; 4] {
    let criterion = |criterion: &Sort| {
        let sign = match criterion.order {
            Order::Ascending => '+',
            Order::Descending => '-',
        };
        format!("{sign}{:?}", criterion.field)
    };
    let words: Vec<String> = std::iter::once(format!("{entity:?}")).chain(sort.iter().map(criterion)).collect();
    let [a, b, c, d, ..] = fnv1a(words.concat().into_bytes()).to_le_bytes();
    [a, b, c, d]
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use store::query::Field;

    use super::*;
    use crate::rest::process_instances;

    const SORT: [Sort; 3] = [
        Sort { field: Field::BusinessId, order: Order::Descending },
        Sort { field: Field::Started, order: Order::Ascending },
        Sort { field: Field::HasIncident, order: Order::Ascending },
    ];

    fn table() -> &'static Table {
        &process_instances::TABLE
    }

    proptest! {
        #[test]
        fn cursors_come_back(id in prop::option::of("[^\u{0}]*"), started in any::<i64>(), incident in any::<bool>(), key in any::<i64>()) {
            let values = [id.map(Scalar::Text), Some(Scalar::Int(started)), Some(Scalar::Bool(incident)), Some(Scalar::Int(key))];
            let cursor = Cursor(values.into());
            let text = encode(&cursor, Entity::Instances, &SORT);
            prop_assert_eq!(decode(&text, table(), &SORT).unwrap(), cursor);
        }

        #[test]
        fn nothing_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut marked = vec![FORMAT];
            marked.extend_from_slice(&order_mark(Entity::Instances, &SORT));
            marked.extend_from_slice(&bytes);
            let _ = decode(&STANDARD.encode(marked), table(), &SORT);
            let _ = decode(&STANDARD.encode(bytes), table(), &SORT);
        }
    }

    #[test]
    fn a_foreign_or_garbled_cursor_is_refused() {
        let cursor = Cursor(vec![None, Some(Scalar::Int(1)), Some(Scalar::Bool(true)), Some(Scalar::Int(7))]);
        let text = encode(&cursor, Entity::Instances, &SORT);
        assert!(decode(&text, table(), &SORT).is_ok());
        assert!(decode(&text, table(), &SORT[..2]).is_err());
        assert!(decode(&encode(&cursor, Entity::Jobs, &SORT), table(), &SORT).is_err());
        let mistyped = Cursor(vec![Some(Scalar::Int(1)), None, None, Some(Scalar::Int(7))]);
        assert!(decode(&encode(&mistyped, Entity::Instances, &SORT), table(), &SORT).is_err());
        for garbled in ["", "nonsense", "AQ==", &text[..text.len() - 4]] {
            assert!(decode(garbled, table(), &SORT).is_err(), "{garbled}");
        }
    }
}
