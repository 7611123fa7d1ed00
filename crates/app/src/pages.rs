//! Pages of the book that are made from the code. `UPDATE_DOCS=1 cargo test -p app pages` writes them again.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};
use host::{ActionLabels, CommandLabels, EventLabels, Metrics, PurgedLabels, QuantileLabels};
use prometheus_client::registry::Registry;

use crate::cli::Cli;
use crate::settings::SETTINGS;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// What every command that talks to a server takes: said once.
const REMOTE: [&str; 5] = ["url", "ca", "client-cert", "client-key", "json"];

const CLI_HEAD: &str = "# Command line

One binary, `caudal`, is the server and its command line. Without a command it starts the server. Every command explains itself with `--help`;
`caudal completions SHELL` and `caudal man FOLDER` make completions and manual pages.

This page is made from the program; a test keeps it true.

## Talking to a server

Commands marked *asks a server* take these as well:

";

const METRICS_HEAD: &str = "# Metrics

Prometheus metrics in the OpenMetrics text format, at `http://127.0.0.1:9091/metrics` unless `metrics` says otherwise. [Watch it](watching.md) says which of them
matter; a dashboard and alert rules that use them are in `deploy/` of the source and of the archive.

A counter named `x` is served as `x_total`; a histogram as `x_bucket`, `x_sum` and `x_count`. Label sets are bounded: never a key or a tenant, and of actions (types of
jobs) the first hundred, with the others together as `(others)`.

This table is made from the program; a test keeps it true.

| metric | kind | labels | what it is |
|---|---|---|---|
";

#[test]
fn the_page_of_the_command_line_is_true() {
    let mut page = CLI_HEAD.to_owned();
    let mut command = Cli::command();
    command.build();
    let remote = command.find_subcommand("status").expect("it asks a server");
    page.push_str(&table(remote.get_arguments().filter(|arg| is_remote(arg))));
    describe(&mut page, "caudal", command.get_subcommands());
    compare("docs/cli.md", &page);
}

#[test]
fn the_page_of_metrics_is_true() {
    let page = metrics().iter().fold(METRICS_HEAD.to_owned(), |mut page, metric| {
        let labels = if metric.labels.is_empty() { "–".to_owned() } else { metric.labels.join(", ") };
        writeln!(page, "| `{}` | {} | {labels} | {} |", metric.name, metric.kind, metric.about).expect("memory suffices");
        page
    });
    compare("docs/metrics.md", &page);
}

/// Dashboards and alerts ask for nothing that is not there.
#[test]
fn what_is_watched_is_measured() {
    let known: Vec<String> = metrics().iter().flat_map(Metric::series).collect();
    for file in ["deploy/grafana.json", "deploy/alerts.yml"] {
        let text = std::fs::read_to_string(format!("{ROOT}/{file}")).expect("it is there");
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: Vec<&str> = words.filter(|word| word.starts_with("caudal_") || word.starts_with("workflow_")).collect();
        assert!(5 < named.len(), "{file} names metrics");
        for name in named {
            assert!(known.iter().any(|series| series == name), "{file} asks for {name}, which is not measured");
        }
    }
}

/// Nobody is sent to a setting that is not there.
#[test]
fn settings_that_are_named_are_there() {
    let tables = ["limits.", "retention.", "kafka.", "export.kafka.", "user_tasks."];
    let pages =
        std::fs::read_dir(format!("{ROOT}/docs")).expect("it is there").map(|entry| entry.expect("it can be read").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut named = 0;
    for path in pages.chain([format!("{ROOT}/deploy/alerts.yml").into()]) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let words = text
            .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '/'))
            .map(|word| word.trim_end_matches('.'));
        for word in words.filter(|word| tables.iter().any(|table| word.starts_with(table)) && !word.ends_with(".md")) {
            let is_there = SETTINGS.iter().any(|setting| setting.key == word || setting.key.starts_with(&format!("{word}.")));
            assert!(is_there, "{} names {word}, which is no setting", path.display());
            named += 1;
        }
    }
    assert!(100 < named, "pages name settings: {named}");
}

struct Metric {
    name: String,
    kind: String,
    labels: Vec<String>,
    about: String,
}

