//! Looking for a pattern in a text, move by move, each of them paid for.
//!
//! Ways to go on are tried in order, the last choice first undone. A plain pattern that takes many moves remembers which
//! choices it made where and makes none twice, so that it never takes more moves than the pattern has for each place of
//! the text. Patterns that look around or refer back cannot do so and are given up after [`MOVES_MAX`].

use super::super::Fault;
use super::program::{Move, Program};
use crate::budget::Budget;
use fancy_regex::{Assertion, LookAround};

/// Moves of one search of a pattern that is not plain.
const MOVES_MAX: u64 = 2_000_000;
/// Choices that may be open at one time.
const FRAMES_MAX: usize = 1 << 20;
/// Moves that are one step of the budget.
const MOVES_PER_STEP: u64 = 8;
/// Moves after which they are paid for.
const MOVES_UNPAID_MAX: u64 = 1_024;

/// What to do when a way fails, the last first.
enum Frame {
    /// Goes on here.
    Branch { to: usize, at: usize },
    /// Gives back a character of a run and goes on behind it.
    Shrink { to: usize, from: usize, at: usize },
    /// Puts back what a slot held.
    Restore { slot: usize, old: Option<usize> },
}

/// A pattern on its way through a text.
pub(super) struct Matcher<'p, 't, 'b> {
    program: &'p Program,
    text: &'t str,
    pub(super) budget: &'b mut Budget,
    slots: Vec<Option<usize>>,
    frames: Vec<Frame>,
    /// For each choice and place, whether it was made there.
    made: Vec<u64>,
    /// Moves of a search before it begins to remember.
    pub(super) forgetful: u64,
    /// Moves of this search, and those not paid for.
    moves: u64,
    unpaid: u64,
    /// Where the next search begins, and where the last match ended.
    from: usize,
    last: Option<usize>,
}

impl<'p, 't, 'b> Matcher<'p, 't, 'b> {
    pub(super) fn new(program: &'p Program, text: &'t str, budget: &'b mut Budget) -> Matcher<'p, 't, 'b> {
        Matcher {
            program,
            text,
            budget,
            slots: vec![None; program.slots],
            frames: Vec::new(),
            made: Vec::new(),
            forgetful: 1_000 + 4 * text.len() as u64,
            moves: 0,
            unpaid: 0,
            from: 0,
            last: None,
        }
    }

    /// The next match: where it begins and ends. Nothing is matched right behind a match.
    pub(super) fn find(&mut self) -> Result<Option<(usize, usize)>, Fault> {
        while self.from <= self.text.len() {
            let found = self.search(self.from);
            self.budget.charge(1 + std::mem::take(&mut self.unpaid) / MOVES_PER_STEP)?;
            let Some((start, end)) = found? else {
                break;
            };
            self.from = if start == end { end + self.char_at(end).map_or(1, char::len_utf8) } else { end };
            if start != end || self.last != Some(end) {
                self.last = Some(end);
                return Ok(Some((start, end)));
            }
        }
        self.from = usize::MAX;
        Ok(None)
    }

    /// What a group matched.
    pub(super) fn group(&self, group: usize) -> Option<&'t str> {
        Some(&self.text[(*self.slots.get(2 * group)?)?..(*self.slots.get(2 * group + 1)?)?])
    }

