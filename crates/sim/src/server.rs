//! Servers: the real host behind a bad connection, started, killed, stopped and stalled.

use std::sync::Arc;
use std::time::Duration;

use host::{Definitions, Host, Parts, Role, prepare};
use store::Store;
use tokio::sync::watch;

use crate::check::Violation;
use crate::fault::Fault;
use crate::link::Link;
use crate::plan::Names;
use crate::rng::Rng;
use crate::world::World;

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) host: Host,
    pub(crate) link: Arc<Link>,
    stop: Arc<watch::Sender<bool>>,
}

/// Keeps one server up until the world ends: starts it again whenever it is gone.
pub(crate) async fn keep_up(world: Arc<World>, slot: usize) {
    let role = if slot < world.plan.engines { Role::Engine } else { Role::Follower };
    for incarnation in 1.. {
        let name = if world.plan.names == Names::Kept { format!("s{slot}") } else { format!("s{slot}.{incarnation}") };
        let (server, ended) = start(&world, name.into(), role);
        let link = server.link.clone();
        world.state().servers[slot] = Some(server);
        tokio::select! {
            biased;
            () = link.died() => {}
            () = ended => {}
        }
        world.state().servers[slot] = None;
        let down = world.a_while();
        tokio::time::sleep(if world.faults_on() { down } else { Duration::from_millis(1) }).await;
    }
}

/// Starts a server; the future ends when its driver has.
fn start(world: &Arc<World>, name: Arc<str>, role: Role) -> (Server, impl Future<Output = ()>) {
    world.note(|| format!("{name} starts as {role:?}"));
    let node = if world.plan.names == Names::Shared { host::unique("s") } else { name.clone() };
    let link = Arc::new(Link::new(world.clone(), name));
    let store: Arc<dyn Store> = link.clone();
    let limits = Arc::new(world.plan.limits());
    let metrics = world.metrics.clone();
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let (host, driver) = prepare(Parts { store, limits, metrics, definitions, announcing: None, exporting: None }, node, role);
    let (stop, stopping) = watch::channel(false);
    let driver = tokio::spawn(driver.run(stopping));
    link.drives(driver.abort_handle());
    let (world, link_too) = (world.clone(), link.clone());
    let ended = async move {
        match driver.await {
            Err(error) if error.is_panic() => {
                world.fail(Violation { invariant: 11, what: format!("{} panicked: {error}", link_too.name) });
            }
            Ok(()) => link_too.die(),
            Err(_) => {}
        }
    };
    (Server { host, link, stop: Arc::new(stop) }, ended)
}

/// Trouble for servers and clocks, as it comes, until the faults stop.
pub(crate) async fn weather(world: Arc<World>) {
    let mut rng = Rng::new(world.plan.seed, 4);
    while world.faults_on() {
        tokio::time::sleep(Duration::from_millis(rng.between(100, 3_000))).await;
        let slot = rng.below((world.plan.engines + world.plan.followers) as u64) as usize;
        let server = world.state().servers[slot].clone();
        if world.strikes(Fault::ClockJump) {
            world.jump(rng.between(100, 20_000) as i64);
        }
        if world.strikes(Fault::ClockBack) {
            world.jump(-(rng.between(100, 20_000) as i64));
        }
        let Some(server) = server else { continue };
        if world.strikes(Fault::Dies) {
            server.link.die();
        } else if world.strikes(Fault::Stops) {
            world.note(|| format!("{} is told to stop", server.link.name));
            server.stop.send_replace(true);
        } else if world.strikes(Fault::Stalls) {
            server.link.stall(Duration::from_millis(rng.between(100, 15_000)));
        }
    }
}
