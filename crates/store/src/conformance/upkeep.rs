//! Cleaning up.

use std::sync::Arc;

use super::owner::{Owner, PARTITION};
use super::{inbox, rows};
use crate::{AnswerRow, Changes, Commit, Store, Wanted};

pub(super) async fn first_answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let rows: Vec<_> = (0..10).map(|n| rows::idempotent("t", &format!("k{n}"), 100 + n)).collect();
    owner.commit(Changes { idempotent_new: rows, ..Changes::default() }).await;
    assert_eq!(store.purge_answers(PARTITION, 99, 100).await.unwrap(), 0);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 4);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 3);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 0);
    let wanted = Wanted { idempotent: (0..10).map(|n| ("t".into(), format!("k{n}").into())).collect(), ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().idempotent.len(), 3);
}

pub(super) async fn answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    store.append(PARTITION, (1..=10).map(inbox::request).collect(), inbox::ROOM).await.unwrap();
    let owner = Owner::of(&store).await;
    // The last to expire was the first to be answered.
    let answer = |position: u64| {
        let expires = 111 - position as i64;
        AnswerRow { position, kind: "cancel", answer: vec![1], at: 1, expires }
    };
    let changes = Changes { idempotent_new: vec![rows::idempotent("t", "k", 106)], ..Changes::default() };
    let commit = Commit { inbox_to: 10, answers: (1..=10).map(answer).collect(), ..owner.tick(changes) };
    store.commit(commit).await.unwrap();
    assert_eq!(store.purge_answers(PARTITION, 100, 100).await.unwrap(), 0);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 5, "as many of each");
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 2);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 0);
    let left = store.statuses(PARTITION, &(1..=10).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(left.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 2, 3, 4]);
}
