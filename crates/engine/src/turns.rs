//! What a step that takes long leaves for its turns. A turn names as many element instances as a command may enter. Those behind them are
//! kept in parts, as variables of the process that nobody sees: each part is written once, however many turns come before it.

use crate::element::listener::kept;
use crate::step::Run;
use crate::straight::Counts;
use crate::{ElementKey, On, Turn, WaitKind};

/// Under this name: the number of the first part and of the one that comes next, as a JSON list.
const PARTS: &str = "turns";

/// Element instances to go on with, and the counts of those that have counts of their own.
#[derive(Debug, Default, PartialEq)]
struct Part {
    work: Vec<ElementKey>,
    counts: Counts,
}

impl Run<'_> {
    /// Goes on with these in turns, behind those that are left already.
    pub(crate) fn take_up_later(&mut self, mut work: Vec<ElementKey>) {
        let most = self.budget.turn();
        let (first, mut next) = self.parts();
        if first == next {
            let later = work.split_off(most.min(work.len()));
            self.take_up_alone(std::mem::replace(&mut work, later));
        }
        if work.is_empty() {
            return;
        }
        let root = self.instance.key.root();
        for work in work.chunks(most) {
            let part = Part { work: work.to_vec(), counts: self.counts(work) };
            self.keep(root, &name(next), &part.text());
            next += 1;
        }
        self.keep(root, PARTS, &format!("[{first},{next}]"));
        self.has_parts = true;
    }

    /// Goes on with these in a turn of their own.
    pub(crate) fn take_up_alone(&mut self, work: Vec<ElementKey>) {
        let entered_by = self.counts(&work);
        self.open_turn(work, entered_by);
    }

    fn open_turn(&mut self, work: Vec<ElementKey>, entered_by: Counts) {
        let turn = Turn { work, entered: self.budget.entered(), entered_by };
        self.open(self.instance.key.root(), None, On::Turn(turn));
    }

    /// A turn is taken; it may not be the last.
    pub(crate) fn look_for_parts(&mut self) {
        let (first, next) = self.parts();
        self.has_parts = first < next;
    }

    /// Goes on with what is kept as long as the budget lasts. What is kept then has a turn, as long as there is any.
    pub(crate) fn go_on_with_parts(&mut self) {
        while self.has_parts && !self.has_turn() {
            let Some(part) = self.take_part() else { return };
            if self.budget.is_spent() {
                return self.open_turn(part.work, part.counts);
            }
            self.budget.know(&part.counts);
            self.take_up(&part.work);
            self.go_on();
        }
    }

    /// All of it ends: nothing goes on.
    pub(crate) fn forget_parts(&mut self) {
        let (first, next) = self.parts();
        if first < next {
            self.keep(self.instance.key.root(), PARTS, "[0,0]");
        }
        self.has_parts = false;
    }

    fn has_turn(&self) -> bool {
        self.instance.root().is_none_or(|root| root.waits.iter().any(|wait| matches!(wait.kind, WaitKind::Turn(_))))
    }

    /// The first part of which anything is left.
    fn take_part(&mut self) -> Option<Part> {
        let root = self.instance.key.root();
        let (mut first, next) = self.parts();
        let mut found = None;
        while found.is_none() && first < next {
            let mut part = kept(self.instance, root, &name(first)).map(Part::read).unwrap_or_default();
            self.keep(root, &name(first), "null");
            first += 1;
            part.work.retain(|key| self.instance.elements.contains_key(key));
            found = Some(part).filter(|part| !part.work.is_empty());
        }
        let (first, next) = if first < next { (first, next) } else { (0, 0) };
        self.keep(root, PARTS, &format!("[{first},{next}]"));
        self.has_parts = first < next;
        found
    }

    /// The number of the first part that is kept, and of the one that comes next.
    fn parts(&self) -> (u64, u64) {
        let mut parts = kept(self.instance, self.instance.key.root(), PARTS).into_iter().flat_map(numbers);
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    }
}

fn name(part: u64) -> String {
    format!("{PARTS} {part}")
}

fn numbers(list: &str) -> impl Iterator<Item = u64> + '_ {
    list.trim_matches(['[', ']']).split(',').filter_map(|number| number.parse().ok())
}

impl Part {
    /// A JSON list: how many element instances, these, and each that has a count with that.
    fn text(&self) -> String {
        let counts = self.counts.iter().flat_map(|(owner, count)| [owner.0, u64::from(*count)]);
        let numbers = [self.work.len() as u64].into_iter().chain(self.work.iter().map(|key| key.0)).chain(counts);
        format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
    }

    fn read(text: &str) -> Self {
        let mut numbers = numbers(text);
        let count = numbers.next().unwrap_or(0) as usize;
        let work = numbers.by_ref().take(count).map(ElementKey).collect();
        let mut counts = Counts::new();
        while let (Some(owner), Some(count)) = (numbers.next(), numbers.next()) {
            counts.push((ElementKey(owner), count as u32));
        }
        Self { work, counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        let part = Part { work: vec![ElementKey(7), ElementKey(u64::MAX)], counts: vec![(ElementKey(3), u32::MAX)] };
        assert_eq!(part.text(), format!("[2,7,{},3,{}]", u64::MAX, u32::MAX));
        assert_eq!(Part::read(&part.text()), part);
        assert_eq!(Part::read("null"), Part::default());
    }
}
