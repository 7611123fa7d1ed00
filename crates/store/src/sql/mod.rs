//! Searches as SQL, for SQLite and PostgreSQL: one text with its parameters for a page, one for the total.
//!
//! Both stores name tables and columns alike. Rows of running work are narrow and join `definitions` and `definition_elements` for
//! what belongs to the definition; a join is written only where something of it is asked for. Texts compare byte by byte: SQLite
//! does so by itself, PostgreSQL needs its text columns declared `COLLATE "C"`.
//!
//! Pages are found by key: the row after a cursor is the one whose sort values and key come next, whatever was inserted meanwhile.
//!
//! A store runs [`Search::page`] and [`Search::total`] and gives every row to a [`Collected`].

mod audit;
mod candidates;
mod column;
mod definitions;
mod ends;
mod filter;
mod found;
mod lead;
mod live;
mod near;
mod order;
mod select;
mod starts;
mod view;

pub use definitions::{DEFINITIONS_MAX, asking_elements, definitions, elements_asked, of_definitions};
pub use found::{Found, among};
pub use lead::FEW_MAX;
pub use near::{Disorder, disorder, is_near, page_near};
pub use select::{Few, Search, count, search};
pub use starts::{asks_when_begun, between_keys, keys_begun};
pub use view::{Cells, Collected, counted};

use crate::query::Scalar;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// A statement and its parameters, the first being `?1` or `$1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sql {
    pub text: String,
    pub params: Vec<Scalar>,
}

/// A statement being written: what comes out of it is text that refers to the parameters gathered here.
struct Writing {
    dialect: Dialect,
    params: Vec<Scalar>,
}

impl Writing {
    fn param(&mut self, value: Scalar) -> String {
        let kind = value.kind();
        self.params.push(value);
        let number = self.params.len();
        match self.dialect {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Postgres => format!("${number}::{}", column::postgres_type(kind)),
        }
    }
}
