//! The binary `caudal`: server, command line, configuration, wiring.

mod audit;
mod backoff;
mod backup;
mod batch;
mod bench;
mod change;
mod check;
mod cli;
mod client;
mod config;
mod dead_letters;
mod decide;
mod definitions;
mod descriptors;
mod dispatch;
mod edges;
mod events;
mod export;
mod feel;
mod health;
mod incidents;
mod instance;
mod kept;
mod listeners;
mod manual;
#[cfg(target_os = "linux")]
mod notify;
#[cfg(test)]
mod pages;
mod progress;
mod purge;
mod queues;
mod retries;
mod schedules;
mod serve;
mod settings;
mod start;
mod strays;
mod table;
mod telemetry;
mod trust;
mod variables;
mod visitors;
mod watch;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Bench, Cli, Command, Timer};
use settings::Settings;

/// A request is many small allocations, freed on another thread than the one that made them: what this one is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        // Without a command the flags of `serve` still come from the environment.
        None => run_server(Cli::parse_from(["caudal", "serve"])),
        Some(Command::Serve(_)) => run_server(cli),
        Some(Command::Config(config)) => show_config(*config),
        Some(Command::Deploy(deploy)) => client::deploy(&deploy),
        Some(Command::Start(start)) => start::start(&start),
        Some(Command::Status(status)) => client::status(&status.remote),
        Some(Command::Instances(instances)) => client::instances(&instances),
        Some(Command::Instance(instance)) => instance::show(&instance),
        Some(Command::Cancel(cancel)) => instance::cancel(&cancel),
        Some(Command::Variables(variables)) => variables::run(&variables),
        Some(Command::Retries(retries)) => retries::set(&retries),
        Some(Command::Incidents(incidents)) => incidents::list(&incidents),
        Some(Command::Incident(incident)) => incidents::resolve(&incident),
        Some(Command::Definitions(definitions)) => definitions::list(&definitions),
        Some(Command::Delete(delete)) => definitions::delete(&delete),
        Some(Command::Jobs(jobs)) => client::jobs(&jobs),
        Some(Command::Work(work)) => work::work(&work),
        Some(Command::Publish(publish)) => events::publish(&publish),
        Some(Command::Correlate(correlate)) => events::correlate(&correlate),
        Some(Command::Signal(signal)) => events::signal(&signal),
        Some(Command::Timers(timers)) => events::timers(&timers),
        Some(Command::Timer(Timer::Fire(fire))) => events::fire(&fire),
        Some(Command::Timer(Timer::Reschedule(reschedule))) => events::reschedule(&reschedule),
        Some(Command::Tasks(tasks)) => client::tasks(&tasks),
        Some(Command::Task(task)) => client::task(&task),
        Some(Command::Backup(backup)) => backup::backup(&backup),
        Some(Command::Restore(restore)) => backup::restore(&restore),
        Some(Command::Check(check)) => check::check(&check),
        Some(Command::Purge(options)) => purge::purge(&options),
        Some(Command::Completions(completions)) => manual::completions(&completions),
        Some(Command::Man(man)) => manual::pages(&man),
        Some(Command::Suspend(which)) => batch::suspend(&which),
        Some(Command::Resume(which)) => batch::resume(&which),
        Some(Command::Batch(options)) => batch::run(&options),
        Some(Command::Modify(options)) => change::modify(&options),
        Some(Command::Migrate(options)) => change::migrate(&options),
        Some(Command::Feel(options)) => feel::run(&options),
        Some(Command::Decide(options)) => decide::run(&options),
        Some(Command::Bench(Bench::Process(options))) => bench::process(&options),
        Some(Command::Bench(Bench::Workflow(options))) => bench::workflow(&options),
        Some(Command::Bench(Bench::Timers(options))) => bench::timers::run(&options),
        Some(Command::Bench(Bench::Queue(options))) => bench::queue::run(&options),
        Some(Command::Bench(Bench::Tasks(options))) => bench::tasks::run(&options),
        Some(Command::Bench(Bench::Crowd(options))) => bench::crowd::run(&options),
        Some(Command::Bench(Bench::Batch(options))) => bench::batch::run(&options),
        Some(Command::Bench(Bench::Search(options))) => bench::search::run(&options),
        Some(Command::Queues(options)) => watch::run(&options),
        Some(Command::Audit(options)) => audit::audit(&options),
        Some(Command::Policies(options)) => queues::policies(&options),
        Some(Command::Action(options)) => queues::action(&options),
        Some(Command::DeadLetters(options)) => dead_letters::run(&options),
        Some(Command::Schedules(options)) => schedules::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("caudal: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run_server(cli: Cli) -> Result<(), String> {
    let Some(Command::Serve(given)) = cli.command else {
        return Err("this is not the serve command".to_owned());
    };
    serve::run(config::resolve(*given)?)
}

fn show_config(config: cli::Config) -> Result<(), String> {
    if !config.check {
        table::print(config::DEFAULT_FILE);
        return Ok(());
    }
    let settings = Settings::read(config.given)?;
    config::meaning(&settings)?;
    for name in strays::found() {
        eprintln!("caudal: {} is set, but no setting has that name", name.display());
    }
    table::print(&table::table(&["KEY", "VALUE", "SAID BY"], &settings.rows()));
    Ok(())
}
