//! From text to a syntax tree.

pub(crate) mod ast;
mod characters;
mod compound;
mod cursor;
mod literal;
mod name;
mod operator;
mod parser;
mod primary;
mod print;
mod print_type;
mod unary;
pub(crate) mod walk;

pub use name::Names;
pub(crate) use parser::{parse_expression, parse_tests};
pub(crate) use print::print;
