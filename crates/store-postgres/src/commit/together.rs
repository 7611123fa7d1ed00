//! What most ticks write, in one statement: the fence, and rows of the log, of instances, element instances, variables and jobs (ADR 99).
//!
//! Its parts are the statements that would write these rows alone, as common table expressions around the fence's. There is one text, so that
//! it is prepared once, whatever a tick writes: what has no rows gets empty arrays. PostgreSQL executes parts that nobody reads from after the
//! query itself, so the fence comes first and what stumbles over it has written nothing.

use std::sync::OnceLock;

use store::Commit;

use super::batches::{Texts, usual};
use crate::call::Call;

pub(super) fn together<'a>(fence: Call<'a>, commit: &'a Commit, texts: &'a Texts) -> Call<'a> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let parts = usual(commit, texts);
    let text = TEXT.get_or_init(|| text(&fence, &parts));
    parts.into_iter().fold(fence, |call, (_, part)| call.and(part)).with_text(text)
}

fn text(fence: &Call<'_>, parts: &[(&str, Call<'_>)]) -> String {
    let (held, fenced) = fence.sql.rsplit_once("\nSELECT ").expect("the fence ends with its query");
    let mut text = held.to_owned();
    // All have the partition in common, which is their first.
    let mut before = fence.types().len() - 1;
    for (name, part) in parts {
        text += &format!(",\n{name} AS (\n{}\n)", renumbered(part.sql, before));
        before += part.types().len() - 1;
    }
    text + "\nSELECT " + fenced
}

/// The statement with every parameter but the first so much further on.
fn renumbered(sql: &str, by: usize) -> String {
    let mut pieces = sql.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let number = match number.parse() {
            Ok(1) | Err(_) => number.to_owned(),
            Ok(number) => (number + by).to_string(),
        };
        text += &format!("${number}{rest}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_own_parameters() {
        let fence = Call::new("WITH held AS (UPDATE p SET a = $2 WHERE b = $1)\nSELECT 1 FROM held").int(7).int(8);
        let one = Call::new("INSERT INTO t SELECT $1, $2, $3, $2").int(7).int(1).int(2);
        let other = Call::new("UPDATE t SET x = $2 WHERE y = $1 AND z = '$'").int(7).int(3);
        let expected = "WITH held AS (UPDATE p SET a = $2 WHERE b = $1),\none AS (\nINSERT INTO t SELECT $1, $3, $4, $3\n),\n\
                        other AS (\nUPDATE t SET x = $5 WHERE y = $1 AND z = '$'\n)\nSELECT 1 FROM held";
        assert_eq!(text(&fence, &[("one", one), ("other", other)]), expected);
    }
}
