//! Waits that are no jobs: timers, subscriptions, and what comes to subscriptions from elsewhere in the partition.

use std::sync::Arc;

use engine::{DefinitionKey, Document, ElementKey, InstanceKey, TimerKey, WaitKey};
use model::ElementIx;
pub use model::TimerKind;

use crate::Millis;

/// The element instance that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitOrigin {
    pub instance: InstanceKey,
    pub element_instance: ElementKey,
}

/// One planned firing of a timer. A cycle has one row per occurrence.
#[derive(Debug, Clone, PartialEq)]
pub struct Timer {
    pub key: TimerKey,
    /// The wait it belongs to, the same for all occurrences of a cycle. Of a start event it is the key of the first occurrence.
    pub wait: WaitKey,
    /// None: it starts instances of the definition.
    pub origin: Option<WaitOrigin>,
    pub definition: DefinitionKey,
    pub tenant: Arc<str>,
    /// The event it triggers.
    pub element: ElementIx,
    pub kind: TimerKind,
    /// The expression, evaluated, as written: `R3/PT10S`.
    pub text: Arc<str>,
    /// When it was first armed.
    pub armed: Millis,
    /// Which occurrence this is, from 1.
    pub number: u32,
    pub due: Millis,
    pub state: TimerState,
    pub created: Millis,
    /// When it was fired or cancelled.
    pub ended: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerState {
    Pending,
    Fired,
    Cancelled,
}

/// A wait for something that comes from elsewhere in this partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    pub key: WaitKey,
    pub kind: SubscriptionKind,
    /// The name of the message or signal; empty otherwise.
    pub name: Arc<str>,
    /// Empty for all but messages, and for message start events.
    pub correlation_key: Arc<str>,
    /// Of a call activity: the instance it called.
    pub child: Option<InstanceKey>,
    pub tenant: Arc<str>,
    pub definition: DefinitionKey,
    pub process_id: Arc<str>,
    /// The event it triggers, or the waiting element itself.
    pub element: ElementIx,
    /// Whether `element` is another element than the one that waits: a boundary event, the start event of an event sub-process, an
    /// event behind a gateway.
    pub catches: bool,
    /// None: a start event.
    pub origin: Option<WaitOrigin>,
    pub state: SubscriptionState,
    pub created: Millis,
    /// After it was created: it has had something, whether it still waits or not.
    pub updated: Millis,
}

impl SubscriptionState {
    /// As searches show it: what has had a message and waits for more is correlated, as in Camunda 8.
    pub fn shown(self, created: Millis, updated: Millis) -> Self {
        match self {
            Self::Open if created < updated => Self::Correlated,
            Self::Open | Self::Correlated | Self::Closed => self,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionKind {
    Message,
    Signal,
    Condition,
    Child,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionState {
    Open,
    /// What it waited for came, and it waits no more.
    Correlated,
    Closed,
}

/// A message kept until it expires.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub key: u64,
    pub tenant: Arc<str>,
    pub name: Arc<str>,
    pub correlation_key: Arc<str>,
    /// By which a second one is known; empty: none.
    pub message_id: Arc<str>,
    pub variables: Document,
    pub published: Millis,
    pub expires: Millis,
    /// Processes, by id, it was correlated to: once each.
    pub taken_by: Vec<Arc<str>>,
}

/// What was correlated to what: shown by searches.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlation {
    /// Its own: a message goes to many subscriptions, and a subscription may get many messages.
    pub key: u64,
    pub message: u64,
    pub subscription: WaitKey,
    pub tenant: Arc<str>,
    pub name: Arc<str>,
    pub correlation_key: Arc<str>,
    pub definition: DefinitionKey,
    pub process_id: Arc<str>,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub element: ElementIx,
    /// None: the message started the instance.
    pub element_instance: Option<ElementKey>,
    pub at: Millis,
}

/// At most one running instance per process and correlation key that a message started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageLock {
    pub tenant: Arc<str>,
    pub process_id: Arc<str>,
    pub correlation_key: Arc<str>,
    pub instance: InstanceKey,
}

/// Tenant, process id and correlation key.
pub type LockName = (Arc<str>, Arc<str>, Arc<str>);

impl MessageLock {
    pub fn name(&self) -> LockName {
        (self.tenant.clone(), self.process_id.clone(), self.correlation_key.clone())
    }
}

/// A signal on its way to all that wait for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub key: u64,
    pub tenant: Arc<str>,
    pub name: Arc<str>,
    pub variables: Document,
    /// Subscriptions up to this key have had it.
    pub after: u64,
    /// When it may go on.
    pub due: Millis,
}
