//! How requests are refused, and what is told about the server itself.

use super::layer::Layer;
use super::*;

#[tokio::test]
async fn every_refusal_is_a_problem_with_its_title() {
    let server = Server::start().await;
    let json = &[("content-type", "application/json")][..];
    for (method, path, body, headers, status, title) in [
        ("GET", "/v2/nothing-here", "", &[][..], 404, "Not Found"),
        ("GET", "/v2/topology/", "", &[], 404, "Not Found"),
        ("PUT", "/v2/process-instances", "{}", &[], 405, "Method Not Allowed"),
        ("GET", "/v2/process-instances/search", "", &[], 400, "Bad Request"),
        ("GET", "/v2/jobs/activation", "", &[], 405, "Method Not Allowed"),
        ("GET", "/v2/license", "", &[("accept", "application/xml")], 406, "Not Acceptable"),
        ("POST", "/v2/process-instances", "{}", &[("content-type", "text/plain")], 415, "Unsupported Media Type"),
        ("POST", "/v2/process-instances", "", &[], 415, "Unsupported Media Type"),
        ("POST", "/v2/process-instances", "", json, 400, "Bad Request"),
        ("POST", "/v2/process-instances", "null", json, 400, "Bad Request"),
        ("POST", "/v2/process-instances", "{oops", json, 400, "Bad Request"),
        ("POST", "/v2/process-instances", r#"{"processDefinitionKey":"1"}"#, json, 404, "NOT_FOUND"),
        ("POST", "/v2/process-instances", r#"{"processDefinitionId":"1 2"}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/process-instances", r#"{"processDefinitionId":"x","tenantId":"blue"}"#, json, 400, "INVALID_ARGUMENT"),
        (
            "POST",
            "/v2/process-instances",
            r#"{"processDefinitionId":"x","runtimeInstructions":[{"type":"PAUSE","afterElementId":"a"}]}"#,
            json,
            400,
            "INVALID_ARGUMENT",
        ),
        ("POST", "/v2/process-instances", r#"{"processDefinitionId":"x"}"#, &[("idempotency-key", "")], 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/jobs/activation", "{}", json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/jobs/5/completion", "{}", json, 404, "NOT_FOUND"),
        ("POST", "/v2/jobs/-5/completion", "", &[], 404, "NOT_FOUND"),
        ("PATCH", "/v2/jobs/5", r#"{"changeset":{}}"#, json, 400, "INVALID_ARGUMENT"),
        ("PATCH", "/v2/jobs/5", r#"{"changeset":{"retries":1},"operationReference":0}"#, json, 404, "NOT_FOUND"),
        ("POST", "/v2/incidents/5/resolution", r#"{"operationReference":0}"#, json, 404, "NOT_FOUND"),
        ("POST", "/v2/decision-instances/5/deletion", r#"{"operationReference":0}"#, json, 404, "NOT_FOUND"),
        ("POST", "/v2/resources/5/deletion", r#"{"operationReference":0}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/process-instances/5/cancellation", r#"{"operationReference":0}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/decision-definitions/evaluation", "{}", json, 400, "Bad Request"),
        ("GET", "/v2/decision-instances/5-1", "", &[], 404, "NOT_FOUND"),
        ("GET", "/v2/decision-instances/5", "", &[], 400, "INVALID_ARGUMENT"),
        ("GET", "/v2/decision-instances/5-x", "", &[], 400, "INVALID_ARGUMENT"),
        ("GET", "/v2/decision-instances/-1", "", &[], 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/jobs/search", r#"{"sort":null}"#, json, 400, "Bad Request"),
        ("POST", "/v2/process-instances/search", r#"{"filter":{"tags":["a b"]}}"#, json, 400, "INVALID_ARGUMENT"),
        ("PUT", "/v2/element-instances/5/variables", r#"{"variables":{}}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/deployments", "x", &[("content-type", "multipart/form-data")], 400, "Bad Request"),
        ("GET", "/v2/variables/abc", "", &[], 400, "Bad Request"),
        ("GET", "/v2/audit-logs/abc", "", &[], 404, "NOT_FOUND"),
        ("POST", "/v2/global-task-listeners/search", r#"{"sort":[{"order":"ASC"}]}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/global-task-listeners/search", r#"{"page":{"limit":-1}}"#, json, 400, "INVALID_ARGUMENT"),
        ("POST", "/v2/global-task-listeners/search", r#"{"page":{"from":"x"}}"#, json, 400, "Bad Request"),
        ("GET", "/v2/resources/5", "", &[], 404, "NOT_FOUND"),
        ("POST", "/v2/variables/search?truncateValues=perhaps", "", &[], 400, "Bad Request"),
    ] {
        let reply = server.call(method, path, body, headers).await;
        let seen = (reply.status, reply.title(), reply.media.as_str());
        assert_eq!(seen, (status, title.to_owned(), "application/problem+json"), "{method} {path} {body}: {}", reply.text);
        assert_eq!(reply.json()["instance"], path.split('?').next().unwrap(), "{method} {path}");
    }
}

#[tokio::test]
async fn a_body_too_long_is_refused() {
    let server = Server::start_with(&Config { request_bytes_max: 10, ..Config::default() }).await;
    let reply = server.post("/v2/process-instances", r#"{"processDefinitionId":"x"}"#).await;
    assert_eq!((reply.status, reply.media.as_str()), (413, "application/problem+json"));
    let named = "longer than 10 bytes, the most this server takes (limits.request_bytes in its configuration)";
    assert!(reply.text.contains(named), "{}", reply.text);
}

#[tokio::test]
async fn a_deployment_has_a_limit_of_its_own() {
    let small = Config { request_bytes_max: 10, ..Config::default() };
    assert_eq!(Server::start_with(&small).await.deploy().await.status, 200, "no other request may be that long");
    let reply = Server::start_with(&Config { deployment_bytes_max: 500, ..small }).await.deploy().await;
    assert!(
        reply.status == 413 && reply.text.contains("500 bytes") && reply.text.contains("limits.deployment_bytes"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn the_cluster_tells_about_itself() {
    let server = Server::start().await;
    for path in ["/v2/topology", "/v1/topology"] {
        let topology = server.get(path).await.json();
        assert_eq!(topology["brokers"][0]["partitions"][0]["role"], "leader", "{topology}");
        assert_eq!(topology["gatewayVersion"], "8.9.17");
    }
    assert_eq!(server.get("/v2/status").await.status, 204);
    assert_eq!(server.get("/v2/license").await.json()["isCommercial"], false);
    assert_eq!(server.get("/v2/authentication/me").await.json()["username"], "anonymous");
}

#[tokio::test]
async fn the_description_and_its_page_are_served() {
    let server = Server::start().await;
    let description = server.get("/openapi.json").await;
    assert_eq!((description.media.as_str(), description.json()["openapi"].as_str()), ("application/json", Some("3.1.0")));
    let page = server.get("/docs").await.text;
    assert!(page.contains("openapi.json"));
    // A browser takes the last of two functions of one name without a word.
    let functions = page.lines().filter_map(|line| line.strip_prefix("function ")?.split('(').next());
    for function in functions.clone() {
        assert_eq!(functions.clone().filter(|other| *other == function).count(), 1, "{function} is there twice");
        assert!(1 < page.matches(function).count(), "nobody calls {function}");
    }
    assert_eq!(page.matches("addEventListener(\"submit\"").count(), 1, "one form to try a call");
}

#[tokio::test]
async fn every_answer_has_the_properties_it_describes() {
    let server = Server::start().await;
    server.deploy().await;
    server.create("{\"n\":1}").await;
    let description = server.get("/openapi.json").await.json();
    for (path, schema) in [
        ("/v2/process-definitions/search", "ProcessDefinitionResult"),
        ("/v2/process-instances/search", "ProcessInstanceResult"),
        ("/v2/element-instances/search", "ElementInstanceResult"),
        ("/v2/variables/search", "VariableSearchResult"),
        ("/v2/jobs/search", "JobSearchResult"),
    ] {
        let item = server.post(path, "").await.json()["items"][0].clone();
        for (name, property) in description["components"]["schemas"][schema]["properties"].as_object().unwrap() {
            let kinds = match &property["type"] {
                Value::Array(kinds) => kinds.clone(),
                kind => vec![kind.clone()],
            };
            let kind = match &item[name] {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            assert!(item.get(name).is_some() && kinds.contains(&kind.into()), "{schema}.{name}: {} in {item}", item[name]);
        }
    }
}

#[tokio::test]
async fn a_search_that_takes_too_long_says_what_to_do() {
    let limit = Duration::from_millis(1_234);
    let slow = Layer::of(memory()).on_search(move |_| Err(store::Error::TooSlow { limit }));
    let server = Server::start_over(slow.shared(), &Config::default(), Budgets::default()).await;
    for of in ["process-instances", "element-instances", "jobs", "incidents", "variables", "user-tasks"] {
        let reply = server.post(&format!("/v2/{of}/search"), "{}").await;
        assert_eq!((reply.status, &*reply.title()), (504, "DEADLINE_EXCEEDED"), "{of}: {}", reply.text);
        assert!(reply.text.contains("longer than 1234 ms: narrow it by keys"), "{of}: {}", reply.text);
        assert!(reply.text.contains("limits.search_timeout_millis"), "{of}: {}", reply.text);
    }
}
