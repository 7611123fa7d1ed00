//! What clients send to those that wait: messages, signals, and other times for timers.

use std::sync::Arc;

use store::log::{Command, Publish};
use store::row::SubscriptionKind;

use crate::call::{TENANT, marked};
use crate::check::{AttemptId, What};
use crate::client::Client;

impl Client {
    /// A message, mostly for somebody, at times kept, at times with an id.
    fn message(&mut self) -> impl Fn(AttemptId) -> Publish + use<> {
        let name = ["m0", "m0", "m1", "m1", "m2", "go", "go", "nobody"][self.rng.below(8) as usize];
        let keys: &[&str] = if name == "go" { &["k0", "k1", "", "2"] } else { &["k0", "k1"] };
        let key: Arc<str> = (*self.rng.pick(keys)).into();
        let id: Arc<str> = if self.rng.chance(300) { format!("id{}", self.rng.below(3)).into() } else { "".into() };
        let lives = if self.rng.chance(500) { 0 } else { self.rng.between(1, 25_000) as i64 };
        move |attempt| {
            let mut variables = marked(attempt);
            if !key.is_empty() {
                variables.push(("key".into(), format!("\"{key}\"").into()));
            }
            Publish {
                tenant: TENANT.into(),
                name: name.into(),
                correlation_key: key.clone(),
                id: id.clone(),
                time_to_live: lives,
                variables,
            }
        }
    }

    pub(crate) async fn publish(&mut self) {
        let (world, message, keyed) = (self.world.clone(), self.message(), self.rng.chance(400));
        world.insist(&mut self.rng, keyed, What::Publish, |id| Command::Publish(message(id))).await;
    }

    pub(crate) async fn correlate(&mut self) {
        let (world, message, keyed) = (self.world.clone(), self.message(), self.rng.chance(400));
        world.insist(&mut self.rng, keyed, What::Correlate, |id| Command::Correlate(message(id))).await;
    }

    pub(crate) async fn broadcast(&mut self) {
        let name = format!("g{}", self.rng.below(3)).into();
        self.send_signal(name).await;
    }

    async fn send_signal(&mut self, name: Arc<str>) {
        let (world, keyed) = (self.world.clone(), self.rng.chance(400));
        let command = |id| Command::Broadcast { tenant: TENANT.into(), name: name.clone(), variables: marked(id) };
        world.insist(&mut self.rng, keyed, What::Broadcast, command).await;
    }

    /// An operator lets a timer fire now, or at another time.
    pub(crate) async fn move_timer(&mut self) {
        let world = self.world.clone();
        let pending: Vec<_> = world.state().checker.waits.pending().map(|timer| timer.key).collect();
        if pending.is_empty() {
            return;
        }
        let timer = *self.rng.pick(&pending);
        world.state().checker.waits.ask(timer);
        let due = world.now() + self.rng.between(0, 12_000) as i64 - 4_000;
        let command = match self.rng.chance(500) {
            true => Command::FireTimer { timer },
            false => Command::RescheduleTimer { timer, due },
        };
        world.insist(&mut self.rng, false, What::Timer(timer), |_| command.clone()).await;
    }

    /// Sends what somebody waits for.
    pub(crate) async fn nudge(&mut self) {
        let world = self.world.clone();
        let mut wanted: Vec<_> = {
            let waits = &world.state().checker.waits;
            let open = waits.open().filter(|row| row.origin.is_some());
            open.map(|row| (row.kind, row.name.clone(), row.correlation_key.clone())).collect()
        };
        wanted.sort_by(|one, two| (&one.1, &one.2).cmp(&(&two.1, &two.2)));
        wanted.dedup();
        for (kind, name, correlation_key) in wanted {
            match kind {
                SubscriptionKind::Message => {
                    let message = |id| Publish {
                        tenant: TENANT.into(),
                        name: name.clone(),
                        correlation_key: correlation_key.clone(),
                        id: "".into(),
                        time_to_live: 0,
                        variables: marked(id),
                    };
                    world.insist(&mut self.rng, false, What::Publish, |id| Command::Publish(message(id))).await;
                }
                SubscriptionKind::Signal => self.send_signal(name).await,
                SubscriptionKind::Condition | SubscriptionKind::Child => {}
            }
        }
    }
}
