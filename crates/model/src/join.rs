//! Which tokens a join waits for: those that can still get to it.

use std::ops::Range;

use crate::{ElementIx, FlowIx};

/// Of an inclusive or complex gateway: where the tokens can be that it waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Join {
    /// Its ways among those of [`Joins`], one for each incoming flow, in their order.
    pub ways: Range<u32>,
    /// The elements a token can come from along any of them.
    pub sources: ElementSet,
}

/// The joins of a process, to be found by the elements whose tokens they wait for. A process without joins has nothing here.
#[derive(Debug, Clone, Default)]
pub struct Joins {
    ways: Vec<Way>,
    /// By element: the ways along which a token there can come.
    open: Vec<WaySet>,
}

/// Into a join along one of its incoming flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub gateway: ElementIx,
    pub flow: FlowIx,
}

/// A set of ways: words of 64, those that hold none left out, since an element leads to few joins of many or to many of them.
#[derive(Debug, Clone, Default)]
struct WaySet {
    words: Vec<(u32, u64)>,
}

impl Joins {
    /// Nothing known yet of a process with so many elements that has a join.
    pub fn among(elements: usize) -> Self {
        Self { ways: Vec::new(), open: vec![WaySet::default(); elements] }
    }

    /// The way that is added next.
    pub fn next(&self) -> u32 {
        self.ways.len() as u32
    }

    /// Adds a way along which a token can come from these elements; gives how many words that took.
    pub fn add(&mut self, way: Way, sources: &[ElementIx]) -> usize {
        let number = self.next();
        self.ways.push(way);
        sources.iter().filter(|source| self.open[source.0 as usize].add(number)).count()
    }

    /// Whether a join waits for tokens at this element.
    pub fn await_any(&self, from: ElementIx) -> bool {
        self.open.get(from.0 as usize).is_some_and(|open| !open.words.is_empty())
    }

    /// Along how many ways a token at this element can come to joins.
    pub fn count(&self, from: ElementIx) -> usize {
        let words = self.open.get(from.0 as usize).into_iter().flat_map(|open| &open.words);
        words.map(|(_, word)| word.count_ones() as usize).sum()
    }

    /// The ways along which a token at this element can come to a join, in order: gateway by gateway.
    pub fn ways(&self, from: ElementIx) -> impl Iterator<Item = Way> + '_ {
        self.ways_in(from, 0..u32::MAX)
    }

    /// Those of one join.
    pub fn ways_to(&self, join: &Join, from: ElementIx) -> impl Iterator<Item = Way> + '_ {
        self.ways_in(from, join.ways.clone())
    }

    fn ways_in(&self, from: ElementIx, range: Range<u32>) -> impl Iterator<Item = Way> + '_ {
        let words = self.open.get(from.0 as usize).map_or(&[][..], |open| &open.words);
        let first = words.partition_point(|(place, _)| *place < range.start / 64);
        let numbers = words[first..].iter().flat_map(|(place, word)| bits(*word).map(move |bit| place * 64 + bit));
        let (start, end) = (range.start, range.end);
        let numbers = numbers.skip_while(move |number| *number < start).take_while(move |number| *number < end);
        numbers.map(|number| self.ways[number as usize])
    }
}

impl WaySet {
    /// Numbers come in order. True if it took another word.
    fn add(&mut self, number: u32) -> bool {
        let (place, bit) = (number / 64, 1 << (number % 64));
        match self.words.last_mut() {
            Some((last, word)) if *last == place => {
                *word |= bit;
                false
            }
            _ => {
                self.words.push((place, bit));
                true
            }
        }
    }
}

/// The numbers of the bits that are set.
fn bits(word: u64) -> impl Iterator<Item = u32> {
    let set = |word: u64| (word != 0).then_some(word);
    std::iter::successors(set(word), move |word| set(word & (word - 1))).map(|word| word.trailing_zeros())
}

/// A set of elements: one bit for each between the first and the last of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElementSet {
    first: u32,
    words: Vec<u64>,
}

impl ElementSet {
    /// How many bits a set of these takes.
    pub fn bits(elements: &[ElementIx]) -> usize {
        let (first, last) = (elements.iter().min(), elements.iter().max());
        first.zip(last).map_or(0, |(first, last)| (last.0 - first.0) as usize + 1)
    }

    /// Its elements in order.
    pub fn iter(&self) -> impl Iterator<Item = ElementIx> + '_ {
        let places = (0u32..).zip(&self.words);
        places.flat_map(move |(place, word)| bits(*word).map(move |bit| ElementIx(self.first + place * 64 + bit)))
    }
}

impl From<&[ElementIx]> for ElementSet {
    fn from(elements: &[ElementIx]) -> Self {
        let first = elements.iter().min().map_or(0, |first| first.0);
        let mut words = vec![0; Self::bits(elements).div_ceil(64)];
        for element in elements {
            let bit = element.0 - first;
            words[bit as usize / 64] |= 1 << (bit % 64);
        }
        Self { first, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_what_was_put_into_it_and_nothing_else() {
        let members = [7, 70, 71, 135, 200].map(ElementIx);
        let set = ElementSet::from(&[70, 7, 71, 200, 135].map(ElementIx)[..]);
        assert!(set.iter().eq(members));
        assert_eq!(ElementSet::bits(&members), 194);
        assert_eq!(ElementSet::from(&[][..]).iter().count(), 0);
    }

    #[test]
    fn ways_are_found_by_the_elements_tokens_come_from() {
        let way = |n: u32| Way { gateway: ElementIx(n / 100), flow: FlowIx(n) };
        let mut joins = Joins::among(3);
        // From the first element along every way, from the second along every seventieth, from the third along none.
        let words: usize = (0..300)
            .map(|n| match n % 70 {
                0 => joins.add(way(n), &[ElementIx(0), ElementIx(1)]),
                _ => joins.add(way(n), &[ElementIx(0)]),
            })
            .sum();
        assert_eq!(words, 5 + 5);
        assert!(joins.ways(ElementIx(0)).eq((0..300).map(way)));
        assert!(joins.ways(ElementIx(1)).eq([0, 70, 140, 210, 280].map(way)));
        assert_eq!([0, 1, 2, 3].map(|n| joins.count(ElementIx(n))), [300, 5, 0, 0]);
        assert_eq!([0, 1, 2, 3].map(|n| joins.await_any(ElementIx(n))), [true, true, false, false]);
        let second = Join { ways: 100..200, ..Join::default() };
        assert!(joins.ways_to(&second, ElementIx(0)).eq((100..200).map(way)));
        assert!(joins.ways_to(&second, ElementIx(1)).eq([way(140)]));
        assert!(!Joins::default().await_any(ElementIx(0)), "a process without joins");
    }
}
