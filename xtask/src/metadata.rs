//! What `cargo metadata` knows: the workspace's crates, all crates they need, and the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Metadata {
    pub(crate) target_directory: PathBuf,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) manifest: PathBuf,
    pub(crate) origin: Origin,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Workspace,
    ThirdParty,
}

#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) purpose: Purpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Product,
    Tests,
}

impl Metadata {
    pub(crate) fn read(root: &Path) -> Result<Metadata, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version=1"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let document: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
        Metadata::parse(&document).ok_or_else(|| "cargo metadata has a form this tool does not know".to_owned())
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.origin == Origin::Workspace)
    }

    fn parse(document: &Value) -> Option<Metadata> {
        let packages = document["packages"].as_array()?.iter().map(package).collect::<Option<Vec<_>>>()?;
        Some(Metadata { target_directory: document["target_directory"].as_str()?.into(), packages })
    }
}

fn package(value: &Value) -> Option<Package> {
    Some(Package {
        name: value["name"].as_str()?.to_owned(),
        version: value["version"].as_str()?.to_owned(),
        license: value["license"].as_str().map(str::to_owned),
        manifest: value["manifest_path"].as_str()?.into(),
        origin: origin(&value["source"]),
        dependencies: value["dependencies"].as_array()?.iter().map(dependency).collect::<Option<Vec<_>>>()?,
    })
}

fn dependency(value: &Value) -> Option<Dependency> {
    let purpose = match value["kind"].as_str() {
        Some("dev") => Purpose::Tests,
        Some(_) | None => Purpose::Product,
    };
    Some(Dependency { name: value["name"].as_str()?.to_owned(), origin: origin(&value["source"]), purpose })
}

/// What lies in the checkout has no source.
fn origin(source: &Value) -> Origin {
    if source.is_null() { Origin::Workspace } else { Origin::ThirdParty }
}
