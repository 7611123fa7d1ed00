//! What every table holds, for who reads all of it as it is stored: `caudal check`.
//!
//! A table is a line of [`TABLES`], with the columns that mean more than a number or a text; tests of the stores compare it with their schemas.

use crate::row::{
    AuditEntity, Availability, BatchState, Candidates, ItemState, JobKind, JobState, Operation, SubscriptionKind,
    SubscriptionState, TimerState, UserTaskState,
};
use crate::{Error, format, words};

/// What is in one column of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    Null,
    Number(i64),
    /// It ought to be UTF-8.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
}

/// A table of a store.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// What tells its rows apart, as far as a store has these columns.
    key: &'static [&'static str],
    /// Any other column is a number or a text.
    columns: &'static [(&'static str, Holds)],
}

/// What a column holds. Where there is nothing, there is nothing to be wrong.
#[derive(Debug, Clone, Copy)]
pub enum Holds {
    /// One of the words of a kind.
    Word(fn(&str) -> Result<(), Error>),
    /// JSON text, which the caller knows how to read.
    Json,
    /// Bytes of a stored format.
    Stored(fn(&[u8]) -> Result<(), Error>),
    /// Bytes of any kind.
    Bytes,
}

/// Who is told of every row.
pub trait Visitor: Send {
    /// The rows of this table come next.
    fn begin(&mut self, table: &'static Table);

    fn row(&mut self, row: &Row<'_>);

    /// The rest of the table cannot be read.
    fn unreadable(&mut self, table: &'static Table, why: &Error);
}

/// One row, as it is stored.
#[derive(Debug)]
pub struct Row<'a> {
    pub table: &'static Table,
    pub columns: &'a [String],
    pub cells: &'a [Cell<'a>],
}

impl<'a> Row<'a> {
    pub fn cell(&self, column: &str) -> Cell<'a> {
        let place = self.columns.iter().position(|name| name == column);
        place.and_then(|place| self.cells.get(place)).copied().unwrap_or(Cell::Null)
    }