    /// What the group of a name matched.
    pub(super) fn named(&self, name: &str) -> Option<&'t str> {
        self.program.names.get(name)?.iter().find_map(|group| self.group(*group))
    }

    fn search(&mut self, from: usize) -> Result<Option<(usize, usize)>, Fault> {
        self.moves = 0;
        self.made.clear();
        self.frames.clear();
        self.slots.fill(None);
        let mut at = from;
        while let Some(start) = self.candidate(at)? {
            if let Some(end) = self.run(0, start, None)? {
                (self.slots[0], self.slots[1]) = (Some(start), Some(end));
                return Ok(Some((start, end)));
            }
            at = start + self.char_at(start).map_or(1, char::len_utf8);
        }
        Ok(None)
    }

    /// The first place from here on where a match may begin.
    fn candidate(&mut self, from: usize) -> Result<Option<usize>, Fault> {
        let Some(rest) = self.text.get(from..) else {
            return Ok(None);
        };
        let skipped = match self.program.moves[0] {
            Move::Assert(Assertion::StartText) => return Ok((from == 0).then_some(0)),
            Move::Char(wanted) => rest.find(wanted),
            Move::Class(class) => rest.find(|c| self.program.classes[class].holds(c)),
            _ => return Ok(Some(from)),
        };
        self.spend(skipped.unwrap_or(rest.len()) as u64 / 4)?;
        Ok(skipped.map(|skipped| from + skipped))
    }

    /// Makes moves from one on until [`Move::Found`]; says where that is. If `end` is given it must be there.
    fn run(&mut self, first: usize, start: usize, end: Option<usize>) -> Result<Option<usize>, Fault> {
        let base = self.frames.len();
        let (mut to, mut at) = (first, start);
        loop {
            self.spend(1)?;
            let next = to + 1;
            let went = match self.program.moves[to] {
                Move::Char(wanted) => self.char_at(at).filter(|c| *c == wanted).map(|c| (next, at + c.len_utf8())),
                Move::Class(class) => {
                    let held = self.char_at(at).filter(|c| self.program.classes[class].holds(*c));
                    held.map(|c| (next, at + c.len_utf8()))
                }
                Move::Run { class, row } => self.run_of(class, row, next, at)?,
                Move::Split { first, second, row } => match self.is_made(row, at)? {
                    true => None,
                    false => {
                        self.frames.push(Frame::Branch { to: second, at });
                        Some((first, at))
                    }
                },
                Move::Jump(there) => Some((there, at)),
                Move::Save(slot) => {
                    self.frames.push(Frame::Restore { slot, old: self.slots[slot] });
                    self.slots[slot] = Some(at);
                    Some((next, at))
                }
                Move::Progress { slot, after } => Some((if self.slots[slot] == Some(at) { after } else { next }, at)),
                Move::Assert(assertion) => self.holds(assertion, at).then_some((next, at)),
                Move::Again { group, any_case } => self.again(group, any_case, at)?.map(|at| (next, at)),
                Move::Look { kind, back, after } => self.looks(kind, back, next, at)?.then_some((after, at)),
                Move::Once { after } => self.run(next, at, None)?.map(|end| (after, end)),
                Move::Found if end.is_none_or(|end| end == at) => {
                    // Whoever asked goes on from here and never comes back to choices made inside.
                    if first != 0 {
                        self.forget(base);
                    }
                    return Ok(Some(at));
                }
                Move::Found => None,
            };
            match went.or_else(|| self.back(base)) {
                Some(there) => (to, at) = there,
                None => return Ok(None),
            }
        }
    }

    /// Undoes moves up to the last choice and takes the next way; nothing if there is none above `base`.
    fn back(&mut self, base: usize) -> Option<(usize, usize)> {
        while base < self.frames.len() {
            match self.frames.pop()? {
                Frame::Branch { to, at } => return Some((to, at)),
                Frame::Shrink { to, from, at } => {
                    let at = self.text.floor_char_boundary(at - 1);
                    if from < at {
                        self.frames.push(Frame::Shrink { to, from, at });
                    }
                    return Some((to, at));
                }
                Frame::Restore { slot, old } => self.slots[slot] = old,
            }
        }
        None
    }

    /// Drops the choices above `base`, but not what must be put back.
    fn forget(&mut self, base: usize) {
        let mut kept = base;
        for at in base..self.frames.len() {
            if matches!(self.frames[at], Frame::Restore { .. }) {
                self.frames.swap(kept, at);
                kept += 1;
            }
        }
        self.frames.truncate(kept);
    }

    fn run_of(&mut self, class: usize, row: usize, to: usize, from: usize) -> Result<Option<(usize, usize)>, Fault> {
        if self.is_made(row, from)? {
            return Ok(None);
        }
        let class = &self.program.classes[class];
        let mut end = from;
        for c in self.text[from..].chars().take_while(|c| class.holds(*c)) {
            // From where a run passed before, nothing new comes: its ends further on were tried.
            if !self.made.is_empty() && self.mark(row, end + c.len_utf8()) {
                break;
            }
            end += c.len_utf8();
        }
        self.spend((end - from) as u64 / 4)?;
        if from < end {
            self.frames.push(Frame::Shrink { to, from, at: end });
        }
        Ok(Some((to, end)))
    }

    /// Whether a choice was made at a place before; from now on it was. Only remembered when it pays.
    fn is_made(&mut self, row: usize, at: usize) -> Result<bool, Fault> {
        if self.made.is_empty() {
            if !self.program.plain || self.moves < self.forgetful {
                return Ok(false);
            }
            let words = (self.program.rows * (self.text.len() + 1)).div_ceil(64);
            self.budget.make(8 * words as u64)?;
            self.made = vec![0; words];
        }
        Ok(self.mark(row, at))
    }

    /// Remembers a choice; says whether it was made before.
    fn mark(&mut self, row: usize, at: usize) -> bool {
        let bit = row * (self.text.len() + 1) + at;
        let word = &mut self.made[bit / 64];
        let made = *word >> (bit % 64) & 1 == 1;
        *word |= 1 << (bit % 64);
        made
    }

    /// Whether looking ahead or behind finds what it should, or does not find what it should not.
    fn looks(&mut self, kind: LookAround, back: (usize, usize), first: usize, at: usize) -> Result<bool, Fault> {
        let base = self.frames.len();
        let found = match kind {
            LookAround::LookAhead | LookAround::LookAheadNeg => self.run(first, at, None)?.is_some(),
            LookAround::LookBehind | LookAround::LookBehindNeg => self.looks_behind(back, first, at)?,
        };
        match kind {
            LookAround::LookAhead | LookAround::LookBehind => Ok(found),
            LookAround::LookAheadNeg | LookAround::LookBehindNeg => {
                // What was saved while looking is put back: there is nothing else above the base.
                self.back(base);
                Ok(!found)
            }
        }
    }

    fn looks_behind(&mut self, (least, most): (usize, usize), first: usize, at: usize) -> Result<bool, Fault> {
        let mut start = Some(at);
        for back in 0..=most {
            let Some(from) = start else {
                return Ok(false);
            };
            if least <= back && self.run(first, from, Some(at))?.is_some() {
                return Ok(true);
            }
            self.spend(1)?;
            start = from.checked_sub(1).map(|before| self.text.floor_char_boundary(before));
        }
        Ok(false)
    }

    /// The place behind what a group matched, if that comes once more here.
    fn again(&mut self, group: usize, any_case: bool, at: usize) -> Result<Option<usize>, Fault> {
        let Some(wanted) = self.group(group) else {
            return Ok(None);
        };
        self.spend(wanted.len() as u64 / 4)?;
        if !any_case {
            return Ok(self.text[at..].starts_with(wanted).then_some(at + wanted.len()));
        }
        let mut rest = self.text[at..].chars();
        let same = wanted.chars().all(|c| rest.next().is_some_and(|found| found.to_lowercase().eq(c.to_lowercase())));
        Ok(same.then(|| self.text.len() - rest.as_str().len()))
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let word = |c: Option<char>| c.is_some_and(|c| regex_syntax::try_is_word_character(c).unwrap_or(false));
        let boundary = || word(self.text[..at].chars().next_back()) != word(self.char_at(at));
        match assertion {
            Assertion::StartText => at == 0,
            Assertion::EndText => at == bytes.len(),
            Assertion::EndTextIgnoreTrailingNewlines { .. } => bytes[at..].iter().all(|byte| *byte == b'\n'),
            Assertion::StartLine { .. } => at == 0 || bytes[at - 1] == b'\n',
            Assertion::EndLine { .. } => bytes.get(at).is_none_or(|byte| *byte == b'\n'),
            Assertion::WordBoundary => boundary(),
            Assertion::NotWordBoundary => !boundary(),
            // Refused when the pattern was compiled.
            _ => false,
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        match *self.text.as_bytes().get(at)? {
            byte if byte.is_ascii() => Some(char::from(byte)),
            _ => self.text[at..].chars().next(),
        }
    }

    fn spend(&mut self, moves: u64) -> Result<(), Fault> {
        self.moves += moves;
        self.unpaid += moves;
        if self.unpaid < MOVES_UNPAID_MAX {
            return Ok(());
        }
        self.budget.charge(self.unpaid / MOVES_PER_STEP)?;
        self.unpaid = 0;
        let given_up = !self.program.plain && MOVES_MAX < self.moves;
        if given_up || FRAMES_MAX < self.frames.len() {
            return Err(Fault::Reason(String::from("the pattern takes too many steps")));
        }
        Ok(())
    }
}
