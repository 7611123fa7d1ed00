//! Rows that are inserted several at a time. A statement opens its table and every index of it when it begins, and looks for a row's place
//! from the root; one of many rows opens them once, and goes on from where the row before went.

use std::sync::OnceLock;

use rusqlite::{CachedStatement, Connection, ToSql};

use crate::failure::Failure;

/// How many rows the statements have room for.
const WIDTHS: [usize; 3] = [1, 8, 64];

/// A statement that inserts a row, and those made of it that insert more.
pub(crate) struct Insert {
    one: &'static str,
    texts: [OnceLock<String>; WIDTHS.len()],
}

impl Insert {
    /// It ends with the values of its row, each of which is taken once and in order.
    pub(crate) const fn new(one: &'static str) -> Self {
        Self { one, texts: [const { OnceLock::new() }; WIDTHS.len()] }
    }

    pub(super) fn all<R>(
        &self,
        connection: &Connection,
        rows: &[R],
        values_of: impl Fn(&R, &mut Values<'_, '_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for some in rows.chunks(WIDTHS[WIDTHS.len() - 1]) {
            let (text, width) =
                self.texts.iter().zip(WIDTHS).find(|(_, width)| some.len() <= *width).expect("the chunk fits the widest");
            let mut statement = connection.prepare_cached(text.get_or_init(|| several(self.one, width)))?;
            let mut values = Values { statement: &mut statement, count: 0 };
            for row in some {
                values_of(row, &mut values)?;
            }
            if 1 < width {
                // The rows behind this number have no values and are not looked at.
                let limit = statement.parameter_count();
                statement.raw_bind_parameter(limit, some.len() as i64)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// The values of the rows of a statement, one after the other.
pub(super) struct Values<'a, 'c> {
    statement: &'a mut CachedStatement<'c>,
    count: usize,
}

impl Values<'_, '_> {
    pub(super) fn put(&mut self, values: &[&dyn ToSql]) -> Result<(), Failure> {
        for value in values {
            self.count += 1;
            self.statement.raw_bind_parameter(self.count, value)?;
        }
        Ok(())
    }
}

/// A statement's row as often as that, of which as many are inserted as its last value says. The values are counted on from row to row, so they
/// lose their numbers.
fn several(one: &str, width: usize) -> String {
    if width == 1 {
        return one.to_owned();
    }
    let (into, row) = one.rsplit_once("VALUES").expect("it inserts values");
    let unnumbered: String =
        row.trim().split_inclusive('?').map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect();
    format!("{into}SELECT * FROM (VALUES {}) LIMIT ?", vec![unnumbered; width].join(", "))
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;

    #[test]
    fn rows_are_inserted_as_they_would_be_one_by_one() {
        let insert = Insert::new("INSERT INTO t (a, b, c) VALUES (?1, 0, ?2)\n");
        assert_eq!(several(insert.one, 2), "INSERT INTO t (a, b, c) SELECT * FROM (VALUES (?, 0, ?), (?, 0, ?)) LIMIT ?");
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a INTEGER, b INTEGER, c TEXT)").unwrap();
        for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 130, 1] {
            let rows: Vec<_> = (0..count).map(|n| (n, n.to_string())).collect();
            insert.all(&connection, &rows, |(a, c), values| values.put(params![a, c])).unwrap();
            let mut select = connection.prepare("SELECT a, c FROM t WHERE b = 0 ORDER BY rowid").unwrap();
            let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert_eq!(found.collect::<Result<Vec<(i64, String)>, _>>().unwrap(), rows);
            connection.execute_batch("DELETE FROM t").unwrap();
        }
    }
}
