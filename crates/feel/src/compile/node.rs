//! The compiled form.

use crate::builtin::{Builtin, Overload};
use crate::syntax::ast::{Arithmetic, Comparison, Quantifier};
use crate::types::Type;
use crate::value::{Parameter, Value};
use std::sync::Arc;

/// A compiled expression.
#[derive(Debug)]
pub(crate) enum Node {
    Const(Value),
    /// A value given by the caller.
    Free(u32),
    /// A value on the stack.
    Local(u32),
    /// A value the running function captured.
    Captured(u32),
    /// A member of a filtered item that has one of that name, else what the name means outside.
    ItemKey(Box<ItemKey>),
    /// A variable, or the built-in of that name where the variable is not defined.
    OrBuiltin(Box<Node>, &'static Builtin),
    /// `?` where there is no input.
    NoInput,
    List(Vec<Node>),
    /// Entries become locals one after the other, so that later ones can read earlier ones.
    Context(Vec<(Arc<str>, Node)>),
    Range(Box<RangeNode>),
    Negate(Box<Node>),
    Arithmetic(Box<Node>, Vec<(Arithmetic, Node)>),
    Compare(Comparison, Box<(Node, Node)>),
    Between(Box<(Node, Node, Node)>),
    /// The value becomes a local, which the tests read as their input.
    In(Box<Node>, Box<Node>),
    InstanceOf(Box<Node>, Type),
    And(Vec<Node>),
    Or(Vec<Node>),
    If(Vec<(Node, Node)>, Box<Node>),
    For(Box<ForNode>),
    Quantified(Quantifier, Vec<IterationNode>, Box<Node>),
    Path(Box<Node>, Arc<str>),
    Filter(Box<FilterNode>),
    CallBuiltin(Box<BuiltinCall>),
    CallValue(Box<ValueCall>),
    /// A call of what does not exist: name and number or names of parameters.
    NoFunction(Arc<str>, Box<str>),
    Function(Box<FunctionNode>),
    /// A unary test of the input in the first node.
    Test(Box<(Node, TestNode)>),
    /// Whether any of the tests holds.
    AnyTest(Vec<Node>),
    NotTest(Box<Node>),
}

#[derive(Debug)]
pub(crate) struct ItemKey {
    /// The slots of all items around, the innermost last, and how many of them to look into.
    pub(crate) items: Arc<Vec<u32>>,
    pub(crate) within: usize,
    pub(crate) key: Arc<str>,
    /// Steps of looking, beyond the node's own.
    pub(crate) cost: u64,
    pub(crate) otherwise: Node,
}

#[derive(Debug)]
pub(crate) struct RangeNode {
    pub(crate) start: Node,
    pub(crate) start_included: bool,
    pub(crate) end: Node,
    pub(crate) end_included: bool,
}

#[derive(Debug)]
pub(crate) struct ForNode {
    pub(crate) iterations: Vec<IterationNode>,
    pub(crate) body: Node,
    /// Whether the body reads the results so far.
    pub(crate) partial: bool,
}

#[derive(Debug)]
pub(crate) enum IterationNode {
    Items(Node),
    Count(Node, Node),
}

#[derive(Debug)]
pub(crate) struct FilterNode {
    pub(crate) list: Node,
    pub(crate) condition: Node,
    /// Whether the condition is evaluated once without an item first, to see if it is an index.
    pub(crate) maybe_index: bool,
}

#[derive(Debug)]
pub(crate) struct BuiltinCall {
    pub(crate) name: &'static str,
    pub(crate) overload: &'static Overload,
    /// Whether arguments were given by name, so that a variadic parameter already is its list.
    pub(crate) by_name: bool,
    /// In the order of the overload's parameters; what was not given is `null`.
    pub(crate) arguments: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct ValueCall {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) callee: Node,
    pub(crate) arguments: ArgumentNodes,
    /// What to call when the callee is no function.
    pub(crate) otherwise: Option<BuiltinCall>,
}

#[derive(Debug)]
pub(crate) enum ArgumentNodes {
    Positional(Vec<Node>),
    Named(Vec<(Arc<str>, Node)>),
}

#[derive(Debug)]
pub(crate) struct FunctionNode {
    pub(crate) parameters: Arc<[Parameter]>,
    pub(crate) body: Arc<Node>,
    /// Evaluated when the function is made, in the scope around it.
    pub(crate) captures: Vec<Node>,
}

#[derive(Debug)]
pub(crate) enum TestNode {
    Compare(Comparison, Node),
    /// A range written as such: no range is made of it.
    Range(RangeNode),
    /// An expression whose value is compared with the input, or holds it.
    Value(Node),
    /// An expression that reads the input itself.
    Condition(Node),
}
