//! Tasks for people: get, search, assign, change, complete; their forms and variables.

mod change;
mod variables;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use store::query::{Entity, Field, Items, UserTaskView};
use store::row::Candidates;

use super::call::Call;
use super::describe::Kind;
use super::forms;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Filterable, Operators, Table, Value, filterable, sortable};
use super::shape::field;
use crate::error::Failure;

const NOUN: &str = "User Task";
const STATES: &[&str] =
    &["CREATING", "CREATED", "ASSIGNING", "UPDATING", "COMPLETING", "COMPLETED", "CANCELING", "CANCELED", "FAILED"];
const TRUNCATE: super::shape::Field = field("truncateValues", Kind::Boolean, "Whether to cut long values; true if left out");

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/search",
        id: "searchUserTasks",
        summary: "Search tasks for people",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/user-tasks/{userTaskKey}",
        id: "getUserTask",
        summary: "A task, open or ended",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::UserTasks, NOUN).await }),
    },
    Operation {
        method: Method::PATCH,
        path: "/v2/user-tasks/{userTaskKey}",
        id: "updateUserTask",
        summary: "Change who may do a task, its dates or its priority",
        input: Input::Optional(&change::UPDATE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(change::update(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/{userTaskKey}/assignment",
        id: "assignUserTask",
        summary: "Give a task to somebody, or claim it",
        input: Input::Required(&change::ASSIGNMENT),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(change::assign(call)),
    },
    Operation {
        method: Method::DELETE,
        path: "/v2/user-tasks/{userTaskKey}/assignee",
        id: "unassignUserTask",
        summary: "Take a task from whoever has it",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(change::unassign(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/{userTaskKey}/completion",
        id: "completeUserTask",
        summary: "A task is done",
        input: Input::Optional(&change::COMPLETION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(change::complete(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/user-tasks/{userTaskKey}/form",
        id: "getUserTaskForm",
        summary: "The form of a task; no content where it has none",
        input: Input::None,
        query: &[],
        output: Output::ObjectOrNothing(&forms::LAYOUT),
        failures: &[404],
        run: |call| Box::pin(form(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/{userTaskKey}/variables/search",
        id: "searchUserTaskVariables",
        summary: "Search the variables a task can see",
        input: Input::Search(&variables::TABLE),
        query: &[TRUNCATE],
        output: Output::Page(&super::variables::FOUND),
        failures: &[404],
        run: |call| Box::pin(variables::search(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/{userTaskKey}/effective-variables/search",
        id: "searchUserTaskEffectiveVariables",
        summary: "Search the variables a task sees: of those with one name, the innermost",
        input: Input::Search(&variables::TABLE),
        query: &[TRUNCATE],
        output: Output::Page(&super::variables::FOUND),
        failures: &[404],
        run: |call| Box::pin(variables::search_effective(call)),
    },
];

/// The task whose key is in the path.
async fn task(call: &Call) -> Result<UserTaskView, Failure> {
    match search::found(call, Entity::UserTasks, NOUN).await?.items {
        Items::UserTasks(mut views) if !views.is_empty() => Ok(views.swap_remove(0)),
        _ => Err(Failure::not_found(format!("{NOUN} not found"))),
    }
}

async fn form(call: Call) -> Result<Response, Failure> {
    let form = match task(&call).await?.form {
        Some(key) => forms::answered(&call, key).await?,
        None => None,
    };
    Ok(form.unwrap_or_else(|| StatusCode::NO_CONTENT.into_response()))
}

const fn of_list(name: &'static str, by: By) -> Filterable {
    Filterable { name, by, value: Value::Text, operators: Operators::Like }
}

static TABLE: Table = Table {
    name: "UserTask",
    entity: Entity::UserTasks,
    filters: &[
        filterable("state", Field::UserTaskState, Value::Word(STATES), Operators::Like),
        filterable("assignee", Field::Assignee, Value::Text, Operators::Like),
        filterable("priority", Field::Priority, Value::Int32, Operators::Ordered),
        filterable("elementId", Field::ElementId, Value::Text, Operators::None),
        filterable("name", Field::ElementName, Value::Text, Operators::Like),
        of_list("candidateGroup", By::Candidate(Candidates::Groups)),
        of_list("candidateUser", By::Candidate(Candidates::Users)),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::None),
        filterable("creationDate", Field::Created, Value::Time, Operators::Ordered),
        filterable("completionDate", Field::Ended, Value::Time, Operators::Ordered),
        filterable("followUpDate", Field::FollowUp, Value::Time, Operators::Ordered),
        filterable("dueDate", Field::Due, Value::Time, Operators::Ordered),
        of_list("processInstanceVariables", By::VariablesOfInstance),
        of_list("localVariables", By::Variables),
        filterable("userTaskKey", Field::UserTaskKey, Value::Key, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::None),
        Filterable { name: "tags", by: By::TagsOfInstance, value: Value::Text, operators: Operators::None },
    ],
    sorts: &[
        sortable("creationDate", Field::Created, Value::Time),
        sortable("completionDate", Field::Ended, Value::Time),
        sortable("followUpDate", Field::FollowUp, Value::Time),
        sortable("dueDate", Field::Due, Value::Time),
        sortable("priority", Field::Priority, Value::Int32),
        sortable("name", Field::ElementName, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<UserTaskView> = Layout {
    name: "UserTaskResult",
    columns: &[
        // An element without a name goes by its id.
        optional("name", Kind::Text, |view| Cell::Text(view.element_name.as_deref().unwrap_or(&view.element_id))),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        optional("assignee", Kind::Text, |view| Cell::maybe_text(view.assignee.as_deref())),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        column("candidateGroups", Kind::Texts, |view| Cell::Strings(&view.candidate_groups)),
        column("candidateUsers", Kind::Texts, |view| Cell::Strings(&view.candidate_users)),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("creationDate", Kind::Time, |view| Cell::Time(view.created)),
        optional("completionDate", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        optional("followUpDate", Kind::Time, |view| Cell::maybe(view.follow_up, Cell::Time)),
        optional("dueDate", Kind::Time, |view| Cell::maybe(view.due, Cell::Time)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        optional("externalFormReference", Kind::Text, |view| Cell::maybe_text(view.external_form.as_deref())),
        column("processDefinitionVersion", Kind::Int32, |view| Cell::Number(view.version.into())),
        column("customHeaders", Kind::Object, |view| Cell::Json(&view.headers)),
        column("priority", Kind::Int32, |view| Cell::Number(view.priority.into())),
        column("userTaskKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("elementInstanceKey", Kind::Key, |view| Cell::Key(view.element_instance.0)),
        optional("processName", Kind::Text, |view| Cell::maybe_text(view.process_name.as_deref())),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        optional("formKey", Kind::Key, |view| Cell::maybe(view.form, |form| Cell::Key(form.0))),
        column("tags", Kind::Texts, |view| Cell::Strings(&view.tags)),
        optional("businessId", Kind::Text, |view| Cell::maybe_text(view.business_id.as_deref())),
    ],
};
