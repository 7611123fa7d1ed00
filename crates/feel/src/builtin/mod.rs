//! Built-in functions: one table, one file per group.

mod aggregate;
mod boolean;
mod context;
mod conversion;
mod cycle;
mod interval;
mod list;
mod list_shape;
mod numeric;
pub(crate) mod pattern;
mod range;
mod string;
mod table;
mod temporal;
mod temporal_conversion;
#[cfg(test)]
mod tests;
mod text;
mod workflow;

use crate::dialect::{Dialect, Library};
use crate::error::Error;
use crate::eval::Machine;
use crate::value::{List, Value};

/// A built-in function with its overloads, tried in order.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) overloads: &'static [Overload],
    pub(crate) available: Available,
}

/// Where a function exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Available {
    /// In both dialects.
    Everywhere,
    /// In one place only.
    Only(Library),
}

/// One way to call a built-in.
pub(crate) struct Overload {
    pub(crate) parameters: &'static [&'static str],
    /// Whether the last parameter takes all arguments from its place on, as a list.
    pub(crate) variadic: bool,
    pub(crate) run: Run,
}

/// What computes a built-in.
pub(crate) type Run = fn(&mut Machine<'_>, &[Value]) -> Outcome;

/// What a built-in comes to.
pub(crate) type Outcome = Result<Value, Fault>;

/// Why a built-in has no value.
pub(crate) enum Fault {
    /// The arguments are not of the kinds it takes.
    Arguments,
    /// It was tried and did not work out.
    Reason(String),
    /// The whole evaluation ends.
    Error(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Error(error)
    }
}

/// The name of a built-in function and the names of its parameters; a function may have several such signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// As it is called.
    pub name: &'static str,
    /// In order.
    pub parameters: &'static [&'static str],
    /// Whether the last parameter takes all further arguments.
    pub variadic: bool,
}

/// Every way to call a built-in function of a dialect, for editors and references.
pub fn functions(dialect: Dialect) -> Vec<Signature> {
    let library = Library::Feel(dialect);
    let known = table::ALL.iter().copied().flatten();
    let available = known.filter(|builtin| find(builtin.name, library).is_some_and(|found| std::ptr::eq(found, *builtin)));
    let signatures = available.flat_map(|builtin| {
        builtin.overloads.iter().map(|overload| Signature {
            name: builtin.name,
            parameters: overload.parameters,
            variadic: overload.variadic,
        })
    });
    signatures.collect()
}

/// A built-in both dialects have.
const fn everywhere(name: &'static str, overloads: &'static [Overload]) -> Builtin {
    Builtin { name, overloads, available: Available::Everywhere }
}

/// A built-in of one dialect.
const fn only(dialect: Dialect, name: &'static str, overloads: &'static [Overload]) -> Builtin {
    Builtin { name, overloads, available: Available::Only(Library::Feel(dialect)) }
}

/// An overload with a fixed number of parameters.
const fn fixed(parameters: &'static [&'static str], run: Run) -> Overload {
    Overload { parameters, variadic: false, run }
}

/// An overload whose last parameter takes the rest of the arguments.
const fn variadic(parameters: &'static [&'static str], run: Run) -> Overload {
    Overload { parameters, variadic: true, run }
}

/// The built-in of a name.
pub(crate) fn find(name: &str, library: Library) -> Option<&'static Builtin> {
    let found = table::ALL.iter().copied().flatten().filter(|builtin| builtin.name == name);
    let mut available = found.filter(|builtin| match builtin.available {
        Available::Everywhere => library != Library::Workflow,
        Available::Only(only) => only == library,
    });
    available.next()
}

impl Builtin {
    /// The overload for so many arguments in order.
    pub(crate) fn with_count(&self, count: usize) -> Option<&'static Overload> {
        self.overloads.iter().find(|overload| {
            let declared = overload.parameters.len();
            declared == count || (overload.variadic && declared < count)
        })
    }

    /// The overload for arguments by name.
    pub(crate) fn with_names(&self, names: &[&str]) -> Option<&'static Overload> {
        self.overloads.iter().find(|overload| names.iter().all(|name| overload.parameters.contains(name)))
    }
}

impl Overload {
    /// Arguments with those of a variadic parameter gathered in a list.
    pub(crate) fn gathered(&self, mut arguments: Vec<Value>) -> Vec<Value> {
        if !self.variadic {
            return arguments;
        }
        let fixed = self.parameters.len() - 1;
        let alone = fixed == 0 && arguments.len() == 1 && matches!(arguments[0], Value::List(_));
        if !alone {
            let rest = arguments.split_off(fixed.min(arguments.len()));
            arguments.push(Value::List(List::from(rest)));
        }
        arguments
    }
}

impl std::fmt::Debug for Overload {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "({})", self.parameters.join(", "))
    }
}
