//! Who may ask from a browser. As long as nobody has to say who he is, a page from anywhere could make its visitor's browser ask a server
//! on the visitor's machine or network. So the name a server is asked by must be one of its own (a page whose name was pointed at this
//! address has another), and a page that asks must come from here or from where it was allowed.
//!
//! What is no browser need not care: it asks by address, by a name that is expected, or without one; and sends no `Origin`.

use std::net::IpAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::Response;

use super::answer;
use crate::error::{Failure, Reason};

/// How long a browser may remember what it was allowed, in seconds.
const PREFLIGHT_SECONDS: &str = "600";
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";

#[derive(Debug, Clone)]
pub struct Visitors {
    bound: IpAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Default for Visitors {
    fn default() -> Self {
        Self::new(IpAddr::from([127, 0, 0, 1]), Vec::new(), Vec::new())
    }
}

/// A request that may be answered, to a page from elsewhere if it has one.
#[derive(Debug, Default)]
pub(super) struct Admitted {
    origin: Option<HeaderValue>,
}

impl Visitors {
    /// For a server at this address that goes by these names besides (`*` for any), and whose answers pages of these origins may read
    /// (`*` for all).
    pub fn new(bound: IpAddr, hosts: Vec<String>, origins: Vec<String>) -> Self {
        Self { bound, hosts, origins }
    }

    /// The same for what listens at another address of the server.
    #[must_use]
    pub fn at(&self, bound: IpAddr) -> Self {
        Self { bound, ..self.clone() }
    }

    /// Only those who may ask get to what is behind it.
    pub fn guard(self, router: Router) -> Router {
        router.layer(middleware::from_fn(move |request: Request, next: Next| {
            let admitted = self.admit(request.headers(), request.uri());
            async move {
                let admitted = match admitted {
                    Ok(admitted) => admitted,
                    Err(failure) => return answer::problem(&failure, request.uri().path()),
                };
                match admitted.preflight(request.method(), request.headers()) {
                    Some(allowed) => allowed,
                    None => admitted.readable(next.run(request).await),
                }
            }
        }))
    }

    pub(super) fn admit(&self, headers: &HeaderMap, uri: &Uri) -> Result<Admitted, Failure> {
        // HTTP/2 has it in the address.
        let host = match headers.get(header::HOST) {
            Some(host) => host.to_str().map_err(|_| forbidden("The header 'Host' cannot be read.".to_owned()))?,
            None => uri.authority().map_or("", |authority| authority.as_str()),
        };
        if !self.goes_by(name_of(host)) {
            return Err(forbidden(format!(
                "This server does not go by the name '{}'. If it is meant to, start it with --hosts NAME.",
                name_of(host)
            )));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(Admitted::default()) };
        let text = origin.to_str().unwrap_or_default();
        let is_own = text.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host));
        if is_own {
            return Ok(Admitted::default());
        }
        if self.origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(text)) {
            return Ok(Admitted { origin: Some(origin.clone()) });
        }
        Err(forbidden(format!(
            "Pages from '{text}' may not ask this server. If they are meant to, start it with --origins ORIGIN."
        )))
    }

    fn goes_by(&self, name: &str) -> bool {
        if name.is_empty() || name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        if let Ok(address) = bare(name).parse::<IpAddr>() {
            // Nobody can point an address at another one; bound to all of them, all are its own.
            return address.is_loopback() || address == self.bound || self.bound.is_unspecified() || self.is_listed(name);
        }
        self.is_listed(name)
    }

    fn is_listed(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| host == "*" || bare(host).eq_ignore_ascii_case(bare(name)))
    }
}

impl Admitted {
    /// The answer to a browser that asks whether it may ask; none if this is not that.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let asks = method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if self.origin.is_none() || !asks {
            return None;
        }
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NO_CONTENT;
        let mut put = |name: HeaderName, value: HeaderValue| response.headers_mut().insert(name, value);
        put(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        put(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
        if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            put(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        Some(self.readable(response))
    }

    /// The answer, which the page it goes to may read.
    pub(super) fn readable(&self, mut response: Response) -> Response {
        if let Some(origin) = &self.origin {
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("origin"));
        }
        response
    }
}

/// Without the brackets around an address of version 6.
fn bare(name: &str) -> &str {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
}

/// Without the port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

fn forbidden(detail: String) -> Failure {
    Failure::new(Reason::Forbidden, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(visitors: &Visitors, host: &str, origin: Option<&str>) -> Result<bool, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let admitted = visitors.admit(&headers, &Uri::from_static("/v2/topology"));
        admitted.map(|admitted| admitted.origin.is_some()).map_err(|failure| failure.detail)
    }

    fn visitors(bound: &str, hosts: &[&str], origins: &[&str]) -> Visitors {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Visitors::new(bound.parse().unwrap(), owned(hosts), owned(origins))
    }

    #[test]
    fn a_server_goes_by_loopback_names_its_address_and_what_it_was_told() {
        let alone = visitors("127.0.0.1", &[], &[]);
        for host in ["localhost", "LocalHost:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]"] {
            assert_eq!(admit(&alone, host, None), Ok(false), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "10.0.0.7", "localhost.evil.example", "[fe80::1]", "a:b"] {
            let told = admit(&alone, host, None).unwrap_err();
            assert!(told.contains("--hosts"), "{host}: {told}");
        }
        assert_eq!(admit(&visitors("10.0.0.7", &[], &[]), "10.0.0.7:80", None), Ok(false));
        assert!(admit(&visitors("10.0.0.7", &[], &[]), "10.0.0.8:80", None).is_err());
        let everywhere = visitors("0.0.0.0", &["caudal.example"], &[]);
        for host in ["10.0.0.8", "[fe80::1]:1", "CAUDAL.example:443"] {
            assert_eq!(admit(&everywhere, host, None), Ok(false), "{host}");
        }
        assert!(admit(&everywhere, "evil.example", None).is_err());
        for listed in ["fe80::1", "[fe80::1]"] {
            assert_eq!(admit(&visitors("127.0.0.1", &[listed], &[]), "[fe80::1]:8080", None), Ok(false), "{listed}");
        }
        assert_eq!(admit(&visitors("127.0.0.1", &["*"], &[]), "evil.example", None), Ok(false));
    }

    #[test]
    fn pages_ask_from_here_or_from_where_it_was_allowed() {
        let told = visitors("127.0.0.1", &[], &["https://app.example"]);
        assert_eq!(admit(&told, "localhost:8080", Some("http://localhost:8080")), Ok(false));
        assert_eq!(admit(&told, "localhost:8080", Some("https://app.example")), Ok(true));
        for origin in ["null", "http://localhost:3000", "http://localhost", "http://app.example", "https://evil.example"] {
            assert!(admit(&told, "localhost:8080", Some(origin)).unwrap_err().contains("--origins"), "{origin}");
        }
        assert_eq!(admit(&visitors("127.0.0.1", &[], &["*"]), "localhost", Some("https://any.example")), Ok(true));
    }
}
