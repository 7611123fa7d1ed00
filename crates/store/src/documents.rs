//! Documents: files that processes speak of, in parts. They belong to no partition and to no tick (ADR 31).

use std::sync::Arc;

use engine::InstanceKey;

use crate::{Error, Millis};

/// Bytes of a part; only the last is shorter.
pub const PART_BYTES: usize = 256 * 1024;

/// Parts of an upload that nobody finished are kept for so long, in milliseconds.
pub const UNFINISHED_KEPT: Millis = 24 * 60 * 60 * 1000;

/// What is known of a document besides its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub tenant: Arc<str>,
    pub id: Arc<str>,
    /// Under which name its parts are.
    pub upload: Arc<str>,
    pub size: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub hash: Arc<str>,
    pub file_name: Arc<str>,
    pub content_type: Arc<str>,
    pub created: Millis,
    /// Not there any more from then on.
    pub expires: Option<Millis>,
    pub process_id: Option<Arc<str>>,
    pub instance: Option<InstanceKey>,
    /// A JSON object.
    pub properties: Arc<str>,
}

/// Lets whoever knows it have a document for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub token: Arc<str>,
    pub tenant: Arc<str>,
    pub id: Arc<str>,
    pub expires: Millis,
}

#[async_trait::async_trait]
pub trait Documents: Send + Sync {
    /// One part of an upload, from 0.
    async fn put_part(&self, upload: &str, number: u32, bytes: Vec<u8>, now: Millis) -> Result<(), Error>;

    /// All parts are there. False if there is a document with this id already, unless that has expired.
    async fn finish(&self, document: &Document, now: Millis) -> Result<bool, Error>;

    /// Nobody will finish it.
    async fn drop_upload(&self, upload: &str) -> Result<(), Error>;

    async fn get(&self, tenant: &str, id: &str, now: Millis) -> Result<Option<Document>, Error>;

    async fn part(&self, upload: &str, number: u32) -> Result<Option<Vec<u8>>, Error>;

    /// With its parts and links; false if there is none.
    async fn delete(&self, tenant: &str, id: &str, now: Millis) -> Result<bool, Error>;

    async fn put_link(&self, link: &Link) -> Result<(), Error>;

    async fn link(&self, token: &str, now: Millis) -> Result<Option<Link>, Error>;

    /// Remove expired documents and links, and parts that nobody finished, at most `limit` of each; how many went.
    /// What a document takes with it is not counted.
    async fn purge(&self, now: Millis, limit: usize) -> Result<usize, Error>;

    /// How many there are for [`Documents::purge`] to remove, counted up to `limit` of each.
    async fn count_purgeable(&self, now: Millis, limit: usize) -> Result<usize, Error>;
}
