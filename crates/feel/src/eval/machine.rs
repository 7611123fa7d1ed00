//! The machine: slots, stack, budget, warnings. `eval` branches; the other files compute.

use crate::budget::{BYTES_PER_STEP, Budget};
use crate::builtin::Builtin;
use crate::builtin::pattern::Pattern;
use crate::compile::node::{FunctionNode, Node, RangeNode};
use crate::dialect::Dialect;
use crate::error::{Error, Warning, WarningKind};
use crate::excerpt;
use crate::limits::WARNINGS_MAX;
use crate::now::Now;
use crate::types::Type;
use crate::value::{Context, Endpoint, Extent, Function, Range, VALUE_BYTES, Value, shown};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

/// Regular expressions kept during an evaluation.
const PATTERNS_MAX: usize = 8;

/// What a failure means where the expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// `null` and a warning.
    Tolerant,
    /// An error.
    Strict,
}

pub(crate) struct Machine<'e> {
    pub(super) values: &'e [Option<Value>],
    pub(super) names: &'e [Arc<str>],
    pub(crate) now: &'e Now,
    pub(crate) dialect: Dialect,
    pub(super) policy: Policy,
    /// Locals of all running functions; those of the innermost begin at `base`.
    pub(super) locals: Vec<Option<Value>>,
    pub(super) base: usize,
    pub(super) captured: Arc<[Option<Value>]>,
    pub(crate) budget: &'e mut Budget,
    /// Where what was tolerated is noted, if anyone wants to know.
    pub(crate) warnings: Option<&'e mut Vec<Warning>>,
    /// Numbers handed out by `random` so far.
    drawn: u64,
    /// Regular expressions compiled so far, the last few of them.
    patterns: Vec<Rc<Pattern>>,
}

