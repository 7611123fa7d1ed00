//! A pattern as a list of moves, for [`Matcher`](super::matcher::Matcher) to make one after the other.

use super::class::{Class, Classes};
use fancy_regex::{Assertion, Expr, LookAround};
use std::collections::HashMap;

/// Moves of one pattern: repetitions are written out.
const MOVES_MAX: usize = 10_000;

/// One move. What is numbered by `row` is a choice that a plain pattern need not make twice at one place.
#[derive(Debug)]
pub(super) enum Move {
    Char(char),
    Class(usize),
    /// As many of a class as there are, given back one by one.
    Run {
        class: usize,
        row: usize,
    },
    /// Goes on at the first; if that fails, at the second.
    Split {
        first: usize,
        second: usize,
        row: usize,
    },
    Jump(usize),
    /// Remembers the place in a slot.
    Save(usize),
    /// Leaves a loop at the place that the slot remembers: its last round matched nothing.
    Progress {
        slot: usize,
        after: usize,
    },
    Assert(Assertion),
    /// What a group matched, once more.
    Again {
        group: usize,
        any_case: bool,
    },
    /// Looks, with the moves up to [`Move::Found`], and goes on from where it stood.
    Look {
        kind: LookAround,
        /// Characters to go back at least and at most before looking.
        back: (usize, usize),
        after: usize,
    },
    /// Makes the moves up to [`Move::Found`] and keeps to the first way they work out.
    Once {
        after: usize,
    },
    Found,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) moves: Vec<Move>,
    pub(super) classes: Vec<Class>,
    /// Two for each group, the whole match first; then those of loops.
    pub(super) slots: usize,
    /// Groups, the whole match included.
    pub(super) groups: usize,
    pub(super) names: HashMap<String, Vec<usize>>,
    pub(super) rows: usize,
    /// Whether what comes of a place in the text and in the pattern depends on nothing else.
    pub(super) plain: bool,
}

impl Program {
    /// Steps that making it took.
    pub(super) fn cost(&self) -> u64 {
        let ranges: usize = self.classes.iter().map(Class::len).sum();
        // Classes in any case are the longest to make.
        (self.moves.len() + 2 * ranges) as u64
    }
}

/// Compiles a pattern; nothing if it is none, too large, or has what neither Java nor XPath have.
pub(super) fn compile(pattern: &str) -> Option<Program> {
    let tree = Expr::parse_tree(pattern).ok()?;
    let groups = 1 + count_groups(&tree.expr);
    let mut compiler =
        Compiler { moves: Vec::new(), classes: Classes::default(), groups, group: 1, slots: 2 * groups, rows: 0, plain: true };
    compiler.expr(&tree.expr)?;
    compiler.push(Move::Found)?;
    let Compiler { moves, classes, slots, rows, plain, .. } = compiler;
    Some(Program { moves, classes: classes.all, slots, groups, names: tree.named_groups, rows, plain })
}

fn count_groups(expr: &Expr) -> usize {
    let own = usize::from(matches!(expr, Expr::Group(_)));
    own + expr.children_iter().map(count_groups).sum::<usize>()
}

struct Compiler {
    moves: Vec<Move>,
    classes: Classes,
    groups: usize,
    /// The number of the next group.
    group: usize,
    slots: usize,
    rows: usize,
    plain: bool,
}

impl Compiler {
    fn push(&mut self, one: Move) -> Option<usize> {
        if MOVES_MAX <= self.moves.len() {
            return None;
        }
        self.moves.push(one);
        Some(self.moves.len() - 1)
    }

