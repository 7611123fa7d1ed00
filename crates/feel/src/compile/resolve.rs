//! Compiling a syntax tree.

use super::node::{FilterNode, ForNode, FunctionNode, IterationNode, Node, RangeNode, TestNode};
use super::scope::{Binding, INPUT, Scope};
use crate::builtin;
use crate::dialect::{Dialect, Library};
use crate::error::{Warning, WarningKind};
use crate::excerpt;
use crate::limits::WARNINGS_MAX;
use crate::syntax::ast::{Comparison, Domain, Expr, Formal, Iteration, RangeExpr, Test};
use crate::syntax::walk::mentions;
use crate::temporal::{Leniency, parse_any};
use crate::value::{Parameter, Value};
use std::sync::Arc;

/// A compiled expression and its free variables in the order of their slots.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) node: Node,
    pub(crate) free: Vec<Arc<str>>,
    /// What an author should look at again.
    pub(crate) notes: Vec<Warning>,
}

/// Compiles an expression.
pub(crate) fn compile_expression(expr: &Expr, dialect: Dialect, library: Library) -> Compiled {
    let mut compiler = Compiler { scope: Scope::new(), dialect, library, notes: Vec::new() };
    let node = compiler.expr(expr);
    compiler.finish(node)
}

/// Compiles unary tests; the input is the first free variable.
pub(crate) fn compile_tests(tests: &[Test], dialect: Dialect) -> Compiled {
    let library = Library::Feel(dialect);
    let mut compiler = Compiler { scope: Scope::new(), dialect, library, notes: Vec::new() };
    compiler.scope.reserve(INPUT);
    let node = compiler.tests(tests);
    compiler.finish(node)
}

pub(super) struct Compiler {
    pub(super) scope: Scope,
    dialect: Dialect,
    pub(super) library: Library,
    notes: Vec<Warning>,
}

impl Compiler {
    fn finish(self, node: Node) -> Compiled {
        Compiled { node, free: self.scope.free(), notes: self.notes }
    }

    pub(super) fn note(&mut self, kind: WarningKind, message: String) {
        if self.notes.len() < WARNINGS_MAX {
            self.notes.push(Warning { kind, message: excerpt::message(message) });
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Node {
        match expr {
            Expr::Null => Node::Const(Value::Null),
            Expr::Bool(value) => Node::Const(Value::Bool(*value)),
            Expr::Number(number) => Node::Const(Value::Number(*number)),
            Expr::String(text) => Node::Const(Value::String(Arc::clone(text))),
            Expr::At(text) => Node::Const(self.temporal(text)),
            Expr::Name(name) => self.name(name),
            Expr::Input => self.scope.input(),
            Expr::List(items) => Node::List(self.all(items)),
            Expr::Context(entries) => self.context(entries),
            Expr::Range(range) => Node::Range(Box::new(self.range(range))),
            Expr::Test(test) => {
                let input = self.scope.input();
                self.test(input, test)
            }
            Expr::Negate(operand) => Node::Negate(Box::new(self.expr(operand))),
            Expr::Not(operand) => Node::NotTest(Box::new(self.expr(operand))),
            Expr::Arithmetic(first, rest) => {
                let first = Box::new(self.expr(first));
                Node::Arithmetic(first, rest.iter().map(|(operator, operand)| (*operator, self.expr(operand))).collect())
            }
            Expr::Compare(operator, sides) => {
                self.note_null(*operator, &sides.0, &sides.1);
                Node::Compare(*operator, Box::new((self.expr(&sides.0), self.expr(&sides.1))))
            }
            Expr::Between(parts) => Node::Between(Box::new((self.expr(&parts.0), self.expr(&parts.1), self.expr(&parts.2)))),
            Expr::In(value, tests) => self.contained(value, tests),
            Expr::InstanceOf(value, declared) => Node::InstanceOf(Box::new(self.expr(value)), declared.clone()),
            Expr::And(operands) => Node::And(self.all(operands)),
            Expr::Or(operands) => Node::Or(self.all(operands)),
            Expr::If(branches, otherwise) => {
                let branches = branches.iter().map(|(condition, result)| (self.expr(condition), self.expr(result)));
                Node::If(branches.collect(), Box::new(self.expr(otherwise)))
            }
            Expr::For(iterations, body) => self.iteration(iterations, body),
            Expr::Quantified(quantifier, iterations, body) => {
                let (iterations, body) = self.iterations(iterations, body, &[]);
                Node::Quantified(*quantifier, iterations, Box::new(body))
            }
            Expr::Path(base, name) => Node::Path(Box::new(self.expr(base)), Arc::clone(name)),
            Expr::Filter(parts) => self.filter(&parts.0, &parts.1),
            Expr::Call(callee, arguments) => self.call(callee, arguments),
            Expr::Function(formals, body) => self.function(formals, body),
            Expr::External(formals, _) => self.function(formals, &Expr::Null),
        }
    }

    fn temporal(&mut self, text: &str) -> Value {
        parse_any(text, self.leniency()).unwrap_or_else(|| {
            self.note(WarningKind::InvalidType, format!("'{text}' is no date, time or duration"));
            Value::Null
        })
    }

    fn leniency(&self) -> Leniency {
        match self.dialect {
            Dialect::Camunda => Leniency::Camunda,
            Dialect::Dmn => Leniency::Standard,
        }
    }

    /// `x < null` is always null.
    fn note_null(&mut self, operator: Comparison, left: &Expr, right: &Expr) {
        let by_order = !matches!(operator, Comparison::Equal | Comparison::NotEqual);
        if by_order && (*left == Expr::Null || *right == Expr::Null) {
            self.note(WarningKind::NotComparable, String::from("a comparison with null is always null"));
        }
    }

    pub(super) fn all(&mut self, exprs: &[Expr]) -> Vec<Node> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn name(&mut self, name: &Arc<str>) -> Node {
        let node = self.scope.name(name);
        let feel_of_decisions = self.library == Library::Feel(Dialect::Dmn);
        match builtin::find(name, self.library).filter(|_| feel_of_decisions) {
            Some(builtin) => Node::OrBuiltin(Box::new(node), builtin),
            None => node,
        }
    }

    fn context(&mut self, entries: &[(Arc<str>, Expr)]) -> Node {
        let mut nodes = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            nodes.push((Arc::clone(key), self.expr(value)));
            self.scope.push(Binding::Name(Arc::clone(key)));
        }
        self.scope.pop(entries.len());
        Node::Context(nodes)
    }

    fn range(&mut self, range: &RangeExpr) -> RangeNode {
        RangeNode {
            start: self.expr(&range.start),
            start_included: range.start_included,
            end: self.expr(&range.end),
            end_included: range.end_included,
        }
    }

    /// `value in tests`: the value is a local while the tests run.
    fn contained(&mut self, value: &Expr, tests: &[Test]) -> Node {
        let value = self.expr(value);
        self.scope.push(Binding::Input);
        let tests = self.tests(tests);
        self.scope.pop(1);
        Node::In(Box::new(value), Box::new(tests))
    }

    fn tests(&mut self, tests: &[Test]) -> Node {
        let mut nodes: Vec<Node> = Vec::with_capacity(tests.len());
        for test in tests {
            let input = self.scope.input();
            nodes.push(self.test(input, test));
        }
        if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::AnyTest(nodes) }
    }