impl<'e> Machine<'e> {
    pub(crate) fn new(
        values: &'e [Option<Value>],
        names: &'e [Arc<str>],
        now: &'e Now,
        (dialect, policy): (Dialect, Policy),
        budget: &'e mut Budget,
    ) -> Machine<'e> {
        let captured = Arc::clone(nothing_captured());
        Machine {
            values,
            names,
            now,
            dialect,
            policy,
            locals: Vec::new(),
            base: 0,
            captured,
            budget,
            warnings: None,
            drawn: 0,
            patterns: Vec::new(),
        }
    }

    /// Evaluates a node.
    pub(crate) fn eval(&mut self, node: &Node) -> Result<Value, Error> {
        match node {
            Node::Const(value) => return Ok(value.clone()),
            Node::Free(_) | Node::Local(_) | Node::Captured(_) => return self.variable(node),
            _ => {}
        }
        self.budget.charge(1)?;
        self.budget.enter(1)?;
        let value = self.eval_inner(node)?;
        self.budget.leave(1);
        Ok(value)
    }

    fn eval_inner(&mut self, node: &Node) -> Result<Value, Error> {
        match node {
            Node::Const(value) => Ok(value.clone()),
            Node::Free(_) | Node::Local(_) | Node::Captured(_) | Node::ItemKey(_) => self.variable(node),
            Node::OrBuiltin(variable, builtin) => self.variable_or(variable, builtin),
            Node::NoInput => Err(Error::NoInput),
            Node::List(items) => self.list(items),
            Node::Context(entries) => self.context(entries),
            Node::Range(range) => self.range(range),
            Node::Negate(operand) => self.negate(operand),
            Node::Arithmetic(first, rest) => self.arithmetic(first, rest),
            Node::Compare(operator, sides) => self.compare(*operator, &sides.0, &sides.1),
            Node::Between(parts) => self.between(&parts.0, &parts.1, &parts.2),
            Node::In(value, tests) => self.contained(value, tests),
            Node::InstanceOf(value, declared) => self.instance_of(value, declared),
            Node::And(operands) => self.connected(operands, false),
            Node::Or(operands) => self.connected(operands, true),
            Node::If(branches, otherwise) => self.conditional(branches, otherwise),
            Node::For(node) => self.iterate(node),
            Node::Quantified(quantifier, iterations, body) => self.quantify(*quantifier, iterations, body),
            Node::Path(base, name) => self.path(base, name),
            Node::Filter(filter) => self.filter(filter),
            Node::CallBuiltin(call) => self.call_builtin(call),
            Node::CallValue(call) => self.call_value(call),
            Node::NoFunction(name, passed) => self.missing_function(name, passed),
            Node::Function(function) => self.make_function(function),
            Node::Test(parts) => self.test(&parts.0, &parts.1),
            Node::AnyTest(tests) => self.connected(tests, true),
            Node::NotTest(tests) => self.not_test(tests),
        }
    }

    fn instance_of(&mut self, value: &Node, declared: &Type) -> Result<Value, Error> {
        let value = self.eval(value)?;
        Ok(Value::Bool(declared.holds(&value, self.budget)?))
    }

    fn variable_or(&mut self, variable: &Node, builtin: &'static Builtin) -> Result<Value, Error> {
        match self.read(variable) {
            Some(value) => Ok(value),
            None => Value::Function(Function::builtin(builtin)).bounded(self.budget),
        }
    }

    fn missing_function(&mut self, name: &str, passed: &str) -> Result<Value, Error> {
        self.warn(WarningKind::NoFunction, || format!("no function named '{}' with {passed}", excerpt::quoted(name)))?;
        Ok(Value::Null)
    }

    fn make_function(&mut self, function: &FunctionNode) -> Result<Value, Error> {
        self.charge(function.captures.len() as u64 + function.parameters.len() as u64)?;
        let captured = function.captures.iter().map(|node| self.read(node)).collect();
        let (parameters, body) = (Arc::clone(&function.parameters), Arc::clone(&function.body));
        Value::Function(Function::defined(parameters, body, captured, self.dialect)).bounded(self.budget)
    }

    fn list(&mut self, nodes: &[Node]) -> Result<Value, Error> {
        let mut items = Vec::with_capacity(nodes.len());
        for node in nodes {
            items.push(self.eval(node)?);
        }
        self.bounded_list(items)
    }

    fn context(&mut self, nodes: &[(Arc<str>, Node)]) -> Result<Value, Error> {
        let start = self.locals.len();
        for (_, node) in nodes {
            let value = self.eval(node)?;
            self.locals.push(Some(value));
        }
        let values = self.locals.drain(start..).map(|value| value.unwrap_or(Value::Null));
        let entries: Vec<(Arc<str>, Value)> = nodes.iter().map(|(key, _)| Arc::clone(key)).zip(values).collect();
        let context = self.bounded_context(entries)?;
        if self.dialect == Dialect::Dmn && context.len() < nodes.len() {
            self.warn(WarningKind::InvalidType, || String::from("a key comes twice"))?;
            return Ok(Value::Null);
        }
        Ok(Value::Context(context))
    }

    pub(super) fn range(&mut self, range: &RangeNode) -> Result<Value, Error> {
        let start = self.eval(&range.start)?;
        let end = self.eval(&range.end)?;
        let falling_allowed = self.dialect == Dialect::Camunda;
        let fits = |ordering| falling_allowed || ordering != Ordering::Greater;
        if !self.order(&start, &end)?.is_some_and(fits) {
            self.warn(WarningKind::InvalidType, || format!("no range from '{}' to '{}'", shown(&start), shown(&end)))?;
            return Ok(Value::Null);
        }
        let start = Endpoint { value: start, included: range.start_included };
        let end = Endpoint { value: end, included: range.end_included };
        Value::Range(Arc::new(Range { start, end })).bounded(self.budget)
    }

    /// `and` and `or`: an operand equal to `decisive` decides; otherwise `null` beats the rest.
    fn connected(&mut self, operands: &[Node], decisive: bool) -> Result<Value, Error> {
        let mut all_known = true;
        for operand in operands {
            self.charge(1)?;
            match self.eval(operand)? {
                Value::Bool(value) if value == decisive => return Ok(Value::Bool(decisive)),
                Value::Bool(_) => {}
                other => {
                    all_known = false;
                    self.expected("boolean", &other)?;
                }
            }
        }
        Ok(if all_known { Value::Bool(!decisive) } else { Value::Null })
    }

    fn conditional(&mut self, branches: &[(Node, Node)], otherwise: &Node) -> Result<Value, Error> {
        for (condition, result) in branches {
            self.charge(1)?;
            match self.eval(condition)? {
                Value::Bool(true) => return self.eval(result),
                Value::Bool(false) => {}
                other => self.expected("boolean", &other)?,
            }
        }
        self.eval(otherwise)
    }

    /// A list, if it is within the limits.
    pub(crate) fn bounded_list(&mut self, items: Vec<Value>) -> Result<Value, Error> {
        Value::list(items).bounded(self.budget)
    }

    /// A context, if it is within the limits. Its names are sorted, so it costs more than it has entries.
    pub(crate) fn bounded_context(&mut self, entries: Vec<(Arc<str>, Value)>) -> Result<Context, Error> {
        let names: u64 = entries.iter().map(|(name, _)| name.len() as u64).sum();
        let rounds = u64::from(entries.len().checked_ilog2().unwrap_or(0));
        self.charge(entries.len() as u64 * rounds / 2 + names * rounds / BYTES_PER_STEP)?;
        let context = Context::from(entries);
        Value::Context(context.clone()).bounded(self.budget)?;
        Ok(context)
    }

    /// A text, if it is within the limits.
    pub(crate) fn bounded_string(&mut self, text: String) -> Result<Value, Error> {
        self.make_text(text.len())?;
        Ok(Value::string(text))
    }

    /// Takes room for a text that is made next.
    pub(crate) fn make_text(&mut self, bytes: usize) -> Result<(), Error> {
        let size = VALUE_BYTES + bytes as u64;
        Extent { depth: 0, size }.check()?;
        self.budget.make(size)
    }

    /// Takes steps from the budget.
    pub(crate) fn charge(&mut self, steps: u64) -> Result<(), Error> {
        self.budget.charge(steps)
    }

    /// Takes the steps of looking through a text.
    pub(crate) fn read_text(&mut self, text: &str) -> Result<(), Error> {
        self.budget.read(text.len())
    }

    pub(crate) fn known_pattern(&self, is_it: impl Fn(&Pattern) -> bool) -> Option<Rc<Pattern>> {
        self.patterns.iter().find(|pattern| is_it(pattern)).map(Rc::clone)
    }

    pub(crate) fn keep_pattern(&mut self, pattern: Rc<Pattern>) {
        if PATTERNS_MAX <= self.patterns.len() {
            self.patterns.remove(0);
        }
        self.patterns.push(pattern);
    }

    /// The next number of a sequence that depends on the given instant and seed only (SplitMix64).
    pub(crate) fn random(&mut self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        self.drawn = self.drawn.wrapping_add(1);
        let start = self.now.seed() ^ self.now.epoch_millis().unsigned_abs().wrapping_mul(STEP).rotate_left(29);
        let mut bits = start.wrapping_add(self.drawn.wrapping_mul(STEP));
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    pub(super) fn expected(&mut self, type_name: &str, found: &Value) -> Result<(), Error> {
        self.warn(WarningKind::InvalidType, || format!("expected {type_name}, found '{}'", shown(found)))
    }

    /// Notes a failure that is tolerated here, or fails.
    pub(crate) fn warn(&mut self, kind: WarningKind, message: impl FnOnce() -> String) -> Result<(), Error> {
        if self.policy == Policy::Strict {
            return Err(Error::Invalid(excerpt::message(message())));
        }
        if let Some(warnings) = &mut self.warnings
            && warnings.len() < WARNINGS_MAX
        {
            warnings.push(Warning { kind, message: excerpt::message(message()) });
        }
        Ok(())
    }
}

fn nothing_captured() -> &'static Arc<[Option<Value>]> {
    static NOTHING: std::sync::LazyLock<Arc<[Option<Value>]>> = std::sync::LazyLock::new(|| Arc::from([]));
    &NOTHING
}
