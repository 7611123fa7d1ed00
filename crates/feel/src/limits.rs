//! Every bound of the crate, so that a hostile expression gets an error and never the machine.

/// Bytes of source text.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// Nesting of an expression as written: parentheses, lists, calls, conditions.
pub const NESTING_MAX: u32 = 100;
/// Height of an expression's tree: nesting, and the steps of paths and chains.
pub const HEIGHT_MAX: u32 = 250;
/// Nested evaluations, function calls included.
pub const EVALUATION_DEPTH_MAX: u32 = 500;
/// Steps of one evaluation, unless its caller gives it another [`Budget`](crate::Budget): expressions evaluated, items
/// looked at, every 32 bytes of text read and of values made.
pub const STEPS_MAX: u64 = 5_000_000;
/// Bytes of all values one evaluation makes, unless its caller gives it another [`Budget`](crate::Budget).
pub const BYTES_MAX: u64 = 1 << 27;
/// Nesting of lists and contexts in a value.
pub const VALUE_DEPTH_MAX: u32 = 300;
/// Size of a value in bytes, counted as if nothing in it were shared.
pub const VALUE_SIZE_MAX: u64 = 1 << 26;
/// Nesting of JSON read from outside.
pub const JSON_DEPTH_MAX: u32 = 250;
/// Warnings kept of one evaluation.
pub const WARNINGS_MAX: usize = 100;
/// Bytes of one warning or error, and so of all warnings a hundred times as many.
pub const MESSAGE_BYTES_MAX: usize = 1_000;
/// Bytes of a value that a message quotes.
pub const QUOTE_BYTES_MAX: usize = 200;
