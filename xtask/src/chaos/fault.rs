//! What is done to the system under load, one blow at a time.

use std::time::{Duration, Instant};

use super::burden;
use super::proxy::Proxy;
use super::random::Random;
use super::server::Server;
use super::world::World;
use crate::postgres::Sudden;

/// How long the other server may take to notice that the owner is gone, past the lease.
const TAKE_OVER_MAX: Duration = super::run::PATIENT;
/// What a server that was held too long says when it hears of it.
const DEPOSED: &str = "another server owns the partition now";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// SIGKILL to a server.
    Kill,
    /// SIGKILL to the database server and all its sessions.
    DatabaseKill,
    /// The database server's own immediate stop.
    DatabaseStop,
    /// Every connection to the database ends: by the database's hand, or in the network.
    Cut,
    /// The network to the database passes nothing on, one way or both.
    Stall,
    /// SIGSTOP to the owner past its lease, or its network held as long: its last commit arrives when another server owns the partition.
    Pause,
    /// Slow searches, megabytes and workers that go away, each many at once.
    Burden,
    /// Jobs are announced on Kafka; SIGKILL to the broker, to a server, or to both.
    BrokerKill,
}

impl Fault {
    pub(crate) const ALL: [Fault; 8] = [
        Fault::Kill,
        Fault::DatabaseKill,
        Fault::DatabaseStop,
        Fault::Cut,
        Fault::Stall,
        Fault::Pause,
        Fault::Burden,
        Fault::BrokerKill,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Fault::Kill => "kill",
            Fault::DatabaseKill => "database-kill",
            Fault::DatabaseStop => "database-stop",
            Fault::Cut => "cut",
            Fault::Stall => "stall",
            Fault::Pause => "pause",
            Fault::Burden => "burden",
            Fault::BrokerKill => "broker-kill",
        }
    }

    /// Whether workers hear of their jobs through Kafka.
    pub(super) fn needs_broker(self) -> bool {
        self == Fault::BrokerKill
    }

    /// Whether it is about the database, or needs several servers on one.
    pub(super) fn needs_postgres(self) -> bool {
        !matches!(self, Fault::Kill | Fault::Burden | Fault::BrokerKill)
    }

    /// Does it and undoes it. What was done, in words.
    pub(super) fn strike(self, world: &mut World<'_>, number: usize, random: &mut Random) -> Result<String, String> {
        match self {
            Fault::Kill => kill(world, random),
            Fault::DatabaseKill => end_database(world, Sudden::Kill, random),
            Fault::DatabaseStop => end_database(world, Sudden::ImmediateStop, random),
            Fault::Cut => cut(world, number),
            Fault::Stall => stall(world, number, random),
            Fault::Pause => pause(world, number, random),
            Fault::Burden => burden::lay(&world.doors, number, random),
            Fault::BrokerKill => kill_broker(world, number, random),
        }
    }
}

fn kill(world: &mut World<'_>, random: &mut Random) -> Result<String, String> {
    let number = random.below(world.servers.len());
    let server = &mut world.servers[number];
    server.kill();
    std::thread::sleep(random.millis(0, 200));
    let again = random.percent(20);
    if again {
        // In the middle of its start, too.
        server.launch()?;
        std::thread::sleep(random.millis(1, 150));
        server.kill();
    }
    let ready = server.start()?;
    let word = if again { "killed, killed while starting" } else { "killed" };
    Ok(format!("server {} {word}, ready again {} ms after its start", number + 1, ready.as_millis()))
}

/// The broker, a server, and a server while the broker is away, by turns.
fn kill_broker(world: &mut World<'_>, number: usize, random: &mut Random) -> Result<String, String> {
    if number.is_multiple_of(3) {
        return kill(world, random);
    }
    world.broker()?.kill();
    std::thread::sleep(random.millis(0, 1_000));
    let also = if number.is_multiple_of(2) { kill(world, random)? + "; " } else { String::new() };
    let ready = world.broker()?.start_again()?;
    Ok(format!("broker killed; {also}it listens again {} ms after its start", ready.as_millis()))
}

fn end_database(world: &mut World<'_>, how: Sudden, random: &mut Random) -> Result<String, String> {
    let cluster = &mut *world.postgres()?.cluster;
    let began = Instant::now();
    cluster.end(how)?;
    std::thread::sleep(random.millis(100, 2_000));
    cluster.start_again()?;
    let word = if how == Sudden::Kill { "killed" } else { "stopped" };
    Ok(format!("database {word}, accepting again after {} ms", began.elapsed().as_millis()))
}

fn cut(world: &mut World<'_>, number: usize) -> Result<String, String> {
    let postgres = world.postgres()?;
    if number.is_multiple_of(2) {
        postgres.networks.iter().for_each(Proxy::cut);
        return Ok("all connections cut in the network".to_owned());
    }
    let database = &postgres.database;
    let cut = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{database}'");
    let count = postgres.cluster.ask(&postgres.cluster.url, &cut)?;
    Ok(format!("{} connections ended by the database", count.trim()))
}

/// Every third stall is longer than any call to the store may take.
fn stall(world: &mut World<'_>, number: usize, random: &mut Random) -> Result<String, String> {
    let length = if number.is_multiple_of(3) { random.millis(12_000, 14_000) } else { random.millis(500, 3_000) };
    let (there, back, word) = match random.below(3) {
        0 => (true, false, "to the database"),
        1 => (false, true, "from the database"),
        _ => (true, true, "both ways"),
    };
    let networks = &world.postgres()?.networks;
    networks.iter().for_each(|network| network.hold(there, back));
    std::thread::sleep(length);
    networks.iter().for_each(|network| network.hold(false, false));
    Ok(format!("network {word} stalled for {} ms", length.as_millis()))
}

fn pause(world: &mut World<'_>, number: usize, random: &mut Random) -> Result<String, String> {
    let owner = wait_for(|| world.servers.iter().position(|server| server.owns())).ok_or("no server owns the partition")?;
    let deposed = world.servers[owner].log_text().matches(DEPOSED).count();
    let by_network = number.is_multiple_of(2);
    if by_network {
        world.postgres()?.networks[owner].hold(true, true);
    } else {
        world.servers[owner].hold()?;
    }
    let held = Instant::now();
    let others = |(place, server): (usize, &Server)| (place != owner && server.owns()).then_some(place);
    let other = wait_for(|| world.servers.iter().enumerate().find_map(others));
    let taken_over = held.elapsed();
    std::thread::sleep(random.millis(100, 1_500));
    world.servers[owner].release()?;
    world.postgres()?.networks[owner].hold(false, false);
    let other = other.ok_or("the other server did not take over while the owner was held")?;
    let server = &world.servers[owner];
    wait_for(|| (deposed < server.log_text().matches(DEPOSED).count()).then_some(()))
        .ok_or_else(|| format!("the deposed server did not say so; see {}", server.log.display()))?;
    Ok(format!(
        "server {}{} held, server {} took over after {} ms, and the first knows",
        owner + 1,
        if by_network { "'s network" } else { "" },
        other + 1,
        taken_over.as_millis()
    ))
}

fn wait_for<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + TAKE_OVER_MAX;
    while Instant::now() < deadline {
        if let Some(seen) = look() {
            return Some(seen);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}
