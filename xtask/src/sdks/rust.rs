//! Rust: rustfmt, clippy, tests, documentation; the packed crate as a dependency of a project of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::logged;
use crate::places::Places;

use super::{Extent, Sdk};

const BUILD_MAX: Duration = Duration::from_secs(1800);
/// As `cargo package` names it.
const PACKED: &str = "package/caudal-client-0.1.0";

pub(super) const SDK: Sdk = Sdk {
    name: "rust",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| build(places).into(),
    checks: |places, extent| {
        let mut doc = cargo(places, &["doc", "--no-deps", "--all-features", "--locked"]);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        let mut checks = vec![
            ("rustfmt", cargo(places, &["fmt", "--check"])),
            ("clippy", cargo(places, &["clippy", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"])),
            ("test", cargo(places, &["test", "--all-features", "--locked"])),
        ];
        if extent == Extent::Whole {
            checks.push(("doc", doc));
        }
        checks
    },
    scenarios: |places| Command::new(target(places).join("debug/examples/scenarios")),
    bench: |places| {
        let mut build = cargo(places, &["build", "--release", "--all-features", "--example", "scenarios", "--locked"]);
        logged::must(&mut build, &places.log("build-sdk-rust-release"), BUILD_MAX)?;
        Ok(Command::new(target(places).join("release/examples/scenarios")))
    },
    pack: |places, project| {
        let mut init = Command::new("sh");
        let packed = target(places).join(PACKED);
        init.args(["-c", &manifest(&packed)]).current_dir(project);
        let mut build = cargo(places, &["build", "--bins"]);
        build.current_dir(project);
        let mut unpack = Command::new("tar");
        unpack.arg("xzf").arg(packed.with_extension("0.crate")).current_dir(target(places).join("package"));
        // What it would publish is built below, in a project of its own. Where a dry run leaves the crate depends on the version of cargo.
        let publish = cargo(places, &["publish", "--dry-run", "--no-verify", "--allow-dirty", "--locked"]);
        let package = cargo(places, &["package", "--no-verify", "--allow-dirty", "--locked"]);
        vec![publish, package, unpack, init, build]
    },
    example: |places, _, file| Command::new(target(places).join("debug").join(Path::new(file).file_stem().unwrap_or_default())),
};

/// Writes the manifest of the empty project.
fn manifest(packed: &Path) -> String {
    let lines = [
        "[workspace]".to_owned(),
        "[package]\\nname = \"empty\"\\nedition = \"2024\"".to_owned(),
        format!("[dependencies]\\ncaudal-client = {{ path = \"{}\" }}", packed.display()),
        "serde = { version = \"1\", features = [\"derive\"] }\\nserde_json = \"1\"".to_owned(),
        "tokio = { version = \"1\", features = [\"rt-multi-thread\", \"macros\"] }".to_owned(),
    ];
    format!("printf '{}\\n' > Cargo.toml", lines.join("\\n"))
}

/// Apart from the server's, whose profiles and features are others.
fn target(places: &Places) -> PathBuf {
    places.target.join("sdk-rust")
}

fn build(places: &Places) -> Result<(), String> {
    let mut build = cargo(places, &["build", "--all-features", "--example", "scenarios", "--locked"]);
    logged::must(&mut build, &places.log("build-sdk-rust"), BUILD_MAX).map(drop)
}

fn cargo(places: &Places, arguments: &[&str]) -> Command {
    let mut command = places.cargo();
    command.args(arguments).current_dir(SDK.folder(places)).env("CARGO_TARGET_DIR", target(places));
    command
}
