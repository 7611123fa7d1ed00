//! Modifications in a line, as traces write them.

use crate::{Activation, Ancestor, Document, ElementKey, Modification, Move, ScopedVariables, Which};

impl Modification {
    /// `+a` enters an element, `-a` ends all of one, `-=k` ends one element instance; `a>b` moves all and `k=>b` one. Behind an element to
    /// enter: `^k` says in which element instance, `^^` in the one around the source of a move, `^?` in those of the source; `@s` is the
    /// scope of the variables. What `k` stands for is the caller's to say.
    pub fn from_words<'w>(
        words: impl IntoIterator<Item = &'w str>,
        variables: &Document,
        element: impl Fn(&str) -> Result<ElementKey, String>,
    ) -> Result<Self, String> {
        let mut modification = Self::default();
        for word in words {
            let (rest, scope) = word.split_once('@').unwrap_or((word, ""));
            let (rest, around) = rest.split_once('^').map_or((rest, None), |(rest, around)| (rest, Some(around)));
            let scoped = ScopedVariables { scope: scope.into(), variables: variables.clone() };
            let variables = if variables.is_empty() { Vec::new() } else { vec![scoped] };
            if let Some(key) = rest.strip_prefix("-=") {
                modification.terminate.push(Which::Key(element(key)?));
            } else if let Some(id) = rest.strip_prefix('-') {
                modification.terminate.push(Which::Id(id.into()));
            } else if let Some(id) = rest.strip_prefix('+') {
                let ancestor = around.map(&element).transpose()?;
                modification.activate.push(Activation { element: id.into(), ancestor, variables });
            } else {
                let wrong = || format!("'{word}' is none of +ELEMENT, -ELEMENT, -=KEY, ELEMENT>ELEMENT, KEY=>ELEMENT");
                let (source, target) = rest.split_once('>').ok_or_else(wrong)?;
                let source = match source.strip_suffix('=') {
                    Some(key) => Which::Key(element(key)?),
                    None => Which::Id(source.into()),
                };
                let ancestor = match around {
                    None => Ancestor::Any,
                    Some("^") => Ancestor::ParentOfSource,
                    Some("?") => Ancestor::OfSource,
                    Some(key) => Ancestor::Key(element(key)?),
                };
                modification.moves.push(Move { source, target: target.into(), ancestor, variables });
            }
        }
        Ok(modification)
    }
}
