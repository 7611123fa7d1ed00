//! BPMN 2.0 XML (with `zeebe:` extensions), JSON workflows and the text notation of traces → [`model::Process`], DMN XML →
//! [`model::Requirements`], with diagnostics that name line, element and reason, all of them at once.
//!
//! Reading order: [`bpmn`] and `bpmn/scope.rs` show how a file becomes a `draft`; `bpmn/element/` has one file per kind of
//! element; `link` turns a draft of either notation into a process and checks what only the whole graph can tell;
//! [`text`] documents the notation of traces; [`json`] reads workflows; [`dmn`] reads decisions.
//!
//! What holds:
//! - no input makes it panic, overflow the stack or run for long: sizes, depths and counts are bounded, with a name each;
//! - a construct of BPMN that is not executed is refused, never skipped; what cannot be executed by nature (diagrams,
//!   annotations, lanes, documentation, extensions of other products) is skipped;
//! - a process is returned only if its whole file is without fault.
//!
//! Deliberately absent: I/O, versions and keys of definitions, anything that depends on what was deployed before.

mod bpmn;
mod diagnostic;
mod dmn;
mod draft;
mod draw;
mod expression;
mod json;
mod link;
mod mapping;
mod straight_loop;
mod text;
mod timer;
mod xml;

pub use bpmn::{Compiled, bpmn};
pub use diagnostic::{DIAGNOSTICS_MAX, Diagnostic};
pub use dmn::{dmn, dmn_standard};
pub use draw::drawn;
pub use json::json;
pub use text::{print, text};
pub use xml::RESOURCE_BYTES_MAX;
