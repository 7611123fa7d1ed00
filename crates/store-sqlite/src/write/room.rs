//! Giving room back that removed rows have left.
//!
//! Free pages are used again before the file grows, so under an even load it stops growing by itself. Only where much more has gone than
//! comes are pages moved from the end of the file to where they are free, a few at a time (`incremental_vacuum`), and the file is cut.
//! That takes a file that was made for it, which all are since schema version 9; others only use their pages again.

use rusqlite::Connection;

use crate::failure::Failure;

/// `PRAGMA auto_vacuum`.
const INCREMENTAL: i64 = 2;
/// Fewer free pages than this, or a smaller share of the file, are left for rows to come.
const FREE_MIN: i64 = 4_096;
const FREE_SHARE: i64 = 4;
/// Pages moved at a time: about two milliseconds.
const PAGES: i64 = 256;

/// Whether there is more to give.
pub(crate) fn give_back(connection: &Connection) -> Result<bool, Failure> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let free = number("freelist_count")?;
    if number("auto_vacuum")? != INCREMENTAL || free < FREE_MIN || free * FREE_SHARE < number("page_count")? {
        return Ok(false);
    }
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut moved = vacuum.raw_query();
    while moved.next()?.is_some() {}
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::Folder;
    use crate::writer;

    fn pages(connection: &Connection) -> (i64, i64) {
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).unwrap();
        (number("page_count"), number("freelist_count"))
    }

    fn fill(connection: &Connection) {
        let rows = "INSERT INTO log (place, kind, at, events)
            WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000)
            SELECT coalesce((SELECT max(place) FROM log), 0) + n, 'create', 1, zeroblob(1500) FROM n";
        connection.execute_batch(rows).unwrap();
    }

    /// A file of this server gives back most of what went; it does so without being read or written anew.
    #[test]
    fn room_is_given_back_in_small_steps() {
        let folder = Folder::new("room");
        std::fs::create_dir_all(folder.path()).unwrap();
        let mut connection = writer::connect(&folder.path().join("caudal.db")).unwrap();
        crate::schema::migrate(&mut connection).unwrap();
        fill(&connection);
        let full = pages(&connection).0;
        assert!(!give_back(&connection).unwrap(), "nothing is free");
        connection.execute_batch("DELETE FROM log WHERE place > 100").unwrap();
        let mut before = pages(&connection);
        let mut steps = 0;
        while give_back(&connection).unwrap() {
            let after = pages(&connection);
            assert!(before.0 - PAGES - 2 <= after.0 && after.0 < before.0, "{before:?} {after:?}");
            before = after;
            steps += 1;
        }
        assert!(3 < steps && pages(&connection).0 < full, "{steps} steps, {full} pages before, {:?} after", pages(&connection));
        assert!(pages(&connection).1 < FREE_MIN.max(pages(&connection).0 / FREE_SHARE));
        let sound: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    /// One that was made before cannot be cut, but does not grow either: what is free is used again.
    #[test]
    fn an_earlier_file_uses_its_pages_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::schema::migrate(&mut connection).unwrap();
        fill(&connection);
        let full = pages(&connection).0;
        for _ in 0..3 {
            connection.execute_batch("DELETE FROM log").unwrap();
            assert!(FREE_MIN < pages(&connection).1);
            assert!(!give_back(&connection).unwrap());
            fill(&connection);
            assert!(pages(&connection).0 <= full + full / 100, "{:?} of {full}", pages(&connection));
        }
    }
}
