//! Variables that are named like settings and are none: a misspelled one has no effect, and whoever set it should hear of that.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::dispatch::PASSWORD;

const PREFIX: &[u8] = b"CAUDAL_";

pub(crate) fn found() -> Vec<OsString> {
    let command = Cli::command();
    let mut names: Vec<_> = std::env::vars_os().map(|(name, _)| name).filter(|name| is_stray(&command, name)).collect();
    names.sort();
    names
}

fn is_stray(command: &clap::Command, name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX) && name != PASSWORD && !is_read(command, name)
}

fn is_read(command: &clap::Command, name: &OsStr) -> bool {
    command.get_arguments().any(|arg| arg.get_env() == Some(name)) || command.get_subcommands().any(|sub| is_read(sub, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_no_stray() {
        let is_stray = |name: &str| is_stray(&Cli::command(), OsStr::new(name));
        for name in
            ["CAUDAL_STORE", "CAUDAL_LIMITS_PAGE", "CAUDAL_CONFIG", "CAUDAL_CA", "CAUDAL_URL", "CAUDAL_KAFKA_PASSWORD", "PATH"]
        {
            assert!(!is_stray(name), "{name}");
        }
        for name in ["CAUDAL_LIMIT_PAGE", "CAUDAL_", "CAUDAL_STORES"] {
            assert!(is_stray(name), "{name}");
        }
    }
}
