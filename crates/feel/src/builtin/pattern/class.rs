//! Classes of characters.

use fancy_regex::Expr;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{self, ClassUnicode, ClassUnicodeRange, HirKind};
use std::collections::HashMap;

/// Which characters a place takes.
#[derive(Debug)]
pub(super) struct Class {
    /// A bit for each of ASCII.
    ascii: u128,
    /// The others, in order.
    ranges: Vec<(char, char)>,
}

impl Class {
    fn new(class: &ClassUnicode) -> Class {
        let mut ascii = 0;
        for range in class.iter().filter(|range| range.start().is_ascii()) {
            let end = range.end().min('\x7f');
            (range.start()..=end).for_each(|c| ascii |= 1 << u32::from(c));
        }
        let beyond = class.iter().filter(|range| !range.end().is_ascii());
        Class { ascii, ranges: beyond.map(|range| (range.start(), range.end())).collect() }
    }

    pub(super) fn holds(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(start, _)| *start <= c);
        after.checked_sub(1).is_some_and(|at| c <= self.ranges[at].1)
    }

    /// What keeping and looking through it takes.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }
}

/// The classes of a pattern, each made once.
#[derive(Default)]
pub(super) struct Classes {
    pub(super) all: Vec<Class>,
    known: HashMap<Key, usize>,
}

/// What a class was made of, and whether in any case.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Char(char, bool),
    Written(String, bool),
}

impl Classes {
    /// The class of an expression that matches one character; nothing for others.
    pub(super) fn of(&mut self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Any { newline: true, .. } => self.written("(?s:.)", false),
            Expr::Any { newline: false, crlf: false } => self.written(r"[^\n]", false),
            Expr::Delegate { inner, casei } => self.written(inner, *casei),
            _ => None,
        }
    }

    /// The class of an expression that is one character, a group around it not counted.
    pub(super) fn single(&mut self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Literal { val, casei } => {
                let mut chars = val.chars();
                let (first, None) = (chars.next()?, chars.next()) else {
                    return None;
                };
                if *casei { self.folded(first) } else { Some(self.add(Key::Char(first, false), &one(first))) }
            }
            _ => self.of(expr),
        }
    }

    /// A character in any case.
    pub(super) fn folded(&mut self, c: char) -> Option<usize> {
        if let Some(known) = self.known.get(&Key::Char(c, true)) {
            return Some(*known);
        }
        let mut class = one(c);
        class.try_case_fold_simple().ok()?;
        Some(self.add(Key::Char(c, true), &class))
    }

    fn written(&mut self, text: &str, any_case: bool) -> Option<usize> {
        let key = Key::Written(String::from(text), any_case);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let parsed = ParserBuilder::new().case_insensitive(any_case).build().parse(text).ok()?;
        let class = match parsed.kind() {
            HirKind::Class(hir::Class::Unicode(class)) => class.clone(),
            HirKind::Literal(literal) => {
                let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => one(c),
                    _ => return None,
                }
            }
            HirKind::Class(hir::Class::Bytes(class)) => class.to_unicode_class()?,
            _ => return None,
        };
        Some(self.add(key, &class))
    }

    fn add(&mut self, key: Key, class: &ClassUnicode) -> usize {
        let next = self.all.len();
        let at = *self.known.entry(key).or_insert(next);
        if at == next {
            self.all.push(Class::new(class));
        }
        at
    }
}

fn one(c: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(c, c)])
}
