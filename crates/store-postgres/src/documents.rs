//! Documents, part by part.

use engine::InstanceKey;
use store::documents::{Document, Documents, Link, UNFINISHED_KEPT};
use store::{Error, Millis};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

#[async_trait::async_trait]
impl Documents for Postgres {
    async fn put_part(&self, upload: &str, number: u32, bytes: Vec<u8>, now: Millis) -> Result<(), Error> {
        let call = Call::new(include_str!("../sql/insert_document_part.sql")).text(upload).int(number.into()).int(now);
        self.owner.query(call.blobs([bytes.as_slice()].into_iter())).await?;
        Ok(())
    }

    async fn finish(&self, document: &Document, now: Millis) -> Result<bool, Error> {
        // One that has expired leaves its id to others.
        let expired = Call::new(include_str!("../sql/delete_document.sql")).text(&document.tenant).text(&document.id).int(now);
        self.owner.query(expired).await?;
        let call = Call::new(include_str!("../sql/insert_document.sql"))
            .text(&document.tenant)
            .text(&document.id)
            .text(&document.upload)
            .key(document.size)
            .text(&document.hash)
            .text(&document.file_name)
            .text(&document.content_type)
            .int(document.created)
            .ints_opt([document.expires].into_iter())
            .texts_opt([document.process_id.as_deref()].into_iter())
            .keys_opt([document.instance.map(|key| key.0)].into_iter())
            .text(&document.properties);
        Ok(!self.owner.query(call).await?.is_empty())
    }

    async fn drop_upload(&self, upload: &str) -> Result<(), Error> {
        self.owner.query(Call::new(include_str!("../sql/delete_document_parts.sql")).text(upload)).await?;
        Ok(())
    }

    async fn get(&self, tenant: &str, id: &str, now: Millis) -> Result<Option<Document>, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/document.sql")).text(tenant).text(id)).await?;
        let found = rows.first().map(document).transpose()?;
        Ok(found.filter(|document| document.expires.is_none_or(|expires| now < expires)))
    }

    async fn part(&self, upload: &str, number: u32) -> Result<Option<Vec<u8>>, Error> {
        let call = Call::new(include_str!("../sql/document_part.sql")).text(upload).int(number.into());
        self.owner.query(call).await?.first().map(|row| Reading::of(row).get()).transpose()
    }

    async fn delete(&self, tenant: &str, id: &str, now: Millis) -> Result<bool, Error> {
        let call = Call::new(include_str!("../sql/delete_document.sql")).text(tenant).text(id).int(Millis::MAX);
        let rows = self.owner.query(call).await?;
        let expires = rows.first().map(|row| Reading::of(row).get::<Option<Millis>>()).transpose()?;
        Ok(expires.is_some_and(|expires| expires.is_none_or(|expires| now < expires)))
    }

    async fn put_link(&self, link: &Link) -> Result<(), Error> {
        let call = Call::new(include_str!("../sql/insert_document_link.sql")).text(&link.token).text(&link.tenant);
        self.owner.query(call.text(&link.id).int(link.expires)).await?;
        Ok(())
    }

    async fn link(&self, token: &str, now: Millis) -> Result<Option<Link>, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/document_link.sql")).text(token).int(now)).await?;
        let link = |row: &Row| {
            let mut row = Reading::of(row);
            Ok(Link { token: row.text()?, tenant: row.text()?, id: row.text()?, expires: row.get()? })
        };
        rows.first().map(link).transpose()
    }

    async fn purge(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let mut purged = 0;
        for (sql, time) in [
            (include_str!("../sql/purge_documents.sql"), now),
            (include_str!("../sql/purge_document_links.sql"), now),
            (include_str!("../sql/purge_document_parts.sql"), now.saturating_sub(UNFINISHED_KEPT)),
        ] {
            purged += self.owner.query(Call::new(sql).int(time).limit(limit)).await?.len();
        }
        Ok(purged)
    }

    async fn count_purgeable(&self, now: Millis, limit: usize) -> Result<usize, Error> {
        let call = Call::new(include_str!("../sql/count_purgeable_documents.sql")).int(now);
        self.counted(call.int(now.saturating_sub(UNFINISHED_KEPT)).limit(limit)).await
    }
}

fn document(row: &Row) -> Result<Document, Error> {
    let mut row = Reading::of(row);
    Ok(Document {
        tenant: row.text()?,
        id: row.text()?,
        upload: row.text()?,
        size: row.key()?,
        hash: row.text()?,
        file_name: row.text()?,
        content_type: row.text()?,
        created: row.get()?,
        expires: row.get()?,
        process_id: row.text_maybe()?,
        instance: row.key_maybe()?.map(InstanceKey),
        properties: row.text()?,
    })
}
