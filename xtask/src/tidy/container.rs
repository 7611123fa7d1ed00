//! `deploy/Containerfile` is not built by a test, as nothing here runs containers: so what it says is compared with what it speaks of.

use super::Finding;
use super::files::Checkout;
use crate::dist;

const DOCUMENT: &str = "deploy/Containerfile";
const SETTINGS: &str = "docs/settings.md";
/// Where the server looks for the authorities that the system trusts.
const TRUST: &str = "crates/app/src/trust.rs";
/// Where cargo puts what it builds in there.
const BUILT: &str = "/source/target/release/";

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let text = |path: &str| checkout.text(path).unwrap_or_default();
    let ignored = checkout.text(".containerignore").unwrap_or_default();
    let wrong = wrong(text(DOCUMENT), text("Cargo.toml"), text(SETTINGS), text(TRUST), ignored);
    wrong.into_iter().map(|what| Finding::violation(DOCUMENT, 1, what)).collect()
}

fn wrong(container: &str, workspace: &str, settings: &str, trust: &str, ignored: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    let version = workspace.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"')).unwrap_or("?");
    must(container.contains(&format!("/rust:{version}-alpine AS build")), format!("is not built with Rust {version}"));
    let built = format!("cargo {} ", dist::BUILD.join(" "));
    must(container.contains(&built), format!("does not build what `cargo xtask dist` does: `{}`", built.trim()));
    must(ignored.lines().any(|line| line.trim_matches('/') == "target"), "copies `target` into its build".to_owned());
    for path in copied(container) {
        let known = match path.strip_prefix(BUILT) {
            Some(binary) => binary == "caudal",
            None => container.contains(&format!("-g 65532 {path}\n")) || trust.contains(&format!("\"{path}\"")),
        };
        must(known, format!("copies {path}, which its build does not make and the server does not look for"));
    }
    must(
        copied(container).any(|path| trust.contains(path)),
        "has no list of authorities: https to others cannot work".to_owned(),
    );
    let words = || container.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    for (variable, value) in words().filter_map(|word| word.split_once('=')).filter(|(name, _)| name.starts_with("CAUDAL_")) {
        must(settings.contains(&format!("`{variable}`")), format!("sets {variable}={value}, which is no setting"));
    }
    let ports = container.lines().find_map(|line| line.strip_prefix("EXPOSE ")).unwrap_or_default();
    for port in ports.split_whitespace() {
        must(words().any(|word| word.contains(&format!("0.0.0.0:{port}"))), format!("exposes {port}, where nothing listens"));
    }
    must(!ports.is_empty(), "exposes no port".to_owned());
    wrong
}

/// What the image takes from its build.
fn copied(container: &str) -> impl Iterator<Item = &str> {
    let copies = container.lines().filter_map(|line| line.strip_prefix("COPY --from=build "));
    copies.filter_map(|copy| copy.split_whitespace().find(|word| !word.starts_with("--")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "FROM docker.io/library/rust:1.95-alpine AS build\n\
        RUN cargo build --release --locked --package app --bin caudal && install -d -o 65532 -g 65532 /data\nFROM scratch\n\
        COPY --from=build /etc/ssl/cert.pem /etc/ssl/cert.pem\nCOPY --from=build /source/target/release/caudal /caudal\n\
        COPY --from=build --chown=65532:65532 /data /data\nENV CAUDAL_REST=0.0.0.0:8080\nEXPOSE 8080\n";

    fn wrong_with(from: &str, to: &str) -> Vec<String> {
        assert!(GOOD.contains(from));
        let (workspace, settings) = ("rust-version = \"1.95\"\n", "| `rest` | `--rest`, `CAUDAL_REST` |");
        wrong(&GOOD.replace(from, to), workspace, settings, "[\"/etc/ssl/cert.pem\"]", "/target\n")
    }

    #[test]
    fn what_a_container_says_is_compared() {
        assert!(wrong_with("", "").is_empty());
        for (from, to, why) in [
            ("1.95", "1.80", "Rust 1.95"),
            (" --locked", "", "cargo xtask dist"),
            ("release/caudal", "release/server", "release/server"),
            ("build --chown=65532:65532 /data", "build --chown=65532:65532 /date", "/date"),
            ("COPY --from=build /etc/ssl/cert.pem /etc/ssl/cert.pem\n", "", "authorities"),
            ("CAUDAL_REST", "CAUDAL_REAST", "no setting"),
            ("EXPOSE 8080", "EXPOSE 8081", "exposes 8081"),
        ] {
            let found = wrong_with(from, to);
            assert!(found.len() == 1 && found[0].contains(why), "{found:?}");
        }
    }
}
