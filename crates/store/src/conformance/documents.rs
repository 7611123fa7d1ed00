//! Documents: in parts, by tenant and id, for a while.

use std::sync::Arc;

use engine::InstanceKey;

use crate::Store;
use crate::documents::{Document, Link, UNFINISHED_KEPT};

fn document(tenant: &str, id: &str, upload: &str) -> Document {
    Document {
        tenant: tenant.into(),
        id: id.into(),
        upload: upload.into(),
        size: 7,
        hash: "abc".into(),
        file_name: "naïve.txt".into(),
        content_type: "text/plain".into(),
        created: 5,
        expires: None,
        process_id: None,
        instance: None,
        properties: "{}".into(),
    }
}

pub(super) async fn they_come_and_go(store: Arc<dyn Store>) {
    let documents = store.documents();
    documents.put_part("u1", 0, b"one, \0".to_vec(), 1).await.unwrap();
    documents.put_part("u1", 1, b"two".to_vec(), 1).await.unwrap();
    let one = Document {
        expires: Some(100),
        process_id: Some("p".into()),
        instance: Some(InstanceKey(12)),
        properties: r#"{"a":1}"#.into(),
        ..document("t", "id", "u1")
    };
    assert!(documents.finish(&one, 2).await.unwrap());
    assert!(!documents.finish(&document("t", "id", "u2"), 2).await.unwrap(), "there is one");
    assert!(documents.finish(&document("other", "id", "u3"), 2).await.unwrap(), "tenants are apart");
    assert_eq!(documents.get("t", "id", 99).await.unwrap(), Some(one.clone()));
    assert_eq!(documents.get("t", "id", 100).await.unwrap(), None, "its time is over");
    assert_eq!(documents.get("t", "other", 1).await.unwrap(), None);
    assert_eq!(documents.part("u1", 0).await.unwrap().as_deref(), Some(&b"one, \0"[..]));
    assert_eq!(documents.part("u1", 1).await.unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(documents.part("u1", 2).await.unwrap(), None);
    // What is over leaves its id to others.
    documents.put_part("u4", 0, b"three".to_vec(), 1).await.unwrap();
    let next = document("t", "id", "u4");
    assert!(documents.finish(&next, 100).await.unwrap());
    assert_eq!(documents.get("t", "id", 200).await.unwrap(), Some(next));
    assert_eq!(documents.part("u1", 0).await.unwrap(), None);
    assert!(documents.delete("t", "id", 200).await.unwrap());
    assert!(!documents.delete("t", "id", 200).await.unwrap());
    assert_eq!(documents.part("u4", 0).await.unwrap(), None);
    assert!(documents.get("other", "id", 200).await.unwrap().is_some());
}

pub(super) async fn links_lead_to_them_for_a_while(store: Arc<dyn Store>) {
    let documents = store.documents();
    assert!(documents.finish(&document("t", "id", "u"), 1).await.unwrap());
    let link = Link { token: "x".into(), tenant: "t".into(), id: "id".into(), expires: 10 };
    documents.put_link(&link).await.unwrap();
    documents.put_link(&Link { token: "y".into(), expires: 20, ..link.clone() }).await.unwrap();
    assert_eq!(documents.link("x", 9).await.unwrap(), Some(link));
    assert_eq!(documents.link("x", 10).await.unwrap(), None);
    assert_eq!(documents.link("z", 1).await.unwrap(), None);
    assert!(documents.delete("t", "id", 11).await.unwrap());
    assert_eq!(documents.link("y", 11).await.unwrap(), None, "it went with its document");
}

pub(super) async fn what_is_over_is_purged(store: Arc<dyn Store>) {
    let documents = store.documents();
    for number in 0..3 {
        let upload = format!("u{number}");
        documents.put_part(&upload, 0, vec![1], 1).await.unwrap();
        let one = Document { expires: Some(100), ..document("t", &upload, &upload) };
        assert!(documents.finish(&one, 1).await.unwrap());
    }
    documents.put_part("kept", 0, vec![1], 1).await.unwrap();
    assert!(documents.finish(&document("t", "kept", "kept"), 1).await.unwrap());
    documents.put_part("left", 0, vec![1], 1).await.unwrap();
    documents.put_part("dropped", 0, vec![1], 1).await.unwrap();
    documents.drop_upload("dropped").await.unwrap();
    assert_eq!(documents.part("dropped", 0).await.unwrap(), None);
    let link = Link { token: "x".into(), tenant: "t".into(), id: "kept".into(), expires: 100 };
    documents.put_link(&link).await.unwrap();
    // This one goes with its document, whatever is first.
    documents.put_link(&Link { token: "y".into(), id: "u2".into(), ..link }).await.unwrap();
    assert_eq!(documents.count_purgeable(100, 10).await.unwrap(), 4);
    assert_eq!(documents.count_purgeable(100, 2).await.unwrap(), 3, "each up to two");
    assert_eq!(documents.count_purgeable(99, 10).await.unwrap(), 0);
    assert_eq!(documents.purge(99, 10).await.unwrap(), 0);
    assert_eq!(documents.purge(100, 2).await.unwrap(), 3, "two documents and a link");
    assert_eq!(documents.purge(100, 2).await.unwrap(), 1);
    assert_eq!(documents.part("u2", 0).await.unwrap(), None);
    assert_eq!(documents.count_purgeable(UNFINISHED_KEPT + 1, 2).await.unwrap(), 1);
    assert_eq!(documents.purge(UNFINISHED_KEPT + 1, 2).await.unwrap(), 1, "what nobody finished");
    assert_eq!(documents.part("left", 0).await.unwrap(), None);
    assert_eq!(documents.part("kept", 0).await.unwrap(), Some(vec![1]));
}
