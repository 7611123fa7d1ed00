//! Every row of every table, as it is stored, of a store that no server has open.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row as Found};
use store::Error;
use store::contents::{Cell, Row, TABLES, Table, Visitor};

use crate::failure::Failure;
use crate::folder::Folder;
use crate::restore::inspect;

/// Tables that this store has no need of.
const ELSEWHERE: [&str; 2] = ["inboxes", "schema_version"];

/// Tells a visitor of every row; one row is in memory at a time.
pub fn read_all(folder: &Path, visitor: &mut dyn Visitor) -> Result<(), Error> {
    let folder = Folder::lock(folder)?;
    let connection = inspect(&folder.database())?;
    for table in TABLES.iter().filter(|table| !ELSEWHERE.contains(&table.name)) {
        visitor.begin(table);
        if let Err(failure) = read(&connection, table, visitor) {
            let error = Error::from(failure);
            visitor.unreadable(table, &Error::corrupt(format_args!("{}: {error}", folder.database().display())));
        }
    }
    Ok(())
}

fn read(connection: &Connection, table: &'static Table, visitor: &mut dyn Visitor) -> Result<(), Failure> {
    let mut select = connection.prepare(&format!("SELECT * FROM \"{}\"", table.name))?;
    let columns: Vec<String> = select.column_names().map(str::to_owned).collect();
    let mut rows = select.query(())?;
    while let Some(row) = rows.next()? {
        let cells = (0..columns.len()).map(|column| cell(row, column)).collect::<Result<Vec<_>, _>>()?;
        visitor.row(&Row { table, columns: &columns, cells: &cells });
    }
    Ok(())
}

fn cell<'a>(row: &'a Found<'_>, column: usize) -> Result<Cell<'a>, rusqlite::Error> {
    Ok(match row.get_ref(column)? {
        // No column may hold a number with a fraction: who looks at the pages tells of one.
        ValueRef::Null | ValueRef::Real(_) => Cell::Null,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Text(text) => Cell::Text(text),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::FileExt as _;
    use std::sync::Arc;

    use engine::PartitionId;
    use store::conformance::data::data;
    use store::contents::Holds;
    use store::{Store, conformance};

    use super::*;
    use crate::schema::tests::Folder;
    use crate::{Options, schema};

    /// What a check would hear.
    #[derive(Default)]
    struct Heard {
        tables: BTreeMap<&'static str, usize>,
        faults: Vec<String>,
    }

    impl Visitor for Heard {
        fn begin(&mut self, table: &'static Table) {
            self.tables.insert(table.name, 0);
        }

        fn row(&mut self, row: &Row<'_>) {
            *self.tables.get_mut(row.table.name).unwrap() += 1;
            self.faults.extend(row.fault(|_| Ok(())));
        }

        fn unreadable(&mut self, table: &'static Table, why: &Error) {
            self.faults.push(format!("{}: {why}", table.name));
        }
    }

    fn heard(folder: &Path) -> Heard {
        let mut heard = Heard::default();
        read_all(folder, &mut heard).unwrap();
        heard
    }

    /// A new table, or a new column of bytes, is one that nobody would look at.
    #[test]
    fn every_table_and_every_column_of_bytes_is_read() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        let columns = "SELECT t.name, c.name, c.type FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
             WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
        let mut select = connection.prepare(columns).unwrap();
        let found = select.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let mut of: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (table, column, kind) in found.map(Result::<(String, String, String), _>::unwrap) {
            of.entry(table).or_default().insert(column, kind);
        }
        let folder = Folder::new("every-table");
        drop(crate::open(folder.path(), Options::default()).unwrap());
        let read = heard(folder.path());
        assert_eq!(read.faults, Vec::<String>::new());
        assert!(of.keys().eq(read.tables.keys()), "see TABLES in store/src/contents.rs");
        for (name, columns) in &of {
            let special: BTreeMap<_, _> = Table::named(name).unwrap().special().collect();
            for (column, kind) in columns {
                let holds = special.get(column.as_str());
                let is_bytes = matches!(holds, Some(Holds::Stored(_) | Holds::Bytes));
                assert_eq!(is_bytes, kind == "BLOB", "{name}.{column}: see TABLES in store/src/contents.rs");
            }
            assert!(special.keys().all(|column| columns.contains_key(*column)), "{name}");
        }
    }

    #[tokio::test]
    async fn damaged_rows_are_named() {
        let folder = Folder::new("damaged-rows");
        let store: Arc<dyn Store> = Arc::new(crate::open(folder.path(), Options::default()).unwrap());
        let (rows, _) = data(PartitionId(1), 40);
        conformance::fill(&store, PartitionId(1), rows).await;
        drop(store);
        let connection = Connection::open(folder.path().join("caudal.db")).unwrap();
        // What the suite writes there are no events.
        connection.execute("UPDATE log SET events = x''", ()).unwrap();
        let whole = heard(folder.path());
        assert_eq!(whole.faults, Vec::<String>::new());
        for table in ["instances", "variables", "jobs", "log", "timers", "user_tasks", "audit", "batch_operations"] {
            assert!(0 < whole.tables[table], "{table}: {:?}", whole.tables);
        }
        let damage = "UPDATE batch_operations SET asked = x'fa01' WHERE key = (SELECT min(key) FROM batch_operations);
            UPDATE log SET events = x'fa01' WHERE place = (SELECT min(place) FROM log);
            UPDATE variables SET name = CAST(x'ff' AS TEXT) WHERE key = (SELECT max(key) FROM variables)";
        connection.execute_batch(damage).unwrap();
        let keys = "SELECT (SELECT min(key) FROM batch_operations), (SELECT min(place) - (1 << 51) FROM log), (SELECT max(key) FROM variables)";
        let [batch, position, variable]: [i64; 3] =
            connection.query_row(keys, (), |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
        drop(connection);
        let read = heard(folder.path());
        let [first, second, third] = read.faults.as_slice() else { panic!("{:?}", read.faults) };
        assert!(first.starts_with(&format!("table batch_operations, key {batch}, column asked: ")), "{first}");
        assert!(second.starts_with(&format!("table log, position {position}, column events: ")), "{second}");
        assert!(third.starts_with(&format!("table variables, key {variable}, column name: the text is not UTF-8")), "{third}");
    }

    #[test]
    fn rows_whose_page_is_damaged_are_told_as_not_read() {
        let folder = Folder::new("unreadable-rows");
        drop(crate::open(folder.path(), Options::default()).unwrap());
        let file = folder.path().join("caudal.db");
        let connection = Connection::open(&file).unwrap();
        let pages = "SELECT rootpage FROM sqlite_schema WHERE name = 'timers'";
        let page: u64 = connection.query_row(pages, (), |row| row.get::<_, u32>(0)).unwrap().into();
        let size: u64 = connection.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0)).unwrap().into();
        drop(connection);
        std::fs::File::options().write(true).open(&file).unwrap().write_all_at(&[0x5a; 512], (page - 1) * size).unwrap();
        let read = heard(folder.path());
        let [fault] = read.faults.as_slice() else { panic!("{:?}", read.faults) };
        assert!(fault.starts_with("timers: ") && fault.contains("caudal.db") && fault.contains("damaged"), "{fault}");
        assert_eq!(read.tables.len(), TABLES.len() - ELSEWHERE.len(), "the tables after it are read");
    }
}
