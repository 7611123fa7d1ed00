//! `caudal completions` and `caudal man`: what shells and readers want to know of the command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::table::print;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  caudal completions bash > ~/.local/share/bash-completion/completions/caudal")]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  caudal man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for the pages, one for each command; made if it is not there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn completions(completions: &Completions) -> Result<(), String> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "caudal", &mut script);
    print(&String::from_utf8_lossy(&script));
    Ok(())
}

pub(crate) fn pages(man: &Man) -> Result<(), String> {
    // What a short help leaves out has its place in a manual.
    let whole = |command: clap::Command| command.mut_args(|arg| arg.hide_short_help(false));
    let command = Cli::command().mut_subcommand("serve", whole).mut_subcommand("config", whole);
    let written = std::fs::create_dir_all(&man.folder).and_then(|()| clap_mangen::generate_to(command, &man.folder));
    written.map_err(|error| format!("{}: {error}", man.folder.display()))
}
