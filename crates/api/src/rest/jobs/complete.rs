//! A worker has done a job.

use axum::response::Response;
use engine::JobKey;
use store::log::Command;

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Shape, field};

pub(super) static COMPLETION: Shape = Shape {
    name: "JobCompletionRequest",
    fields: &[
        field("variables", Kind::Object, "What came of it"),
        field("result", Kind::Fields(&RESULT), "Of jobs of listeners, which there are none of yet; without effect"),
    ],
};

static RESULT: Shape = Shape {
    name: "JobResult",
    fields: &[
        field("type", Kind::Word(&["userTask", "adHocSubProcess"]), "Which kind of result"),
        field("denied", Kind::Boolean, "Whether the listener refuses"),
        field("deniedReason", Kind::Text, "Why it refuses"),
        field("corrections", Kind::Object, "What it changes"),
        field("activateElements", Kind::FieldsList(&ACTIVATE), "What to activate"),
        field("isCompletionConditionFulfilled", Kind::Boolean, "Whether the ad-hoc sub-process is done"),
        field("isCancelRemainingInstances", Kind::Boolean, "Whether what is still active is cancelled"),
    ],
};

static ACTIVATE: Shape = Shape {
    name: "JobResultActivateElement",
    fields: &[field("elementId", Kind::Text, "The element"), field("variables", Kind::Object, "Variables for it")],
};

pub(super) async fn complete(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let variables = call.optional(&COMPLETION)?.document("variables");
    call.perform("COMPLETE", Command::CompleteJob { job, variables }).await
}
