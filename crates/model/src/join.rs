//! Which tokens a join waits for: those that can still get to it.

use crate::ElementIx;

/// Of an inclusive or complex gateway: for each incoming flow, in their order, the elements a token can come from along it without passing through
/// the gateway itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Join {
    pub sources: Vec<ElementSet>,
}

impl Join {
    /// Whether a token at this element can get to the gateway along the n-th incoming flow.
    pub fn can_come(&self, incoming: usize, from: ElementIx) -> bool {
        self.sources.get(incoming).is_some_and(|sources| sources.contains(from))
    }
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

    pub fn contains(&self, element: ElementIx) -> bool {
        let Some(bit) = element.0.checked_sub(self.first) else {
            return false;
        };
        self.words.get(bit as usize / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
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
        let members = [70, 7, 71, 200].map(ElementIx);
        let set = ElementSet::from(&members[..]);
        for ix in 0..300 {
            assert_eq!(set.contains(ElementIx(ix)), members.contains(&ElementIx(ix)), "{ix}");
        }
        assert_eq!(ElementSet::bits(&members), 194);
        assert!(!ElementSet::from(&[][..]).contains(ElementIx(0)));
    }
}