    fn expr(&mut self, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Empty => {}
            Expr::Concat(parts) => parts.iter().try_for_each(|part| self.expr(part))?,
            Expr::Alt(ways) => self.ways(ways)?,
            Expr::Group(inner) => {
                let group = self.group;
                self.group += 1;
                self.push(Move::Save(2 * group))?;
                self.expr(inner)?;
                self.push(Move::Save(2 * group + 1))?;
            }
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, (*lo, *hi), *greedy)?,
            Expr::LookAround(inner, kind) => {
                let back = match kind {
                    LookAround::LookAhead | LookAround::LookAheadNeg => (0, 0),
                    LookAround::LookBehind | LookAround::LookBehindNeg => {
                        let (least, most) = width(inner);
                        (least, most?)
                    }
                };
                self.inside(inner, |after| Move::Look { kind: *kind, back, after })?;
            }
            Expr::AtomicGroup(inner) => self.inside(inner, |after| Move::Once { after })?,
            Expr::Backref { group, casei } => {
                if self.groups <= *group {
                    return None;
                }
                self.plain = false;
                self.push(Move::Again { group: *group, any_case: *casei })?;
            }
            Expr::Assertion(assertion) => {
                self.push(Move::Assert(known(*assertion)?))?;
            }
            Expr::GeneralNewline { .. } => {
                let both = Expr::Literal { val: String::from("\r\n"), casei: false };
                let one = Expr::Delegate { inner: String::from(r"[\n\x0B\x0C\r\x{85}\x{2028}\x{2029}]"), casei: false };
                self.ways(&[both, one])?;
            }
            Expr::Literal { val, casei: false } => {
                for c in val.chars() {
                    self.push(Move::Char(c))?;
                }
            }
            Expr::Literal { val, casei: true } => {
                for c in val.chars() {
                    let class = self.classes.folded(c)?;
                    self.push(Move::Class(class))?;
                }
            }
            _ => {
                let class = self.classes.of(expr)?;
                self.push(Move::Class(class))?;
            }
        }
        Some(())
    }

    /// Moves that are made apart from the others.
    fn inside(&mut self, inner: &Expr, around: impl FnOnce(usize) -> Move) -> Option<()> {
        self.plain = false;
        let at = self.push(Move::Found)?;
        self.expr(inner)?;
        self.push(Move::Found)?;
        self.moves[at] = around(self.moves.len());
        Some(())
    }

    fn ways(&mut self, ways: &[Expr]) -> Option<()> {
        let Some((last, others)) = ways.split_last() else {
            return Some(());
        };
        let mut ends = Vec::with_capacity(others.len());
        for way in others {
            let split = self.push(Move::Found)?;
            self.expr(way)?;
            ends.push(self.push(Move::Found)?);
            self.split(split, split + 1, self.moves.len());
        }
        self.expr(last)?;
        for end in ends {
            self.moves[end] = Move::Jump(self.moves.len());
        }
        Some(())
    }

    fn split(&mut self, at: usize, first: usize, second: usize) {
        self.moves[at] = Move::Split { first, second, row: self.rows };
        self.rows += 1;
    }

    fn repeat(&mut self, child: &Expr, (least, most): (usize, usize), greedy: bool) -> Option<()> {
        let group = self.group;
        for _ in 0..least {
            self.group = group;
            self.expr(child)?;
        }
        self.group = group;
        match most {
            usize::MAX => self.endless(child, greedy)?,
            _ => {
                let mut splits = Vec::new();
                for _ in least..most {
                    splits.push(self.push(Move::Found)?);
                    self.group = group;
                    self.expr(child)?;
                }
                let end = self.moves.len();
                for split in splits {
                    let (first, second) = if greedy { (split + 1, end) } else { (end, split + 1) };
                    self.split(split, first, second);
                }
            }
        }
        self.group = group + count_groups(child);
        Some(())
    }

    fn endless(&mut self, child: &Expr, greedy: bool) -> Option<()> {
        if greedy && let Some(class) = self.classes.single(child) {
            self.push(Move::Run { class, row: self.rows })?;
            self.rows += 1;
            return Some(());
        }
        let split = self.push(Move::Found)?;
        let may_be_nothing = width(child).0 == 0;
        let slot = self.slots;
        if may_be_nothing {
            self.slots += 1;
            self.push(Move::Save(slot))?;
        }
        self.expr(child)?;
        if may_be_nothing {
            let after = self.moves.len() + 2;
            self.push(Move::Progress { slot, after })?;
        }
        self.push(Move::Jump(split))?;
        let end = self.moves.len();
        let (first, second) = if greedy { (split + 1, end) } else { (end, split + 1) };
        self.split(split, first, second);
        Some(())
    }
}

/// Those of Java and XPath.
fn known(assertion: Assertion) -> Option<Assertion> {
    match assertion {
        Assertion::StartText
        | Assertion::EndText
        | Assertion::EndTextIgnoreTrailingNewlines { crlf: false }
        | Assertion::StartLine { crlf: false }
        | Assertion::EndLine { crlf: false }
        | Assertion::WordBoundary
        | Assertion::NotWordBoundary => Some(assertion),
        _ => None,
    }
}

/// Characters an expression matches at least and at most; no most where there is none.
fn width(expr: &Expr) -> (usize, Option<usize>) {
    match expr {
        Expr::Concat(parts) => parts.iter().map(width).fold((0, Some(0)), |(least, most), (part_least, part_most)| {
            (least.saturating_add(part_least), most.zip(part_most).and_then(|(most, part)| most.checked_add(part)))
        }),
        Expr::Alt(ways) => {
            let least = ways.iter().map(|way| width(way).0).min().unwrap_or(0);
            let most = ways.iter().map(|way| width(way).1).try_fold(0, |most: usize, way| Some(most.max(way?)));
            (least, most)
        }
        Expr::Group(inner) => width(inner),
        Expr::AtomicGroup(inner) => width(inner),
        Expr::Repeat { child, lo, hi, .. } => {
            let (least, most) = width(child);
            let most = if *hi == usize::MAX { None } else { most.and_then(|most| most.checked_mul(*hi)) };
            (least.saturating_mul(*lo), most)
        }
        Expr::Literal { val, .. } => (val.chars().count(), Some(val.chars().count())),
        Expr::Any { .. } | Expr::Delegate { .. } => (1, Some(1)),
        Expr::LiteralBytes { bytes } => (bytes.len(), Some(bytes.len())),
        Expr::GeneralNewline { .. } => (1, Some(2)),
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => (0, Some(0)),
        _ => (0, None),
    }
}
