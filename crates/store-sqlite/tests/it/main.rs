//! The store from outside: what every store has to do, and files of earlier versions.

mod conformance;
mod previous;
