//! The simulator plays many seeds, and notices a store that does wrong.

mod sabotage;
mod seeds;