    pub fn number(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Number(number) => Some(number),
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) => None,
        }
    }

    /// What is wrong with it, and which row of which table it is.
    pub fn fault(&self, is_json: impl Fn(&str) -> Result<(), String>) -> Option<String> {
        let (column, why) = self.columns.iter().zip(self.cells).find_map(|(column, cell)| {
            let holds = self.table.columns.iter().find(|(name, _)| name == column).map(|(_, holds)| *holds);
            fault(holds, *cell, &is_json).map(|why| (column, why))
        })?;
        Some(format!("table {}, {}, column {column}: {why}", self.table.name, self.named()))
    }

    /// Its key, as it is told to people.
    pub fn named(&self) -> String {
        let columns = self.table.key.iter().filter(|column| self.columns.iter().any(|name| name == *column));
        let named = columns.map(|column| match self.cell(column) {
            Cell::Null => format!("{column} NULL"),
            Cell::Number(number) if *column == "place" => format!("position {}", number & POSITION),
            Cell::Number(number) => format!("{column} {number}"),
            Cell::Text(bytes) | Cell::Bytes(bytes) => format!("{column} '{}'", String::from_utf8_lossy(bytes)),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// Where the log of a file has its rows by partition and position in one number.
const POSITION: i64 = (1 << 51) - 1;

fn fault(holds: Option<Holds>, cell: Cell<'_>, is_json: impl Fn(&str) -> Result<(), String>) -> Option<String> {
    match (holds, cell) {
        (_, Cell::Null) => None,
        (None | Some(Holds::Word(_) | Holds::Json), Cell::Text(bytes)) => {
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => return Some(format!("the text is not UTF-8: {error}")),
            };
            match holds {
                Some(Holds::Word(read)) => read(text).err().map(|error| error.to_string()),
                Some(Holds::Json) => is_json(text).err().map(|error| format!("the text is not JSON: {error}")),
                Some(Holds::Stored(_) | Holds::Bytes) | None => None,
            }
        }
        (None, Cell::Number(_)) | (Some(Holds::Bytes), Cell::Bytes(_)) => None,
        (Some(Holds::Stored(decode)), Cell::Bytes(bytes)) => decode(bytes).err().map(|error| error.to_string()),
        (None, Cell::Bytes(_))
        | (Some(Holds::Word(_) | Holds::Json), Cell::Number(_) | Cell::Bytes(_))
        | (Some(Holds::Stored(_) | Holds::Bytes), Cell::Number(_) | Cell::Text(_)) => {
            Some("it holds something of another type than it should".to_owned())
        }
    }
}

impl Table {
    /// The columns that mean more than a number or a text.
    pub fn special(&self) -> impl Iterator<Item = (&'static str, Holds)> {
        self.columns.iter().copied()
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }
}

const fn table(name: &'static str, key: &'static [&'static str], columns: &'static [(&'static str, Holds)]) -> Table {
    Table { name, key, columns }
}

const KEY: &[&str] = &["key"];

/// Every table of every store, by name.
pub static TABLES: &[Table] = &[
    table("answers", &["partition", "position"], &[("answer", ANSWER)]),
    table("audit", KEY, &[("operation", OPERATION), ("entity", AUDIT_ENTITY)]),
    table("batch_items", KEY, &[("state", ITEM_STATE)]),
    table(
        "batch_operations",
        KEY,
        &[("state", BATCH_STATE), ("asked", Holds::Stored(|bytes| format::decode_asked(bytes).map(drop)))],
    ),
    table("compensations", KEY, &[]),
    table("decisions", KEY, &[]),
    table("definition_elements", &["definition", "element"], &[("headers", Holds::Json)]),
    table(
        "definitions",
        KEY,
        &[("checksum", Holds::Bytes), ("flows", Holds::Stored(|bytes| format::decode_flows(bytes).map(drop)))],
    ),
    table("dispatch_outbox", KEY, &[("payload", Holds::Json), ("progress", Holds::Json), ("trace", Holds::Json)]),
    table("document_links", &["tenant", "id"], &[]),
    table("document_parts", &["upload", "number"], &[("bytes", Holds::Bytes)]),
    table("documents", &["tenant", "id"], &[("properties", Holds::Json)]),
    table("elements", KEY, &[("state", INSTANCE_STATE), ("progress", PROGRESS)]),
    table(
        "evaluated_decisions",
        KEY,
        &[("output", Holds::Json), ("details", Holds::Stored(|bytes| format::decode_details(bytes).map(drop)))],
    ),
    table("export_places", &["partition", "name"], &[]),
    table("forms", KEY, &[("checksum", Holds::Bytes)]),
    table(
        "global_listeners",
        &["partition", "version"],
        &[("listeners", Holds::Stored(|bytes| format::decode_listeners(bytes).map(drop)))],
    ),
    table("idempotent", &["tenant", "key"], &[("answer", ANSWER)]),
    table("identity", &["id"], &[]),
    table("inbox", &["partition", "position"], &[("request", Holds::Stored(|bytes| format::decode_request(bytes).map(drop)))]),
    table("inboxes", &["partition"], &[]),
    table("incidents", KEY, &[("kind", INCIDENT_KIND)]),
    table("instance_tags", &["instance", "tag"], &[]),
    table("instances", KEY, &[("state", INSTANCE_STATE)]),
    table(
        "jobs",
        KEY,
        &[
            ("state", Holds::Word(|word| JobState::from_word(word).map(drop))),
            ("availability", Holds::Word(|word| Availability::from_stored(word, None).map(drop))),
            ("kind", Holds::Word(|word| JobKind::from_stored(Some(word)).map(drop))),
            ("headers", Holds::Json),
            ("group_key", Holds::Json),
            ("input", Holds::Json),
            ("result", Holds::Json),
            ("progress", Holds::Json),
        ],
    ),
    // What is in rows of variables alone may be gone from there, and is not missed.
    table(
        "log",
        &["partition", "position", "place"],
        &[("events", Holds::Stored(|bytes| format::decode_events(bytes, |_| Some("".into())).map(drop)))],
    ),
    table("message_correlations", KEY, &[]),
    table("message_locks", &["tenant", "process_id", "correlation_key"], &[]),
    table("messages", KEY, &[("variables", DOCUMENT)]),
    table(
        "paces",
        &["job_type", "tenant", "bucket"],
        &[("starts", Holds::Stored(|bytes| format::decode_starts(bytes).map(drop)))],
    ),
    table("partitions", &["partition"], &[]),
    table("policies", &["reference", "version"], &[("policy", Holds::Stored(|bytes| format::decode_policy(bytes).map(drop)))]),
    table("queue_stats", &["job_type", "tenant"], &[("stats", Holds::Stored(|bytes| format::decode_stats(bytes).map(drop)))]),
    table("requirements", KEY, &[("checksum", Holds::Bytes)]),
    table("resources", KEY, &[("content", Holds::Bytes)]),
    table("schedules", KEY, &[("schedule", Holds::Stored(|bytes| format::decode_schedule(bytes).map(drop)))]),
    table("schema_version", &["version"], &[]),
    table("signals", KEY, &[("variables", DOCUMENT)]),
    table(
        "subscriptions",
        KEY,
        &[
            ("kind", Holds::Word(|word| SubscriptionKind::from_word(word).map(drop))),
            ("state", Holds::Word(|word| SubscriptionState::from_word(word).map(drop))),
        ],
    ),
    table(
        "timers",
        KEY,
        &[
            ("kind", Holds::Word(|word| words::timer_kind_from_word(word).map(drop))),
            ("state", Holds::Word(|word| TimerState::from_word(word).map(drop))),
        ],
    ),
    table("tokens", &["instance", "scope", "gateway", "flow"], &[]),
    table("turns", KEY, &[("step", Holds::Stored(|bytes| format::decode_turn(bytes).map(drop)))]),
    table("user_task_candidates", &["task", "kind", "name"], &[("kind", CANDIDATES)]),
    table(
        "user_tasks",
        KEY,
        &[
            ("state", Holds::Word(|word| UserTaskState::from_word(word).map(drop))),
            ("transition", Holds::Stored(|bytes| format::decode_transition(bytes).map(drop))),
        ],
    ),
    table("variables", KEY, &[("value", Holds::Json)]),
];

const ANSWER: Holds = Holds::Stored(|bytes| format::decode_answer(bytes).map(drop));
const DOCUMENT: Holds = Holds::Stored(|bytes| format::decode_document(bytes).map(drop));
const OPERATION: Holds = Holds::Word(|word| Operation::from_word(word).map(drop));
const AUDIT_ENTITY: Holds = Holds::Word(|word| AuditEntity::from_word(word).map(drop));
const ITEM_STATE: Holds = Holds::Word(|word| ItemState::from_word(word).map(drop));
const BATCH_STATE: Holds = Holds::Word(|word| BatchState::from_word(word).map(drop));
const INSTANCE_STATE: Holds = Holds::Word(|word| crate::row::InstanceState::from_word(word).map(drop));
const INCIDENT_KIND: Holds = Holds::Word(|word| words::incident_kind_from_word(word).map(drop));
const PROGRESS: Holds = Holds::Word(|text| words::progress_from_text(text).map(drop));
const CANDIDATES: Holds = Holds::Word(|word| {
    let known = [Candidates::Groups, Candidates::Users];
    known
        .iter()
        .any(|kind| kind.word() == word)
        .then_some(())
        .ok_or_else(|| Error::corrupt(format_args!("`{word}` is no kind of candidates")))
});

#[cfg(test)]
mod tests {
    use super::*;

    fn told(table: &'static str, columns: &[&str], cells: &[Cell<'_>]) -> String {
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let row = Row { table: Table::named(table).unwrap(), columns: &columns, cells };
        row.fault(|text| if text == "{}" { Ok(()) } else { Err("odd".to_owned()) }).unwrap_or_default()
    }

    #[test]
    fn a_fault_names_table_key_and_column() {
        let log = ["place", "kind", "instance", "events"];
        let of = |events| [Cell::Number((1 << 51) + 7), Cell::Text(b"start"), Cell::Null, Cell::Bytes(events)];
        let whole = format::encode_events(&[]);
        assert_eq!(told("log", &log, &of(&whole)), "");
        let damaged = told("log", &log, &of(&[250, 1, 2]));
        assert!(damaged.starts_with("table log, position 7, column events: "), "{damaged}");
        let odd = told("jobs", &["key", "state"], &[Cell::Number(5), Cell::Text(b"GONE")]);
        assert!(odd.starts_with("table jobs, key 5, column state: ") && odd.contains("GONE"), "{odd}");
        let json = told("variables", &["key", "value"], &[Cell::Number(5), Cell::Text(b"{")]);
        assert_eq!(json, "table variables, key 5, column value: the text is not JSON: odd");
        let text = told("message_locks", &["tenant", "process_id"], &[Cell::Text(b"a"), Cell::Text(b"\xff")]);
        assert!(
            text.starts_with("table message_locks, tenant 'a', process_id '\u{FFFD}', column process_id: the text is not UTF-8"),
            "{text}"
        );
        let other = told("turns", &["key", "step"], &[Cell::Number(5), Cell::Text(b"x")]);
        assert!(other.ends_with("another type than it should"), "{other}");
    }

    #[test]
    fn tables_are_in_order_each_once() {
        assert!(TABLES.is_sorted_by(|one, next| one.name < next.name));
    }
}
