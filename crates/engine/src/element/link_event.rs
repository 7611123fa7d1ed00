//! A link throw event goes on at the link catch event of its name, as if a flow led there.

use model::LinkThrow;

use crate::ElementKey;
use crate::step::Run;

/// The catch event is about to be entered before the throw event is left, so that the scope does not end in between.
pub(crate) fn leave(run: &mut Run<'_>, key: ElementKey, link: &LinkThrow) {
    let scope = run.instance.elements[&key].scope;
    run.schedule(link.catch, scope);
    run.leave(key, &[]);
}
