//! Documents, as clients see them.

use axum::http::StatusCode;

use super::*;

const FORM: &[(&str, &str)] = &[("content-type", "multipart/form-data; boundary=b")];

fn part(name: &str, file_name: Option<&str>, content: &str) -> String {
    let file_name = file_name.map_or(String::new(), |name| format!("; filename=\"{name}\""));
    format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file_name}\r\nContent-Type: text/html\r\n\r\n{content}\r\n")
}

fn form(parts: &[String]) -> String {
    parts.concat() + "--b--\r\n"
}

async fn create(server: &Server, query: &str, parts: &[String]) -> Reply {
    server.call("POST", &format!("/v2/documents{query}"), &form(parts), FORM).await
}

fn path_of(reference: &Value) -> String {
    let text = |name: &str| reference[name].as_str().unwrap().to_owned();
    format!("/v2/documents/{}?storeId={}&contentHash={}", text("documentId"), text("storeId"), text("contentHash"))
}

#[tokio::test]
async fn a_document_comes_back_as_it_was() {
    let server = Server::start().await;
    // More than one part, and more than one that is not full.
    let content = "0123456789abcdef".repeat(40_000) + "é";
    let metadata = r#"{"fileName":"no te\"s.html","expiresAt":"2999-01-01T00:00:00Z","size":1,"processDefinitionId":"p","processInstanceKey":"12","customProperties":{"a":[1]}}"#;
    let reply = create(&server, "", &[part("file", Some("x"), &content), part("metadata", None, metadata)]).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let reference = reply.json();
    assert_eq!((&reference["camunda.document.type"], &reference["storeId"]), (&"camunda".into(), &"caudal".into()));
    assert_eq!(reference["contentHash"].as_str().unwrap().len(), 64);
    let known = &reference["metadata"];
    assert_eq!((&known["contentType"], &known["fileName"]), (&"text/html".into(), &"no te\"s.html".into()));
    assert_eq!((&known["size"], &known["customProperties"]["a"][0]), (&content.len().into(), &1.into()));
    assert_eq!((&known["processInstanceKey"], &known["expiresAt"]), (&"12".into(), &"2999-01-01T00:00:00.000Z".into()));

    let request = Request::builder().uri(path_of(&reference)).header("accept", "text/plain").body(Body::empty()).unwrap();
    let response = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((header("content-type"), header("x-content-type-options")), ("text/html".to_owned(), "nosniff".to_owned()));
    assert_eq!(header("content-disposition"), "attachment; filename*=UTF-8''no%20te%22s.html");
    assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert_eq!(bytes, content.as_bytes());

    let path = path_of(&reference);
    let id = reference["documentId"].as_str().unwrap();
    assert_eq!(server.call("DELETE", &format!("/v2/documents/{id}"), "", &[]).await.status, 204);
    assert_eq!(server.call("DELETE", &format!("/v2/documents/{id}"), "", &[]).await.status, 404);
    assert_eq!(server.get(&path).await.status, 404);
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let config = Config { document_bytes_max: 10, ..Config::default() };
    let server = Server::start_with(&config).await;
    let file = |content: &str| vec![part("file", Some("x"), content)];
    let reference = create(&server, "?documentId=mine", &file("short")).await.json();
    assert_eq!(reference["documentId"], "mine");
    for (query, parts, status, title) in [
        ("?documentId=mine", file("other"), 409, "ALREADY_EXISTS"),
        ("?storeId=elsewhere", file("x"), 400, "INVALID_ARGUMENT"),
        ("?documentId=", file("x"), 400, "INVALID_ARGUMENT"),
        ("?colour=blue", file("x"), 400, "Bad Request"),
        ("", file("eleven bytes"), 413, "Content Too Large"),
        ("", vec![part("metadata", None, "{}")], 400, "Bad Request"),
        ("", vec![part("file", None, "x"), part("metadata", None, "{oops")], 400, "Bad Request"),
        ("", vec![part("file", None, "x"), part("metadata", None, r#"{"expiresAt":"soon"}"#)], 400, "INVALID_ARGUMENT"),
        ("", vec![part("file", None, "x"), part("metadata", None, r#"{"processDefinitionId":"1p"}"#)], 400, "INVALID_ARGUMENT"),
    ] {
        let reply = create(&server, query, &parts).await;
        assert_eq!((reply.status, reply.title()), (status, title.to_owned()), "{query} {}", reply.text);
    }
    assert_eq!(server.post("/v2/documents", "{}").await.status, 415);
    for (path, status) in [
        ("/v2/documents/mine".to_owned(), 400),
        ("/v2/documents/mine?contentHash=abc".to_owned(), 400),
        (path_of(&reference).replace("mine", "other"), 404),
        (path_of(&reference), 200),
    ] {
        assert_eq!(server.get(&path).await.status, status, "{path}");
    }
    // One whose time is over is gone.
    let past = vec![part("file", None, "x"), part("metadata", None, r#"{"expiresAt":"2001-01-01T00:00:00Z"}"#)];
    let reply = create(&server, "", &past).await;
    assert_eq!(server.get(&path_of(&reply.json())).await.status, 404);
}

#[tokio::test]
async fn files_of_a_batch_stand_for_themselves() {
    let server = Server::start_with(&Config { document_bytes_max: 10, ..Config::default() }).await;
    let batch = async |parts: &[String]| server.call("POST", "/v2/documents/batch", &form(parts), FORM).await;
    let files = [part("files", Some("a"), "one"), part("files", Some("b"), "two")];
    let list = part("metadataList", None, r#"[{"fileName":"A"},{"contentType":"text/plain"}]"#);
    let reply = batch(&[files[0].clone(), files[1].clone(), list]).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let created = &reply.json()["createdDocuments"];
    assert_eq!((&created[0]["metadata"]["fileName"], &created[1]["metadata"]["fileName"]), (&"A".into(), &"b".into()));
    assert_eq!(created[1]["metadata"]["contentType"], "text/plain");
    assert_eq!(server.get(&path_of(&created[1])).await.text, "two");

    let reply = batch(&[files[0].clone(), part("files", Some("big"), "eleven bytes"), files[1].clone()]).await;
    assert_eq!(reply.status, 207, "{}", reply.text);
    assert_eq!(reply.json()["createdDocuments"].as_array().unwrap().len(), 2);
    let failed = &reply.json()["failedDocuments"][0];
    assert_eq!((&failed["fileName"], &failed["status"]), (&"big".into(), &413.into()));
    assert_eq!(batch(&[files[0].clone(), files[1].clone(), part("metadataList", None, "{}")]).await.status, 400);
    assert_eq!(batch(&[]).await.status, 400);
}

#[tokio::test]
async fn a_link_leads_to_its_document_for_a_while() {
    let server = Server::start().await;
    let reference = create(&server, "", &[part("file", Some("x"), "hello")]).await.json();
    let path = path_of(&reference).replace('?', "/links?");
    let headers = [("host", "localhost:8080")];
    let reply = server.call("POST", &path, r#"{"timeToLive":60000}"#, &headers).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let url = reply.json()["url"].as_str().unwrap().to_owned();
    let path_of_link = url.strip_prefix("http://localhost:8080").expect("it leads to where it was asked");
    assert_eq!(server.get(path_of_link).await.text, "hello");
    assert_eq!(server.get("/v1/document-links/nothing").await.status, 404);
    for (body, status) in [(r#"{"timeToLive":0}"#, 400), (r#"{"timeToLive":999999999999}"#, 400), ("", 201)] {
        assert_eq!(server.call("POST", &path, body, &[]).await.status, status, "{body}");
    }
    assert_eq!(server.call("POST", &path.replace("contentHash=", "contentHash=0"), "", &[]).await.status, 400);
    let id = reference["documentId"].as_str().unwrap();
    server.call("DELETE", &format!("/v2/documents/{id}"), "", &[]).await;
    assert_eq!(server.get(path_of_link).await.status, 404, "it goes with its document");
}
