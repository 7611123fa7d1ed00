//! Documents in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::documents::{Document, Documents, Link, UNFINISHED_KEPT};
use crate::{Error, Millis};

#[derive(Default)]
pub(super) struct Kept {
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    /// By tenant and id.
    documents: BTreeMap<(Arc<str>, Arc<str>), Document>,
    /// By upload and number, with when they came.
    parts: BTreeMap<(Arc<str>, u32), (Millis, Vec<u8>)>,
    links: BTreeMap<Arc<str>, Link>,
}

impl Kept {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Tables {
    fn remove(&mut self, name: &(Arc<str>, Arc<str>)) -> bool {
        let Some(gone) = self.documents.remove(name) else { return false };
        self.parts.retain(|(upload, _), _| *upload != gone.upload);
        self.links.retain(|_, link| (&link.tenant, &link.id) != (&name.0, &name.1));
        true
    }

    fn expired(&self, name: &(Arc<str>, Arc<str>), now: Millis) -> bool {
        self.documents.get(name).is_some_and(|document| is_over(document, now))
    }

    /// Those of a document that is over go with it.
    fn links_over(&self, now: Millis) -> impl Iterator<Item = &Link> {
        let goes_with_it = move |link: &Link| self.expired(&(link.tenant.clone(), link.id.clone()), now);
        self.links.values().filter(move |link| link.expires <= now && !goes_with_it(link))
    }

    /// Parts that nobody finished.
    fn parts_left(&self, now: Millis) -> impl Iterator<Item = &(Arc<str>, u32)> {
        let is_of_one = |upload: &Arc<str>| self.documents.values().any(|one| one.upload == *upload);
        let old = self.parts.iter().filter(move |(_, (at, _))| *at <= now.saturating_sub(UNFINISHED_KEPT));
        old.map(|(key, _)| key).filter(move |(upload, _)| !is_of_one(upload))
    }
}

fn is_over(document: &Document, now: Millis) -> bool {
    document.expires.is_some_and(|expires| expires <= now)
}

#[async_trait::async_trait]
impl Documents for Kept {
    async fn put_part(&self, upload: &str, number: u32, bytes: Vec<u8>, now: Millis) -> Result<(), Error> {
        self.tables().parts.insert((upload.into(), number), (now, bytes));
        Ok(())
    }

    async fn finish(&self, document: &Document, now: Millis) -> Result<bool, Error> {
        let mut tables = self.tables();
        let name = (document.tenant.clone(), document.id.clone());
        if tables.expired(&name, now) {
            tables.remove(&name);
        }
        if tables.documents.contains_key(&name) {
            return Ok(false);
        }
        tables.documents.insert(name, document.clone());
        Ok(true)
    }

    async fn drop_upload(&self, upload: &str) -> Result<(), Error> {
        self.tables().parts.retain(|(one, _), _| **one != *upload);
        Ok(())
    }

    async fn get(&self, tenant: &str, id: &str, now: Millis) -> Result<Option<Document>, Error> {
        let found = self.tables().documents.get(&(tenant.into(), id.into())).cloned();
        Ok(found.filter(|document| !is_over(document, now)))
    }

    async fn part(&self, upload: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.tables().parts.get(&(upload.into(), number)).map(|(_, bytes)| bytes.clone()))
    }

    async fn delete(&self, tenant: &str, id: &str, now: Millis) -> Result<bool, Error> {
        let name = (tenant.into(), id.into());
        let mut tables = self.tables();
        let was_over = tables.expired(&name, now);
        Ok(tables.remove(&name) && !was_over)
    }

    async fn put_link(&self, link: &Link) -> Result<(), Error> {
        self.tables().links.insert(link.token.clone(), link.clone());
        Ok(())
    }

    async fn link(&self, token: &str, now: Millis) -> Result<Option<Link>, Error> {
        Ok(self.tables().links.get(token).filter(|link| now < link.expires).cloned())
    }

    async fn purge(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let mut tables = self.tables();
        let over: Vec<_> = tables.documents.values().filter(|one| is_over(one, now)).take(limit).cloned().collect();
        for document in &over {
            tables.remove(&(document.tenant.clone(), document.id.clone()));
        }
        let links: Vec<_> = tables.links_over(now).take(limit).cloned().collect();
        for link in &links {
            tables.links.remove(&link.token);
        }
        let left: Vec<_> = tables.parts_left(now).take(limit).cloned().collect();
        for part in &left {
            tables.parts.remove(part);
        }
        Ok(over.len() + links.len() + left.len())
    }

    async fn count_purgeable(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let tables = self.tables();
        let over = tables.documents.values().filter(|one| is_over(one, now)).take(limit).count();
        Ok(over + tables.links_over(now).take(limit).count() + tables.parts_left(now).take(limit).count())
    }
}
