//! A worker has done a job.

use axum::response::Response;
use engine::JobKey;
use store::log::{AdHocResult, Command, JobResult};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Fields, Shape, field};
use crate::task_listener::{self, Said};

const AD_HOC: &str = "adHocSubProcess";

pub(super) static COMPLETION: Shape = Shape {
    name: "JobCompletionRequest",
    fields: &[
        field("variables", Kind::Object, "What came of it"),
        field("result", Kind::Fields(&RESULT), "What a listener or the worker of an ad-hoc sub-process says besides"),
    ],
};

static RESULT: Shape = Shape {
    name: "JobResult",
    fields: &[
        field("type", Kind::Word(&["userTask", AD_HOC]), "Which kind of result"),
        field("denied", Kind::Boolean, "Whether the listener refuses; false if left out"),
        field("deniedReason", Kind::Text, "Why it refuses"),
        field("corrections", Kind::Fields(&CORRECTIONS), "What it changes; what is left out stays as it is"),
        field("activateElements", Kind::FieldsList(&ACTIVATE), "What to activate"),
        field("isCompletionConditionFulfilled", Kind::Boolean, "Whether the ad-hoc sub-process is done; false if left out"),
        field("isCancelRemainingInstances", Kind::Boolean, "Whether what is still active is cancelled; false if left out"),
    ],
};

static CORRECTIONS: Shape = Shape {
    name: "JobResultCorrections",
    fields: &[
        field("assignee", Kind::Text, "Who is to do it; empty for nobody"),
        field("dueDate", Kind::Text, "A date and time after RFC 3339; empty for none"),
        field("followUpDate", Kind::Text, "A date and time after RFC 3339; empty for none"),
        field("candidateUsers", Kind::Texts, "Users who may do it; empty for none"),
        field("candidateGroups", Kind::Texts, "Groups who may do it; empty for none"),
        field("priority", Kind::Int32, "The higher the more urgent"),
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
    let result = match fields.object("result") {
        None => None,
        Some(mut given) => match given.word("type") == Some(AD_HOC) {
            true => Some(Box::new(directed(given)?)),
            false => result(given).map_err(Failure::invalid)?,
        },
    };
    let command = Command::CompleteJob { job, variables, result };
    call.perform("COMPLETE", command).await
}

fn directed(mut result: Fields<'_>) -> Result<JobResult, Failure> {
    let mut activities = Vec::new();
    for mut activity in result.objects("activateElements") {
        let id = activity.shared("elementId").ok_or_else(|| Failure::invalid("No elementId provided."))?;
        activities.push((id, activity.document("variables")));
    }
    let is_over = result.boolean("isCompletionConditionFulfilled") == Some(true);
    let drop_rest = result.boolean("isCancelRemainingInstances") == Some(true);
    Ok(JobResult::AdHoc(AdHocResult { activities, is_over, drop_rest }))
}

fn result(mut given: Fields<'_>) -> Result<Option<Box<JobResult>>, String> {
    let mut said = Said {
        denied: given.boolean("denied").unwrap_or_default(),
        denied_reason: given.shared("deniedReason"),
        ..Said::default()
    };
    if let Some(mut corrections) = given.object("corrections") {
        said.assignee = corrections.shared("assignee");
        said.due_date = corrections.text("dueDate").map(Into::into);
        said.follow_up_date = corrections.text("followUpDate").map(Into::into);
        said.candidate_users = corrections.texts_maybe("candidateUsers");
        said.candidate_groups = corrections.texts_maybe("candidateGroups");
        said.priority = corrections.int32("priority");
    }
    task_listener::result(said)
}
