//! A worker has done a job.

use axum::response::Response;
use engine::{Document, JobKey};
use store::log::{Command, DirectAdHoc};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Fields, Shape, field};

const AD_HOC: &str = "adHocSubProcess";

pub(super) static COMPLETION: Shape = Shape {
    name: "JobCompletionRequest",
    fields: &[
        field("variables", Kind::Object, "What came of it"),
        field(
            "result",
            Kind::Fields(&RESULT),
            "What the worker of an ad-hoc sub-process decides; that of a listener has no effect yet",
        ),
    ],
};

static RESULT: Shape = Shape {
    name: "JobResult",
    fields: &[
        field("type", Kind::Word(&["userTask", AD_HOC]), "Which kind of result"),
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
    let mut fields = call.optional(&COMPLETION)?;
    let variables = fields.document("variables");
    let result = fields.object("result").and_then(|mut result| (result.word("type") == Some(AD_HOC)).then_some(result));
    let command = match result {
        Some(result) => Command::DirectAdHoc(directed(job, variables, result)?),
        None => Command::CompleteJob { job, variables },
    };
    call.perform("COMPLETE", command).await
}

fn directed(job: JobKey, variables: Document, mut result: Fields<'_>) -> Result<DirectAdHoc, Failure> {
    let mut activities = Vec::new();
    for mut activity in result.objects("activateElements") {
        let id = activity.shared("elementId").ok_or_else(|| Failure::invalid("No elementId provided."))?;
        activities.push((id, activity.document("variables")));
    }
    let is_over = result.boolean("isCompletionConditionFulfilled") == Some(true);
    let drop_rest = result.boolean("isCancelRemainingInstances") == Some(true);
    Ok(DirectAdHoc { job, variables, activities, is_over, drop_rest })
}
