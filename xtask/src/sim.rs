//! `cargo xtask sim`: the simulator, built to be quick.

use std::process::Command;

use crate::Verdict;

/// What the simulator is built with: see Cargo.toml.
pub(crate) const PROFILE: &str = "sim";

pub(crate) fn run(words: &[&str]) -> Result<Verdict, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--package", "sim", "--profile", PROFILE, "--"]).args(words);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(if status.success() { Verdict::Good } else { Verdict::Bad })
}
