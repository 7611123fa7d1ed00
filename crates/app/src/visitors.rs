//! Which names and pages may ask, from the settings. What could never fit anything is refused: who wrote it meant something else.

use std::net::{IpAddr, Ipv6Addr};

use api::rest::Visitors;

use crate::settings::Settings;

pub(crate) fn read(settings: &Settings, bound: IpAddr) -> Result<Visitors, String> {
    let (hosts, origins) = (settings.texts("hosts"), settings.texts("origins"));
    if let Some(host) = hosts.iter().find(|host| *host != "*" && !is_name(host)) {
        return Err(format!(
            "hosts is '{host}': use the name alone, such as caudal.example, without scheme, port or path; an address; or * for any"
        ));
    }
    if let Some(origin) = origins.iter().find(|origin| *origin != "*" && !is_origin(origin)) {
        return Err(format!(
            "origins is '{origin}': use what a browser says of a page, such as https://app.example or http://localhost:3000, \
             with the scheme, with the port if it is not the scheme's own, and with nothing behind; or * for all"
        ));
    }
    Ok(Visitors::new(bound, hosts, origins))
}

/// As a browser writes it: names beyond ASCII in their other spelling (`xn--…`).
fn is_name(text: &str) -> bool {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    bare.parse::<Ipv6Addr>().is_ok() || text.split('.').all(is_part)
}

fn is_origin(text: &str) -> bool {
    let Some((scheme, place)) = text.split_once("://") else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let own_port = match &*scheme.to_ascii_lowercase() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        Some(_) | None => (place, None),
    };
    let is_bare_address = name.contains(':') && !name.starts_with('[');
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|number| Some(number) != own_port);
    is_scheme && is_name(name) && !is_bare_address && port.is_none_or(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Given;

    fn told(key: &'static str, text: &str) -> Result<(), String> {
        let settings = Settings::read(Given::of(&[(key, text)])).unwrap();
        read(&settings, IpAddr::from([127, 0, 0, 1])).map(drop)
    }

    #[test]
    fn names_stand_alone() {
        for fine in
            ["*", "caudal", "caudal.example, other_one.example", "10.0.0.7", "fe80::1", "[fe80::1]", "xn--bcher-kva.example"]
        {
            assert_eq!(told("hosts", fine), Ok(()));
        }
        for senseless in
            ["https://caudal.example", "caudal.example:8080", "caudal.example/", "*.example", "bücher.example", "a b", "a..b"]
        {
            let error = told("hosts", &format!("fine.example,{senseless}")).unwrap_err();
            assert!(error.starts_with(&format!("hosts is '{senseless}': use the name alone, such as ")), "{error}");
        }
    }

    #[test]
    fn origins_are_what_browsers_say() {
        for fine in [
            "*",
            "https://app.example",
            "http://localhost:3000,HTTPS://app.example:8443",
            "http://[::1]:3000",
            "http://[::1]",
            "app+x://local",
        ] {
            assert_eq!(told("origins", fine), Ok(()));
        }
        for senseless in [
            "app.example",
            "localhost:3000",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example:443",
            "http://app.example:80",
            "https://*.example",
            "https://me@app.example",
            "http://::1",
            "https://",
            "://app.example",
            "null",
        ] {
            let error = told("origins", &format!("https://fine.example,{senseless}")).unwrap_err();
            assert!(error.starts_with(&format!("origins is '{senseless}': use what a browser says")), "{error}");
        }
    }
}
