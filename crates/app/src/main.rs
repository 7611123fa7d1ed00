//! The binary `caudal`: server, command line, configuration, wiring.

mod bench;
mod cli;
mod client;
mod config;
mod decide;
mod descriptors;
mod edges;
mod events;
mod feel;
mod health;
mod queues;
mod serve;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Bench, Cli, Command, Serve, Timer};

/// A request is many small allocations, freed on another thread than the one that made them: what this one is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        // Without a command the flags of `serve` still come from the environment.
        None => run_server(Cli::parse_from(["caudal", "serve"])),
        Some(Command::Serve(_)) => run_server(cli),
        Some(Command::Config) => {
            table::print(config::DEFAULT_FILE);
            Ok(())
        }
        Some(Command::Deploy(deploy)) => client::deploy(&deploy),
        Some(Command::Start(start)) => client::start(&start),
        Some(Command::Status(status)) => client::status(&status.remote),
        Some(Command::Instances(instances)) => client::instances(&instances),
        Some(Command::Jobs(jobs)) => client::jobs(&jobs),
        Some(Command::Work(work)) => client::work(&work),
        Some(Command::Publish(publish)) => events::publish(&publish),
        Some(Command::Correlate(correlate)) => events::correlate(&correlate),
        Some(Command::Signal(signal)) => events::signal(&signal),
        Some(Command::Timers(timers)) => events::timers(&timers),
        Some(Command::Timer(Timer::Fire(fire))) => events::fire(&fire),
        Some(Command::Timer(Timer::Reschedule(reschedule))) => events::reschedule(&reschedule),
        Some(Command::Tasks(tasks)) => client::tasks(&tasks),
        Some(Command::Task(task)) => client::task(&task),
        Some(Command::Feel(options)) => feel::run(&options),
        Some(Command::Decide(options)) => decide::run(&options),
        Some(Command::Bench(Bench::Process(options))) => bench::process(&options),
        Some(Command::Bench(Bench::Timers(options))) => bench::timers::run(&options),
        Some(Command::Bench(Bench::Queue(options))) => bench::queue::run(&options),
        Some(Command::Queues(options)) => queues::queues(&options),
        Some(Command::Policies(options)) => queues::policies(&options),
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
    let Some(Command::Serve(serve)) = cli.command else {
        return Err("this is not the serve command".to_owned());
    };
    let config = config::resolve(overrides(*serve))?;
    serve::run(config)
}

fn overrides(serve: Serve) -> config::Overrides {
    config::Overrides {
        file: serve.config,
        data: serve.data,
        store: serve.store,
        postgres_pooler: serve.postgres_pooler,
        postgres_direct_url: serve.postgres_direct_url,
        rest: serve.rest,
        grpc: serve.grpc,
        metrics: serve.metrics,
        roles: serve.roles,
        node: serve.node,
        test_clock: serve.test_clock,
        log_format: serve.log_format,
        log_level: serve.log_level,
    }
}
