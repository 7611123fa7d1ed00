//! `cargo xtask mutants`: breaks the code on purpose, once per entry of the list, and sees that the simulator notices.
//!
//! All mutations go into one copy of the source, each behind a switch, so that one build serves them all. Each is played under the faults
//! it needs, and again without the one fault it is there to prove.

mod list;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Verdict;
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::sim::PROFILE;
use list::{MUTATIONS, Mutation};

/// Which mutation is switched on.
const SWITCH: &str = "CAUDAL_MUTANT";

/// What of the checkout the simulator is built from.
const SOURCES: [&str; 5] = ["crates", "xtask", ".cargo", "Cargo.toml", "Cargo.lock"];

/// Seeds in which a mutation must be noticed, and those it is to survive without its fault.
const CAUGHT_WITHIN: u64 = 40_000;
const SURVIVES: u64 = 1_500;

pub(crate) fn run(only: Option<&str>) -> Result<Verdict, String> {
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let program = build(&places)?;
    println!("| mutation | faults | noticed | without |\n|---|---|---|---|");
    let mut missed = 0;
    let chosen = MUTATIONS.iter().filter(|mutation| only.is_none_or(|only| mutation.name.contains(only)));
    for (mutation, faults) in chosen.flat_map(|mutation| mutation.faults.iter().map(move |faults| (mutation, *faults))) {
        let noticed = first_broken(&program, mutation, faults, CAUGHT_WITHIN)?;
        let without = match faults.split_first() {
            Some((_, kept)) => told(&first_broken(&program, mutation, kept, SURVIVES)?, SURVIVES),
            None => "–".to_owned(),
        };
        missed += usize::from(noticed.is_none());
        println!("| {} | {} | {} | {without} |", mutation.name, faults.join(", "), told(&noticed, CAUGHT_WITHIN));
    }
    println!("\n{missed} missed");
    Ok(if missed == 0 { Verdict::Good } else { Verdict::Bad })
}

/// The first seed that broke an invariant, and which.
type Broken = Option<(u64, String)>;

fn told(broken: &Broken, seeds: u64) -> String {
    match broken {
        Some((seed, invariant)) => format!("invariant {invariant}, seed {seed}"),
        None => format!("not in {seeds} seeds"),
    }
}

fn first_broken(program: &Path, mutation: &Mutation, faults: &[&str], seeds: u64) -> Result<Broken, String> {
    let faults = if faults.is_empty() { "none".to_owned() } else { faults.join(",") };
    let mut command = Command::new(program);
    command.args(["--seeds", &seeds.to_string(), "--only", &faults]).env(SWITCH, mutation.name);
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) => {
            let line = text.lines().find_map(|line| line.strip_prefix("seed ")).unwrap_or_default();
            let (seed, rest) = line.split_once(" breaks invariant ").unwrap_or_default();
            let invariant = rest.split(':').next().unwrap_or_default().to_owned();
            Ok(Some((seed.parse().unwrap_or_default(), invariant)))
        }
        _ => Err(format!("{} under {}: {}", program.display(), mutation.name, String::from_utf8_lossy(&output.stderr))),
    }
}

/// The simulator with all mutations in it, all switched off.
fn build(places: &Places) -> Result<PathBuf, String> {
    let own = places.own.join("mutants");
    let tree = own.join("tree");
    let failed = |error: std::io::Error| format!("cannot copy the source to {}: {error}", tree.display());
    for source in SOURCES {
        copy(&places.root, Path::new(source), &tree).map_err(failed)?;
    }
    for file in files() {
        let source = fs::read_to_string(places.root.join(file)).map_err(failed)?;
        write(&tree.join(file), mutated(file, &source)?.as_bytes()).map_err(failed)?;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = own.join("target");
    let mut command = Command::new(cargo);
    command.current_dir(&tree).args(["build", "--quiet", "--package", "sim", "--profile", PROFILE, "--target-dir"]).arg(&target);
    let status = command.env("RUSTFLAGS", "-Awarnings").status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(target.join(PROFILE).join("sim")) } else { Err("the mutated source does not build".to_owned()) }
}

/// The files that are mutated, each once.
fn files() -> Vec<&'static str> {
    let mut files: Vec<_> = MUTATIONS.iter().map(|mutation| mutation.file).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// A file with all its mutations, each behind its switch.
fn mutated(file: &str, original: &str) -> Result<String, String> {
    let mut source = original.to_owned();
    for Mutation { name, find, replace, .. } in MUTATIONS.iter().filter(|mutation| mutation.file == file) {
        let found = original.matches(find).count();
        if found != 1 {
            return Err(format!("{name}: `{find}` is {found} times in {file}; it must be there once"));
        }
        let is_on = format!(
            "{{ static ON: std::sync::OnceLock<bool> = std::sync::OnceLock::new(); \
             *ON.get_or_init(|| std::env::var(\"{SWITCH}\").is_ok_and(|on| on == \"{name}\")) }}"
        );
        let both = format!("if {is_on} {{ {replace} }} else {{ {find} }}");
        let is_statement = find.ends_with(';') || find.ends_with('}');
        // Two mutations of one place: the second goes where the first left the original, which comes last.
        let at = source.rfind(find).ok_or_else(|| format!("{name}: another mutation took its place in {file}"))?;
        source.replace_range(at..at + find.len(), &if is_statement { both } else { format!("({both})") });
    }
    Ok(source)
}

/// Copies all but the files that are mutated.
fn copy(root: &Path, what: &Path, tree: &Path) -> std::io::Result<()> {
    let from = root.join(what);
    if from.is_dir() {
        for entry in fs::read_dir(from)? {
            copy(root, &what.join(entry?.file_name()), tree)?;
        }
        return Ok(());
    }
    if files().iter().any(|file| Path::new(file) == what) { Ok(()) } else { write(&tree.join(what), &fs::read(from)?) }
}

/// A file that is as it was keeps its time, so that it is not built again.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_fits_the_source() {
        for file in files() {
            let source = fs::read_to_string(places::root().join(file)).expect("a mutated file is there");
            let mutated = mutated(file, &source);
            assert!(mutated.is_ok(), "{}", mutated.unwrap_err());
        }
    }
}
