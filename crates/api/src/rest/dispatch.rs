//! From a request to its operation and back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::{Uri, header};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use bytes::Bytes;
use host::{Host, Timed};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::call::{Call, Server};
use super::operation::{self, Input, Operation, Output};
use super::{Config, answer, body, contract, media, openapi};
use crate::bound::Bound;
use crate::budget::Budgets;
use crate::caller::Caller;
use crate::error::{Failure, Reason};
use crate::traced;

/// About as many bytes of a file that comes in are held at a time.
const UPLOAD_BYTES: usize = 2 * store::documents::PART_BYTES;

/// Everything REST serves. `draining` turns true when the server is to end; it never turns back.
pub fn router(host: Host, config: &Config, budgets: Budgets, draining: watch::Receiver<bool>) -> Router {
    let server = Arc::new(Server { host, config: config.clone(), budgets, draining });
    let mut paths: BTreeMap<&'static str, Vec<&'static Operation>> = BTreeMap::new();
    for operation in operation::all() {
        paths.entry(operation.path).or_default().push(operation);
    }
    let mut router = openapi::router(config);
    for (path, operations) in &paths {
        let inherited = paths.iter().filter(|(pattern, _)| covers(pattern, path)).flat_map(|(_, operations)| operations);
        let inherited = inherited.filter(|other| operations.iter().all(|own| own.method != other.method));
        let methods = operations.iter().chain(inherited);
        router = router.route(path, methods.fold(MethodRouter::new(), |methods, operation| add(methods, operation, &server)));
    }
    router.fallback(no_endpoint).method_not_allowed_fallback(move |request: Request| method_not_allowed(server, request))
}

fn add(methods: MethodRouter, operation: &'static Operation, server: &Arc<Server>) -> MethodRouter {
    let filter = MethodFilter::try_from(operation.method.clone()).expect("operations use plain methods");
    let server = server.clone();
    methods.on(filter, move |request: Request| dispatch(server, operation, request))
}

/// Whether a path with a parameter matches a literal one, as `/process-instances/{key}` does `/process-instances/search`: a method the
/// literal one does not have is then that of the other.
fn covers(pattern: &str, path: &str) -> bool {
    pattern != path
        && pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(|(theirs, ours)| theirs == ours || theirs.starts_with('{'))
}

async fn dispatch(server: Arc<Server>, operation: &'static Operation, request: Request) -> Response {
    let uri = request.uri().clone();
    let _timed = super::workflows::owns(operation.path).then(|| Timed::new(&server.host.metrics().workflows.http_seconds));
    let problem = |failure: Failure| answer::problem(&failure, uri.path());
    let admitted = match server.config.visitors.admit(request.headers(), &uri) {
        Ok(admitted) => admitted,
        Err(failure) => return problem(failure),
    };
    let span = traced::request(&operation.method, operation.path, request.headers());
    let response = run(server, operation, request).instrument(span.clone()).await.unwrap_or_else(problem);
    span.record("status", response.status().as_u16());
    admitted.readable(response)
}

async fn run(server: Arc<Server>, operation: &'static Operation, request: Request) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    if !matches!(operation.output, Output::File) {
        media::check_accept(headers, operation.produces())?;
    }
    let config = &server.config;
    let mut held = server.budgets.bodies.nothing();
    let mut upload = None;
    let (request, deployment) = (Bound::of_request(config.request_bytes_max), Bound::of_deployment(config.deployment_bytes_max));
    let body = match operation.input {
        Input::None => Bytes::new(),
        Input::Upload(_) => {
            media::check_content(headers, "multipart/form-data")?;
            held.grow(UPLOAD_BYTES)?;
            upload = Some(body);
            Bytes::new()
        }
        Input::Files => {
            media::check_content(headers, "multipart/form-data")?;
            body::read(headers, body, deployment, config.body_timeout, &mut held).await?
        }
        Input::Json(_, true) | Input::Required(_) => {
            media::check_content(headers, "application/json")?;
            body::read(headers, body, request, config.body_timeout, &mut held).await?
        }
        Input::Json(_, false) | Input::Ignored | Input::Optional(_) | Input::Search(_) | Input::Filter(_) => {
            let body = body::read(headers, body, request, config.body_timeout, &mut held).await?;
            if !body.is_empty() || headers.contains_key(header::CONTENT_TYPE) {
                media::check_content(headers, "application/json")?;
            }
            body
        }
    };
    // The one place where it is decided who asks.
    let caller = Caller::anonymous(traced::of_headers(headers));
    let call = Call {
        server: server.clone(),
        operation,
        caller,
        uri: parts.uri,
        headers: parts.headers,
        body,
        upload: Mutex::new(upload),
    };
    // A command waits in the inbox for about as long as its caller does: until then its bytes count.
    let patience = server.host.limits().answer_timeout;
    held.during(patience, (operation.run)(call)).await
}

async fn no_endpoint(method: axum::http::Method, uri: Uri) -> Response {
    let path = uri.path();
    let detail = contract::explained(&method, path).unwrap_or_else(|| format!("No endpoint {method} {path}."));
    answer::problem(&Failure::new(Reason::NoEndpoint, detail), path)
}

/// Also where browsers ask whether they may ask.
async fn method_not_allowed(server: Arc<Server>, request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    match server.config.visitors.admit(request.headers(), request.uri()) {
        Err(failure) => answer::problem(&failure, path),
        Ok(admitted) => admitted.preflight(method, request.headers()).unwrap_or_else(|| {
            let failure = match contract::explained(method, path) {
                Some(detail) => Failure::new(Reason::NoEndpoint, detail),
                None => Failure::new(Reason::MethodNotAllowed, format!("Method '{method}' is not supported.")),
            };
            admitted.readable(answer::problem(&failure, path))
        }),
    }
}
