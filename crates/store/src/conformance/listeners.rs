//! Those who listen to all user tasks.

use std::sync::Arc;

use model::{GlobalListener, ListenerEvent};

use super::owner::{Owner, PARTITION};
use crate::row::GlobalListeners;
use crate::{Changes, Store};

pub(super) async fn every_version_is_kept(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    assert_eq!(store.global_listeners(PARTITION, 10).await.unwrap(), []);
    let listener = GlobalListener {
        id: "é".into(),
        job_type: "audit".into(),
        retries: 3,
        events: vec![ListenerEvent::Creating, ListenerEvent::Canceling],
        after_own: true,
        priority: -7,
        configured: true,
    };
    let version = |version, listeners| GlobalListeners { version, listeners, changed: 5, changed_by: "me".into() };
    let versions = [version(1, vec![listener.clone(), listener]), version(2, vec![]), version(3, vec![])];
    owner.commit(Changes { listeners_new: versions[..2].to_vec(), ..Changes::default() }).await;
    owner.commit(Changes { listeners_new: versions[2..].to_vec(), ..Changes::default() }).await;
    let newest: Vec<_> = versions.into_iter().rev().collect();
    assert_eq!(store.global_listeners(PARTITION, 10).await.unwrap(), newest);
    assert_eq!(store.global_listeners(PARTITION, 2).await.unwrap(), newest[..2]);
}
