//! What lives in a scope, by its elements. Derived from what lives there, so instances are equal with it and without.

use std::collections::BTreeSet;

use model::ElementIx;

use crate::ElementKey;

/// Nothing until somebody asks who lives where among many.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Option<BTreeSet<(ElementIx, ElementKey)>>);

impl Places {
    /// So few are gone through one by one.
    pub(crate) const WITHOUT_MAX: usize = 32;

    pub(crate) fn is_indexed(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn put(&mut self, element: ElementIx, key: ElementKey) {
        if let Some(index) = &mut self.0 {
            index.insert((element, key));
        }
    }

    pub(crate) fn take(&mut self, element: ElementIx, key: ElementKey) {
        if let Some(index) = &mut self.0 {
            index.remove(&(element, key));
        }
    }

    /// The elements, if that is known.
    pub(crate) fn elements(&self) -> Option<impl Iterator<Item = ElementIx> + '_> {
        self.0.as_ref().map(|index| index.iter().map(|(element, _)| *element))
    }

    /// The first instance of an element, if that is known.
    pub(crate) fn first_at(&self, element: ElementIx) -> Option<Option<ElementKey>> {
        let whole = (element, ElementKey(0))..=(element, ElementKey(u64::MAX));
        self.0.as_ref().map(|index| index.range(whole).next().map(|(_, key)| *key))
    }
}

impl FromIterator<(ElementIx, ElementKey)> for Places {
    fn from_iter<I: IntoIterator<Item = (ElementIx, ElementKey)>>(places: I) -> Self {
        Self(Some(places.into_iter().collect()))
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
