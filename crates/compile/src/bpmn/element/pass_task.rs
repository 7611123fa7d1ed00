//! Undefined and manual tasks: tokens pass straight through. Mappings on them have no effect.

use model::{Kind, PassTask};

use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>, task: PassTask) -> DraftElement {
    let mut element = site.element(Some(Kind::PassTask(task)));
    element.inputs = None;
    element.outputs = None;
    element
}