    fn test(&mut self, input: Node, test: &Test) -> Node {
        let test = match test {
            Test::Any => return Node::Const(Value::Bool(true)),
            Test::Not(tests) => return Node::NotTest(Box::new(self.tests(tests))),
            Test::Compare(operator, operand) => TestNode::Compare(*operator, self.expr(operand)),
            Test::Expression(Expr::Bool(value)) => TestNode::Compare(Comparison::Equal, Node::Const(Value::Bool(*value))),
            Test::Expression(Expr::Range(range)) => TestNode::Range(self.range(range)),
            Test::Expression(expr) if reads_input(expr) => TestNode::Condition(self.expr(expr)),
            Test::Expression(expr) => TestNode::Value(self.expr(expr)),
        };
        Node::Test(Box::new((input, test)))
    }

    fn iteration(&mut self, iterations: &[Iteration], body: &Expr) -> Node {
        let reads_partial = |expr: &Expr| matches!(expr, Expr::Name(name) if &**name == "partial");
        let partial = mentions(body, &reads_partial);
        let (iterations, body) = self.iterations(iterations, body, &["partial"]);
        Node::For(Box::new(ForNode { iterations, body, partial }))
    }

    /// Iterations with their domains in the scope of the ones before, and the body in the scope of all.
    fn iterations(&mut self, iterations: &[Iteration], body: &Expr, more: &[&str]) -> (Vec<IterationNode>, Node) {
        let mut nodes = Vec::with_capacity(iterations.len());
        for iteration in iterations {
            nodes.push(match &iteration.domain {
                Domain::Items(list) => IterationNode::Items(self.expr(list)),
                Domain::Count(from, to) => IterationNode::Count(self.expr(from), self.expr(to)),
            });
            self.scope.push(Binding::Name(Arc::clone(&iteration.name)));
        }
        for name in more {
            self.scope.push(Binding::Name(Arc::from(*name)));
        }
        let body = self.expr(body);
        self.scope.pop(iterations.len() + more.len());
        (nodes, body)
    }

    fn filter(&mut self, list: &Expr, condition: &Expr) -> Node {
        let list = self.expr(list);
        let maybe_index =
            !matches!(condition, Expr::Compare(..) | Expr::Between(_) | Expr::In(..) | Expr::InstanceOf(..) | Expr::Call(..));
        self.scope.push(Binding::Item);
        let condition = self.expr(condition);
        self.scope.pop(1);
        Node::Filter(Box::new(FilterNode { list, condition, maybe_index }))
    }

    fn function(&mut self, formals: &[Formal], body: &Expr) -> Node {
        self.scope.enter_function();
        for formal in formals {
            self.scope.push(Binding::Name(Arc::clone(&formal.name)));
        }
        let body = Arc::new(self.expr(body));
        let captures = self.scope.leave_function();
        let parameter = |formal: &Formal| Parameter::new(&formal.name, formal.declared.clone());
        let parameters = formals.iter().map(parameter).collect();
        Node::Function(Box::new(FunctionNode { parameters, body, captures }))
    }
}

/// Whether `?` in this expression means the input around it; inside of `in` it means another.
fn reads_input(expr: &Expr) -> bool {
    mentions(expr, &|expr| *expr == Expr::Input)
}