impl Metric {
    /// What it is called where it is scraped.
    fn series(&self) -> Vec<String> {
        let ends: &[&str] = match &*self.kind {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        ends.iter().map(|end| format!("{}{end}", self.name)).collect()
    }
}

fn metrics() -> Vec<Metric> {
    let mut registry = Registry::default();
    counted().register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).expect("memory suffices");
    let abouts = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let metric = |((name, about), (_, kind)): ((&str, &str), (&str, &str))| Metric {
        name: name.to_owned(),
        kind: kind.to_owned(),
        labels: labels(&text, name),
        about: about.trim_end_matches('.').to_owned(),
    };
    let mut metrics: Vec<Metric> = abouts.zip(kinds).map(metric).collect();
    metrics.sort_by(|a, b| a.name.cmp(&b.name));
    let registered = format!("{registry:?}").matches("Descriptor {").count();
    assert_eq!(metrics.len(), registered, "a family that has counted nothing is not shown: let it count in `counted`");
    metrics
}

/// A family shows itself once it has counted something.
fn counted() -> Metrics {
    let measured = Metrics::default();
    measured.commands.get_or_create(&CommandLabels { kind: "start", outcome: "done" }).inc();
    measured.purge.rows.get_or_create(&PurgedLabels { what: "jobs" }).inc();
    let action = || "send-mail".to_owned();
    let queues = &measured.queues;
    for family in [&queues.waiting, &queues.running, &queues.stuck] {
        family.get_or_create(&ActionLabels { action: action() }).inc();
    }
    queues.events.get_or_create(&EventLabels { action: action(), event: "enqueued" }).inc();
    for family in [&queues.wait_millis, &queues.run_millis] {
        family.get_or_create(&QuantileLabels { action: action(), quantile: "0.5" }).inc();
    }
    measured
}

/// Those of the first sample of a metric, but for the bounds of a histogram.
fn labels(text: &str, name: &str) -> Vec<String> {
    let sample = text.lines().find_map(|line| line.strip_prefix(name)?.split_once('{'));
    let pairs = sample.filter(|(end, _)| ["", "_total"].contains(end)).map_or("", |(_, pairs)| pairs);
    pairs.split(',').filter_map(|pair| Some(format!("`{}`", pair.split_once('=')?.0))).collect()
}

fn describe<'c>(page: &mut String, above: &str, commands: impl Iterator<Item = &'c Command>) {
    for command in commands.filter(|command| command.get_name() != "help") {
        let name = format!("{above} {}", command.get_name());
        if command.has_subcommands() {
            describe(page, &name, command.get_subcommands());
            continue;
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let asks = if command.get_arguments().any(|arg| arg.get_id() == "ca") { " *Asks a server.*" } else { "" };
        let usage = command.get_positionals().map(|arg| format!(" {arg}")).collect::<String>();
        write!(page, "\n## {name}\n\n{}{asks}\n\n`{name}{usage}`\n", about.trim_end_matches('.').to_owned() + ".")
            .expect("memory suffices");
        let of_settings = |arg: &Arg| arg.get_long().is_some_and(|long| SETTINGS.iter().any(|setting| setting.flag() == long));
        if command.get_arguments().any(of_settings) {
            page.push_str("\nEvery [setting](settings.md) is a flag of it.\n");
        }
        let own = |arg: &&Arg| !of_settings(arg) && (asks.is_empty() || !is_remote(arg));
        let rows = table(command.get_arguments().filter(own));
        if !rows.is_empty() {
            write!(page, "\n{rows}").expect("memory suffices");
        }
        if let Some(more) = command.get_after_help() {
            write!(page, "\n```text\n{}\n```\n", more.to_string().trim()).expect("memory suffices");
        }
    }
}

fn is_remote(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| REMOTE.contains(&long))
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let mut rows = String::new();
    for arg in args.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str())) {
        let shown = arg.to_string();
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default: Vec<String> = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let is_said = arg.get_action().takes_values() && default.iter().any(|text| !text.is_empty());
        let default = if is_said { format!(" Default: `{}`.", default.join(" ")) } else { String::new() };
        let variable = arg.get_env().map(|name| format!(" Variable: `{}`.", name.to_string_lossy())).unwrap_or_default();
        writeln!(rows, "| `{shown}` | {}.{default}{variable} |", about.replace('|', "\\|")).expect("memory suffices");
    }
    if rows.is_empty() { rows } else { format!("| option | what it is |\n|---|---|\n{rows}") }
}

fn compare(path: &str, made: &str) {
    let file = format!("{ROOT}/{path}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, made).expect("it can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == made, "{path} is not what the program says: `UPDATE_DOCS=1 cargo test -p app pages` writes it again");
}
