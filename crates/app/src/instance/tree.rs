//! A process instance as a tree for people.

use serde_json::Value;

use crate::client::text;

/// Characters of a variable's value that are shown.
const VALUE_CHARS_MAX: usize = 100;

pub(super) fn drawn(shown: &Value) -> String {
    let mut out = head(shown);
    let key = text(&shown["processInstanceKey"]);
    for line in belongings(shown, &key) {
        out.push_str(&format!("  {line}\n"));
    }
    draw(shown, &shown["elements"], "", &mut out);
    for (what, name) in [("variables", "variables"), ("incidents", "incidents"), ("jobs", "jobs"), ("called", "called instances")]
    {
        more(&shown[what], name, "", &mut out);
    }
    out
}

fn head(shown: &Value) -> String {
    let field = |name: &str| text(&shown[name]);
    let mut lines = vec![format!(
        "{} {} version {}  {}{}",
        field("processInstanceKey"),
        field("processDefinitionId"),
        field("processDefinitionVersion"),
        field("state"),
        if shown["hasIncident"] == true { ", with incidents" } else { "" }
    )];
    let mut dates = format!("  since {}", field("startDate"));
    if shown["endDate"].is_string() {
        dates.push_str(&format!(" until {}", field("endDate")));
    }
    lines.push(dates);
    if shown["parentProcessInstanceKey"].is_string() {
        lines.push(format!("  called by {}", field("parentProcessInstanceKey")));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn draw(shown: &Value, elements: &Value, indent: &str, out: &mut String) {
    let items = items(elements);
    for (index, element) in items.iter().enumerate() {
        let is_last = index + 1 == items.len();
        let (branch, inside) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let key = text(&element["elementInstanceKey"]);
        let (id, kind, state) = (text(&element["elementId"]), text(&element["type"]), text(&element["state"]));
        out.push_str(&format!("{indent}{branch}{id}  {kind}  {state}  {key}\n"));
        let indent = format!("{indent}{inside}");
        for line in belongings(shown, &key) {
            out.push_str(&format!("{indent}   {line}\n"));
        }
        draw(shown, &element["elements"], &indent, out);
    }
    more(elements, "elements", indent, out);
}

/// What belongs to one element, line by line.
fn belongings(shown: &Value, key: &str) -> Vec<String> {
    let of = |what: &str, field: &str| -> Vec<&Value> {
        items(&shown[what]).iter().filter(|item| item[field].as_str() == Some(key)).collect()
    };
    let mut lines = Vec::new();
    for incident in of("incidents", "elementInstanceKey") {
        let field = |name: &str| text(&incident[name]);
        lines.push(format!("! incident {} {}: {}", field("incidentKey"), field("errorType"), field("errorMessage")));
    }
    for job in of("jobs", "elementInstanceKey") {
        let field = |name: &str| text(&job[name]);
        let who = if job["deadline"].is_string() && job["worker"] != "" {
            format!(", with {} until {}", field("worker"), field("deadline"))
        } else {
            String::new()
        };
        lines.push(format!("job {} {}  {}, {} tries{who}", field("jobKey"), field("type"), field("state"), field("retries")));
    }
    for task in of("userTasks", "elementInstanceKey") {
        let field = |name: &str| text(&task[name]);
        let who = if task["assignee"].is_string() { field("assignee") } else { "nobody yet".to_owned() };
        lines.push(format!("user task {}  {}, {who}", field("userTaskKey"), field("state")));
    }
    for timer in of("timers", "elementInstanceKey") {
        let field = |name: &str| text(&timer[name]);
        lines.push(format!("timer {} {}  due {}", field("timerKey"), field("elementId"), field("dueDate")));
    }
    for wait in of("waits", "elementInstanceKey") {
        let field = |name: &str| text(&wait[name]);
        match field("type").as_str() {
            "MESSAGE" => lines.push(format!("message '{}' with key '{}'  awaited", field("name"), field("correlationKey"))),
            "SIGNAL" => lines.push(format!("signal '{}'  awaited", field("name"))),
            "CONDITION" => lines.push(format!("condition of {}  awaited", field("elementId"))),
            // Shown as what was called.
            _ => {}
        }
    }
    for called in of("called", "parentElementInstanceKey") {
        let field = |name: &str| text(&called[name]);
        lines.push(format!("called {} {}  {}", field("processInstanceKey"), field("processDefinitionId"), field("state")));
    }
    for variable in of("variables", "scopeKey") {
        lines.push(format!("{} = {}", text(&variable["name"]), shortened(&text(&variable["value"]))));
    }
    lines
}

fn items(page: &Value) -> &[Value] {
    page["items"].as_array().map_or(&[], Vec::as_slice)
}

/// What is left out is said.
fn more(page: &Value, what: &str, indent: &str, out: &mut String) {
    let left_out = page["total"].as_u64().unwrap_or(0).saturating_sub(items(page).len() as u64);
    if 0 < left_out {
        out.push_str(&format!("{indent}… {left_out} more {what}: raise --limit\n"));
    }
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS_MAX) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}
