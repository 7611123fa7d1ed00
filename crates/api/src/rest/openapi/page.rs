//! The book's page of REST names every operation. `UPDATE_DOCS=1 cargo test -p api page` writes its table again.

use std::fmt::Write as _;

use crate::rest::operation;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rest.md");
const BEGIN: &str = "<!-- operations, made from the program -->\n";

#[test]
fn the_page_names_every_operation() {
    let mut table = String::from("| call | what it does |\n|---|---|\n");
    let mut operations: Vec<_> = operation::all().collect();
    operations.sort_by_key(|operation| (operation.path, operation.method.as_str()));
    for operation in operations {
        writeln!(table, "| `{} {}` | {} |", operation.method, operation.path, operation.summary).unwrap();
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (head, found) = page.split_once(BEGIN).expect("the page says where its table begins");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, format!("{head}{BEGIN}{table}")).unwrap();
    } else {
        assert!(found == table, "docs/rest.md is to have this table; `UPDATE_DOCS=1 cargo test -p api page` writes it:\n{table}");
    }
}
